/*
 * completion: completed GPU work: the signal that shows it, its start and end, its record.
 */
#include "collector/hsa/pending_priv.h"
#include "collector/hsa/queue_priv.h"
#include "collector/hsa/ranges.h"
#include "softgpu/cp/watch.h"

#include <sched.h>
#include <string.h>

#define MARKS 4096u
#define MARK_PROBES 8u
#define JITTER_NS 100000u
#define SLOPE_NS 20000000u /* between first and last asking: what ROCr is off by hardly tilts it */
#define REACH_NS 1000000u  /* of a slope, which is off by some ns at its ends then */

struct mark {
	uint64_t signal;
	struct col_pending *place;
};

/* The last times of a signal; written by the thread that moved its slot to TAKEN. */
struct last {
	uint64_t signal, start, end;
};

static struct {
	struct mark *all;  /* MARKS */
	struct last *last; /* MARKS */
	uint32_t n_marks;
} marks;

bool col_done_start(void)
{
	if (!marks.all)
		marks.all = col_pages(MARKS * sizeof(*marks.all));
	if (!marks.last)
		marks.last = col_pages(MARKS * sizeof(*marks.last));
	return marks.all && marks.last;
}

void col_done_forget(void)
{
	if (marks.all)
		memset(marks.all, 0, MARKS * sizeof(*marks.all));
	marks.n_marks = 0;
}

/* ---- marks: whose times is this signal of the program's waiting for ---- */

static uint32_t mark_hash(uint64_t signal)
{
	return (uint32_t)(signal >> 6) * 2654435761u >> 16;
}

bool col_pending_mark(uint64_t signal, struct col_pending *p)
{
	for (uint32_t i = 0; marks.all && i < MARK_PROBES; i++) {
		struct mark *mark = &marks.all[(mark_hash(signal) + i) % MARKS];
		uint64_t none = 0;

		if (__atomic_load_n(&mark->signal, __ATOMIC_RELAXED) == 0 &&
		    __atomic_compare_exchange_n(&mark->signal, &none, signal, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			__atomic_store_n(&mark->place, p, __ATOMIC_RELEASE);
			__atomic_fetch_add(&marks.n_marks, 1, __ATOMIC_RELAXED);
			return true;
		}
	}
	return false;
}

static struct mark *find_mark(uint64_t signal)
{
	for (uint32_t i = 0; marks.all && i < MARK_PROBES; i++) {
		struct mark *mark = &marks.all[(mark_hash(signal) + i) % MARKS];

		if (__atomic_load_n(&mark->signal, __ATOMIC_ACQUIRE) == signal)
			return mark;
	}
	return NULL;
}

static void unmark(uint64_t signal)
{
	struct mark *mark = find_mark(signal);

	if (!mark)
		return;
	__atomic_store_n(&mark->place, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&mark->signal, 0, __ATOMIC_RELEASE);
	__atomic_fetch_sub(&marks.n_marks, 1, __ATOMIC_RELAXED);
}

/* ---- from times to a record ---- */

static enum cap_domain domain_of(const struct col_pending *p)
{
	return p->is_copy ? CAP_DOMAIN_MEMORY_COPY : CAP_DOMAIN_KERNEL_DISPATCH;
}

void col_done_count(const struct col_pending *p, enum cap_ledger_column column)
{
	struct cap_writer *writer = col_capture_now();
	bool counted = !p->is_copy && col_pending_is_counted(p) && col_asked(COL_SERVICE_COUNTERS);

	if (!writer)
		return;
	if (p->is_copy || !(p->dispatch.flags & CAP_DISPATCH_UNASKED))
		cap_writer_count(writer, domain_of(p), column, 1);
	if (counted)
		cap_writer_count(writer, CAP_DOMAIN_COUNTER_COLLECTION, column, 1);
}

static void write_record(struct col_pending *p, uint64_t start_ns, uint64_t end_ns)
{
	struct col_thread *t = col_thread();
	struct cap_lane *lane = t ? col_thread_lane(t) : NULL;
	uint32_t n_bytes = p->is_copy ? sizeof(p->copy) : sizeof(p->dispatch);
	struct cap_rec *rec = lane ? cap_lane_reserve(&lane, n_bytes) : NULL;

	if (!rec) {
		col_done_count(p, CAP_LEDGER_DROPPED);
		return;
	}
	col_fetch_to_write((const char *)rec + COL_LANE_AHEAD);
	col_fetch_to_write((const char *)rec + COL_LANE_AHEAD + 64);
	if (p->is_copy) {
		p->copy.h.time = start_ns;
		p->copy.end_ns = end_ns;
		memcpy(rec, &p->copy, sizeof(p->copy));
		cap_lane_commit(lane, rec, CAP_REC_FIXED_TAG(COPY, struct cap_rec_copy));
	} else {
		p->dispatch.h.time = start_ns;
		p->dispatch.end_ns = end_ns;
		memcpy(rec, &p->dispatch, sizeof(p->dispatch));
		cap_lane_commit(lane, rec, CAP_REC_FIXED_TAG(DISPATCH, struct cap_rec_dispatch));
	}
}

/*
 * ROCr turns ticks of the GPU into nanoseconds one by one, and may compare the clocks
 * anew in between: what took no time at all can end a little before it began. Ticks
 * that were never written come out as something before this library was loaded, or as
 * something in centuries.
 */
static bool times_ok(uint64_t start_ns, uint64_t *end_ns)
{
	if (start_ns < col_load_ns() || start_ns >> 62 || *end_ns >> 62 ||
	    *end_ns + JITTER_NS < start_ns)
		return false;
	if (*end_ns < start_ns)
		*end_ns = start_ns;
	return true;
}

bool col_done_dispatch(const struct col_pending *p)
{
	const amd_signal_t *signal = col_pending_signal(p->signal);

	if (col_pending_timed(p) == COL_TIMED_READ)
		return true;
	if (p->own || p->looked)
		return __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) < p->value;
	/* The program may have set the value to anything since; the times were 0 before. */
	return __atomic_load_n(&signal->end_ts, __ATOMIC_ACQUIRE) != 0 &&
	       __atomic_load_n(&signal->start_ts, __ATOMIC_ACQUIRE) != 0;
}

