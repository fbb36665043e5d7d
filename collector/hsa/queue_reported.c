/*
 * queue_reported: queues whose kernels the GPU reports.
 *
 * The software GPU calls back when a packet has ended (softgpu/cp/watch.h). So queues are not
 * intercepted: no proxy queue, no signals, no polling; and a completed kernel is recorded even if
 * the program is killed. The GPU does not know the launching thread and the correlation id. So
 * the functions that reserve slots in a queue are hooked: they write a note for each slot before
 * a packet can be in it.
 *
 * The launching thread writes a note, the GPU's thread reads it, and the thread that reserves the
 * slot in the next lap of the ring overwrites it. The queue's rules order these accesses: the
 * packet's header publishes the note, and a slot is not reserved again before its packet is freed.
 *
 * Most notes would be "the next id, otherwise unchanged". They are not written: the GPU's side
 * increments the id itself. So a loop that launches kernels shares no additional memory with the
 * GPU. A thread omits a note if it also reserved the slot before.
 *
 * After an attach kernels are counted this way, too: queues exist that cannot be intercepted, and
 * HIP 5.7 and later launch kernels without a completion signal, by which count/tickets.c would find
 * them. The GPU asks what to count before a kernel starts, so that is decided then, on its thread.
 */
#include "collector/hsa/queue_priv.h"
#include "collector/softgpu.h"
#include "softgpu/counters/service.h"
#include "softgpu/cp/watch.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STUCK_NS 300000000u /* at exit: no progress for this long */
#define COUNTS 1u           /* in an epoch: kernels are counted, or sampled */

/* Separate cache lines: launching threads write the second, the GPU's threads read the first. */
static struct {
	/* 0: off. Places were reserved unseen between two: notes end with theirs. With COUNTS */
	uint32_t epoch;
	uint32_t n_epochs;
	uint64_t n_places __attribute__((aligned(64))); /* reserved while recording was on */
} reported __attribute__((aligned(64)));

/* The last place that the calling thread reserved. */
static __thread struct {
	struct col_queue *queue;
	uint32_t queue_id; /* another queue may have got the same place in the list, and address */
	uint64_t index;
	struct col_launch_note note;
} last __attribute__((tls_model("initial-exec")));

static uint32_t epoch_now(void)
{
	return __atomic_load_n(&reported.epoch, __ATOMIC_RELAXED);
}

bool col_gpu_reports(void)
{
	return epoch_now() != 0;
}

static struct col_launch_note *note_at(const struct col_queue *queue, uint64_t index)
{
	return &queue->notes[index & (queue->rec.n_packets - 1)];
}

/* What is known of a packet without a note of its own. */
static void go_on(struct col_launch_note *note)
{
	note->order += note->order != 0;
	note->corr_id += note->corr_step;
}

/* ---- the program's side ---- */

/* A queue is used by threads that know it exists: its place in the list is not given to another. */
static __attribute__((noinline)) struct col_queue *find_queue(const hsa_queue_t *handle)
{
	struct col_queue *queue;

	col_lock(&col_queues_lock);
	queue = col_queue_find(handle);
	if (!queue && col_hsa_attached())
		queue = col_queue_meet((hsa_queue_t *)handle);
	if (queue && queue->plain && !queue->notes)
		col_reported_queue(queue);
	col_unlock(&col_queues_lock);
	last.queue = queue && queue->notes ? queue : NULL;
	last.queue_id = last.queue ? queue->rec.h.what : 0;
	last.note.epoch = 0; /* nothing goes on from there */
	return last.queue;
}

static void write_note(struct col_queue *queue, uint64_t index)
{
	struct col_launch_note *to = note_at(queue, index);

	__atomic_store_n(&to->order, last.note.order, __ATOMIC_RELAXED);
	__atomic_store_n(&to->corr_id, last.note.corr_id, __ATOMIC_RELAXED);
	__atomic_store_n(&to->corr_step, last.note.corr_step, __ATOMIC_RELAXED);
	__atomic_store_n(&to->external_id, last.note.external_id, __ATOMIC_RELAXED);
	__atomic_store_n(&to->tid, last.note.tid, __ATOMIC_RELAXED);
	__atomic_store_n(&to->stream, last.note.stream, __ATOMIC_RELAXED);
	__atomic_store_n(&to->untraced, last.note.untraced, __ATOMIC_RELAXED);
	__atomic_store_n(&to->epoch, last.note.epoch, __ATOMIC_RELAXED);
	__atomic_store_n(&to->tag, index + 1, __ATOMIC_RELAXED);
}

