#include "report/memchart.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Distinct values, so that a number in the wrong place shows; every ninth is missing. */
static void fill(struct ana_memchart *chart)
{
	ana_memchart_init(chart, "per_wave");
	for (int i = 0; i < ANA_MC_COUNT; i++)
		if (i % 9 != 8)
			chart->value[i] = i < 18               ? 10 * i + 1
					  : i == ANA_MC_VL1_RD ? 1048576
							       : i + 0.4;
}

static char *golden(const char *name)
{
	char path[512];
	char *text = calloc(1, 1 << 20);
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/unit/golden/%s", getenv("WS_SOURCE"), name);
	f = fopen(path, "r");
	if (!f)
		fail_msg("no %s", path);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	return text;
}

/* For memory_places.py, which reads the charts, and to make the golden files with. */
static void write_out(const struct ws_buf *text, const char *name)
{
	char path[512];
	FILE *f;

	if (!getenv("WS_GOLDEN_OUT"))
		return;
	snprintf(path, sizeof(path), "%s/%s", getenv("WS_GOLDEN_OUT"), name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text->at, f);
	fclose(f);
}

static void is_golden(const struct ws_buf *text, const char *name)
{
	char *want;

	write_out(text, name);
	want = golden(name);
	assert_string_equal(text->at, want);
	free(want);
}

/* How many characters the longest line has. */
static unsigned columns(const char *text)
{
	unsigned most = 0, n = 0;

	for (; *text; text++) {
		if (*text == '\n')
			n = 0;
		else if ((*text & 0xc0) != 0x80)
			n++;
		most = n > most ? n : most;
	}
	return most;
}

static void the_wide_chart_is_drawn_to_the_character(void **state)
{
	struct rpt_memchart_style style = { .n_decimals = 2 };
	struct ana_memchart chart;
	struct ws_buf out;
	struct ws_err err;

	fill(&chart);
	ws_buf_init(&out, 1 << 20);
	assert_int_equal(rpt_memchart_wide(&chart, &style, &out, &err), WS_OK);
	is_golden(&out, "memchart_wide.txt");
	assert_int_equal(columns(out.at), RPT_MEMCHART_WIDE_COLUMNS);
	assert_non_null(strstr(out.at, "Rd: 1048576"));
	assert_non_null(strstr(out.at, "101: 111")); /* active and all CUs */
	ws_buf_fini(&out);
}

static bool wide_has(const struct ana_memchart *chart, bool as_3_3_0, const char *text)
{
	const struct rpt_memchart_style style = { .n_decimals = 2, .as_3_3_0 = as_3_3_0 };
	struct ws_buf out;
	struct ws_err err;
	bool has;

	ws_buf_init(&out, 1 << 20);
	assert_int_equal(rpt_memchart_wide(chart, &style, &out, &err), WS_OK);
	has = strstr(out.at, text);
	ws_buf_fini(&out);
	return has;
}

static void as_3_3_0_no_active_unit_is_none(void **state)
{
	struct ana_memchart chart = { .normal_unit = "per_kernel" };

	(void)state;
	chart.value[ANA_MC_NUM_CUS] = 104;
	assert_true(wide_has(&chart, true, "None: 104"));
	assert_true(wide_has(&chart, false, "  0: 104"));
}

static void a_long_value_leaves_its_neighbours_name(void **state)
{
	struct ana_memchart chart = { .normal_unit = "per_second" };

	(void)state;
	chart.value[ANA_MC_BR] = 33324919466252;
	assert_true(wide_has(&chart, false, "BRANCH: 3332491946625Wavefronts:"));
}

static void as_3_3_0_the_scalar_wires_show_nothing(void **state)
{
	struct ana_memchart chart;

	fill(&chart);
	chart.value[ANA_MC_SL1D_L2_WR] = 7777;
	assert_false(wide_has(&chart, true, "7777"));
	assert_true(wide_has(&chart, false, "7777"));
}

