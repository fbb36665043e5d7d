/*
 * operations: those that the user does not want recorded, by name.
 *
 * Names are compared once, when the configuration is read: POSIX extended expressions, which match
 * anywhere in a name. What is left of it is a bit per operation, which recording tests.
 */
#include "collector/collector_priv.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

uint8_t col_ops_off[COL_OP_END / 8];

/* clang-format off */
/* What has no table of functions. A range has several names; each selects it. */
static const struct fixed {
	uint16_t op;
	uint16_t kind; /* enum cap_kind */
	const char *name;
} fixed_ops[] = {
	{ COL_OP_COPY + CAP_COPY_HOST_TO_HOST,       CAP_KIND_MEMORY_COPY, "MEMORY_COPY_HOST_TO_HOST" },
	{ COL_OP_COPY + CAP_COPY_HOST_TO_DEVICE,     CAP_KIND_MEMORY_COPY, "MEMORY_COPY_HOST_TO_DEVICE" },
	{ COL_OP_COPY + CAP_COPY_DEVICE_TO_HOST,     CAP_KIND_MEMORY_COPY, "MEMORY_COPY_DEVICE_TO_HOST" },
	{ COL_OP_COPY + CAP_COPY_DEVICE_TO_DEVICE,   CAP_KIND_MEMORY_COPY, "MEMORY_COPY_DEVICE_TO_DEVICE" },
	{ COL_OP_ALLOC + CAP_ALLOC_ALLOCATE,         CAP_KIND_MEMORY_ALLOCATION, "MEMORY_ALLOCATION_ALLOCATE" },
	{ COL_OP_ALLOC + CAP_ALLOC_VMEM_ALLOCATE,    CAP_KIND_MEMORY_ALLOCATION, "MEMORY_ALLOCATION_VMEM_ALLOCATE" },
	{ COL_OP_ALLOC + CAP_ALLOC_FREE,             CAP_KIND_MEMORY_ALLOCATION, "MEMORY_ALLOCATION_FREE" },
	{ COL_OP_ALLOC + CAP_ALLOC_VMEM_FREE,        CAP_KIND_MEMORY_ALLOCATION, "MEMORY_ALLOCATION_VMEM_FREE" },
	{ COL_OP_MARKER + CAP_MARKER_MARK,           CAP_KIND_MARKER_CORE_RANGE_API, "roctxMarkA" },
	{ COL_OP_MARKER + CAP_MARKER_THREAD_RANGE,   CAP_KIND_MARKER_CORE_RANGE_API, "roctxThreadRangeA" },
	{ COL_OP_MARKER + CAP_MARKER_THREAD_RANGE,   CAP_KIND_MARKER_CORE_RANGE_API, "roctxRangePushA" },
	{ COL_OP_MARKER + CAP_MARKER_THREAD_RANGE,   CAP_KIND_MARKER_CORE_RANGE_API, "roctxRangePop" },
	{ COL_OP_MARKER + CAP_MARKER_PROCESS_RANGE,  CAP_KIND_MARKER_CORE_RANGE_API, "roctxProcessRangeA" },
	{ COL_OP_MARKER + CAP_MARKER_PROCESS_RANGE,  CAP_KIND_MARKER_CORE_RANGE_API, "roctxRangeStartA" },
	{ COL_OP_MARKER + CAP_MARKER_PROCESS_RANGE,  CAP_KIND_MARKER_CORE_RANGE_API, "roctxRangeStop" },
	{ COL_OP_MARKER + CAP_MARKER_GET_THREAD_ID,  CAP_KIND_MARKER_CORE_RANGE_API, "roctxGetThreadId" },
};
/* clang-format on */

static struct {
	regex_t compiled[COL_OPS_FILTERS_MAX];
	bool ok[COL_OPS_FILTERS_MAX];
	uint32_t n_matched[COL_OPS_FILTERS_MAX];
} filters;

/* What the filters say of an operation's names. */
struct verdict {
	bool any_only, only, except;
};

static void judge(uint32_t kind, const char *name, struct verdict *verdict)
{
	const struct col_collect_config *config = col_config();

	for (uint32_t i = 0; i < config->n_ops_filters; i++) {
		const struct col_ops_filter *filter = &config->ops_filters[i];

		if (filter->kind != kind)
			continue;
		verdict->any_only |= !filter->exclude;
		if (!filters.ok[i] || regexec(&filters.compiled[i], name, 0, NULL, 0) != 0)
			continue;
		filters.n_matched[i]++;
		verdict->only |= !filter->exclude;
		verdict->except |= filter->exclude;
	}
}

static void decide(uint32_t op, const struct verdict *verdict)
{
	uint8_t bit = (uint8_t)(1u << op % 8);

	if ((verdict->any_only && !verdict->only) || verdict->except)
		col_ops_off[op / 8] |= bit;
}

void col_ops_choose(uint32_t base, const struct col_op_def *ops, size_t n_ops)
{
	for (size_t i = 0; i < n_ops; i++) {
		struct verdict verdict = { 0 };

		if (ops[i].name)
			judge(ops[i].kind, ops[i].name, &verdict);
		decide(base + (uint32_t)i, &verdict);
	}
}

/* The names of one operation follow each other. */
static void choose_fixed(void)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(fixed_ops);) {
		uint16_t op = fixed_ops[i].op;
		struct verdict verdict = { 0 };

		for (; i < WS_ARRAY_LEN(fixed_ops) && fixed_ops[i].op == op; i++)
			judge(fixed_ops[i].kind, fixed_ops[i].name, &verdict);
		decide(op, &verdict);
	}
}

void col_operations_start(void)
{
	const struct col_collect_config *config = col_config();

	memset(col_ops_off, 0, sizeof(col_ops_off));
	if (!config->n_ops_filters)
		return;
	for (uint32_t i = 0; i < config->n_ops_filters; i++)
		filters.ok[i] = regcomp(&filters.compiled[i], config->ops_filters[i].regex,
					REG_EXTENDED | REG_NOSUB) == 0;
	memset(filters.n_matched, 0, sizeof(filters.n_matched));
	choose_fixed();
	for (unsigned i = 0; i < COL_PROVIDERS; i++)
		if (col_providers[i] && col_providers[i]->choose)
			col_providers[i]->choose();
	for (uint32_t i = 0; i < config->n_ops_filters; i++)
		if (filters.ok[i])
			regfree(&filters.compiled[i]);
}

/* An expression that matches nothing is mistyped, mostly. */
void col_operations_state(struct cap_writer *writer)
{
	const struct col_collect_config *config = col_config();
	static const char *const kinds[CAP_KIND_COUNT] = {
#define ROW(name, number) [number] = #name,
		CAP_KIND_TABLE(ROW)
#undef ROW
	};
	char text[COL_OPS_REGEX_MAX + 128];

	for (uint32_t i = 0; i < config->n_ops_filters; i++) {
		const struct col_ops_filter *filter = &config->ops_filters[i];

		if (filters.n_matched[i])
			continue;
		snprintf(text, sizeof(text), "no operation of %s matches '%s': %s",
			 kinds[filter->kind], filter->regex,
			 filter->exclude ? "none is left out" : "none is recorded");
		cap_writer_fact(writer, CAP_FACT_NOTE, text);
	}
}
