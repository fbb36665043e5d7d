/* roofline/file, roofline/peak, roofline/bench: the table, the statistics and the file made of
 * them. */
#include "tests/unit/unit.h"

#include "programs/roofline/bench.h"
#include "programs/roofline/file.h"
#include "programs/roofline/peak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct roof_row example(uint32_t device)
{
	struct roof_row row = { .device = device };

	for (size_t k = 0; k < ROOF_BENCHES; k++) {
		double value = 1000.0 * (double)(k + 1) + 0.123456;

		row.peaks[k] =
			(struct roof_peak){ .mean = value, .low = value - 1, .high = value + 1 };
	}
	return row;
}

static void interval_is_that_of_the_mean(void **state)
{
	const double rates[] = { 10, 12, 14, 12 };
	struct roof_peak peak = { .work = 7 };

	roof_statistics(rates, 4, &peak);
	assert_int_equal(peak.n, 4);
	assert_float_equal(peak.mean, 12, 1e-9);
	assert_float_equal(peak.sd, 1.632993, 1e-6); /* sqrt(8 / 3) */
	assert_float_equal(peak.low, 12 - 1.96 * 1.632993 / 2, 1e-5);
	assert_float_equal(peak.high, 12 + 1.96 * 1.632993 / 2, 1e-5);
	assert_float_equal(peak.work, 7, 0);
}

static void one_rate_has_no_spread(void **state)
{
	const double rate = 5;
	struct roof_peak peak = { 0 };

	roof_statistics(&rate, 1, &peak);
	assert_float_equal(peak.low, 5, 0);
	assert_float_equal(peak.high, 5, 0);
	roof_statistics(&rate, 0, &peak);
	assert_float_equal(peak.mean, 0, 0);
}

static void first_layout_is_that_of_the_first_files(void **state)
{
	struct roof_row rows[] = { example(0), example(3) };
	struct ws_buf text;

	ws_buf_init(&text, 1 << 16);
	roof_file_text(ROOF_FIRST, rows, 2, &text);
	/* MFMABF16 stands before MFMAF16 here, and behind it in the table */
	assert_string_equal(
		text.at,
		"device,HBMBw,HBMBwLow,hbmBwHigh,L2Bw,L2BwLow,L2BwHigh,L1Bw,L1BwLow,L1BwHigh,LDSBw,"
		"LDSBwLow,"
		"LDSBwHigh,FP32Flops,FP32FlopsLow,FP32FlopsHigh,FP64Flops,FP64FlopsLow,"
		"FP64FlopsHigh,"
		"MFMABF16Flops,MFMABF16FlopsLow,MFMABF16FlopsHigh,MFMAF16Flops,MFMAF16FlopsLow,"
		"MFMAF16FlopsHigh,MFMAF32Flops,MFMAF32FlopsLow,MFMAF32FlopsHigh,MFMAF64Flops,"
		"MFMAF64FlopsLow,MFMAF64FlopsHigh,MFMAI8Ops,MFMAFI8OpsLow,MFMAI8OpsHigh\n"
		"0,1000.1235,999.12346,1001.1235,3000.1235,2999.1235,3001.1235,4000.1235,3999.1235,"
		"4001.1235,5000.1235,4999.1235,5001.1235,7000.1235,6999.1235,7001.1235,8000.1235,"
		"7999.1235,"
		"8001.1235,17000.123,16999.123,17001.123,16000.123,15999.123,16001.123,18000.123,"
		"17999.123,"
		"18001.123,19000.123,18999.123,19001.123,20000.123,19999.123,20001.123\n"
		"3,1000.1235,999.12346,1001.1235,3000.1235,2999.1235,3001.1235,4000.1235,3999.1235,"
		"4001.1235,5000.1235,4999.1235,5001.1235,7000.1235,6999.1235,7001.1235,8000.1235,"
		"7999.1235,"
		"8001.1235,17000.123,16999.123,17001.123,16000.123,15999.123,16001.123,18000.123,"
		"17999.123,"
		"18001.123,19000.123,18999.123,19001.123,20000.123,19999.123,20001.123\n");
	ws_buf_fini(&text);
}

static void current_layout_names_every_column_thrice(void **state)
{
	static const char *const names[] = {
		"HBMBw",        "MALLBw",        "L2Bw",         "L1Bw",          "LDSBw",
		"FP16Flops",    "FP32Flops",     "FP64Flops",    "I8Ops",         "I32Ops",
		"I64Ops",       "MFMAF4Flops",   "MFMAF6Flops",  "MFMAF6F4Flops", "MFMAF8Flops",
		"MFMAF16Flops", "MFMABF16Flops", "MFMAF32Flops", "MFMAF64Flops",  "MFMAI8Ops"
	};
	struct roof_row row = example(0);
	struct ws_buf text, want;

	ws_buf_init(&text, 1 << 16);
	ws_buf_init(&want, 1 << 16);
	ws_buf_add(&want, "device");
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		ws_buf_printf(&want, ",%s,%sLow,%sHigh", names[k], names[k], names[k]);
	ws_buf_add(&want, "\n0,1000.1235,999.12346,1001.1235,2000.1235,");
	roof_file_text(ROOF_CURRENT, &row, 1, &text);
	assert_memory_equal(text.at, want.at, want.n);
	ws_buf_fini(&text);
	ws_buf_fini(&want);
}

static void file_is_whole_or_not_there(void **state)
{
	char path[] = "/tmp/ws-roofline-XXXXXX", part[64];
	struct roof_row row = example(0);
	struct ws_err err;

	assert_non_null(mkdtemp(path));
	strcpy(part, path);
	assert_fails_with(roof_file_write("/nowhere/roofline.csv", ROOF_CURRENT, &row, 1, &err),
			  WS_E_NOTFOUND, &err, "cannot write '/nowhere/roofline.csv");
	strcat(part, "/roofline.csv");
	assert_int_equal(roof_file_write(part, ROOF_CURRENT, &row, 1, &err), WS_OK);
	assert_int_equal(access(part, R_OK), 0);
	assert_int_equal(unlink(part), 0);
	assert_int_equal(rmdir(path), 0); /* nothing else is left behind */
}

static void families_are_found_by_target(void **state)
{
	assert_int_equal(roof_family("gfx90a"), ROOF_GFX90A);
	assert_int_equal(roof_family("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"), ROOF_GFX90A);
	assert_int_equal(roof_family("gfx942"), ROOF_GFX940);
	assert_int_equal(roof_family("gfx950"), ROOF_GFX950);
	assert_int_equal(roof_family("gfx90"), ROOF_FAMILIES);
	assert_int_equal(roof_family("gfx9080"), ROOF_FAMILIES);
	assert_int_equal(roof_family("something"), ROOF_FAMILIES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interval_is_that_of_the_mean),
		cmocka_unit_test(one_rate_has_no_spread),
		cmocka_unit_test(first_layout_is_that_of_the_first_files),
		cmocka_unit_test(current_layout_names_every_column_thrice),
		cmocka_unit_test(file_is_whole_or_not_there),
		cmocka_unit_test(families_are_found_by_target),
	};

	return RUN(tests);
}
