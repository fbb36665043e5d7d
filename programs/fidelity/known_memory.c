#include "programs/fidelity/known_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64u /* that lanes share requests in */

/* Of L1, and of memory's requests. */
static uint32_t l1_line(const struct fid_known *k)
{
	return k->target < FID_GFX942 ? 64 : 128;
}

static uint32_t l2_line(const struct fid_known *k)
{
	return k->target == FID_GFX908 ? 64 : 128;
}

/*
 * Reads of the line with the kernel's arguments, of workgroups of one wave. It is in the host's memory, of which L2
 * keeps nothing from gfx942 on: then each scalar cache, of two CUs, has it read.
 */
static double argument_reads(const struct fid_known *k, double waves)
{
	double groups = k->target == FID_GFX942 ? 5 : 4; /* of an engine */
	double used = waves / k->n_engines / 2;

	return k->target < FID_GFX942 ? 1 : k->n_engines * WS_MIN(groups, used);
}

/* ---- reads ---- */

/* Lines of L2 that miss: those of the data, and the one with the kernel's arguments. */
#define MISSES(waves, lines)                                                                       \
	{ "TCC_MISS_sum", (lines) + argument_reads(k, waves) },                                    \
	{                                                                                          \
		"TCC_EA_RDREQ_sum", ((lines) + argument_reads(k, waves)) * l2_line(k) / l1_line(k) \
	}

/* 1024 waves; lanes are `stride` dwords apart. */
static void check_strides(struct fid_known *k)
{
	static const uint32_t strides[] = { 1, 2, 4, 8, 16, 32, 64 };
	const double waves = 1024;
	char title[32];

	for (size_t i = 0; i < WS_ARRAY_LEN(strides); i++) {
		uint32_t stride = strides[i], apart = 4 * stride;
		/* a wave's lanes are spread over this many lines */
		double lines = apart >= l1_line(k) ? 64 : 64.0 * apart / l1_line(k);
		double l2_lines = apart >= l2_line(k) ? 64 : 64.0 * apart / l2_line(k);
		/* four lanes share a request of L1 if one line has them */
		double requests = 4 * apart <= LINE ? 16 : 64;

		snprintf(title, sizeof(title), "read stride %u", stride);
		FID_KNOWN_CHECK(k, title, FID_CALL("read_x1", 1024 * 64, 64, .a = apart),
				{ "SQ_WAVES", waves }, { "SQ_INSTS_VMEM_RD", waves },
				{ "TA_FLAT_READ_WAVEFRONTS_sum", waves },
				{ "TCP_TOTAL_READ_sum", waves * requests },
				{ "TCP_TCC_READ_REQ_sum", waves * lines },
				MISSES(waves, waves * l2_lines));
	}
}

static void check_widths(struct fid_known *k)
{
	FID_KNOWN_CHECK(k, "read 8 bytes", FID_CALL("read_x2", 1024 * 64, 64, .a = 8),
			{ "TCP_TOTAL_READ_sum", 1024 * 64 },
			{ "TCP_TCC_READ_REQ_sum", 1024.0 * 8 * 64 / l1_line(k) },
			{ "TD_LOAD_WAVEFRONT_sum", 1024 },
			{ "TCP_TOTAL_CACHE_ACCESSES_sum", 1024 * 16 },
			MISSES(1024, 1024.0 * 8 * 64 / l2_line(k)));
	FID_KNOWN_CHECK(k, "read 16 bytes", FID_CALL("read_x4", 1024 * 64, 64, .a = 16),
			{ "TCP_TOTAL_READ_sum", 1024 * 64 },
			{ "TCP_TCC_READ_REQ_sum", 1024.0 * 16 * 64 / l1_line(k) },
			{ "TD_LOAD_WAVEFRONT_sum", 1024 },
			MISSES(1024, 1024.0 * 16 * 64 / l2_line(k)));
}

