#include "collector/hsa/turns.h"

#include "collector/count/source.h"
#include "collector/hsa/pending_priv.h"
#include "collector/hsa/replay.h"

#include <string.h>
#include <time.h>

/*
 * Dispatches in flight. A thread that submits more than a few waits a moment: ROCr's thread goes through all signals with
 * handlers whenever one falls. Behind a kernel that takes longer than that, there are more places, and it is slower.
 */
#define TURNS 4096u
#define TURNS_FAST 64u
#define HELD 1024u /* signals, the latest */
#define WAIT_NS 50000u
#define WAITS_FAST 2000u
#define WAITS_MAX 20000u

enum turn_state {
	IDLE,
	TAKEN_UP, /* being filled, or in a queue */
	ARRIVED,  /* its queue waits for the GPU */
	RUNS,
	ENDS, /* its values are being read */
	GONE, /* its queue was destroyed; handlers may still come */
};

struct col_turn {
	uint32_t state;
	uint32_t agent;
	uint64_t number;     /* grows with each dispatch */
	uint32_t n_handlers; /* that have not been called yet */
	const struct col_queue *queue;
	struct col_pending *p;           /* NULL: nothing of it is recorded */
	struct col_aql_program *program; /* NULL: it is not counted */
	bool replays;                    /* it runs in a queue of replay.c */
	struct col_replay replay;
	hsa_signal_t arrived, granted, timed, ended; /* made when first needed, used again */
	struct col_turn *next;                       /* that waits */
};

static struct {
	struct col_turn *all; /* TURNS */
	uint32_t next_place;
	uint64_t n_numbers;
	uint64_t n_ended;
	uint64_t
		stuck_at; /* n_ended + 1 when a thread had waited long enough: none has to until one ends */
	struct col_lock lock; /* the rest */
	struct {
		uint64_t signal, number;
		const struct col_turn *turn; /* before whose end the signal does not fall */
	} held[HELD];
	uint32_t n_held;
	struct {
		struct col_turn *runs; /* has the GPU */
		struct col_turn *first, **last;
	} gpus[COL_AGENT_IDS];
} turns;

static __thread bool handles __attribute__((tls_model("initial-exec")));

bool col_turns_handles(void)
{
	return handles;
}

static amd_signal_t *at(hsa_signal_t signal)
{
	return col_pending_signal(signal.handle);
}

static uint32_t state_of(const struct col_turn *turn)
{
	return __atomic_load_n(&turn->state, __ATOMIC_ACQUIRE);
}

static void set_state(struct col_turn *turn, uint32_t state)
{
	__atomic_store_n(&turn->state, state, __ATOMIC_RELEASE);
}

/* ---- places ---- */

static bool start(void)
{
	struct col_turn *none = NULL, *fresh;

	if (__atomic_load_n(&turns.all, __ATOMIC_ACQUIRE))
		return true;
	fresh = col_pages(TURNS * sizeof(*fresh));
	if (fresh && !__atomic_compare_exchange_n(&turns.all, &none, fresh, false, __ATOMIC_ACQ_REL,
						  __ATOMIC_ACQUIRE))
		col_pages_free(fresh, TURNS * sizeof(*fresh));
	return turns.all != NULL;
}

