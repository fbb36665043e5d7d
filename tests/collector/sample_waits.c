/* sample_waits: each way to wait, for a time and until a signal of the program. */
#include "tests/collector/sample_program.h"

#include <aio.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static int pipe_fds[2], idle_fds[2], sockets[2], epoll_fd;
#define WAIT_S 0.15

static int wait_nanosleep(void)
{
	return nanosleep(&(struct timespec){ 0, (long)(WAIT_S * 1e9) }, NULL);
}

static int wait_clock(void)
{
	errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, (long)(WAIT_S * 1e9) },
				NULL);
	return errno ? -1 : 0;
}

static int wait_usleep(void)
{
	return usleep((useconds_t)(WAIT_S * 1e6));
}

static int wait_poll(void)
{
	struct pollfd fd = { pipe_fds[0], POLLIN, 0 };

	return poll(&fd, 1, (int)(WAIT_S * 1e3));
}

static int wait_ppoll(void)
{
	struct pollfd fd = { pipe_fds[0], POLLIN, 0 };
	sigset_t none;

	sigemptyset(&none);
	return ppoll(&fd, 1, &(struct timespec){ 0, (long)(WAIT_S * 1e9) }, &none);
}

static int wait_select(void)
{
	struct timeval limit = { 0, (suseconds_t)(WAIT_S * 1e6) };
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(pipe_fds[0], &fds);
	return select(pipe_fds[0] + 1, &fds, NULL, NULL, &limit);
}

static int wait_pselect(void)
{
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(pipe_fds[0], &fds);
	return pselect(pipe_fds[0] + 1, &fds, NULL, NULL,
		       &(struct timespec){ 0, (long)(WAIT_S * 1e9) }, NULL);
}

static int wait_epoll(void)
{
	struct epoll_event event;

	return epoll_wait(epoll_fd, &event, 1, (int)(WAIT_S * 1e3));
}

static int wait_semaphore(void)
{
	struct timespec end;
	sem_t semaphore;
	int status;

	sem_init(&semaphore, 0, 0);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += (long)(WAIT_S * 1e9);
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	status = sem_timedwait(&semaphore, &end);
	return status < 0 && errno == ETIMEDOUT ? 0 : status;
}

static int wait_recv(void)
{
	char byte;
	int status = (int)recv(sockets[0], &byte, 1, 0);

	if (status < 0 && errno == EAGAIN)
		return 0; /* the socket's limit is over */
	return status;
}

static int wait_read(void)
{
	char byte;
	int status = (int)read(sockets[0], &byte, 1);

	return status < 0 && errno == EAGAIN ? 0 : status;
}

static int wait_recvmmsg(void)
{
	char byte;
	struct iovec part = { &byte, 1 };
	struct mmsghdr message = { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } };
	int status = recvmmsg(sockets[0], &message, 1, 0, NULL);

	return status < 0 && errno == EAGAIN ? 0 : status;
}

static int wait_aio(void)
{
	static char byte;
	static struct aiocb block = { .aio_buf = &byte, .aio_nbytes = 1 };
	const struct aiocb *blocks[1] = { &block };
	struct timespec limit = { 0, (long)(WAIT_S * 1e9) };
	int status;

	if (!block.aio_fildes) { /* a request that ends with the program */
		block.aio_fildes = pipe_fds[0];
		aio_read(&block);
	}
	status = aio_suspend(blocks, 1, &limit);
	return status < 0 && errno == EAGAIN ? 0 : status;
}

static void on_usr1(int number)
{
	n_signals++;
}

static void *interrupt(void *arg)
{
	usleep((useconds_t)(WAIT_S * 1e6 / 3));
	pthread_kill(*(pthread_t *)arg, SIGUSR1);
	return NULL;
}

/* A thread that gets a signal until it says that it is done: the first may come before it waits. */
struct interrupted {
	pthread_t thread;
	int signal;
	_Atomic bool done;
};

static void *interrupt_often(void *arg)
{
	struct interrupted *other = arg;

	while (!other->done) {
		usleep(30000);
		pthread_kill(other->thread, other->signal);
	}
	return NULL;
}

