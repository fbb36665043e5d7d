/*
 * fabric: 2 MiB of memory of each kind, streamed through once.
 *
 * AMD published what rocprof-compute says of such kernels on MI250s that are linked ("Infinity Fabric
 * transactions"): how requests are counted, by kind of memory, and how much of the time L2 is stalled.
 */
#include "programs/fidelity/known.h"

#include "programs/fidelity/known_priv.h"

#include <stdio.h>

#define BYTES (2u << 20)
#define GRID (1u << 17) /* lanes; a dword of each is 512 KiB */
#define TURNS (BYTES / 4 / GRID)
#define REQUESTS (BYTES / 64.0) /* of a stream */

enum type { RW, CC, NC, UC, N_TYPES };

struct place {
	const char *name;
	enum gpu_runner_memory memory;
	enum type type; /* as AMD's documents say */
	bool own;
};

static const struct place places[] = {
	{ "HBM", GPU_RUNNER_OWN, RW, true },
	{ "fine-grained HBM", GPU_RUNNER_OWN_FINE, CC, true },
	{ "host", GPU_RUNNER_HOST, NC, false },
	{ "fine-grained host", GPU_RUNNER_HOST_FINE, UC, false },
	{ "peer", GPU_RUNNER_PEER, NC, false },
	{ "fine-grained peer", GPU_RUNNER_PEER_FINE, UC, false },
};

static void stream(struct fid_known *k, const char *operation, const struct place *at,
		   const char *kernel, const struct fid_expect *expected, size_t n)
{
	struct fid_known_call call = {
		.kernel = kernel, .grid = GRID, .workgroup = 64, .a = GRID, .b = TURNS
	};
	char title[64];

	snprintf(title, sizeof(title), "%s %s", operation, at->name);
	fid_known_check(k, title, &call, expected, n);
}

#define STREAM(operation, kernel, ...)                                                             \
	stream(k, operation, at, kernel, (const struct fid_expect[]){ __VA_ARGS__ },               \
	       sizeof((const struct fid_expect[]){ __VA_ARGS__ }) / sizeof(struct fid_expect))

/* What L2 waits for, as a part of the time it is busy. Published of an MI250. */
static void check_stalls(struct fid_known *k, const struct place *at)
{
	static const struct {
		enum gpu_runner_memory memory;
		const char *name;
		double pcie, xgmi;
	} published[] = {
		{ GPU_RUNNER_HOST, "read host", 91.27, 0 },
		{ GPU_RUNNER_HOST_FINE, "read fine-grained host", 91.29, 0 },
		{ GPU_RUNNER_PEER_FINE, "read fine-grained peer", 0, 17.85 },
	};
	struct fid_known_call call = {
		.kernel = "stream_read", .grid = GRID, .workgroup = 64, .a = GRID, .b = TURNS
	};
	struct fid_counted_value v[] = { { .name = "TCC_BUSY" },
					 { .name = "TCC_EA_RDREQ_IO_CREDIT_STALL" },
					 { .name = "TCC_EA_RDREQ_GMI_CREDIT_STALL" } };

	for (size_t i = 0; i < WS_ARRAY_LEN(published) && k->target == FID_GFX90A; i++) {
		if (published[i].memory != at->memory ||
		    !fid_known_count(k, &call, v, WS_ARRAY_LEN(v)))
			continue;
		fid_known_print(published[i].name, "% stalled by PCIe", "modelled",
				published[i].pcie, 100 * v[1].value / v[0].value);
		fid_known_print(published[i].name, "% stalled by xGMI", "modelled",
				published[i].xgmi, 100 * v[2].value / v[0].value);
	}
}

static void check_place(struct fid_known *k, const struct place *at)
{
	static const char *const reads[] = { "TCP_TCC_RW_READ_REQ_sum", "TCP_TCC_CC_READ_REQ_sum",
					     "TCP_TCC_NC_READ_REQ_sum", "TCP_TCC_UC_READ_REQ_sum" };
	static const char *const writes[] = { "TCP_TCC_RW_WRITE_REQ_sum",
					      "TCP_TCC_CC_WRITE_REQ_sum",
					      "TCP_TCC_NC_WRITE_REQ_sum",
					      "TCP_TCC_UC_WRITE_REQ_sum" };
	const double n = REQUESTS, own = at->own;
	/* the kernel's arguments are fine-grained memory of the host: one line of L2 */
	const double arguments = k->target == FID_GFX90A ? 2 : 1, uncached = at->type == UC;

	STREAM("read", "stream_read", { reads[at->type], n }, { "TCC_EA_RDREQ_sum", n + arguments },
	       { "TCC_EA_RDREQ_32B_sum", 0 }, { "TCC_EA_RDREQ_DRAM_sum", own * n },
	       { "TCC_EA_RD_UNCACHED_32B_sum", 2 * (uncached * n + arguments) },
	       { "TCC_EA_WRREQ_sum", 0 });
	check_stalls(k, at);
	/* what is cached leaves L2 when it has to, so not all of it is written within the kernel */
	if (at->type != CC && at->type != UC)
		return;
	STREAM("write", "stream_write", { writes[at->type], n }, { "TCC_EA_WRREQ_sum", n },
	       { "TCC_EA_WRREQ_64B_sum", n }, { "TCC_EA_WRREQ_DRAM_sum", own * n },
	       { "TCC_EA_WR_UNCACHED_32B_sum", n }, { "TCC_EA_ATOMIC_sum", 0 },
	       { "TCC_WRITEBACK_sum", n }, { "TCC_EA_WRREQ_IO_CREDIT_STALL_sum", 0 });
	STREAM("atomic", "stream_add", { "TCC_ATOMIC_sum", n }, { "TCC_EA_WRREQ_sum", 2 * n },
	       { "TCC_EA_WRREQ_64B_sum", 0 }, { "TCC_EA_WRREQ_DRAM_sum", own * 2 * n },
	       { "TCC_EA_WR_UNCACHED_32B_sum", 2 * n }, { "TCC_EA_ATOMIC_sum", 2 * n },
	       { "TCC_EA_RDREQ_sum", arguments }, { "TCC_EA_WRREQ_IO_CREDIT_STALL_sum", 0 });
}

enum ws_status fid_fabric(struct ws_err *err)
{
	struct fid_known k;

	if (fid_known_open(&k, err))
		return k.st;
	for (size_t i = 0; i < WS_ARRAY_LEN(places) && !k.st; i++) {
		k.st = gpu_runner_memory(k.counted.runner, places[i].memory, BYTES, &k.buffer, err);
		if (!k.st)
			check_place(&k, &places[i]);
	}
	fid_counted_close(&k.counted);
	return k.st;
}
