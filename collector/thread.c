/*
 * thread: the collector's state per thread, from its first record to thread exit.
 *
 * The state is in initial-exec TLS, so the hot path finds it with one instruction.
 * A lane is taken at the first record and returned by a thread-specific destructor;
 * the key is created in the constructor, early enough to be one of those that pthread
 * stores without allocating.
 */
#include "collector/collector_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IDS_PER_BLOCK 256u
#define COMM_BYTES 16
#define USAGES_MAX 256u      /* threads that are asked for their CPU time when the program ends */
#define RETRY_TICKS 1000000u /* a fraction of a millisecond: the lane's own retry does the rest */

__thread struct col_thread col_thread_self_ __attribute__((tls_model("initial-exec")));

/* The roll of living threads that record; a slot whose tid is 0 is free. */
#define ROLL_MAX 65536u
struct seen {
	uint32_t tid;
	uint32_t name_str;
	uint32_t named; /* by the program: what the kernel calls it does not matter */
	uint32_t zero;
	uint64_t met_ticks;
	pthread_t pthread;
	struct col_thread *thread;
};

static struct {
	pthread_key_t key;
	bool has_key;
	uint64_t next_id;     /* correlation ids up to here are taken */
	struct col_lock lock; /* of taking slots */
	struct seen *roll;    /* ROLL_MAX, made when the first thread is met */
	uint32_t n_roll, rotor;
	uint64_t forked_in_id; /* what the parent was doing when it forked us */
	uint32_t sandboxed;    /* the program is about to limit its system calls, or has */
	uint32_t closed_epoch; /* lanes of this epoch and before are not to be used any more */
} threads = { .next_id = 1 };

uint64_t col_corr_refill_(struct col_thread *t)
{
	uint64_t first = __atomic_fetch_add(&threads.next_id, IDS_PER_BLOCK, __ATOMIC_RELAXED);

	t->next_id = first + 1;
	t->end_id = first + IDS_PER_BLOCK;
	return first;
}

static void write_thread(struct cap_writer *writer, uint32_t tid, uint64_t met_ticks,
			 uint32_t name_str, uint64_t end_ticks)
{
	struct cap_rec_thread rec = {
		.h = { CAP_REC_FIXED_TAG(THREAD, struct cap_rec_thread), tid, met_ticks },
		.name_str = name_str,
		.ended = end_ticks != 0,
		.end_ticks = end_ticks,
	};

	cap_writer_meta(writer, &rec.h);
}

/* 0: unknown, because a filter of the program may forbid the system call. */
static uint32_t own_name(struct cap_writer *writer)
{
	char name[COMM_BYTES + 1] = "";

	if (__atomic_load_n(&threads.sandboxed, __ATOMIC_RELAXED))
		return 0;
	prctl(PR_GET_NAME, name);
	return cap_writer_intern(writer, name, strlen(name));
}

/* From here on the thread has @lane; false: recording has ended since @epoch. */
static bool enrol(struct col_thread *t, struct cap_lane *lane, uint32_t name_str, uint32_t epoch)
{
	col_lock(&threads.lock);
	if (threads.closed_epoch >= epoch) {
		col_unlock(&threads.lock);
		return false;
	}
	__atomic_store_n(&t->lane, lane, __ATOMIC_RELEASE);
	if (!threads.roll)
		__atomic_store_n(&threads.roll, col_pages(ROLL_MAX * sizeof(*threads.roll)),
				 __ATOMIC_RELEASE);
	for (uint32_t i = 0; threads.roll && i < threads.n_roll + 1 && i < ROLL_MAX; i++) {
		uint32_t at = (threads.rotor + i) % WS_MIN(threads.n_roll + 1, ROLL_MAX);
		struct seen *seen = &threads.roll[at];

		if (__atomic_load_n(&seen->tid, __ATOMIC_RELAXED))
			continue;
		seen->met_ticks = t->met_ticks;
		seen->name_str = name_str;
		seen->named = 0;
		seen->thread = t;
		seen->pthread = pthread_self();
		__atomic_store_n(&seen->tid, t->tid, __ATOMIC_RELEASE);
		if (at == threads.n_roll)
			__atomic_store_n(&threads.n_roll, at + 1, __ATOMIC_RELEASE);
		threads.rotor = at + 1;
		__atomic_store_n(&t->roll, at + 1, __ATOMIC_RELAXED);
		break;
	}
	col_unlock(&threads.lock);
	return true;
}

