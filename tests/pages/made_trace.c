/*
 * Writes the trace page of a made-up program, or serves it until SIGINT:
 *
 *	made_trace FOLDER [serve]
 *
 * All that a track can show, names that try to leave the page, and enough short calls that they
 * are merged at first.
 */
#include "output/output.h"
#include "serve/server.h"
#include "serve/trace.h"
#include "tests/profile/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define US 1000ull
#define MS 1000000ull
#define START (5000 * MS)
#define SHORT_CALLS 6000u
#define LONG_NAME 4096

static const char *const hostile[] = {
	"</script><script>document.title='x'</script>",
	"\"'`${1}&amp;<!--",
	"a\tb\nc\x01\x7f",
	"\xff\xfe not UTF-8",
	"<img src=x onerror=alert(1)>",
	"\xc3\xbcml\xc3\xa4ut \xe2\x82\xac \xe6\xa0\xb8",
};

/* "<b>kernel</b>" and as many letters as make it 4 KB. */
static const char *long_name(void)
{
	static char name[LONG_NAME + 1] = "<b>kernel</b>";
	size_t n = strlen(name);

	memset(name + n, 'k', LONG_NAME - n);
	return name;
}

/* Ten steps of 10 ms: a launch, a kernel that is 6 ms long, a copy that overlaps the next one. */
static void put_steps(struct rig *rig)
{
	struct cap_lane *lane = rig_lane(rig, 4711), *gpu = rig_lane(rig, 4720);

	rig_region(rig, 1, CAP_REGION_USER, "train", 0);
	rig_region(rig, 2, CAP_REGION_PYTHON, "step", 0);
	rig_operation(rig, 1, "hipLaunchKernel");
	rig_operation(rig, 2, "hipMemcpyAsync");
	rig_operation(rig, 3, "hipGetLastError");
	rig_gpu(rig, long_name());
	rig_enter(lane, 1, START);
	for (uint64_t i = 0; i < 10; i++) {
		uint64_t at = START + i * 10 * MS;

		rig_enter(lane, 2, at);
		rig_call(lane, 1, at + MS, at + 2 * MS, 2 * i + 1);
		rig_dispatch(gpu, 4711, at + 3 * MS, at + 9 * MS, 2 * i + 1, NULL);
		rig_call(lane, 2, at + 2 * MS, at + 3 * MS, 2 * i + 2);
		rig_copy(gpu, 4711, at + 5 * MS, at + 15 * MS, 2 * i + 2);
		rig_leave(lane, 2, at + 9 * MS);
	}
	rig_leave(lane, 1, START + 100 * MS);
}

static void put_names(struct rig *rig)
{
	struct cap_lane *lane = rig_lane(rig, 4711);

	for (uint32_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		rig_region(rig, 10 + i, CAP_REGION_USER, hostile[i], 0);
		rig_enter(lane, 10 + i, START + (101 + i) * MS);
		rig_leave(lane, 10 + i, START + (101 + i) * MS + 500 * US);
	}
	rig_marker(lane, CAP_MARKER_MARK, START + 110 * MS, START + 110 * MS,
		   rig_intern(rig, hostile[0]));
	rig_marker(lane, CAP_MARKER_PROCESS_RANGE, START + 20 * MS, START + 45 * MS,
		   rig_intern(rig, "range"));
}

/* On a second thread: calls of 2 us every 10 us. */
static void put_short_calls(struct rig *rig)
{
	struct cap_lane *lane = rig_lane(rig, 4712);

	rig_thread(rig, 4712, "worker </b>", START, START + 120 * MS);
	for (uint64_t i = 0; i < SHORT_CALLS; i++)
		rig_call(lane, 3, START + i * 10 * US, START + i * 10 * US + 2 * US, 100 + i);
}

static void put_samples(struct rig *rig)
{
	struct cap_lane *lane = rig_lane(rig, 4711);

	rig_stack(1, "main|py:train|conv2d");
	rig_stack(2, "main|py:train|relu");
	rig_sampler(rig, CAP_SAMPLER_CPU_TIME, MS);
	rig_metric(rig, 1, CAP_METRIC_PROCESS_PAGE_FAULT, "Memory (S)", "MB");
	for (uint64_t i = 1; i <= 100; i++) {
		rig_sample(lane, i % 4 ? 1 : 2, CAP_SAMPLER_CPU_TIME, START + i * MS, i * MS);
		rig_read_metric(lane, 1, START + i * MS, (double)(i % 20) * 1.5);
	}
}

static enum ws_status write_page(const struct trc_trace *trace, const char *dir, struct ws_err *err)
{
	struct output_result result;
	struct output_config cfg;
	char prefix[4096];
	enum ws_status st;

	snprintf(prefix, sizeof(prefix), "%s/app", dir);
	output_config_init(&cfg);
	cfg.formats = OUTPUT_BIT(HTML);
	cfg.prefix = prefix;
	st = output_write(trace, NULL, 0, &cfg, &result, err);
	output_result_fini(&result);
	return st;
}

static enum ws_status serve_page(const struct trc_trace *trace, struct ws_err *err)
{
	struct srv_server *server = NULL;
	struct srv_trace *site = NULL;
	enum ws_status st = srv_server_open(0, &server, err);

	if (!st)
		st = srv_trace_create(trace, NULL, NULL, &site, err);
	if (!st)
		st = srv_server_run(server, &(struct srv_site){ srv_trace_answer, site }, err);
	srv_server_close(server);
	srv_trace_destroy(site);
	return st;
}

int main(int argc, char **argv)
{
	bool serves = argc == 3 && strcmp(argv[2], "serve") == 0;
	struct ws_err err = { 0 };
	struct trc_trace *trace;
	struct rig rig;

	if (argc != 2 && !serves)
		return 2;
	rig_start(&rig, argv[1], 4711, START);
	put_steps(&rig);
	put_names(&rig);
	put_short_calls(&rig);
	put_samples(&rig);
	rig_end(&rig, START + 120 * MS);
	trace = rig_open(&rig, 1);
	if (serves ? serve_page(trace, &err) : write_page(trace, argv[1], &err)) {
		fprintf(stderr, "made_trace: %s\n", err.text);
		return 1;
	}
	trc_close(trace);
	unlink(rig.path);
	rig_stacks_clear();
	return 0;
}
