/*
 * Writes the report of a made-up training program: made_report FOLDER [N]
 *
 * Python over C++ over HIP, two threads, kernels, and names that try to leave the page. With N,
 * that many different call paths, for a page that is as large as it gets.
 */
#include "profile/report.h"
#include "tests/profile/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS 1000000ull

static const char *const hostile[] = {
	"</script><script>document.title='x'</script>",
	"\"'`${1}&amp;<!--",
	"a\tb\nc\x01\x7f",
	"\xff\xfe not UTF-8",
	"<img src=x onerror=alert(1)>",
};

static void put_regions(struct rig *rig)
{
	struct cap_lane *lane = rig_lane(rig, 4711), *gpu = rig_lane(rig, 4720);
	uint64_t at = 1000 * MS;

	rig_region(rig, 1, CAP_REGION_HOST, "python3", 0);
	rig_region(rig, 2, CAP_REGION_PYTHON, "train_epoch", 0);
	rig_operation(rig, 1, "hipLaunchKernel");
	rig_gpu(rig, "_Z4gemmPfS_S_i.kd");
	for (uint32_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++)
		rig_region(rig, 10 + i, CAP_REGION_USER, hostile[i], 0);
	rig_enter(lane, 1, at);
	for (uint64_t i = 0; i < 4; i++) {
		rig_enter(lane, 2, at += MS);
		rig_call(lane, 1, at + 10 * MS, at + 20 * MS, i + 1);
		rig_dispatch(gpu, 4711, at + 15 * MS, at + 75 * MS, i + 1, NULL);
		rig_leave(lane, 2, at += 100 * MS);
	}
	for (uint32_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		rig_enter(lane, 10 + i, at += MS);
		rig_leave(lane, 10 + i, at += 5 * MS);
	}
	rig_leave(lane, 1, 2000 * MS);
}

/* Of 100 samples on the main thread, 50 are in conv2d, 30 in relu, 20 in hipMemcpy. */
static void put_samples(struct rig *rig)
{
	struct cap_lane *lane = rig_lane(rig, 4711), *worker = rig_lane(rig, 4712);

	rig_stack(1, "_start|main|py:<module>|py:train_epoch|at::native::conv2d(at::Tensor)");
	rig_stack(2, "_start|main|py:<module>|py:train_epoch|at::native::relu(at::Tensor)");
	rig_stack(3, "_start|main|py:<module>|py:load|hip:hipMemcpy");
	rig_stack(4, "clone|start_thread|py:worker|py:worker|decode");
	rig_sampler(rig, CAP_SAMPLER_CPU_TIME, 10 * MS);
	for (uint64_t i = 1; i <= 100; i++)
		rig_sample(lane,
			   i <= 50   ? 1
			   : i <= 80 ? 2
				     : 3,
			   CAP_SAMPLER_CPU_TIME, 1000 * MS + i * 10 * MS, i * 10 * MS);
	for (uint64_t i = 1; i <= 20; i++)
		rig_sample(worker, 4, CAP_SAMPLER_CPU_TIME, 1000 * MS + i * 10 * MS, i * 10 * MS);
}

/* Nested regions, at random but the same every time; almost every path is new. */
static void put_many(struct rig *rig, unsigned n)
{
	struct cap_lane *lane = rig_lane(rig, 4711);
	uint32_t open[24];
	uint64_t at = 1000 * MS;
	unsigned depth = 0;
	char name[64];

	for (unsigned i = 1; i <= 2000; i++) {
		snprintf(name, sizeof(name), "library::function_%u(int)", i);
		rig_region(rig, i, CAP_REGION_USER, name, 0);
	}
	srand(1);
	for (unsigned i = 0; i < n; i++) {
		while (depth == 24 || (depth > 1 && rand() % 2))
			rig_leave(lane, open[--depth], at += (uint64_t)(rand() % 5000));
		open[depth] = 1 + (uint32_t)(rand() % 2000);
		rig_enter(lane, open[depth++], at += (uint64_t)(rand() % 100) + 1);
	}
}

int main(int argc, char **argv)
{
	struct prof_report_opts opts;
	struct prof_report_result result;
	struct ws_err err = { 0 };
	struct trc_trace *trace;
	const struct trc_process *process;
	struct rig rig;
	enum ws_status st;

	if (argc < 2)
		return 2;
	rig_start(&rig, argv[1], 4711, 1000 * MS);
	rig_thread(&rig, 4711, "python3", 1000 * MS, 0);
	rig_thread(&rig, 4712, "worker </option>", 1000 * MS, 0);
	if (argc > 2) {
		put_many(&rig, (unsigned)atoi(argv[2]));
	} else {
		put_regions(&rig);
		put_samples(&rig);
	}
	rig_end(&rig, 2000 * MS);
	trace = rig_open(&rig, 1);
	process = trc_process_at(trace, 0);
	prof_report_opts_init(&opts);
	opts.folder = argv[1];
	opts.flame = opts.folded = opts.to_stdout = true;
	opts.version = "1.2.0";
	opts.settings_json = "{\"ROCPROFSYS_PROFILE\":{\"value\":true}}";
	opts.others =
		&(struct prof_report_file){ "protobuf", "perfetto", "/x/perfetto-trace.proto" };
	opts.n_others = 1;
	st = prof_report_write(trace, &process, 1, &opts, &result, &err);
	if (st)
		fprintf(stderr, "made_report: %s\n", err.text);
	prof_report_result_fini(&result);
	trc_close(trace);
	unlink(rig.path);
	rig_stacks_clear();
	return st ? 1 : 0;
}
