/*
 * monitor_priv: what the sources of metrics share.
 *
 * A source adds a metric to the list when it first has a value of it, so what a machine does not have
 * is not in the capture. It sets the values of a reading; monitor.c writes them as one record.
 *
 * Threads  one reading at a time; monitor.c sees to that.
 * Memory   nothing here allocates: the list is made of pages when the thread starts.
 */
#ifndef WS_COLLECTOR_MONITOR_PRIV_H
#define WS_COLLECTOR_MONITOR_PRIV_H

#include "collector/collector_priv.h"
#include "collector/monitor/gpu_source.h"

/* ---- the list ---- */

#define COL_MONITOR_METRICS_MAX 8192u
#define COL_MONITOR_NAME_MAX 56u

struct col_monitor_metric {
	char name[COL_MONITOR_NAME_MAX]; /* of its track */
	const char *unit;
	uint32_t category; /* enum cap_metric_category */
	int32_t device;    /* GPU or CPU number; -1: the process */
	uint32_t flags;    /* CAP_METRIC_* */
	bool has;          /* a value in this reading */
	double value;
};

struct col_monitor_list {
	struct col_monitor_metric at[COL_MONITOR_METRICS_MAX]; /* its id is its place, from 1 */
	uint32_t n;
};

/* What a metric is; @format may have one %u, for the device. */
struct col_monitor_kind {
	const char *format, *unit;
	enum cap_metric_category category;
};

/* Sets a value; @id is 0 before the first. A list that is full drops it. */
void col_monitor_put(struct col_monitor_list *list, uint32_t *id,
		     const struct col_monitor_kind *kind, int32_t device, uint32_t flags,
		     double value);

/* ---- sources ---- */

/* process.c, cpu.c, gpu.c. read: at @now_ns. forked: in the child, what was the parent's is forgotten. */
void col_monitor_process_read(struct col_monitor_list *list, uint32_t what);
void col_monitor_process_forked(void);
void col_monitor_cpu_read(struct col_monitor_list *list, const struct col_collect_monitor *config);
void col_monitor_cpu_forked(void);
/* @ours is the software GPU; then no others are looked for. */
void col_monitor_gpu_read(struct col_monitor_list *list, const struct col_collect_monitor *config,
			  bool ours, uint64_t now_ns);
void col_monitor_gpu_forked(void);

#endif
