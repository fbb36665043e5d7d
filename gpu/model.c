#include "gpu/model.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/*
 * Where the numbers come from. Chip ids, dies, banks and pipes: the tables of
 * AMD's own profilers. MI100, MI210, MI300A, MI300X and MI350X clocks, engines and
 * compute units: what such machines reported. MI325X and MI355X compute units, memory,
 * LDS and L2: AMD's published GPU specifications. SIMDs, waves, LDS and L2 of the
 * other rows follow their architecture. Idle power: what such boards reported, of MI300A,
 * MI325X and MI350X the nearest ones; limits are published. Memory partitions: the driver.
 * What none of these says is 0.
 */
/* clang-format off */
static const struct gpu_model models[] = {
#define ROW(name, model, series, arch, soft, agents, cus, ses, xcds, simds, waves,               \
	    mhz, gib, mem_mhz, bits, l2, l2_banks, lds_banks, lds, pipes, chip, chip_vf, idle, max, nps) \
	{ name, model, series, arch, soft, agents, cus, ses, xcds, simds, waves,                 \
	  mhz, gib, mem_mhz, bits, l2, l2_banks, lds_banks, lds, pipes, chip, chip_vf, idle, max, nps },
/*      name          model         series   arch      soft  ag  cus ses xcd simd waves mhz  gib mem_mhz bits  l2 KiB  banks lds_b lds pip chip    virtual idle W, limit, NPS */
ROW("mi100",     "MI100",      "MI100", "gfx908", true,  1, 120,  8, 1, 4, 10, 1502,  32, 1200, 4096,  8192, 32, 32,  64, 4, 0x738c, 0, 34,  300, 0)
ROW("mi210",     "MI210",      "MI200", "gfx90a", true,  1, 104,  8, 1, 4,  8, 1700,  64, 1600, 4096,  8192, 32, 32,  64, 4, 0x740f, 0, 42,  300, 0)
ROW("mi250",     "MI250",      "MI200", "gfx90a", false, 2,   0,  0, 1, 4,  8,    0,   0,    0,    0,  8192, 32, 32,  64, 4, 0x740c, 0,  0,  560, 0)
ROW("mi250x",    "MI250X",     "MI200", "gfx90a", true,  2, 110,  8, 1, 4,  8, 1700,  64, 1600, 4096,  8192, 32, 32,  64, 4, 0x7408, 0, 90,  560, 0)
ROW("mi300a_a0", "MI300A_A0",  "MI300", "gfx940", false, 1,   0,  0, 6, 4,  8,    0,   0,    0,    0,  4096, 16, 32,  64, 4, 0,      0,  0,    0, 0)
ROW("mi300x_a0", "MI300X_A0",  "MI300", "gfx941", false, 1,   0,  0, 8, 4,  8,    0,   0,    0,    0,  4096, 16, 32,  64, 4, 0,      0,  0,    0, 0)
ROW("mi300a",    "MI300A_A1",  "MI300", "gfx942", true,  1, 228, 24, 6, 4,  8, 2100, 128, 1300, 8192,  4096, 16, 32,  64, 4, 0x74a0, 0x74b4, 134,  550, 0)
ROW("mi300x",    "MI300X_A1",  "MI300", "gfx942", true,  1, 304, 32, 8, 4,  8, 2100, 192, 1300, 8192,  4096, 16, 32,  64, 4, 0x74a1, 0x74b5, 134,  750, 4)
ROW("mi300xhf",  "MI300XHF",   "MI300", "gfx942", false, 1,   0,  0, 8, 4,  8,    0,   0,    0,    0,  4096, 16, 32,  64, 4, 0x74a9, 0x74bd,  0,    0, 0)
ROW("mi308x",    "MI308X",     "MI300", "gfx942", false, 1,   0,  0, 4, 4,  8,    0,   0,    0,    0,  4096, 16, 32,  64, 4, 0x74a2, 0x74b6,  0,    0, 0)
ROW("mi308xhf",  "MI308XHF",   "MI300", "gfx942", false, 1,   0,  0, 4, 4,  8,    0,   0,    0,    0,  4096, 16, 32,  64, 4, 0x74a8, 0x74bc,  0,    0, 0)
ROW("mi325x",    "MI325X",     "MI300", "gfx942", true,  1, 304, 32, 8, 4,  8, 2100, 256, 1500, 8192,  4096, 16, 32,  64, 4, 0x74a5, 0x74b9, 134, 1000, 4)
ROW("mi350x",    "MI350",      "MI350", "gfx950", true,  1, 256, 32, 8, 4,  8, 2200, 288, 1900, 8192,  4096, 16, 32, 160, 4, 0x75a0, 0x75b0, 238, 1000, 2)
ROW("mi355x",    "MI355",      "MI350", "gfx950", true,  1, 256, 32, 8, 4,  8, 2400, 288, 1900, 8192,  4096, 16, 32, 160, 4, 0x75a3, 0x75b3, 238, 1400, 2)
ROW("mi358",     "MI358",      "MI350", "gfx950", false, 1,   0,  0, 8, 4,  8,    0,   0,    0,    0,  4096, 16, 32, 160, 4, 0x75a2, 0x75b2,  0,    0, 0)
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

