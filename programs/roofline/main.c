/* wavescope-roofline: measures the peaks of GPUs and writes roofline.csv. */
#include "base/cmd.h"
#include "base/log.h"
#include "base/util.h"
#include "programs/roofline/device.h"
#include "programs/roofline/file.h"
#include "programs/roofline/lock.h"
#include "programs/roofline/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALL_DEVICES -1
#define MAX_DEVICES 64
#define BAR 40

struct args {
	int64_t device;
	bool all, quiet;
	const char *output;
	uint64_t experiments;
	int layout;
};

static const struct ws_opt opts[] = {
	WS_OPT_I64(struct args, device, 'd', "device", "N",
		   "GPU index, as in HIP, from 0; -1: all. Default: 0"),
	WS_OPT_BOOL(struct args, all, 'a', "all",
		    "measure all GPUs, one after the other; one row each"),
	WS_OPT_STR(struct args, output, 'o', "output", "FILE",
		   "output file; default: roofline.csv"),
	WS_OPT_CHOICE(struct args, layout, 'l', "layout", "NAME", roof_layouts,
		      "columns of the file: current (20 peaks, the default) or first (11 peaks, as "
		      "rocprof-compute 2 and Omniperf wrote it)"),
	WS_OPT_U64(struct args, experiments, 'e', "experiments", "N",
		   "repeat each measurement at most N times; default: 100. It ends earlier if the "
		   "mean is known within 0.5 %"),
	WS_OPT_BOOL(struct args, quiet, 'q', "quiet", "print errors only"),
};

static void set_defaults(void *values)
{
	struct args *args = values;

	args->output = "roofline.csv";
	args->experiments = 100;
}

/* ---- what is shown meanwhile ---- */

static struct {
	bool shown;
	uint32_t device, n_done;
	const char *title;
	unsigned n_dispatches;
} bar;

static void draw_bar(void *ctx)
{
	static const char spinner[] = "|/-\\";
	unsigned percent = 100 * bar.n_done / ROOF_BENCHES, n = BAR * bar.n_done / ROOF_BENCHES;
	char filled[BAR + 1];

	(void)ctx;
	if (!bar.shown)
		return;
	memset(filled, '|', n);
	filled[n] = 0;
	fprintf(stderr, "\r%3u%% [%-*s] %c %s\033[K", percent, BAR, filled,
		spinner[bar.n_dispatches++ % 4], bar.title);
	fflush(stderr);
}

static void clear_bar(void)
{
	if (bar.shown)
		fputs("\r\033[K", stderr);
}

static void say_waiting(void)
{
	clear_bar();
	ws_log_warn("waiting for another benchmark on this GPU");
}

/* One line as AMD's benchmark prints it. */
static void print_peak(uint32_t device, const struct roof_device *d, const struct roof_bench *bench,
		       const struct roof_peak *peak)
{
	static const char *const work[] = { "traffic:%.0f bytes", "FLOP:%.0f", "IOP:%.0f" };
	const char *unit = roof_unit_name(bench->unit);

	printf("%s, GPU ID: %u, workgroupSize:256, workgroups:%u, experiments:%u, ", bench->title,
	       device, d->n_workgroups, peak->n);
	printf(work[bench->unit], peak->work);
	printf(", duration:%.3f ms, mean:%.1f %s, stdev=%.1f %s\n", 1000 * peak->seconds,
	       peak->mean, unit, peak->sd, unit);
	fflush(stdout);
}

/* ---- measuring ---- */

static enum ws_status measure(struct roof_device *d, const struct args *args, struct roof_row *row,
			      struct ws_err *err)
{
	struct roof_limits limits = { .max = (uint32_t)args->experiments, .progress = draw_bar };
	enum ws_status st = WS_OK;

	for (size_t k = 0; k < ROOF_BENCHES && !st; k++) {
		const struct roof_bench *bench = &roof_benches[k];
		const char *cannot = roof_cannot(d, bench);

		bar.n_done = (uint32_t)k;
		bar.title = bench->title;
		if (cannot) {
			ws_log_info("%s is not measured: %s", bench->title, cannot);
			continue;
		}
		st = roof_measure(d, bench, &limits, &row->peaks[k], err);
		clear_bar();
		if (!st && !args->quiet)
			print_peak(row->device, d, bench, &row->peaks[k]);
	}
	return st;
}

