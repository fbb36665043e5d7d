/*
 * tcc_setup: the L2 of a chip, and before a dispatch.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/mem/ea.h"

static void copy_costs(struct sg_tcc *tcc, const struct sg_hw *hw)
{
	tcc->answer_after = hw->l2_latency + hw->response;
	tcc->response = hw->response;
	tcc->fill = hw->l2_fill;
	tcc->write_age = hw->write_age;
	tcc->clean_ways = hw->l2_clean_ways;
	tcc->write_16ths = hw->l2_write_16ths;
	for (uint32_t lines = 1; lines <= 2; lines++) {
		tcc->read_16ths[lines] =
			lines * 64 < hw->l2_line ? hw->l2_read_16ths / 2 + 4 : hw->l2_read_16ths;
		tcc->reads_as[lines] = hw->l1_line == 128 ? 1 : lines;
	}
}

bool sg_tcc_init(struct sg_tcc *tcc, const struct sg_hw *hw)
{
	uint32_t n_lines = hw->l2_bytes / hw->n_channels / hw->l2_line;

	memset(tcc, 0, sizeof(*tcc));
	tcc->hw = hw;
	tcc->n_sets = n_lines / hw->l2_ways;
	assert(hw->l2_ways == SG_L2_WAYS && tcc->n_sets && !(tcc->n_sets & (tcc->n_sets - 1)));
	tcc->line_shift = (uint32_t)__builtin_ctz(hw->l2_line);
	tcc->n_halves = hw->l2_line / 64;
	tcc->whole_line = (uint8_t)((1u << tcc->n_halves) - 1);
	tcc->channel_bits = (uint32_t)__builtin_ctz(hw->n_channels);
	tcc->channel_mask = hw->n_channels - 1;
	tcc->in_channel = SG_CHUNK / hw->l2_line - 1;
	assert(tcc->n_sets > tcc->in_channel);
	assert(hw->channel_shift == SG_CHANNEL_SHIFT && hw->request <= SG_MAX_WINDOW);
	assert(hw->l2_latency); /* else the last answer need not be the end of sg_channel.busy */
	assert(hw->write_age <= SG_L2_MAX_AGE && hw->l2_clean_ways <= SG_L2_WAYS);
	tcc->half_mask = tcc->n_halves - 1;
	tcc->direct = hw->n_memory <= 1 && !hw->mall_bytes && !hw->port_ps && !hw->read_128;
	/* the others are of one kind; see sg_tcc_serve() */
	assert(tcc->direct ? !hw->l2_hash : hw->read_128 && tcc->n_halves == 2);
	copy_costs(tcc, hw);
	tcc->channels = calloc(sg_hw_n_channels(hw), sizeof(*tcc->channels));
	if (!sg_hbm_init(&tcc->hbm, hw) || !tcc->channels)
		return false;
	for (uint32_t xcc = 0; xcc < hw->n_xcc; xcc++)
		tcc->of_die[xcc] = tcc->channels + (size_t)xcc * hw->n_channels;
	for (uint32_t k = 0; k < sg_hw_n_channels(hw); k++) {
		struct sg_channel *ch = &tcc->channels[k];

		ch->index = k;
		ch->taken = sg_hbm_taken(&tcc->hbm, k);
		ch->rest = calloc(n_lines, sizeof(*ch->rest));
		ch->sets = aligned_alloc(64, tcc->n_sets * sizeof(*ch->sets));
		ch->filled = calloc(n_lines, sizeof(*ch->filled));
		if (!ch->rest || !ch->sets || !ch->filled)
			return false;
		memset(ch->sets, 0, tcc->n_sets * sizeof(*ch->sets));
	}
	return true;
}

void sg_tcc_free(struct sg_tcc *tcc)
{
	for (uint32_t k = 0; tcc->channels && k < sg_hw_n_channels(tcc->hw); k++) {
		struct sg_channel *ch = &tcc->channels[k];

		free(ch->rest);
		free(ch->filled);
		free(ch->sets);
		free(ch->inbox);
	}
	sg_hbm_free(&tcc->hbm);
	free(tcc->spreads);
	free(tcc->channels);
	tcc->channels = NULL;
}

void sg_tcc_begin(struct sg_tcc *tcc, uint32_t mhz, uint64_t *counters, uint32_t n_counters)
{
	const struct sg_hw *hw = tcc->hw;

	sg_ea_begin(tcc, mhz);
	tcc->lost = tcc->is_mixed = false;
	tcc->n_spreads = 0;
	tcc->last_answer = tcc->n_unawaited = tcc->last_unawaited = 0;
	for (uint32_t k = 0; k < sg_hw_n_channels(hw); k++) {
		struct sg_channel *ch = &tcc->channels[k];

		for (uint32_t n = 0; ch->touched && n < tcc->n_sets; n++)
			if (ch->sets[n].clock || ch->sets[n].group)
				ch->sets[n] = (struct sg_l2_set){ 0 };
		ch->touched = false;
		ch->tag_free = 0;
		ch->n_inbox = 0;
		ch->busy = ch->ib_stall = ch->read_stall = ch->write_stall = (struct sg_busy){ 0 };
		ch->io_read = ch->gmi_read = ch->gmi_write = (struct sg_link_stall){ 0 };
		memset(ch->plain_reads, 0, sizeof(ch->plain_reads));
		memset(ch->plain_writes, 0, sizeof(ch->plain_writes));
		ch->own_reads[0] = ch->own_reads[1] = ch->own_writes = 0;
		ch->c = counters + (size_t)k * n_counters;
	}
}

bool sg_tcc_grow(struct sg_tcc *tcc, struct sg_channel *ch)
{
	uint32_t room = ch->inbox_room ? 2 * ch->inbox_room : 256;
	struct sg_queued *inbox = aligned_alloc(64, room * sizeof(*inbox));

	if (!inbox) {
		tcc->lost = true;
		return false;
	}
	if (ch->n_inbox)
		memcpy(inbox, ch->inbox, ch->n_inbox * sizeof(*inbox));
	free(ch->inbox);
	ch->inbox = inbox;
	ch->inbox_room = room;
	return true;
}
