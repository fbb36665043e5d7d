/*
 * Any bytes as a capture: looking for findings must end, and every number of a finding is one.
 * replay.c runs it as a test.
 */
#include "analysis/findings.h"
#include "tests/fuzz/packed_capture.h"
#include "trace/trace.h"

#include <math.h>
#include <stdio.h>
#include <sys/mman.h>

static void check_case(const struct ana_finding_case *one)
{
	CHECK(one->n_values && one->gain_pct >= 0 && one->gain_pct <= 100);
	for (size_t v = 0; v < one->n_values; v++)
		CHECK(isfinite(one->values[v].value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ana_metrics *metrics;
	static int fd = -1;
	struct ana_findings_how how = { .min_share_pct = 0, .min_gain_pct = 0 };
	struct ana_findings *found;
	struct trc_trace *trace;
	struct ws_arena arena;
	struct ws_err err = { WS_OK, "" };
	char name[64];
	const char *path = name;

	if (fd < 0) {
		fd = memfd_create("fuzz", 0);
		CHECK(fd >= 0 && !ana_metrics_load("gfx90a", NULL, &metrics, &err));
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	unpack(fd, data, size);
	if (trc_open(&path, 1, NULL, &trace, &err)) {
		CHECK(err.text[0]);
		return 0;
	}
	ws_arena_init(&arena, 256u << 20);
	if (ana_findings_of_trace(trace, name, metrics, &how, &arena, &found, &err)) {
		CHECK(err.text[0]);
	} else {
		for (size_t i = 0; i < found->n; i++) {
			const struct ana_finding *f = &found->at[i];

			CHECK(f->n_cases && f->total_gain_pct >= 0 && f->total_gain_pct <= 100);
			for (size_t c = 0; c < f->n_cases; c++)
				check_case(&f->cases[c]);
		}
	}
	ws_arena_fini(&arena);
	trc_close(trace);
	return 0;
}
