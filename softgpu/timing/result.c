/*
 * result: computes the counter values at the end of a dispatch.
 */
#include <stdlib.h>
#include <string.h>

#include "softgpu/mem/ea.h"
#include "softgpu/timing/model_priv.h"

uint32_t sg_hw_instances(const struct sg_hw *hw, enum sg_block block)
{
	switch (sg_blocks[block].per) {
	case SG_PER_SE:
		return sg_hw_n_engines(hw);
	case SG_PER_CU:
		return sg_hw_n_engines(hw) * hw->cus_per_se;
	case SG_PER_CHANNEL:
		return sg_hw_n_channels(hw);
	case SG_PER_ARBITER:
		return SG_DIE_ARBITERS * hw->n_xcc;
	default:
		return hw->n_xcc;
	}
}

bool sg_result_init(struct sg_model *m, struct sg_model_result *r)
{
	*r = (struct sg_model_result){ 0 };
	for (unsigned b = 0; b < SG_N_BLOCKS; b++) {
		r->n_instances[b] = sg_hw_instances(m->hw, b);
		r->values[b] = calloc((size_t)r->n_instances[b] * sg_blocks[b].n, sizeof(uint64_t));
		if (!r->values[b])
			return false;
	}
	r->accumulated = calloc((size_t)sg_hw_n_engines(m->hw) * SG_N_SQ, sizeof(uint64_t));
	return r->accumulated != NULL;
}

void sg_model_result_free(struct sg_model_result *r)
{
	for (unsigned b = 0; b < SG_N_BLOCKS; b++)
		free(r->values[b]);
	free(r->accumulated);
	*r = (struct sg_model_result){ 0 };
}

static size_t n_values(const struct sg_model_result *r, enum sg_block block)
{
	return (size_t)r->n_instances[block] * sg_blocks[block].n;
}

size_t sg_model_result_bytes(const struct sg_model_result *r)
{
	size_t n = (size_t)r->n_instances[SG_BLOCK_SQ] * SG_N_SQ;

	for (unsigned b = 0; b < SG_N_BLOCKS; b++)
		n += n_values(r, b);
	return n * sizeof(uint64_t);
}

bool sg_model_result_copy(struct sg_model_result *out, const struct sg_model_result *from)
{
	size_t n = (size_t)from->n_instances[SG_BLOCK_SQ] * SG_N_SQ;
	bool whole = true;

	*out = *from;
	for (unsigned b = 0; b < SG_N_BLOCKS; b++) {
		out->values[b] = calloc(n_values(from, b), sizeof(uint64_t));
		whole &= out->values[b] != NULL;
		if (out->values[b])
			memcpy(out->values[b], from->values[b],
			       n_values(from, b) * sizeof(uint64_t));
	}
	out->accumulated = calloc(n, sizeof(uint64_t));
	if (out->accumulated)
		memcpy(out->accumulated, from->accumulated, n * sizeof(uint64_t));
	if (whole && out->accumulated)
		return true;
	sg_model_result_free(out);
	return false;
}

uint64_t sg_model_sum(const struct sg_model_result *r, enum sg_block block, uint32_t place)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < r->n_instances[block]; k++)
		sum += r->values[block][(size_t)k * sg_blocks[block].n + place];
	return sum;
}

uint64_t sg_model_accumulated(const struct sg_model_result *r, uint32_t place)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < r->n_instances[SG_BLOCK_SQ]; k++)
		sum += r->accumulated[(size_t)k * SG_N_SQ + place];
	return sum;
}

/* ---- time ---- */

#define SQ(name) sq[SG_C_##name]

