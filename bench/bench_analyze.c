/*
 * rocprof-compute analyze on generated workloads of growing size: CPU time, cost of one
 * dispatch, and memory against the size of the CSV.
 *
 *	bench_analyze ROCPROF_COMPUTE DIR [most dispatches]
 *
 * The workload is an MI200's: as many counters as asked for, taken from the metric
 * definitions, L2 channels included, with values of two to seven digits.
 */
#include "analysis/metric.h"
#include "bench/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *names[4000];
static size_t n_names;

static void add_name(void *of, const struct ana_expr *name)
{
	const char *mark = strstr(name->text, "[::_1]");
	char text[128];

	if (name->kind != ANA_EXPR_COUNTER || strcmp(name->text, "Start_Timestamp") == 0 ||
	    strcmp(name->text, "End_Timestamp") == 0 || !strchr(name->text, '_') ||
	    strncmp(name->text, "SQ_ACCUM", 8) == 0)
		return;
	for (int c = 0; c < (mark ? 32 : 1); c++) {
		if (mark)
			snprintf(text, sizeof(text), "%.*s[%d]", (int)(mark - name->text),
				 name->text, c);
		else
			snprintf(text, sizeof(text), "%s", name->text);
		for (size_t i = 0; i < n_names; i++)
			if (strcmp(names[i], text) == 0)
				return;
		if (n_names < sizeof(names) / sizeof(*names))
			names[n_names++] = strdup(text);
	}
}

static void find_counters(void)
{
	static const char *const fixed[] = { "Dispatch_ID",
					     "GPU_ID",
					     "Grid_Size",
					     "Workgroup_Size",
					     "LDS_Per_Workgroup",
					     "Scratch_Per_Workitem",
					     "Arch_VGPR",
					     "Accum_VGPR",
					     "SGPR" };
	struct ana_metrics *metrics;
	struct ws_err err;

	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		names[n_names++] = fixed[i];
	if (ana_metrics_load("gfx90a", NULL, &metrics, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	add_name(NULL, &(struct ana_expr){ .kind = ANA_EXPR_COUNTER, .text = "GRBM_GUI_ACTIVE" });
	add_name(NULL, &(struct ana_expr){ .kind = ANA_EXPR_COUNTER, .text = "GRBM_COUNT" });
	add_name(NULL, &(struct ana_expr){ .kind = ANA_EXPR_COUNTER, .text = "SQ_WAVES" });
	for (size_t b = 0; b < metrics->n_blocks; b++)
		for (size_t t = 0; t < metrics->blocks[b]->n_tables; t++) {
			const struct ana_table *table = metrics->blocks[b]->tables[t];

			for (size_t m = 0; m < table->n_metrics; m++)
				for (size_t h = 0; h < table->n_headers; h++)
					if (table->metrics[m].cells[h].expr)
						ana_expr_each_name(table->metrics[m].cells[h].expr,
								   add_name, NULL);
		}
	ana_metrics_free(metrics);
}

static uint64_t state = 88172645463325252u;

static unsigned next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33);
}

static FILE *open_file(const char *dir, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "we");
	if (!file) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	return file;
}

static size_t generate(const char *dir, size_t n_rows, size_t n_counters)
{
	static const unsigned limits[] = { 100, 10000, 1000000, 10000000 };
	size_t n_columns = n_counters + 9 < n_names ? n_counters + 9 : n_names, bytes;
	FILE *file;

	if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
		fprintf(stderr, "%s: %s\n", dir, strerror(errno));
		exit(1);
	}
	file = open_file(dir, "sysinfo.csv");
	fputs("workload_name,gpu_arch,gpu_model,cu_per_gpu,simd_per_cu,se_per_gpu,wave_size,"
	      "max_waves_per_cu,max_sclk,max_mclk,cur_sclk,cur_mclk,total_l2_chan,lds_banks_per_cu,"
	      "sqc_per_gpu,pipes_per_gpu,num_xcd,num_hbm_channels\n"
	      "bench,gfx90a,MI210,104,4,8,64,32,1700,1600,1700,1600,32,32,56,4,1,32\n",
	      file);
	fclose(file);
	file = open_file(dir, "pmc_perf.csv");
	setvbuf(file, NULL, _IOFBF, 1 << 20);
	fputs("Kernel_Name,Start_Timestamp,End_Timestamp", file);
	for (size_t c = 0; c < n_columns; c++)
		fprintf(file, ",%s", names[c]);
	for (size_t r = 0; r < n_rows; r++) {
		fprintf(file, "\n\"kernel_%u(float*, int)\",%llu,%llu", next() % 20,
			1000000000000ull + r * 50000ull,
			1000000000000ull + r * 50000ull + 1000 + next() % 40000);
		for (size_t c = 0; c < n_columns; c++)
			fprintf(file, ",%u", c == 0 ? (unsigned)r : 10 + next() % limits[c % 4]);
	}
	fputc('\n', file);
	fflush(file);
	bytes = (size_t)ftell(file);
	fclose(file);
	return bytes;
}

int main(int argc, char **argv)
{
	static const struct {
		size_t n_rows, n_counters;
	} sizes[] = { { 3, 400 },   { 1000, 400 }, { 10000, 400 }, { 100000, 400 },
		      { 1000, 40 }, { 10000, 40 }, { 100000, 40 }, { 1000000, 40 } };
	size_t most = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000000;
	double base_ns = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: bench_analyze ROCPROF_COMPUTE DIR [MOST DISPATCHES]\n");
		return 2;
	}
	find_counters();
	printf("%10s %9s %9s %9s %9s %14s %8s\n", "dispatches", "counters", "CSV MB", "wall s",
	       "CPU s", "ns/disp/count", "RSS/CSV");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct rusage usage;
		size_t bytes;
		int status;
		double cpu, start, wall;
		pid_t pid;

		if (sizes[i].n_rows > most)
			continue;
		bytes = generate(argv[2], sizes[i].n_rows, sizes[i].n_counters);
		start = clock_s(CLOCK_MONOTONIC);
		fflush(stdout); /* the child must not print it again */
		pid = fork();
		if (pid == 0) {
			if (!freopen("/dev/null", "w", stdout))
				_exit(127);
			execl(argv[1], "rocprof-compute", "analyze", "-p", argv[2], (char *)NULL);
			_exit(127);
		}
		if (wait4(pid, &status, 0, &usage) < 0 || status != 0) {
			fprintf(stderr, "analyze failed: %d\n", status);
			return 1;
		}
		wall = clock_s(CLOCK_MONOTONIC) - start;
		cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
		base_ns = cpu * 1e9 / (double)sizes[i].n_rows / (double)sizes[i].n_counters;
		printf("%10zu %9zu %9.2f %9.3f %9.3f %14.2f %8.2f\n", sizes[i].n_rows,
		       sizes[i].n_counters, (double)bytes / 1e6, wall, cpu, base_ns,
		       (double)usage.ru_maxrss * 1024 / (double)bytes);
		fflush(stdout);
	}
	return 0;
}