/* Lane n reads line n * factor of a million: neither L1 nor the lanes of a wave share anything. */
static void check_random(struct fid_known *k)
{
	const uint32_t n = 256 * 64, factor = 0x9e3779b1, mask = (1u << 20) - 1, waves = 256;
	uint8_t *seen = calloc(1, mask + 1u);
	uint32_t n_lines = 0;

	if (!seen) {
		k->st = ws_fail(k->err, WS_E_NOMEM, "no memory");
		return;
	}
	for (uint32_t lane = 0; lane < n; lane++) {
		uint32_t line = (lane * factor & mask) * LINE / l2_line(k);
		uint32_t die = 1u << lane / 64 % k->n_dies;

		n_lines += !(seen[line] & die);
		seen[line] |= (uint8_t)die;
	}
	free(seen);
	FID_KNOWN_CHECK(k, "read random lines",
			FID_CALL("read_random", n, 64, .a = factor, .b = mask),
			{ "SQ_INSTS_VMEM_RD", waves }, { "TCP_TOTAL_READ_sum", n },
			{ "TCP_TOTAL_CACHE_ACCESSES_sum", n }, { "TCP_TCC_READ_REQ_sum", n },
			MISSES(waves, (double)n_lines));
}

/* Bytes that the L2 of all dies read, if each wave goes to the part 97 behind it, four times. */
static double read_by_dies(const struct fid_known *k)
{
	uint8_t seen[256] = { 0 };
	double n_parts = 0;

	for (uint32_t wave = 0; wave < 1024; wave++)
		for (uint32_t turn = 0; turn < 4; turn++)
			seen[(wave + turn * 97) % 256] |= (uint8_t)(1u << wave % k->n_dies);
	for (size_t part = 0; part < sizeof(seen); part++)
		n_parts += __builtin_popcount(seen[part]);
	return n_parts * 8192;
}

/* Parts of 8 KiB, read by one wave after the other. */
static void check_resident(struct fid_known *k)
{
	const double mib = 1 << 20;

	/* 256 parts, four times by 1024 waves: 32 MiB read, 2 MiB of them from memory, by each die that wants them */
	FID_KNOWN_CHECK(k, "2 MiB in L2",
			FID_CALL("read_again", 1024 * 64, 64, .a = 97, .b = 255, .c = 4),
			{ "TCP_TOTAL_READ_sum", 32 * mib / 16 },
			MISSES(1024, read_by_dies(k) / l2_line(k)));
	if (k->n_dies > 1) /* their L2 are larger than the buffer */
		return;
	/* 4096 parts, each twice and 32 MiB apart: L2 has 8 MiB */
	FID_KNOWN_CHECK(k, "32 MiB through L2",
			FID_CALL("read_again", 2048 * 64, 64, .a = 2048, .b = 4095, .c = 4),
			{ "TCP_TOTAL_READ_sum", 64 * mib / 16 },
			MISSES(2048, 64 * mib / l2_line(k)));
}

/* ---- writes, atomics, scratch ---- */

static void check_writes(struct fid_known *k)
{
	static const struct {
		const char *title, *kernel;
		uint32_t apart, lines, requests; /* of a wave */
	} rows[] = {
		{ "write 4 bytes", "write_x1", 4, 4, 16 },
		{ "write 8 bytes", "write_x2", 8, 8, 64 },
		{ "write 16 bytes", "write_x4", 16, 16, 64 },
		{ "write stride 2", "write_x1", 8, 8, 16 },
		{ "write stride 16", "write_x1", 64, 64, 64 },
	};
	const double waves = 256;

	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++)
		FID_KNOWN_CHECK(k, rows[i].title,
				FID_CALL(rows[i].kernel, 256 * 64, 64, .a = rows[i].apart),
				{ "SQ_INSTS_VMEM_WR", waves },
				{ "TA_FLAT_WRITE_WAVEFRONTS_sum", waves },
				{ "TD_STORE_WAVEFRONT_sum", waves },
				{ "TD_LOAD_WAVEFRONT_sum", waves },
				{ "TCP_TOTAL_WRITE_sum", waves * rows[i].requests },
				{ "TCP_TCC_WRITE_REQ_sum", waves * rows[i].lines },
				{ "TCC_WRITE_sum", waves * rows[i].lines });
}

/* 256 KiB: they stay in L2, also those of a kernel's first dispatch, unless it ends with a system release. Several
 * dies write them back at the end of every kernel. */
static void check_write_back(struct fid_known *k)
{
	const double lines = (256.0 * 1024) / l2_line(k), kept = k->n_dies == 1;

	FID_KNOWN_CHECK(k, "first write",
			FID_CALL("write_x4", 256 * 64, 64, .a = 16, .first = true),
			{ "TCC_EA_WRREQ_sum", kept ? 0 : 256 * 16 },
			{ "TCC_ALL_TC_OP_WB_WRITEBACK_sum", kept ? 0 : lines },
			{ "TCC_WRITE_sum", 256 * 16 });
	FID_KNOWN_CHECK(k, "write, system scope",
			FID_CALL("write_x4", 256 * 64, 64, .a = 16, .system_scope = true),
			{ "TCC_EA_WRREQ_sum", 256 * 16 },
			{ "TCC_ALL_TC_OP_WB_WRITEBACK_sum", lines },
			{ "TCC_NORMAL_WRITEBACK_sum", 0 });
}

