#include "tests/unit/softgpu/fake_exec.h"

#include <stdlib.h>

#include "softgpu/exec/traced_run.h"
#include "softgpu/exec/trap.h"

struct sg_wg {
	struct fake_wg fake;
	const struct fake_kernel *kernel;
};

struct sg_code_cache {
	_Atomic uint64_t n_invalidations;
};

struct sg_gws {
	int unused;
};

enum sg_launch_error sg_launch_init(struct sg_launch *launch)
{
	uint64_t n_items = 1;

	launch->n_wgs = 1;
	for (int i = 0; i < 3; i++) {
		n_items *= launch->wg_size[i];
		launch->n_wg[i] = (launch->grid_size[i] - 1) / launch->wg_size[i] + 1;
		launch->n_wgs *= launch->n_wg[i];
	}
	if (n_items > 1024)
		return SG_LAUNCH_BAD_GROUP_SIZE;
	if (launch->lds_bytes > 65536)
		return SG_LAUNCH_BAD_GROUP_MEMORY;
	launch->n_waves_per_wg = (uint32_t)(n_items + 63) / 64;
	return SG_LAUNCH_OK;
}

void sg_launch_fini(struct sg_launch *launch)
{
}

uint32_t sg_launch_wgs_per_cu(const struct sg_launch *launch)
{
	return 2;
}

struct sg_wg *sg_wg_create(const struct sg_launch *launch, uint32_t slot)
{
	struct sg_wg *wg = calloc(1, sizeof(*wg));

	if (wg)
		wg->fake.slot = slot;
	return wg;
}

void sg_wg_destroy(struct sg_wg *wg)
{
	free(wg);
}

void sg_wg_start(struct sg_wg *wg, struct sg_launch *launch, const uint32_t id[3])
{
	wg->fake.launch = launch;
	wg->fake.index =
		id[0] + (uint64_t)launch->n_wg[0] * (id[1] + (uint64_t)launch->n_wg[1] * id[2]);
	wg->fake.n_turns = 0;
	wg->kernel = (const struct fake_kernel *)(launch->kernel_object + launch->mem->host_base);
}

enum sg_wg_state sg_wg_run(struct sg_wg *wg, uint64_t budget, uint32_t n_sleeps)
{
	enum sg_wg_state state =
		wg->kernel->run ? wg->kernel->run(&wg->fake, wg->kernel->arg) : SG_WG_DONE;

	wg->fake.n_turns++;
	return state;
}

const struct sg_fault *sg_wg_fault(const struct sg_wg *wg)
{
	return &wg->fake.fault;
}

struct sg_code_cache *sg_code_cache_create(const struct sg_mem_map *mem, enum sg_isa_target target)
{
	return calloc(1, sizeof(struct sg_code_cache));
}

void sg_code_cache_destroy(struct sg_code_cache *cache)
{
	free(cache);
}

void sg_code_cache_invalidate(struct sg_code_cache *cache)
{
	atomic_fetch_add(&cache->n_invalidations, 1);
}

struct sg_gws *sg_gws_create(void)
{
	return calloc(1, sizeof(struct sg_gws));
}

void sg_gws_destroy(struct sg_gws *gws)
{
	free(gws);
}

void sg_wg_set_traces(struct sg_wg *wg, struct sg_wave_trace *traces)
{
}

uint32_t sg_wg_n_waves(const struct sg_wg *wg)
{
	return wg->fake.launch->n_waves_per_wg;
}

void sg_wg_get_wait(const struct sg_wg *wg, struct sg_wg_wait *out)
{
	*out = (struct sg_wg_wait){ .n_waves = 1,
				    .n_asleep = 1,
				    .id = { (uint32_t)wg->fake.index, 0, 0 } };
}

/* ---- trap handlers: none runs, because no model takes samples here ---- */

struct sg_trap_unit *sg_trap_unit_create(enum sg_isa_target target, const struct sg_mem_map *mem,
					 const struct sg_exec_hooks *hooks,
					 struct sg_code_cache *code_cache)
{
	return NULL;
}

void sg_trap_unit_destroy(struct sg_trap_unit *unit)
{
}

bool sg_trap_unit_run(struct sg_trap_unit *unit, uint64_t handler, uint64_t tma,
		      const struct sg_trap_wave *wave, bool *out_interrupted,
		      struct sg_fault *out_fault)
{
	return false;
}
