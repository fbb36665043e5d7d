/* plan: what naming (plan.c), packing (pack.c) and printing (plan_print.c) share. */
#ifndef WS_COUNTERS_PLAN_PRIV_H
#define WS_COUNTERS_PLAN_PRIV_H

#include "counters/counters_priv.h"
#include "counters/plan.h"

/* A hardware counter that is wanted, and the places of its block that takes. */
struct ws_unit {
	const struct ws_counter_def *counter;
	unsigned block; /* number in the catalogue */
	unsigned size;  /* 2 with its accumulation */
	bool each;      /* instances are wanted, not only their sum */
	bool accumulated;
};

/* Units that should be counted in the same run. */
struct ws_unit_set {
	const uint32_t *units;
	size_t n;
};

struct ws_pack {
	const struct ws_unit *units;
	size_t n_units;
	const struct ws_unit_set *sets;
	size_t n_sets;
	const struct ws_catalogue *cat;
	/* results, in the arena */
	size_t n_passes;
	bool *in; /* [pass * n_units + unit] */
};

/* The fewest passes that the limits allow; SIZE_MAX: a block that can never count an accumulation.
 */
size_t ws_pack_bound(const struct ws_pack *pack, const struct ws_counter_block **out_tightest);
enum ws_status ws_pack_run(struct ws_pack *pack, struct ws_arena *arena, struct ws_err *err);

/* How a request differs from the counter it is of. */
enum ws_plan_turn {
	WS_TURN_AS_IS,
	WS_TURN_SUMMED,
	WS_TURN_ACCUMULATED, /* at high resolution */
	WS_TURN_LOW_RES,
	WS_N_TURNS
};

struct ws_request_ {
	struct ws_plan_request pub;
	const struct ws_expr *expr; /* NULL: constant */
	size_t index;               /* NAME[n]; SIZE_MAX: all */
	const uint32_t *need_reads; /* per need of the expression */
	const uint32_t *units;      /* per need, while planning */
	size_t n_needs;
};

struct ws_plan_ {
	struct ws_plan pub;
	struct ws_arena arena;
	struct ws_request_ *requests;
	struct ws_expr **exprs[WS_N_TURNS]; /* by counter id */
	struct ws_plan_pass *passes;
	struct ws_plan_read *reads;
	size_t cap_reads, cap_passes;
};

/* Fills the requests of @plan. */
enum ws_status ws_plan_collect_(struct ws_plan_ *plan, const struct ws_plan_group *groups,
				size_t n_groups, unsigned mode, struct ws_err *err);

#endif
