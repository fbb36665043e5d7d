/*
 * marker: roctx marks, ranges and calls as records.
 *
 * A range becomes one record when it ends. Until then it is kept: push ranges on a
 * stack of the thread's own, start ranges in a table of slots that threads claim
 * with one compare-and-swap. Texts are kept in place while there is room and
 * interned (a lock, a table) when there is none.
 *
 * What is open when the process ends is written by the thread that ends it, which reads
 * the stacks of all others while they may push and pop. A range has an id of its own for
 * as long as it is open; who swaps that for 0 writes the record, and a copy made before is
 * whole, since the range was there all the time.
 *
 * With --kernel-rename the innermost pushed range names the GPU work submitted
 * inside it. A mark takes over from there, until the range around it ends: work after a
 * mark has the mark's name. The name travels as external correlation id: the id of the
 * first range or mark with that text.
 */
#include "collector/collector_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES (64u << 10)
#define STACK_DEPTH 512u
#define TEXT_MAX (64u << 10) /* longer messages are cut */
#define SLOTS 4096u
#define SLOT_TEXT 192u
#define NAMES 65536u /* different texts that kernels can be renamed to */

struct range {
	uint64_t start_ticks, corr_id, ancestor_id;
	uint64_t external_before; /* what to go back to */
	uint32_t text_at, n_text; /* in the stack's text; or */
	uint32_t message;         /* interned */
	uint32_t recorded;        /* recording was on when it began: the epoch; else 0 */
	uint64_t open;            /* corr_id until somebody writes the record; set last */
};

struct ws_marker_stack {
	uint32_t depth; /* also counts ranges that found no place */
	uint32_t n_text;
	struct range ranges[STACK_DEPTH];
	char text[];
};

/* A started range. */
struct slot {
	uint64_t id; /* 0: free; CLAIMED: being filled */
	uint64_t start_ticks, corr_id, ancestor_id;
	uint32_t n_text, message;
	uint32_t epoch;
	char text[SLOT_TEXT];
};
#define CLAIMED 1u

static struct {
	struct ws_lock lock; /* of making the tables, and of names */
	struct slot *slots;
	uint32_t rotor;
	uint64_t next_id;
	struct name {
		uint32_t message;
		uint64_t external_id;
	} *names; /* open addressing by string id */
	uint32_t n_names;
} markers = { .next_id = 1 };

static bool renaming(void)
{
	return ws_config()->flags & WS_COLLECT_FLAG(KERNEL_RENAME);
}

/* Is there anything to do for markers at all? Opens the capture, so that periods run. */
static bool wanted(void)
{
	if (!ws_asked(WS_SERVICE_MARKER) && !renaming())
		return false;
	return ws_capture_now() || ws_capture();
}

static uint32_t record_bytes(const struct range *range)
{
	return (uint32_t)WS_REC_ROUND(sizeof(struct ws_rec_marker) +
				      (range->message ? 0 : range->n_text));
}

static void fill(struct ws_rec_marker *rec, enum ws_marker_op op, const struct range *range,
		 uint64_t end_ticks, const char *text)
{
	uint32_t n_text = range->message ? 0 : range->n_text;

	rec->h.what = op;
	rec->h.time = range->start_ticks;
	rec->end_ticks = end_ticks;
	rec->corr_id = range->corr_id;
	rec->ancestor_id = range->ancestor_id;
	rec->message = range->message;
	rec->n_bytes = n_text;
	if (n_text)
		memcpy(rec + 1, text, n_text);
}

static void append(struct ws_thread *t, enum ws_marker_op op, const struct range *range,
		   uint64_t end_ticks, const char *text)
{
	uint32_t n_bytes = record_bytes(range);
	struct ws_lane *lane = ws_thread_lane(t);
	struct ws_rec_marker *rec = lane ? ws_lane_reserve(&lane, n_bytes) : NULL;

	if (!rec) {
		ws_call_lost_(t, WS_DOMAIN_MARKER_API);
		return;
	}
	fill(rec, op, range, end_ticks, text);
	ws_lane_commit(lane, &rec->h, WS_REC_TAG(WS_REC_MARKER, n_bytes));
}

static uint32_t text_length(const char *text)
{
	return text ? (uint32_t)strnlen(text, TEXT_MAX) : 0;
}

static uint32_t intern(const char *text, uint32_t n)
{
	struct ws_writer *writer = ws_capture_now();

	return writer ? ws_writer_intern(writer, text, n) : 0;
}

