#include "programs/fidelity/known_priv.h"

#include <stdio.h>

#define ROUNDS 4 /* as many workgroups as the GPU holds, so often */

/* What keeps further waves out; by the SPI's counter of it. */
enum limit { SLOTS, VGPRS, SGPRS, LDS, BARRIERS, N_LIMITS };

static const struct {
	const char *counter;
	bool per_simd; /* or per CU */
} limits[] = {
	[SLOTS] = { "SPI_RA_WAVE_SIMD_FULL_CSN", true },
	[VGPRS] = { "SPI_RA_VGPR_SIMD_FULL_CSN", true },
	[SGPRS] = { "SPI_RA_SGPR_SIMD_FULL_CSN", true },
	[LDS] = { "SPI_RA_LDS_CU_FULL_CSN", false },
	[BARRIERS] = { "SPI_RA_BAR_CU_FULL_CSN", false },
};

/*
 * Waves of a CU, by the documents: 8 (MI100: 10) per SIMD, 512 (256) VGPRs and 800 SGPRs per SIMD,
 * 64 KiB of LDS, 16 barriers. A kernel of 96 SGPRs has 112 of them with those that are reserved, and 16 more
 * for the trap handler, so six waves of a SIMD have room. The runtime provides scratch for 32 waves of a CU.
 */
static const struct {
	const char *title, *kernel;
	uint32_t waves_per_workgroup, lds_bytes;
	uint32_t waves_later, waves_gfx908;   /* later: from gfx90a on */
	uint32_t limits_later, limits_gfx908; /* bits of enum limit */
} rows[] = {
	/* clang-format off */
	{ "limited by wave slots", "stay",       1, 0,     32, 40, 1 << SLOTS, 1 << SLOTS },
	{ "limited by VGPRs",      "stay_vgprs", 4, 0,     16, 16, 1 << VGPRS, 1 << VGPRS },
	{ "limited by SGPRs",      "stay_sgprs", 4, 0,     24, 24, 1 << SGPRS, 1 << SGPRS },
	{ "limited by LDS",        "stay",       4, 32768, 8,  8,  1 << LDS, 1 << LDS },
	/* 16 workgroups of two waves: on MI200 the slots are used up with the barriers */
	{ "limited by barriers",   "stay",       2, 0,     32, 32, 1 << BARRIERS | 1 << SLOTS, 1 << BARRIERS },
	{ "limited by scratch",    "stay_scratch", 1, 0,   32, 32, 0, 0 },
	/* clang-format on */
};

static void check_row(struct fid_known *k, size_t r)
{
	const uint32_t n_cus = (uint32_t)gpu_agent_n_cus(k->counted.agent);
	bool later = k->target != FID_GFX908;
	/* gfx950 has 160 KiB of LDS, in units of 1280 bytes: room for four workgroups of 32 KiB */
	uint32_t waves = k->target == FID_GFX950 && rows[r].lds_bytes ? 16
			 : later                                      ? rows[r].waves_later
								      : rows[r].waves_gfx908;
	uint32_t bits = later ? rows[r].limits_later : rows[r].limits_gfx908;
	const double engines = k->n_engines;
	uint32_t per_wg = rows[r].waves_per_workgroup, n_wgs = ROUNDS * n_cus * waves / per_wg;
	struct fid_known_call call = { .kernel = rows[r].kernel,
				       .grid = n_wgs * per_wg * 64,
				       .workgroup = per_wg * 64,
				       .lds_bytes = rows[r].lds_bytes };
	struct fid_counted_value values[N_LIMITS + 5] = {
		[N_LIMITS] = { .name = "SPI_RA_RES_STALL_CSN" },
		[N_LIMITS + 1] = { .name = "SQ_WAVE_CYCLES" },
		[N_LIMITS + 2] = { .name = "SQ_BUSY_CYCLES" },
		[N_LIMITS + 3] = { .name = "SQ_WAVES" },
		[N_LIMITS + 4] = { .name = "SPI_RA_TMP_STALL_CSN" },
	};
	const size_t n_skipped = later ? 0 : N_LIMITS + 1;
	double stalled, busy;

	/* those of the launcher are not supported on gfx908: begin with what follows them */
	for (size_t n = 0; n < N_LIMITS; n++)
		values[n].name = limits[n].counter;
	if (!fid_known_count(k, &call, values + n_skipped, WS_ARRAY_LEN(values) - n_skipped))
		return;
	stalled = values[N_LIMITS].value;
	busy = values[N_LIMITS + 2].value / engines;
	fid_known_print(rows[r].title, "SQ_WAVES", "exact", (double)n_wgs * per_wg,
			values[N_LIMITS + 3].value);
	/* quad-cycles of waves; a CU holds so many while it is busy */
	fid_known_print(rows[r].title, "waves per CU", "modelled", waves,
			busy ? 4 * values[N_LIMITS + 1].value / busy / n_cus : 0);
	/* while an engine waits, each of its units is short of what is short */
	for (size_t n = 0; n < N_LIMITS && later; n++) {
		double units = (double)n_cus / engines * (limits[n].per_simd ? 4 : 1);

		fid_known_print(rows[r].title, limits[n].counter, "modelled",
				bits >> n & 1 ? units * stalled : 0, values[n].value);
	}
	/* in cycles of every engine; the workgroups of the last round wait for nothing */
	fid_known_print(rows[r].title, "SPI_RA_TMP_STALL_CSN", "modelled",
			bits ? 0 : engines * busy * (ROUNDS - 1) / ROUNDS,
			values[N_LIMITS + 4].value);
}

void fid_known_occupancy(struct fid_known *k)
{
	for (size_t r = 0; r < WS_ARRAY_LEN(rows) && !k->st; r++)
		/* gfx942: some engines have fewer CUs, whose wave slots are used up before the scratch */
		if (rows[r].limits_later || k->target < FID_GFX942)
			check_row(k, r);
}
