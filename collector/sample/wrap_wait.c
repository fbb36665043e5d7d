/*
 * wrap_wait: waiting is not cut short by samples.
 *
 * SA_RESTART makes the kernel repeat most interrupted calls, but not those with a time limit
 * (signal(7), "Interruption of system calls"). They are repeated here, with the time that is left,
 * if a signal of ours was the only one to interrupt them. A signal of the program ends them
 * as it always does.
 */
#include "collector/sample/wrap.h"

#include <aio.h>
#include <poll.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000u
#define NS_PER_MS 1000000u

/* ---- the time that is left ---- */

struct limit {
	bool has;
	uint64_t end_ns;
	struct timespec left;
};

static uint64_t clock_now_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	if (col_sample_resting)
		return 0; /* nor is the call interrupted by a sample */
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static struct limit limit_ns(bool has, uint64_t ns)
{
	struct limit limit = { .has = has };

	if (has && __builtin_add_overflow(clock_now_ns(CLOCK_MONOTONIC), ns, &limit.end_ns))
		limit.end_ns = UINT64_MAX;
	return limit;
}

static uint64_t span_ns(const struct timespec *span)
{
	uint64_t ns;

	if (!span || span->tv_sec < 0 ||
	    __builtin_mul_overflow((uint64_t)span->tv_sec, NS_PER_S, &ns))
		return UINT64_MAX;
	return ns > UINT64_MAX - NS_PER_S ? ns : ns + (uint64_t)span->tv_nsec;
}

static struct limit limit_span(const struct timespec *span)
{
	return limit_ns(span != NULL, span_ns(span));
}

static uint64_t left_ns(const struct limit *limit)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

	return now_ns < limit->end_ns ? limit->end_ns - now_ns : 0;
}

/* What is left, for a call that takes a relative time; NULL: it has no limit. */
static struct timespec *left_span(struct limit *limit)
{
	uint64_t ns = left_ns(limit);

	limit->left = (struct timespec){ (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };
	return limit->has ? &limit->left : NULL;
}

/* In milliseconds; -1: it has no limit. Rounded up: not a moment too early. */
static int left_ms(const struct limit *limit)
{
	return limit->has ? (int)((left_ns(limit) + NS_PER_MS - 1) / NS_PER_MS) : -1;
}

/* ---- sleeping ---- */

WRAP_REAL(clock_nanosleep, int, (clockid_t, int, const struct timespec *, struct timespec *))

/* As clock_nanosleep(): returns the error. */
static int sleep_clock(clockid_t clock, int flags, const struct timespec *span,
		       struct timespec *out_left)
{
	struct limit limit;
	int status;

	if (flags & TIMER_ABSTIME) {
		do {
			col_sample_interrupted = 0;
			status = real_clock_nanosleep()(clock, flags, span, out_left);
		} while (status == EINTR && col_sample_interrupted == COL_INTERRUPTED_BY_US);
		return status;
	}
	/* of another clock than the monotonic one the kernel tells what is left */
	limit = limit_span(span);
	for (;;) {
		col_sample_interrupted = 0;
		status = real_clock_nanosleep()(clock, 0, span, &limit.left);
		if (status != EINTR || col_sample_interrupted != COL_INTERRUPTED_BY_US)
			break;
		span = clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME ? left_span(&limit)
									   : &limit.left;
	}
	if (status == EINTR && out_left)
		*out_left = limit.left;
	return status;
}

WS_PUBLIC int clock_nanosleep(clockid_t clock, int flags, const struct timespec *span,
			      struct timespec *out_left)
{
	return sleep_clock(clock, flags, span, out_left);
}

WS_PUBLIC int nanosleep(const struct timespec *span, struct timespec *out_left)
{
	int status = sleep_clock(CLOCK_REALTIME, 0, span, out_left);

	if (status == 0)
		return 0;
	errno = status;
	return -1;
}

WS_PUBLIC int usleep(useconds_t us)
{
	return nanosleep(&(struct timespec){ us / 1000000, us % 1000000 * 1000 }, NULL);
}

WS_PUBLIC unsigned sleep(unsigned s)
{
	struct timespec left = { s, 0 };

	return nanosleep(&left, &left) == 0 ? 0
					    : (unsigned)left.tv_sec + (left.tv_nsec >= 500000000);
}

WS_PUBLIC int thrd_sleep(const struct timespec *span, struct timespec *out_left)
{
	int status = sleep_clock(CLOCK_REALTIME, 0, span, out_left);

	return status == 0 ? 0 : status == EINTR ? -1 : -2;
}

/* ---- waiting for descriptors ---- */

WRAP_REAL(poll, int, (struct pollfd *, nfds_t, int))
WRAP_REAL(ppoll, int, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))
WRAP_REAL(select, int, (int, fd_set *, fd_set *, fd_set *, struct timeval *))
WRAP_REAL(pselect, int,
	  (int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *))
