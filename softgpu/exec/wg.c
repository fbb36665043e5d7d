#include "softgpu/exec/launch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softgpu/exec/code.h"
#include "softgpu/exec/const_pool.h"
#include "softgpu/exec/fault_lane.h"
#include "softgpu/exec/fpmode.h"
#include "softgpu/exec/hwreg.h"
#include "softgpu/exec/levels.h"
#include "softgpu/exec/traced_run.h"
#include "softgpu/exec/wave.h"
#include "softgpu/mem/guard.h"

#define MAX_WG_ITEMS 1024
/* Long enough to keep a wave's registers in the cache, short against a spin between waves. */
#define WAVE_TURN 20000

/*
 * A wave's registers: 256 VGPRs and 256 AGPRs whatever the kernel declared, so that no register number
 * can leave them; pages that it does not touch cost nothing. The odd distance between two waves keeps
 * their equal registers out of each other's cache sets.
 */
#define WAVE_REG_BYTES (2 * SG_N_VGPRS * SG_LANES * 4)
#define WAVE_STRIDE_BYTES (WAVE_REG_BYTES + 2304)

struct sg_wg {
	struct sg_launch *launch;
	uint32_t slot;
	uint32_t id[3];
	uint32_t n_waves;
	uint8_t *regs;
	size_t regs_bytes;
	uint8_t *lds;
	const struct sg_fault *fault;
	struct sg_wave_trace *traces;       /* counting mode */
	sg_traced_run *run_traced;          /* ... for this host */
	struct sg_trace_patterns *patterns; /* ... of each wave; NULL: none yet, or no memory */
	uint32_t max_waves;
	struct sg_wave *waves;
};

/* ---- launch ---- */

static uint32_t round_up(uint32_t n, uint32_t to)
{
	return (n + to - 1) / to * to;
}

uint32_t sg_launch_lds_limit(enum sg_isa_target target)
{
	return target >= SG_ISA_GFX950 ? 160 * 1024 : 64 * 1024;
}

uint32_t sg_launch_lds_granule(enum sg_isa_target target)
{
	return 4 * (target >= SG_ISA_GFX950 ? 320 : 128);
}

/* A wave's limit register counts granules of LDS, so that what lies between the end of a kernel's
 * variables and the end of the last granule is memory like the rest. */
static uint32_t allocated_lds(const struct sg_launch *l)
{
	return round_up(l->lds_bytes, sg_launch_lds_granule(l->target));
}

static void count_registers(struct sg_launch *l)
{
	uint32_t granules = (l->rsrc1 & 0x3f) + 1;

	if (l->target >= SG_ISA_GFX90A) { /* one file of 512 for both kinds */
		uint32_t total = granules * 8, accum_at = ((l->rsrc3 & 0x3f) + 1) * 4;

		l->n_vgprs = accum_at < total ? accum_at : total;
		/* all 256 after a multiple of 4 that is not one of 8 end inside a granule, whose rest
		 * has no name; the fields are too narrow for any other number beyond 256 */
		l->n_agprs = total - l->n_vgprs < SG_N_VGPRS ? total - l->n_vgprs : SG_N_VGPRS;
	} else {
		l->n_vgprs = l->n_agprs = granules * 4;
	}
}

enum sg_launch_error sg_launch_init(struct sg_launch *l)
{
	uint64_t n_items = 1;

	l->code = NULL;
	l->n_wgs = 1;
	for (unsigned d = 0; d < 3; d++) {
		if (!l->wg_size[d] || !l->grid_size[d])
			return SG_LAUNCH_BAD_DIMENSIONS;
		n_items *= l->wg_size[d];
		l->n_wg[d] =
			(uint32_t)(((uint64_t)l->grid_size[d] + l->wg_size[d] - 1) / l->wg_size[d]);
		l->n_wgs *= l->n_wg[d];
	}
	if (n_items > MAX_WG_ITEMS)
		return SG_LAUNCH_BAD_GROUP_SIZE;
	if (l->lds_bytes > sg_launch_lds_limit(l->target))
		return SG_LAUNCH_BAD_GROUP_MEMORY;
	if (l->entry & 3 || !l->entry)
		return SG_LAUNCH_BAD_CODE;
	l->n_waves_per_wg = (uint32_t)((n_items + SG_LANES - 1) / SG_LANES);
	count_registers(l);
	atomic_store(&l->n_instructions, 0);
	l->code = sg_code_get(l->code_cache);
	l->window = sg_code_window(l->code, l->entry);
	if (!l->window) {
		sg_launch_fini(l);
		return SG_LAUNCH_BAD_CODE;
	}
	return SG_LAUNCH_OK;
}

