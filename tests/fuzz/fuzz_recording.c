/*
 * Any text as a recording, and as what the fidelity kernels print: every value that is compared gets a verdict, the
 * tally counts each of them once, and nothing is read outside.
 *
 * A line of === divides the two. As a test it replays its corpus and then runs mutations of it.
 */
#include "programs/fidelity/judge.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static void compare(unsigned chip, const struct fid_recording *rec, struct ws_str printed)
{
	struct fid_tally tally;
	struct fid_rows rows;
	struct ws_err err;
	unsigned n = 0, n_judged = 0;

	ws_vec_init(&rows, 1u << 16);
	if (fid_compare(chip, rec, printed, &rows, &err) == WS_OK) {
		tally = fid_tally(&rows);
		ws_vec_each(row, &rows) {
			n += row->has_expected;
			CHECK(row->dispatch < FID_DISPATCHES);
			CHECK(!row->has_expected || isnan(row->expected) || row->low <= row->high ||
			      isnan(row->low) || isnan(row->high));
		}
		for (unsigned k = 0; k < FID_N_VERDICTS; k++)
			n_judged += tally.n_verdicts[k];
		CHECK(n_judged == tally.n_modelled);
		CHECK(n == tally.n_modelled + tally.n_exact + tally.n_unsupported);
	}
	ws_vec_fini(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = malloc(size ? size : 1); /* exactly as large, so that ASan sees the end */
	struct fid_recording rec = { .n = 2 };
	const char *mark;
	size_t n;

	memcpy(bytes, data, size);
	mark = memmem(bytes, size, "\n===\n", 5);
	n = mark ? (size_t)(mark - bytes) : size;
	for (unsigned k = 0; k < rec.n; k++) {
		ws_buf_init(&rec.text[k], 1u << 20);
		ws_buf_add_n(&rec.text[k], bytes, n);
	}
	for (unsigned chip = 0; chip < FID_N_CHIPS; chip++)
		compare(chip, &rec,
			mark ? (struct ws_str){ mark + 5, size - n - 5 }
			     : (struct ws_str){ bytes, size });
	fid_recording_fini(&rec);
	free(bytes);
	return 0;
}

#ifndef WS_LIBFUZZER
#include "tests/fuzz/replay.h"
#endif
