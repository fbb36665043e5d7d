#include "analysis/roofline.h"
#include "analysis/select.h"
#include "report/roofline.h"
#include "tests/unit/unit.h"
#include "workload/peaks.h"
#include "workload/workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first generation's header, odd spellings included, with round numbers. */
static const char old_csv[] =
	"device,HBMBw,HBMBwLow,hbmBwHigh,L2Bw,L2BwLow,L2BwHigh,L1Bw,L1BwLow,L1BwHigh,LDSBw,"
	"LDSBwLow,"
	"LDSBwHigh,FP32Flops,FP32FlopsLow,FP32FlopsHigh,FP64Flops,FP64FlopsLow,FP64FlopsHigh,"
	"MFMABF16Flops,MFMABF16FlopsLow,MFMABF16FlopsHigh,MFMAF16Flops,MFMAF16FlopsLow,"
	"MFMAF16FlopsHigh,MFMAF32Flops,MFMAF32FlopsLow,MFMAF32FlopsHigh,MFMAF64Flops,"
	"MFMAF64FlopsLow,"
	"MFMAF64FlopsHigh,MFMAI8Ops,MFMAFI8OpsLow,MFMAI8OpsHigh\n"
	"0,1000,1,2,4000,1,2,8000,1,2,16000,1,2,20000,1,2,10000,1,2,160000,1,2,150000,1,2,40000,1,"
	"2,"
	"41000,1,2,161000,1,2\n"
	"1,9,1,2,9,1,2,9,1,2,9,1,2,9,1,2,9,1,2,9,1,2,9,1,2,9,1,2,9,1,2,9,1,2\n";

struct fixture {
	struct ws_arena arena;
	struct wl_peaks peaks;
	struct ws_err err;
};

static int setup(void **state)
{
	static struct fixture f;

	ws_arena_init(&f.arena, 64 << 20);
	if (wl_peaks_parse("roofline.csv", ws_str_from(old_csv), &f.arena, &f.peaks, &f.err))
		return -1;
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ws_arena_fini(&f->arena);
	return 0;
}

static void peaks_are_found_by_name_on_the_first_device(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->peaks.n_devices, 2);
	assert_float_equal(wl_peaks_value(&f->peaks, "MFMAI8Ops"), 161000, 0);
	assert_true(isnan(wl_peaks_value(&f->peaks, "FP16Flops")));
	assert_true(isnan(wl_peaks_value(&f->peaks, "")));
}

static void ceilings_meet_where_peak_and_bandwidth_do(void **state)
{
	struct fixture *f = *state;
	struct ana_roof_ceilings roofs;

	assert_int_equal(ana_roof_ceilings(&f->peaks, ANA_ROOF_FP32, 0, &roofs, &f->err), WS_OK);
	assert_int_equal(roofs.n_slopes, 4);
	assert_float_equal(roofs.peak, 40000, 0);
	assert_float_equal(roofs.slopes[0].y0, 10, 1e-12);
	assert_float_equal(roofs.slopes[0].x1, 40, 1e-12);
	assert_float_equal(roofs.slopes[3].x1, 2.5, 1e-12);
	assert_float_equal(roofs.valu.x0, 20000.0 / 16000,
			   1e-12); /* where the last level meets it */
	assert_float_equal(roofs.matrix.x0, 2.5, 1e-12);
	assert_float_equal(roofs.matrix.x1, 1000, 0);
	assert_float_equal(ana_roof_ridge(&roofs, ANA_ROOF_L2), 10, 1e-12);
	assert_float_equal(ana_roof_bound(&roofs, ANA_ROOF_L2, 5), 20000, 1e-9);
	assert_float_equal(ana_roof_bound(&roofs, ANA_ROOF_L2, 500), 40000, 1e-9);
	/* Chosen levels only; the roofs then begin at the last of them. */
	assert_int_equal(ana_roof_ceilings(&f->peaks, ANA_ROOF_FP32, 1u << ANA_ROOF_HBM, &roofs,
					   &f->err),
			 WS_OK);
	assert_int_equal(roofs.n_slopes, 1);
	assert_float_equal(roofs.valu.x0, 20, 1e-12);
	assert_true(isnan(ana_roof_ridge(&roofs, ANA_ROOF_L2)));
}

/* AMD's tool reads the F16 column for it. */
static void bf16_has_its_own_matrix_peak(void **state)
{
	struct fixture *f = *state;
	struct ana_roof_ceilings roofs;

	assert_int_equal(ana_roof_ceilings(&f->peaks, ANA_ROOF_BF16, 0, &roofs, &f->err), WS_OK);
	assert_float_equal(roofs.matrix.peak, 160000, 0);
	assert_true(isnan(roofs.valu.peak));
}

