#include "tests/unit/softgpu/fake_exec.h"

#include <stdlib.h>

#include "softgpu/exec/counting.h"

struct ws_wg {
	struct fake_wg fake;
	const struct fake_kernel *kernel;
};

struct ws_code_cache {
	_Atomic uint64_t n_invalidations;
};

struct ws_gws {
	int unused;
};

enum ws_launch_error ws_launch_init(struct ws_launch *launch)
{
	uint64_t n_items = 1;

	launch->n_wgs = 1;
	for (int i = 0; i < 3; i++) {
		n_items *= launch->wg_size[i];
		launch->n_wg[i] = (launch->grid_size[i] - 1) / launch->wg_size[i] + 1;
		launch->n_wgs *= launch->n_wg[i];
	}
	if (n_items > 1024)
		return WS_LAUNCH_BAD_GROUP_SIZE;
	if (launch->lds_bytes > 65536)
		return WS_LAUNCH_BAD_GROUP_MEMORY;
	launch->n_waves_per_wg = (uint32_t)(n_items + 63) / 64;
	return WS_LAUNCH_OK;
}

void ws_launch_fini(struct ws_launch *launch)
{
}

uint32_t ws_launch_wgs_per_cu(const struct ws_launch *launch)
{
	return 2;
}

struct ws_wg *ws_wg_create(const struct ws_launch *launch, uint32_t slot)
{
	struct ws_wg *wg = calloc(1, sizeof(*wg));

	if (wg)
		wg->fake.slot = slot;
	return wg;
}

void ws_wg_destroy(struct ws_wg *wg)
{
	free(wg);
}

void ws_wg_start(struct ws_wg *wg, struct ws_launch *launch, const uint32_t id[3])
{
	wg->fake.launch = launch;
	wg->fake.index = id[0] + (uint64_t)launch->n_wg[0] * (id[1] + (uint64_t)launch->n_wg[1] * id[2]);
	wg->fake.n_turns = 0;
	wg->kernel = (const struct fake_kernel *)(launch->kernel_object + launch->mem->host_base);
}

enum ws_wg_state ws_wg_run(struct ws_wg *wg, uint64_t budget, uint32_t n_sleeps)
{
	enum ws_wg_state state = wg->kernel->run ? wg->kernel->run(&wg->fake, wg->kernel->arg)
						 : WS_WG_DONE;

	wg->fake.n_turns++;
	return state;
}

const struct ws_fault *ws_wg_fault(const struct ws_wg *wg)
{
	return &wg->fake.fault;
}

struct ws_code_cache *ws_code_cache_create(const struct ws_mem_map *mem, enum ws_target target)
{
	return calloc(1, sizeof(struct ws_code_cache));
}

void ws_code_cache_destroy(struct ws_code_cache *cache)
{
	free(cache);
}

void ws_code_cache_invalidate(struct ws_code_cache *cache)
{
	atomic_fetch_add(&cache->n_invalidations, 1);
}

struct ws_gws *ws_gws_create(void)
{
	return calloc(1, sizeof(struct ws_gws));
}

void ws_gws_destroy(struct ws_gws *gws)
{
	free(gws);
}

void ws_wg_set_traces(struct ws_wg *wg, struct ws_wave_trace *traces)
{
}

uint32_t ws_wg_n_waves(const struct ws_wg *wg)
{
	return wg->fake.launch->n_waves_per_wg;
}

void ws_wg_get_wait(const struct ws_wg *wg, struct ws_wg_wait *out)
{
	*out = (struct ws_wg_wait){ .n_waves = 1, .n_asleep = 1, .id = { (uint32_t)wg->fake.index, 0, 0 } };
}
