#include "profile/frames_priv.h"

#include "base/util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define FRAMES_BYTES_MAX ((size_t)8 << 30)
#define FRAMES_MAX (1u << 26)

struct resolved {
	size_t n;
	struct prof_frame at[]; /* outermost first */
};

struct prof_frames {
	struct prof_frames_opts opts;
	struct trc_host *host;
	struct ws_arena arena;
	struct prof_native native;
	struct ws_map python; /* code and position: struct prof_frame * */
	struct ws_map stacks; /* id: struct resolved * */
	/* For prof_frames_at() without memory; valid until the next call. */
	struct prof_frame spare;
	char spare_name[24];
};

enum ws_status prof_frames_open(const struct trc_process *process,
				const struct prof_frames_opts *opts,
				struct prof_frames **out_frames, struct ws_err *err)
{
	struct prof_frames *frames = calloc(1, sizeof(*frames));
	enum ws_status st;

	if (!frames)
		return ws_fail(err, WS_E_NOMEM, "names of functions");
	frames->opts = *opts;
	ws_arena_init(&frames->arena, FRAMES_BYTES_MAX);
	ws_map_init(&frames->python, WS_MAP_U64, FRAMES_MAX);
	ws_map_init(&frames->stacks, WS_MAP_U64, FRAMES_MAX);
	st = trc_host_open(process, &frames->host, err);
	prof_native_init(&frames->native, frames->host, opts, &frames->arena);
	if (st) {
		prof_frames_close(frames);
		return st;
	}
	*out_frames = frames;
	return WS_OK;
}

void prof_frames_close(struct prof_frames *frames)
{
	if (!frames)
		return;
	prof_native_fini(&frames->native);
	ws_map_fini(&frames->python);
	ws_map_fini(&frames->stacks);
	trc_host_close(frames->host);
	ws_arena_fini(&frames->arena);
	free(frames);
}

/* NULL: no memory. */
static const struct prof_frame *python_frame(struct prof_frames *frames, uint64_t recorded)
{
	uint64_t key = recorded & ~(CAP_FRAME_PYTHON | CAP_FRAME_ENTRY);
	const struct trc_python_code *code;
	struct prof_frame *frame = ws_map_get_u64(&frames->python, key);

	if (frame)
		return frame;
	frame = ws_arena_new(&frames->arena, struct prof_frame);
	if (!frame)
		return NULL;
	code = trc_host_python(frames->host, CAP_FRAME_PYTHON_CODE(recorded));
	*frame = (struct prof_frame){
		.name = code && code->name[0] ? code->name : "<unknown>",
		.file = code ? code->file : "",
		.module = code && !code->version ? code->file : "",
		.line = code ? trc_python_line(code, CAP_FRAME_PYTHON_AT(recorded)) : 0,
		.python = !code || code->version,
	};
	return ws_map_put_u64(&frames->python, key, frame, NULL) ? NULL : frame;
}

/* The native frames of a stack; false: no memory. */
static bool look_up_natives(struct prof_frames *frames, const struct trc_stack *stack,
			    const struct prof_chain **chains, size_t *n_frames)
{
	bool interrupted = true; /* the innermost one is, the others were left by a call */

	for (uint32_t i = 0; i < stack->n_native; i++) {
		bool signal = stack->flags & CAP_STACK_SIGNAL &&
			      prof_native_is_signal_return(&frames->native, stack->generation,
							   stack->frames[i]);

		chains[i] = prof_native_at(&frames->native, stack->generation, stack->frames[i],
					   !interrupted && !signal);
		if (!chains[i])
			return false;
		*n_frames += chains[i]->n;
		interrupted = signal;
	}
	return true;
}

static void reverse(struct prof_frame *at, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct prof_frame first = at[i];

		at[i] = at[n - 1 - i];
		at[n - 1 - i] = first;
	}
}

static struct resolved *resolve(struct prof_frames *frames, const struct trc_stack *stack)
{
	size_t n_python = stack->n_frames - stack->n_native, n_frames = n_python;
	const struct prof_chain **chains = calloc(stack->n_native + 1u, sizeof(*chains));
	const struct prof_frame **python = calloc(n_python + 1, sizeof(*python));
	struct resolved *resolved = NULL;
	bool ok = chains && python && look_up_natives(frames, stack, chains, &n_frames);

	for (size_t i = 0; ok && i < n_python; i++) {
		python[i] = python_frame(frames, stack->frames[stack->n_native + i]);
		ok = python[i] != NULL;
	}
	if (ok)
		resolved = ws_arena_alloc(&frames->arena,
					  sizeof(*resolved) + n_frames * sizeof(*resolved->at));
	if (resolved) {
		resolved->n =
			prof_merge(stack, chains, python, frames->opts.drop_internal, resolved->at);
		reverse(resolved->at, resolved->n);
	}
	free(chains);
	free(python);
	return resolved;
}

size_t prof_frames_of(struct prof_frames *frames, uint32_t stack,
		      const struct prof_frame **out_stack)
{
	struct resolved *resolved = ws_map_get_u64(&frames->stacks, stack);
	const struct trc_stack *recorded;

	if (!resolved) {
		recorded = trc_host_stack(frames->host, stack);
		resolved = recorded ? resolve(frames, recorded) : NULL;
		if (!resolved || ws_map_put_u64(&frames->stacks, stack, resolved, NULL))
			return 0;
	}
	*out_stack = resolved->at;
	return resolved->n;
}

const struct prof_frame *prof_frames_at(struct prof_frames *frames, uint64_t address)
{
	const struct trc_module *module = trc_host_module_latest(frames->host, address);
	const struct prof_chain *chain =
		prof_native_at(&frames->native, module ? module->generation : 0, address, false);

	if (chain)
		return &chain->at[chain->n - 1];
	snprintf(frames->spare_name, sizeof(frames->spare_name), "0x%" PRIx64, address);
	frames->spare = (struct prof_frame){
		.name = frames->spare_name,
		.file = "",
		.module = "",
		.address = address,
	};
	return &frames->spare;
}