static bool says(const struct col_launch_note *note, uint64_t order, uint32_t untraced,
		 struct col_cause cause)
{
	return note->order == order && note->corr_id == cause.corr_id &&
	       note->external_id == cause.external_id && note->stream == cause.stream &&
	       note->tid == cause.tid && note->untraced == untraced;
}

/* @t NULL: this thread cannot be recorded, and its kernels count as lost. */
static void note(struct col_queue *queue, uint64_t index, bool on, bool traced,
		 struct col_thread *t, uint32_t epoch)
{
	struct col_cause cause = t ? col_cause(t) : (struct col_cause){ 0 };
	uint64_t order = on ? __atomic_add_fetch(&reported.n_places, 1, __ATOMIC_RELAXED) : 0;
	uint64_t step = cause.corr_id - last.note.corr_id;
	bool next = last.index + 1 == index && last.note.epoch == epoch;

	go_on(&last.note);
	if (__builtin_expect(!next || !says(&last.note, order, !traced, cause), 0)) {
		last.note = (struct col_launch_note){
			.order = order,
			.corr_id = cause.corr_id,
			.corr_step = next ? step : 0,
			.external_id = cause.external_id,
			.tid = cause.tid,
			.stream = cause.stream,
			.epoch = epoch,
			.untraced = !traced,
		};
		write_note(queue, index);
	}
	last.index = index;
}

static void reserved(const hsa_queue_t *handle, uint64_t first, uint64_t n)
{
	struct col_queue *queue = last.queue;
	uint32_t epoch = epoch_now();
	struct col_thread *t;
	bool on, traced;

	if (!epoch)
		return;
	if (__builtin_expect(
		    !queue || queue->handle != handle || queue->rec.h.what != last.queue_id, 0))
		queue = find_queue(handle);
	if (!queue)
		return;
	traced = col_on(COL_SERVICE_KERNEL);
	on = traced || (epoch & COUNTS && col_count_selects());
	t = on ? col_thread() : NULL;
	n = WS_MIN(n, queue->rec.n_packets);
	for (uint64_t i = 0; i < n; i++)
		note(queue, first + i, on, traced, t, epoch);
}

#define ADD(name)                                                                                  \
	uint64_t col_hsa_hook_##name(const hsa_queue_t *queue, uint64_t value)                     \
	{                                                                                          \
		uint64_t first = col_hsa.name(queue, value);                                       \
                                                                                                   \
		reserved(queue, first, value);                                                     \
		return first;                                                                      \
	}
ADD(hsa_queue_add_write_index_scacq_screl)
ADD(hsa_queue_add_write_index_scacquire)
ADD(hsa_queue_add_write_index_relaxed)
ADD(hsa_queue_add_write_index_screlease)
#undef ADD

#define CAS(name)                                                                                  \
	uint64_t col_hsa_hook_##name(const hsa_queue_t *queue, uint64_t expected, uint64_t value)  \
	{                                                                                          \
		uint64_t was = col_hsa.name(queue, expected, value);                               \
                                                                                                   \
		if (was == expected)                                                               \
			reserved(queue, was, value - was);                                         \
		return was;                                                                        \
	}
CAS(hsa_queue_cas_write_index_scacq_screl)
CAS(hsa_queue_cas_write_index_scacquire)
CAS(hsa_queue_cas_write_index_relaxed)
CAS(hsa_queue_cas_write_index_screlease)
#undef CAS

/* The thread that stores the index is the only producer, and has written the packets already. */
#define STORE(name)                                                                                \
	void col_hsa_hook_##name(const hsa_queue_t *queue, uint64_t value)                         \
	{                                                                                          \
		uint64_t was = col_hsa.hsa_queue_load_write_index_relaxed(queue);                  \
                                                                                                   \
		if (value > was)                                                                   \
			reserved(queue, was, value - was);                                         \
		col_hsa.name(queue, value);                                                        \
	}
STORE(hsa_queue_store_write_index_relaxed)
STORE(hsa_queue_store_write_index_screlease)
#undef STORE

/* ---- the GPU's side ---- */

/* For every service that was asked for it. */
static void count(enum cap_ledger_column column, uint64_t n, bool traced, bool counted)
{
	struct cap_writer *writer = col_capture_now();

	if (writer && n && traced)
		cap_writer_count(writer, CAP_DOMAIN_KERNEL_DISPATCH, column, n);
	if (writer && n && counted && col_asked(COL_SERVICE_COUNTERS))
		cap_writer_count(writer, CAP_DOMAIN_COUNTER_COLLECTION, column, n);
}

