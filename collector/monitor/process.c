/* Figures of the process: memory, context switches, page faults, CPU time, bytes read and written. */
#include "collector/monitor/monitor_priv.h"

#include <sys/resource.h>
#include <unistd.h>

#define MB 1e6 /* as AMD's tool has it */

enum figure {
	RESIDENT,
	VIRTUAL,
	PEAK,
	SWITCHES,
	FAULTS,
	USER_TIME,
	KERNEL_TIME,
	READ_CALLS,
	WRITTEN_CALLS,
	READ_STORAGE,
	WRITTEN_STORAGE,
	N_FIGURES
};

/* The first category is AMD's, too: resident memory and page faults have the same. */
static const struct col_monitor_kind kinds[N_FIGURES] = {
	[RESIDENT] = { "CPU Memory Usage (S)", "MB", CAP_METRIC_PROCESS_PAGE_FAULT },
	[VIRTUAL] = { "CPU Virtual Memory Usage (S)", "MB", CAP_METRIC_PROCESS_VIRTUAL_MEMORY },
	[PEAK] = { "CPU Peak Memory (S)", "MB", CAP_METRIC_PROCESS_MEMORY_HWM },
	[SWITCHES] = { "CPU Context Switches (S)", "", CAP_METRIC_PROCESS_CONTEXT_SWITCH },
	[FAULTS] = { "CPU Page Faults (S)", "", CAP_METRIC_PROCESS_PAGE_FAULT },
	[USER_TIME] = { "CPU User Time (S)", "sec", CAP_METRIC_PROCESS_USER_CPU_TIME },
	[KERNEL_TIME] = { "CPU Kernel Time (S)", "sec", CAP_METRIC_PROCESS_KERNEL_CPU_TIME },
	[READ_CALLS] = { "CPU I/O Read (S)", "MB", CAP_METRIC_PROCESS_IO },
	[WRITTEN_CALLS] = { "CPU I/O Written (S)", "MB", CAP_METRIC_PROCESS_IO },
	[READ_STORAGE] = { "CPU Storage Read (S)", "MB", CAP_METRIC_PROCESS_IO },
	[WRITTEN_STORAGE] = { "CPU Storage Written (S)", "MB", CAP_METRIC_PROCESS_IO },
};

static const struct {
	const char *key;
	enum figure figure;
} io_keys[] = {
	{ "rchar:", READ_CALLS },
	{ "wchar:", WRITTEN_CALLS },
	{ "read_bytes:", READ_STORAGE },
	{ "write_bytes:", WRITTEN_STORAGE },
};

static struct {
	uint32_t ids[N_FIGURES];
	struct col_monitor_file statm, io;
	struct col_monitor_lines lines;
} process = {
	.statm = { .path = "/proc/self/statm" },
	.io = { .path = "/proc/self/io" },
};

static void put(struct col_monitor_list *list, enum figure figure, double value)
{
	col_monitor_put(list, &process.ids[figure], &kinds[figure], -1, 0, value);
}

static void read_memory(struct col_monitor_list *list)
{
	double page_bytes = (double)sysconf(_SC_PAGESIZE);
	char text[128];
	ssize_t n = col_monitor_read(&process.statm, text, sizeof(text) - 1, 0);
	uint64_t total, resident;
	const char *at;

	if (n <= 0)
		return;
	text[n] = '\0';
	at = col_monitor_number(text, &total);
	if (!at || !col_monitor_number(at, &resident))
		return;
	put(list, RESIDENT, (double)resident * page_bytes / MB);
	put(list, VIRTUAL, (double)total * page_bytes / MB);
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void read_usage(struct col_monitor_list *list)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) != 0)
		return;
	put(list, PEAK, (double)usage.ru_maxrss * 1024 / MB);
	put(list, SWITCHES, (double)(usage.ru_nvcsw + usage.ru_nivcsw));
	put(list, FAULTS, (double)(usage.ru_majflt + usage.ru_minflt));
	put(list, USER_TIME, seconds(usage.ru_utime));
	put(list, KERNEL_TIME, seconds(usage.ru_stime));
}

static void read_io(struct col_monitor_list *list)
{
	const char *line, *at;
	uint64_t n_bytes;

	col_monitor_lines_start(&process.lines, &process.io);
	while ((line = col_monitor_line(&process.lines)))
		for (size_t i = 0; i < sizeof(io_keys) / sizeof(io_keys[0]); i++)
			if ((at = col_monitor_after(line, io_keys[i].key)) &&
			    col_monitor_number(at, &n_bytes))
				put(list, io_keys[i].figure, (double)n_bytes / MB);
}

void col_monitor_process_read(struct col_monitor_list *list, uint32_t what)
{
	if (what & COL_MONITOR_BIT(PROCESS)) {
		read_memory(list);
		read_usage(list);
	}
	if (what & COL_MONITOR_BIT(IO))
		read_io(list);
}

void col_monitor_process_forked(void)
{
	col_monitor_close(&process.statm);
	col_monitor_close(&process.io);
}
