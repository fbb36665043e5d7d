/*
 * threads: the threads of the program, from their creation to their end.
 *
 * A thread has a place in an array. It is taken where the thread is created, so that threads are
 * numbered in that order, and given back by a thread-specific destructor. Threads that are
 * created without pthread_create() are found in /proc/self/task; of those nothing is
 * known, not even whether they have memory of their own for thread-local variables, so
 * handlers use what is in the place only.
 */
#include "collector/sample/sample_priv.h"
#include "collector/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAIN_STACK_MAX (128u << 20) /* the kernel keeps as much free below, see mmap_base() */
#define STACK_DEFAULT (8u << 20)
#define TASKS "/proc/self/task"

extern void *__libc_stack_end; /* of the loader: where the main thread began */

__thread uint32_t col_sample_interrupted __attribute__((tls_model("initial-exec")));
__thread uint64_t col_sample_blocked __attribute__((tls_model("initial-exec")));
__thread bool col_sample_resting __attribute__((tls_model("initial-exec")));
static __thread struct col_sampled *self __attribute__((tls_model("initial-exec")));

static struct {
	struct col_lock lock;
	struct col_sampled *all;      /* COL_SAMPLE_THREADS_MAX; acquire/release */
	uint32_t n_all;               /* places that were ever used */
	uint32_t free;                /* index + 1 */
	uint32_t n_living, n_pending; /* begun and not ended; created and not begun */
	uint32_t next_number, round;
	pthread_key_t key;
	bool has_key;
} threads;

/* ---- places ---- */

struct col_sampled *col_sampled_at(const void *address)
{
	struct col_sampled *all = __atomic_load_n(&threads.all, __ATOMIC_ACQUIRE);
	uintptr_t offset = (uintptr_t)address - (uintptr_t)all;

	if (!all || offset >= COL_SAMPLE_THREADS_MAX * sizeof(*all) || offset % sizeof(*all))
		return NULL;
	return &all[offset / sizeof(*all)];
}

struct col_sampled *col_sampled_of(uint32_t index)
{
	return &threads.all[index];
}

uint32_t col_sampled_index(const struct col_sampled *thread)
{
	return (uint32_t)(thread - threads.all);
}

/* Under the lock; NULL: too many. Memory of the last user is used again. */
static struct col_sampled *take_place(void)
{
	struct col_sampled *thread = NULL;

	if (threads.free) {
		thread = &threads.all[threads.free - 1];
		threads.free = thread->next_free;
	} else if (threads.n_all < COL_SAMPLE_THREADS_MAX) {
		thread = &threads.all[threads.n_all++];
	}
	if (!thread)
		return NULL;
	*thread = (struct col_sampled){ .work = thread->work };
	for (unsigned i = 0; i < CAP_SAMPLER_COUNT; i++)
		thread->timers[i] = -1;
	return thread;
}

static void give_place(struct col_sampled *thread)
{
	__atomic_store_n(&thread->tid, 0, __ATOMIC_RELEASE);
	thread->next_free = threads.free;
	threads.free = col_sampled_index(thread) + 1;
}

/* Under the lock, with tid, number and stack set. */
static void begin(struct col_sampled *thread)
{
	threads.n_living++;
	if (thread->number == COL_SAMPLE_OURS)
		return;
	if (!thread->work)
		thread->work = col_pages(sizeof(*thread->work));
	if (!thread->work || !col_sample_active())
		return;
	col_python_prepare(thread);
	col_timers_add(thread);
}

static void end(struct col_sampled *thread)
{
	struct cap_lane *lane = thread->lane;

	col_timers_remove(thread);
	__atomic_store_n(&thread->lane, NULL, __ATOMIC_RELEASE);
	if (lane && col_capture_now())
		cap_lane_put(lane);
	threads.n_living--;
	give_place(thread);
}

void col_sampled_each(void (*use)(struct col_sampled *thread, void *arg), void *arg)
{
	col_lock(&threads.lock);
	use(NULL, arg);
	for (uint32_t i = 0; i < threads.n_all; i++) {
		if (threads.all[i].tid)
			use(&threads.all[i], arg);
	}
	col_unlock(&threads.lock);
}

/* ---- threads that are created ---- */

static uint64_t stack_bytes(const pthread_attr_t *attr)
{
	pthread_attr_t defaults;
	size_t n_bytes = 0;

	if (attr) {
		pthread_attr_getstacksize(attr, &n_bytes);
	} else if (pthread_getattr_default_np(&defaults) == 0) {
		pthread_attr_getstacksize(&defaults, &n_bytes);
		pthread_attr_destroy(&defaults);
	}
	return n_bytes;
}

struct col_sampled *col_sample_new(const pthread_attr_t *attr, void *(*main)(void *), void *arg)
{
	int saved_errno = errno;
	struct col_sampled *thread;
	uint64_t n_bytes;
	bool ours;

