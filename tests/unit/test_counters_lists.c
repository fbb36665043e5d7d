/* The lists of counters that people ask for, and in how many passes they are had. */
#include "base/util.h"
#include "tests/unit/counters_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The four files of madengine, which today's tool runs once per line: 12, 14, 8 and 15 runs. */
static void counter_files_of_the_presets_need_few_passes(void **state)
{
	static const struct {
		const char *const names[16];
		size_t n_passes, n_missing;
	} files[] = {
		{ { "SQ_WAVES", "SQ_WAVE_CYCLES", "SQ_INSTS_VALU", "SQ_ACTIVE_INST_VALU",
		    "SQ_INSTS_VALU_ADD_F32", "SQ_INSTS_VALU_MUL_F32", "SQ_INSTS_VALU_FMA_F32",
		    "SQ_INSTS_VALU_TRANS_F32", "SQ_INSTS_SALU", "SQ_INSTS_VMEM_RD",
		    "SQ_INSTS_VMEM_WR", "SQ_WAIT_INST_ANY" },
		  2,
		  0 },
		{ { "L2CacheHit", "L2CacheMiss", "L2CacheHitRate", "TCP_TCC_READ_REQ_sum",
		    "TCP_TCC_WRITE_REQ_sum", "TCP_TCC_ATOMIC_REQ_sum", "TCC_HIT_sum",
		    "TCC_MISS_sum", "TCC_EA_RDREQ_32B_sum", "TCC_EA_WRREQ_64B_sum",
		    "TCC_EA_RDREQ_LEVEL_sum", "TCC_EA_WRREQ_LEVEL_sum", "SQ_INSTS_SMEM",
		    "SQ_LDS_BANK_CONFLICT" },
		  2,
		  0 },
		{ { "TCC_EA_WRREQ_64B_sum", "TCC_EA_RDREQ_32B_sum", "TCC_ATOMIC_sum",
		    "TCP_TCC_ATOMIC_REQ_sum", "SQ_WAIT_INST_ANY", "SQ_WAVES",
		    "TCP_TCC_READ_REQ_sum", "TCP_TCC_WRITE_REQ_sum" },
		  1,
		  0 },
		{ { "SQ_WAVES", "SQ_WAVE_CYCLES", "SQ_INSTS_VALU", "SQ_INSTS_SALU",
		    "SQ_ACTIVE_INST_VALU", "L2CacheHit", "TCC_HIT_sum", "TCC_MISS_sum",
		    "TCP_TCC_READ_REQ_sum", "TCP_TCC_WRITE_REQ_sum", "TCC_EA_RDREQ_32B_sum",
		    "TCC_EA_WRREQ_64B_sum", "SQ_WAIT_INST_ANY", "SQ_WAIT_INST_VALU",
		    "SQ_LDS_BANK_CONFLICT" },
		  1,
		  1 },
	};
	const struct cnt_catalogue *const cats[] = { mi200, mi300, soft };

	for (size_t i = 0; i < WS_ARRAY_LEN(files); i++)
		for (size_t c = 0; c < WS_ARRAY_LEN(cats); c++) {
			struct cnt_plan_group group = { files[i].names, 0 };
			struct cnt_plan *plan;
			size_t n_missing = 0;

			while (group.n < 16 && files[i].names[group.n])
				group.n++;
			plan = make(cats[c], &group, 1, CNT_PLAN_POOL | CNT_PLAN_KEEP_GOING);
			for (size_t k = 0; k < plan->n_requests; k++)
				n_missing += plan->requests[k].state != CNT_PLAN_AVAILABLE;
			assert_int_equal(n_missing, files[i].n_missing);
			assert_int_equal(plan->n_passes, files[i].n_passes);
			cnt_plan_destroy(plan);
		}
}

struct needed {
	char *names[4096];
	size_t n;
};

static bool is_in_list(const char *list, const char *word)
{
	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, word, strlen(word)) == 0 && strchr(",\n", at[strlen(word)]))
			return true;
	}
	return false;
}

