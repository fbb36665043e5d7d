/*
 * attach: the collector in a process that was attached to.
 *
 * rocprofv3 --pid makes the process load this library and call col_attach() on
 * a new thread (launch/attach.h). The thread sets everything up, reports that, and then
 * waits at the read end of a pipe. Recording lasts while the write end is open. When it
 * closes, because the user detaches or because rocprofv3 died, recording ends: the thread
 * waits for work in flight and closes the capture. The wrappers stay installed,
 * disabled. A later attach uses them and begins a new capture.
 *
 * The program's threads may be appending a record when recording ends. They use
 * their lane no longer than that append takes, so the capture's memory is freed
 * two seconds of running time later.
 */
#include "collector/collector_priv.h"
#include "collector/interpose/got.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 200    /* libraries that are loaded later are seen this soon */
#define GRACE_TURNS 20 /* of 100 ms each */
#define ANSWER ".answer"

static struct col_lock attaching; /* one at a time */

/* "CONTROL.answer", whole or not there. */
static void answer(const char *control, const char *text)
{
	char path[PATH_MAX], whole[PATH_MAX];
	size_t n = strlen(control);
	int fd;

	if (n + sizeof(ANSWER) + 1 > sizeof(path))
		return;
	memcpy(whole, control, n);
	memcpy(whole + n, ANSWER, sizeof(ANSWER));
	memcpy(path, whole, n + sizeof(ANSWER) - 1);
	memcpy(path + n + sizeof(ANSWER) - 1, "~", 2);
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) == (ssize_t)strlen(text))
		rename(path, whole);
	close(fd);
}

/* Providers whose library is there by now; each does a thing once and may be asked again. */
static void look_around(void)
{
	for (unsigned i = 0; i < COL_PROVIDERS; i++) {
		if (col_providers[i] && col_providers[i]->attach)
			col_providers[i]->attach();
	}
	col_got_patch();
}

static void record_until_closed(int fd)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };
	char byte;

	for (;;) {
		int n = poll(&end, 1, LOOK_MS);

		if (n > 0 && read(fd, &byte, 1) <= 0)
			return; /* a word instead of the end would be news from the future */
		if (n < 0 && errno != EINTR)
			return;
		look_around();
	}
}

/* @request: the path of the control pipe, a line end, and what WAVESCOPE_COLLECT would hold. */
WS_PUBLIC int col_attach(const char *request);
WS_PUBLIC int col_attach(const char *request)
{
	static struct col_collect_config config;
	const char *line_end = strchr(request, '\n');
	char control[PATH_MAX];
	struct cap_writer *writer = NULL;
	int fd;

	if (!line_end || (size_t)(line_end - request) >= sizeof(control))
		return 1;
	memcpy(control, request, (size_t)(line_end - request));
	control[line_end - request] = '\0';
	if (col_core_busy()) {
		answer(control, "it is already being recorded");
		return 1;
	}
	col_lock(&attaching);
	if (!col_collect_parse(line_end + 1, &config)) {
		answer(control, config.wrong);
		col_unlock(&attaching);
		return 1;
	}
	fd = open(control, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		answer(control, "it cannot open the control pipe");
		col_unlock(&attaching);
		return 1;
	}
	col_core_attach(&config);
	if (!col_capture()) {
		writer = col_core_detach();
		answer(control, "it cannot write its capture into the output folder");
	} else {
		col_got_want(config.services, config.flags);
		look_around();
		col_control_attach(&config);
		answer(control, "attached");
		record_until_closed(fd);
		writer = col_core_detach();
		answer(control, "detached");
	}
	close(fd);
	col_unlock(&attaching);
	for (int i = 0; writer && i < GRACE_TURNS; i++)
		nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
	cap_writer_close(writer);
	return 0;
}
