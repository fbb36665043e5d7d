#include "tests/softgpu/synth.h"

#include <stdio.h>
#include <stdlib.h>

/* Each wave of each workgroup asks for the same few, by the same strings. */
const struct sg_isa_row *synth_row(const char *mnemonic)
{
	static struct {
		const char *mnemonic;
		const struct sg_isa_row *row;
	} seen[64];
	size_t at = (uintptr_t)mnemonic / 8 % 64;
	const char *segment = "global_";
	bool global = !strncmp(mnemonic, segment, strlen(segment));

	if (seen[at].mnemonic == mnemonic)
		return seen[at].row;
	for (size_t n = 0; n < sg_isa_n_rows; n++) {
		const struct sg_isa_row *row = &sg_isa_rows[n];

		if (strcmp(row->mnemonic, mnemonic) &&
		    !(global && row->enc == SG_ENC_FLAT &&
		      !strcmp(row->mnemonic + strlen("flat_"), mnemonic + strlen(segment))))
			continue;
		seen[at].mnemonic = mnemonic;
		seen[at].row = row;
		return row;
	}
	fprintf(stderr, "no instruction '%s'\n", mnemonic);
	abort();
}

static bool instruction(void *ctx, uint64_t pc, struct sg_decoded_insn *out)
{
	const struct synth_kernel *k = ((struct synth_run *)ctx)->kernel;
	uint64_t at = k->code;

	for (uint32_t n = 0; n < k->n_insts; at += 4ull * k->insts[n++].dwords)
		if (at == pc) {
			const struct synth_inst *i = &k->insts[n];

			*out = (struct sg_decoded_insn){ .row = synth_row(i->mnemonic),
							 .n_dwords = i->dwords,
							 .simm = i->simm,
							 .glc = i->glc,
							 .scc = i->sc1,
							 .vdst = i->vdst,
							 .sdst = i->sdst,
							 .src = { i->src[0], i->src[1],
								  i->src[2] } };
			return true;
		}
	return false;
}

static void put_memory(struct sg_wave_trace *t, const struct synth_inst *i, uint64_t wg,
		       uint32_t wave, uint32_t turn)
{
	struct sg_decoded_insn insn = { .row = synth_row(i->mnemonic) };
	uint64_t base = i->base + (uint64_t)((int64_t)wg * i->per_wg + (int64_t)wave * i->per_wave +
					     (int64_t)turn * i->per_turn);
	uint64_t addr[64];

	if (!sg_isa_has_address(&insn))
		return;
	for (int l = 0; l < 64; l++)
		addr[l] = base + (uint64_t)(i->per_row ? l % 16 * i->per_lane + l / 16 * i->per_row
						       : l * i->per_lane);
	if (insn.row->enc == SG_ENC_SMEM)
		sg_trace_scalar(t, base);
	else
		sg_trace_lanes(t, insn.row->enc == SG_ENC_DS ? SG_SPACE_LDS : SG_SPACE_GLOBAL,
			       t->exec_now, addr);
}

static void put_wave(struct sg_wave_trace *t, const struct synth_run *run, uint64_t wg,
		     uint32_t wave)
{
	const struct synth_kernel *k = run->kernel;
	uint32_t lanes = run->lanes ? run->lanes(wg) : run->first_wave_lanes, turn = 0, back = 0;

	sg_trace_init(t);
	sg_trace_start(t, k->code, lanes && lanes < 64 ? (1ull << lanes) - 1 : ~0ull);
	for (uint32_t n = k->loop_from; n <= k->loop_to; n++)
		back += k->insts[n].dwords;
	for (uint32_t n = 0; n < k->n_insts; n++) {
		bool jumps = k->turns && n == k->loop_to && turn + 1 < k->turns;

		put_memory(t, &k->insts[n], wg, wave, turn);
		sg_trace_step(t, jumps ? -(int64_t)back : 0, t->exec_now);
		if (jumps) {
			turn++;
			n = k->loop_from - 1;
		}
	}
	sg_trace_end(t);
}

static struct sg_wg_traces *next(void *ctx, uint64_t wg)
{
	struct synth_run *run = ctx;
	struct sg_wg_traces *t = malloc(sizeof(*t));