/* The external id of @message, told to the capture the first time. */
static uint64_t external_of(uint32_t message, uint64_t corr_id)
{
	struct ws_writer *writer = ws_capture_now();
	struct ws_rec_external rec = {
		.h = { WS_REC_FIXED_TAG(EXTERNAL, struct ws_rec_external), message, 0 },
		.external_id = corr_id,
	};

	if (!message || !writer)
		return 0;
	ws_lock(&markers.lock);
	if (!markers.names)
		markers.names = ws_pages(NAMES * sizeof(*markers.names));
	/* A table that is full gives each further range an id of its own: more ids, same names. */
	for (uint32_t i = 0; markers.names && markers.n_names < NAMES / 2; i++) {
		struct name *name = &markers.names[(message * 2654435761u + i) % NAMES];

		if (name->message == message) {
			rec.external_id = name->external_id;
			ws_unlock(&markers.lock);
			return rec.external_id;
		}
		if (!name->message) {
			*name = (struct name){ message, corr_id };
			markers.n_names++;
			break;
		}
	}
	ws_unlock(&markers.lock);
	ws_writer_meta(writer, &rec.h);
	return rec.external_id;
}

void ws_marker_mark(const char *text)
{
	struct ws_thread *t;
	struct range mark = { 0 };
	bool recorded;

	if (!wanted())
		return;
	recorded = ws_on(WS_SERVICE_MARKER);
	if (!recorded && !renaming())
		return;
	t = ws_thread();
	if (!t) {
		ws_call_lost_(NULL, WS_DOMAIN_MARKER_API);
		return;
	}
	mark.corr_id = ws_corr_new(t);
	mark.ancestor_id = t->corr_id;
	mark.n_text = text_length(text);
	if (renaming()) {
		mark.message = intern(text, mark.n_text);
		t->external_id = external_of(mark.message, mark.corr_id);
	}
	mark.start_ticks = ws_ticks();
	if (recorded)
		append(t, WS_MARKER_MARK, &mark, mark.start_ticks, text);
}

int32_t ws_marker_thread_id(void)
{
	struct range call = { .start_ticks = ws_ticks() };
	int32_t tid = (int32_t)syscall(SYS_gettid);
	struct ws_thread *t;

	if (!wanted() || !ws_on(WS_SERVICE_MARKER))
		return tid;
	t = ws_thread();
	if (!t) {
		ws_call_lost_(NULL, WS_DOMAIN_MARKER_API);
		return tid;
	}
	call.corr_id = ws_corr_new(t);
	call.ancestor_id = t->corr_id;
	append(t, WS_MARKER_GET_THREAD_ID, &call, ws_ticks(), NULL);
	return tid;
}

/* ---- push and pop ---- */

static void keep_text(struct ws_marker_stack *stack, struct range *range, const char *text)
{
	range->n_text = text_length(text);
	if (renaming() || range->n_text > STACK_BYTES - sizeof(*stack) - stack->n_text) {
		range->message = intern(text, range->n_text);
		return;
	}
	range->text_at = stack->n_text;
	memcpy(stack->text + stack->n_text, text, range->n_text);
	stack->n_text += range->n_text;
}

int ws_marker_push(const char *text)
{
	int saved_errno = errno;
	struct ws_thread *t;
	struct ws_marker_stack *stack;
	struct range *range;

	if (!wanted())
		return -1;
	t = ws_thread();
	if (t && !t->markers)
		__atomic_store_n(&t->markers, ws_pages(STACK_BYTES), __ATOMIC_RELEASE);
	if (!t || !t->markers) {
		ws_call_lost_(t, WS_DOMAIN_MARKER_API);
		errno = saved_errno;
		return -1;
	}
	stack = t->markers;
	if (stack->depth >= STACK_DEPTH) {
		ws_call_lost_(t, WS_DOMAIN_MARKER_API);
		return (int)stack->depth++;
	}
	range = &stack->ranges[stack->depth];
	/* `open` is 0 already; whoever ends the process may be looking at it. */
	*range = (struct range){
		.corr_id = ws_corr_new(t),
		.ancestor_id = t->corr_id,
		.external_before = t->external_id,
		.recorded = ws_on(WS_SERVICE_MARKER) ? ws_epoch() : 0,
	};
	if (range->recorded || renaming())
		keep_text(stack, range, text);
	if (renaming() && range->message)
		t->external_id = external_of(range->message, range->corr_id);
	range->start_ticks = ws_ticks();
	if (range->recorded)
		__atomic_store_n(&range->open, range->corr_id, __ATOMIC_RELEASE);
	errno = saved_errno;
	return (int)stack->depth++;
}