static void what_was_not_measured_is_refused_by_name(void **state)
{
	struct fixture *f = *state;
	struct ana_roof_ceilings roofs;

	assert_fails_with(ana_roof_ceilings(&f->peaks, ANA_ROOF_I64, 0, &roofs, &f->err),
			  WS_E_NOTFOUND, &f->err, "I64Ops");
}

static void types_and_levels_have_names_and_places(void **state)
{
	enum ana_roof_level level;
	enum ana_roof_type type;

	assert_true(ana_roof_level_find("vL1D", &level) && level == ANA_ROOF_L1);
	assert_true(ana_roof_level_find("hbm", &level) && level == ANA_ROOF_HBM);
	assert_false(ana_roof_level_find("L3", &level));
	assert_true(ana_roof_type_find("bf16", &type) && type == ANA_ROOF_BF16);
	assert_false(ana_roof_type_find("FP7", &type));
	assert_true(ana_roof_type_on(ANA_ROOF_FP32, "gfx90a"));
	assert_false(ana_roof_type_on(ANA_ROOF_FP8, "gfx90a"));
	assert_true(ana_roof_type_on(ANA_ROOF_FP8, "gfx942"));
	assert_false(ana_roof_type_on(ANA_ROOF_FP4, "gfx942"));
	assert_true(ana_roof_type_on(ANA_ROOF_FP4, "gfx950"));
	assert_false(ana_roof_arch_known("gfx908"));
}

