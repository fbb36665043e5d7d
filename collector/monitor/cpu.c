/* Frequency and load of each CPU of the machine. */
#include "collector/monitor/monitor_priv.h"

#include <stdio.h>
#include <string.h>

#define CPUS COL_COLLECT_NUMBERS

static const struct col_monitor_kind frequency = { "CPU Frequency [%u] (S)", "MHz",
						   CAP_METRIC_CPU_FREQUENCY };
static const struct col_monitor_kind load = { "CPU Load [%u] (S)", "%", CAP_METRIC_CPU_LOAD };

static struct {
	uint32_t frequency_ids[CPUS], load_ids[CPUS];
	struct {
		uint64_t busy, all; /* ticks so far; all 0: not read yet */
	} before[CPUS];
	struct col_monitor_file cpuinfo, stat;
	struct col_monitor_lines lines;
	bool no_mhz; /* /proc/cpuinfo does not say: Arm */
	struct col_monitor_file cpufreq;
} cpu = {
	.cpuinfo = { .path = "/proc/cpuinfo" },
	.stat = { .path = "/proc/stat" },
};

/* "processor	: 3", and some lines later "cpu MHz		: 2445.404" */
static void read_cpuinfo(struct col_monitor_list *list, const struct col_collect_monitor *config)
{
	const char *line, *at;
	uint64_t n = CPUS;
	bool found = false;
	double mhz;

	col_monitor_lines_start(&cpu.lines, &cpu.cpuinfo);
	while ((line = col_monitor_line(&cpu.lines))) {
		at = strchr(line, ':');
		if (!at)
			continue;
		if (col_monitor_after(line, "processor") && !col_monitor_number(at + 1, &n))
			n = CPUS;
		if (!col_monitor_after(line, "cpu MHz") || n >= CPUS ||
		    !col_monitor_decimal(at + 1, &mhz))
			continue;
		found = true;
		if (col_collect_has(&config->cpus, (uint32_t)n))
			col_monitor_put(list, &cpu.frequency_ids[n], &frequency, (int32_t)n, 0,
					mhz);
	}
	cpu.no_mhz = !found;
}

/* One file per CPU: not kept open, there may be hundreds. */
static void read_cpufreq(struct col_monitor_list *list, const struct col_collect_monitor *config)
{
	int64_t khz;

	for (uint32_t n = 0; n < CPUS; n++) {
		if (!col_collect_has(&config->cpus, n))
			continue;
		snprintf(cpu.cpufreq.path, sizeof(cpu.cpufreq.path),
			 "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", n);
		if (col_monitor_read_number(&cpu.cpufreq, &khz))
			col_monitor_put(list, &cpu.frequency_ids[n], &frequency, (int32_t)n, 0,
					(double)khz / 1000);
		else if (config->cpus.all)
			n = CPUS; /* it was the last */
		col_monitor_close(&cpu.cpufreq);
	}
}

/* "cpu3 user nice system idle iowait irq softirq steal ...": idle is the fourth and the fifth. */
static void read_stat(struct col_monitor_list *list, const struct col_collect_monitor *config)
{
	const char *line, *at;

	col_monitor_lines_start(&cpu.lines, &cpu.stat);
	while ((line = col_monitor_line(&cpu.lines)) && (at = col_monitor_after(line, "cpu"))) {
		uint64_t n, ticks, idle = 0, all = 0, busy;

		if (*at == ' ' || !(at = col_monitor_number(at, &n)) || n >= CPUS ||
		    !col_collect_has(&config->cpus, (uint32_t)n))
			continue;
		/* guest time, the ninth, is in user time already */
		for (int i = 0; i < 8 && (at = col_monitor_number(at, &ticks)); i++) {
			all += ticks;
			idle += i == 3 || i == 4 ? ticks : 0;
		}
		busy = all - idle;
		if (cpu.before[n].all && all > cpu.before[n].all && busy >= cpu.before[n].busy)
			col_monitor_put(list, &cpu.load_ids[n], &load, (int32_t)n, 0,
					100.0 * (double)(busy - cpu.before[n].busy) /
						(double)(all - cpu.before[n].all));
		cpu.before[n].busy = busy;
		cpu.before[n].all = all;
	}
}

void col_monitor_cpu_read(struct col_monitor_list *list, const struct col_collect_monitor *config)
{
	if (config->what & COL_MONITOR_BIT(CPU_FREQ)) {
		if (!cpu.no_mhz)
			read_cpuinfo(list, config);
		if (cpu.no_mhz)
			read_cpufreq(list, config);
	}
	if (config->what & COL_MONITOR_BIT(CPU_LOAD))
		read_stat(list, config);
}

void col_monitor_cpu_forked(void)
{
	col_monitor_close(&cpu.cpuinfo);
	col_monitor_close(&cpu.stat);
	memset(cpu.before, 0, sizeof(cpu.before));
}