static void finish_engines(struct sg_model *m, uint64_t grbm)
{
	for (uint32_t se = 0; se < sg_hw_n_engines(m->hw); se++) {
		uint64_t *sq = m->r->values[SG_BLOCK_SQ] + (size_t)se * SG_N_SQ;
		uint64_t *level = m->r->accumulated + (size_t)se * SG_N_SQ;
		uint64_t *spi = m->r->values[SG_BLOCK_SPI] + (size_t)se * SG_N_SPI;

		SQ(SQ_CYCLES) = grbm;
		SQ(SQ_BUSY_CYCLES) = m->spi.se_busy[se].cycles;
		SQ(SQ_INSTS_FLAT_NO_LDS) += SQ(SQ_INSTS_FLAT);
		SQ(SQ_INSTS_LDS_LOAD_BANDWIDTH) /= 64;
		SQ(SQ_INSTS_LDS_STORE_BANDWIDTH) /= 64;
		SQ(SQ_INSTS_LDS_ATOMIC_BANDWIDTH) /= 64;
		spi[SG_C_SPI_CSN_WINDOW_VALID] = grbm;
		/*
		 * R, both chips: NO_ALLOC_CSN = NO_ALLOC - RES_STALL_CSN + CSN_WAVE. So NO_ALLOC_CSN is the checks
		 * at which a request could be met, and NO_ALLOC those at which none was.
		 */
		spi[SG_C_SPI_RA_REQ_NO_ALLOC_CSN] =
			spi[SG_C_SPI_CSN_WAVE] * m->hw->wave_request[m->d->cold] / 4;
		spi[SG_C_SPI_RA_REQ_NO_ALLOC] = spi[SG_C_SPI_RA_RES_STALL_CSN] +
						spi[SG_C_SPI_RA_REQ_NO_ALLOC_CSN] -
						spi[SG_C_SPI_CSN_WAVE];
		spi[SG_C_SPI_CSN_BUSY] =
			m->spi.se_busy[se].cycles + 1000; /* R: 1016 to 1177 per engine */
		spi[SG_C_SPI_CS0_WINDOW_VALID] = grbm;
		spi[SG_C_SPI_CS0_BUSY] = spi[SG_C_SPI_CSN_BUSY];
		spi[SG_C_SPI_CS0_NUM_THREADGROUPS] = spi[SG_C_SPI_CSN_NUM_THREADGROUPS];
		spi[SG_C_SPI_CS0_WAVE] = spi[SG_C_SPI_CSN_WAVE];
		spi[SG_C_SPI_CSC_WAVE_CNT_BUSY] = SQ(SQ_BUSY_CYCLES);
		spi[SG_C_SPI_CSQ_P0_OCCUPANCY] = level[SG_C_SQ_LEVEL_WAVES];
		spi[SG_C_SPI_VWC0_VDATA_VALID_WR] = spi[SG_C_SPI_VWC1_VDATA_VALID_WR] =
			2 * spi[SG_C_SPI_CSN_WAVE];
		/* a level counter looks at one CU slot at a time; the waves are gone at its end */
		for (uint32_t k = 0; k < SG_N_SQ; k++)
			if (level[k])
				sq[k] = level[k] / m->hw->level_slots;
		SQ(SQ_LEVEL_WAVES) = 0;
	}
}

