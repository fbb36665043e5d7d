#include "collector/hip/streams.h"

#include "base/util.h"
#include "collector/provider.h"

#include <pthread.h>
#include <string.h>

#define FIRST_SLOTS 256u

/* What programs pass for "no stream object": hipStreamLegacy and hipStreamPerThread. */
#define STREAM_LEGACY ((uintptr_t)1)
#define STREAM_PER_THREAD ((uintptr_t)2)

struct stream {
	uintptr_t handle; /* written last; stays when the stream is gone, so that probing goes on */
	uint32_t id;      /* 0: destroyed */
	uint32_t flags;
	int32_t priority;
	uint32_t zero;
	uint64_t made_ticks;
	char name[40];
};

struct table {
	uint32_t n_slots; /* a power of two */
	uint32_t n_used;
	struct table *outgrown; /* replaced, but a thread may still read it */
	struct stream slots[];
};

static struct table *streams, *spare, *outgrown;
static uint32_t last_id;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread uint32_t per_thread_id __attribute__((tls_model("initial-exec")));

static uint32_t hash(uintptr_t handle)
{
	return (uint32_t)((uint64_t)handle * 0x9e3779b97f4a7c15u >> 32);
}

/* The slot of @handle, or the free one where it would go; NULL: no table yet. */
static struct stream *find(struct table *t, uintptr_t handle)
{
	if (!t)
		return NULL;
	for (uint32_t i = hash(handle);; i++) {
		struct stream *s = &t->slots[i & (t->n_slots - 1)];
		uintptr_t there = __atomic_load_n(&s->handle, __ATOMIC_ACQUIRE);

		if (there == handle || !there)
			return s;
	}
}

static void write_stream(struct cap_writer *writer, const struct stream *s)
{
	struct cap_rec_stream rec = { .handle = s->handle,
				      .flags = s->flags,
				      .priority = s->priority };

	rec.h.tag = CAP_REC_FIXED_TAG(STREAM, struct cap_rec_stream);
	rec.h.what = s->id;
	rec.h.time = s->made_ticks;
	if (s->name[0])
		rec.name_str = cap_writer_intern(writer, s->name, strlen(s->name));
	cap_writer_meta(writer, &rec.h);
}

/* An empty table of @n_slots: the one before the last, if it fits. */
static struct table *new_table(uint32_t n_slots)
{
	size_t n_bytes = sizeof(struct table) + n_slots * sizeof(struct stream);
	struct table *t = spare && spare->n_slots == n_slots ? spare : col_pages(n_bytes);

	if (!t)
		return NULL;
	/* A reader that has slept in it since finds nothing, and asks again under the lock. */
	for (uint32_t i = 0; t == spare && i < n_slots; i++) {
		__atomic_store_n(&t->slots[i].handle, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&t->slots[i].id, 0, __ATOMIC_RELAXED);
	}
	t->n_slots = n_slots;
	t->n_used = 0;
	return t;
}

/*
 * Room for one more, with a quarter of the slots free; under the lock. Slots of streams that
 * are gone are swept out by this; a program that makes and destroys streams for ever stays
 * with two tables.
 */
static bool make_room(void)
{
	struct table *old = streams, *new;
	uint32_t n_slots = old ? old->n_slots : FIRST_SLOTS, n_live = 0;

	if (old && old->n_used + 1 < old->n_slots - old->n_slots / 4)
		return true;
	for (uint32_t i = 0; old && i < old->n_slots; i++)
		n_live += old->slots[i].id != 0;
	if (n_live > n_slots / 2)
		n_slots *= 2;
	new = new_table(n_slots);
	if (!new)
		return false;
	for (uint32_t i = 0; old && i < old->n_slots; i++) {
		if (!old->slots[i].id)
			continue;
		*find(new, old->slots[i].handle) = old->slots[i];
		new->n_used++;
	}
	__atomic_store_n(&streams, new, __ATOMIC_RELEASE);
	if (spare && spare != new) {
		spare->outgrown = outgrown;
		outgrown = spare;
	}
	spare = old;
	return true;
}

/* Under the lock. @id 0: the next number. */
static uint32_t insert(uintptr_t handle, uint32_t id, uint32_t flags, int32_t priority)
{
	struct stream *s;

	if (!make_room())
		return 0;
	s = find(streams, handle);
	if (!s->handle)
		streams->n_used++;
	s->flags = flags;
	s->priority = priority;
	s->name[0] = 0;
	s->made_ticks = cap_ticks();
	if (!id)
		id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&s->id, id, __ATOMIC_RELAXED);
	__atomic_store_n(&s->handle, handle, __ATOMIC_RELEASE);
	return id;
}

