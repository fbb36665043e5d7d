/* Ceilings: the measured peaks of roofline.csv, and the lines they make. */
#include "analysis/roofline.h"

#include "analysis/csv.h"
#include "base/file.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* A file of a hundred devices is 100 KB; anything much larger is something else. */
#define BENCH_BYTES_MAX (4u << 20)

/* In GB/s and GFLOP/s: what is outside is damage, not a GPU. */
#define PEAK_MIN 1e-3
#define PEAK_MAX 1e12

static const struct {
	const char *name, *word, *column;
} levels_table[] = {
#define ANA_ROOF_ROW(id, name, word, column) { name, word, column },
	ANA_ROOF_LEVEL_TABLE(ANA_ROOF_ROW)
#undef ANA_ROOF_ROW
};

static const struct {
	const char *name, *valu, *matrix;
} types_table[] = {
#define ANA_ROOF_ROW(id, name, valu, matrix) { name, valu, matrix },
	ANA_ROOF_TYPE_TABLE(ANA_ROOF_ROW)
#undef ANA_ROOF_ROW
};

#define BIT(type) (1u << ANA_ROOF_##type)
#define TYPES_90A (BIT(FP16) | BIT(BF16) | BIT(FP32) | BIT(FP64) | BIT(I8) | BIT(I32) | BIT(I64))
#define TYPES_94X (TYPES_90A | BIT(FP8))

static const struct {
	const char *arch;
	unsigned types;
} archs[] = {
	{ "gfx90a", TYPES_90A },
	{ "gfx940", TYPES_94X },
	{ "gfx941", TYPES_94X },
	{ "gfx942", TYPES_94X },
	{ "gfx950", TYPES_94X | BIT(FP4) | BIT(FP6) },
};

const char *ana_roof_level_name(enum ana_roof_level level)
{
	return levels_table[level].name;
}

const char *ana_roof_type_name(enum ana_roof_type type)
{
	return types_table[type].name;
}

bool ana_roof_level_find(const char *word, enum ana_roof_level *out_level)
{
	for (size_t i = 0; i < ANA_ROOF_LEVEL_COUNT; i++) {
		if (!strcasecmp(word, levels_table[i].word) ||
		    !strcasecmp(word, levels_table[i].name)) {
			*out_level = (enum ana_roof_level)i;
			return true;
		}
	}
	return false;
}

bool ana_roof_type_find(const char *word, enum ana_roof_type *out_type)
{
	for (size_t i = 0; i < ANA_ROOF_TYPE_COUNT; i++) {
		if (!strcasecmp(word, types_table[i].name)) {
			*out_type = (enum ana_roof_type)i;
			return true;
		}
	}
	return false;
}

bool ana_roof_type_on(enum ana_roof_type type, const char *arch)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(archs); i++)
		if (!strcmp(arch, archs[i].arch))
			return archs[i].types >> type & 1;
	return false;
}

bool ana_roof_arch_known(const char *arch)
{
	return ana_roof_type_on(ANA_ROOF_FP32, arch);
}

/* ---- roofline.csv ---- */

static enum ws_status keep(const char *name, const struct ana_csv *csv, struct ws_arena *arena,
			   struct ana_roof_bench *out_bench, struct ws_err *err)
{
	struct ana_roof_bench bench = { .n_columns = csv->n_columns, .n_devices = csv->n_rows };

	if (!csv->n_columns || strcmp(csv->columns[0].name, "device"))
		return ws_fail(err, WS_E_FORMAT,
			       "%s: the first column is '%.40s', not 'device': this is "
			       "no roofline.csv",
			       name, csv->n_columns ? csv->columns[0].name : "");
	if (csv->n_rows_bad)
		return ws_fail(err, WS_E_FORMAT,
			       "%s:%zu: cells are missing or left over: the file was "
			       "cut off; measure again with 'rocprof-compute profile --roof-only'",
			       name, csv->first_bad);
	if (!csv->n_rows)
		return ws_fail(err, WS_E_FORMAT,
			       "%s has no row below its header: measure again with "
			       "'rocprof-compute profile --roof-only'",
			       name);
	bench.columns = ws_arena_array(arena, csv->n_columns, sizeof(*bench.columns));
	bench.values = ws_arena_array(arena, csv->n_columns, sizeof(*bench.values));
	if (!bench.columns || !bench.values)
		return ws_fail(err, WS_E_NOMEM, "no memory for %s", name);
	for (size_t i = 0; i < csv->n_columns; i++) {
		if (csv->columns[i].is_text)
			return ws_fail(err, WS_E_FORMAT,
				       "%s: a cell of column '%.40s' is no number", name,
				       csv->columns[i].name);
		bench.columns[i] = csv->columns[i].name;
		bench.values[i] = csv->columns[i].at[0];
	}
	*out_bench = bench;
	return WS_OK;
}