/* True: the caller writes its record, nobody else has or will. */
static bool finish_range(struct range *range, uint64_t id)
{
	return id && __atomic_compare_exchange_n(&range->open, &id, 0, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED);
}

int ws_marker_pop(void)
{
	uint64_t end_ticks = ws_ticks();
	struct ws_thread *t = &ws_thread_self_;
	struct ws_marker_stack *stack = t->markers;
	struct range *range;

	if (!stack || stack->depth == 0)
		return -1;
	if (--stack->depth >= STACK_DEPTH)
		return (int)stack->depth;
	range = &stack->ranges[stack->depth];
	t->external_id = range->external_before;
	if (finish_range(range, range->corr_id) && range->recorded == ws_epoch() && ws_thread())
		append(t, WS_MARKER_THREAD_RANGE, range, end_ticks, stack->text + range->text_at);
	if (!range->message)
		stack->n_text -= range->n_text;
	return (int)stack->depth;
}

/* ---- start and stop ---- */

static struct slot *claim_slot(void)
{
	struct slot *slots = __atomic_load_n(&markers.slots, __ATOMIC_ACQUIRE);
	uint32_t from;

	if (!slots) {
		ws_lock(&markers.lock);
		if (!markers.slots) {
			slots = ws_pages(SLOTS * sizeof(*slots));
			__atomic_store_n(&markers.slots, slots, __ATOMIC_RELEASE);
		}
		slots = markers.slots;
		ws_unlock(&markers.lock);
		if (!slots)
			return NULL;
	}
	from = __atomic_fetch_add(&markers.rotor, 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct slot *slot = &slots[(from + i) % SLOTS];
		uint64_t free = 0;

		if (__atomic_load_n(&slot->id, __ATOMIC_RELAXED) == 0 &&
		    __atomic_compare_exchange_n(&slot->id, &free, CLAIMED, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return slot;
	}
	return NULL;
}

/* Ids say their slot; a stale or made-up one does not match what is in it. */
uint64_t ws_marker_start(const char *text)
{
	uint64_t id = __atomic_add_fetch(&markers.next_id, 1, __ATOMIC_RELAXED) * SLOTS;
	struct ws_thread *t;
	struct slot *slot;

	if (!wanted() || !ws_on(WS_SERVICE_MARKER))
		return id;
	t = ws_thread();
	slot = t ? claim_slot() : NULL;
	if (!slot) {
		ws_call_lost_(t, WS_DOMAIN_MARKER_API);
		return id;
	}
	id += (uint64_t)(slot - markers.slots);
	slot->corr_id = ws_corr_new(t);
	slot->ancestor_id = t->corr_id;
	slot->n_text = text_length(text);
	slot->message = 0;
	slot->epoch = ws_epoch();
	if (slot->n_text <= SLOT_TEXT)
		memcpy(slot->text, text, slot->n_text);
	else
		slot->message = intern(text, slot->n_text);
	slot->start_ticks = ws_ticks();
	__atomic_store_n(&slot->id, id, __ATOMIC_RELEASE);
	return id;
}

void ws_marker_stop(uint64_t id)
{
	uint64_t end_ticks = ws_ticks(), expected = id;
	struct slot *slots = __atomic_load_n(&markers.slots, __ATOMIC_ACQUIRE);
	struct slot *slot;
	struct ws_thread *t;
	struct range range;

	if (!slots || id < SLOTS)
		return;
	slot = &slots[id % SLOTS];
	if (!__atomic_compare_exchange_n(&slot->id, &expected, CLAIMED, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return;
	range = (struct range){
		.start_ticks = slot->start_ticks,
		.corr_id = slot->corr_id,
		.ancestor_id = slot->ancestor_id,
		.n_text = slot->n_text,
		.message = slot->message,
	};
	t = ws_thread();
	if (slot->epoch != ws_epoch())
		; /* begun under an earlier attach, whose capture is closed */
	else if (t)
		append(t, WS_MARKER_PROCESS_RANGE, &range, end_ticks, slot->text);
	else
		ws_call_lost_(NULL, WS_DOMAIN_MARKER_API);
	__atomic_store_n(&slot->id, 0, __ATOMIC_RELEASE);
}

/* ---- pause and resume ---- */

static void control_mark(enum ws_marker_op op, bool on)
{
	struct ws_thread *t;
	struct range mark = { 0 };

	if (!wanted())
		return;
	t = ws_asked(WS_SERVICE_MARKER) ? ws_thread() : NULL;
	if (t) {
		mark.start_ticks = ws_ticks();
		mark.corr_id = ws_corr_new(t);
		mark.ancestor_id = t->corr_id;
	}
	ws_control_region(on);
	if (t)
		append(t, op, &mark, ws_ticks(), NULL);
}

void ws_marker_pause(void)
{
	control_mark(WS_MARKER_PAUSE, false);
}

void ws_marker_resume(void)
{
	control_mark(WS_MARKER_RESUME, true);
}

/* ---- ends ---- */

/* Ranges that a thread leaves open end with it; if nobody records, they are just gone. */
void ws_markers_thread_end(struct ws_thread *t)
{
	while (t->markers && t->markers->depth && ws_thread_lane(t))
		ws_marker_pop();
}

void ws_markers_thread_gone(struct ws_thread *t)
{
	struct ws_marker_stack *stack = t->markers;

	__atomic_store_n(&t->markers, NULL, __ATOMIC_RELEASE);
	ws_pages_free(stack, STACK_BYTES);
}

/* The thread may be anywhere, also in push and pop. */
void ws_markers_end_of(struct ws_writer *writer, const struct ws_thread *t)
{
	struct ws_marker_stack *stack = __atomic_load_n(&t->markers, __ATOMIC_ACQUIRE);
	struct ws_lane *first = NULL;
	uint64_t end_ticks = ws_ticks();

	for (uint32_t i = 0; stack && i < STACK_DEPTH; i++) {
		uint64_t id = __atomic_load_n(&stack->ranges[i].open, __ATOMIC_ACQUIRE);
		struct range range = stack->ranges[i];
		uint32_t n_room = STACK_BYTES - sizeof(*stack), n_bytes;
		struct ws_rec_marker *rec;
		struct ws_lane *lane;

		if (!id || range.recorded != ws_epoch())
			continue;
		if (!range.message &&
		    (range.text_at > n_room || range.n_text > n_room - range.text_at))
			continue; /* another one by now, half written */
		if (!first)
			first = ws_lane_get(writer, t->tid); /* its records are that thread's */
		n_bytes = record_bytes(&range);
		lane = first;
		rec = lane ? ws_lane_reserve(&lane, n_bytes) : NULL;
		if (!rec) {
			ws_call_lost_(NULL, WS_DOMAIN_MARKER_API);
			continue;
		}
		fill(rec, WS_MARKER_THREAD_RANGE, &range, end_ticks, stack->text + range.text_at);
		if (finish_range(&stack->ranges[i], id))
			ws_lane_commit(lane, &rec->h, WS_REC_TAG(WS_REC_MARKER, n_bytes));
		else
			ws_lane_cancel(lane, n_bytes);
	}
	ws_lane_put(first);
}

void ws_markers_end_started(void)
{
	struct slot *slots = __atomic_load_n(&markers.slots, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; slots && i < SLOTS; i++) {
		uint64_t id = __atomic_load_n(&slots[i].id, __ATOMIC_RELAXED);

		if (id > CLAIMED)
			ws_marker_stop(id);
	}
}

/* Names are strings of a capture that is over. */
void ws_markers_detach(void)
{
	ws_lock(&markers.lock);
	ws_pages_free(markers.names, NAMES * sizeof(*markers.names));
	markers.names = NULL;
	markers.n_names = 0;
	ws_unlock(&markers.lock);
}

/* The child's ranges began in another capture: string and correlation ids mean nothing here. */
void ws_markers_forked(void)
{
	struct ws_thread *t = &ws_thread_self_;

	markers.lock = (struct ws_lock){ 0 };
	ws_pages_free(markers.names, NAMES * sizeof(*markers.names));
	ws_pages_free(markers.slots, SLOTS * sizeof(*markers.slots));
	markers.names = NULL;
	markers.slots = NULL;
	markers.n_names = 0;
	for (uint32_t i = 0; t->markers && i < WS_MIN(t->markers->depth, STACK_DEPTH); i++) {
		t->markers->ranges[i].recorded = 0;
		t->markers->ranges[i].open = 0;
		t->markers->ranges[i].external_before = 0;
	}
	t->external_id = 0;
}
