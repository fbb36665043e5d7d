#include "softgpu/exec/step.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softgpu/exec/code.h"
#include "softgpu/exec/const_pool.h"
#include "softgpu/exec/fpmode.h"
#include "softgpu/exec/guard.h"
#include "softgpu/exec/levels.h"

#define S_ENDPGM 0xbf810000u
#define MAX_INSTRUCTIONS 1000000 /* a test that loops is a test that failed */
#define MAX_STOPS 1000
/* The words stand in the middle of it, so that a branch can miss them only within. */
#define CODE_BYTES (1u << 20)

static bool nothing_more(void *ctx, uint64_t addr, uint64_t size)
{
	return false;
}

static const struct ws_mem_map everything = { .start = 0, .end = 1ull << 47, .reachable = nothing_more };
static const struct ws_exec_hooks no_hooks;

static uint64_t no_clock(void)
{
	return 0;
}

void ws_step_init(struct ws_step *step)
{
	memset(step, 0, sizeof(*step));
	step->mode = WS_MODE_FP_DEFAULT | WS_MODE_DX10_CLAMP | WS_MODE_IEEE;
	step->sgpr[126] = step->sgpr[127] = ~0u;
}

static void load_wave(struct ws_wave *w, struct ws_step *step)
{
	w->base[WS_BASE_VGPR] = step->vgpr[0];
	w->base[WS_BASE_AGPR] = step->agpr[0];
	w->base[WS_BASE_CONST] = ws_const_pool();
	w->base[WS_BASE_TMP] = w->tmp[0];
	w->handlers = ws_level_handlers();
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
	ws_s64_put(w, WS_S_APERTURES, (uint64_t)step->shared_hi << 32);
	ws_s64_put(w, WS_S_APERTURES + 2, (uint64_t)step->shared_hi << 32 | 0xffffffff);
	ws_s64_put(w, WS_S_APERTURES + 4, (uint64_t)step->private_hi << 32);
	ws_s64_put(w, WS_S_APERTURES + 6, (uint64_t)step->private_hi << 32 | 0xffffffff);
}

static void run_to_end(struct ws_wave *w, struct ws_step *step)
{
	for (;;) {
		switch (ws_wave_run(w, MAX_INSTRUCTIONS)) {
		case WS_STOP_BARRIER:
			step->barriers++;
			break;
		case WS_STOP_WAIT:
			step->waits++;
			break;
		default:
			return;
		}
		if (step->barriers + step->waits > MAX_STOPS)
			return;
	}
}

enum ws_fault_kind ws_step_run(enum ws_target target, const uint32_t *words, size_t n_words,
			       struct ws_step *step)
{
	struct ws_wave *w = aligned_alloc(64, (sizeof(*w) + 63) / 64 * 64);
	uint8_t *room = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t *code = (uint32_t *)(room + CODE_BYTES / 2);
	struct ws_mem_map mem = { .start = (uintptr_t)room, .end = (uintptr_t)room + CODE_BYTES,
				  .reachable = nothing_more };
	struct ws_launch launch = { .target = target, .mem = &mem, .gws = step->gws,
				    .hooks = step->hooks ? step->hooks : &no_hooks, .clock = no_clock };
	uint32_t fpmode = ws_fpmode_get();

	if (!w || room == MAP_FAILED || n_words > CODE_BYTES / 8 - 2)
		abort();
	memset(w, 0, sizeof(*w));
	memcpy(code, words, n_words * sizeof(*words));
	code[n_words] = code[n_words + 1] = S_ENDPGM;
	launch.code_cache = ws_code_cache_create(&mem, target);
	launch.code = ws_code_get(launch.code_cache);
	w->launch = &launch;
	load_wave(w, step);
	w->window = ws_code_window(launch.code, (uint64_t)(uintptr_t)code);
	w->pc = &w->window->slots[((uint64_t)(uintptr_t)code - w->window->gpu_base) / 4];
	step->barriers = step->waits = 0;
	ws_guard_install();
	ws_fpmode_set(WS_FPMODE_DEFAULT);
	if (sigsetjmp(ws_guard_enter(), 0) == 0)
		run_to_end(w, step);
	else
		ws_wave_fault(w, w->at, WS_FAULT_MEMORY, ws_guard_address() - w->mem->host_base,
			      ws_guard_was_write());
	ws_guard_leave();
	ws_fpmode_set(fpmode);
	memcpy(step->sgpr, w->s, sizeof(step->sgpr));
	step->scc = w->scc;
	step->mode = w->mode;
	step->fault = w->fault;
	ws_code_put(launch.code);
	ws_code_cache_destroy(launch.code_cache);
	munmap(room, CODE_BYTES);
	free(w);
	return step->fault.kind;
}
