#include "gpu/model.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/*
 * Where the numbers come from. Chip ids, dies, banks and pipes: the tables of
 * AMD's own profilers. MI100, MI210 and MI300X clocks, engines and compute units:
 * what such machines reported. MI325X, MI350X and MI355X compute units, memory,
 * LDS and L2: AMD's published GPU specifications. SIMDs, waves, LDS and L2 of the
 * other rows follow their architecture. Idle power: what such boards reported; limits are
 * published. What none of these says is 0.
 */
/* clang-format off */
static const struct gpu_model models[] = {
#define ROW(name, model, series, arch, soft, agents, cus, ses, xcds, simds, waves,               \
	    mhz, gib, mem_mhz, bits, l2, l2_banks, lds_banks, lds, pipes, chip, chip_vf, idle, max) \
	{ name, model, series, arch, soft, agents, cus, ses, xcds, simds, waves,                 \
	  mhz, gib, mem_mhz, bits, l2, l2_banks, lds_banks, lds, pipes, chip, chip_vf, idle, max },
/*      name          model         series   arch      soft  ag  cus ses xcd simd waves mhz  gib mem_mhz bits  l2 KiB  banks lds_b lds pip chip    virtual idle W, limit */
ROW("mi100",     "MI100",      "MI100", "gfx908", true,  1, 120,  8, 1, 4, 10, 1502,  32, 1200, 4096,  8192, 32, 32,  64, 4, 0x738c, 0, 34,  300)
ROW("mi210",     "MI210",      "MI200", "gfx90a", true,  1, 104,  8, 1, 4,  8, 1700,  64, 1600, 4096,  8192, 32, 32,  64, 4, 0x740f, 0, 42,  300)
ROW("mi250",     "MI250",      "MI200", "gfx90a", false, 2,   0,  0, 1, 4,  8,    0,   0,    0,    0,  8192, 32, 32,  64, 4, 0x740c, 0,  0,  560)
ROW("mi250x",    "MI250X",     "MI200", "gfx90a", true,  2, 110,  8, 1, 4,  8, 1700,  64, 1600, 4096,  8192, 32, 32,  64, 4, 0x7408, 0, 90,  560)
ROW("mi300a_a0", "MI300A_A0",  "MI300", "gfx940", false, 1,   0,  0, 6, 4,  8,    0,   0,    0,    0,  4096, 16, 32,  64, 4, 0,      0,  0,    0)
ROW("mi300x_a0", "MI300X_A0",  "MI300", "gfx941", false, 1,   0,  0, 8, 4,  8,    0,   0,    0,    0,  4096, 16, 32,  64, 4, 0,      0,  0,    0)
ROW("mi300a",    "MI300A_A1",  "MI300", "gfx942", false, 1,   0,  0, 6, 4,  8,    0,   0,    0,    0,  4096, 16, 32,  64, 4, 0x74a0, 0x74b4,  0,    0)
ROW("mi300x",    "MI300X_A1",  "MI300", "gfx942", false, 1, 304, 32, 8, 4,  8, 2100, 192, 1300,    0,  4096, 16, 32,  64, 4, 0x74a1, 0x74b5,  0,  750)
ROW("mi300xhf",  "MI300XHF",   "MI300", "gfx942", false, 1,   0,  0, 8, 4,  8,    0,   0,    0,    0,  4096, 16, 32,  64, 4, 0x74a9, 0x74bd,  0,    0)
ROW("mi308x",    "MI308X",     "MI300", "gfx942", false, 1,   0,  0, 4, 4,  8,    0,   0,    0,    0,  4096, 16, 32,  64, 4, 0x74a2, 0x74b6,  0,    0)
ROW("mi308xhf",  "MI308XHF",   "MI300", "gfx942", false, 1,   0,  0, 4, 4,  8,    0,   0,    0,    0,  4096, 16, 32,  64, 4, 0x74a8, 0x74bc,  0,    0)
ROW("mi325x",    "MI325X",     "MI300", "gfx942", false, 1, 304,  0, 8, 4,  8,    0, 256,    0,    0,  4096, 16, 32,  64, 4, 0x74a5, 0x74b9,  0, 1000)
ROW("mi350x",    "MI350",      "MI350", "gfx950", false, 1, 256,  0, 8, 4,  8,    0, 288,    0,    0,  4096, 16, 32, 160, 4, 0x75a0, 0x75b0,  0, 1000)
ROW("mi355x",    "MI355",      "MI350", "gfx950", false, 1, 256,  0, 8, 4,  8,    0, 288,    0,    0,  4096, 16, 32, 160, 4, 0x75a3, 0x75b3,  0, 1400)
ROW("mi358",     "MI358",      "MI350", "gfx950", false, 1,   0,  0, 8, 4,  8,    0,   0,    0,    0,  4096, 16, 32, 160, 4, 0x75a2, 0x75b2,  0,    0)
#undef ROW
};
/* clang-format on */

