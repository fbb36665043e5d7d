#include "launch/lines.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LINE_LONGEST (64u << 10) /* longer ones are handed on in pieces */

static void hand_on(struct launch_lines *lines, struct ws_buf *text)
{
	char *start = text->at, *end;

	while ((end = memchr(start, '\n', text->n - (size_t)(start - text->at)))) {
		*end = '\0';
		if (end > start && end[-1] == '\r')
			end[-1] = '\0';
		lines->line(lines->ctx, start);
		start = end + 1;
	}
	if (start == text->at && text->n < LINE_LONGEST)
		return;
	if (start == text->at) {
		lines->line(lines->ctx, text->at);
		ws_buf_clear(text);
		return;
	}
	text->n -= (size_t)(start - text->at);
	memmove(text->at, start, text->n + 1);
}

static void *listen_to(void *of)
{
	struct launch_lines *lines = of;
	struct pollfd fds[] = { { lines->from, POLLIN, 0 }, { lines->stop, POLLIN, 0 } };
	struct ws_buf text;

	ws_buf_init(&text, 4 * LINE_LONGEST);
	for (;;) {
		char *room = ws_buf_room(&text, LINE_LONGEST);
		ssize_t n;

		if (!room)
			break;
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		/* What is in the pipe is read before the wish to stop is looked at. */
		n = fds[0].revents ? read(lines->from, room, LINE_LONGEST) : -1;
		if (n > 0) {
			/* A terminal's text may hold zeros; a line ends there for us. */
			text.n += (size_t)n;
			text.at[text.n] = '\0';
			hand_on(lines, &text);
		} else if (n == 0 || fds[1].revents) {
			break;
		}
	}
	if (text.n)
		lines->line(lines->ctx, text.at);
	ws_buf_fini(&text);
	return NULL;
}

enum ws_status launch_lines_start(struct launch_lines *lines, enum launch_lines_of of,
				  void (*line)(void *ctx, const char *text), void *ctx,
				  struct ws_err *err)
{
	sigset_t all, old;
	int fds[2], error;

	*lines = (struct launch_lines){ .line = line, .ctx = ctx, .of = of };
	if (pipe2(fds, O_CLOEXEC) != 0)
		return ws_fail_errno(err, errno, "cannot read the program's output");
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	lines->from = fds[0];
	lines->stop = eventfd(0, EFD_CLOEXEC);
	fflush(stdout);
	fflush(stderr);
	lines->saved[0] = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
	lines->saved[1] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
	/* Signals are for the main thread, which passes them on to the program. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&lines->thread, NULL, listen_to, lines);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error) {
		close(fds[0]);
		close(fds[1]);
		close(lines->stop);
		close(lines->saved[0]);
		close(lines->saved[1]);
		return ws_fail_errno(err, error, "cannot read the program's output");
	}
	dup2(fds[1], STDOUT_FILENO);
	if (of == LAUNCH_LINES_BOTH)
		dup2(fds[1], STDERR_FILENO);
	close(fds[1]);
	return WS_OK;
}

void launch_lines_stop(struct launch_lines *lines)
{
	uint64_t one = 1;
	ssize_t ignored;

	fflush(stdout);
	fflush(stderr);
	dup2(lines->saved[0], STDOUT_FILENO);
	dup2(lines->saved[1], STDERR_FILENO);
	close(lines->saved[0]);
	close(lines->saved[1]);
	ignored = write(lines->stop, &one, sizeof(one));
	(void)ignored;
	pthread_join(lines->thread, NULL);
	close(lines->from);
	close(lines->stop);
}
