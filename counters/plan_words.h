/*
 * plan_words: the plan of one GPU from counters as options and input files spell them.
 *
 * A plan is made per GPU: which counters exist, and how many fit together, depends on its
 * architecture. A counter that it does not have stays in the plan, with the reason.
 */
#ifndef WS_COUNTERS_PLAN_WORDS_H
#define WS_COUNTERS_PLAN_WORDS_H

#include "base/vec.h"
#include "counters/plan.h"

struct cnt_plan_words {
	/* "SQ_WAVES GRBM_COUNT:device=0,device=2": blanks and commas separate. NULL begins a group */
	const struct ws_strv *list;
	unsigned mode;           /* CNT_PLAN_POOL or CNT_PLAN_FIXED */
	const char *definitions; /* file of more counters, or NULL */
};

struct cnt_gpu_plan {
	struct cnt_catalogue *cat;
	struct cnt_plan *plan;
};

/* @gpu: its number, as device= spells it. To be finished also after a failure. */
enum ws_status cnt_gpu_plan_init(struct cnt_gpu_plan *out_plan, const struct cnt_plan_words *words,
				 uint32_t gpu, const struct gpu_agent *agent, struct ws_err *err);
void cnt_gpu_plan_fini(struct cnt_gpu_plan *plan);

#endif
