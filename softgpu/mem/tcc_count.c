/*
 * tcc_count: the counters of L2 channels that follow from the number of requests of each sort.
 */
#include "softgpu/counters/catalogue.h"
#include "softgpu/mem/ea.h"

#define C(name) ch->c[SG_C_##name]

static const uint16_t by_type[] = {
	[SG_MTYPE_RW] = SG_C_TCC_RW_REQ,
	[SG_MTYPE_CC] = SG_C_TCC_CC_REQ,
	[SG_MTYPE_NC] = SG_C_TCC_NC_REQ,
	[SG_MTYPE_UC] = SG_C_TCC_UC_REQ,
};

/* Halves of 32 bytes that have some of these. */
static uint32_t sectors(uint64_t bytes)
{
	return ((uint32_t)bytes != 0) + (bytes >> 32 != 0);
}

void sg_tcc_count(const struct sg_tcc *tcc, struct sg_channel *ch, const struct sg_request *r,
		  bool hit, uint64_t n)
{
	C(TCC_REQ) += n;
	if (hit)
		C(TCC_HIT) += n;
	else
		C(TCC_MISS) += n;
	if (r->slc)
		C(TCC_STREAMING_REQ) += n;
	if (r->kind == SG_REQ_SCALAR && tcc->hw->scalar_cached) /* recorded */
		C(TCC_NC_REQ) += n;
	else
		ch->c[by_type[r->memory.mtype]] += n;
	if (r->kind == SG_REQ_WRITE) {
		C(TCC_WRITE) += n;
		C(TCC_WRITE_SECTORS) += n * sectors(r->bytes);
	} else if (r->kind == SG_REQ_ATOMIC) {
		C(TCC_ATOMIC) += n;
		C(TCC_ATOMIC_SECTORS) += n * sectors(r->bytes);
	} else {
		C(TCC_READ) += n;
		C(TCC_READ_SECTORS) += n * 2 * r->lines;
	}
}

static void count_plain(const struct sg_tcc *tcc, struct sg_channel *ch)
{
	struct sg_request read = { .kind = SG_REQ_READ },
			  write = { .kind = SG_REQ_WRITE, .bytes = ~0ull };

	for (uint32_t hit = 0; hit < 2; hit++) {
		for (read.lines = 1; read.lines <= 2; read.lines++)
			sg_tcc_count(tcc, ch, &read, hit, ch->plain_reads[read.lines][hit]);
		sg_tcc_count(tcc, ch, &write, hit, ch->plain_writes[hit]);
	}
}

void sg_tcc_finish(struct sg_tcc *tcc)
{
	for (uint32_t k = 0; k < sg_hw_n_channels(tcc->hw); k++)
		if (tcc->channels[k].touched) {
			count_plain(tcc, &tcc->channels[k]);
			sg_ea_count(tcc, &tcc->channels[k]);
		}
}