static void need(struct needed *out, const char *name, const char *ending)
{
	assert_true(out->n < WS_ARRAY_LEN(out->names));
	assert_true(asprintf(&out->names[out->n++], "%s%s", name, ending) > 0);
}

/* The names rocprof-compute asks for, for one analysis block or all ("*"), channels expanded. */
static void read_needed(const char *arch, const char *block, struct needed *out)
{
	FILE *f = fopen(getenv("WS_COUNTERS_NEEDED"), "r");
	size_t n_channels = arch[4] == '0' ? 32 : arch[5] == '0' && arch[4] == '4' ? 96 : 128;
	char line[512];

	assert_non_null(f);
	out->n = 0;
	while (fgets(line, sizeof(line), f)) {
		char *name = strchr(line, '\t'), *what, *blocks, index[16];

		if (line[0] == '#' || !name)
			continue;
		*name++ = '\0';
		what = strchr(name, '\t');
		*what++ = '\0';
		blocks = strchr(what, '\t');
		*blocks++ = '\0';
		if (strcmp(line, arch) != 0 || strcmp(what, "-") == 0 ||
		    strcmp(name, "SQ_ACCUM_PREV_HIRES") == 0)
			continue;
		if (*block != '*' && !is_in_list(blocks, block) && !is_in_list(blocks, "denom"))
			continue;
		if (strstr(name, "[]")) {
			*strstr(name, "[]") = '\0';
			for (size_t i = 0; i < n_channels; i++) {
				snprintf(index, sizeof(index), "[%zu]", i);
				need(out, name, index);
			}
			continue;
		}
		need(out, name, "");
		if (strstr(name, "LEVEL") && !strstr(name, "_sum"))
			need(out, name, "_ACCUM");
	}
	fclose(f);
}

static size_t passes_needed(const struct cnt_catalogue *cat, const char *block)
{
	struct needed *names = calloc(1, sizeof(*names));
	struct cnt_plan_group group;
	struct cnt_plan *plan;
	size_t n;

	read_needed(cnt_catalogue_arch(cat), block, names);
	group = (struct cnt_plan_group){ (const char *const *)names->names, names->n };
	plan = make(cat, &group, 1, CNT_PLAN_POOL);
	n = plan->n_passes;
	cnt_plan_destroy(plan);
	for (size_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names);
	return n;
}

/* rocprof-compute's own numbers of passes, for everything and block by block (-b). */
static void never_more_passes_than_rocprof_compute(void **state)
{
	static const struct {
		const char *block;
		size_t n[4];
	} rows[] = {
		{ "*", { 12, 12, 12, 20 } }, { "2", { 3, 6, 6, 6 } },   { "3", { 4, 4, 4, 4 } },
		{ "5", { 5, 5, 5, 8 } },     { "6", { 3, 3, 3, 6 } },   { "7", { 2, 2, 2, 2 } },
		{ "10", { 4, 4, 4, 5 } },    { "11", { 2, 6, 6, 6 } },  { "12", { 2, 2, 2, 3 } },
		{ "13", { 2, 2, 2, 2 } },    { "14", { 2, 2, 2, 2 } },  { "15", { 8, 8, 8, 9 } },
		{ "16", { 10, 10, 9, 14 } }, { "17", { 8, 9, 8, 15 } }, { "18", { 4, 4, 4, 5 } },
	};
	static const char *const archs[] = { "gfx908", "gfx90a", "gfx942", "gfx950" };

	for (size_t a = 0; a < WS_ARRAY_LEN(archs); a++) {
		struct cnt_catalogue *cat;
		struct ws_err err;

		assert_int_equal(cnt_catalogue_create_typical(archs[a], &cat, &err), WS_OK);
		for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++) {
			size_t n = passes_needed(cat, rows[i].block);

			if (!n || n > rows[i].n[a])
				fail_msg("%s block %s: %zu passes, rocprof-compute has %zu",
					 archs[a], rows[i].block, n, rows[i].n[a]);
		}
		cnt_catalogue_destroy(cat);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counter_files_of_the_presets_need_few_passes),
		cmocka_unit_test(never_more_passes_than_rocprof_compute),
	};

	return RUN_WITH(tests, setup, teardown);
}