static void finish_cus(struct sg_model *m)
{
	for (uint32_t k = 0; k < m->n_cus; k++) {
		struct sg_cu *cu = &m->cus[k];
		struct sg_vmem_counts *own = &cu->tcp.own;

		sg_tcp_finish(own);
		cu->own.level[SG_C_SQ_INST_LEVEL_VMEM] += own->in_flight;
		cu->own.sq[SG_C_SQ_BUSY_CU_CYCLES] += cu->busy.cycles;
		cu->own.sq[SG_C_SQ_LDS_CMD_FIFO_FULL] += cu->lds_full.cycles;
		cu->own.sq[SG_C_SQ_LDS_DATA_FIFO_FULL] += cu->lds_full.cycles;
		own->tcp[SG_C_TCP_TOTAL_WBINVL1_VOL] = own->tcp[SG_C_TCP_SQ_TCP_INVALIDATE_VOL];
		if (!cu->missing) {
			own->tcp[SG_C_TCP_TOTAL_WRITEBACK_INVALIDATES] += m->hw->l1_invalidates;
			own->tcp[SG_C_TCP_CP_TCP_INVALIDATE_VOL] = m->hw->l1_invalidates;
		}
		own->tcp[SG_C_TCP_UTCL1_STALL_LFIFO_NO_RES] =
			own->tcp[SG_C_TCP_UTCL1_STALL_LFIFO_NOT_RES];
		own->tcp[SG_C_TCP_CACHE_MISS] = own->tcp[SG_C_TCP_TCC_READ_REQ];
		/* R: of a store, the same time whatever the clock is */
		own->ta[SG_C_TA_DATA_STALLED_BY_TC_CYCLES] =
			own->n_written * m->hw->tcw_ps * m->mhz / 1000000;
		own->tcp[SG_C_TCP_TCP_TA_ADDR_STALL_CYCLES] =
			own->ta[SG_C_TA_ADDR_STALLED_BY_TC_CYCLES];
		own->tcp[SG_C_TCP_TCP_TA_DATA_STALL_CYCLES] =
			own->ta[SG_C_TA_DATA_STALLED_BY_TC_CYCLES];
		own->tcp[SG_C_TCP_UTCL1_TRANSLATION_MISS_UNDER_MISS] =
			own->tcp[SG_C_TCP_UTCL1_REQUEST] -
			own->tcp[SG_C_TCP_UTCL1_TRANSLATION_HIT] -
			own->tcp[SG_C_TCP_UTCL1_TRANSLATION_MISS];
		own->ta[SG_C_TA_TA_BUSY] = own->ta_busy.cycles;
		own->td[SG_C_TD_TD_BUSY] = own->td_busy.cycles;
		/* R: data take 19 cycles per 512 bytes of the time that the unit has work */
		own->td[SG_C_TD_TC_STALL] =
			own->td_busy.cycles -
			(own->n_returned / 27 < own->td_busy.cycles ? own->n_returned / 27 : 0);
		own->tcp[SG_C_TCP_GATE_EN1] = cu->busy.cycles + (cu->busy.cycles ? 2000 : 0);
		own->tcp[SG_C_TCP_GATE_EN2] = own->td_busy.cycles; /* R: and 1 to 2 % more */
		/* R: 71 to 110 % of the time that the data unit waits for L1 */
		own->tcp[SG_C_TCP_PENDING_STALL_CYCLES] = own->td[SG_C_TD_TC_STALL] * 17 / 20;
		own->tcp[SG_C_TCP_TCR_TCP_STALL_CYCLES] =
			own->n_sent * m->hw->tcr_ps * m->mhz / 1000000;
	}
}

/* Each die has a front end, and all see the same packet. */
static void finish_front_end(struct sg_model *m, uint32_t xcc, uint64_t grbm, uint64_t spi_busy)
{
	const struct sg_hw *hw = m->hw;
	uint64_t *g = m->r->values[SG_BLOCK_GRBM] + (size_t)xcc * SG_N_GRBM;
	uint64_t *c = m->r->values[SG_BLOCK_CPC] + (size_t)xcc * SG_N_CPC;
	uint64_t *f = m->r->values[SG_BLOCK_CPF] + (size_t)xcc * SG_N_CPF;

	g[SG_C_GRBM_COUNT] = g[SG_C_GRBM_GUI_ACTIVE] = grbm;
	g[SG_C_GRBM_CP_BUSY] = g[SG_C_GRBM_CPC_BUSY] = g[SG_C_GRBM_CPF_BUSY] = grbm;
	g[SG_C_GRBM_SPI_BUSY] = spi_busy;
	c[SG_C_CPC_ALWAYS_COUNT] = grbm;
	c[SG_C_CPC_CPC_STAT_BUSY] = f[SG_C_CPF_CPF_STAT_BUSY] = grbm;
	c[SG_C_CPC_CPC_STAT_STALL] = hw->cp_stall;
	c[SG_C_CPC_CPC_TCIU_BUSY] = hw->cpc_tciu;
	c[SG_C_CPC_CPC_TCIU_IDLE] = grbm - hw->cpc_tciu;
	c[SG_C_CPC_CPC_UTCL2IU_BUSY] = hw->cpc_utcl2[m->d->cold];
	c[SG_C_CPC_CPC_UTCL2IU_IDLE] = grbm - hw->cpc_utcl2[m->d->cold];
	c[SG_C_CPC_ME1_BUSY_FOR_PACKET_DECODE] = hw->cp_decode;
	c[SG_C_CPC_ME1_DC0_SPI_BUSY] = c[SG_C_CPC_GD_BUSY] = m->spi.last - m->spi.first;
	c[SG_C_CPC_CANE_BUSY] = hw->cpc_cane;
	c[SG_C_CPC_SYNC_WRREQ_FIFO_BUSY] = hw->cpc_sync;
	c[SG_C_CPC_TG_SEND] = m->d->n_wgs / hw->n_xcc + (xcc < m->d->n_wgs % hw->n_xcc);
	c[SG_C_CPC_UTCL1_STALL_ON_TRANSLATION] = hw->cp_utcl1_stall[m->d->cold];
	f[SG_C_CPF_CMP_UTCL1_STALL_ON_TRANSLATION] = f[SG_C_CPF_CPF_STAT_STALL] =
		hw->cpf_stall[m->d->cold];
	f[SG_C_CPF_CPF_TCIU_BUSY] = hw->cpf_tciu;
	f[SG_C_CPF_CPF_TCIU_IDLE] = grbm - hw->cpf_tciu;
}