const struct gpu_model *gpu_models(size_t *out_n)
{
	*out_n = WS_ARRAY_LEN(models);
	return models;
}

const struct gpu_model *gpu_model_find(const char *name)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(models); i++)
		if (strcasecmp(name, models[i].name) == 0 || strcasecmp(name, models[i].model) == 0)
			return &models[i];
	return NULL;
}

const struct gpu_model *gpu_model_by_chip(unsigned chip_id)
{
	for (size_t i = 0; chip_id && i < WS_ARRAY_LEN(models); i++)
		if (models[i].chip_id == chip_id || models[i].chip_id_vf == chip_id)
			return &models[i];
	return NULL;
}

const char *gpu_target_name(const char *arch, const struct gpu_model *model)
{
	for (size_t i = 0; !model && i < WS_ARRAY_LEN(models); i++)
		if (strcmp(models[i].arch, arch) == 0)
			model = &models[i];
	if (!model)
		return arch;
	/* Up to MI200 the family was the name; from MI300 on boards differ too much. */
	return model->n_xcds == 1 ? model->series : model->model;
}

unsigned gpu_n_xcds(const struct gpu_model *model, const char *partition)
{
	static const struct {
		const char *mode;
		unsigned of_8, of_6, of_4; /* by the number of an undivided GPU */
	} modes[] = {
		{ "DPX", 4, 0, 2 },
		{ "TPX", 0, 2, 0 },
		{ "QPX", 2, 0, 0 },
		{ "CPX", 1, 1, 1 },
	};

	for (size_t i = 0; partition && i < WS_ARRAY_LEN(modes); i++) {
		unsigned n = model->n_xcds == 8   ? modes[i].of_8
			     : model->n_xcds == 6 ? modes[i].of_6
			     : model->n_xcds == 4 ? modes[i].of_4
						  : 0;

		if (n && strcasecmp(partition, modes[i].mode) == 0)
			return n;
	}
	return model->n_xcds;
}

const char *gpu_soft_names(void)
{
	static _Thread_local char names[64];
	size_t n = 0;

	for (size_t i = 0; i < WS_ARRAY_LEN(models); i++)
		if (models[i].soft)
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "",
					      models[i].name);
	return names;
}

static const char *next_soft(const void *list, size_t i)
{
	(void)list;
	if (i >= WS_ARRAY_LEN(models))
		return NULL;
	return models[i].soft ? models[i].name : "";
}

enum ws_status gpu_soft_list(const char *list, struct ws_buf *out, struct ws_err *err)
{
	struct ws_str rest = ws_str_from(list), part;
	size_t n = 0;

	while (ws_str_next(&rest, ',', &part)) {
		const struct gpu_model *model;
		const char *near;
		char word[32];

		snprintf(word, sizeof(word), "%.*s", WS_STR_ARGS(part));
		model = gpu_model_find(word);
		if (!part.n)
			return ws_fail(err, WS_E_USAGE, "empty name in GPU list '%s': use %s", list,
				       gpu_soft_names());
		if (model && !model->soft)
			return ws_fail(err, WS_E_USAGE, "no software %s yet: use %s", model->model,
				       gpu_soft_names());
		if (!model) {
			near = ws_str_nearest(word, next_soft, NULL);
			if (near)
				return ws_fail(err, WS_E_USAGE,
					       "no GPU model '%s': did you mean '%s'?", word, near);
			return ws_fail(err, WS_E_USAGE, "no GPU model '%s': use %s", word,
				       gpu_soft_names());
		}
		/* One name of a two-die board is two agents. */
		n += model->n_agents;
		if (n > GPU_SOFT_MAX)
			return ws_fail(err, WS_E_USAGE, "more than %d GPUs in '%.80s'",
				       GPU_SOFT_MAX, list);
		ws_buf_printf(out, "%s%s", out->n ? "," : "", model->name);
	}
	return ws_buf_status(out, err);
}