/* Compute partitions, by the dies of an undivided GPU: how many an agent has then. */
static const struct {
	const char *mode;
	unsigned of_8, of_6, of_4;
} modes[] = {
	{ "SPX", 8, 6, 4 }, { "DPX", 4, 0, 2 }, { "TPX", 0, 2, 0 },
	{ "QPX", 2, 0, 0 }, { "CPX", 1, 1, 1 },
};

static unsigned n_xcds_in(const struct gpu_model *model, size_t mode)
{
	return model->n_xcds == 8   ? modes[mode].of_8
	       : model->n_xcds == 6 ? modes[mode].of_6
	       : model->n_xcds == 4 ? modes[mode].of_4
				    : 0;
}

unsigned gpu_n_xcds(const struct gpu_model *model, const char *partition)
{
	for (size_t i = 0; partition && i < WS_ARRAY_LEN(modes); i++)
		if (n_xcds_in(model, i) && strcasecmp(partition, modes[i].mode) == 0)
			return n_xcds_in(model, i);
	return model->n_xcds;
}

const char *gpu_partition(const struct gpu_model *model, unsigned n_xcds)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(modes); i++)
		if (n_xcds && n_xcds_in(model, i) == n_xcds)
			return modes[i].mode;
	return modes[0].mode;
}