/* What has no limit of its own: ended by a signal of the program, and by no other. */
static void wait_signal(const char *name, int signal, int (*wait)(void))
{
	struct interrupted me = { .thread = pthread_self(), .signal = signal };
	struct sigaction action = { .sa_handler = on_usr1 };
	pthread_t other_thread;

	sigaction(signal, &action, NULL);
	n_signals = 0;
	pthread_create(&other_thread, NULL, interrupt_often, &me);
	if (wait() != -1 || errno != EINTR)
		fail("%s was not interrupted by the program's signal", name);
	if (!n_signals)
		fail("%s was interrupted by a signal of the profiler", name);
	me.done = true;
	pthread_join(other_thread, NULL);
}

static int wait_idle(void)
{
	char byte;

	return (int)read(idle_fds[0], &byte, 1);
}

static void *read_slowly(void *arg)
{
	char *bytes = arg;

	while (read(idle_fds[0], bytes, 65536) > 0)
		usleep(2000);
	return NULL;
}

/* A program that does not look at how much was written. */
static void write_all(void)
{
	static char from[2 << 20], to[65536];
	pthread_t reader;
	ssize_t n;

	pthread_create(&reader, NULL, read_slowly, to);
	n = write(idle_fds[1], from, sizeof(from));
	if (n != sizeof(from))
		fail("%zd of %zu bytes were written", n, sizeof(from));
	close(idle_fds[1]);
	pthread_join(reader, NULL);
}

struct way {
	const char *name;
	int (*wait)(void);
};

/* Of several attempts the best one counts, because the machine may be busy with others. */
#define MAX_ATTEMPTS 10

/* Never too short, and not longer: a wait that begins anew with each sample has no end. */
static void takes_its_time(const struct way *way)
{
	double took = 0;

	for (int i = 0; i < MAX_ATTEMPTS; i++) {
		double start = seconds(CLOCK_MONOTONIC);
		int status = way->wait();

		took = seconds(CLOCK_MONOTONIC) - start;
		if (status != 0)
			fail("%s: %s", way->name, strerror(errno));
		if (took < WAIT_S - 0.001)
			break;
		if (took < WAIT_S + 0.08)
			return;
	}
	fail("%s took %.4f s", way->name, took);
}

/* On a busy machine the signal can come before the wait, or after it. */
static void is_interrupted(const struct way *way)
{
	for (int i = 0; i < MAX_ATTEMPTS; i++) {
		pthread_t me = pthread_self(), other_thread;
		int status, error;

		n_signals = 0;
		pthread_create(&other_thread, NULL, interrupt, &me);
		status = way->wait();
		error = errno;
		if (status != 0 && !n_signals)
			fail("%s with a signal: %s", way->name, strerror(error));
		pthread_join(other_thread, NULL);
		if (status == -1 && error == EINTR)
			return;
	}
	fail("%s was not interrupted by the program's signal", way->name);
}

void waits(void)
{
	static const struct way ways[] = {
		{ "nanosleep", wait_nanosleep }, { "clock_nanosleep", wait_clock },
		{ "usleep", wait_usleep },       { "poll", wait_poll },
		{ "ppoll", wait_ppoll },         { "select", wait_select },
		{ "pselect", wait_pselect },     { "epoll_wait", wait_epoll },
		{ "recv", wait_recv },           { "sem_timedwait", wait_semaphore },
		{ "read", wait_read },           { "recvmmsg", wait_recvmmsg },
		{ "aio_suspend", wait_aio },
	};
	struct timeval limit = { 0, (suseconds_t)(WAIT_S * 1e6) };
	struct sigaction action = { .sa_handler = on_usr1 };

	if (pipe(pipe_fds) != 0 || pipe(idle_fds) != 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 || (epoll_fd = epoll_create1(0)) < 0)
		fail("descriptors");
	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	sigaction(SIGUSR1, &action, NULL);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		takes_its_time(&ways[i]);
		is_interrupted(&ways[i]);
	}
	wait_signal("pause", SIGUSR1, pause);
	/* a program that has a handler for the sampler's signal, as sort(1) has for SIGPROF */
	wait_signal("read", SIGRTMIN, wait_idle);
	write_all();
}