static bool wanted(void)
{
	return !(col_config()->flags & COL_COLLECT_FLAG(GROUP_BY_QUEUE));
}

static bool special(uintptr_t handle)
{
	return handle <= STREAM_PER_THREAD;
}

static void write_new(uintptr_t handle, uint32_t id)
{
	struct cap_writer *writer = col_capture();
	struct stream s = { 0 };

	if (!writer)
		return;
	pthread_mutex_lock(&lock);
	if (streams)
		s = *find(streams, handle);
	pthread_mutex_unlock(&lock);
	if (s.id == id)
		write_stream(writer, &s);
}

static uint32_t number_of_this_thread(void)
{
	struct stream s = { .handle = STREAM_PER_THREAD };
	struct cap_writer *writer;

	if (!per_thread_id) {
		per_thread_id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
		s.id = per_thread_id;
		s.made_ticks = cap_ticks();
		writer = col_capture();
		if (writer)
			write_stream(writer, &s);
	}
	return per_thread_id;
}

WS_PUBLIC uint32_t col_hip_stream(const void *handle)
{
	struct stream *s;
	uint32_t id = 0;

	if ((uintptr_t)handle <= STREAM_LEGACY || !wanted())
		return 0;
	if ((uintptr_t)handle == STREAM_PER_THREAD)
		return number_of_this_thread();
	s = find(__atomic_load_n(&streams, __ATOMIC_ACQUIRE), (uintptr_t)handle);
	/* Once more: a free slot may be another stream's by now. */
	if (s && __atomic_load_n(&s->handle, __ATOMIC_ACQUIRE) == (uintptr_t)handle)
		id = __atomic_load_n(&s->id, __ATOMIC_RELAXED);
	if (__builtin_expect(id != 0, 1))
		return id;
	/* Made where we do not look, by a library that was bound past us. */
	pthread_mutex_lock(&lock);
	s = find(streams, (uintptr_t)handle);
	id = s && s->handle ? s->id : 0;
	if (!id)
		id = insert((uintptr_t)handle, 0, 0, 0);
	pthread_mutex_unlock(&lock);
	write_new((uintptr_t)handle, id);
	return id;
}

WS_PUBLIC void col_hip_stream_add(const void *handle, uint32_t flags, int32_t priority)
{
	uint32_t id;

	if (special((uintptr_t)handle) || !wanted())
		return;
	pthread_mutex_lock(&lock);
	id = insert((uintptr_t)handle, 0, flags, priority);
	pthread_mutex_unlock(&lock);
	write_new((uintptr_t)handle, id);
}

WS_PUBLIC uint32_t col_hip_stream_remove(const void *handle)
{
	struct stream *s;
	uint32_t id = 0;

	if (special((uintptr_t)handle))
		return 0;
	pthread_mutex_lock(&lock);
	s = find(streams, (uintptr_t)handle);
	if (s && s->handle) {
		id = s->id;
		__atomic_store_n(&s->id, 0, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&lock);
	return id;
}

WS_PUBLIC void col_hip_stream_restore(const void *handle, uint32_t id)
{
	if (!id)
		return;
	pthread_mutex_lock(&lock);
	insert((uintptr_t)handle, id, 0, 0);
	pthread_mutex_unlock(&lock);
}

WS_PUBLIC void col_hip_stream_name(const void *handle, const char *name)
{
	uint32_t id = col_hip_stream(handle);
	struct stream *s;

	if (!id || special((uintptr_t)handle))
		return;
	pthread_mutex_lock(&lock);
	s = find(streams, (uintptr_t)handle);
	strncpy(s->name, name, sizeof(s->name) - 1);
	pthread_mutex_unlock(&lock);
	write_new((uintptr_t)handle, id);
}

void col_hip_streams_state(struct cap_writer *writer)
{
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; streams && i < streams->n_slots; i++)
		if (streams->slots[i].id)
			write_stream(writer, &streams->slots[i]);
	pthread_mutex_unlock(&lock);
}

void col_hip_streams_forked(void)
{
	/* The thread that held it may not exist here. */
	pthread_mutex_init(&lock, NULL);
}
