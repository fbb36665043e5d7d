/*
 * marker: roctx marks, ranges and calls as records.
 *
 * A range becomes one record when it ends. Until then push ranges are kept on a
 * per-thread stack, start ranges in a table of slots that threads claim
 * with one compare-and-swap. Texts are stored in place while they fit, else
 * interned (a lock, a table).
 *
 * Ranges that are open at exit are written by the exiting thread, which reads
 * the stacks of all others while they may push and pop. An open range has a unique id.
 * The thread that exchanges it for 0 writes the record; a copy made before is
 * consistent, because the range was open all the time.
 *
 * With --kernel-rename the innermost pushed range names the GPU work submitted
 * inside it. A mark names the work after it, until the range around it ends. The name is
 * passed as external correlation id: the id of the first range or mark with that text.
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
	uint64_t open;            /* corr_id until a thread writes the record; set last */
};

struct col_marker_stack {
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
	struct col_lock lock; /* of making the tables, and of names */
	struct slot *slots;
	uint32_t rotor;
	uint64_t next_id;
	struct name {
		uint32_t message;
		uint64_t external_id;
	} * names; /* open addressing by string id */
	uint32_t n_names;
} markers = { .next_id = 1 };

static bool renaming(void)
{
	return col_config()->flags & COL_COLLECT_FLAG(KERNEL_RENAME);
}

static bool recorded_now(enum cap_marker_op op)
{
	return col_on(COL_SERVICE_MARKER) && !col_op_off(COL_OP_MARKER + op);
}

/* Is there anything to do for markers at all? Opens the capture, so that periods run. */
static bool wanted(void)
{
	if (!col_asked(COL_SERVICE_MARKER) && !renaming())
		return false;
	return col_capture_now() || col_capture();
}

static uint32_t record_bytes(const struct range *range)
{
	return (uint32_t)CAP_REC_ROUND(sizeof(struct cap_rec_marker) +
				       (range->message ? 0 : range->n_text));
}