static void the_narrow_chart_fits(void **state)
{
	struct rpt_memchart_style style = { .n_decimals = 2 };
	struct ana_memchart chart;
	struct ws_buf out;
	struct ws_err err;

	fill(&chart);
	ws_buf_init(&out, 1 << 20);
	assert_int_equal(rpt_memchart_narrow(&chart, &style, &out, &err), WS_OK);
	is_golden(&out, "memchart_narrow.txt");
	/* Numbers of any size keep their place. */
	for (int i = 0; i < ANA_MC_COUNT; i++)
		chart.value[i] = 123456789012.0;
	ws_buf_clear(&out);
	assert_int_equal(rpt_memchart_narrow(&chart, &style, &out, &err), WS_OK);
	assert_true(columns(out.at) <= RPT_MEMCHART_NARROW_COLUMNS);
	ws_buf_fini(&out);
}

/* Each of the 55 values is somewhere in each form. */
static void every_value_is_shown(void **state)
{
	struct rpt_memchart_style style = { .n_decimals = 2 };
	enum ws_status (*const forms[])(
		const struct ana_memchart *, const struct rpt_memchart_style *, struct ws_buf *,
		struct ws_err *) = { rpt_memchart_wide, rpt_memchart_narrow, rpt_memchart_svg };
	struct ana_memchart chart;
	struct ws_buf out;
	struct ws_err err;

	ws_buf_init(&out, 1 << 20);
	for (int form = 0; form < 3; form++) {
		for (int i = 0; i < ANA_MC_COUNT; i++) {
			ana_memchart_init(&chart, "per_kernel");
			chart.value[i] = 9753;
			ws_buf_clear(&out);
			assert_int_equal(forms[form](&chart, &style, &out, &err), WS_OK);
			if (!strstr(out.at, "9753"))
				fail_msg("%s is not in form %d", ana_memchart_name(i), form);
		}
	}
	ws_buf_fini(&out);
}

static void the_picture_escapes_names_and_says_modelled(void **state)
{
	struct rpt_memchart_style style = { .n_decimals = 2,
					    .modelled = true,
					    .name = "a<b>&\"c\"" };
	struct ana_memchart chart;
	struct ws_buf out;
	struct ws_err err;

	fill(&chart);
	ws_buf_init(&out, 1 << 20);
	assert_int_equal(rpt_memchart_svg(&chart, &style, &out, &err), WS_OK);
	write_out(&out, "memchart.svg");
	assert_non_null(strstr(out.at, "a&lt;b&gt;&amp;&quot;c&quot;"));
	assert_non_null(strstr(out.at, "Modelled"));
	assert_null(strstr(out.at, "nan"));
	ws_buf_fini(&out);
}

static void values_are_found_by_name(void **state)
{
	struct ana_memchart chart;

	ana_memchart_init(&chart, "per_kernel");
	assert_true(isnan(chart.value[ANA_MC_FABRIC_L2_WR]));
	assert_true(ana_memchart_set(&chart, "Fabric_L2 Wr", 3));
	assert_float_equal(chart.value[ANA_MC_FABRIC_L2_WR], 3, 0);
	assert_false(ana_memchart_set(&chart, "VL1D Rd", 3));
}

static void running_out_of_memory_is_an_error(void **state)
{
	struct rpt_memchart_style style = { .n_decimals = 2 };
	struct ana_memchart chart;

	fill(&chart);
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct ws_buf out;
		struct ws_err err;
		enum ws_status st;

		ws_buf_init(&out, 1 << 20);
		st = rpt_memchart_wide(&chart, &style, &out, &err);
		assert_int_equal(st, allocation_failed() ? WS_E_NOMEM : WS_OK);
		ws_buf_fini(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_wide_chart_is_drawn_to_the_character),
		cmocka_unit_test(as_3_3_0_no_active_unit_is_none),
		cmocka_unit_test(a_long_value_leaves_its_neighbours_name),
		cmocka_unit_test(as_3_3_0_the_scalar_wires_show_nothing),
		cmocka_unit_test(the_narrow_chart_fits),
		cmocka_unit_test(every_value_is_shown),
		cmocka_unit_test(the_picture_escapes_names_and_says_modelled),
		cmocka_unit_test(values_are_found_by_name),
		cmocka_unit_test(running_out_of_memory_is_an_error),
	};

	return RUN(tests);
}
