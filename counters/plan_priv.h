/* plan: what naming (plan.c), packing (pack.c) and printing (plan_print.c) share. */
#ifndef WS_COUNTERS_PLAN_PRIV_H
#define WS_COUNTERS_PLAN_PRIV_H

#include "counters/counters_priv.h"
#include "counters/plan.h"

/* A hardware counter that is wanted, and the places of its block that takes. */
struct cnt_unit {
	const struct cnt_counter_def *counter;
	unsigned block; /* number in the catalogue */
	unsigned size;  /* 2 with its accumulation */
	bool each;      /* instances are wanted, not only their sum */
	bool accumulated;
};

/* Units that should be counted in the same run. */
struct cnt_unit_set {
	const uint32_t *units;
	size_t n;
};

struct cnt_pack {
	const struct cnt_unit *units;
	size_t n_units;
	const struct cnt_unit_set *sets;
	size_t n_sets;
	const struct cnt_catalogue *cat;
	/* results, in the arena */
	size_t n_passes;
	bool *in; /* [pass * n_units + unit] */
};

/* The fewest passes that the limits allow; SIZE_MAX: a block that can never count an accumulation.
 */
size_t cnt_pack_bound(const struct cnt_pack *pack, const struct cnt_counter_block **out_tightest);
enum ws_status cnt_pack_run(struct cnt_pack *pack, struct ws_arena *arena, struct ws_err *err);

/* How a request differs from the counter it is of. */
enum cnt_plan_turn {
	CNT_TURN_AS_IS,
	CNT_TURN_SUMMED,
	CNT_TURN_ACCUMULATED, /* at high resolution */
	CNT_TURN_LOW_RES,
	CNT_N_TURNS
};

struct cnt_request_ {
	struct cnt_plan_request pub;
	const struct cnt_expr *expr; /* NULL: constant */
	size_t index;                /* NAME[n]; SIZE_MAX: all */
	const uint32_t *need_reads;  /* per need of the expression */
	const uint32_t *units;       /* per need, while planning */
	size_t n_needs;
};

struct cnt_plan_ {
	struct cnt_plan pub;
	struct ws_arena arena;
	struct cnt_request_ *requests;
	struct cnt_expr **exprs[CNT_N_TURNS]; /* by counter id */
	struct cnt_plan_pass *passes;
	struct cnt_plan_read *reads;
	size_t cap_reads, cap_passes;
};

/* Fills the requests of @plan. */
enum ws_status cnt_plan_collect_(struct cnt_plan_ *plan, const struct cnt_plan_group *groups,
				 size_t n_groups, unsigned mode, struct ws_err *err);

#endif