static void fill(struct cap_rec_marker *rec, enum cap_marker_op op, const struct range *range,
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

static void append(struct col_thread *t, enum cap_marker_op op, const struct range *range,
		   uint64_t end_ticks, const char *text)
{
	uint32_t n_bytes = record_bytes(range);
	struct cap_lane *lane = col_thread_lane(t);
	struct cap_rec_marker *rec = lane ? cap_lane_reserve(&lane, n_bytes) : NULL;

	if (!rec) {
		col_call_lost_(t, CAP_DOMAIN_MARKER_API);
		return;
	}
	fill(rec, op, range, end_ticks, text);
	cap_lane_commit(lane, &rec->h, CAP_REC_TAG(CAP_REC_MARKER, n_bytes));
}

static uint32_t text_length(const char *text)
{
	return text ? (uint32_t)strnlen(text, TEXT_MAX) : 0;
}

static uint32_t intern(const char *text, uint32_t n)
{
	struct cap_writer *writer = col_capture_now();

	return writer ? cap_writer_intern(writer, text, n) : 0;
}

/* The external id of @message, written to the capture at its first use. */
static uint64_t external_of(uint32_t message, uint64_t corr_id)
{
	struct cap_writer *writer = col_capture_now();
	struct cap_rec_external rec = {
		.h = { CAP_REC_FIXED_TAG(EXTERNAL, struct cap_rec_external), message, 0 },
		.external_id = corr_id,
	};

	if (!message || !writer)
		return 0;
	col_lock(&markers.lock);
	if (!markers.names)
		markers.names = col_pages(NAMES * sizeof(*markers.names));
	/* A table that is full gives each further range an id of its own: more ids, same names. */
	for (uint32_t i = 0; markers.names && markers.n_names < NAMES / 2; i++) {
		struct name *name = &markers.names[(message * 2654435761u + i) % NAMES];

		if (name->message == message) {
			rec.external_id = name->external_id;
			col_unlock(&markers.lock);
			return rec.external_id;
		}
		if (!name->message) {
			*name = (struct name){ message, corr_id };
			markers.n_names++;
			break;
		}
	}
	col_unlock(&markers.lock);
	cap_writer_meta(writer, &rec.h);
	return rec.external_id;
}

void col_marker_mark(const char *text)
{
	struct col_thread *t;
	struct range mark = { 0 };
	bool recorded;

	if (!wanted())
		return;
	recorded = recorded_now(CAP_MARKER_MARK);
	if (!recorded && !renaming())
		return;
	t = col_thread();
	if (!t) {
		col_call_lost_(NULL, CAP_DOMAIN_MARKER_API);
		return;
	}
	mark.corr_id = col_corr_new(t);
	mark.ancestor_id = t->corr_id;
	mark.n_text = text_length(text);
	if (renaming()) {
		mark.message = intern(text, mark.n_text);
		t->external_id = external_of(mark.message, mark.corr_id);
	}
	mark.start_ticks = cap_ticks();
	if (recorded)
		append(t, CAP_MARKER_MARK, &mark, mark.start_ticks, text);
}

int32_t col_marker_thread_id(void)
{
	struct range call = { .start_ticks = cap_ticks() };
	int32_t tid = (int32_t)syscall(SYS_gettid);
	struct col_thread *t;

	if (!wanted() || !recorded_now(CAP_MARKER_GET_THREAD_ID))
		return tid;
	t = col_thread();
	if (!t) {
		col_call_lost_(NULL, CAP_DOMAIN_MARKER_API);
		return tid;
	}
	call.corr_id = col_corr_new(t);
	call.ancestor_id = t->corr_id;
	append(t, CAP_MARKER_GET_THREAD_ID, &call, cap_ticks(), NULL);
	return tid;
}

/* ---- push and pop ---- */

static void keep_text(struct col_marker_stack *stack, struct range *range, const char *text)
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

int col_marker_push(const char *text)
{
	int saved_errno = errno;
	struct col_thread *t;
	struct col_marker_stack *stack;
	struct range *range;

	if (!wanted())
		return -1;
	t = col_thread();
	if (t && !t->markers)
		__atomic_store_n(&t->markers, col_pages(STACK_BYTES), __ATOMIC_RELEASE);
	if (!t || !t->markers) {
		col_call_lost_(t, CAP_DOMAIN_MARKER_API);
		errno = saved_errno;
		return -1;
	}
	stack = t->markers;
	if (stack->depth >= STACK_DEPTH) {
		col_call_lost_(t, CAP_DOMAIN_MARKER_API);
		return (int)stack->depth++;
	}
	range = &stack->ranges[stack->depth];
	/* `open` is 0 already; the exiting thread may be reading it. */
	*range = (struct range){
		.corr_id = col_corr_new(t),
		.ancestor_id = t->corr_id,
		.external_before = t->external_id,
		.recorded = recorded_now(CAP_MARKER_THREAD_RANGE) ? col_epoch() : 0,
	};
	if (range->recorded || renaming())
		keep_text(stack, range, text);
	if (renaming() && range->message)
		t->external_id = external_of(range->message, range->corr_id);
	range->start_ticks = cap_ticks();
	if (range->recorded)
		__atomic_store_n(&range->open, range->corr_id, __ATOMIC_RELEASE);
	errno = saved_errno;
	return (int)stack->depth++;
}

/* True: the caller writes its record, no other thread does. */
static bool finish_range(struct range *range, uint64_t id)
{
	return id && __atomic_compare_exchange_n(&range->open, &id, 0, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED);
}

int col_marker_pop(void)
{
	uint64_t end_ticks = cap_ticks();
	struct col_thread *t = &col_thread_self_;
	struct col_marker_stack *stack = t->markers;
	struct range *range;

	if (!stack || stack->depth == 0)
		return -1;
	if (--stack->depth >= STACK_DEPTH)
		return (int)stack->depth;
	range = &stack->ranges[stack->depth];
	t->external_id = range->external_before;
	if (finish_range(range, range->corr_id) && range->recorded == col_epoch() && col_thread())
		append(t, CAP_MARKER_THREAD_RANGE, range, end_ticks, stack->text + range->text_at);
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
		col_lock(&markers.lock);
		if (!markers.slots) {
			slots = col_pages(SLOTS * sizeof(*slots));
			__atomic_store_n(&markers.slots, slots, __ATOMIC_RELEASE);
		}
		slots = markers.slots;
		col_unlock(&markers.lock);
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
uint64_t col_marker_start(const char *text)
{
	uint64_t id = __atomic_add_fetch(&markers.next_id, 1, __ATOMIC_RELAXED) * SLOTS;
	struct col_thread *t;
	struct slot *slot;

	if (!wanted() || !recorded_now(CAP_MARKER_PROCESS_RANGE))
		return id;
	t = col_thread();
	slot = t ? claim_slot() : NULL;
	if (!slot) {
		col_call_lost_(t, CAP_DOMAIN_MARKER_API);
		return id;
	}
	id += (uint64_t)(slot - markers.slots);
	slot->corr_id = col_corr_new(t);
	slot->ancestor_id = t->corr_id;
	slot->n_text = text_length(text);
	slot->message = 0;
	slot->epoch = col_epoch();
	if (slot->n_text <= SLOT_TEXT)
		memcpy(slot->text, text, slot->n_text);
	else
		slot->message = intern(text, slot->n_text);
	slot->start_ticks = cap_ticks();
	__atomic_store_n(&slot->id, id, __ATOMIC_RELEASE);
	return id;
}

void col_marker_stop(uint64_t id)
{
	uint64_t end_ticks = cap_ticks(), expected = id;
	struct slot *slots = __atomic_load_n(&markers.slots, __ATOMIC_ACQUIRE);
	struct slot *slot;
	struct col_thread *t;
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
	t = col_thread();
	if (slot->epoch != col_epoch())
		; /* begun under an earlier attach, whose capture is closed */
	else if (t)
		append(t, CAP_MARKER_PROCESS_RANGE, &range, end_ticks, slot->text);
	else
		col_call_lost_(NULL, CAP_DOMAIN_MARKER_API);
	__atomic_store_n(&slot->id, 0, __ATOMIC_RELEASE);
}

/* ---- pause and resume ---- */

static void control_mark(enum cap_marker_op op, bool on)
{
	struct col_thread *t;
	struct range mark = { 0 };

	if (!wanted())
		return;
	t = col_asked(COL_SERVICE_MARKER) ? col_thread() : NULL;
	if (t) {
		mark.start_ticks = cap_ticks();
		mark.corr_id = col_corr_new(t);
		mark.ancestor_id = t->corr_id;
	}
	col_control_region(on);
	if (t)
		append(t, op, &mark, cap_ticks(), NULL);
}

void col_marker_pause(void)
{
	control_mark(CAP_MARKER_PAUSE, false);
}

void col_marker_resume(void)
{
	control_mark(CAP_MARKER_RESUME, true);
}

/* ---- ends ---- */

/* Ranges that a thread leaves open end with it; without recording they are dropped. */
void col_markers_thread_end(struct col_thread *t)
{
	while (t->markers && t->markers->depth && col_thread_lane(t))
		col_marker_pop();
}

void col_markers_thread_gone(struct col_thread *t)
{
	struct col_marker_stack *stack = t->markers;

	__atomic_store_n(&t->markers, NULL, __ATOMIC_RELEASE);
	col_pages_free(stack, STACK_BYTES);
}

/* The thread may be anywhere, also in push and pop. */
void col_markers_end_of(struct cap_writer *writer, const struct col_thread *t)
{
	struct col_marker_stack *stack = __atomic_load_n(&t->markers, __ATOMIC_ACQUIRE);
	struct cap_lane *first = NULL;
	uint64_t end_ticks = cap_ticks();

	for (uint32_t i = 0; stack && i < STACK_DEPTH; i++) {
		uint64_t id = __atomic_load_n(&stack->ranges[i].open, __ATOMIC_ACQUIRE);
		struct range range = stack->ranges[i];
		uint32_t n_room = STACK_BYTES - sizeof(*stack), n_bytes;
		struct cap_rec_marker *rec;
		struct cap_lane *lane;

		if (!id || range.recorded != col_epoch())
			continue;
		if (!range.message &&
		    (range.text_at > n_room || range.n_text > n_room - range.text_at))
			continue; /* another one by now, half written */
		if (!first)
			first = cap_lane_get(writer, t->tid); /* its records are that thread's */
		n_bytes = record_bytes(&range);
		lane = first;
		rec = lane ? cap_lane_reserve(&lane, n_bytes) : NULL;
		if (!rec) {
			col_call_lost_(NULL, CAP_DOMAIN_MARKER_API);
			continue;
		}
		fill(rec, CAP_MARKER_THREAD_RANGE, &range, end_ticks, stack->text + range.text_at);
		if (finish_range(&stack->ranges[i], id))
			cap_lane_commit(lane, &rec->h, CAP_REC_TAG(CAP_REC_MARKER, n_bytes));
		else
			cap_lane_cancel(lane, n_bytes);
	}
	cap_lane_put(first);
}

void col_markers_end_started(void)
{
	struct slot *slots = __atomic_load_n(&markers.slots, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; slots && i < SLOTS; i++) {
		uint64_t id = __atomic_load_n(&slots[i].id, __ATOMIC_RELAXED);

		if (id > CLAIMED)
			col_marker_stop(id);
	}
}

/* Names are strings of a capture that is over. */
void col_markers_detach(void)
{
	col_lock(&markers.lock);
	col_pages_free(markers.names, NAMES * sizeof(*markers.names));
	markers.names = NULL;
	markers.n_names = 0;
	col_unlock(&markers.lock);
}

/* The child's ranges began in another capture: string and correlation ids mean nothing here. */
void col_markers_forked(void)
{
	struct col_thread *t = &col_thread_self_;

	markers.lock = (struct col_lock){ 0 };
	col_pages_free(markers.names, NAMES * sizeof(*markers.names));
	col_pages_free(markers.slots, SLOTS * sizeof(*markers.slots));
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
