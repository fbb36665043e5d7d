/* What the files of trace/ share. */
#ifndef WS_TRACE_TRACE_PRIV_H
#define WS_TRACE_TRACE_PRIV_H

#include "trace/trace.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

/* Ticks to CLOCK_BOOTTIME, piecewise linear between the recorded pairs. */
struct trc_clock_seg {
	uint64_t ticks, ns;
	double ns_per_tick; /* up to the next pair; after the last: over all pairs */
};

struct trc_clock_map {
	bool is_ns; /* ticks are nanoseconds already */
	struct trc_clock_seg *segs;
	size_t n;
	double ns_per_tick; /* over all */
};

enum ws_status trc_clock_map_init(struct trc_clock_map *map, struct cap_rec_clock *pairs, size_t n,
				  bool is_ns, struct ws_err *err);
void trc_clock_map_fini(struct trc_clock_map *map);
/* *@hint is any number; callers that go forward in time keep it, and find their place at once. */
uint64_t trc_clock_ns(const struct trc_clock_map *map, uint64_t ticks, size_t *hint);

/* A capture, and the process made from it. The public half comes first. */
struct trc_capture {
	struct trc_process pub;
	struct cap_reader *reader;
	struct ws_arena arena;
	struct trc_clock_map clock;
	const char **strings; /* by id */
	size_t n_strings;
	const struct trc_recount *recount;         /* NULL: counters as recorded */
	const struct trc_remetric *remetric;       /* NULL: metrics as recorded */
	struct ws_map agents;                      /* id -> struct trc_agent * */
	struct ws_map externals;                   /* id -> text */
	struct ws_map enums;                       /* type_str << 32 ^ value -> text */
	TRC_LIST(struct trc_thread) named_threads; /* as THREAD records have them */
	struct ws_map launches;                    /* launches.c */
};

/* mark.c: leaves out what was read before. */
void trc_mark_apply(const struct trc_mark *mark, struct cap_reader *reader);

struct trc_trace {
	struct trc_capture **captures;
	size_t n;
	struct trc_opts opts;
};

/* A time of this capture's machine on the clock of the trace. */
static inline uint64_t trc_capture_shift(const struct trc_capture *capture, uint64_t ns)
{
	const struct trc_clock_line *clock = &capture->pub.clock;
	int64_t shift = clock->shift_ns;

	if (__builtin_expect(clock->drift != 0, 0))
		shift = (int64_t)((uint64_t)shift +
				  (uint64_t)(int64_t)(clock->drift *
						      (double)(int64_t)(ns - clock->at_ns)));
	return shift < 0 && ns < -(uint64_t)shift ? 0 : ns + (uint64_t)shift;
}

static inline const struct trc_capture *trc_capture_of(const struct trc_process *process)
{
	return (const struct trc_capture *)process;
}

/* facts.c: takes the META chunks in. survey.c: one reading of all events: counts, threads, ends. */
enum ws_status trc_capture_read_facts(struct trc_capture *capture, const struct trc_opts *opts,
				      struct ws_err *err);
enum ws_status trc_capture_survey(struct trc_capture *capture, struct ws_err *err);

/*
 * launches.c: dispatches by order of submission. Add all, count, then ask for the rank of any, from 1.
 * *@hint is NULL at first; it makes what comes one after the other cheap.
 */
struct trc_launch_block;
void trc_launches_init(struct ws_map *launches);
enum ws_status trc_launches_add(struct ws_map *launches, struct ws_arena *arena, uint64_t order,
				struct trc_launch_block **hint, struct ws_err *err);
enum ws_status trc_launches_count(struct ws_map *launches, struct ws_err *err);
uint64_t trc_launches_rank(const struct ws_map *launches, uint64_t order,
			   struct trc_launch_block **hint);

/* Where an event lies in time; false for records that are no events. */
bool trc_rec_times(const struct trc_capture *capture, const struct cap_rec *rec, size_t *hint,
		   uint64_t *out_start, uint64_t *out_end);
/* The domain that a record counts for; CAP_DOMAIN_COUNT: none (an unknown operation). */
enum cap_domain trc_rec_domain(const struct trc_capture *capture, const struct cap_rec *rec);
/* Record types that may hold events of these domains, as a chunk's `types` has them. */
uint64_t trc_domain_types(uint32_t domains);

/* A dispatch with counter values answers both questions it can be an answer to. */
static inline bool trc_query_wants(const struct trc_event_query *query, enum cap_domain domain,
				   const struct cap_rec *rec)
{
	if (query->domains >> domain & 1)
		return true;
	return domain == CAP_DOMAIN_KERNEL_DISPATCH &&
	       (query->domains & TRC_DOMAIN_BIT(COUNTER_COLLECTION)) &&
	       ((const struct cap_rec_dispatch *)rec)->n_values;
}

static inline bool trc_chunk_wanted(const struct cap_chunk_info *chunk, uint64_t types)
{
	return chunk->kind == CAP_CHUNK_EVENT && (!chunk->types || (chunk->types & types));
}

/* List lookup with the placeholder for what is not there. */
#define trc_list_at(list, id) (&(list).at[(id) < (list).n ? (id) : 0])

/* order.c: the records of a query by their start. */
struct trc_order;
enum ws_status trc_order_open(const struct trc_trace *trace, const struct trc_event_query *query,
			      struct trc_order **out_order, struct ws_err *err);
/* NULL at the end, or after a failure, whose status is in *@out_st. */
const struct cap_rec *trc_order_next(struct trc_order *order,
				     const struct trc_capture **out_capture, uint32_t *out_tid,
				     enum ws_status *out_st, struct ws_err *err);
void trc_order_close(struct trc_order *order);

#endif