	if (!threads.has_key)
		return NULL;
	ours = col_module_is_ours((uintptr_t)main);
	n_bytes = stack_bytes(attr);
	col_lock(&threads.lock);
	thread = take_place();
	if (thread) {
		thread->number = ours ? COL_SAMPLE_OURS : threads.next_number++;
		thread->main = main;
		thread->arg = arg;
		thread->stack_bytes = n_bytes;
		thread->first_blocked = col_sample_blocked;
		threads.n_pending++;
	}
	col_unlock(&threads.lock);
	errno = saved_errno;
	return thread;
}

void col_sample_failed(struct col_sampled *thread)
{
	int saved_errno = errno;

	col_lock(&threads.lock);
	threads.n_pending--;
	if (thread->number != COL_SAMPLE_OURS && thread->number + 1 == threads.next_number)
		threads.next_number--;
	give_place(thread);
	col_unlock(&threads.lock);
	errno = saved_errno;
}

/* Its descriptor is at the end of its stack: between here and there is memory. */
static void find_stack(struct col_sampled *thread)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), high = (uintptr_t)pthread_self();

	if (here < high && high - here < thread->stack_bytes) {
		thread->stack_high = high;
		/* the guard and what the descriptor's page rounds off */
		thread->stack_low = WS_MIN(here, high - thread->stack_bytes + 2 * 4096);
	}
}

static void find_main_stack(struct col_sampled *thread)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), high = (uintptr_t)__libc_stack_end;
	struct rlimit limit;
	uint64_t n_bytes = STACK_DEFAULT;

	if (getrlimit(RLIMIT_STACK, &limit) == 0)
		n_bytes = WS_MIN(limit.rlim_cur, MAIN_STACK_MAX);
	if (here < high && high - here < n_bytes) {
		thread->stack_high = high;
		thread->stack_low = high - n_bytes;
	}
}

/* A number below stays: the search found this thread before it came here. */
static void forget_found(uint32_t tid)
{
	for (uint32_t i = 0; i < threads.n_all; i++) {
		struct col_sampled *other = &threads.all[i];

		if (other->tid == tid && !other->thread && other->number != COL_SAMPLE_OURS)
			end(other);
	}
}

static void unblock(void)
{
	uint64_t signals = col_timers_signals();

	col_signals_mask(SIG_UNBLOCK, &signals, NULL);
}

/* The calling thread is @thread. */
static void begin_self(struct col_sampled *thread, bool pending)
{
	bool ours = thread->number == COL_SAMPLE_OURS;
	uint32_t tid = (uint32_t)syscall(SYS_gettid);

	self = thread;
	pthread_setspecific(threads.key, thread);
	if (!ours) {
		thread->interrupted = &col_sample_interrupted;
		thread->thread = &col_thread_self_;
		if (col_sample_active()) {
			col_thread(); /* gets its lane, so that handlers find it */
			unblock();
		}
	}
	col_lock(&threads.lock);
	threads.n_pending -= pending;
	forget_found(tid);
	__atomic_store_n(&thread->tid, tid, __ATOMIC_RELEASE);
	begin(thread);
	col_unlock(&threads.lock);
}

void *col_sample_main(void *arg)
{
	struct col_sampled *thread = arg;
	void *(*main)(void *) = thread->main;
	int saved_errno = errno, cancel;

	arg = thread->arg;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* not in here, with locks */
	find_stack(thread);
	col_sample_blocked = thread->first_blocked;
	begin_self(thread, true);
	pthread_setcancelstate(cancel, NULL);
	errno = saved_errno;
	return main(arg);
}

/* Destructor of the key. */
static void thread_ends(void *arg)
{
	struct col_sampled *thread = arg;
	int saved_errno = errno;

	if (self != thread)
		return; /* the child of a fork has only one */
	self = NULL;
	col_lock(&threads.lock);
	end(thread);
	col_unlock(&threads.lock);
	errno = saved_errno;
}

bool col_sampled_start(void)
{
	if (!threads.all)
		__atomic_store_n(&threads.all,
				 col_pages(COL_SAMPLE_THREADS_MAX * sizeof(*threads.all)),
				 __ATOMIC_RELEASE);
	if (threads.all && !threads.has_key) {
		threads.next_number = 1;
		threads.has_key = pthread_key_create(&threads.key, thread_ends) == 0;
	}
	return threads.has_key;
}

/* Threads of an earlier attach, whose lanes were of another capture. */
static void begin_again(struct col_sampled *thread, void *arg)
{
	struct cap_writer *writer = col_capture_now();

	if (!thread || thread->number == COL_SAMPLE_OURS || !thread->work || !writer)
		return;
	if (!thread->thread || !col_thread_lane(thread->thread))
		thread->lane = cap_lane_get(writer, thread->tid);
	col_timers_add(thread);
}

void col_sampled_first(bool ours)
{
	struct col_sampled *thread = self;

	col_sampled_each(begin_again, NULL);
	if (thread && thread->tid)
		return;
	if (!thread) {
		col_lock(&threads.lock);
		thread = take_place();
		col_unlock(&threads.lock);
	}
	if (!thread)
		return;
	thread->number = ours ? COL_SAMPLE_OURS : 0;
	if (thread->stack_low == thread->stack_high && syscall(SYS_gettid) == getpid())
		find_main_stack(thread);
	begin_self(thread, false);
}

