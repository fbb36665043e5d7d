/*
 * host_rig: writes modules, call stacks and Python code to a capture, as the sampler does. For
 * tests of what reads them.
 */
#ifndef WS_TESTS_PROFILE_HOST_RIG_H
#define WS_TESTS_PROFILE_HOST_RIG_H

#include "tests/unit/unit.h"

#include "capture/writer.h"
#include "trace/trace.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char rig_dir[64], rig_path[128];

static inline int rig_make_dir(void **state)
{
	strcpy(rig_dir, "/tmp/ws-host-XXXXXX");
	assert_non_null(mkdtemp(rig_dir));
	snprintf(rig_path, sizeof(rig_path), "%s/a.wscap", rig_dir);
	return 0;
}

static inline int rig_drop_dir(void **state)
{
	unlink(rig_path);
	return rmdir(rig_dir);
}

static inline struct cap_writer *rig_start(void)
{
	struct cap_writer_opts opts = { .no_helper = true,
					.domains = TRC_DOMAIN_BIT(CALL_STACK_SAMPLING) };
	struct cap_rec_process process = {
		.h = { CAP_REC_FIXED_TAG(PROCESS, struct cap_rec_process), 100, 1 }, .main_tid = 100
	};
	struct cap_writer *writer = NULL;
	struct ws_err err = { 0 };

	unlink(rig_path);
	if (cap_writer_open(rig_path, &opts, &writer, &err))
		fail_msg("%s", err.text);
	assert_true(cap_writer_meta(writer, &process.h));
	return writer;
}

/* Ends the capture and opens it. */
static inline struct trc_trace *rig_trace(struct cap_writer *writer)
{
	const char *paths[] = { rig_path };
	struct trc_trace *trace = NULL;
	struct ws_err err = { 0 };

	cap_writer_end(writer, CAP_END_EXIT);
	cap_writer_close(writer);
	if (trc_open(paths, 1, NULL, &trace, &err))
		fail_msg("%s", err.text);
	return trace;
}

/* A record of @fixed_bytes and a tail. */
static inline void rig_append(struct cap_lane *lane, unsigned type, const void *fixed,
			      size_t fixed_bytes, const void *tail, size_t tail_bytes)
{
	uint64_t words[512] = { 0 };
	struct cap_rec *rec = (struct cap_rec *)words;
	size_t n = CAP_REC_ROUND(fixed_bytes + tail_bytes);

	assert_true(n <= sizeof(words));
	memcpy(words, fixed, fixed_bytes);
	if (tail_bytes)
		memcpy((char *)words + fixed_bytes, tail, tail_bytes);
	rec->tag = CAP_REC_TAG(type, n);
	assert_true(cap_lane_append(lane, rec));
}

static inline void rig_module(struct cap_lane *lane, struct cap_rec_module module, const char *path)
{
	module.n_bytes = (uint32_t)strlen(path);
	rig_append(lane, CAP_REC_MODULE, &module, sizeof(module), path, module.n_bytes);
}

static inline void rig_stack(struct cap_lane *lane, struct cap_rec_stack stack,
			     const uint64_t *frames)
{
	rig_append(lane, CAP_REC_STACK, &stack, sizeof(stack), frames,
		   stack.n_frames * sizeof(*frames));
}

static inline void rig_python(struct cap_lane *lane, struct cap_rec_python_code code,
			      const char *name, const char *file, const void *table, size_t n)
{
	char tail[512];

	code.n_name = (uint32_t)strlen(name);
	code.n_file = (uint32_t)strlen(file);
	code.n_bytes = code.n_name + code.n_file + (uint32_t)n;
	assert_true(code.n_bytes <= sizeof(tail));
	memcpy(tail, name, code.n_name);
	memcpy(tail + code.n_name, file, code.n_file);
	memcpy(tail + code.n_name + code.n_file, table, n);
	rig_append(lane, CAP_REC_PYTHON_CODE, &code, sizeof(code), tail, code.n_bytes);
}

static inline void rig_sample(struct cap_lane *lane, uint32_t stack, uint64_t ticks)
{
	struct cap_rec_sample sample = { .h = { CAP_REC_FIXED_TAG(SAMPLE, struct cap_rec_sample),
						stack, ticks } };

	assert_true(cap_lane_append(lane, &sample.h));
}

#endif