void sg_launch_fini(struct sg_launch *launch)
{
	sg_code_put(launch->code);
	launch->code = NULL;
}

/* Limits of a compute unit: four SIMDs, LDS, 16 barriers. */
uint32_t sg_launch_wgs_per_cu(const struct sg_launch *l)
{
	bool unified = l->target >= SG_ISA_GFX90A;
	uint32_t regs = unified ? round_up(l->n_vgprs, 4) + l->n_agprs : l->n_vgprs;
	uint32_t waves_per_simd = (unified ? 512 : 256) / round_up(regs, unified ? 8 : 4);
	uint32_t max_waves = unified ? 8 : 10, lds_limit = sg_launch_lds_limit(l->target);
	uint32_t wgs;

	if (waves_per_simd > max_waves)
		waves_per_simd = max_waves;
	if (!waves_per_simd)
		waves_per_simd = 1;
	wgs = 4 * waves_per_simd / l->n_waves_per_wg;
	if (l->lds_bytes && wgs > lds_limit / allocated_lds(l))
		wgs = lds_limit / allocated_lds(l);
	if (l->n_waves_per_wg > 1 && wgs > 16)
		wgs = 16;
	return wgs ? wgs : 1; /* a workgroup of 16 waves fits even at one wave per SIMD too few */
}

/* ---- workgroup storage ---- */

struct sg_wg *sg_wg_create(const struct sg_launch *launch, uint32_t slot)
{
	struct sg_wg *wg = calloc(1, sizeof(*wg));
	uint32_t n = launch->n_waves_per_wg;