static void stop_one(struct col_sampled *thread, void *arg)
{
	if (!thread)
		return;
	col_timers_remove(thread);
	__atomic_store_n(&thread->lane, NULL, __ATOMIC_RELEASE);
}

void col_sampled_stop(void)
{
	col_sampled_each(stop_one, NULL);
}

void col_sampled_rest(void)
{
	col_lock(&threads.lock);
	if (self)
		col_timers_remove(self);
	col_sample_resting = true;
	col_unlock(&threads.lock);
}

void col_sampled_forked(void)
{
	struct col_sampled *thread = self, keep = { 0 };

	threads.lock = (struct col_lock){ 0 };
	if (!threads.all)
		return;
	if (thread)
		keep = *thread;
	threads.n_living = threads.n_pending = threads.free = 0;
	threads.next_number = 1;
	for (uint32_t i = threads.n_all; i-- > 0;) {
		col_events_remove(&threads.all[i]); /* inherited; they count in the parent */
		threads.all[i] = (struct col_sampled){ .work = threads.all[i].work };
		if (&threads.all[i] != thread)
			give_place(&threads.all[i]);
	}
	if (!thread)
		return;
	thread->stack_low = keep.stack_low;
	thread->stack_high = keep.stack_high;
	for (unsigned i = 0; i < CAP_SAMPLER_COUNT; i++)
		thread->timers[i] = -1;
}

/* ---- threads that are found ---- */

static void write_found(const struct col_sampled *thread, bool ended)
{
	struct cap_writer *writer = col_capture_now();
	uint64_t now = cap_ticks();
	struct cap_rec_thread rec = {
		.h = { CAP_REC_FIXED_TAG(THREAD, struct cap_rec_thread), thread->tid, now },
		.ended = ended,
		.end_ticks = ended ? now : 0,
	};

	if (writer)
		cap_writer_meta(writer, &rec.h);
}

/* Threads that the collector created before its pthread_create() was wrapped. */
static bool is_named_ours(uint32_t tid)
{
	char path[64] = TASKS "/", name[16] = "";
	int fd;

	col_capture_name(tid, 0, path + strlen(path)); /* "TID-0.wcap": digits without printf */
	strcpy(strchr(path, '-'), "/comm");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (read(fd, name, sizeof(name) - 1) < 0)
			name[0] = '\0';
		close(fd);
	}
	return col_is_helper(name);
}

static void adopt(uint32_t tid)
{
	struct cap_writer *writer = col_capture_now();
	struct col_sampled *thread = writer ? take_place() : NULL;

	if (!thread)
		return;
	thread->seen = threads.round;
	thread->number = tid == (uint32_t)getpid() ? 0 : COL_SAMPLE_OURS;
	if (thread->number && !is_named_ours(tid))
		thread->number = threads.next_number++;
	if (thread->number == COL_SAMPLE_OURS) {
		__atomic_store_n(&thread->tid, tid, __ATOMIC_RELEASE);
		begin(thread);
		return;
	}
	thread->lane = cap_lane_get(writer, tid);
	__atomic_store_n(&thread->tid, tid, __ATOMIC_RELEASE);
	write_found(thread, false);
	begin(thread);
}

static void see(uint32_t tid)
{
	for (uint32_t i = 0; i < threads.n_all; i++) {
		if (threads.all[i].tid == tid) {
			threads.all[i].seen = threads.round;
			return;
		}
	}
	/* One that is being created has no place under its number yet, or no name. */
	if (!threads.n_pending && !col_helpers_pending())
		adopt(tid);
}

static void see_all(int fd)
{
	static char names[32768]; /* one helper searches */
	long n;

	while ((n = syscall(SYS_getdents64, fd, names, sizeof(names))) > 0) {
		for (long at = 0; at < n;) {
			uint16_t n_bytes;
			uint32_t tid = 0;

			memcpy(&n_bytes, names + at + 16, sizeof(n_bytes));
			for (const char *c = names + at + 19; *c >= '0' && *c <= '9'; c++)
				tid = tid * 10 + (uint32_t)(*c - '0');
			if (tid)
				see(tid);
			at += n_bytes;
		}
	}
}

/* Threads that ended without running destructors. */
static void end_missing(void)
{
	for (uint32_t i = 0; i < threads.n_all; i++) {
		struct col_sampled *thread = &threads.all[i];

		if (!thread->tid || thread->seen == threads.round)
			continue;
		/* The folder may leave out a thread when others end while it is read. */
		if (syscall(SYS_tgkill, getpid(), thread->tid, 0) == 0 || errno != ESRCH)
			continue;
		if (!thread->thread && thread->number != COL_SAMPLE_OURS)
			write_found(thread, true);
		end(thread);
	}
}

void col_sampled_search(void)
{
	struct stat tasks;
	int fd;

	/* A folder of n threads has n + 2 links. */
	if (stat(TASKS, &tasks) != 0 ||
	    tasks.st_nlink == __atomic_load_n(&threads.n_living, __ATOMIC_RELAXED) + 2)
		return;
	fd = open(TASKS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	col_lock(&threads.lock);
	threads.round++;
	see_all(fd);
	end_missing();
	col_unlock(&threads.lock);
	close(fd);
}
