/* What facts.c and facts_gpu.c share: the META records of a capture by type. */
#ifndef WS_TRACE_FACTS_PRIV_H
#define WS_TRACE_FACTS_PRIV_H

#include "trace/trace_priv.h"

WS_VEC_TYPE(ws_rec_list, const struct ws_rec *);

struct ws_facts {
	struct ws_capture *capture;
	const struct ws_trace_opts *opts;
	struct ws_rec_list by_type[WS_REC_TYPE_MAX + 1];
	size_t hint; /* of the clock */
	struct ws_err *err;
};

#define each_rec(var, facts, NAME, T)                                                              \
	for (size_t i_##var = 0; i_##var < (facts)->by_type[WS_REC_##NAME].n; i_##var++)           \
		for (const struct T *var =                                                         \
			     (const struct T *)(facts)->by_type[WS_REC_##NAME].at[i_##var];        \
		     var; var = NULL)

enum ws_status ws_facts_no_memory(struct ws_facts *f);
/* One more than the largest believable id of a type's records. */
size_t ws_facts_length(struct ws_facts *f, enum ws_rec_type type);
uint64_t ws_facts_ns(struct ws_facts *f, uint64_t ticks);

static inline const char *ws_facts_str(struct ws_facts *f, uint32_t id)
{
	return ws_process_string(&f->capture->pub, id);
}

#define make_list(f, list, TYPE)                                                                   \
	((list)->n = ws_facts_length((f), WS_REC_##TYPE),                                          \
	 (list)->at = ws_arena_array(&(f)->capture->arena, (list)->n, sizeof(*(list)->at)),        \
	 (list)->at ? WS_OK : ws_facts_no_memory(f))

/* facts_gpu.c: each makes its part of the process; in this order. */
enum ws_status ws_facts_agents(struct ws_facts *f);
enum ws_status ws_facts_queues(struct ws_facts *f);
enum ws_status ws_facts_streams(struct ws_facts *f);
enum ws_status ws_facts_code_objects(struct ws_facts *f);
enum ws_status ws_facts_kernels(struct ws_facts *f);
enum ws_status ws_facts_host_functions(struct ws_facts *f);
enum ws_status ws_facts_counters(struct ws_facts *f);

#endif
