/* Names of call stacks that a test writes down, in the place of profile/frames.c and trace/host.c. */
#include "profile/frames.h"
#include "tests/profile/rig.h"
#include "trace/host.h"

#include <stdlib.h>
#include <string.h>

#define STACKS_MAX 64
#define DEPTH_MAX 16

static struct {
	struct prof_frame frames[DEPTH_MAX];
	size_t n;
	char *text;
} stacks[STACKS_MAX];

void rig_stacks_clear(void)
{
	for (size_t i = 0; i < STACKS_MAX; i++)
		free(stacks[i].text);
	memset(stacks, 0, sizeof(stacks));
}

void rig_stack(uint32_t id, const char *functions)
{
	char *rest = strdup(functions), *name;

	if (id >= STACKS_MAX || !rest)
		abort();
	free(stacks[id].text);
	stacks[id].text = rest;
	stacks[id].n = 0;
	while ((name = strsep(&rest, "|"))) {
		bool python = !strncmp(name, "py:", 3), hip = !strncmp(name, "hip:", 4);

		if (stacks[id].n == DEPTH_MAX)
			abort();
		stacks[id].frames[stacks[id].n++] = (struct prof_frame){
			.name = name + (python ? 3
					: hip  ? 4
					       : 0),
			.file = python ? "train.py" : "app.c",
			.module = python ? ""
				  : hip  ? "/opt/rocm/lib/libamdhip64.so.6"
					 : "/opt/app",
			.line = 10 + (uint32_t)stacks[id].n,
			.python = python,
		};
	}
}

struct prof_frames {
	struct prof_frame function;
};

enum ws_status prof_frames_open(const struct trc_process *process,
				const struct prof_frames_opts *opts,
				struct prof_frames **out_frames, struct ws_err *err)
{
	*out_frames = calloc(1, sizeof(**out_frames));
	return *out_frames ? WS_OK : ws_fail(err, WS_E_NOMEM, "no memory for names");
}

void prof_frames_close(struct prof_frames *frames)
{
	free(frames);
}

size_t prof_frames_of(struct prof_frames *frames, uint32_t stack,
		      const struct prof_frame **out_stack)
{
	if (stack >= STACKS_MAX)
		return 0;
	*out_stack = stacks[stack].frames;
	return stacks[stack].n;
}

const struct prof_frame *prof_frames_at(struct prof_frames *frames, uint64_t address)
{
	frames->function = (struct prof_frame){ .name = address == 0x1000 ? "compute(int)" : "0x?",
						.file = "compute.cpp",
						.module = "/opt/app",
						.line = 7 };
	return &frames->function;
}

/* ---- modules: one ---- */

static const uint64_t addresses[] = { 0x401000 };
static const struct trc_stack only_stack = {
	.id = 1, .generation = 1, .n_frames = 1, .n_native = 1, .frames = addresses
};
static const struct trc_module only_module = { .id = 1,
					       .generation = 1,
					       .start = 0x400000,
					       .end = 0x500000,
					       .bias = 0x400000,
					       .path = "/opt/app" };

enum ws_status trc_host_open(const struct trc_process *process, struct trc_host **out_host,
			     struct ws_err *err)
{
	*out_host = NULL;
	return WS_OK;
}

void trc_host_close(struct trc_host *host)
{
}

const struct trc_stack *trc_host_stack(const struct trc_host *host, uint32_t id)
{
	return id == 1 ? &only_stack : NULL;
}

const struct trc_module *trc_host_module(const struct trc_host *host, uint32_t generation,
					 uint64_t address)
{
	return address >= only_module.start && address < only_module.end ? &only_module : NULL;
}

uint32_t trc_host_n_stacks(const struct trc_host *host)
{
	return 2;
}
