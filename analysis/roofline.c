/* Ceilings: the measured peaks of roofline.csv, and the lines they make. */
#include "analysis/roofline.h"

#include "workload/peaks.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

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

bool ana_roof_variable(const struct wl_peaks *peaks, const char *name, double *out_value)
{
	const char *end = strstr(name, "_empirical_peak");
	char column[64];

	if (!end || end[strlen("_empirical_peak")] || (size_t)(end - name) >= sizeof(column))
		return false;
	memcpy(column, name, (size_t)(end - name));
	column[end - name] = '\0';
	*out_value = peaks ? wl_peaks_value(peaks, column) : NAN;
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

enum ws_status ana_roof_ceilings(const struct wl_peaks *peaks, enum ana_roof_type type,
				 unsigned levels, struct ana_roof_ceilings *out_roofs,
				 struct ws_err *err)
{
	struct ana_roof_ceilings roofs = { .type = type };
	double valu = wl_peaks_value(peaks, types_table[type].valu);
	double matrix = wl_peaks_value(peaks, types_table[type].matrix);
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
		double gb_s = wl_peaks_value(peaks, levels_table[i].column);

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
			       "roofline.csv has no bandwidth for the requested memory levels");
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
