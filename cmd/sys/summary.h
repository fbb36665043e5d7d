/*
 * summary: the lines at the end of a run, of the process and of its threads, as AMD's tool has
 * them; and once, that there was a fork().
 */
#ifndef WS_CMD_SYS_SUMMARY_H
#define WS_CMD_SYS_SUMMARY_H

#include "trace/trace.h"

/* What the profile found of a process that left no account of its own; below 0: not known. */
struct sys_summary_found {
	double wall_s, cpu_s, peak_mb;
};

/* On stderr. */
void sys_summary_print(const struct trc_process *process, struct sys_summary_found found);

#endif
