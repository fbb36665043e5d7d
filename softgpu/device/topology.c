/* A machine of several GPUs: reading its list, places on the bus, links, kinds of memory. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "softgpu/device/model.h"

/* --- the list --- */

/* An element of the list: "mi300x:cpx/nps4". */
struct wanted {
	const char *text;
	int length, n_model, n_mode; /* characters: of all, of the model, of its mode (0: none) */
	const char *mode, *nps;      /* nps: "nps4" and what follows; NULL: none */
};

static struct wanted split(const char *at, size_t length)
{
	const char *end = at + length, *slash = memchr(at, '/', length);
	const char *stop = slash ? slash : end, *colon = memchr(at, ':', (size_t)(stop - at));

	return (struct wanted){
		.text = at,
		.length = length > 60 ? 60 : (int)length,
		.n_model = (int)((colon ? colon : stop) - at),
		.mode = colon ? colon + 1 : NULL,
		.n_mode = colon ? (int)(stop - colon) - 1 : 0,
		.nps = slash ? slash + 1 : NULL,
	};
}

/* All modes of a model have its name, and what follows a colon. */
static bool is_of(const struct sg_gpu_model *model, const struct wanted *w)
{
	return (int)strcspn(model->name, ":") == w->n_model &&
	       !strncmp(model->name, w->text, (size_t)w->n_model);
}

static bool is_in_mode(const struct sg_gpu_model *model, const struct wanted *w)
{
	if (!w->mode)
		return !strchr(model->name, ':');
	return model->partition && (int)strlen(model->partition) == w->n_mode &&
	       !strncasecmp(model->partition, w->mode, (size_t)w->n_mode);
}

static void say_unknown(const struct wanted *w, char *error, size_t error_bytes)
{
	int n = snprintf(error, error_bytes, "WAVESCOPE_GPU: no GPU model '%.*s'; there are",
			 w->n_model < w->length ? w->n_model : w->length, w->text);
	const char *comma = "";

	for (size_t i = 0; i < sg_gpu_n_models && n >= 0 && (size_t)n < error_bytes; i++) {
		if (strchr(sg_gpu_models[i].name, ':'))
			continue;
		n += snprintf(error + n, error_bytes - n, "%s %s", comma, sg_gpu_models[i].name);
		comma = ",";
	}
}

static void say_no_mode(const struct wanted *w, char *error, size_t error_bytes)
{
	int n = snprintf(error, error_bytes, "WAVESCOPE_GPU: '%.*s': compute partitions are",
			 w->length, w->text);
	const char *comma = "";

	for (size_t i = 0; i < sg_gpu_n_models && n >= 0 && (size_t)n < error_bytes; i++) {
		const char *mode = sg_gpu_models[i].partition;

		if (!is_of(&sg_gpu_models[i], w))
			continue;
		n += snprintf(error + n, error_bytes - n, "%s %s", comma,
			      mode ? mode : "not supported");
		comma = ",";
	}
}

static const struct sg_gpu_model *find_model(const struct wanted *w, char *error,
					     size_t error_bytes)
{
	const struct sg_gpu_model *of_name = NULL;

	for (size_t i = 0; i < sg_gpu_n_models; i++) {
		if (!is_of(&sg_gpu_models[i], w))
			continue;
		of_name = &sg_gpu_models[i];
		if (is_in_mode(of_name, w))
			return of_name;
	}
	(of_name ? say_no_mode : say_unknown)(w, error, error_bytes);
	return NULL;
}

/* Memory partitions of the board; 0: not with this model and mode. */
static uint32_t find_nps(const struct sg_gpu_model *model, const struct wanted *w, char *error,
			 size_t error_bytes)
{
	int n_nps = w->nps ? w->length - (int)(w->nps - w->text) : 0;
	uint32_t nps = 1;

	if (w->nps)
		nps = n_nps == 4 && !strncasecmp(w->nps, "nps", 3) ? (uint32_t)(w->nps[3] - '0')
								   : 0;
	if (!w->nps || (nps >= 1 && nps <= 8 && model->nps_modes >> (nps - 1) & 1))
		return nps;
	snprintf(error, error_bytes, "WAVESCOPE_GPU: '%.*s': memory partitions %s", w->length,
		 w->text,
		 model->nps_modes == 1       ? "are NPS1 only with this compute partition"
		 : model->nps_modes >> 1 & 1 ? "are NPS1 or NPS2"
		 : model->nps_modes          ? "are NPS1 or NPS4"
					     : "are not supported");
	return 0;
}

/* --- the GPUs --- */