static void damaged_files_are_refused(void **state)
{
	struct fixture *f = *state;
	struct wl_peaks peaks;
	static const struct {
		const char *text, *part;
	} cases[] = {
		{ "", "r.csv" },
		{ "device,HBMBw\n", "no row" },
		{ "Kernel,HBMBw\n0,1\n", "not 'device'" },
		{ "device,HBMBw\n0,1\n1\n", "truncated" },
		{ "device,HBMBw\n0,fast\n", "is not a number" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		enum ws_status st = wl_peaks_parse("r.csv", ws_str_from(cases[i].text), &f->arena,
						   &peaks, &f->err);

		assert_int_not_equal(st, WS_OK);
		if (!strstr(f->err.text, cases[i].part))
			fail_msg("'%s' does not say '%s'", f->err.text, cases[i].part);
	}
	assert_int_equal(wl_peaks_read("/nonexistent/roofline.csv", &f->arena, &peaks, &f->err),
			 WS_E_NOTFOUND);
}

/* ---- points, from a workload in memory ---- */

struct made {
	struct wl_workload load;
	struct wl_frame frame, *frames[1];
	struct wl_column columns[64];
	double cells[64][4];
	uint32_t kernel_of[4], rows[4];
	struct wl_kernel_name kernels[2];
	double start[4], end[4];
	struct ana_selection sel;
};

static void add_column(struct made *m, const char *name, double a, double b, double c, double d)
{
	size_t at = m->frame.n_columns++;
	struct wl_column *column = &m->columns[at];

	m->cells[at][0] = a;
	m->cells[at][1] = b;
	m->cells[at][2] = c;
	m->cells[at][3] = d;
	*column = (struct wl_column){ .name = name, .at = m->cells[at] };
	assert_int_equal(ws_map_put(&m->frame.by_name, ws_str_from(name), column, NULL), WS_OK);
}

/* Two kernels: "slow" in rows 0, 1 and 3, "fast" in row 2. */
static void make(struct made *m, const char *arch)
{
	static const char *const zero[] = {
		"SQ_INSTS_VALU_ADD_F16",
		"SQ_INSTS_VALU_MUL_F16",
		"SQ_INSTS_VALU_FMA_F16",
		"SQ_INSTS_VALU_TRANS_F16",
		"SQ_INSTS_VALU_MUL_F32",
		"SQ_INSTS_VALU_TRANS_F32",
		"SQ_INSTS_VALU_ADD_F64",
		"SQ_INSTS_VALU_MUL_F64",
		"SQ_INSTS_VALU_FMA_F64",
		"SQ_INSTS_VALU_TRANS_F64",
		"SQ_INSTS_VALU_MFMA_MOPS_F16",
		"SQ_INSTS_VALU_MFMA_MOPS_BF16",
		"SQ_INSTS_VALU_MFMA_MOPS_F64",
		"TCP_TCC_ATOMIC_WITH_RET_REQ_sum",
		"TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum",
		"SQ_INSTS_VALU_INT64",
		"SQ_INSTS_VALU_MFMA_MOPS_I8",
	};
	static const double ends[] = { 1000, 3000, 400, 1200 };

	*m = (struct made){ 0 };
	ws_map_init(&m->frame.by_name, WS_MAP_STR, 100);
	for (size_t i = 0; i < WS_ARRAY_LEN(zero); i++)
		add_column(m, zero[i], 0, 0, 0, 0);
	add_column(m, "SQ_INSTS_VALU_ADD_F32", 10, 20, 100, 30);
	add_column(m, "SQ_INSTS_VALU_FMA_F32", 5, 5, 0, 5);
	add_column(m, "SQ_INSTS_VALU_MFMA_MOPS_F32", 1, 1, 1, 1);
	add_column(m, "SQ_INSTS_VALU_INT32", 100, 100, 100, 100);
	add_column(m, "TCP_TOTAL_CACHE_ACCESSES_sum", 8, 8, 8, 8);
	add_column(m, "TCP_TCC_READ_REQ_sum", 4, 4, 4, 4);
	add_column(m, "TCP_TCC_WRITE_REQ_sum", 2, 2, 2, 2);
	add_column(m, "SQ_LDS_IDX_ACTIVE", 30, 30, 0, 30);
	add_column(m, "SQ_LDS_BANK_CONFLICT", 10, 10, 0, 10);
	m->frame.name = "pmc_perf";
	m->frame.n_rows = 4;
	m->frame.columns = m->columns;
	m->frames[0] = &m->frame;
	m->kernels[0].name = m->kernels[0].shown = "slow";
	m->kernels[1].name = m->kernels[1].shown = "fast";
	m->kernel_of[2] = 1;
	for (uint32_t i = 0; i < 4; i++) {
		m->rows[i] = i;
		m->end[i] = ends[i];
	}
	m->sel = (struct ana_selection){ .rows = m->rows, .n = 4, .all = true };
	m->load = (struct wl_workload){
		.arch = arch,
		.n_rows = 4,
		.frames = m->frames,
		.n_frames = 1,
		.kernel_of = m->kernel_of,
		.kernels = m->kernels,
		.n_kernels = 2,
		.start_ns = m->start,
		.end_ns = m->end,
	};
}

static struct ana_roof_points points_of(struct fixture *f, const struct made *m,
					enum ana_roof_by by, size_t most)
{
	struct ana_roof_points points;

	assert_int_equal(ana_roof_points(&m->load, &m->sel, by, most, &f->arena, &points, &f->err),
			 WS_OK);
	return points;
}

static void points_add_up_what_their_dispatches_did(void **state)
{
	struct fixture *f = *state;
	struct ana_roof_points points;
	struct made m;

	make(&m, "gfx90a");
	add_column(&m, "TCC_EA_RDREQ_sum", 10, 10, 10, 10);
	add_column(&m, "TCC_EA_RDREQ_32B_sum", 2, 2, 2, 2);
	add_column(&m, "TCC_EA_WRREQ_sum", 6, 6, 6, 6);
	add_column(&m, "TCC_EA_WRREQ_64B_sum", 4, 4, 4, 4);
	points = points_of(f, &m, ANA_ROOF_BY_KERNEL, 10);
	assert_int_equal(points.n, 2);
	assert_null(points.missing);
	assert_int_equal(points.at[0].kernel, 0);
	assert_int_equal(points.at[0].n, 3);
	assert_float_equal(points.at[0].mean_ns, 5200.0 / 3, 1e-9);
	/* 64 * (20 + 2*5) + 512, on average */
	assert_float_equal(points.at[0].flops, 2432, 1e-9);
	assert_float_equal(points.at[0].parts[ANA_ROOF_PART_MFMA_F32], 512, 1e-9);
	assert_float_equal(points.at[0].iops, 6400, 1e-9);
	assert_float_equal(points.at[0].bytes[ANA_ROOF_L1], 512, 1e-9);
	assert_float_equal(points.at[0].bytes[ANA_ROOF_L2], 384, 1e-9);
	/* 32*2 + 64*8 + 64*4 + 32*2 */
	assert_float_equal(points.at[0].bytes[ANA_ROOF_HBM], 896, 1e-9);
	assert_float_equal(points.at[0].bytes[ANA_ROOF_LDS], 20 * 4 * 32, 1e-9);
	assert_float_equal(ana_roof_rate(&points.at[0], ANA_ROOF_FP32), 2432 / (5200.0 / 3), 1e-9);
	assert_float_equal(ana_roof_intensity(&points.at[0], ANA_ROOF_FP64, ANA_ROOF_L2),
			   2432.0 / 384, 1e-9);
	assert_float_equal(ana_roof_intensity(&points.at[0], ANA_ROOF_I32, ANA_ROOF_L2),
			   6400.0 / 384, 1e-9);
	/* No bytes, no point. */
	assert_true(isnan(ana_roof_intensity(&points.at[1], ANA_ROOF_FP32, ANA_ROOF_LDS)));
	assert_int_equal(points.all.n, 4);

	points = points_of(f, &m, ANA_ROOF_BY_DISPATCH, 3);
	assert_int_equal(points.n, 3);
	assert_int_equal(points.n_left_out, 1);
	assert_int_equal(points.at[0].row, 1); /* the longest first */
	assert_float_equal(points.at[0].flops, 64 * 30 + 512, 1e-9);
	ws_map_fini(&m.frame.by_name);
}

static void gfx950_counts_reads_of_128_bytes_where_they_are_collected(void **state)
{
	struct fixture *f = *state;

	for (int collected = 0; collected < 2; collected++) {
		struct ana_roof_points points;
		struct made m;

		make(&m, "gfx950");
		add_column(&m, "TCC_BUBBLE_sum", 0, 0, 0, 0);
		add_column(&m, "TCC_EA0_RDREQ_sum", 10, 10, 10, 10);
		add_column(&m, "TCC_EA0_RDREQ_32B_sum", 2, 2, 2, 2);
		if (collected)
			add_column(&m, "TCC_EA0_RDREQ_128B_sum", 5, 5, 5, 5);
		add_column(&m, "TCC_EA0_WRREQ_sum", 6, 6, 6, 6);
		add_column(&m, "TCC_EA0_WRREQ_64B_sum", 4, 4, 4, 4);
		points = points_of(f, &m, ANA_ROOF_BY_KERNEL, 10);
		/* 32*2 + 64*8 + 32*2 + 64*4, and 64 more of each large one */
		assert_float_equal(points.at[0].bytes[ANA_ROOF_HBM], collected ? 896 + 64 * 5 : 896,
				   1e-9);
		ws_map_fini(&m.frame.by_name);
	}
}

static void later_architectures_count_bubbles_and_8_bit_floats(void **state)
{
	struct fixture *f = *state;
	struct ana_roof_points points;
	struct made m;

	make(&m, "gfx942");
	add_column(&m, "TCC_BUBBLE_sum", 1, 1, 1, 1);
	add_column(&m, "TCC_EA0_RDREQ_sum", 10, 10, 10, 10);
	add_column(&m, "TCC_EA0_RDREQ_32B_sum", 2, 2, 2, 2);
	add_column(&m, "TCC_EA0_WRREQ_sum", 6, 6, 6, 6);
	add_column(&m, "TCC_EA0_WRREQ_64B_sum", 4, 4, 4, 4);
	points = points_of(f, &m, ANA_ROOF_BY_KERNEL, 10);
	/* 128*1 + 32*2 + 64*(10 - 1 - 2) + 32*2 + 64*4 */
	assert_float_equal(points.at[0].bytes[ANA_ROOF_HBM], 960, 1e-9);
	/* Without MOPS_F8 what was counted before it stays. */
	assert_string_equal(points.missing, "SQ_INSTS_VALU_MFMA_MOPS_F8");
	assert_float_equal(points.at[0].flops, 2432, 1e-9);
	add_column(&m, "SQ_INSTS_VALU_MFMA_MOPS_F8", 2, 2, 2, 2);
	points = points_of(f, &m, ANA_ROOF_BY_KERNEL, 10);
	assert_float_equal(points.at[0].flops, 2432 + 1024, 1e-9);
	ws_map_fini(&m.frame.by_name);
}

static void a_missing_counter_gives_no_number(void **state)
{
	struct fixture *f = *state;
	struct ana_roof_points points;
	struct made m;

	make(&m, "gfx90a");
	m.cells[17][0] = NAN; /* SQ_INSTS_VALU_ADD_F32 of the first dispatch */
	points = points_of(f, &m, ANA_ROOF_BY_KERNEL, 10);
	assert_true(isnan(points.at[0].bytes[ANA_ROOF_HBM]));
	assert_true(isnan(ana_roof_intensity(&points.at[0], ANA_ROOF_FP32, ANA_ROOF_HBM)));
	/* The other two still count: 64*(20+10)+512 and 64*(30+10)+512, over three calls. */
	assert_float_equal(points.at[0].flops, (2432 + 3072) / 3.0, 1e-9);
	ws_map_remove(&m.frame.by_name, WS_STR("SQ_INSTS_VALU_ADD_F32"));
	points = points_of(f, &m, ANA_ROOF_BY_KERNEL, 10);
	assert_true(isnan(points.at[0].flops));
	assert_true(isnan(ana_roof_rate(&points.at[0], ANA_ROOF_FP32)));
	assert_string_equal(points.missing, "SQ_INSTS_VALU_ADD_F32");
	ws_map_fini(&m.frame.by_name);
}

/* ---- drawings ---- */

static void drawings_name_every_roof_and_point(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = { "slow<int, \"x\">(a & b)</script>", "fast" };
	struct rpt_roof_text_style style = { .n_columns = 80, .n_rows = 24 };
	struct ana_roof_ceilings roofs[2];
	struct ana_roof_points points;
	struct rpt_roof_model model = { .path = "w/<x>",
					.gpu = "MI210 (gfx90a)",
					.modelled = true,
					.types = roofs,
					.n_types = 2,
					.n_shown = 1,
					.points = &points,
					.kernel_names = names };
	struct ws_buf out;
	struct made m;

	make(&m, "gfx90a");
	points = points_of(f, &m, ANA_ROOF_BY_KERNEL, 10);
	assert_int_equal(ana_roof_ceilings(&f->peaks, ANA_ROOF_FP32, 0, &roofs[0], &f->err), WS_OK);
	assert_int_equal(ana_roof_ceilings(&f->peaks, ANA_ROOF_I8, 0, &roofs[1], &f->err), WS_OK);
	ws_buf_init(&out, 1 << 22);

	assert_int_equal(rpt_roof_text(&model, &style, &out, &f->err), WS_OK);
	assert_non_null(strstr(out.at, "HBM 1000 GB/s"));
	assert_non_null(strstr(out.at, "MFMA-FP32 40000 GFLOP/s"));
	assert_non_null(strstr(out.at, "VALU-FP32 20000 GFLOP/s"));
	assert_non_null(strstr(out.at, "modelled"));
	assert_non_null(strstr(out.at, "A  slow"));
	assert_null(strstr(out.at, "nan"));

	ws_buf_clear(&out);
	assert_int_equal(rpt_roof_svg(&model, 0, &out, &f->err), WS_OK);
	assert_non_null(strstr(out.at, "w/&lt;x&gt;"));
	assert_non_null(strstr(out.at, "class=\"mark mL2\""));
	assert_null(strstr(out.at, "nan"));
	assert_null(strstr(out.at, "inf"));

	ws_buf_clear(&out);
	assert_int_equal(rpt_roof_html(&model, &out, &f->err), WS_OK);
	/* A name cannot end the script it is in, and nothing points outside. */
	assert_null(strstr(out.at, "b)</script>"));
	assert_non_null(strstr(out.at, "b)\\u003c/script>"));
	assert_null(strstr(out.at, "src="));
	assert_null(strstr(out.at, "url("));
	assert_non_null(strstr(out.at, "modelled"));
	ws_buf_fini(&out);
	ws_map_fini(&m.frame.by_name);
}

static void running_out_of_memory_is_an_error(void **state)
{
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct wl_peaks peaks;
		struct ws_arena arena;
		struct ws_err err;
		enum ws_status st;

		ws_arena_init(&arena, 1 << 20);
		st = wl_peaks_parse("r.csv", ws_str_from(old_csv), &arena, &peaks, &err);
		assert_int_equal(st, allocation_failed() ? WS_E_NOMEM : WS_OK);
		ws_arena_fini(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peaks_are_found_by_name_on_the_first_device),
		cmocka_unit_test(ceilings_meet_where_peak_and_bandwidth_do),
		cmocka_unit_test(bf16_has_its_own_matrix_peak),
		cmocka_unit_test(what_was_not_measured_is_refused_by_name),
		cmocka_unit_test(types_and_levels_have_names_and_places),
		cmocka_unit_test(damaged_files_are_refused),
		cmocka_unit_test(points_add_up_what_their_dispatches_did),
		cmocka_unit_test(gfx950_counts_reads_of_128_bytes_where_they_are_collected),
		cmocka_unit_test(later_architectures_count_bubbles_and_8_bit_floats),
		cmocka_unit_test(a_missing_counter_gives_no_number),
		cmocka_unit_test(drawings_name_every_roof_and_point),
		cmocka_unit_test(running_out_of_memory_is_an_error),
	};

	return RUN_WITH(tests, setup, teardown);
}
