/* tcc_priv: what the parts of tcc share. */
#ifndef WS_SOFTGPU_MEM_TCC_PRIV_H
#define WS_SOFTGPU_MEM_TCC_PRIV_H

#include "softgpu/mem/tcc.h"

/*
 * Puts what arrives within the window into lists by time, the last one first: so requests of one time keep the order
 * they came in, which is by sender. `times` has a bit for each list. Returns how many arrive later.
 */
uint32_t sg_tcc_sort_inbox(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t from,
			   uint32_t window, uint64_t times[SG_MAX_WINDOW / 64]);
/* Those that arrive later stay in the inbox. */
void sg_tcc_keep_later(struct sg_channel *ch, uint64_t from, uint32_t window);

#endif
