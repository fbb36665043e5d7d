/* ROCM_*_OPERATIONS: which operations of a domain are recorded. */
#include "cmd/sys/collect.h"

#include "base/util.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

static const struct domain {
	enum cap_kind kind;
	enum set_id only, except;
} domains[] = {
/* clang-format off */
#define DOMAIN(kind, name) { CAP_KIND_##kind, SET_ROCM_##name##_OPERATIONS, SET_ROCM_##name##_OPERATIONS_EXCLUDE }
	DOMAIN(HIP_RUNTIME_API_EXT,   HIP_RUNTIME_API),
	DOMAIN(HIP_COMPILER_API_EXT,  HIP_COMPILER_API),
	DOMAIN(HSA_CORE_API,          HSA_CORE_API),
	DOMAIN(HSA_AMD_EXT_API,       HSA_AMD_EXT_API),
	DOMAIN(HSA_IMAGE_EXT_API,     HSA_IMAGE_EXT_API),
	DOMAIN(HSA_FINALIZE_EXT_API,  HSA_FINALIZE_EXT_API),
	DOMAIN(MARKER_CORE_RANGE_API, MARKER_API),
	DOMAIN(RCCL_API,              RCCL_API),
	DOMAIN(ROCDECODE_API_EXT,     ROCDECODE_API),
	DOMAIN(ROCJPEG_API,           ROCJPEG_API),
	DOMAIN(MEMORY_COPY,           MEMORY_COPY),
	DOMAIN(MEMORY_ALLOCATION,     MEMORY_ALLOCATION),
#undef DOMAIN
	/* clang-format on */
};

/* The collector cannot say what is wrong with an expression where the user would see it. */
static enum ws_status check(enum set_id id, const char *text, struct ws_err *err)
{
	regex_t compiled;
	char why[128];
	int code = regcomp(&compiled, text, REG_EXTENDED | REG_NOSUB);

	if (!code) {
		regfree(&compiled);
		return WS_OK;
	}
	regerror(code, &compiled, why, sizeof(why));
	return ws_fail(err, WS_E_USAGE, "%s: '%s' is not a regular expression: %s",
		       set_defs[id].name, text, why);
}

static enum ws_status add(const struct set_values *values, const struct domain *domain,
			  bool exclude, struct col_collect_config *config, struct ws_err *err)
{
	enum set_id id = exclude ? domain->except : domain->only;
	struct ws_str rest = ws_str_from(set_text(values, id)), word;
	enum ws_status st = WS_OK;

	while (!st && set_next_word(&rest, false, &word)) {
		struct col_ops_filter *filter = &config->ops_filters[config->n_ops_filters];

		if (config->n_ops_filters == COL_OPS_FILTERS_MAX)
			return ws_fail(err, WS_E_LIMIT,
				       "%s: more than %u expressions for operations: join them "
				       "with '|'",
				       set_defs[id].name, COL_OPS_FILTERS_MAX);
		if (word.n > COL_OPS_REGEX_MAX)
			return ws_fail(err, WS_E_LIMIT, "%s: an expression is longer than %u bytes",
				       set_defs[id].name, COL_OPS_REGEX_MAX);
		*filter = (struct col_ops_filter){ .kind = (uint16_t)domain->kind,
						   .exclude = exclude };
		memcpy(filter->regex, word.at, word.n);
		st = check(id, filter->regex, err);
		config->n_ops_filters++;
	}
	return st;
}

enum ws_status sys_collect_operations(const struct set_values *values,
				      struct col_collect_config *config, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < WS_ARRAY_LEN(domains) && !st; i++) {
		st = add(values, &domains[i], false, config, err);
		if (!st)
			st = add(values, &domains[i], true, config, err);
	}
	return st;
}