WRAP_REAL(epoll_pwait, int, (int, struct epoll_event *, int, int, const sigset_t *))
WRAP_REAL(epoll_pwait2, int,
	  (int, struct epoll_event *, int, const struct timespec *, const sigset_t *))

/* Once more: an expression that is -1 with EINTR, because of us alone. */
#define AGAIN(status)                                                                              \
	((status) < 0 && errno == EINTR && col_sample_interrupted == COL_INTERRUPTED_BY_US)

WS_PUBLIC int poll(struct pollfd *fds, nfds_t n_fds, int timeout_ms)
{
	struct limit limit = limit_ns(timeout_ms >= 0, (uint64_t)timeout_ms * NS_PER_MS);
	int status;

	col_sample_interrupted = 0;
	status = real_poll()(fds, n_fds, timeout_ms);
	while (AGAIN(status)) {
		col_sample_interrupted = 0;
		status = real_ppoll()(fds, n_fds, left_span(&limit), NULL);
	}
	return status;
}

WS_PUBLIC int ppoll(struct pollfd *fds, nfds_t n_fds, const struct timespec *timeout,
		    const sigset_t *set)
{
	struct limit limit = limit_span(timeout);
	sigset_t space;
	int status;

	set = col_wrap_without_ours(set, &space);
	col_sample_interrupted = 0;
	status = real_ppoll()(fds, n_fds, timeout, set);
	while (AGAIN(status)) {
		col_sample_interrupted = 0;
		status = real_ppoll()(fds, n_fds, left_span(&limit), set);
	}
	return status;
}

/* The forms that check the size of an object whose size the compiler knows. */
int __poll_chk(struct pollfd *fds, nfds_t n_fds, int timeout_ms, size_t n_bytes);
int __ppoll_chk(struct pollfd *fds, nfds_t n_fds, const struct timespec *timeout,
		const sigset_t *set, size_t n_bytes);
WRAP_REAL(__poll_chk, int, (struct pollfd *, nfds_t, int, size_t))
WRAP_REAL(__ppoll_chk, int,
	  (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t))

WS_PUBLIC int __poll_chk(struct pollfd *fds, nfds_t n_fds, int timeout_ms, size_t n_bytes)
{
	if (n_bytes / sizeof(*fds) < n_fds)
		return real___poll_chk()(fds, n_fds, timeout_ms, n_bytes); /* reports it */
	return poll(fds, n_fds, timeout_ms);
}

WS_PUBLIC int __ppoll_chk(struct pollfd *fds, nfds_t n_fds, const struct timespec *timeout,
			  const sigset_t *set, size_t n_bytes)
{
	if (n_bytes / sizeof(*fds) < n_fds)
		return real___ppoll_chk()(fds, n_fds, timeout, set, n_bytes);
	return ppoll(fds, n_fds, timeout, set);
}

