/*
 * Any bytes as a capture: opening and streaming it must end, in order, with every reference whole.
 * replay.c runs it as a test.
 */
#include "tests/fuzz/packed_capture.h"
#include "trace/counted.h"
#include "trace/host.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- looking at everything ---- */

static size_t touched;

static void touch(const char *text)
{
	CHECK(text);
	touched += strlen(text);
}

static void check_process(const struct trc_process *p)
{
	uint64_t id;

	for (size_t i = 0; i < CAP_FACT_COUNT; i++)
		touch(p->facts[i]);
	for (size_t i = 0; i < p->n_argv; i++)
		touch(p->argv[i]);
	for (size_t i = 0; i < p->agents.n; i++)
		touch(p->agents.at[i]->name);
	for (size_t i = 0; i < p->kernels.n; i++) {
		touch(p->kernels.at[i].formatted);
		touch(p->kernels.at[i].truncated);
		touch(p->kernels.at[i].code_object->uri);
	}
	for (size_t i = 0; i < p->host_functions.n; i++)
		touch(p->host_functions.at[i].kernel->formatted);
	for (size_t i = 0; i < p->counters.n; i++)
		touch(p->counters.at[i].name);
	for (size_t i = 0; i < trc_process_n_externals(p); i++)
		touch(trc_process_external_at(p, i, &id));
	CHECK(p->main_thread && p->threads.n && p->queues.n && p->streams.n);
	for (uint32_t code = 0; code < 3; code++) {
		uint64_t n;
		char *image = trc_process_code_bytes(p, code, &n);

		for (uint64_t i = 0; image && i < n; i += 4096)
			touched += (size_t)image[i];
		free(image);
	}
}

static void check_event(const struct trc_event *ev)
{
	touch(ev->name);
	touch(ev->thread->name);
	touch(ev->stream->name);
	CHECK(ev->end_ns >= ev->start_ns && ev->domain < CAP_DOMAIN_COUNT);
	if (ev->domain == CAP_DOMAIN_KERNEL_DISPATCH) {
		touch(ev->dispatch.kernel->demangled);
		CHECK(ev->dispatch.queue);
		for (uint32_t i = 0; i < ev->dispatch.info->n_values; i++)
			touched += ev->dispatch.values[i].counter;
	} else if (cap_rec_type(ev->rec) == CAP_REC_CALL_ARGS) {
		struct trc_arg_walk walk = { 0 };
		struct trc_arg arg;
		char text[64];

		while (trc_event_arg(ev, &walk, &arg)) {
			CHECK(trc_arg_print(ev->process, &arg, text, sizeof(text)) >= 0);
			touch(arg.name);
			touch(text);
		}
	}
}

static size_t stream(const struct trc_trace *trace, enum trc_event_order order)
{
	struct trc_event_query query = { .order = order };
	struct trc_events *events;
	const struct trc_event *ev;
	uint64_t start = 0, end = UINT64_MAX;
	size_t n = 0;

	CHECK(trc_events_open(trace, &query, &events, NULL) == WS_OK);
	while ((ev = trc_events_next(events))) {
		check_event(ev);
		if (order == TRC_ORDER_START) {
			CHECK(ev->start_ns > start || (ev->start_ns == start && ev->end_ns <= end));
			start = ev->start_ns;
			end = ev->end_ns;
		}
		n++;
	}
	CHECK(trc_events_close(events, NULL) == WS_OK);
	return n;
}

/* Stacks, modules and Python code, as a reader of samples asks for them. */
static void check_host(const struct trc_process *p)
{
	struct trc_host *host;
	struct ws_err err;

	CHECK(trc_host_open(p, &host, &err) == WS_OK);
	CHECK(!trc_host_stack(host, 0) && !trc_host_stack(host, trc_host_n_stacks(host)));
	for (uint32_t id = 0; id < trc_host_n_stacks(host); id++) {
		const struct trc_stack *stack = trc_host_stack(host, id);

		for (uint32_t i = 0; stack && i < stack->n_frames; i++) {
			uint64_t frame = stack->frames[i];
			const struct trc_module *module =
				trc_host_module(host, stack->generation, frame);
			const struct trc_python_code *code =
				trc_host_python(host, CAP_FRAME_PYTHON_CODE(frame));

			CHECK(stack->n_native <= stack->n_frames);
			if (module) {
				touch(module->path);
				CHECK(module->start <= frame && frame < module->end);
				CHECK(trc_host_module_latest(host, frame));
			}
			if (code) {
				touch(code->name);
				touch(code->file);
				touched += trc_python_line(code, CAP_FRAME_PYTHON_AT(frame));
			}
		}
	}
	trc_host_close(host);
}

/* Two runs of which both left this: every counted dispatch finds itself. */
static void check_table(const char *const *paths)
{
	struct trc_trace *runs[2] = { NULL };
	struct trc_counted *table;
	struct ws_err err;

	CHECK(trc_open(paths, 1, NULL, &runs[0], &err) == WS_OK);
	CHECK(trc_open(paths, 1, NULL, &runs[1], &err) == WS_OK);
	if (trc_counted_open(runs, 2, &table, &err)) {
		CHECK(err.text[0]);
		return;
	}
	CHECK(trc_counted_n_differences(table) == 0);
	for (size_t i = 0; i < trc_counted_n_rows(table); i++) {
		CHECK(trc_counted_row(table, i)->n_runs == 2);
		for (size_t k = 0; k < trc_counted_n_cells(table); k++)
			touched += trc_counted_cells(table, i)[k] > 0;
	}
	trc_counted_close(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char path[64];
	const char *paths[] = { path };
	struct trc_trace *trace;
	struct ws_err err;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	CHECK(fd >= 0);
	unpack(fd, data, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (trc_open(paths, 1, NULL, &trace, &err) != WS_OK) {
		CHECK(err.text[0]);
		return 0;
	}
	check_process(trc_process_at(trace, 0));
	check_host(trc_process_at(trace, 0));
	CHECK(stream(trace, TRC_ORDER_RECORDED) == stream(trace, TRC_ORDER_START));
	trc_close(trace);
	check_table(paths);
	return 0;
}