void col_done_let_go(struct col_pending *p)
{
	if (col_pending_timed(p) == COL_TIMED_READ)
		return; /* it was let go when it was read */
	if (p->noted)
		col_count_over(&p->ticket, p->signal);
	if (!p->own && p->signal)
		unmark(p->signal);
}

/* ROCr said that @tick is @ns. */
static void set_clock(struct col_gpu_clock *clock, uint32_t agent, uint64_t tick, uint64_t ns)
{
	if (clock->agent != agent || tick <= clock->first_tick || ns <= clock->first_ns)
		*clock = (struct col_gpu_clock){ .agent = agent,
						 .first_tick = tick,
						 .first_ns = ns };
	clock->tick = tick;
	clock->ns = ns;
	if (ns - clock->first_ns < SLOPE_NS)
		return;
	clock->ns_per_tick = (double)(ns - clock->first_ns) / (double)(tick - clock->first_tick);
	clock->reach = (uint64_t)(REACH_NS / clock->ns_per_tick);
}

static bool by_clock(const struct col_gpu_clock *clock, uint64_t tick, uint64_t *out_ns)
{
	int64_t n_ticks = (int64_t)(tick - clock->tick);

	if (tick - clock->tick + clock->reach >= 2 * clock->reach)
		return false;
	*out_ns = clock->ns + (uint64_t)(int64_t)((double)n_ticks * clock->ns_per_tick);
	return true;
}

static bool read_times(struct col_pending *p, struct col_gpu_clock *clock)
{
	const amd_signal_t *at = col_pending_signal(p->signal);
	hsa_amd_profiling_dispatch_time_t time = { 0 };
	hsa_signal_t signal = { p->signal };
	uint64_t start_tick = __atomic_load_n(&at->start_ts, __ATOMIC_RELAXED);
	uint64_t end_tick = __atomic_load_n(&at->end_ts, __ATOMIC_RELAXED);
	bool known = clock && clock->agent == p->dispatch.agent &&
		     by_clock(clock, start_tick, &time.start) &&
		     by_clock(clock, end_tick, &time.end);

	if (!known) {
		hsa_agent_t agent = { col_agent_facts(p->dispatch.agent)->handle };

		if (col_hsa.hsa_amd_profiling_get_dispatch_time(agent, signal, &time) !=
		    HSA_STATUS_SUCCESS)
			return false;
	}
	if (!times_ok(time.start, &time.end))
		return false;
	if (!known && clock)
		set_clock(clock, p->dispatch.agent, start_tick, time.start);
	p->dispatch.h.time = time.start;
	p->dispatch.end_ns = time.end;
	return true;
}

