/*
 * Any bytes as roofline.csv: refused with a sentence, or ceilings of every type that can be
 * drawn, as text, picture and page, without a number that is none.
 */
#include "analysis/roofline.h"
#include "report/roofline.h"
#include "tests/fuzz/fuzz.h"
#include "workload/peaks.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void draw(const struct ana_roof_ceilings *roofs, size_t n)
{
	static const char *const names[] = { "kernel" };
	struct ana_roof_point point = { .n = 1,
					.sum_ns = 1000,
					.mean_ns = 1000,
					.flops = 5000,
					.iops = 70,
					.bytes = { 100, 200, 300, NAN } };
	struct ana_roof_points points = { .at = &point, .n = 1, .all = point };
	struct rpt_roof_model model = { .path = "w",
					.gpu = "g",
					.types = roofs,
					.n_types = n,
					.n_shown = 1,
					.points = &points,
					.kernel_names = names };
	struct rpt_roof_text_style style = { .n_columns = 80, .n_rows = 24 };
	struct ws_buf out;

	ws_buf_init(&out, 16 << 20);
	CHECK(!rpt_roof_text(&model, &style, &out, NULL));
	ws_buf_clear(&out);
	for (size_t i = 0; i < n; i++)
		CHECK(!rpt_roof_svg(&model, i, &out, NULL));
	CHECK(!strstr(out.at, "\"nan") && !strstr(out.at, "\"-nan"));
	ws_buf_clear(&out);
	CHECK(!rpt_roof_html(&model, &out, NULL));
	CHECK(!strstr(out.at, ":nan") && !strstr(out.at, ":inf"));
	ws_buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ana_roof_ceilings roofs[ANA_ROOF_TYPE_COUNT];
	struct wl_peaks peaks;
	struct ws_arena arena;
	struct ws_err err = { 0 };
	size_t n = 0;

	ws_arena_init(&arena, 64 << 20);
	if (wl_peaks_parse("roofline.csv", (struct ws_str){ (const char *)data, size }, &arena,
			   &peaks, &err)) {
		CHECK(err.text[0]);
	} else {
		CHECK(peaks.n_devices && peaks.n_columns);
		for (int type = 0; type < ANA_ROOF_TYPE_COUNT; type++) {
			if (ana_roof_ceilings(&peaks, (enum ana_roof_type)type, 0, &roofs[n],
					      &err)) {
				CHECK(err.text[0]);
				continue;
			}
			CHECK(roofs[n].peak > 0 && roofs[n].n_slopes);
			n++;
		}
		if (n)
			draw(roofs, n);
	}
	ws_arena_fini(&arena);
	return 0;
}