static bool is_traced(const struct col_queue *queue)
{
	return !queue->reported.now.untraced;
}

/* Whether values belong to the kernel that has ended. */
static bool is_counted(const struct col_queue *queue)
{
	return queue->reported.n_asked == queue->reported.n_read &&
	       queue->reported.ticket.set != COL_COUNT_NOTHING;
}

static void describe(const struct col_queue *queue, const struct softgpu_done *done,
		     struct cap_rec_dispatch *rec)
{
	const hsa_kernel_dispatch_packet_t *packet = done->aql;
	const struct col_launch_note *why = &queue->reported.now;

	col_queue_describe(queue, col_kernel_by_object(packet->kernel_object), packet,
			   (struct col_cause){ .corr_id = why->corr_id,
					       .external_id = why->external_id,
					       .stream = why->stream,
					       .tid = why->tid },
			   rec);
	rec->h.time = done->start_ns;
	rec->end_ns = done->end_ns;
	rec->dispatch_id = why->epoch & COUNTS ? queue->reported.number : why->order;
	rec->flags = why->epoch & COUNTS ? 0 : CAP_DISPATCH_ORDERED;
}

static void write_record(const struct col_queue *queue, const struct softgpu_done *done)
{
	struct col_thread *t = col_thread();
	struct cap_lane *lane = t ? col_thread_lane(t) : NULL;
	struct cap_rec_dispatch *rec = lane ? cap_lane_reserve(&lane, sizeof(*rec)) : NULL;

	if (!rec) {
		count(CAP_LEDGER_DROPPED, 1, true, false);
		return;
	}
	col_fetch_to_write((const char *)rec + COL_LANE_AHEAD);
	col_fetch_to_write((const char *)rec + COL_LANE_AHEAD + 64);
	describe(queue, done, rec);
	cap_lane_commit(lane, &rec->h, CAP_REC_FIXED_TAG(DISPATCH, struct cap_rec_dispatch));
}

/* False: it has no values. */
static bool write_counted(const struct col_queue *queue, const struct softgpu_done *done)
{
	struct cap_rec_dispatch rec;

	if (!is_counted(queue))
		return false;
	memset(&rec, 0, sizeof(rec));
	describe(queue, done, &rec);
	if (!is_traced(queue))
		rec.flags |= CAP_DISPATCH_UNASKED;
	return col_count_write(&queue->reported.ticket, &rec);
}