	if (!wg)
		return NULL;
	wg->slot = slot;
	wg->max_waves = n;
	wg->regs_bytes = (size_t)n * WAVE_STRIDE_BYTES;
	wg->regs = mmap(NULL, wg->regs_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	wg->waves = aligned_alloc(64, n * round_up(sizeof(struct sg_wave), 64));
	/* zeroed at each start, as far as the kernel uses it; 16 spare bytes for wide accesses */
	wg->lds = aligned_alloc(64, sg_launch_lds_limit(launch->target) + 64);
	if (wg->regs == MAP_FAILED || !wg->waves || !wg->lds) {
		sg_wg_destroy(wg);
		return NULL;
	}
	memset(wg->waves, 0, n * sizeof(struct sg_wave));
	return wg;
}

void sg_wg_destroy(struct sg_wg *wg)
{
	if (!wg)
		return;
	if (wg->regs && wg->regs != MAP_FAILED)
		munmap(wg->regs, wg->regs_bytes);
	free(wg->waves);
	free(wg->patterns);
	free(wg->lds);
	free(wg);
}

/* ---- initial state of a wave (LLVM's AMDGPU usage guide, "initial kernel execution state") ---- */

/* kernel code properties */
enum {
	PROP_PRIVATE_BUFFER = 1 << 0,
	PROP_DISPATCH_PTR = 1 << 1,
	PROP_QUEUE_PTR = 1 << 2,
	PROP_KERNARG_PTR = 1 << 3,
	PROP_DISPATCH_ID = 1 << 4,
	PROP_FLAT_SCRATCH = 1 << 5,
	PROP_PRIVATE_SIZE = 1 << 6,
	PROP_GRID_COUNT_X = 1 << 7,
};

static unsigned put_user_sgprs(struct sg_wave *w, const struct sg_launch *l)
{
	unsigned n = 0;

	if (l->properties & PROP_PRIVATE_BUFFER) {
		memcpy(&w->s[n], l->scratch_descriptor, 16);
		n += 4;
	}
	const struct {
		uint16_t bit;
		uint64_t value;
	} pairs[] = {
		{ PROP_DISPATCH_PTR, l->dispatch_ptr }, { PROP_QUEUE_PTR, l->queue_ptr },
		{ PROP_KERNARG_PTR, l->kernarg },       { PROP_DISPATCH_ID, l->dispatch_id },
		{ PROP_FLAT_SCRATCH, l->scratch_base },
	};
	for (unsigned p = 0; p < sizeof(pairs) / sizeof(pairs[0]); p++)
		if (l->properties & pairs[p].bit) {
			sg_s64_put(w, n, pairs[p].value);
			n += 2;
		}
	if (l->properties & PROP_PRIVATE_SIZE)
		w->s[n++] = l->private_bytes;
	for (unsigned d = 0; d < 3; d++) /* of the older code header only */
		if (l->properties & PROP_GRID_COUNT_X << d)
			w->s[n++] = l->n_wg[d];
	for (unsigned k = 0; k < l->n_preloaded; k++)
		w->s[n++] = l->preloaded[k];
	return n;
}

/* From gfx942 on the wave starts with FLAT_SCRATCH set ("architected"), and needs no offset for it. */
static bool has_own_flat_scratch(const struct sg_launch *l)
{
	return l->target >= SG_ISA_GFX942;
}

static void put_system_sgprs(struct sg_wave *w, const struct sg_launch *l, const uint32_t id[3],
			     uint32_t n_waves, uint32_t scratch_wave)
{
	unsigned n = l->rsrc2 >> 1 & 0x1f;

	for (unsigned d = 0; d < 3; d++)
		if (l->rsrc2 & 1u << (7 + d))
			w->s[n++] = id[d];
	if (l->rsrc2 & 1u << 10)
		w->s[n++] = (uint32_t)(w->index == 0) << 31 | n_waves;
	if (l->rsrc2 & 1 && !has_own_flat_scratch(l))
		w->s[n++] = scratch_wave * l->scratch_wave_bytes;
}

/* Work-item ids of the wave's lanes; returns which lanes exist. size: of this, perhaps partial, group. */
static uint64_t put_item_ids(struct sg_wave *w, const struct sg_launch *l, const uint32_t size[3])
{
	uint32_t n_items = size[0] * size[1] * size[2], first = w->index * SG_LANES;
	uint32_t *v = w->base[SG_BASE_VGPR];
	unsigned dims = l->rsrc2 >> 11 & 3; /* 0: x, 1: x and y, 2: all */
	uint32_t x = first % size[0], y = first / size[0] % size[1], z = first / size[0] / size[1];
	uint32_t n = n_items - first < SG_LANES ? n_items - first : SG_LANES;
	uint64_t exec = n == SG_LANES ? ~0ull : (1ull << n) - 1;

	if (size[0] ==
	    n_items) { /* one dimension: most kernels; ids of absent lanes do not matter */
		for (unsigned lane = 0; lane < SG_LANES; lane++)
			v[lane] = first + lane;
		return exec;
	}
	for (unsigned lane = 0; lane < n; lane++) {
		if (l->target >= SG_ISA_GFX90A) {
			v[lane] = x | (dims >= 1 ? y << 10 : 0) | (dims >= 2 ? z << 20 : 0);
		} else {
			v[lane] = x;
			v[SG_LANES + lane] = dims >= 1 ? y : 0;
			v[2 * SG_LANES + lane] = dims >= 2 ? z : 0;
		}
		if (++x == size[0]) {
			x = 0;
			if (++y == size[1]) {
				y = 0;
				z++;
			}
		}
	}
	return exec;
}

static void put_apertures(struct sg_wave *w, const struct sg_launch *l)
{
	const uint64_t bases[2] = { (uint64_t)l->shared_aperture_hi << 32,
				    (uint64_t)l->private_aperture_hi << 32 };

	for (unsigned b = 0; b < 2; b++) {
		sg_s64_put(w, SG_S_APERTURES + 4 * b, bases[b]);
		sg_s64_put(w, SG_S_APERTURES + 4 * b + 2, bases[b] | 0xffffffff);
	}
	w->shared_hi = l->shared_aperture_hi;
	w->private_hi = l->private_aperture_hi;
}

/* Dies are dealt the workgroups one by one. */
static uint32_t die_of(const struct sg_launch *l, const uint32_t id[3])
{
	uint64_t wg = ((uint64_t)id[2] * l->n_wg[1] + id[1]) * l->n_wg[0] + id[0];

	return l->n_xccs ? l->first_xcc + (uint32_t)(wg % l->n_xccs) : 0;
}

static void start_wave(struct sg_wg *wg, uint32_t index, const uint32_t id[3],
		       const uint32_t size[3])
{
	struct sg_launch *l = wg->launch;
	struct sg_wave *w = &wg->waves[index];
	uint32_t scratch_wave = wg->slot * l->n_waves_per_wg + index;
	uint8_t *regs = wg->regs + (size_t)index * WAVE_STRIDE_BYTES;

	memset(w, 0, offsetof(struct sg_wave, mask_of));
	w->base[SG_BASE_VGPR] = (uint32_t *)regs;
	w->base[SG_BASE_AGPR] = (uint32_t *)regs + SG_N_VGPRS * SG_LANES;
	w->base[SG_BASE_CONST] = sg_const_pool();
	w->base[SG_BASE_TMP] = w->tmp[0];
	w->handlers = sg_level_handlers();
	w->launch = l;
	w->mem = l->mem;
	w->lds = wg->lds;
	w->lds_bytes = allocated_lds(l);
	w->index = index;
	w->mode = (l->rsrc1 >> 12 & 0xff) | (l->rsrc1 >> 21 & 1 ? SG_MODE_DX10_CLAMP : 0) |
		  (l->rsrc1 >> 23 & 1 ? SG_MODE_IEEE : 0);
	w->scratch_bytes = l->scratch_wave_bytes;
	w->scratch = l->scratch_base + (uint64_t)scratch_wave * l->scratch_wave_bytes;
	w->hw_id = (scratch_wave & 0xf) | (index & 3) << 4 | (wg->slot & 0xf) << 8;
	w->xcc_id = die_of(l, id);
	/* registers start at zero, so that a program that reads one too early still repeats itself */
	memset(w->base[SG_BASE_VGPR], 0, (size_t)l->n_vgprs * SG_LANES * 4);
	if (l->n_agprs) /* glibc's masked store of no byte to a page never used takes 140 ns */
		memset(w->base[SG_BASE_AGPR], 0, (size_t)l->n_agprs * SG_LANES * 4);
	put_apertures(w, l);
	put_user_sgprs(w, l);
	put_system_sgprs(w, l, id, wg->n_waves, scratch_wave);
	if (has_own_flat_scratch(l))
		sg_s64_put(w, SG_OPND_FLAT_SCRATCH_LO, w->scratch);
	sg_s64_put(w, SG_S_EXEC, put_item_ids(w, l, size));
	w->window = l->window;
	w->pc = &w->window->slots[(l->entry - w->window->gpu_base) / 4];
}

void sg_wg_start(struct sg_wg *wg, struct sg_launch *launch, const uint32_t id[3])
{
	uint32_t size[3], n_items = 1;

	wg->launch = launch;
	wg->fault = NULL;
	memcpy(wg->id, id, sizeof(wg->id));
	for (unsigned d = 0; d < 3; d++) { /* the last group of a dimension may be partial */
		uint32_t left = launch->grid_size[d] - id[d] * launch->wg_size[d];

		size[d] = left < launch->wg_size[d] ? left : launch->wg_size[d];
		n_items *= size[d];
	}
	wg->n_waves = (n_items + SG_LANES - 1) / SG_LANES;
	memset(wg->lds, 0, allocated_lds(launch));
	for (uint32_t n = 0; n < wg->n_waves; n++) {
		start_wave(wg, n, id, size);
		if (wg->traces) {
			wg->traces[n].patterns = wg->patterns ? &wg->patterns[n] : NULL;
			sg_trace_start(&wg->traces[n], launch->entry, sg_exec(&wg->waves[n]));
		}
	}
}

void sg_wg_set_traces(struct sg_wg *wg, struct sg_wave_trace *traces)
{
	wg->traces = traces;
	if (traces && !wg->patterns) {
		wg->patterns = aligned_alloc(64, wg->max_waves * sizeof(*wg->patterns));
		wg->run_traced = sg_level_traced_run();
	}
}

uint32_t sg_wg_n_waves(const struct sg_wg *wg)
{
	return wg->n_waves;
}

const struct sg_fault *sg_wg_fault(const struct sg_wg *wg)
{
	return wg->fault;
}

/* ---- running ---- */

/* One turn for every wave that can run; counts how they were left. */
struct turn {
	uint32_t n_alive, n_at_barrier, n_waiting;
};

static bool run_turn(struct sg_wg *wg, struct sg_wave *volatile *current, uint64_t *left,
		     struct turn *turn)
{
	*turn = (struct turn){ 0 };
	for (uint32_t n = 0; n < wg->n_waves; n++) {
		struct sg_wave *w = &wg->waves[n];
		uint64_t share = *left < WAVE_TURN ? *left : WAVE_TURN, before = w->n_instructions;

		if (w->run_state == SG_STOP_END)
			continue;
		turn->n_alive++;
		if (w->run_state == SG_STOP_BARRIER) {
			turn->n_at_barrier++;
			continue;
		}
		if (!share)
			continue;
		*current = w;
		w->run_state = (uint8_t)(wg->traces ? wg->run_traced(w, &wg->traces[n], share)
						    : sg_wave_run(w, share));
		*left -= w->n_instructions - before;
		switch (w->run_state) {
		case SG_STOP_END:
			turn->n_alive--;
			break;
		case SG_STOP_BARRIER:
			turn->n_at_barrier++;
			break;
		case SG_STOP_WAIT:
			turn->n_waiting++;
			break;
		case SG_STOP_FAULT:
			wg->fault = &w->fault;
			return false;
		}
	}
	return true;
}

static enum sg_wg_state run_waves(struct sg_wg *wg, struct sg_wave *volatile *current,
				  uint64_t budget, uint32_t n_sleeps)
{
	struct sg_launch *l = wg->launch;
	uint64_t left = budget;
	struct turn turn;

	for (;;) {
		if (!run_turn(wg, current, &left, &turn))
			return SG_WG_FAULT;
		if (!turn.n_alive)
			return SG_WG_DONE;
		if (turn.n_at_barrier == turn.n_alive) {
			for (uint32_t n = 0; n < wg->n_waves; n++)
				if (wg->waves[n].run_state == SG_STOP_BARRIER) {
					wg->waves[n].run_state = SG_GO;
					wg->waves[n].behind_barrier = wg->n_waves > 1;
				}
		} else if (turn.n_at_barrier + turn.n_waiting == turn.n_alive && !n_sleeps--) {
			return SG_WG_WAITING;
		}
		if (!left || atomic_load_explicit(&l->stop, memory_order_relaxed))
			return SG_WG_RUNNABLE;
	}
}

/* A wave touched an address that is not mapped: the guard came back with it. */
static void guest_fault(struct sg_wg *wg, struct sg_wave *w)
{
	uint64_t address = sg_guard_address() - w->mem->host_base;

	w->run_state =
		(uint8_t)sg_wave_fault(w, w->at, SG_FAULT_MEMORY, address, sg_guard_was_write());
	wg->fault = &w->fault;
}

static void place_fault(const struct sg_wg *wg, struct sg_wave *w)
{
	memcpy(w->fault.wg, wg->id, sizeof(w->fault.wg));
	w->fault.wave = w->index;
	w->fault.lane = sg_fault_lane(w);
}

static uint64_t count_instructions(const struct sg_wg *wg)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < wg->n_waves; k++)
		n += wg->waves[k].n_instructions;
	return n;
}