static void check_atomics(struct fid_known *k)
{
	/* ten waves on the same 256 bytes */
	FID_KNOWN_CHECK(k, "atomics", FID_CALL("atomic_add", 640, 64, .a = 4),
			{ "TCC_ATOMIC_sum", 40 }, { "TA_FLAT_ATOMIC_WAVEFRONTS_sum", 10 },
			{ "TD_ATOMIC_WAVEFRONT_sum", 10 }, { "TD_LOAD_WAVEFRONT_sum", 10 },
			{ "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 40 },
			{ "TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 0 }, { "SQ_INSTS_VMEM_WR", 10 },
			{ "SQ_INSTS_VMEM_RD", 0 }, { "SQ_INSTS_FLAT", 10 });
	FID_KNOWN_CHECK(k, "atomics with return", FID_CALL("atomic_add_return", 640, 64, .a = 4),
			{ "TCC_ATOMIC_sum", 40 }, { "TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 40 },
			{ "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 0 }, { "SQ_INSTS_VMEM_RD", 10 },
			{ "SQ_INSTS_VMEM_WR", 0 });
	if (k->target >= FID_GFX90A)
		FID_KNOWN_CHECK(k, "atomics of doubles",
				FID_CALL("atomic_add_f64", 640, 64, .a = 8),
				{ "TA_FLAT_ATOMIC_WAVEFRONTS_sum", 10 },
				{ "TD_ATOMIC_WAVEFRONT_sum", 10 }, { "SQ_INSTS_VMEM_WR", 10 });
}

/* Ten waves write eight dwords and read four; lanes' dwords lie side by side: 256 bytes. By buffer instructions; from
 * gfx942 on by those of the scratch segment, which are flat ones. */
static void check_scratch(struct fid_known *k)
{
	const bool flat = k->target >= FID_GFX942;

	FID_KNOWN_CHECK(
		k, "scratch", FID_CALL("scratch", 640, 64), { "SQ_INSTS_VMEM", 120 },
		{ "SQ_INSTS_VMEM_WR", 80 }, { "SQ_INSTS_VMEM_RD", 40 },
		{ "SQ_INSTS_FLAT", flat ? 120 : 0 },
		{ flat ? "SQ_ACTIVE_INST_FLAT" : "SQ_ACTIVE_INST_VMEM", 120 },
		{ flat ? "TA_FLAT_WRITE_WAVEFRONTS_sum" : "TA_BUFFER_WRITE_WAVEFRONTS_sum", 80 },
		{ flat ? "TA_FLAT_READ_WAVEFRONTS_sum" : "TA_BUFFER_READ_WAVEFRONTS_sum", 40 },
		{ "TCP_TOTAL_WRITE_sum", 80 * 16 }, { "TCP_TOTAL_READ_sum", 40 * 16 },
		{ "TCP_TCC_WRITE_REQ_sum", 80 * 4 });
}

/*
 * Ten waves, of whose lanes all, none or every other one has its dword in LDS. What AMD published of the like:
 * the address unit sees each of them, LDS those that have lanes there, L1 those that have others.
 */
static void check_flat(struct fid_known *k)
{
#define FLAT(kind) "TA_FLAT_" #kind "_WAVEFRONTS_sum"
	/* clang-format off */
	static const struct {
		const char *title, *kernel, *wavefronts;
		uint32_t a, b;
		double in_lds, in_memory; /* wave instructions */
		double lds_cycles, reads, writes, atomics;
	} rows[] = {
		{ "flat loads of LDS", "flat_load", FLAT(READ), 0, 0, 10, 0, 20, 0, 0, 0 },
		{ "flat stores to LDS", "flat_store", FLAT(WRITE), 0, 0, 10, 0, 20, 0, 0, 0 },
		{ "flat atomics in LDS", "flat_add", FLAT(ATOMIC), 0, 0, 10, 0, 20, 0, 0, 0 },
		{ "flat loads of memory", "flat_load", FLAT(READ), 0, 1, 0, 10, 0, 160, 0, 0 },
		{ "flat stores to memory", "flat_store", FLAT(WRITE), 0, 1, 0, 10, 0, 0, 160, 0 },
		{ "flat loads of both", "flat_load", FLAT(READ), 1, 1, 10, 10, 20, 160, 0, 0 },
		{ "flat atomics in both", "flat_add", FLAT(ATOMIC), 1, 1, 10, 10, 20, 0, 0, 160 },
	};
	/* clang-format on */
#undef FLAT

	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++)
		FID_KNOWN_CHECK(k, rows[i].title,
				FID_CALL(rows[i].kernel, 640, 64, .a = rows[i].a, .b = rows[i].b),
				{ "SQ_INSTS_VMEM", 10 }, { "SQ_INSTS_FLAT", 10 },
				{ "SQ_INSTS_LDS", rows[i].in_lds },
				{ "SQ_LDS_IDX_ACTIVE",
				  strcmp(rows[i].kernel, "flat_load")
					  ? rows[i].lds_cycles
					  : rows[i].in_lds * fid_lds_read_cycles(k->target) },
				{ "TA_TOTAL_WAVEFRONTS_sum", 10 }, { "TA_FLAT_WAVEFRONTS_sum", 10 },
				{ rows[i].wavefronts, 10 },
				{ "TD_LOAD_WAVEFRONT_sum", rows[i].in_memory },
				{ "TCP_TOTAL_READ_sum", rows[i].reads },
				{ "TCP_TOTAL_WRITE_sum", rows[i].writes },
				{ "TCP_TOTAL_ATOMIC_WITHOUT_RET_sum", rows[i].atomics },
				/* the last: only up to gfx90a */
				{ k->target < FID_GFX942 ? "SQ_INSTS_FLAT_LDS_ONLY" : "SQ_WAVES",
				  k->target < FID_GFX942 ? 10 - rows[i].in_memory : 10 });
}

/* ---- LDS ---- */

/* Ten waves, whose lanes use the addresses that @dword_of says. */
static void check_lds(struct fid_known *k, const char *title, const char *kernel,
		      uint32_t (*dword_of)(uint32_t lane, uint32_t n), uint32_t n,
		      const struct fid_expect *expected, size_t n_expected)
{
	struct fid_known_call call = { .kernel = kernel, .grid = 640, .workgroup = 64 };
	uint32_t addresses[64];

	for (uint32_t lane = 0; lane < 64; lane++)
		addresses[lane] = 4 * dword_of(lane, n);
	if (!k->st)
		k->st = gpu_runner_copy_in(k->counted.runner, 0, addresses, sizeof(addresses),
					   k->err);
	fid_known_check(k, title, &call, expected, n_expected);
}

/* Of 32 lanes that are served together, groups of n meet in one of 32 banks. */
static uint32_t meeting(uint32_t lane, uint32_t n)
{
	uint32_t l = lane % 32;

	return l % n * 32 + l / n;
}

/* Of 64 lanes that are served together, groups of n meet in one of 64 banks. */
static uint32_t meeting_in_64(uint32_t lane, uint32_t n)
{
	return lane % n * 64 + lane / n;
}

static uint32_t apart(uint32_t lane, uint32_t n)
{
	return lane * n;
}

static uint32_t together(uint32_t lane, uint32_t n)
{
	(void)lane;
	return n;
}

/* The last four lanes are outside. */
static uint32_t beyond(uint32_t lane, uint32_t n)
{
	return lane < 60 ? lane : n + lane;
}

#define LDS(kernel, title, dword_of, n, ...)                                                       \
	check_lds(k, title, kernel, dword_of, n, (const struct fid_expect[]){ __VA_ARGS__ },       \
		  sizeof((const struct fid_expect[]){ __VA_ARGS__ }) / sizeof(struct fid_expect))

static void check_banks(struct fid_known *k)
{
	const double waves = 10;
	const double halves =
		fid_lds_read_cycles(k->target); /* groups of lanes of a read of 4 bytes */
	char title[32];
	double turns;

	for (uint32_t n = 1; n <= 32 && !k->st; n++) {
		snprintf(title, sizeof(title), "lds conflicts %u", n);
		LDS("lds_read_b32", title, halves == 1 ? meeting_in_64 : meeting, n,
		    { "SQ_INSTS_LDS", waves }, { "SQ_LDS_BANK_CONFLICT", waves * halves * (n - 1) },
		    { "SQ_LDS_IDX_ACTIVE", waves * halves * n });
	}
	for (uint32_t n = 1; n <= 32; n *= 2) {
		snprintf(title, sizeof(title), "lds write stride %u", n);
		/* 32 lanes at a time, also where there are 64 banks */
		turns = halves == 1 && n > 1 ? n / 2 : n;
		LDS("lds_write_b32", title, apart, n,
		    { "SQ_LDS_BANK_CONFLICT", waves * 2 * (turns - 1) },
		    { "SQ_LDS_IDX_ACTIVE", waves * 2 * turns });
	}
	LDS("lds_read_b32", "lds broadcast", together, 5, { "SQ_LDS_BANK_CONFLICT", 0 },
	    { "SQ_LDS_IDX_ACTIVE", waves * halves });
	LDS("lds_read_b64", "lds 8 bytes", apart, 2, { "SQ_LDS_BANK_CONFLICT", 0 },
	    { "SQ_LDS_IDX_ACTIVE", waves * halves * 2 });
	LDS("lds_read_b128", "lds 16 bytes", apart, 4, { "SQ_LDS_BANK_CONFLICT", 0 },
	    { "SQ_LDS_IDX_ACTIVE", waves * halves * 4 });
	LDS("lds_read_b32", "lds slots", apart, 1, { "SQ_ACTIVE_INST_LDS", waves },
	    { "SQ_INST_CYCLES_VMEM_RD", waves }, { "SQ_ACTIVE_INST_ANY", waves * 7 });
	LDS("lds_read2_b32", "lds pairs", apart, 2, { "SQ_INSTS_LDS", waves },
	    { "SQ_LDS_BANK_CONFLICT", waves * halves * 2 },
	    { "SQ_LDS_IDX_ACTIVE", waves * halves * 4 });
	LDS("lds_permute", "lds permute", apart, 1, { "SQ_INSTS_LDS", waves },
	    { "SQ_ACTIVE_INST_LDS", waves }, { "SQ_LDS_BANK_CONFLICT", 0 });
	LDS("lds_read_b32", "lds violations", beyond, 100000,
	    { "SQ_LDS_MEM_VIOLATIONS", waves * 4 }, { "SQ_INSTS_LDS", waves });
	/* 31 of 32 lanes wait for another one */
	LDS("lds_add_u32", "lds atomics, one address", together, 5,
	    { "SQ_LDS_ADDR_CONFLICT", waves * 62 }, { "SQ_LDS_BANK_CONFLICT", 0 },
	    { "SQ_LDS_ATOMIC_RETURN", 0 });
	LDS("lds_add_rtn_u32", "lds atomics with return", apart, 1, { "SQ_LDS_ADDR_CONFLICT", 0 },
	    { "SQ_LDS_BANK_CONFLICT", 0 }, { "SQ_LDS_ATOMIC_RETURN", waves * 2 });
}

/* gfx950: loads and stores count apart; reads that transpose take as long as others of their size. */
static void check_lds_gfx950(struct fid_known *k)
{
	static const char *const kernels[] = { "lds_read_b64_tr_b4", "lds_read_b64_tr_b8",
					       "lds_read_b64_tr_b16", "lds_read_b96_tr_b6" };
	const double waves = 10;

	for (size_t i = 0; i < WS_ARRAY_LEN(kernels); i++) {
		bool wide = strstr(kernels[i], "b96");

		LDS(kernels[i], kernels[i], apart, wide ? 4 : 2, { "SQ_INSTS_LDS", waves },
		    { "SQ_INSTS_LDS_LOAD", waves }, { "SQ_ACTIVE_INST_LDS", waves },
		    { "SQ_INSTS_LDS_LOAD_BANDWIDTH", waves * (wide ? 12 : 8) },
		    { "SQ_LDS_BANK_CONFLICT", 0 }, { "SQ_LDS_IDX_ACTIVE", waves * (wide ? 4 : 2) });
	}
	LDS("lds_write_b32", "lds writes, gfx950", apart, 1, { "SQ_INSTS_LDS_STORE", waves },
	    { "SQ_INSTS_LDS_LOAD", 0 }, { "SQ_INSTS_LDS_STORE_BANDWIDTH", waves * 4 });
}

void fid_known_memory(struct fid_known *k)
{
	if (k->target == FID_GFX950)
		check_lds_gfx950(k);
	check_strides(k);
	check_widths(k);
	check_random(k);
	check_resident(k);
	check_write_back(k); /* the first of those that write */
	check_writes(k);
	check_atomics(k);
	check_scratch(k);
	check_flat(k);
	check_banks(k);
}