struct col_thread *col_thread_meet_(struct col_thread *t)
{
	int saved_errno = errno;
	struct cap_writer *writer;
	struct cap_lane *lane;
	uint32_t name_str, epoch = col_epoch();

	/* A signal handler on top of this function: what it would record is lost, and counted. */
	if (t->meeting || (t->retry_ticks && cap_ticks() < t->retry_ticks))
		return NULL;
	/* A thread without an exit notification must not be in the list: the loader frees it. */
	if (t->n_exits > 1 || (!threads.has_key && epoch > 1))
		return NULL;
	t->meeting = 1;
	t->name_str = 0; /* was a string of another capture, if there was one */
	writer = col_capture();
	if (writer) {
		t->tid = (uint32_t)syscall(SYS_gettid);
		lane = cap_lane_get(writer, t->tid);
		if (lane) {
			t->met_ticks = cap_ticks();
			name_str = own_name(writer);
			write_thread(writer, t->tid, t->met_ticks, name_str, 0);
			if (threads.has_key)
				pthread_setspecific(threads.key, t);
			enrol(t, lane, name_str, epoch);
		} else {
			t->retry_ticks = cap_ticks() + RETRY_TICKS;
		}
	}
	t->meeting = 0;
	errno = saved_errno;
	return col_thread_lane(t) ? t : NULL;
}

void col_call_lost_(struct col_thread *t, enum cap_domain domain)
{
	struct cap_writer *writer = col_capture_now();

	if (writer)
		cap_writer_count(writer, domain, CAP_LEDGER_DROPPED, 1);
	else
		col_early_lost(domain);
}

void col_call_end_slowly_(struct col_thread *t, const struct col_call *call,
			  struct col_call_facts facts, enum cap_domain domain)
{
	uint32_t n_bytes = (uint32_t)sizeof(struct cap_rec_call_args) + facts.n_slots * 8;
	struct cap_rec_call_args *rec = NULL;
	struct cap_lane *lane;

	if (!t) {
		col_call_lost_(NULL, domain);
		return;
	}
	t->corr_id = call->ancestor_id;
	lane = col_thread_lane(t); /* NULL in the child of a fork inside the call */
	if (lane && n_bytes <= CAP_REC_BYTES_MAX)
		rec = cap_lane_reserve(&lane, n_bytes);
	if (!rec) {
		col_call_lost_(t, domain);
		return;
	}
	col_call_fill_(rec, t, call, facts);
	cap_lane_commit(lane, &rec->call.h, CAP_REC_TAG(CAP_REC_CALL_ARGS, n_bytes));
}

void col_thread_name(const char *name)
{
	int saved_errno = errno;
	struct col_thread *t = col_thread();
	struct cap_writer *writer = col_capture_now();
	uint32_t roll;

	if (t && writer && name) {
		t->name_str = cap_writer_intern(writer, name, strlen(name));
		write_thread(writer, t->tid, t->met_ticks, t->name_str, 0);
		roll = __atomic_load_n(&t->roll, __ATOMIC_RELAXED);
		if (roll)
			__atomic_store_n(&threads.roll[roll - 1].named, 1, __ATOMIC_RELAXED);
	}
	errno = saved_errno;
}

/* From the roll and without its lane, which the caller puts back. */
static struct cap_lane *leave(struct col_thread *t)
{
	struct cap_lane *lane;

	/* Under the lock: a detach writes to the threads in the list. */
	col_lock(&threads.lock);
	if (t->roll)
		__atomic_store_n(&threads.roll[t->roll - 1].tid, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&t->roll, 0, __ATOMIC_RELAXED);
	lane = t->lane;
	__atomic_store_n(&t->lane, NULL, __ATOMIC_RELEASE);
	col_markers_thread_gone(t);
	col_unlock(&threads.lock);
	return lane;
}

