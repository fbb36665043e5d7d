#include "softgpu/exec/step.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softgpu/exec/code.h"
#include "softgpu/exec/const_pool.h"
#include "softgpu/exec/fpmode.h"
#include "softgpu/exec/levels.h"
#include "softgpu/mem/guard.h"

#define S_ENDPGM 0xbf810000u
#define MAX_INSTRUCTIONS 1000000 /* a test that loops is a test that failed */
#define MAX_STOPS 1000
/* The words stand in the middle of it, so that a branch can miss them only within. */
#define CODE_BYTES (1u << 20)

static bool nothing_more(void *ctx, uint64_t addr, uint64_t size)
{
	return false;
}

static const struct sg_mem_map everything = { .start = 0,
					      .end = 1ull << 47,
					      .reachable = nothing_more };
static const struct sg_exec_hooks no_hooks;

static uint64_t no_clock(void)
{
	return 0;
}

void sg_step_init(struct sg_step *step)
{
	memset(step, 0, sizeof(*step));
	step->mode = SG_MODE_FP_DEFAULT | SG_MODE_DX10_CLAMP | SG_MODE_IEEE;
	step->sgpr[126] = step->sgpr[127] = ~0u;
}

static void load_wave(struct sg_wave *w, struct sg_step *step)
{
	w->base[SG_BASE_VGPR] = step->vgpr[0];
	w->base[SG_BASE_AGPR] = step->agpr[0];
	w->base[SG_BASE_CONST] = sg_const_pool();
	w->base[SG_BASE_TMP] = w->tmp[0];
	w->handlers = sg_level_handlers();
	memcpy(w->s, step->sgpr, sizeof(step->sgpr));
	w->scc = step->scc;
	w->mode = step->mode;
	w->lds = step->lds;
	w->lds_bytes = step->lds_bytes;
	w->shared_hi = step->shared_hi;
	w->private_hi = step->private_hi;
	w->scratch = step->scratch;
	w->scratch_bytes = step->scratch_bytes;
	w->mem = step->mem ? step->mem : &everything;
	sg_s64_put(w, SG_S_APERTURES, (uint64_t)step->shared_hi << 32);
	sg_s64_put(w, SG_S_APERTURES + 2, (uint64_t)step->shared_hi << 32 | 0xffffffff);
	sg_s64_put(w, SG_S_APERTURES + 4, (uint64_t)step->private_hi << 32);
	sg_s64_put(w, SG_S_APERTURES + 6, (uint64_t)step->private_hi << 32 | 0xffffffff);
}

static void run_to_end(struct sg_wave *w, struct sg_step *step)
{
	for (;;) {
		switch (sg_wave_run(w, MAX_INSTRUCTIONS)) {
		case SG_STOP_BARRIER:
			step->barriers++;
			break;
		case SG_STOP_WAIT:
			step->waits++;
			break;
		default:
			return;
		}
		if (step->barriers + step->waits > MAX_STOPS)
			return;
	}
}

/*
 * The thread's memory for code, with the words and ends behind them, otherwise 0. It stays mapped: tests run
 * hundreds of thousands of programs, and mapping took a quarter of their time.
 */
static uint8_t *room_with(const uint32_t *words, size_t n_words)
{
	static _Thread_local uint8_t *room;
	static _Thread_local size_t n_before;
	uint32_t *code;

	if (!room)
		room = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	if (room == MAP_FAILED || n_words > CODE_BYTES / 8 - 2)
		abort();
	code = (uint32_t *)(room + CODE_BYTES / 2);
	memset(code, 0, n_before * sizeof(*code));
	memcpy(code, words, n_words * sizeof(*words));
	code[n_words] = code[n_words + 1] = S_ENDPGM;
	n_before = n_words + 2;
	return room;
}

enum sg_fault_kind sg_step_run(enum sg_isa_target target, const uint32_t *words, size_t n_words,
			       struct sg_step *step)
{
	struct sg_wave *w = aligned_alloc(64, (sizeof(*w) + 63) / 64 * 64);
	uint8_t *room = room_with(words, n_words);
	uint32_t *code = (uint32_t *)(room + CODE_BYTES / 2);
	struct sg_mem_map mem = { .start = (uintptr_t)room,
				  .end = (uintptr_t)room + CODE_BYTES,
				  .reachable = nothing_more };
	struct sg_launch launch = { .target = target,
				    .mem = &mem,
				    .gws = step->gws,
				    .hooks = step->hooks ? step->hooks : &no_hooks,
				    .clock = no_clock };
	uint32_t fpmode = sg_fpmode_get();

	if (!w)
		abort();
	memset(w, 0, sizeof(*w));
	launch.code_cache = sg_code_cache_create(&mem, target);
	launch.code = sg_code_get(launch.code_cache);
	w->launch = &launch;
	load_wave(w, step);
	w->window = sg_code_window(launch.code, (uint64_t)(uintptr_t)code);
	w->pc = &w->window->slots[((uint64_t)(uintptr_t)code - w->window->gpu_base) / 4];
	step->barriers = step->waits = 0;
	sg_guard_install();
	sg_fpmode_set(SG_FPMODE_DEFAULT);
	if (sigsetjmp(sg_guard_enter(), 0) == 0)
		run_to_end(w, step);
	else
		sg_wave_fault(w, w->at, SG_FAULT_MEMORY, sg_guard_address() - w->mem->host_base,
			      sg_guard_was_write());
	sg_guard_leave();
	sg_fpmode_set(fpmode);
	memcpy(step->sgpr, w->s, sizeof(step->sgpr));
	step->scc = w->scc;
	step->mode = w->mode;
	step->fault = w->fault;
	sg_code_put(launch.code);
	sg_code_cache_destroy(launch.code_cache);
	free(w);
	return step->fault.kind;
}