enum ws_status ana_roof_bench_parse(const char *name, struct ws_str text, struct ws_arena *arena,
				    struct ana_roof_bench *out_bench, struct ws_err *err)
{
	struct ana_csv csv = { 0 };
	enum ws_status st = ana_csv_parse(text.at, text.n, NULL, arena, &csv, err);

	if (st)
		return ws_fail_in(err, st, "%s", name);
	st = keep(name, &csv, arena, out_bench, err);
	ana_csv_fini(&csv);
	return st;
}

enum ws_status ana_roof_bench_read(const char *path, struct ws_arena *arena,
				   struct ana_roof_bench *out_bench, struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st;

	if (access(path, F_OK))
		return ws_fail(err, WS_E_NOTFOUND,
			       "no %s: 'rocprof-compute profile' without "
			       "--no-roof measures it",
			       path);
	ws_buf_init(&text, BENCH_BYTES_MAX);
	st = ws_file_read(path, &text, err);
	if (!st)
		st = ana_roof_bench_parse(path, ws_buf_view(&text), arena, out_bench, err);
	ws_buf_fini(&text);
	return st;
}

double ana_roof_bench_value(const struct ana_roof_bench *bench, const char *column)
{
	for (size_t i = 0; column[0] && i < bench->n_columns; i++)
		if (!strcmp(bench->columns[i], column))
			return bench->values[i] >= PEAK_MIN && bench->values[i] <= PEAK_MAX
				       ? bench->values[i]
				       : NAN;
	return NAN;
}

bool ana_roof_variable(const struct ana_roof_bench *bench, const char *name, double *out_value)
{
	const char *end = strstr(name, "_empirical_peak");
	char column[64];

	if (!end || end[strlen("_empirical_peak")] || (size_t)(end - name) >= sizeof(column))
		return false;
	memcpy(column, name, (size_t)(end - name));
	column[end - name] = '\0';
	*out_value = bench ? ana_roof_bench_value(bench, column) : NAN;
	return true;
}

/* ---- lines ---- */

static struct ana_roof_top roof_over(double peak, double last_gb_s)
{
	return (struct ana_roof_top){
		.peak = peak,
		.x0 = fmin(ANA_ROOF_X_MAX, peak / last_gb_s),
		.x1 = ANA_ROOF_X_MAX,
	};
}

enum ws_status ana_roof_ceilings(const struct ana_roof_bench *bench, enum ana_roof_type type,
				 unsigned levels, struct ana_roof_ceilings *out_roofs,
				 struct ws_err *err)
{
	struct ana_roof_ceilings roofs = { .type = type };
	double valu = ana_roof_bench_value(bench, types_table[type].valu);
	double matrix = ana_roof_bench_value(bench, types_table[type].matrix);
	double last_gb_s = NAN;

	roofs.peak = fmax(valu, matrix); /* of a number and NaN: the number */
	if (isnan(roofs.peak))
		return ws_fail(err, WS_E_NOTFOUND,
			       "roofline.csv has no peak for %s: its columns "
			       "%s%s%s are missing or 0",
			       types_table[type].name, types_table[type].valu,
			       types_table[type].valu[0] && types_table[type].matrix[0] ? " and "
											: "",
			       types_table[type].matrix);
	for (size_t i = 0; i < ANA_ROOF_LEVEL_COUNT; i++) {
		double gb_s = ana_roof_bench_value(bench, levels_table[i].column);

		if ((levels && !(levels >> i & 1)) || isnan(gb_s))
			continue;
		roofs.slopes[roofs.n_slopes++] = (struct ana_roof_slope){
			.level = (enum ana_roof_level)i,
			.gb_s = gb_s,
			.x0 = ANA_ROOF_X_MIN,
			.y0 = ANA_ROOF_X_MIN * gb_s,
			.x1 = roofs.peak / gb_s,
			.y1 = roofs.peak,
		};
		last_gb_s = gb_s;
	}
	if (!roofs.n_slopes)
		return ws_fail(err, WS_E_NOTFOUND,
			       "roofline.csv has no bandwidth for the memory levels asked for");
	roofs.valu = roof_over(valu, last_gb_s);
	roofs.matrix = roof_over(matrix, last_gb_s);
	*out_roofs = roofs;
	return WS_OK;
}

static double bandwidth(const struct ana_roof_ceilings *roofs, enum ana_roof_level level)
{
	for (size_t i = 0; i < roofs->n_slopes; i++)
		if (roofs->slopes[i].level == level)
			return roofs->slopes[i].gb_s;
	return NAN;
}

double ana_roof_ridge(const struct ana_roof_ceilings *roofs, enum ana_roof_level level)
{
	return roofs->peak / bandwidth(roofs, level);
}

double ana_roof_bound(const struct ana_roof_ceilings *roofs, enum ana_roof_level level,
		      double intensity)
{
	double slope = intensity * bandwidth(roofs, level);

	return isnan(slope) ? NAN : fmin(slope, roofs->peak);
}
