/*
 * Any bytes as the captures of two ranks on two nodes: merging them must end, in an answer or a
 * message. replay.c runs it as a test.
 */
#include "ranks/imbalance.h"
#include "ranks/report.h"
#include "tests/fuzz/packed_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The same capture on another machine, a little later. */
static void make_other(int from, int to)
{
	static char bytes[1 << 16];
	struct cap_file_head *head = (struct cap_file_head *)bytes;
	off_t at = 0;
	ssize_t n;

	CHECK(ftruncate(to, 0) == 0);
	while ((n = pread(from, bytes, sizeof(bytes), at)) > 0) {
		if (at == 0 && (size_t)n >= sizeof(*head)) {
			head->boot_id[0] ^= 1;
			repair_file_head(bytes);
		}
		CHECK(pwrite(to, bytes, (size_t)n, at) == n);
		at += n;
	}
}

static void merge(struct trc_trace *trace, bool assume, const char *kernels)
{
	struct rnk_align_opts opts = { .assume_aligned = assume, .collective_kernels = kernels };
	struct rnk_imbalance *imbalance = NULL;
	struct rnk_job *job = NULL;
	struct ws_err err = { 0 };
	struct ws_buf text;
	enum ws_status st = rnk_job_open(trace, &job, &err);

	if (!st)
		st = rnk_job_align(job, &opts, &err);
	if (!st)
		st = rnk_imbalance_create(job, kernels, &imbalance, &err);
	CHECK(!st || (err.text[0] && st != WS_E_NOMEM));
	if (!st) {
		ws_buf_init(&text, 1 << 24);
		rnk_report_text(job, imbalance, 80, 0, &text);
		CHECK(text.n > 0);
		ws_buf_fini(&text);
		for (size_t i = 0; i < job->n_nodes; i++)
			CHECK(job->nodes[i].from != RNK_CLOCK_UNKNOWN &&
			      job->nodes[i].offset.uncertainty_ns >= 0);
	}
	rnk_imbalance_destroy(imbalance);
	rnk_job_close(job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fds[2] = { -1, -1 };
	char names[2][64];
	const char *paths[] = { names[0], names[1] };
	struct trc_trace *trace;
	struct ws_err err;

	for (int i = 0; i < 2; i++) {
		if (fds[i] < 0)
			fds[i] = memfd_create("fuzz", 0);
		CHECK(fds[i] >= 0);
		snprintf(names[i], sizeof(names[i]), "/proc/self/fd/%d", fds[i]);
	}
	unpack(fds[0], data, size);
	make_other(fds[0], fds[1]);
	if (trc_open(paths, 2, NULL, &trace, &err)) {
		CHECK(err.text[0]);
		return 0;
	}
	merge(trace, false, NULL);
	merge(trace, false, ".");
	merge(trace, true, NULL);
	trc_close(trace);
	return 0;
}
