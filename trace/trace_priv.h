/* What the files of trace/ share. */
#ifndef WS_TRACE_TRACE_PRIV_H
#define WS_TRACE_TRACE_PRIV_H

#include "trace/trace.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

/* Ticks to CLOCK_BOOTTIME, piecewise linear between the recorded pairs. */
struct ws_clock_seg {
	uint64_t ticks, ns;
	double ns_per_tick; /* up to the next pair; after the last: over all pairs */
};

struct ws_clock_map {
	bool is_ns; /* ticks are nanoseconds already */
	struct ws_clock_seg *segs;
	size_t n;
	double ns_per_tick; /* over all */
};

enum ws_status ws_clock_map_init(struct ws_clock_map *map, struct ws_rec_clock *pairs, size_t n,
				 bool is_ns, struct ws_err *err);
void ws_clock_map_fini(struct ws_clock_map *map);
/* *@hint is any number; callers that go forward in time keep it, and find their place at once. */
uint64_t ws_clock_ns(const struct ws_clock_map *map, uint64_t ticks, size_t *hint);

/* A capture, and the process made from it. The public half comes first. */
struct ws_capture {
	struct ws_process pub;
	struct ws_reader *reader;
	struct ws_arena arena;
	struct ws_clock_map clock;
	const char **strings; /* by id */
	size_t n_strings;
	const struct ws_recount *recount; /* NULL: counters as recorded */
	struct ws_map agents;                    /* id -> struct ws_agent * */
	struct ws_map externals;                 /* id -> text */
	struct ws_map enums;                     /* type_str << 32 ^ value -> text */
	WS_LIST(struct ws_thread) named_threads; /* as THREAD records have them */
	struct ws_map launches;                  /* launches.c */
};

struct ws_trace {
	struct ws_capture **captures;
	size_t n;
	struct ws_trace_opts opts;
};

/* A time of this capture's machine on the clock of the trace. */
static inline uint64_t ws_capture_shift(const struct ws_capture *capture, uint64_t ns)
{
	int64_t shift = capture->pub.clock_shift_ns;

	return shift < 0 && ns < (uint64_t)-shift ? 0 : ns + (uint64_t)shift;
}

static inline const struct ws_capture *ws_capture_of(const struct ws_process *process)
{
	return (const struct ws_capture *)process;
}

/* facts.c: takes the META chunks in. survey.c: one reading of all events: counts, threads, ends. */
enum ws_status ws_capture_read_facts(struct ws_capture *capture, const struct ws_trace_opts *opts,
				     struct ws_err *err);
enum ws_status ws_capture_survey(struct ws_capture *capture, struct ws_err *err);

/*
 * launches.c: dispatches by order of submission. Add all, count, then ask for the rank of any, from 1.
 * *@hint is NULL at first; it makes what comes one after the other cheap.
 */
struct ws_launch_block;
void ws_launches_init(struct ws_map *launches);
enum ws_status ws_launches_add(struct ws_map *launches, struct ws_arena *arena, uint64_t order,
			       struct ws_launch_block **hint, struct ws_err *err);
enum ws_status ws_launches_count(struct ws_map *launches, struct ws_err *err);
uint64_t ws_launches_rank(const struct ws_map *launches, uint64_t order,
			  struct ws_launch_block **hint);

/* Where an event lies in time; false for records that are no events. */
bool ws_rec_times(const struct ws_capture *capture, const struct ws_rec *rec, size_t *hint,
		  uint64_t *out_start, uint64_t *out_end);
/* The domain that a record counts for; WS_DOMAIN_COUNT: none (an unknown operation). */
enum ws_domain ws_rec_domain(const struct ws_capture *capture, const struct ws_rec *rec);
/* Record types that may hold events of these domains, as a chunk's `types` has them. */
uint64_t ws_domain_types(uint32_t domains);

/* A dispatch with counter values answers both questions it can be an answer to. */
static inline bool ws_query_wants(const struct ws_event_query *query, enum ws_domain domain,
				  const struct ws_rec *rec)
{
	if (query->domains >> domain & 1)
		return true;
	return domain == WS_DOMAIN_KERNEL_DISPATCH &&
	       (query->domains & WS_DOMAIN_BIT(COUNTER_COLLECTION)) &&
	       ((const struct ws_rec_dispatch *)rec)->n_values;
}

static inline bool ws_chunk_wanted(const struct ws_chunk_info *chunk, uint64_t types)
{
	return chunk->kind == WS_CHUNK_EVENT && (!chunk->types || (chunk->types & types));
}

/* List lookup with the placeholder for what is not there. */
#define ws_list_at(list, id) (&(list).at[(id) < (list).n ? (id) : 0])

/* order.c: the records of a query by their start. */
struct ws_order;
enum ws_status ws_order_open(const struct ws_trace *trace, const struct ws_event_query *query,
			     struct ws_order **out_order, struct ws_err *err);
/* NULL at the end, or after a failure, which *@out_st then tells. */
const struct ws_rec *ws_order_next(struct ws_order *order, const struct ws_capture **out_capture,
				   uint32_t *out_tid, enum ws_status *out_st, struct ws_err *err);
void ws_order_close(struct ws_order *order);

#endif