/* The kernel leaves the sets as they are, and the time that is left in @timeout. */
WS_PUBLIC int select(int n_fds, fd_set *restrict read, fd_set *restrict write,
		     fd_set *restrict except, struct timeval *restrict timeout)
{
	struct limit limit =
		limit_ns(timeout != NULL, timeout ? (uint64_t)timeout->tv_sec * NS_PER_S +
							    (uint64_t)timeout->tv_usec * 1000
						  : 0);
	int status;

	for (;;) {
		col_sample_interrupted = 0;
		status = real_select()(n_fds, read, write, except, timeout);
		if (!AGAIN(status))
			return status;
		if (timeout) {
			left_span(&limit);
			timeout->tv_sec = limit.left.tv_sec;
			timeout->tv_usec = limit.left.tv_nsec / 1000;
		}
	}
}

WS_PUBLIC int pselect(int n_fds, fd_set *restrict read, fd_set *restrict write,
		      fd_set *restrict except, const struct timespec *restrict timeout,
		      const sigset_t *restrict set)
{
	struct limit limit = limit_span(timeout);
	sigset_t space;
	int status;

	set = col_wrap_without_ours(set, &space);
	for (;;) {
		col_sample_interrupted = 0;
		status = real_pselect()(n_fds, read, write, except, timeout, set);
		if (!AGAIN(status))
			return status;
		timeout = left_span(&limit);
	}
}

WS_PUBLIC int epoll_pwait(int fd, struct epoll_event *events, int n_events, int timeout_ms,
			  const sigset_t *set)
{
	struct limit limit = limit_ns(timeout_ms >= 0, (uint64_t)timeout_ms * NS_PER_MS);
	sigset_t space;
	int status;

	set = col_wrap_without_ours(set, &space);
	for (;;) {
		col_sample_interrupted = 0;
		status = real_epoll_pwait()(fd, events, n_events, timeout_ms, set);
		if (!AGAIN(status))
			return status;
		timeout_ms = left_ms(&limit);
	}
}

WS_PUBLIC int epoll_wait(int fd, struct epoll_event *events, int n_events, int timeout_ms)
{
	return epoll_pwait(fd, events, n_events, timeout_ms, NULL);
}

WS_PUBLIC int epoll_pwait2(int fd, struct epoll_event *events, int n_events,
			   const struct timespec *timeout, const sigset_t *set)
{
	struct limit limit = limit_span(timeout);
	sigset_t space;
	int status;

	if (!real_epoll_pwait2()) { /* a program that has this of a library of its own */
		errno = ENOSYS;
		return -1;
	}
	set = col_wrap_without_ours(set, &space);
	for (;;) {
		col_sample_interrupted = 0;
		status = real_epoll_pwait2()(fd, events, n_events, timeout, set);
		if (!AGAIN(status))
			return status;
		timeout = left_span(&limit);
	}
}

/* ---- without a limit of its own ---- */

/* A call that is simply repeated. */
#define WRAP_REPEATED(result, name, parameters, arguments)                                         \
	WRAP_REAL(name, result, parameters)                                                        \
	WS_PUBLIC result name parameters                                                           \
	{                                                                                          \
		result status;                                                                     \
                                                                                                   \
		do {                                                                               \
			col_sample_interrupted = 0;                                                \
			status = real_##name() arguments;                                          \
		} while (AGAIN(status));                                                           \
		return status;                                                                     \
	}

WRAP_REPEATED(int, pause, (void), ())
WRAP_REPEATED(int, semop, (int id, struct sembuf *ops, size_t n_ops), (id, ops, n_ops))
WRAP_REPEATED(int, msgsnd, (int id, const void *message, size_t n_bytes, int flags),
	      (id, message, n_bytes, flags))
WRAP_REPEATED(ssize_t, msgrcv, (int id, void *message, size_t n_bytes, long type, int flags),
	      (id, message, n_bytes, type, flags))

/* Limits that are points in time. */
WRAP_REPEATED(int, sem_timedwait, (sem_t *restrict semaphore, const struct timespec *restrict end),
	      (semaphore, end))
WRAP_REPEATED(int, sem_clockwait,
	      (sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict end),
	      (semaphore, clock, end))

WRAP_REAL(semtimedop, int, (int, struct sembuf *, size_t, const struct timespec *))

