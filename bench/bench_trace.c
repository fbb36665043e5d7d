/*
 * How fast events come out of a capture, and in how much memory: N calls (nested four deep, on four
 * lanes) and dispatches are written, then opened and streamed in both orders.
 *
 *	bench_trace [MILLIONS [DIRECTORY]]
 */
#include "bench/clock.h"
#include "capture/writer.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define N_LANES 4

static double cpu_s(void)
{
	return clock_s(CLOCK_PROCESS_CPUTIME_ID); /* what others do must not count */
}

static long peak_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

static void put_call(struct cap_lane *lane, uint64_t start, uint64_t end, uint64_t id)
{
	struct cap_rec_call *rec = cap_lane_reserve(&lane, sizeof(*rec));

	if (!rec)
		return;
	rec->h.what = 1;
	rec->h.time = start;
	rec->end_ticks = end;
	rec->corr_id = id;
	cap_lane_commit(lane, &rec->h, CAP_REC_FIXED_TAG(CALL, struct cap_rec_call));
}

static int make(const char *path, uint64_t n)
{
	struct cap_rec_operation op = {
		.h = { CAP_REC_FIXED_TAG(OPERATION, struct cap_rec_operation), 1, 0 },
		.kind = CAP_KIND_HSA_CORE_API,
		.domain = CAP_DOMAIN_HSA_API
	};
	struct cap_lane *lanes[N_LANES];
	struct cap_writer *writer;
	struct ws_err err;
	uint64_t now;

	if (cap_writer_open(path, &(struct cap_writer_opts){ 0 }, &writer, &err)) {
		fprintf(stderr, "bench_trace: %s\n", err.text);
		return 1;
	}
	op.name_str = cap_writer_intern(writer, "hsa_signal_load_relaxed", 23);
	cap_writer_meta(writer, &op.h);
	for (uint32_t i = 0; i < N_LANES; i++)
		lanes[i] = cap_lane_get(writer, 1000 + i);
	now = cap_ticks();
	for (uint64_t i = 0; i < n; i += 4 * N_LANES, now += 1000) {
		for (uint32_t l = 0; l < N_LANES; l++) {
			for (uint64_t depth = 4; depth-- > 0;) /* innermost first, as they return */
				put_call(lanes[l], now + depth * 100 + l, now + 900 - depth * 100,
					 i + depth);
		}
	}
	for (uint32_t i = 0; i < N_LANES; i++) /* a range around everything */
		put_call(lanes[i], now - n / 16 * 1000, now, n + i);
	cap_writer_end(writer, CAP_END_EXIT);
	cap_writer_close(writer);
	return 0;
}

static void stream(const struct trc_trace *trace, const char *name, enum trc_event_order order)
{
	struct trc_event_query query = { .order = order };
	struct trc_events *events;
	const struct trc_event *ev;
	uint64_t n = 0, sum = 0;
	double start = cpu_s(), took;

	if (trc_events_open(trace, &query, &events, NULL))
		return;
	while ((ev = trc_events_next(events))) {
		sum += ev->end_ns - ev->start_ns;
		n++;
	}
	trc_events_close(events, NULL);
	took = cpu_s() - start;
	printf("%-20s %10.2f M events/s %8.1f ns each, peak %ld MB (checksum %lx)\n", name,
	       (double)n / took * 1e-6, took / (double)n * 1e9, peak_mb(), (unsigned long)sum);
}

int main(int argc, char **argv)
{
	uint64_t n = (uint64_t)((argc > 1 ? atof(argv[1]) : 10) * 1e6);
	struct trc_trace *trace = NULL;
	struct ws_err err = { 0 };
	char path[256];
	const char *paths[] = { path };
	double start;

	snprintf(path, sizeof(path), "%s/ws-bench-%d.wscap", argc > 2 ? argv[2] : "/tmp", getpid());
	start = cpu_s();
	if (make(path, n))
		return 1;
	printf("%-20s %10.2f M events/s\n", "written", (double)n / (cpu_s() - start) * 1e-6);
	start = cpu_s();
	if (trc_open(paths, 1, NULL, &trace, &err)) {
		fprintf(stderr, "bench_trace: %s\n", err.text);
		unlink(path);
		return 1;
	}
	printf("%-20s %10.2f M events/s, peak %ld MB\n", "opened, surveyed",
	       (double)n / (cpu_s() - start) * 1e-6, peak_mb());
	stream(trace, "as recorded", TRC_ORDER_RECORDED);
	stream(trace, "by start", TRC_ORDER_START);
	trc_close(trace);
	unlink(path);
	return 0;
}