/* Its times are known. */
static void write_dispatch(struct col_pending *p)
{
	if (col_pending_is_counted(p) && col_count_write(&p->ticket, &p->dispatch))
		return;
	/* The dispatch itself was not requested: without values there is nothing to record. */
	if (!(p->dispatch.flags & CAP_DISPATCH_UNASKED))
		write_record(p, p->dispatch.h.time, p->dispatch.end_ns);
}

bool col_done_finish_dispatch(struct col_pending *p, struct col_gpu_clock *clock, bool with_values)
{
	/* A signal that the program has set up again was done with before, else it would wait. */
	if (!col_done_dispatch(p) && !(p->looked && !with_values))
		return false;
	if (col_pending_timed(p) == COL_TIMED_WRITTEN)
		return true;
	if (col_pending_timed(p) == COL_TIMED_NOT && !read_times(p, clock)) {
		col_done_count(p, CAP_LEDGER_FAILED);
		return true;
	}
	if (col_pending_is_counted(p) && !with_values) {
		col_done_let_go(p);
		__atomic_store_n(&p->timed, COL_TIMED_READ, __ATOMIC_RELAXED);
		return true;
	}
	write_dispatch(p);
	return true;
}

/*
 * On the GPU's thread: a kernel has ended, its values are there, and its signal has not fallen. What
 * is written here is in the capture before the program can know of the end, whatever kills it then.
 */
#define TURNS 10000u
void col_pending_reported(const struct softgpu_done *done)
{
	const union col_packet *packet = done->aql;
	uint64_t signal = packet->dispatch.completion_signal.handle;
	uint16_t type = packet->header >> HSA_PACKET_HEADER_TYPE & 0xff;
	struct col_count_ticket *ticket;
	struct col_pending *p;
	bool shared = false;

	if (type != HSA_PACKET_TYPE_KERNEL_DISPATCH || !signal || !col_count_on())
		return;
	ticket = col_count_expected(signal);
	if (!ticket)
		return;
	p = (struct col_pending *)((char *)ticket - offsetof(struct col_pending, ticket));
	/* A thread that asks whether the program's signal is free has the place for a moment. */
	for (unsigned turn = 0; turn < TURNS && !shared; turn++) {
		uint32_t state = col_pending_state(p);

		if (state == OURS || state == FORWARDED)
			break;
		shared = col_pending_move_state(p, PENDING, TAKEN);
		if (!shared && (state == FREE || turn == TURNS - 1))
			return;
		if (!shared && turn > 100)
			sched_yield();
	}
	if (p->signal == signal && col_pending_timed(p) == COL_TIMED_NOT) {
		p->dispatch.h.time = done->start_ns;
		p->dispatch.end_ns = done->end_ns;
		write_dispatch(p);
		__atomic_store_n(&p->timed, COL_TIMED_WRITTEN, __ATOMIC_RELAXED);
	}
	if (shared)
		col_pending_set_state(p, PENDING);
}

/*
 * A copy engine writes its times next to the signal, where only ROCr finds them, and
 * ROCr complains on stderr when it is asked before they are there. So it is asked when
 * the signal has been counted down, or when the program is about to use it again and
 * may have set it up for that already (@reused). Times that are still those
 * of the copy before are none: `last` remembers them.
 */
bool col_done_finish_copy(struct col_pending *p, bool reused)
{
	hsa_amd_profiling_async_copy_time_t time = { 0 };
	hsa_signal_t signal = { p->signal };
	bool fallen =
		__atomic_load_n(&col_pending_signal(p->signal)->value, __ATOMIC_ACQUIRE) < p->value;
	struct last *last = &marks.last[mark_hash(p->signal) % MARKS];

	if (!fallen && !reused)
		return false;
	if (col_hsa.hsa_amd_profiling_get_async_copy_time(signal, &time) == HSA_STATUS_SUCCESS &&
	    !(last->signal == p->signal && last->start == time.start && last->end == time.end)) {
		*last = (struct last){ p->signal, time.start, time.end };
		if (times_ok(time.start, &time.end))
			write_record(p, time.start, time.end);
		else
			col_done_count(p, CAP_LEDGER_FAILED);
		return true;
	}
	if (fallen)
		col_done_count(p, CAP_LEDGER_FAILED); /* this path of ROCr gives no times */
	return fallen;
}