WS_PUBLIC int semtimedop(int id, struct sembuf *ops, size_t n_ops, const struct timespec *timeout)
{
	struct limit limit = limit_span(timeout);
	int status;

	for (;;) {
		col_sample_interrupted = 0;
		status = real_semtimedop()(id, ops, n_ops, timeout);
		if (!AGAIN(status))
			return status;
		timeout = left_span(&limit);
	}
}

WRAP_REAL(aio_suspend, int, (const struct aiocb *const[], int, const struct timespec *))

WS_PUBLIC int aio_suspend(const struct aiocb *const blocks[], int n_blocks,
			  const struct timespec *restrict timeout)
{
	struct limit limit = limit_span(timeout);
	int status;

	for (;;) {
		col_sample_interrupted = 0;
		status = real_aio_suspend()(blocks, n_blocks, timeout);
		if (!AGAIN(status))
			return status;
		timeout = left_span(&limit);
	}
}

#if __SIZEOF_LONG__ == 8
/* The same function under the name that programs without large files know. */
int aio_suspend_plain(const struct aiocb *const[], int,
		      const struct timespec *restrict) __asm__("aio_suspend")
	__attribute__((alias("aio_suspend64"), visibility("default"), nonnull(1), nothrow, leaf));
#endif

/* ---- sockets, which may have a limit ---- */

/* Is the socket's limit over? Each attempt has the whole of it, so the time is taken here. */
static bool socket_over(int fd, int option, uint64_t start_ns)
{
	struct timeval limit = { 0 };
	socklen_t n_bytes = sizeof(limit);

	if (getsockopt(fd, SOL_SOCKET, option, &limit, &n_bytes) != 0 ||
	    (limit.tv_sec == 0 && limit.tv_usec == 0))
		return false;
	return clock_now_ns(CLOCK_MONOTONIC) - start_ns >=
	       (uint64_t)limit.tv_sec * NS_PER_S + (uint64_t)limit.tv_usec * 1000;
}

/* @over: errno when the time is over */
#define WRAP_SOCKET(result, name, parameters, arguments, option, over)                             \
	WRAP_REAL(name, result, parameters)                                                        \
	WS_PUBLIC result name parameters                                                           \
	{                                                                                          \
		uint64_t start_ns = clock_now_ns(CLOCK_MONOTONIC);                                 \
		result status;                                                                     \
                                                                                                   \
		for (;;) {                                                                         \
			col_sample_interrupted = 0;                                                \
			status = real_##name() arguments;                                          \
			if (!AGAIN(status))                                                        \
				return status;                                                     \
			if (socket_over(fd, option, start_ns)) {                                   \
				errno = over;                                                      \
				return -1;                                                         \
			}                                                                          \
		}                                                                                  \
	}

WRAP_SOCKET(ssize_t, recv, (int fd, void *to, size_t n, int flags), (fd, to, n, flags), SO_RCVTIMEO,
	    EAGAIN)
WRAP_SOCKET(ssize_t, recvfrom,
	    (int fd, void *restrict to, size_t n, int flags, struct sockaddr *restrict from,
	     socklen_t *restrict n_from),
	    (fd, to, n, flags, from, n_from), SO_RCVTIMEO, EAGAIN)
WRAP_SOCKET(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags),
	    SO_RCVTIMEO, EAGAIN)
WRAP_SOCKET(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags),
	    (fd, message, flags), SO_SNDTIMEO, EAGAIN)
WRAP_SOCKET(int, accept, (int fd, struct sockaddr *restrict peer, socklen_t *restrict n_peer),
	    (fd, peer, n_peer), SO_RCVTIMEO, EAGAIN)
WRAP_SOCKET(int, accept4,
	    (int fd, struct sockaddr *restrict peer, socklen_t *restrict n_peer, int flags),
	    (fd, peer, n_peer, flags), SO_RCVTIMEO, EAGAIN)
WRAP_SOCKET(int, connect, (int fd, const struct sockaddr *to, socklen_t n_to), (fd, to, n_to),
	    SO_SNDTIMEO, EINPROGRESS)