	t->n_waves = run->d.waves_per_wg;
	t->waves = malloc(t->n_waves * sizeof(*t->waves));
	for (uint32_t w = 0; w < t->n_waves; w++)
		put_wave(&t->waves[w], run, wg, w);
	if (run->cut && wg == run->d.n_wgs / 2)
		t->waves[t->n_waves - 1].memory.size /= 2;
	return t;
}

static void release(void *ctx, uint64_t wg, struct sg_wg_traces *t)
{
	for (uint32_t w = 0; w < t->n_waves; w++)
		sg_trace_free(&t->waves[w]);
	free(t->waves);
	free(t);
	((struct synth_run *)ctx)->n_released++;
}

static const struct sg_mem_block *memory(void *ctx, uint64_t addr)
{
	struct synth_run *run = ctx;
	uint64_t from = run->kernel->host_from;
	bool host = from && addr >= from;

	run->block = (struct sg_mem_block){ .start = host ? from : 0,
					    .size = host || !from ? UINT64_MAX - from : from,
					    .kind = host ? run->kernel->host_kind
							 : (struct sg_memory_kind){ 0 } };
	return &run->block;
}

void synth_prepare(struct synth_run *run, const struct synth_kernel *k, uint64_t n_wgs,
		   uint32_t waves_per_wg)
{
	*run = (struct synth_run){ .kernel = k };
	run->d = (struct sg_model_dispatch){
		.n_wgs = n_wgs,
		.waves_per_wg = waves_per_wg,
		.vgprs = 8,
		.sgprs = 16,
		.next = next,
		.release = release,
		.instruction = instruction,
		.memory = memory,
		.ctx = run,
		.extent = UINT64_MAX,
	};
}

const struct sg_counter_info *synth_first_different(const struct sg_hw *hw,
						    const struct sg_model_result *a,
						    const struct sg_model_result *b, uint32_t *n)
{
	const struct sg_counter_info *first = NULL;

	for (size_t k = 0; k < sg_n_counters; k++) {
		const struct sg_counter_info *c = &sg_counters[k];

		if (c->fidelity != SG_EXACT || !(c->targets & hw->target))
			continue;
		*n += sg_model_sum(b, c->block, c->place) != 0;
		if (!first &&
		    sg_model_sum(a, c->block, c->place) != sg_model_sum(b, c->block, c->place))
			first = c;
	}
	return first;
}

static uint64_t sum_of(const uint64_t *cu, const uint16_t *places, size_t n)
{
	uint64_t sum = 0;

	for (size_t k = 0; k < n; k++)
		sum += cu[places[k]];
	return sum;
}

bool synth_requests_balance(const struct sg_hw *hw, const struct sg_model_result *r)
{
	static const uint16_t reads[] = { SG_C_TCP_TCC_RW_READ_REQ, SG_C_TCP_TCC_CC_READ_REQ,
					  SG_C_TCP_TCC_NC_READ_REQ, SG_C_TCP_TCC_UC_READ_REQ };
	static const uint16_t writes[] = { SG_C_TCP_TCC_RW_WRITE_REQ, SG_C_TCP_TCC_CC_WRITE_REQ,
					   SG_C_TCP_TCC_NC_WRITE_REQ, SG_C_TCP_TCC_UC_WRITE_REQ };
	static const uint16_t rams[] = { SG_C_TCP_TAGRAM0_REQ, SG_C_TCP_TAGRAM1_REQ,
					 SG_C_TCP_TAGRAM2_REQ, SG_C_TCP_TAGRAM3_REQ };
	static const uint16_t all[] = { SG_C_TCP_TCC_READ_REQ, SG_C_TCP_TCC_WRITE_REQ,
					SG_C_TCP_TCC_ATOMIC_WITH_RET_REQ,
					SG_C_TCP_TCC_ATOMIC_WITHOUT_RET_REQ };
	bool wide = hw->l1_line == 128; /* one request for both halves */

	for (uint32_t k = 0; k < r->n_instances[SG_BLOCK_TCP]; k++) {
		const uint64_t *cu = r->values[SG_BLOCK_TCP] + (size_t)k * SG_N_TCP;

		if (sum_of(cu, reads, 4) != cu[SG_C_TCP_TCC_READ_REQ] ||
		    sum_of(cu, writes, 4) != cu[SG_C_TCP_TCC_WRITE_REQ] ||
		    (wide && sum_of(cu, rams, 4) != sum_of(cu, all, 4)))
			return false;
	}
	return SG_SUM(r, TCC, TCC_WRITE) == SG_SUM(r, TCP, TCP_TCC_WRITE_REQ) &&
	       (!wide || SG_SUM(r, TCC, TCC_READ) ==
				 SG_SUM(r, TCP, TCP_TCC_READ_REQ) + SG_SUM(r, SQ, SQC_TC_REQ));
}