const char *gpu_soft_names(void)
{
	static _Thread_local char names[128];
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

static enum ws_status find_soft(const char *name, const struct gpu_model **out_model,
				struct ws_err *err)
{
	const struct gpu_model *model = gpu_model_find(name);
	const char *near = model ? NULL : ws_str_nearest(name, next_soft, NULL);

	if (near)
		return ws_fail(err, WS_E_USAGE, "no GPU model '%s': did you mean '%s'?", name,
			       near);
	if (!model)
		return ws_fail(err, WS_E_USAGE, "no GPU model '%s': use %s", name,
			       gpu_soft_names());
	if (!model->soft)
		return ws_fail(err, WS_E_USAGE, "no software %s yet: use %s", model->model,
			       gpu_soft_names());
	*out_model = model;
	return WS_OK;
}

/* "SPX, DPX, QPX, CPX": the modes that a model has. */
static const char *mode_names(const struct gpu_model *model, char out_names[64])
{
	size_t n = 0;

	for (size_t i = 0; i < WS_ARRAY_LEN(modes); i++)
		if (n_xcds_in(model, i))
			n += (size_t)snprintf(out_names + n, 64 - n, "%s%s", n ? ", " : "",
					      modes[i].mode);
	return out_names;
}

static enum ws_status read_mode(struct ws_str mode, struct gpu_soft *soft, struct ws_err *err)
{
	const struct gpu_model *model = soft->model;
	char word[16], names[64];

	snprintf(word, sizeof(word), "%.*s", WS_STR_ARGS(mode));
	if (model->n_xcds == 1)
		return ws_fail(err, WS_E_USAGE, "GPU '%s:%s': %s has no compute partitions",
			       model->name, word, model->model);
	soft->n_xcds = gpu_n_xcds(model, word);
	if (strcasecmp(gpu_partition(model, soft->n_xcds), word) != 0)
		return ws_fail(err, WS_E_USAGE, "no compute partition '%s' on %s: use %s", word,
			       model->model, mode_names(model, names));
	soft->n_agents = model->n_xcds / soft->n_xcds;
	return WS_OK;
}

/* A memory partition has one compute partition of its own, or dies have partitions of their own. */
static enum ws_status read_nps(struct ws_str nps, struct gpu_soft *soft, struct ws_err *err)
{
	unsigned most = soft->model->max_nps;

	if (nps.n == 4 && strncasecmp(nps.at, "nps", 3) == 0) {
		soft->nps = (unsigned)(nps.at[3] - '0');
		if (soft->nps == 1 ||
		    (soft->nps == most && (soft->n_agents == most || soft->n_xcds == 1)))
			return WS_OK;
	}
	if (!most)
		return ws_fail(err, WS_E_USAGE, "no memory partition '%.*s' on %s: only NPS1",
			       WS_STR_ARGS(nps), soft->model->model);
	return ws_fail(err, WS_E_USAGE,
		       "no memory partition '%.*s' on %s in %s: NPS1, or %s:cpx/nps%u",
		       WS_STR_ARGS(nps), soft->model->model,
		       gpu_partition(soft->model, soft->n_xcds), soft->model->name, most);
}

enum ws_status gpu_soft_read(struct ws_str word, struct gpu_soft *out_soft, struct ws_err *err)
{
	struct ws_str board, name, rest = word;
	enum ws_status st;
	char text[32];

	ws_str_next(&rest, '/', &board);
	ws_str_next(&board, ':', &name);
	snprintf(text, sizeof(text), "%.*s", WS_STR_ARGS(name));
	*out_soft = (struct gpu_soft){ .nps = 1 };
	st = find_soft(text, &out_soft->model, err);
	if (st)
		return st;
	out_soft->n_agents = out_soft->model->n_agents;
	out_soft->n_xcds = out_soft->model->n_xcds;
	if (name.at + name.n < word.at + word.n && name.at[name.n] == ':')
		st = read_mode(board, out_soft, err);
	if (!st && rest.at && rest.n)
		st = read_nps(rest, out_soft, err);
	return st;
}

enum ws_status gpu_soft_list(const char *list, struct ws_buf *out, struct ws_err *err)
{
	struct ws_str rest = ws_str_from(list), part;
	size_t n = 0;

	while (ws_str_next(&rest, ',', &part)) {
		struct gpu_soft soft;
		enum ws_status st;

		if (!part.n)
			return ws_fail(err, WS_E_USAGE, "empty name in GPU list '%s': use %s", list,
				       gpu_soft_names());
		st = gpu_soft_read(part, &soft, err);
		if (st)
			return st;
		/* One name of a board with two dies is two agents, one in partitions as many. */
		n += soft.n_agents;
		if (n > GPU_SOFT_MAX)
			return ws_fail(err, WS_E_USAGE, "more than %d GPUs in '%.80s'",
				       GPU_SOFT_MAX, list);
		ws_buf_printf(out, "%s%s", out->n ? "," : "", soft.model->name);
		if (soft.n_xcds != soft.model->n_xcds)
			ws_buf_printf(out, ":%s", gpu_partition(soft.model, soft.n_xcds));
		if (soft.nps > 1)
			ws_buf_printf(out, "/nps%u", soft.nps);
	}
	return ws_buf_status(out, err);
}
