/* What facts.c and facts_gpu.c share: the META records of a capture by type. */
#ifndef WS_TRACE_FACTS_PRIV_H
#define WS_TRACE_FACTS_PRIV_H

#include "trace/trace_priv.h"

WS_VEC_TYPE(trc_rec_list, const struct cap_rec *);

struct trc_facts {
	struct trc_capture *capture;
	const struct trc_opts *opts;
	struct trc_rec_list by_type[CAP_REC_TYPE_MAX + 1];
	size_t hint; /* of the clock */
	struct ws_err *err;
};

#define each_rec(var, facts, NAME, T)                                                              \
	for (size_t i_##var = 0; i_##var < (facts)->by_type[CAP_REC_##NAME].n; i_##var++)          \
		for (const struct T *var =                                                         \
			     (const struct T *)(facts)->by_type[CAP_REC_##NAME].at[i_##var];       \
		     var; var = NULL)

enum ws_status trc_facts_no_memory(struct trc_facts *f);
/* One more than the largest believable id of a type's records. */
size_t trc_facts_length(struct trc_facts *f, enum cap_rec_type type);
uint64_t trc_facts_ns(struct trc_facts *f, uint64_t ticks);

static inline const char *trc_facts_str(struct trc_facts *f, uint32_t id)
{
	return trc_process_string(&f->capture->pub, id);
}

#define make_list(f, list, TYPE)                                                                   \
	((list)->n = trc_facts_length((f), CAP_REC_##TYPE),                                        \
	 (list)->at = ws_arena_array(&(f)->capture->arena, (list)->n, sizeof(*(list)->at)),        \
	 (list)->at ? WS_OK : trc_facts_no_memory(f))

/* facts_gpu.c: each makes its part of the process; in this order. */
enum ws_status trc_facts_agents(struct trc_facts *f);
enum ws_status trc_facts_queues(struct trc_facts *f);
enum ws_status trc_facts_streams(struct trc_facts *f);
enum ws_status trc_facts_code_objects(struct trc_facts *f);
enum ws_status trc_facts_kernels(struct trc_facts *f);
enum ws_status trc_facts_host_functions(struct trc_facts *f);
enum ws_status trc_facts_counters(struct trc_facts *f);

/* facts_host.c */
enum ws_status trc_facts_samplers(struct trc_facts *f);
enum ws_status trc_facts_metrics(struct trc_facts *f);
enum ws_status trc_facts_regions(struct trc_facts *f);
enum ws_status trc_facts_usage(struct trc_facts *f); /* after the threads */

#endif