/* One of the first @n_places. */
static struct col_turn *free_place(uint32_t n_places)
{
	for (uint32_t i = 0; i < n_places; i++) {
		uint32_t n = __atomic_fetch_add(&turns.next_place, 1, __ATOMIC_RELAXED);
		struct col_turn *turn = &turns.all[n % n_places];
		uint32_t idle = IDLE;

		if (__atomic_compare_exchange_n(&turn->state, &idle, TAKEN_UP, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return turn;
	}
	return NULL;
}

static struct col_turn *wait_for_place(void)
{
	struct col_turn *turn = NULL;

	if (handles)
		return free_place(TURNS);
	for (unsigned i = 0; i < WAITS_MAX; i++) {
		uint64_t n_ended = __atomic_load_n(&turns.n_ended, __ATOMIC_RELAXED);
		bool stuck = __atomic_load_n(&turns.stuck_at, __ATOMIC_RELAXED) == n_ended + 1;

		turn = free_place(stuck ? TURNS : TURNS_FAST);
		if (turn)
			break;
		if (i == WAITS_FAST)
			__atomic_store_n(&turns.stuck_at, n_ended + 1, __ATOMIC_RELAXED);
		nanosleep(&(struct timespec){ 0, WAIT_NS }, NULL);
	}
	return turn;
}

static bool make_signals(struct col_turn *turn)
{
	hsa_signal_t *const signals[] = { &turn->arrived, &turn->granted, &turn->timed,
					  &turn->ended };

	for (size_t i = 0; i < WS_ARRAY_LEN(signals); i++) {
		if (!signals[i]->handle &&
		    col_hsa.hsa_signal_create(1, 0, NULL, signals[i]) != HSA_STATUS_SUCCESS) {
			signals[i]->handle = 0;
			return false;
		}
		__atomic_store_n(&at(*signals[i])->value, 1, __ATOMIC_RELAXED);
	}
	return true;
}

/* ---- whose turn it is ---- */

/* Under the lock. */
static void grant_next(uint32_t agent)
{
	struct col_turn *turn = turns.gpus[agent].first;

	if (turns.gpus[agent].runs || !turn)
		return;
	turns.gpus[agent].first = turn->next;
	if (!turn->next)
		turns.gpus[agent].last = NULL;
	turns.gpus[agent].runs = turn;
	set_state(turn, RUNS);
	if (turn->program)
		col_aql_clear(turn->program);
	if (turn->replays)
		col_replay_submit(&turn->replay);
	else
		col_hsa.hsa_signal_store_screlease(turn->granted, 0);
}

/* On the thread of the replays: all passes have run. The program's queue goes on, and comes to `ended`. */
static void on_replayed(struct col_replay *replay)
{
	struct col_turn *turn =
		(struct col_turn *)((char *)replay - offsetof(struct col_turn, replay));

	col_hsa.hsa_signal_store_screlease(turn->granted, 0);
}

/* On ROCr's thread: an error of the kernel's, for whom it would have been reported to. */
static void on_replay_failed(struct col_replay *replay, hsa_status_t status)
{
	struct col_turn *turn =
		(struct col_turn *)((char *)replay - offsetof(struct col_turn, replay));
	const struct col_queue *queue = turn->queue;

	if (queue->on_error && queue->handle)
		queue->on_error(status, queue->handle, queue->on_error_data);
}

/* A handler was called for a turn that is no more; the last one frees its place. Under the lock. */
static bool is_gone(struct col_turn *turn)
{
	if (state_of(turn) != GONE)
		return false;
	if (turn->n_handlers == 0)
		set_state(turn, IDLE);
	return true;
}

/* On ROCr's thread: the queue has come to this dispatch. */
static bool on_arrived(hsa_signal_value_t value, void *arg)
{
	struct col_turn *turn = arg;

	handles = true;
	col_lock(&turns.lock);
	turn->n_handlers--;
	if (!is_gone(turn)) {
		set_state(turn, ARRIVED);
		turn->next = NULL;
		if (turns.gpus[turn->agent].last)
			*turns.gpus[turn->agent].last = turn;
		else
			turns.gpus[turn->agent].first = turn;
		turns.gpus[turn->agent].last = &turn->next;
		grant_next(turn->agent);
	}
	col_unlock(&turns.lock);
	return false;
}

/* On ROCr's thread: kernel and packets have ended. Nothing else counts before this is done. */
static bool on_ended(hsa_signal_value_t value, void *arg)
{
	struct col_turn *turn = arg;
	bool gone;

	handles = true;
	col_lock(&turns.lock);
	turn->n_handlers--;
	gone = is_gone(turn);
	if (!gone)
		set_state(turn, ENDS); /* a queue that is destroyed now leaves it alone */
	col_unlock(&turns.lock);
	if (gone)
		return false;
	if (turn->p)
		col_done_forward(turn->p);
	col_lock(&turns.lock);
	turns.gpus[turn->agent].runs = NULL;
	__atomic_fetch_add(&turns.n_ended, 1, __ATOMIC_RELAXED);
	set_state(turn, IDLE);
	grant_next(turn->agent);
	col_unlock(&turns.lock);
	return false;
}

/* ---- submission ---- */

/* Now, so that nothing can fail when the packets are in the queue. False: the place is given back. */
static bool wait_for_signals(struct col_turn *turn)
{
	turn->n_handlers = 2;
	if (col_hsa.hsa_amd_signal_async_handler(turn->arrived, HSA_SIGNAL_CONDITION_LT, 1,
						 on_arrived, turn) != HSA_STATUS_SUCCESS) {
		set_state(turn, IDLE);
		return false;
	}
	if (col_hsa.hsa_amd_signal_async_handler(turn->ended, HSA_SIGNAL_CONDITION_LT, 1, on_ended,
						 turn) == HSA_STATUS_SUCCESS)
		return true;
	turn->n_handlers = 1;
	set_state(turn, GONE);
	col_hsa.hsa_signal_store_screlease(turn->arrived, 0);
	return false;
}

struct col_turn *col_turn_take(struct col_queue *queue, struct col_pending *p,
			       hsa_kernel_dispatch_packet_t *packet)
{
	struct col_turn *turn = NULL;

	if (!start() || queue->rec.agent >= COL_AGENT_IDS)
		return NULL;
	turn = wait_for_place();
	if (!turn)
		return NULL;
	turn->number = __atomic_add_fetch(&turns.n_numbers, 1, __ATOMIC_RELAXED);
	queue->turn_number = turn->number;
	turn->agent = queue->rec.agent;
	turn->queue = queue;
	turn->p = p;
	turn->program = NULL;
	turn->replays = false;
	if (!make_signals(turn)) {
		set_state(turn, IDLE);
		return NULL;
	}
	if (!wait_for_signals(turn))
		return NULL;
	if (p) {
		__atomic_store_n(&at(turn->timed)->start_ts, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&at(turn->timed)->end_ts, 0, __ATOMIC_RELAXED);
		p->own = p->forwards = 1;
		p->signal = turn->timed.handle;
		p->forward = packet->completion_signal.handle;
		p->value = 1;
		packet->completion_signal = turn->timed;
	}
	return turn;
}

static void put_barrier(union col_packet *to, uint64_t waits_for, uint64_t completes)
{
	memset(to, 0, sizeof(*to));
	to->barrier.header = COL_PACKET_HEADER(HSA_PACKET_TYPE_BARRIER_AND);
	to->barrier.dep_signal[0].handle = waits_for;
	to->barrier.completion_signal.handle = completes;
}

void col_packet_of_step(union col_packet *to, const struct col_aql_packets *packets,
			enum col_aql_step step, uint64_t completes)
{
	union col_aql_packet packet = packets->at[step];

	packet.header = COL_PACKET_HEADER(HSA_PACKET_TYPE_VENDOR_SPECIFIC);
	packet.completion = completes;
	memcpy(to, &packet, sizeof(*to));
}

/* ---- signals that wait for turns ---- */

static void hold(const struct col_turn *turn, uint64_t number, uint64_t signal)
{
	uint32_t at;

	if (!signal || !col_count_replays())
		return;
	col_lock(&turns.lock);
	at = turns.n_held++ % HELD;
	turns.held[at].signal = signal;
	turns.held[at].number = number;
	turns.held[at].turn = turn;
	col_unlock(&turns.lock);
}

void col_turns_barrier(const struct col_queue *queue, uint64_t signal)
{
	if (queue->turn)
		hold(queue->turn, queue->turn_number, signal);
}

bool col_turns_hold(uint32_t agent, uint64_t signal)
{
	bool held = false;

	col_lock(&turns.lock);
	for (uint32_t i = 0; i < WS_MIN(turns.n_held, HELD) && !held; i++) {
		const struct col_turn *turn = turns.held[i].turn;
		uint32_t state = state_of(turn);

		held = turns.held[i].signal == signal && turn->number == turns.held[i].number &&
		       turn->agent == agent &&
		       (state == TAKEN_UP || state == ARRIVED || state == RUNS);
	}
	col_unlock(&turns.lock);
	return held;
}

/* ---- packets ---- */

/* Whether the dispatch can be repeated in another queue. Else its first set is counted here. */
static bool can_replay(const struct col_turn *turn)
{
	enum col_obstacle obstacle = turn->queue->rec.type == HSA_QUEUE_TYPE_COOPERATIVE
					     ? COL_OBSTACLE_COOPERATIVE
				     : turn->queue->has_cu_mask      ? COL_OBSTACLE_CU_MASK
				     : col_replay_ready(turn->agent) ? COL_OBSTACLE_NONE
								     : COL_OBSTACLE_FAILED;

	if (obstacle) {
		turn->p->ticket.set = 0;
		col_replay_ran_once(turn->p->dispatch.h.what, obstacle);
	}
	return !obstacle;
}

uint32_t col_turn_emit(struct col_turn *turn, const hsa_kernel_dispatch_packet_t *packet,
		       union col_packet to[COL_TURN_PACKETS])
{
	const struct col_pending *p = turn->p;
	const struct col_aql_packets *packets;
	uint32_t n = 0;

	hold(turn, turn->number, p ? p->forward : packet->completion_signal.handle);
	if (p && col_pending_is_counted(p) && p->ticket.set == COL_COUNT_REPLAYED &&
	    can_replay(turn)) {
		turn->replays = true;
		turn->replay = (struct col_replay){ .agent = turn->agent,
						    .kernel = p->dispatch.h.what,
						    .packet = *packet,
						    .ticket = &turn->p->ticket,
						    .done = on_replayed,
						    .failed = on_replay_failed };
		put_barrier(&to[n++], 0, turn->arrived.handle);
		put_barrier(&to[n++], turn->granted.handle, turn->ended.handle);
		return n;
	}
	if (p && col_pending_is_counted(p))
		turn->program = col_count_program(p->ticket.gpu, p->ticket.set);
	packets = turn->program ? col_aql_packets(turn->program) : NULL;
	put_barrier(&to[n++], 0, turn->arrived.handle);
	put_barrier(&to[n++], turn->granted.handle, 0);
	if (packets)
		col_packet_of_step(&to[n++], packets, COL_AQL_START, 0);
	to[n].dispatch = *packet;
	to[n++].header |= 1u << HSA_PACKET_HEADER_BARRIER;
	if (packets && packets->has_read)
		col_packet_of_step(&to[n++], packets, COL_AQL_READ, 0);
	if (packets)
		col_packet_of_step(&to[n++], packets, COL_AQL_STOP, turn->ended.handle);
	else
		put_barrier(&to[n++], 0, turn->ended.handle);
	return n;
}

/* ---- ends ---- */

static void forget_waiting(struct col_turn *turn)
{
	struct col_turn **from = &turns.gpus[turn->agent].first;

	while (*from && *from != turn)
		from = &(*from)->next;
	if (!*from)
		return;
	if (turns.gpus[turn->agent].last == &turn->next)
		turns.gpus[turn->agent].last = from == &turns.gpus[turn->agent].first ? NULL : from;
	*from = turn->next;
}

/*
 * Its packets never complete. The handlers that wait for `arrived` or `ended` are woken, and free the place.
 */
static void cancel_replays(const struct col_queue *queue)
{
	for (uint32_t i = 0; turns.all && i < TURNS; i++) {
		struct col_turn *turn = &turns.all[i];

		/* Without the lock, which the thread of the replays may need to end. */
		if (turn->queue == queue && turn->replays && state_of(turn) == RUNS)
			col_replay_cancel(&turn->replay);
	}
}

void col_turns_queue_gone(const struct col_queue *queue)
{
	cancel_replays(queue);
	col_lock(&turns.lock);
	for (uint32_t i = 0; turns.all && i < TURNS; i++) {
		struct col_turn *turn = &turns.all[i];
		uint32_t state = state_of(turn);

		if (turn->queue != queue || state == IDLE || state == ENDS || state == GONE)
			continue;
		forget_waiting(turn);
		if (turns.gpus[turn->agent].runs == turn)
			turns.gpus[turn->agent].runs = NULL;
		if (turn->p)
			col_done_abandon(turn->p);
		turn->p = NULL;
		set_state(turn, GONE);
		if (state == TAKEN_UP)
			col_hsa.hsa_signal_store_screlease(turn->arrived, 0);
		col_hsa.hsa_signal_store_screlease(turn->ended, 0);
		grant_next(turn->agent);
	}
	col_unlock(&turns.lock);
}

/* The signals go with the runtime. */
void col_turns_unload(void)
{
	col_lock(&turns.lock);
	if (turns.all)
		memset(turns.all, 0, TURNS * sizeof(*turns.all));
	memset(turns.gpus, 0, sizeof(turns.gpus));
	turns.n_held = 0;
	col_unlock(&turns.lock);
}

void col_turns_forked(void)
{
	turns.lock = (struct col_lock){ 0 };
	col_turns_unload();
}
