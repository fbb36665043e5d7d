/*
 * Points: operations and bytes of dispatches, from their counters.
 *
 * Which counters are added with which weight is the table below; it is the document of
 * the formulas. A dispatch that lacks one counter of a sum does not count in that sum,
 * because half a sum is a wrong number. FLOPs are three sums, each on top of the one
 * before: older recordings lack the later ones and keep what they have.
 */
#include "analysis/roofline.h"
#include "analysis/select.h"
#include "workload/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum sum {
	SUM_FLOPS,
	SUM_FLOPS_F8,
	SUM_FLOPS_F6F4,
	SUM_IOPS,
	SUM_HBM,
	SUM_L2,
	SUM_L1,
	SUM_LDS,
	SUM_COUNT
};

/* What a weight is multiplied with. */
enum scale { ONE, LANES, BANKS };

/* OPTIONAL: AMD's tools do not collect it; without it the sum is theirs */
enum { IN_90A = 1, IN_94X = 2, IN_950 = 4, IN_ALL = 7, IN_LATER = 6, OPTIONAL = 8 };

struct term {
	enum sum sum;
	int part; /* -1: bytes */
	double weight;
	enum scale scale;
	unsigned in;
	const char *counter;
};

/* clang-format off */
#define VALU_TERMS(type)                                                                                      \
	{ SUM_FLOPS, ANA_ROOF_PART_VALU_##type, 1, LANES, IN_ALL, "SQ_INSTS_VALU_ADD_" #type },                \
	{ SUM_FLOPS, ANA_ROOF_PART_VALU_##type, 1, LANES, IN_ALL, "SQ_INSTS_VALU_MUL_" #type },                \
	{ SUM_FLOPS, ANA_ROOF_PART_VALU_##type, 2, LANES, IN_ALL, "SQ_INSTS_VALU_FMA_" #type },                \
	{ SUM_FLOPS, ANA_ROOF_PART_VALU_##type, 1, LANES, IN_ALL, "SQ_INSTS_VALU_TRANS_" #type }

static const struct term terms[] = {
	VALU_TERMS(F16),
	VALU_TERMS(F32),
	VALU_TERMS(F64),
	{ SUM_FLOPS,      ANA_ROOF_PART_MFMA_F16,   512, ONE,   IN_ALL,   "SQ_INSTS_VALU_MFMA_MOPS_F16" },
	{ SUM_FLOPS,      ANA_ROOF_PART_MFMA_BF16,  512, ONE,   IN_ALL,   "SQ_INSTS_VALU_MFMA_MOPS_BF16" },
	{ SUM_FLOPS,      ANA_ROOF_PART_MFMA_F32,   512, ONE,   IN_ALL,   "SQ_INSTS_VALU_MFMA_MOPS_F32" },
	{ SUM_FLOPS,      ANA_ROOF_PART_MFMA_F64,   512, ONE,   IN_ALL,   "SQ_INSTS_VALU_MFMA_MOPS_F64" },
	{ SUM_FLOPS_F8,   ANA_ROOF_PART_MFMA_F8,    512, ONE,   IN_LATER, "SQ_INSTS_VALU_MFMA_MOPS_F8" },
	{ SUM_FLOPS_F6F4, ANA_ROOF_PART_MFMA_F6F4,  512, ONE,   IN_950,   "SQ_INSTS_VALU_MFMA_MOPS_F6F4" },
	{ SUM_IOPS,       ANA_ROOF_PART_VALU_INT32,   1, LANES, IN_ALL,   "SQ_INSTS_VALU_INT32" },
	{ SUM_IOPS,       ANA_ROOF_PART_VALU_INT64,   1, LANES, IN_ALL,   "SQ_INSTS_VALU_INT64" },
	{ SUM_IOPS,       ANA_ROOF_PART_MFMA_I8,    512, ONE,   IN_ALL,   "SQ_INSTS_VALU_MFMA_MOPS_I8" },
	{ SUM_LDS, -1,   4, BANKS, IN_ALL,   "SQ_LDS_IDX_ACTIVE" },
	{ SUM_LDS, -1,  -4, BANKS, IN_ALL,   "SQ_LDS_BANK_CONFLICT" },
	{ SUM_L1,  -1,  64, ONE,   IN_ALL,   "TCP_TOTAL_CACHE_ACCESSES_sum" },
	{ SUM_L2,  -1,  64, ONE,   IN_ALL,   "TCP_TCC_READ_REQ_sum" },
	{ SUM_L2,  -1,  64, ONE,   IN_ALL,   "TCP_TCC_WRITE_REQ_sum" },
	{ SUM_L2,  -1,  64, ONE,   IN_ALL,   "TCP_TCC_ATOMIC_WITH_RET_REQ_sum" },
	{ SUM_L2,  -1,  64, ONE,   IN_ALL,   "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum" },
	/* 64 bytes per request, 32 and 128 for those counted as such: bubbles, which are 0 on gfx950 (recorded) */
	{ SUM_HBM, -1,  64, ONE,   IN_90A,   "TCC_EA_RDREQ_sum" },
	{ SUM_HBM, -1, -32, ONE,   IN_90A,   "TCC_EA_RDREQ_32B_sum" },
	{ SUM_HBM, -1,  32, ONE,   IN_90A,   "TCC_EA_WRREQ_sum" },
	{ SUM_HBM, -1,  32, ONE,   IN_90A,   "TCC_EA_WRREQ_64B_sum" },
	{ SUM_HBM, -1,  64, ONE,   IN_LATER, "TCC_BUBBLE_sum" },
	{ SUM_HBM, -1,  64, ONE,   IN_950 | OPTIONAL, "TCC_EA0_RDREQ_128B_sum" },
	{ SUM_HBM, -1,  64, ONE,   IN_LATER, "TCC_EA0_RDREQ_sum" },
	{ SUM_HBM, -1, -32, ONE,   IN_LATER, "TCC_EA0_RDREQ_32B_sum" },
	{ SUM_HBM, -1,  32, ONE,   IN_LATER, "TCC_EA0_WRREQ_sum" },
	{ SUM_HBM, -1,  32, ONE,   IN_LATER, "TCC_EA0_WRREQ_64B_sum" },
};
/* clang-format on */

static const enum sum level_sums[] = {
	[ANA_ROOF_HBM] = SUM_HBM,
	[ANA_ROOF_L2] = SUM_L2,
	[ANA_ROOF_L1] = SUM_L1,
	[ANA_ROOF_LDS] = SUM_LDS,
};

static const char *const part_names[] = {
#define ANA_ROOF_ROW(id, name) name,
	ANA_ROOF_PART_TABLE(ANA_ROOF_ROW)
#undef ANA_ROOF_ROW
};

const char *ana_roof_part_name(enum ana_roof_part part)
{
	return part_names[part];
}

/* A term with its column; `at` NULL: not collected. */
struct bound_term {
	const struct term *term;
	const double *at;
	double weight;
};

struct formulas {
	struct bound_term terms[WS_ARRAY_LEN(terms)];
	size_t n_terms;
	bool whole[SUM_COUNT];  /* every column of it is there */
	bool exists[SUM_COUNT]; /* has terms on this architecture */
	const char *missing;    /* first missing counter of the FLOPs */
};

static unsigned bit_of(const char *arch)
{
	return !strcmp(arch, "gfx90a") ? IN_90A : !strcmp(arch, "gfx950") ? IN_950 : IN_94X;
}

/* Integer operations of the VALU are counted when a report shows them; a roofline alone does without. Those of the
 * matrix units are in table 4.1. */
size_t ana_roof_counters(const char *arch, const char *out_names[ANA_ROOF_COUNTERS_MAX])
{
	size_t n = 0;

	_Static_assert(WS_ARRAY_LEN(terms) <= ANA_ROOF_COUNTERS_MAX, "the callers' arrays");
	for (size_t i = 0; i < WS_ARRAY_LEN(terms); i++)
		if ((terms[i].in & bit_of(arch)) &&
		    (terms[i].sum != SUM_IOPS || terms[i].part == ANA_ROOF_PART_MFMA_I8))
			out_names[n++] = terms[i].counter;
	return n;
}

static unsigned arch_bit(const struct wl_workload *load)
{
	const char *series = wl_workload_fact(load, "gpu_series");

	if (series && !strcmp(series, "MI200"))
		return IN_90A;
	return bit_of(load->arch); /* old recordings have no series */
}

static void bind_terms(const struct wl_workload *load, struct formulas *out)
{
	unsigned bit = arch_bit(load);
	double scale[] = { [ONE] = 1, [LANES] = 64, [BANKS] = 32 };
	double value;

	*out = (struct formulas){ 0 };
	if (wl_workload_number(load, "wave_size", &value) && value > 0)
		scale[LANES] = value;
	if (wl_workload_number(load, "lds_banks_per_cu", &value) && value > 0)
		scale[BANKS] = value;
	for (size_t i = 0; i < SUM_COUNT; i++)
		out->whole[i] = true;
	for (size_t i = 0; i < WS_ARRAY_LEN(terms); i++) {
		const struct term *term = &terms[i];
		const struct wl_column *column;

		if (!(term->in & bit))
			continue;
		column = wl_frame_column(load->frames[0], term->counter);
		if ((term->in & OPTIONAL) && (!column || column->is_text))
			continue;
		out->exists[term->sum] = true;
		if (!column || column->is_text) {
			out->whole[term->sum] = false;
			if (term->sum <= SUM_FLOPS_F6F4 && !out->missing)
				out->missing = term->counter;
		}
		out->terms[out->n_terms++] = (struct bound_term){
			.term = term,
			.at = column ? column->at : NULL,
			.weight = term->weight * scale[term->scale],
		};
	}
	for (size_t i = 0; i < SUM_COUNT; i++)
		out->whole[i] = out->whole[i] && out->exists[i];
}

/* The sums of one dispatch; NaN where a counter is missing. */
static void sum_row(const struct formulas *formulas, uint32_t row, double *sums, double *parts)
{
	for (size_t i = 0; i < SUM_COUNT; i++)
		sums[i] = formulas->whole[i] ? 0 : NAN;
	for (size_t i = 0; i < ANA_ROOF_PART_COUNT; i++)
		parts[i] = 0;
	for (size_t i = 0; i < formulas->n_terms; i++) {
		const struct bound_term *term = &formulas->terms[i];
		double value;

		if (!term->at)
			continue;
		value = term->weight * term->at[row];
		sums[term->term->sum] += value;
		if (term->term->part >= 0 && !isnan(value))
			parts[term->term->part] += value;
	}
}

/* NaN and a number: the number; so that a dispatch without counters leaves no trace. */
static void accumulate(double *to, double value)
{
	if (!isnan(value))
		*to = isnan(*to) ? value : *to + value;
}

static struct ana_roof_point empty_point(uint32_t kernel, uint32_t row)
{
	struct ana_roof_point point = { .kernel = kernel, .row = row, .flops = NAN, .iops = NAN };

	for (size_t i = 0; i < ANA_ROOF_LEVEL_COUNT; i++)
		point.bytes[i] = NAN;
	return point;
}

static void add_dispatch(struct ana_roof_point *point, const double *sums, const double *parts,
			 double ns)
{
	point->n++;
	accumulate(&point->sum_ns, ns);
	accumulate(&point->flops, sums[SUM_FLOPS]);
	if (!isnan(sums[SUM_FLOPS])) {
		accumulate(&point->flops, sums[SUM_FLOPS_F8]);
		accumulate(&point->flops, sums[SUM_FLOPS_F6F4]);
	}
	accumulate(&point->iops, sums[SUM_IOPS]);
	for (size_t i = 0; i < ANA_ROOF_LEVEL_COUNT; i++)
		accumulate(&point->bytes[i], sums[level_sums[i]]);
	for (size_t i = 0; i < ANA_ROOF_PART_COUNT; i++)
		point->parts[i] += parts[i];
}

static void per_dispatch(struct ana_roof_point *point)
{
	double n = (double)point->n;

	if (!point->n)
		return;
	point->mean_ns = point->sum_ns / n;
	point->flops /= n;
	point->iops /= n;
	for (size_t i = 0; i < ANA_ROOF_LEVEL_COUNT; i++)
		point->bytes[i] /= n;
	for (size_t i = 0; i < ANA_ROOF_PART_COUNT; i++)
		point->parts[i] /= n;
}

static int by_time(const void *a, const void *b, void *of)
{
	const struct ana_roof_point *p = a, *q = b;
	const struct wl_workload *load = of;
	int order;

	if (p->sum_ns != q->sum_ns)
		return p->sum_ns < q->sum_ns ? 1 : -1;
	order = strcmp(load->kernels[p->kernel].name, load->kernels[q->kernel].name);
	return order ? order : p->row < q->row ? -1 : p->row > q->row;
}

enum ws_status ana_roof_points(const struct wl_workload *load, const struct ana_selection *sel,
			       enum ana_roof_by by, size_t max_n, struct ws_arena *arena,
			       struct ana_roof_points *out_points, struct ws_err *err)
{
	size_t max_points = by == ANA_ROOF_BY_KERNEL ? load->n_kernels : sel->n;
	struct ana_roof_points points = { .all = empty_point(0, 0) };
	struct formulas formulas;
	uint32_t *place;

	points.at = ws_arena_array(arena, max_points + 1, sizeof(*points.at));
	place = ws_arena_array(arena, load->n_kernels + 1, sizeof(*place));
	if (!points.at || !place)
		return ws_fail(err, WS_E_NOMEM, "no memory for %zu points of a roofline",
			       max_points);
	bind_terms(load, &formulas);
	points.missing = formulas.missing;
	for (size_t i = 0; i < sel->n; i++) {
		uint32_t row = sel->rows[i], kernel = load->kernel_of[row];
		double ns = load->start_ns && load->end_ns ? load->end_ns[row] - load->start_ns[row]
							   : NAN;
		double sums[SUM_COUNT], parts[ANA_ROOF_PART_COUNT];
		struct ana_roof_point *point;

		if (by == ANA_ROOF_BY_DISPATCH || !place[kernel]) {
			points.at[points.n] = empty_point(kernel, row);
			place[kernel] = (uint32_t)++points.n;
		}
		point = &points.at[place[kernel] - 1];
		sum_row(&formulas, row, sums, parts);
		add_dispatch(point, sums, parts, ns);
		add_dispatch(&points.all, sums, parts, ns);
	}
	for (size_t i = 0; i < points.n; i++)
		per_dispatch(&points.at[i]);
	per_dispatch(&points.all);
	qsort_r(points.at, points.n, sizeof(*points.at), by_time, (void *)load);
	if (points.n > max_n) {
		points.n_left_out = points.n - max_n;
		points.n = max_n;
	}
	*out_points = points;
	return WS_OK;
}

double ana_roof_ops(const struct ana_roof_point *point, enum ana_roof_type type)
{
	return ana_roof_type_is_int(type) ? point->iops : point->flops;
}

/* Numbers that counters of a real dispatch can give; damaged ones would stretch the axes. */
static double plausible(double value)
{
	return value >= 1e-9 && value <= 1e15 ? value : NAN;
}

double ana_roof_intensity(const struct ana_roof_point *point, enum ana_roof_type type,
			  enum ana_roof_level level)
{
	double ops = ana_roof_ops(point, type), bytes = point->bytes[level];

	return ops > 0 && bytes > 0 ? plausible(ops / bytes) : NAN;
}

double ana_roof_rate(const struct ana_roof_point *point, enum ana_roof_type type)
{
	double ops = ana_roof_ops(point, type);

	if (!(ops >= 0) || !(point->mean_ns > 0))
		return NAN;
	return ops == 0 ? 0 : plausible(ops / point->mean_ns);
}