/* The kernels that a GPU could run but this build does not have, in one line. */
static void warn_missing(const struct roof_device *d)
{
	char list[200] = "";

	for (size_t k = 0; k < ROOF_BENCHES; k++) {
		const struct roof_bench *bench = &roof_benches[k];

		if (bench->work[d->family] &&
		    (!bench->kernel || !gpu_runner_has(d->runner, bench->kernel)))
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
				 *list ? ", " : "", bench->column);
	}
	if (*list)
		ws_log_warn("no kernels for %s on %s, these columns are 0: the assembler of this "
			    "build does not support their instructions",
			    list, d->agent->arch);
}

static enum ws_status measure_device(uint32_t device, const struct args *args, struct roof_row *row,
				     struct ws_err *err)
{
	struct roof_device d;
	enum ws_status st = roof_device_open(&d, device, err);
	int lock;

	if (st) /* the sentence for a GPU that is not there names it already */
		return st == WS_E_NOTFOUND ? st : ws_fail_in(err, st, "GPU %u", device);
	if (!args->quiet) {
		printf("GPU Device %u: Profiling...\n", device);
		if (d.agent->soft)
			printf("%s is a software GPU: times are modelled\n", d.agent->product);
		warn_missing(&d);
		fflush(stdout);
	}
	row->device = bar.device = device;
	/* a modelled clock is not disturbed by anybody */
	lock = d.agent->soft ? -1 : roof_lock(d.agent, say_waiting);
	st = measure(&d, args, row, err);
	if (lock >= 0)
		close(lock);
	roof_device_close(&d);
	return st ? ws_fail_in(err, st, "GPU %u", device) : WS_OK;
}

/* Fail before the measurement, not after it. */
static enum ws_status check_output(const char *path, struct ws_err *err)
{
	char dir[4096];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = 0;
	if (access(slash ? dir : ".", W_OK | X_OK))
		return ws_fail(err, WS_E_ACCESS, "cannot write to '%s': %m", slash ? dir : ".");
	return WS_OK;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	static struct roof_row rows[MAX_DEVICES];
	const struct args *args = call->values;
	bool all = args->all || args->device == ALL_DEVICES;
	uint32_t n = 0, first, last;
	enum ws_status st;

	(void)exit_code;
	if (call->rest.n)
		return ws_fail(err, WS_E_USAGE,
			       "unexpected argument '%s': only options are accepted",
			       call->rest.operands[0]);
	if (args->device < ALL_DEVICES || args->device >= MAX_DEVICES)
		return ws_fail(err, WS_E_USAGE, "--device %lld: 0 to %d, or -1 for all",
			       (long long)args->device, MAX_DEVICES - 1);
	if (!args->experiments)
		return ws_fail(err, WS_E_USAGE, "--experiments 0 measures nothing: use 1 or more");
	st = check_output(args->output, err);
	if (!st)
		st = gpu_runner_machine(&n, err);
	if (st)
		return st;
	bar.shown = !args->quiet && isatty(STDERR_FILENO);
	first = all ? 0 : (uint32_t)args->device;
	last = all ? n - 1 : first;
	if (!args->quiet)
		printf("Total detected GPU devices: %u\n", n);
	for (uint32_t k = first; k <= last && !st; k++)
		st = measure_device(k, args, &rows[k - first], err);
	if (!st)
		st = roof_file_write(args->output, (enum roof_layout)args->layout, rows,
				     last - first + 1, err);
	if (!st)
		gpu_runner_machine_close();
	return st;
}

static const struct ws_cmd roofline = {
	.name = "wavescope-roofline",
	.summary = "measure the peaks of a GPU",
	.usage = "[options]",
	.about = "Measures the bandwidth of memory, L2, L1 and LDS and the rates of vector and "
		 "matrix "
		 "arithmetic on a GPU, and writes them as rocprof-compute's roofline.csv: each "
		 "peak with "
		 "the lower and upper end of its 95 % interval, in GB/s, Gflop/s and Gop/s.",
	.notes = "On the software GPU:\n"
		 "  wavescope run -- wavescope-roofline\n",
	.opts = { opts, WS_ARRAY_LEN(opts) },
	.values_bytes = sizeof(struct args),
	.set_defaults = set_defaults,
	.run = run,
};

int main(int argc, char **argv)
{
	return ws_cmd_main(&roofline, "wavescope-roofline " WS_VERSION, argc, argv);
}