static void add_gpu(struct sg_topology *topology, const struct sg_gpu_model *model, uint32_t board,
		    uint32_t partition, uint32_t nps)
{
	uint32_t index = topology->n_gpus++;
	bool divided = model->partition && model->n_gpus > 1;
	uint32_t place = divided ? index - partition : index; /* of the first on this PCI device */

	topology->gpus[index] = (struct sg_gpu){
		.model = model,
		.board = board,
		.partition = divided ? partition : 0,
		.nps = (uint8_t)nps,
		/* The same in every run, different per place: what a serial number is. Partitions
		 * have that of their board; rocm-smi finds them by it. */
		.unique_id = (0x9e3779b97f4a7c15ull * (place + 1)) ^ model->device_id,
		.location = (place * 3 + 3) << 8 | (divided ? partition : 0),
		.render_minor = 128 + (int)index,
	};
}

/* Boards of one model are bridged with each other; a board that is alone has no hive. */
static void form_hives(struct sg_topology *topology)
{
	for (uint32_t i = 0; i < topology->n_gpus; i++) {
		struct sg_gpu *gpu = &topology->gpus[i];
		uint32_t n_same = 0;

		for (uint32_t j = 0; j < topology->n_gpus; j++)
			n_same += topology->gpus[j].model->device_id == gpu->model->device_id;
		gpu->hive_id = n_same > 1 ? 0x5753000000000000ull | gpu->model->device_id : 0;
	}
}

bool sg_topology_parse(struct sg_topology *topology, const char *list, char *error,
		       size_t error_bytes)
{
	const char *at = list && *list ? list : sg_gpu_models[0].name;

	topology->n_gpus = 0;
	for (uint32_t board = 0;; board++) {
		struct wanted w = split(at, strcspn(at, ","));
		const struct sg_gpu_model *model = find_model(&w, error, error_bytes);
		uint32_t nps = model ? find_nps(model, &w, error, error_bytes) : 0;

		if (!nps)
			return false;
		if (topology->n_gpus + model->n_gpus > SG_MAX_GPUS) {
			snprintf(error, error_bytes,
				 "WAVESCOPE_GPU: more than %d GPUs (a mi250x counts as two, a "
				 "partition as one)",
				 SG_MAX_GPUS);
			return false;
		}
		for (uint32_t k = 0; k < model->n_gpus; k++)
			add_gpu(topology, model, board, k, nps);
		at += strcspn(at, ",");
		if (!*at++)
			break;
	}
	form_hives(topology);
	return true;
}

/* --- links --- */

/* As the driver weighs them: PCIe, xGMI, and what stays in one package. */
enum { WEIGHT_PCIE = 20, WEIGHT_XGMI = 15, WEIGHT_PACKAGE = 13 };
#define PCIE_MIN_MBS 312
#define APU_MEMORY_MBS 819200 /* what the driver writes for host memory in the package */

/* As the driver counts: 16 lanes, a bit per transfer. */
static uint32_t pcie_max_mbs(const struct sg_gpu *gpu)
{
	return gpu->model->pcie_gts * 1000u * SG_PCIE_LANES / 8;
}

static bool in_package(const struct sg_gpu *a, const struct sg_gpu *b)
{
	return a->board == b->board && a->model->partition;
}

/* xGMI links between two GPUs, by index; 0: there is no bridge. */
static uint32_t n_xgmi_links(const struct sg_topology *topology, uint32_t a, uint32_t b)
{
	const struct sg_gpu *from = &topology->gpus[a], *to = &topology->gpus[b];
	bool more = false;

	if (!from->hive_id || from->hive_id != to->hive_id)
		return 0;
	if (from->board == to->board)
		return from->model->n_links_package;
	for (uint32_t g = 0; g < topology->n_gpus; g++) {
		const struct sg_gpu *other = &topology->gpus[g];

		more |= other->hive_id == from->hive_id &&
			((other->board != from->board && other->board != to->board) ||
			 other->model->n_gpus > 1);
	}
	return more ? from->model->n_links_mesh : from->model->n_links_pair;
}

static struct sg_link host_link(const struct sg_topology *topology, uint32_t from, uint32_t to)
{
	const struct sg_gpu *gpu = &topology->gpus[(from ? from : to) - 1];
	bool is_apu = gpu->model->is_apu;

	return (struct sg_link){
		.type = is_apu ? SG_LINK_XGMI : SG_LINK_PCIE,
		.from = from,
		.to = to,
		.n_links = 1,
		.weight = is_apu ? WEIGHT_PACKAGE : WEIGHT_PCIE,
		.min_bandwidth_mbs = is_apu ? APU_MEMORY_MBS : PCIE_MIN_MBS,
		.max_bandwidth_mbs = is_apu ? APU_MEMORY_MBS : pcie_max_mbs(gpu),
	};
}

