#include "cmd/sys/summary.h"

#include <stdio.h>

#define LINES_MAX 16u /* threads that have a line */

/* ", 1.5 sec cpu_clock, 75.0 % cpu_util", and the same of a thread. */
static void print_cpu(double cpu_s, double wall_s, const char *of)
{
	fprintf(stderr, ", %f sec %scpu_clock", cpu_s, of);
	if (wall_s > 0)
		fprintf(stderr, ", %.1f %% %scpu_util", 100 * cpu_s / wall_s, of);
}

static double mb_of(uint32_t kb)
{
	return kb * 1024.0 / 1e6;
}

static bool has_line(const struct trc_thread *thread)
{
	return thread->usage && thread->start_ns;
}

static void print_thread(const struct trc_thread *thread)
{
	const struct trc_process *process = thread->process;
	bool is_main = thread == process->main_thread;
	uint64_t start_ns = is_main ? process->init_ns : thread->start_ns;
	uint64_t end_ns = thread->end_ns ? thread->end_ns : process->fini_ns;
	double wall_s = end_ns > start_ns ? (double)(end_ns - start_ns) / 1e9 : 0;

	fprintf(stderr, "[rocprof-sys] rocprof-sys/process/%u/thread/%u : %f sec wall_clock",
		process->pid, thread->index, wall_s);
	print_cpu((double)thread->usage->cpu_ns / 1e9, wall_s, "thread_");
	fprintf(stderr, ", %.3f MB peak_rss [laps: 1]\n", mb_of(thread->usage->peak_kb));
}

/* AMD's words; there the child is not recorded. */
static void print_fork(const struct trc_process *process)
{
	static bool printed;

	if (!(process->flags & CAP_PROCESS_FORKED) || printed)
		return;
	printed = true;
	fprintf(stderr,
		"[rocprof-sys][%u] fork() called on PID %u: its child %u is recorded, too\n",
		process->ppid, process->ppid, process->pid);
}

void sys_summary_print(const struct trc_process *process, struct sys_summary_found found)
{
	const struct cap_rec_usage *usage = process->usage;
	double peak_mb = usage ? mb_of(usage->peak_kb) : found.peak_mb;
	double cpu_s = usage ? (double)usage->cpu_ns / 1e9 : found.cpu_s;
	size_t n = 0;

	print_fork(process);
	if (found.wall_s < 0)
		return;
	fprintf(stderr, "[rocprof-sys] rocprof-sys/process/%u : %f sec wall_clock", process->pid,
		found.wall_s);
	if (peak_mb >= 0)
		fprintf(stderr, ", %.3f MB peak_rss", peak_mb);
	if (usage)
		fprintf(stderr, ", %.3f MB page_rss", mb_of(usage->resident_kb));
	if (cpu_s >= 0)
		print_cpu(cpu_s, found.wall_s, "");
	fputs(" [laps: 1]\n", stderr);
	if (process->main_thread && has_line(process->main_thread) && ++n)
		print_thread(process->main_thread);
	for (size_t i = 0; i < process->threads.n; i++) {
		const struct trc_thread *thread = &process->threads.at[i];

		if (thread != process->main_thread && has_line(thread) && n++ < LINES_MAX)
			print_thread(thread);
	}
	if (n > LINES_MAX)
		fprintf(stderr, "[rocprof-sys] rocprof-sys/process/%u : %zu more threads\n",
			process->pid, n - LINES_MAX);
}
