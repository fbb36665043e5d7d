/*
 * counted: a program through a plan, as a table on stdout. For tests of launch/passes.h and
 * trace/counted.h with plans of any kind, also such that no planner would make.
 *
 *	counted [-m kernel|application|rotate] [-v INTERVAL] [-i RE] [-x RE] [-r FIRST-LAST]
 *		-s A,B -s C,D -- PROGRAM ...
 *
 * A line per dispatch: its number, times executed, runs it was found in, kernel, and NAME=SUM
 * for every counter with a value (NAME:N=SUM where it has N > 1 instances).
 */
#include "launch/passes.h"

#include "base/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_cell(const struct trc_counted_column *column, const double *cells)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < column->n; i++) {
		double value = cells[column->first + i];

		if (!isnan(value)) {
			sum += value;
			n++;
		}
	}
	if (n > 1)
		printf(" %s:%u=%.0f", column->name, n, sum);
	else if (n)
		printf(" %s=%.0f", column->name, sum);
}

static void print_table(const struct trc_counted *table)
{
	static const char *const words[] = { "exact", "modelled", "sampled", "hardware" };

	for (size_t i = 0; i < trc_counted_n_rows(table); i++) {
		const struct trc_counted_row *row = trc_counted_row(table, i);

		printf("%llu %u %u %s", (unsigned long long)row->dispatch_id, row->n_executed,
		       row->n_runs, row->kernel->truncated);
		for (size_t c = 0; c < trc_counted_n_columns(table); c++)
			print_cell(trc_counted_column(table, c), trc_counted_cells(table, i));
		putchar('\n');
	}
	for (size_t c = 0; c < trc_counted_n_columns(table); c++) {
		const struct trc_counted_column *column = trc_counted_column(table, c);

		printf("# %s %s in %llu, run %u\n", column->name, words[column->fidelity],
		       (unsigned long long)column->n_seen, column->run);
	}
	for (size_t i = 0; i < trc_counted_n_differences(table); i++) {
		const struct trc_counted_difference *d = trc_counted_difference(table, i);

		printf("! run %u %s: %llu missing, %llu more\n", d->run, d->kernel,
		       (unsigned long long)d->n_missing, (unsigned long long)d->n_more);
	}
}

int main(int argc, char **argv)
{
	static struct col_count_set sets[64];
	static const char *names[64][64];
	static struct col_count_range ranges[16];
	struct col_count_gpu gpu = { .gpu = COL_COUNT_EVERY_GPU, .sets = sets };
	struct launch_passes passes = {
		.tool = "counted", .gpus = &gpu, .n_gpus = 1, .base = ".", .ranges = ranges
	};
	struct launch_passes_result runs = { .n_runs = 0 };
	struct trc_counted *table = NULL;
	struct ws_err err = { WS_OK, "" };
	enum ws_status st;
	char *save;
	int c;

	ws_log_init("counted");
	while ((c = getopt(argc, argv, "m:v:i:x:r:s:")) != -1) {
		if (c == 'm')
			passes.replay = optarg[0] == 'k'   ? LAUNCH_REPLAY_KERNEL
					: optarg[0] == 'a' ? LAUNCH_REPLAY_APPLICATION
							   : LAUNCH_REPLAY_ROTATE;
		else if (c == 'v')
			passes.interval = strtoull(optarg, NULL, 10);
		else if (c == 'i')
			passes.include = optarg;
		else if (c == 'x')
			passes.exclude = optarg;
		else if (c == 'r' && passes.n_ranges < 16)
			sscanf(optarg, "%lu-%lu", &ranges[passes.n_ranges].first,
			       &ranges[passes.n_ranges].last),
				passes.n_ranges++;
		else if (c == 's' && gpu.n_sets < 64) {
			struct col_count_set *set = &sets[gpu.n_sets];

			set->names = names[gpu.n_sets];
			for (char *word = strtok_r(optarg, ",", &save); word && set->n < 64;
			     word = strtok_r(NULL, ",", &save))
				names[gpu.n_sets][set->n++] = word;
			gpu.n_sets++;
		}
	}
	passes.argv = argv + optind;
	st = launch_passes_run(&passes, &runs, &err);
	if (!st)
		st = launch_passes_table(&runs, NULL, &table, &err);
	if (!st)
		print_table(table);
	trc_counted_close(table);
	launch_passes_fini(&runs, true);
	if (st)
		ws_log_error("%s", err.text);
	return st ? 1 : 0;
}