static bool is_kernel(const union col_packet *packet)
{
	uint16_t header = __atomic_load_n(&packet->header, __ATOMIC_RELAXED);

	return (header >> HSA_PACKET_HEADER_TYPE & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
}

static bool is_noted(const struct col_launch_note *from, uint64_t index, uint32_t epoch)
{
	return __atomic_load_n(&from->tag, __ATOMIC_RELAXED) == index + 1 &&
	       __atomic_load_n(&from->epoch, __ATOMIC_RELAXED) == epoch;
}

/* The note of this packet; false: it has none, because it was reserved before recording. */
static bool read_note(struct col_queue *queue, uint64_t packet, uint32_t epoch)
{
	const struct col_launch_note *from = note_at(queue, packet);
	struct col_launch_note *now = &queue->reported.now;

	if (packet != queue->reported.n_read)
		now->epoch = 0;
	queue->reported.n_read = packet + 1;
	if (__builtin_expect(!is_noted(from, packet, epoch), 1)) {
		go_on(now);
		return now->epoch == epoch;
	}
	now->epoch = epoch;
	now->order = __atomic_load_n(&from->order, __ATOMIC_RELAXED);
	now->corr_id = __atomic_load_n(&from->corr_id, __ATOMIC_RELAXED);
	now->corr_step = __atomic_load_n(&from->corr_step, __ATOMIC_RELAXED);
	now->external_id = __atomic_load_n(&from->external_id, __ATOMIC_RELAXED);
	now->tid = __atomic_load_n(&from->tid, __ATOMIC_RELAXED);
	now->stream = __atomic_load_n(&from->stream, __ATOMIC_RELAXED);
	now->untraced = __atomic_load_n(&from->untraced, __ATOMIC_RELAXED);
	return true;
}

/* A queue from before: where it belongs is known from here only. */
static void learn_agent(struct col_queue *queue, uint32_t node)
{
	struct cap_writer *writer = col_capture_now();

	queue->rec.agent = col_agent_by_node(node);
	if (!queue->rec.agent || !writer)
		return;
	cap_writer_meta(writer, &queue->rec.h);
	col_scratch_queue(queue->handle, queue->rec.h.what, queue->rec.agent);
}

/* What read_note() will find: recording was on when the place was reserved. */
static bool was_on(const struct col_queue *queue, uint64_t index)
{
	const struct col_launch_note *from = note_at(queue, index), *now = &queue->reported.now;
	uint32_t epoch = epoch_now();

	if (!epoch)
		return false;
	if (is_noted(from, index, epoch))
		return __atomic_load_n(&from->order, __ATOMIC_RELAXED) != 0;
	return queue->reported.n_read == index && now->epoch == epoch && now->order != 0;
}

/* The queue with this ring. A kernel is about to start, so it is not destroyed meanwhile. */
static struct col_queue *queue_of_ring(uint64_t ring)
{
	struct col_queue *queue = NULL;

	col_lock(&col_queues_lock);
	while ((queue = col_queue_next(queue)) != NULL) {
		if (queue->handle && queue->notes && !queue->reported.dying &&
		    (uintptr_t)queue->handle->base_address == ring)
			break;
	}
	col_unlock(&col_queues_lock);
	return queue;
}

/* A kernel starts. All packets before it have ended, so its note is known already. */
static struct col_count_ticket *on_start(const struct softgpu_dispatch *dispatch, uint32_t agent)
{
	struct col_queue *queue = queue_of_ring(dispatch->queue);
	uint64_t at = dispatch->packet;
	const hsa_kernel_dispatch_packet_t *packet;

	if (!queue || !was_on(queue, at))
		return NULL;
	packet = (const hsa_kernel_dispatch_packet_t *)queue->handle->base_address +
		 (at & (queue->rec.n_packets - 1));
	col_queue_decide(&queue->reported.ticket, agent,
			 col_kernel_by_object(packet->kernel_object), packet, true);
	queue->reported.number = col_queue_number();
	queue->reported.n_asked = at + 1;
	return &queue->reported.ticket;
}

static void on_counted_done(struct col_queue *queue, const struct softgpu_done *done)
{
	if (queue->reported.n_asked != queue->reported.n_read) /* this GPU does not count */
		queue->reported.number = col_queue_number();
	if (!is_traced(queue))
		count(CAP_LEDGER_PAUSED, 1, col_asked(COL_SERVICE_KERNEL), false);
	if (!queue->reported.now.tid)
		count(CAP_LEDGER_DROPPED, 1, is_traced(queue), is_counted(queue));
	else if (!write_counted(queue, done) && is_traced(queue))
		write_record(queue, done);
}

static void on_done(const struct softgpu_done *done)
{
	struct col_queue *queue = *done->keep;
	uint32_t epoch = epoch_now();

	if (!epoch)
		return;
	if (__builtin_expect(!queue || queue->handle != done->queue, 0)) {
		col_lock(&col_queues_lock);
		*done->keep = queue = col_queue_find(done->queue);
		col_unlock(&col_queues_lock);
	}
	/* ROCr's own queues, and those behind a proxy, are not in the list or have no notes. */
	if (!queue || !queue->notes || !read_note(queue, done->packet, epoch) ||
	    !is_kernel(done->aql))
		return;
	if (__builtin_expect(!queue->rec.agent, 0))
		learn_agent(queue, done->node);
	if (!queue->reported.now.order)
		count(CAP_LEDGER_PAUSED, 1, col_asked(COL_SERVICE_KERNEL), false);
	else if (epoch & COUNTS)
		on_counted_done(queue, done);
	else if (!queue->reported.now.tid)
		count(CAP_LEDGER_DROPPED, 1, true, false);
	else
		write_record(queue, done);
	__atomic_store_n(&queue->reported.n_done, queue->reported.n_done + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&queue->reported.n_over, done->packet + 1, __ATOMIC_RELEASE);
}

/* ---- queues ---- */

/* A real GPU reports nothing; WAVESCOPE_INTERCEPT=1 makes us treat this one the same. */
static int (*find_watch(void))(softgpu_watcher *)
{
	const char *intercept = getenv("WAVESCOPE_INTERCEPT");
	void *library = col_softgpu_open();
	int (*watch)(softgpu_watcher *) = NULL;

	if (library && !(intercept && intercept[0] && strcmp(intercept, "0") != 0))
		*(void **)&watch = dlsym(library, "softgpu_watch");
	if (library)
		dlclose(library); /* ROCr keeps it */
	return watch;
}

void col_reported_load(void)
{
	/* Of a program that we started, counted queues are intercepted. */
	bool counting = col_counting(), intercepted = counting && !col_hsa_attached();
	bool wanted = col_asked(COL_SERVICE_KERNEL) || counting;
	/* Packets count behind the kernel: its end is too early to read values. */
	int (*watch)(softgpu_watcher *) = wanted && !col_count_by_packets() ? find_watch() : NULL;
	bool watched = watch && watch(intercepted ? col_pending_reported : on_done) == 0;
	bool reports = watched && !intercepted;
	uint32_t epoch = reports ? ++reported.n_epochs << 1 | (counting ? COUNTS : 0) : 0;

	if (epoch & COUNTS)
		col_queue_number_again();
	col_count_ask(epoch & COUNTS ? on_start : NULL);
	__atomic_store_n(&reported.epoch, epoch, __ATOMIC_RELAXED);
}

bool col_reported_queue(struct col_queue *queue)
{
	struct col_launch_note *notes = col_pages(queue->rec.n_packets * sizeof(*notes));

	queue->plain = true;
	queue->notes = notes; /* its first packet passes it on to the GPU's thread */
	return notes != NULL;
}

/*
 * Kernels in the queue, before packet @end, that did not end. The GPU moves the read index last:
 * a kernel that the program saw complete may still be behind it, and is counted as done already.
 */
static uint64_t n_waiting(const struct col_queue *queue, uint64_t end)
{
	const union col_packet *ring = queue->handle->base_address;
	uint64_t n = 0, at = col_hsa.hsa_queue_load_read_index_relaxed(queue->handle);
	uint64_t n_over = __atomic_load_n(&queue->reported.n_over, __ATOMIC_ACQUIRE);

	at = WS_MAX(at, n_over);
	for (end = WS_MIN(end, at + queue->rec.n_packets); at < end; at++)
		n += is_kernel(&ring[at & (queue->rec.n_packets - 1)]);
	return n;
}

uint64_t col_reported_before_destroy(struct col_queue *queue)
{
	if (!col_gpu_reports())
		return 0; /* or the child of a fork, which has no rings */
	queue->reported.dying = true;
	return __atomic_load_n(&queue->reported.n_done, __ATOMIC_RELAXED) +
	       n_waiting(queue, col_hsa.hsa_queue_load_write_index_relaxed(queue->handle));
}

void col_reported_not_destroyed(struct col_queue *queue)
{
	queue->reported.dying = false;
}

void col_reported_destroyed(struct col_queue *queue, uint64_t n_launched)
{
	uint64_t n_failed = n_launched - WS_MIN(n_launched, queue->reported.n_done);

	if (col_gpu_reports())
		count(CAP_LEDGER_FAILED, n_failed, col_asked(COL_SERVICE_KERNEL),
		      epoch_now() & COUNTS);
	col_pages_free(queue->notes, queue->rec.n_packets * sizeof(*queue->notes));
	queue->notes = NULL;
}

void col_reported_drain(uint64_t deadline_ns)
{
	uint64_t patience_ns = epoch_now() & COUNTS && col_count_on() ? COL_COUNTING_NS : STUCK_NS;
	uint64_t now = col_now_ns(), stuck_ns = now + patience_ns, n_before = UINT64_MAX, n;

	if (patience_ns == COL_COUNTING_NS)
		deadline_ns = WS_MAX(deadline_ns, now + patience_ns);
	/* Other threads may go on launching: what they launch from now on is not waited for. */
	col_lock(&col_queues_lock);
	for (struct col_queue *queue = NULL; (queue = col_queue_next(queue)) != NULL;)
		if (queue->handle && queue->notes && !queue->reported.dying)
			queue->reported.last =
				col_hsa.hsa_queue_load_write_index_relaxed(queue->handle);
	col_unlock(&col_queues_lock);
	while (col_gpu_reports() && now < deadline_ns && now < stuck_ns) {
		n = 0;
		col_lock(&col_queues_lock);
		for (struct col_queue *queue = NULL; (queue = col_queue_next(queue)) != NULL;)
			if (queue->handle && queue->notes && !queue->reported.dying)
				n += n_waiting(queue, queue->reported.last);
		col_unlock(&col_queues_lock);
		if (!n)
			return;
		if (n < n_before)
			stuck_ns = now + patience_ns;
		n_before = n;
		nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
		now = col_now_ns();
	}
}

void col_reported_forked(void)
{
	reported.epoch = 0;
	memset(&last, 0, sizeof(last));
}