static struct sg_link peer_link(const struct sg_topology *topology, uint32_t from, uint32_t to)
{
	const struct sg_gpu *a = &topology->gpus[from - 1], *b = &topology->gpus[to - 1];
	uint32_t n_xgmi = n_xgmi_links(topology, from - 1, to - 1);
	const struct sg_gpu *slower = a->model->pcie_gts < b->model->pcie_gts ? a : b;

	/* Without a bridge the way leads through the host: two hops of PCIe. */
	if (!n_xgmi)
		return (struct sg_link){ .type = SG_LINK_PCIE,
					 .from = from,
					 .to = to,
					 .n_links = 1,
					 .weight = 2 * WEIGHT_PCIE,
					 .min_bandwidth_mbs = PCIE_MIN_MBS,
					 .max_bandwidth_mbs = pcie_max_mbs(slower) };
	return (struct sg_link){ .type = SG_LINK_XGMI,
				 .from = from,
				 .to = to,
				 .n_links = n_xgmi,
				 .weight = in_package(a, b) ? WEIGHT_PACKAGE : WEIGHT_XGMI,
				 .min_bandwidth_mbs = a->model->xgmi_mbs,
				 .max_bandwidth_mbs = a->model->xgmi_mbs * n_xgmi };
}

uint32_t sg_topology_links(const struct sg_topology *topology, uint32_t node,
			   struct sg_link links[SG_MAX_GPUS])
{
	uint32_t n = 0;

	if (node)
		links[n++] = host_link(topology, node, 0);
	for (uint32_t other = 1; other <= topology->n_gpus; other++)
		if (other != node)
			links[n++] = node ? peer_link(topology, node, other)
					  : host_link(topology, 0, other);
	return n;
}

/* --- kinds of memory --- */

enum place { PLACE_OWN, PLACE_PEER, PLACE_HOST, N_PLACES };
enum generation { MI200, MI300, MI350, N_GENERATIONS };

/*
 * What the driver writes into the page tables, for coarse-grained, fine-grained and uncached memory. From MI300 on
 * instructions say how far they are coherent (sc0, sc1), so fine-grained memory need not have a kind of its own.
 */
/* clang-format off */
static const uint8_t mtypes[N_GENERATIONS][N_PLACES][3] = {
	[MI200] = {
		[PLACE_OWN]  = { SG_MTYPE_RW, SG_MTYPE_CC, SG_MTYPE_UC },
		[PLACE_PEER] = { SG_MTYPE_NC, SG_MTYPE_UC, SG_MTYPE_UC },
		[PLACE_HOST] = { SG_MTYPE_NC, SG_MTYPE_UC, SG_MTYPE_UC },
	},
	[MI300] = {
		[PLACE_OWN]  = { SG_MTYPE_RW, SG_MTYPE_RW, SG_MTYPE_UC },
		[PLACE_PEER] = { SG_MTYPE_NC, SG_MTYPE_NC, SG_MTYPE_UC },
		[PLACE_HOST] = { SG_MTYPE_UC, SG_MTYPE_UC, SG_MTYPE_UC },
	},
	[MI350] = {
		[PLACE_OWN]  = { SG_MTYPE_RW, SG_MTYPE_RW, SG_MTYPE_UC },
		[PLACE_PEER] = { SG_MTYPE_NC, SG_MTYPE_NC, SG_MTYPE_UC },
		[PLACE_HOST] = { SG_MTYPE_NC, SG_MTYPE_NC, SG_MTYPE_UC },
	},
};
/* clang-format on */

static enum generation generation_of(const struct sg_gpu_model *model)
{
	return model->target == SG_ISA_GFX950   ? MI350
	       : model->target == SG_ISA_GFX942 ? MI300
						: MI200;
}

struct sg_memory_kind sg_topology_kind(const struct sg_topology *topology, uint32_t gpu,
				       uint32_t owner, enum sg_grain grain)
{
	const struct sg_gpu *from = &topology->gpus[gpu - 1];
	enum generation generation = generation_of(from->model);
	bool is_own = gpu == owner || (!owner && from->model->is_apu) ||
		      /* partitions that share a memory partition */
		      (owner && from->nps == 1 && in_package(from, &topology->gpus[owner - 1]));
	enum place place = is_own ? PLACE_OWN : owner ? PLACE_PEER : PLACE_HOST;
	uint32_t n_xgmi = owner && !is_own ? n_xgmi_links(topology, gpu - 1, owner - 1) : 0;

	return (struct sg_memory_kind){
		.mtype = mtypes[generation][place][grain],
		.route = (uint8_t)(is_own   ? SG_ROUTE_OWN
				   : n_xgmi ? SG_ROUTE_GMI + owner - 1
					    : SG_ROUTE_IO),
		.n_links = (uint8_t)(is_own   ? 0
				     : n_xgmi ? n_xgmi
					      : 1),
	};
}
