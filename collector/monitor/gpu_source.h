/*
 * gpu_source: the ways to read the sensors of GPUs: AMD's libraries, the driver's files.
 *
 * The collector reads them inside a program; `wavescope gpu-info` reads them for a whole machine. Both
 * link the same objects, which use nothing else of the collector.
 *
 * Threads  one reading at a time.
 * Memory   nothing here allocates; AMD's libraries do.
 */
#ifndef WS_COLLECTOR_MONITOR_GPU_SOURCE_H
#define WS_COLLECTOR_MONITOR_GPU_SOURCE_H

#include "collector/config.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- figures ---- */

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
	/* All of its memory; false: it cannot be read. NULL: never. */
	bool (*memory_bytes)(uint32_t gpu, uint64_t *out);
};
extern const struct col_monitor_gpu_source col_monitor_softgpu, col_monitor_amd_smi,
	col_monitor_rocm_smi, col_monitor_sysfs;

/* gpu_sysfs.c. For tests: where the driver's files are. Before the first open. */
void col_monitor_sysfs_root(const char *path);
void col_monitor_sysfs_forked(void); /* in the child: the files are the parent's */

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

#endif