WRAP_SOCKET(int, recvmmsg,
	    (int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *timeout),
	    (fd, messages, n, flags, timeout), SO_RCVTIMEO, EAGAIN)
WRAP_SOCKET(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned n, int flags),
	    (fd, messages, n, flags), SO_SNDTIMEO, EAGAIN)
WRAP_SOCKET(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n), SO_RCVTIMEO, EAGAIN)
WRAP_SOCKET(ssize_t, readv, (int fd, const struct iovec *to, int n), (fd, to, n), SO_RCVTIMEO,
	    EAGAIN)
WRAP_SOCKET(ssize_t, writev, (int fd, const struct iovec *from, int n), (fd, from, n), SO_SNDTIMEO,
	    EAGAIN)

/*
 * A signal also ends a call that has written a part, and programs rely on writing all where nothing
 * interrupts them. So the rest is written here; an error shows in the next call.
 */
#define WRAP_WRITING(name, parameters, arguments)                                                  \
	WRAP_REAL(name, ssize_t, parameters)                                                       \
	WS_PUBLIC ssize_t name parameters                                                          \
	{                                                                                          \
		uint64_t start_ns = clock_now_ns(CLOCK_MONOTONIC);                                 \
		ssize_t status, done = 0;                                                          \
                                                                                                   \
		for (;;) {                                                                         \
			col_sample_interrupted = 0;                                                \
			status = real_##name() arguments;                                          \
			if (AGAIN(status)) {                                                       \
				if (!socket_over(fd, SO_SNDTIMEO, start_ns))                       \
					continue;                                                  \
				errno = EAGAIN;                                                    \
			}                                                                          \
			if (status <= 0)                                                           \
				return done ? done : status;                                       \
			done += status;                                                            \
			if ((size_t)status >= n ||                                                 \
			    col_sample_interrupted != COL_INTERRUPTED_BY_US)                       \
				return done;                                                       \
			from = (const char *)from + status;                                        \
			n -= (size_t)status;                                                       \
		}                                                                                  \
	}

WRAP_WRITING(write, (int fd, const void *from, size_t n), (fd, from, n))
WRAP_WRITING(send, (int fd, const void *from, size_t n, int flags), (fd, from, n, flags))
WRAP_WRITING(sendto,
	     (int fd, const void *from, size_t n, int flags, const struct sockaddr *to,
	      socklen_t n_to),
	     (fd, from, n, flags, to, n_to))

/* As above: the forms that check sizes. */
ssize_t __read_chk(int fd, void *to, size_t n, size_t n_bytes);
ssize_t __recv_chk(int fd, void *to, size_t n, size_t n_bytes, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict to, size_t n, size_t n_bytes, int flags,
		       struct sockaddr *restrict from, socklen_t *restrict n_from);
WRAP_REAL(__read_chk, ssize_t, (int, void *, size_t, size_t))
WRAP_REAL(__recv_chk, ssize_t, (int, void *, size_t, size_t, int))
WRAP_REAL(__recvfrom_chk, ssize_t,
	  (int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *))

WS_PUBLIC ssize_t __read_chk(int fd, void *to, size_t n, size_t n_bytes)
{
	return n <= n_bytes ? read(fd, to, n) : real___read_chk()(fd, to, n, n_bytes);
}

WS_PUBLIC ssize_t __recv_chk(int fd, void *to, size_t n, size_t n_bytes, int flags)
{
	return n <= n_bytes ? recv(fd, to, n, flags) : real___recv_chk()(fd, to, n, n_bytes, flags);
}

WS_PUBLIC ssize_t __recvfrom_chk(int fd, void *restrict to, size_t n, size_t n_bytes, int flags,
				 struct sockaddr *restrict from, socklen_t *restrict n_from)
{
	return n <= n_bytes ? recvfrom(fd, to, n, flags, from, n_from)
			    : real___recvfrom_chk()(fd, to, n, n_bytes, flags, from, n_from);
}
