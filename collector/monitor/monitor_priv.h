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

#include <sys/types.h>

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

/* ---- files that are read again and again: files.c ---- */

/*
 * Kept open, because a program may forbid itself to open files, or change its root. A program
 * that closes all descriptors closes this one, too: it is checked before use and reopened.
 */
struct col_monitor_file {
	char path[160];
	int fd; /* of no meaning while `inode` is 0 */
	dev_t device;
	ino_t inode;
	bool missing; /* it could not be opened: not tried again */
};

/* As pread(); -1: it cannot be read. */
ssize_t col_monitor_read(struct col_monitor_file *file, char *to, size_t room, off_t at);
/* In a forked child, where it is the parent's; and when nothing more is to be read. */
void col_monitor_close(struct col_monitor_file *file);
/* The number that a small file consists of. */
bool col_monitor_read_number(struct col_monitor_file *file, int64_t *out);

#define COL_MONITOR_LINE_MAX 8192u
/* The lines of a file, one after the other; those that are longer than the buffer are cut. */
struct col_monitor_lines {
	struct col_monitor_file *file;
	off_t at;
	size_t n, next; /* bytes in the buffer, and of those that were returned */
	bool cut;       /* the rest of the last line is skipped */
	char buf[COL_MONITOR_LINE_MAX];
};
void col_monitor_lines_start(struct col_monitor_lines *lines, struct col_monitor_file *file);
/* Terminated, without the newline; NULL after the last. Valid until the next call. */
const char *col_monitor_line(struct col_monitor_lines *lines);

/* A number after blanks and tabs; NULL: there is none, else what follows it. */
const char *col_monitor_number(const char *at, uint64_t *out);
/* With a fraction: "2445.404". */
const char *col_monitor_decimal(const char *at, double *out);
/* What follows @prefix, or NULL. */
const char *col_monitor_after(const char *line, const char *prefix);

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

/* ---- GPUs ---- */

#define COL_MONITOR_GPUS_MAX 64u
#define COL_MONITOR_VCN 4u
#define COL_MONITOR_JPEG 32u

enum col_monitor_figure {
	COL_FIGURE_GFX_BUSY, /* percent */
	COL_FIGURE_UMC_BUSY,
	COL_FIGURE_MM_BUSY,
	COL_FIGURE_TEMP,      /* of the junction, degrees Celsius */
	COL_FIGURE_POWER,     /* watts */
	COL_FIGURE_MEMORY,    /* in use, bytes */
	COL_FIGURE_GFX_CLOCK, /* MHz */
	COL_FIGURE_MEMORY_CLOCK,
	COL_FIGURE_VCN, /* percent, COL_MONITOR_VCN of them */
	COL_FIGURE_JPEG = COL_FIGURE_VCN + COL_MONITOR_VCN,
	COL_FIGURE_COUNT = COL_FIGURE_JPEG + COL_MONITOR_JPEG
};
_Static_assert(COL_FIGURE_COUNT <= 64, "col_monitor_figures.has has a bit for each");

struct col_monitor_figures {
	uint64_t has; /* bit per enum col_monitor_figure */
	double at[COL_FIGURE_COUNT];
};

static inline void col_monitor_figure(struct col_monitor_figures *figures, unsigned which,
				      double value)
{
	figures->has |= 1ull << which;
	figures->at[which] = value;
}

/* One way to read GPUs. */
struct col_monitor_gpu_source {
	const char *name; /* for messages */
	uint32_t flags;   /* CAP_METRIC_* */
	/* The number of GPUs; 0: it is not there, or not yet. */
	uint32_t (*open)(void);
	/* @what: COL_MONITOR_BIT()s that are wanted. What cannot be read is left out. */
	void (*read)(uint32_t gpu, uint32_t what, uint64_t now_ns, struct col_monitor_figures *out);
};
extern const struct col_monitor_gpu_source col_monitor_softgpu, col_monitor_amd_smi,
	col_monitor_rocm_smi, col_monitor_sysfs;

/* gpu_sysfs.c. For tests: where the driver's files are. Before the first open. */
void col_monitor_sysfs_root(const char *path);
void col_monitor_sysfs_forked(void);

#endif
