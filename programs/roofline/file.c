#include "programs/roofline/file.h"

#include "base/file.h"
#include "base/util.h"

#include <string.h>

const char *const roof_layouts[] = { "current", "first", NULL };

/* clang-format off */
static const struct {
	const char *value, *low, *high;
} first_columns[] = {
	{ "HBMBw",         "HBMBwLow",         "hbmBwHigh" },
	{ "L2Bw",          "L2BwLow",          "L2BwHigh" },
	{ "L1Bw",          "L1BwLow",          "L1BwHigh" },
	{ "LDSBw",         "LDSBwLow",         "LDSBwHigh" },
	{ "FP32Flops",     "FP32FlopsLow",     "FP32FlopsHigh" },
	{ "FP64Flops",     "FP64FlopsLow",     "FP64FlopsHigh" },
	{ "MFMABF16Flops", "MFMABF16FlopsLow", "MFMABF16FlopsHigh" },
	{ "MFMAF16Flops",  "MFMAF16FlopsLow",  "MFMAF16FlopsHigh" },
	{ "MFMAF32Flops",  "MFMAF32FlopsLow",  "MFMAF32FlopsHigh" },
	{ "MFMAF64Flops",  "MFMAF64FlopsLow",  "MFMAF64FlopsHigh" },
	{ "MFMAI8Ops",     "MFMAFI8OpsLow",    "MFMAI8OpsHigh" },
};
/* clang-format on */

static void add_peak(const struct roof_peak *peak, struct ws_buf *out)
{
	ws_buf_printf(out, ",%.8g,%.8g,%.8g", peak->mean, peak->low, peak->high);
}

static const struct roof_peak *peak_of(const struct roof_row *row, const char *column)
{
	size_t k = 0;

	while (strcmp(roof_benches[k].column, column))
		k++;
	return &row->peaks[k];
}

static void add_first(const struct roof_row *rows, uint32_t n, struct ws_buf *out)
{
	ws_buf_add(out, "device");
	for (size_t k = 0; k < WS_ARRAY_LEN(first_columns); k++)
		ws_buf_printf(out, ",%s,%s,%s", first_columns[k].value, first_columns[k].low,
			      first_columns[k].high);
	ws_buf_add(out, "\n");
	for (uint32_t r = 0; r < n; r++) {
		ws_buf_printf(out, "%u", rows[r].device);
		for (size_t k = 0; k < WS_ARRAY_LEN(first_columns); k++)
			add_peak(peak_of(&rows[r], first_columns[k].value), out);
		ws_buf_add(out, "\n");
	}
}

static void add_current(const struct roof_row *rows, uint32_t n, struct ws_buf *out)
{
	ws_buf_add(out, "device");
	for (size_t k = 0; k < ROOF_BENCHES; k++) {
		const char *name = roof_benches[k].column;

		ws_buf_printf(out, ",%s,%sLow,%sHigh", name, name, name);
	}
	ws_buf_add(out, "\n");
	for (uint32_t r = 0; r < n; r++) {
		ws_buf_printf(out, "%u", rows[r].device);
		for (size_t k = 0; k < ROOF_BENCHES; k++)
			add_peak(&rows[r].peaks[k], out);
		ws_buf_add(out, "\n");
	}
}

void roof_file_text(enum roof_layout layout, const struct roof_row *rows, uint32_t n,
		    struct ws_buf *out)
{
	if (layout == ROOF_FIRST)
		add_first(rows, n, out);
	else
		add_current(rows, n, out);
}

enum ws_status roof_file_write(const char *path, enum roof_layout layout,
			       const struct roof_row *rows, uint32_t n, struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, 1u << 20);
	roof_file_text(layout, rows, n, &text);
	st = ws_buf_status(&text, err);
	if (!st)
		st = ws_file_replace(path, text.at, text.n, err);
	ws_buf_fini(&text);
	return st;
}