enum sg_wg_state sg_wg_run(struct sg_wg *wg, uint64_t budget, uint32_t n_sleeps)
{
	struct sg_wave *volatile current = wg->waves;
	uint32_t fpmode = sg_fpmode_get();
	volatile uint64_t n_before = count_instructions(wg);
	struct sg_launch *l = wg->launch;
	enum sg_wg_state state;
	uint64_t n;

	sg_fpmode_set(SG_FPMODE_DEFAULT);
	if (sigsetjmp(sg_guard_enter(), 0) == 0) {
		state = run_waves(wg, &current, budget, n_sleeps);
	} else {
		guest_fault(wg, current);
		state = SG_WG_FAULT;
	}
	sg_guard_leave();
	sg_fpmode_set(fpmode);
	if (state == SG_WG_FAULT)
		place_fault(wg, current);
	n = count_instructions(wg) - n_before;
	n += atomic_fetch_add_explicit(&l->n_instructions, n, memory_order_relaxed);
	if (l->max_instructions && n > l->max_instructions)
		atomic_store(&l->stop, true);
	return state;
}

void sg_wg_get_wait(const struct sg_wg *wg, struct sg_wg_wait *out)
{
	*out = (struct sg_wg_wait){ 0 };
	memcpy(out->id, wg->id, sizeof(out->id));
	for (uint32_t n = 0; n < wg->n_waves; n++) {
		const struct sg_wave *w = &wg->waves[n];

		if (w->run_state == SG_STOP_END)
			continue;
		out->n_waves++;
		if (w->run_state == SG_STOP_BARRIER) {
			out->n_at_barrier++;
			out->pc = out->pc ? out->pc : sg_wave_pc(w, w->at);
			continue;
		}
		if (w->run_state != SG_STOP_WAIT)
			continue;
		if (w->status_priv & SG_STATUS_HALT)
			out->n_halted++;
		else if (w->gws_wait)
			out->n_at_gws++;
		else
			out->n_asleep++;
		out->pc = sg_wave_pc(w, w->at);
	}
}