/* The caller moved it to TAKEN, or found it OURS. */
bool col_done_finish(struct col_pending *p, struct col_gpu_clock *clock, enum col_done_how how)
{
	bool waits = col_pending_is_counted(p) && col_pending_timed(p) == COL_TIMED_NOT &&
		     how == COL_DONE_REUSE;

	if (!(p->is_copy ? col_done_finish_copy(p, how == COL_DONE_REUSE)
			 : col_done_finish_dispatch(p, clock, how == COL_DONE_ALL))) {
		col_pending_set_state(p, p->own ? OURS : PENDING);
		return false;
	}
	if (waits && col_pending_timed(p) == COL_TIMED_READ) {
		col_pending_set_state(p, PENDING); /* for its values */
		return true;
	}
	col_done_let_go(p);
	col_pending_set_state(p, FREE);
	return true;
}

/* ---- signals of the program's ---- */

bool col_pending_before_reuse(uint64_t signal)
{
	col_ranges_signal_reused(signal);
	if (!signal || __atomic_load_n(&marks.n_marks, __ATOMIC_RELAXED) == 0)
		return true;
	for (unsigned turn = 0; turn < 10000; turn++) {
		struct mark *mark = find_mark(signal);
		struct col_pending *p =
			mark ? __atomic_load_n(&mark->place, __ATOMIC_ACQUIRE) : NULL;

		if (!mark)
			return true;
		if (p && col_pending_move_state(p, PENDING, TAKEN)) {
			if (p->signal == signal)
				return col_done_finish(p, NULL, COL_DONE_REUSE);
			col_pending_set_state(
				p, PENDING); /* the place has moved on; so has the mark */
		} else if (turn > 100) {
			sched_yield(); /* another thread is reading it and was interrupted */
		}
	}
	return false;
}

/* Its signal is being destroyed and it never completed. */
void col_pending_give_up(uint64_t signal)
{
	struct mark *mark = find_mark(signal);
	struct col_pending *p = mark ? __atomic_load_n(&mark->place, __ATOMIC_ACQUIRE) : NULL;

	if (!p || !col_pending_move_state(p, PENDING, TAKEN))
		return;
	if (p->signal == signal) {
		col_done_count(p, CAP_LEDGER_FAILED);
		col_done_let_go(p);
		col_pending_set_state(p, FREE);
	} else {
		col_pending_set_state(p, PENDING);
	}
}

/* The program's signal gets the times of the work, which it may read. */
static void copy_times(hsa_signal_t from, hsa_signal_t to)
{
	const amd_signal_t *ours = col_pending_signal(from.handle);
	amd_signal_t *theirs = col_pending_signal(to.handle);

	theirs->start_ts = ours->start_ts;
	theirs->end_ts = ours->end_ts;
}

void col_done_forward(struct col_pending *p)
{
	hsa_signal_t ours = { p->signal }, theirs = { p->forward };

	if (p->is_copy)
		col_done_finish_copy(p, false);
	else
		col_done_finish_dispatch(p, NULL, true);
	if (p->noted)
		col_count_over(&p->ticket, p->signal);
	if (theirs.handle && !p->is_copy)
		copy_times(ours, theirs);
	if (theirs.handle)
		col_hsa.hsa_signal_subtract_screlease(theirs, 1);
	col_pending_set_state(p, FREE);
}

void col_done_abandon(struct col_pending *p)
{
	col_done_count(p, CAP_LEDGER_FAILED);
	if (p->noted)
		col_count_over(&p->ticket, p->signal);
	col_pending_set_state(p, FREE);
}

/* On ROCr's thread: the signal of ours fell. Only now may the program see its own fall. */
static bool forwarded(hsa_signal_value_t value, void *arg)
{
	struct col_pending *p = arg;
	hsa_signal_t ours = { p->signal };

	col_done_forward(p);
	col_hsa.hsa_signal_destroy(ours);
	return false; /* the handler is not called again */
}

/*
 * Several pieces of work count down one signal of the program's, and it keeps the times
 * of the last one only. This one gets a signal of its own; when that falls, so does theirs.
 */
uint64_t col_pending_forward(struct col_pending *p, uint64_t theirs)
{
	hsa_signal_t signal = { 0 };

	if (col_hsa.hsa_signal_create(1, 0, NULL, &signal) != HSA_STATUS_SUCCESS)
		return 0;
	p->own = p->forwards = 1;
	p->signal = signal.handle;
	p->forward = theirs;
	p->value = 1;
	if (col_hsa.hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, forwarded,
						 p) == HSA_STATUS_SUCCESS)
		return signal.handle;
	col_hsa.hsa_signal_destroy(signal);
	p->own = p->forwards = 0;
	p->signal = 0;
	return 0;
}