/*
 * The clock of the dispatch, in kHz. In the model vector and matrix units issue at their documented rate.
 * Measured peaks are lower because the clock drops when many of the units are busy.
 */
static uint64_t clock_khz(const struct sg_model *m)
{
	const struct sg_hw *hw = m->hw;
	uint64_t available = m->r->cycles * m->n_cus * 4;
	uint64_t used = SG_QUAD * sg_model_sum(m->r, SG_BLOCK_SQ, SG_C_SQ_ACTIVE_INST_VALU) +
			sg_model_sum(m->r, SG_BLOCK_SQ, SG_C_SQ_VALU_MFMA_BUSY_CYCLES);
	double share = available ? (double)used / (double)available : 0;

	if (m->mhz <= hw->busy_mhz)
		return m->mhz * 1000ull;
	share = share < 1 ? share : 1; /* matrix and vector instructions can overlap */
	return m->mhz * 1000ull - (uint64_t)((m->mhz - hw->busy_mhz) * 1000 * share);
}

void sg_result_finish(struct sg_model *m, uint64_t end)
{
	uint64_t spi_busy = end - m->spi.first + (uint64_t)m->hw->release_ns * m->mhz / 1000;
	uint64_t grbm = spi_busy + m->hw->cp_overhead, khz;
	uint64_t *tcc = m->r->values[SG_BLOCK_TCC];

	sg_lockstep_finish(m);
	sg_joint_finish(m);
	sg_insn_counts(m);
	sg_tcc_finish(&m->tcc);
	finish_cus(m);
	finish_engines(m, grbm);
	for (uint32_t xcc = 0; xcc < m->hw->n_xcc; xcc++)
		finish_front_end(m, xcc, grbm, spi_busy);
	for (uint32_t k = 0; k < sg_hw_instances(m->hw, SG_BLOCK_TCA); k++)
		m->r->values[SG_BLOCK_TCA][(size_t)k * SG_N_TCA + SG_C_TCA_CYCLE] = grbm;
	for (uint32_t k = 0; k < sg_hw_n_channels(m->hw); k++) {
		const struct sg_channel *ch = &m->tcc.channels[k];
		uint64_t *c = tcc + (size_t)k * SG_N_TCC;

		c[SG_C_TCC_CYCLE] = grbm;
		c[SG_C_TCC_IB_REQ] = c[SG_C_TCC_REQ];
		c[SG_C_TCC_EA_WRREQ_WRITE_ATOMIC_32B] = c[SG_C_TCC_EA_WRREQ_ATOMIC_DRAM_32B];
		c[SG_C_TCC_BUSY] = ch->busy.cycles + m->hw->cp_l2_busy;
		c[SG_C_TCC_IB_STALL] = ch->ib_stall.cycles;
		c[SG_C_TCC_EA_RDREQ_DRAM_CREDIT_STALL] = ch->read_stall.cycles;
		c[SG_C_TCC_EA_RDREQ_IO_CREDIT_STALL] = sg_ea_stalled(&m->tcc, &ch->io_read);
		c[SG_C_TCC_EA_RDREQ_GMI_CREDIT_STALL] = sg_ea_stalled(&m->tcc, &ch->gmi_read);
		c[SG_C_TCC_EA_WRREQ_DRAM_CREDIT_STALL] = ch->write_stall.cycles;
		c[SG_C_TCC_EA_WRREQ_GMI_CREDIT_STALL] = sg_ea_stalled(&m->tcc, &ch->gmi_write);
		c[SG_C_TCC_EA_WRREQ_STALL] =
			ch->write_stall.cycles + c[SG_C_TCC_EA_WRREQ_GMI_CREDIT_STALL];
	}
	m->r->cycles = end - m->spi.first;
	khz = clock_khz(m);
	m->r->mhz = (uint32_t)((khz + 500) / 1000);
	m->r->duration_ns = (m->r->cycles * 1000000 + khz - 1) / khz;
}