/* Both begin alike: from the work-item's number to its offset. simm: lgkmcnt(0). */
#define VCOPY_INDEX(kernarg)                                                                       \
	{ "s_load_dword", 2, .base = (kernarg) + 0x2c },                                           \
		{ "s_load_dword", 2, .base = (kernarg) + 0x18 },                                   \
		{ "s_waitcnt", 1, .simm = 0xc07f }, { "s_and_b32", 2 }, { "s_mul_i32", 1 },        \
		{ "v_add_u32", 1 }, { "v_cmp_gt_i32", 1, .sdst = SG_OPND_VCC_LO },                 \
		{ "s_and_saveexec_b64", 1, .src = { SG_OPND_VCC_LO } }, { "s_cbranch_execz", 1 },  \
		{ "s_load_dwordx2", 2, .base = (kernarg) },                                        \
		{ "s_load_dwordx2", 2, .base = (kernarg) + 8 }, { "v_ashrrev_i32", 1 },            \
		{ "v_lshlrev_b64", 2 },                                                            \
	{                                                                                          \
		"s_waitcnt", 1, .simm = 0xc07f                                                     \
	}

const struct synth_inst synth_vcopy_insts[24] = {
	VCOPY_INDEX(SYNTH_HOST + 0x1000),
	{ "v_mov_b32", 1 },
	{ "v_add_co_u32", 1, .sdst = SG_OPND_VCC_LO },
	{ "v_addc_co_u32", 1, .sdst = SG_OPND_VCC_LO, .src = { [2] = SG_OPND_VCC_LO } },
	{ "global_load_dwordx2", 2, .base = SYNTH_VRAM, .per_wg = 2048, .per_wave = 512,
	  .per_lane = 8 },
	{ "v_mov_b32", 1 },
	{ "v_add_co_u32", 1, .sdst = SG_OPND_VCC_LO },
	{ "v_addc_co_u32", 1, .sdst = SG_OPND_VCC_LO, .src = { [2] = SG_OPND_VCC_LO } },
	{ "s_waitcnt", 1, .simm = 0x0f70 }, /* vmcnt(0) */
	{ "global_store_dwordx2", 2, .base = SYNTH_VRAM + (8ull << 20), .per_wg = 2048,
	  .per_wave = 512, .per_lane = 8 },
	{ "s_endpgm", 1 },
};

struct synth_kernel synth_vcopy(void)
{
	return (struct synth_kernel){ .insts = synth_vcopy_insts,
				      .n_insts = 24,
				      .loop_from = 1,
				      .code = SYNTH_CODE,
				      .host_from = SYNTH_HOST,
				      .host_kind = { SG_MTYPE_UC, SG_ROUTE_IO, 1 } };
}

/* The code for gfx942: addresses in one instruction. */
static const struct synth_inst vcopy_mi300_insts[] = {
	VCOPY_INDEX(SYNTH_HOST),
	{ "v_lshl_add_u64", 2 },
	{ "global_load_dwordx2", 2, .base = SYNTH_VRAM, .per_wg = 2048, .per_wave = 512,
	  .per_lane = 8 },
	{ "v_lshl_add_u64", 2 },
	{ "s_waitcnt", 1, .simm = 0x0f70 }, /* vmcnt(0) */
	{ "global_store_dwordx2", 2, .base = SYNTH_VRAM + (8ull << 20), .per_wg = 2048,
	  .per_wave = 512, .per_lane = 8 },
	{ "s_endpgm", 1 },
};

struct synth_kernel synth_vcopy_mi300(bool own_arguments)
{
	return (struct synth_kernel){
		.insts = vcopy_mi300_insts,
		.n_insts = sizeof(vcopy_mi300_insts) / sizeof(vcopy_mi300_insts[0]),
		.loop_from = 1,
		.code = SYNTH_CODE,
		.host_from = SYNTH_HOST,
		.host_kind = own_arguments ? (struct sg_memory_kind){ SG_MTYPE_RW, SG_ROUTE_OWN, 0 }
					   : (struct sg_memory_kind){ SG_MTYPE_UC, SG_ROUTE_IO, 1 }
	};
}