/* Destructor of the key: may run again if another destructor makes traced calls. */
static void thread_exits(void *arg)
{
	struct col_thread *t = arg;
	struct cap_writer *writer = col_capture_now();
	struct cap_lane *lane;

	t->n_exits++;
	col_markers_thread_end(t);
	if (writer && col_thread_lane(t)) {
		uint32_t name_str = t->name_str ? t->name_str : own_name(writer);

		if (!name_str && t->roll)
			name_str = __atomic_load_n(&threads.roll[t->roll - 1].name_str,
						   __ATOMIC_RELAXED);
		col_facts_usage(writer, t->tid);
		write_thread(writer, t->tid, t->met_ticks, name_str, cap_ticks());
	}
	lane = leave(t);
	if (lane && writer)
		cap_lane_put(lane);
}

void col_threads_detach(void)
{
	col_lock(&threads.lock);
	threads.closed_epoch = col_epoch();
	for (uint32_t i = 0; i < threads.n_roll; i++) {
		struct seen *seen = &threads.roll[i];

		if (!seen->tid)
			continue;
		__atomic_store_n(&seen->thread->lane, NULL, __ATOMIC_RELEASE);
		__atomic_store_n(&seen->thread->roll, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&seen->tid, 0, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&threads.n_roll, 0, __ATOMIC_RELEASE);
	threads.rotor = 0;
	col_unlock(&threads.lock);
}

void col_threads_start(void)
{
	threads.has_key = pthread_key_create(&threads.key, thread_exits) == 0;
}

void col_threads_forked(void)
{
	struct col_thread *t = &col_thread_self_;

	threads.forked_in_id = t->corr_id;
	threads.next_id = 1;
	threads.lock = (struct col_lock){ 0 };
	if (threads.roll)
		memset(threads.roll, 0, threads.n_roll * sizeof(*threads.roll));
	threads.n_roll = threads.rotor = 0;
	t->roll = 0;
	t->lane = NULL;
	t->corr_id = t->next_id = t->end_id = 0;
	t->retry_ticks = 0;
	t->meeting = 0;
	t->name_str = 0;
}

bool col_threads_sandboxed(void)
{
	return __atomic_load_n(&threads.sandboxed, __ATOMIC_RELAXED);
}

uint64_t col_threads_forked_in(void)
{
	return threads.forked_in_id;
}

void col_threads_ranges(struct cap_writer *writer)
{
	col_lock(&threads.lock); /* a thread that ends now keeps its stack until this is done */
	for (uint32_t i = 0; threads.roll && i < threads.n_roll; i++) {
		if (threads.roll[i].tid)
			col_markers_end_of(writer, threads.roll[i].thread);
	}
	col_unlock(&threads.lock);
}

void col_threads_usage(struct cap_writer *writer)
{
	const struct seen *roll = __atomic_load_n(&threads.roll, __ATOMIC_ACQUIRE);
	uint32_t n_roll = __atomic_load_n(&threads.n_roll, __ATOMIC_ACQUIRE), n = 0;

	for (uint32_t i = 0; roll && i < n_roll && n < USAGES_MAX; i++) {
		uint32_t tid = __atomic_load_n(&roll[i].tid, __ATOMIC_ACQUIRE);

		if (!tid)
			continue;
		col_facts_usage(writer, tid);
		n++;
	}
	col_facts_usage(writer, 0);
}

/*
 * Threads are often named after they were first seen, and most live until the program ends. Their
 * names cannot be read then: a program may have forbidden itself to open files by now. So it is
 * the giving of names that is watched. Where we are not in front of these functions, having been
 * attached, names are read on detach: then it was allowed a moment ago.
 */
static void named(pthread_t thread, const char *name)
{
	struct cap_writer *writer = col_capture_now();
	char text[COMM_BYTES] = "";
	uint32_t name_str;

	if (!writer)
		return;
	strncpy(text, name, sizeof(text) - 1);
	name_str = cap_writer_intern(writer, text, strlen(text));
	col_lock(&threads.lock);
	for (uint32_t i = 0; threads.roll && i < threads.n_roll; i++) {
		struct seen *seen = &threads.roll[i];

		if (!seen->tid || seen->pthread != thread || seen->name_str == name_str ||
		    __atomic_load_n(&seen->named, __ATOMIC_RELAXED))
			continue;
		/* Atomic: col_threads_names() reads it without the lock. */
		__atomic_store_n(&seen->name_str, name_str, __ATOMIC_RELAXED);
		write_thread(writer, seen->tid, seen->met_ticks, name_str, 0);
	}
	col_unlock(&threads.lock);
}

WS_PUBLIC int pthread_setname_np(pthread_t thread, const char *name)
{
	static void *found;
	int (*real)(pthread_t, const char *);
	int status, saved_errno = errno;

	*(void **)&real = __atomic_load_n(&found, __ATOMIC_RELAXED);
	if (!real) {
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_setname_np");
		__atomic_store_n(&found, *(void **)&real, __ATOMIC_RELAXED);
	}
	status = real ? real(thread, name) : ENOSYS;
	if (status == 0)
		named(thread, name);
	errno = saved_errno;
	return status;
}

static void enter_sandbox(void)
{
	int saved_errno = errno;

	if (__atomic_exchange_n(&threads.sandboxed, 1, __ATOMIC_RELAXED))
		return;
	for (unsigned i = 0; i < COL_PROVIDERS; i++) {
		if (col_providers[i] && col_providers[i]->sandboxed)
			col_providers[i]->sandboxed();
	}
	errno = saved_errno;
}

/* Strict mode forbids rdtsc as well as system calls. */
static bool takes_clock(int option, unsigned long to)
{
	return (option == PR_SET_SECCOMP && to == SECCOMP_MODE_STRICT) ||
	       (option == PR_SET_TSC && to == PR_TSC_SIGSEGV);
}

static void lose_clock(void)
{
	int saved_errno = errno;

	for (unsigned i = 0; i < COL_PROVIDERS; i++) {
		if (col_providers[i] && col_providers[i]->no_clock)
			col_providers[i]->no_clock();
	}
	errno = saved_errno;
}

/* A system call, as glibc's is: the arguments that an option has not are not looked at. */
WS_PUBLIC int prctl(int option, ...)
{
	unsigned long arg[4];
	va_list list;
	int status;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		arg[i] = va_arg(list, unsigned long);
	va_end(list);
	/* Filters of system calls need one or the other, unless the program is root. */
	if (option == PR_SET_NO_NEW_PRIVS || option == PR_SET_SECCOMP)
		enter_sandbox();
	if (option == PR_SET_SECCOMP && arg[0] == SECCOMP_MODE_STRICT)
		col_last_strict();
	if (takes_clock(option, arg[0]))
		lose_clock();
	status = (int)syscall(SYS_prctl, option, arg[0], arg[1], arg[2], arg[3]);
	if (option == PR_SET_NAME && status == 0) {
		int saved_errno = errno;

		named(pthread_self(), (const char *)arg[0]);
		errno = saved_errno;
	}
	return status;
}

void col_threads_names(struct cap_writer *writer)
{
	struct seen *roll = __atomic_load_n(&threads.roll, __ATOMIC_ACQUIRE);
	uint32_t n = roll ? __atomic_load_n(&threads.n_roll, __ATOMIC_ACQUIRE) : 0;

	for (uint32_t i = 0; i < n; i++) {
		struct seen *seen = &roll[i];
		uint32_t tid = __atomic_load_n(&seen->tid, __ATOMIC_ACQUIRE), name_str;
		char path[64] = "/proc/self/task/", name[COMM_BYTES + 8];
		size_t at = strlen(path);
		ssize_t len;
		int fd;

		if (!tid || __atomic_load_n(&seen->named, __ATOMIC_RELAXED))
			continue;
		at += col_capture_name(tid, 0, path + at); /* "TID-0.wcap": digits without printf */
		strcpy(strchr(path, '-'), "/comm");
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		len = read(fd, name, sizeof(name));
		close(fd);
		if (len > 0 && name[len - 1] == '\n')
			len--;
		if (len <= 0)
			continue;
		name_str = cap_writer_intern(writer, name, (size_t)len);
		if (name_str != __atomic_load_n(&seen->name_str, __ATOMIC_RELAXED))
			write_thread(writer, tid, seen->met_ticks, name_str, 0);
	}
}
