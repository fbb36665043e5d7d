/*
 * rocpd_host_priv: the CPU side of the process that is being written to a database.
 *
 * rocpd_host.c reads the events and writes samples and values over time, rocpd_regions.c
 * writes regions.
 */
#ifndef WS_OUTPUT_ROCPD_HOST_PRIV_H
#define WS_OUTPUT_ROCPD_HOST_PRIV_H

#include "base/str.h"
#include "base/vec.h"
#include "output/host_samples.h"
#include "output/rocpd_priv.h"

/* A quantity: row ids; 0: it is not there yet. */
struct output_rocpd_series {
	int64_t pmc, track;
};

struct output_rocpd_open {
	const struct trc_region *region;
	uint64_t start_ns;
	struct ws_buf notes; /* its annotations, as recorded */
};

#define OUTPUT_ROCPD_DEPTH_MAX 65536u

struct output_rocpd_host_thread {
	const struct trc_thread *thread;
	struct {
		struct output_samples samples;
		int64_t track;
	} sampled[CAP_SAMPLER_COUNT];
	struct output_rocpd_series used[OUTPUT_USED_COUNT];
	struct output_rocpd_series events[OUTPUT_CPU_EVENTS_MAX];
	WS_VEC(struct output_rocpd_open) open; /* innermost last */
};

struct output_rocpd_host {
	struct output_rocpd_db *db;
	const struct trc_process *process;
	struct prof_frames *frames;                /* NULL: none */
	struct output_rocpd_host_thread **threads; /* by index; NULL: not seen yet */
	struct output_rocpd_series *metrics;       /* by id */
	int64_t n_pmcs;
};

/* ---- rows: rocpd_host.c ---- */

/*
 * An event without a call; its id, negative after a failure. With @n_stack there are two texts
 * in db->json: the call stack, of so many bytes, then the lines.
 */
int64_t output_rocpd_host_event(struct output_rocpd_host *h, const char *category, size_t n_stack);
/* Negative ids are failures, which it reports. */
enum ws_status output_rocpd_host_region(struct output_rocpd_host *h,
					const struct trc_thread *thread, uint64_t start_ns,
					uint64_t end_ns, int64_t name_id, int64_t event_id);
/* Where a function is in the source, if that is known. */
void output_rocpd_json_line(struct output_jsonw *w, const char *name, const char *file,
			    uint32_t line);

/* ---- rocpd_regions.c ---- */

enum ws_status output_rocpd_put_region(struct output_rocpd_host *h,
				       struct output_rocpd_host_thread *thread,
				       const struct trc_event *ev);
/* Those that are open when the thread ends. */
enum ws_status output_rocpd_end_regions(struct output_rocpd_host *h,
					struct output_rocpd_host_thread *thread, uint64_t end_ns);

#endif
