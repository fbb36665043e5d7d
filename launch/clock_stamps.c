#include "launch/clock_stamps.h"

#include "base/file.h"
#include "base/map.h"
#include "base/util.h"
#include "capture/chunk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define STAMP_SUFFIX ".stamp"
#define FIRST_WAIT_NS 50000000.0
#define LAST_WAIT_NS 30e9
#define N_FIRST_WAITS 20
#define PEERS_MAX ((size_t)1 << 20)

struct launch_clock_stamps {
	char folder[PATH_MAX];
	uint64_t rank;
	uint8_t boot_id[16];
	uint64_t begun_ns;
	FILE *log;
	int claim;           /* a socket: other ranks of this node cannot have it as well */
	struct ws_map peers; /* rank -> the stamp that was read last */
	bool needless;       /* rank 0 is on this node */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool over;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- lines ---- */

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_id(struct ws_str word, uint8_t out[16])
{
	if (word.n != 32)
		return false;
	for (size_t i = 0; i < 32; i += 2) {
		int high = digit_of(word.at[i]), low = digit_of(word.at[i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i / 2] = (uint8_t)(high << 4 | low);
	}
	return true;
}

bool launch_clock_times_parse(struct ws_str line, struct launch_clock_time *out_times, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ws_str id, ns;

		if (!ws_str_next(&line, ' ', &id) || !ws_str_next(&line, ' ', &ns) ||
		    !parse_id(id, out_times[i].boot_id) || !ws_str_u64(ns, &out_times[i].ns))
			return false;
	}
	return !line.n;
}

static int put_time(char *to, size_t room, const uint8_t boot_id[16], uint64_t ns)
{
	int n = 0;

	for (unsigned i = 0; i < 16; i++)
		n += snprintf(to + n, room - (size_t)n, "%02x", boot_id[i]);
	return n + snprintf(to + n, room - (size_t)n, " %" PRIu64, ns);
}

/* ---- stamps ---- */

/* Readers see the old stamp or the new one. The clock is read first: a stamp is never too late. */
static void write_stamp(const struct launch_clock_stamps *s)
{
	char path[PATH_MAX + 32], temporary[PATH_MAX + 40], text[80];
	int n = put_time(text, sizeof(text) - 1, s->boot_id, now_ns()), fd;

	text[n++] = '\n';
	snprintf(path, sizeof(path), "%s/%" PRIu64 STAMP_SUFFIX, s->folder, s->rank);
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, text, (size_t)n) != n || close(fd) != 0 || rename(temporary, path) != 0)
		unlink(temporary);
}

static bool read_stamp(const struct launch_clock_stamps *s, uint64_t rank,
		       struct launch_clock_time *out_stamp)
{
	char path[PATH_MAX + 32], text[80];
	struct ws_str rest, line;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%" PRIu64 STAMP_SUFFIX, s->folder, rank);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text));
	close(fd);
	rest = (struct ws_str){ text, n > 0 ? (size_t)n : 0 };
	return ws_str_next(&rest, '\n', &line) && launch_clock_times_parse(line, out_stamp, 1);
}

static void look_at(struct launch_clock_stamps *s, uint64_t rank)
{
	struct launch_clock_time stamp;
	struct ws_map_entry *before;
	char line[160];
	int n;

	if (rank == s->rank || !read_stamp(s, rank, &stamp))
		return;
	n = put_time(line, sizeof(line), s->boot_id, now_ns()); /* after it was read */
	if (memcmp(stamp.boot_id, s->boot_id, sizeof(s->boot_id)) == 0) {
		/* Of this run: an earlier one may have left a stamp. */
		s->needless |= rank == 0 && stamp.ns >= s->begun_ns;
		return;
	}
	before = ws_map_find_u64(&s->peers, rank);
	if ((before && (uintptr_t)before->value == stamp.ns) ||
	    ws_map_put_u64(&s->peers, rank, (void *)(uintptr_t)stamp.ns, NULL))
		return;
	line[n++] = ' ';
	put_time(line + n, sizeof(line) - (size_t)n, stamp.boot_id, stamp.ns);
	fprintf(s->log, "%s\n", line);
}

static void look_at_all(struct launch_clock_stamps *s)
{
	DIR *folder = opendir(s->folder);
	struct dirent *entry;
	uint64_t rank;

	while (folder && (entry = readdir(folder))) {
		struct ws_str name = ws_str_from(entry->d_name);

		if (!ws_str_ends(name, STAMP_SUFFIX))
			continue;
		name.n -= strlen(STAMP_SUFFIX);
		if (ws_str_u64(name, &rank))
			look_at(s, rank);
	}
	if (folder)
		closedir(folder);
}

static void exchange(struct launch_clock_stamps *s)
{
	write_stamp(s);
	if (s->rank == 0)
		look_at_all(s);
	else
		look_at(s, 0);
	fflush(s->log); /* what is in the file outlives this process */
}

static void *exchange_until_over(void *arg)
{
	struct launch_clock_stamps *s = arg;
	double wait_ns = FIRST_WAIT_NS;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; !s->over && !s->needless; i++) {
		struct timespec until;

		pthread_mutex_unlock(&s->lock);
		exchange(s);
		if (i >= N_FIRST_WAITS)
			wait_ns = WS_MIN(wait_ns * 1.25, LAST_WAIT_NS);
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += (long)wait_ns % 1000000000;
		until.tv_sec += (long)wait_ns / 1000000000 + until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_mutex_lock(&s->lock);
		while (!s->over && !s->needless &&
		       pthread_cond_timedwait(&s->change, &s->lock, &until) != ETIMEDOUT)
			;
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* ---- begin and end ---- */

/* A name that the kernel frees when the process ends, however it ends; -1: it is taken. */
static int claim_node(const char *folder)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int n = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1,
			 "wavescope-clocks-%016" PRIx64, ws_hash_bytes(folder, strlen(folder)));
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 &&
	    bind(fd, (struct sockaddr *)&name,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) != 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool begin_thread(struct launch_clock_stamps *s)
{
	pthread_condattr_t attr;
	sigset_t all, before;
	int error;

	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->change, &attr);
	pthread_condattr_destroy(&attr);
	sigfillset(&all); /* signals are for the thread that waits for the program */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&s->thread, NULL, exchange_until_over, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !error;
}

static void release(struct launch_clock_stamps *s)
{
	if (s->log)
		fclose(s->log);
	if (s->claim >= 0)
		close(s->claim);
	ws_map_fini(&s->peers);
	free(s);
}

struct launch_clock_stamps *launch_clock_stamps_begin(const struct launch_rundir *dir,
						      const struct launch_rank *rank)
{
	const char *slash = strrchr(dir->path, '/');
	struct launch_clock_stamps *s;
	char path[PATH_MAX + 32];

	if (!slash || !rank->known || (rank->size_known && rank->size < 2))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	ws_map_init(&s->peers, WS_MAP_U64, PEERS_MAX);
	s->rank = rank->rank;
	s->begun_ns = now_ns();
	s->claim = -1;
	cap_boot_id(s->boot_id);
	if (snprintf(s->folder, sizeof(s->folder), "%.*s/" LAUNCH_CLOCK_STAMPS_FOLDER,
		     (int)(slash - dir->path), dir->path) >= (int)sizeof(s->folder) ||
	    ws_mkdirs(s->folder, NULL))
		goto nothing;
	if (s->rank && (s->claim = claim_node(s->folder)) < 0)
		goto nothing;
	snprintf(path, sizeof(path), "%s/%" PRIu64 LAUNCH_CLOCK_STAMPS_SUFFIX, s->folder, s->rank);
	s->log = fopen(path, "we");
	if (s->log && begin_thread(s))
		return s;
nothing:
	release(s);
	return NULL;
}

void launch_clock_stamps_end(struct launch_clock_stamps *stamps)
{
	if (!stamps)
		return;
	pthread_mutex_lock(&stamps->lock);
	stamps->over = true;
	pthread_cond_signal(&stamps->change);
	pthread_mutex_unlock(&stamps->lock);
	pthread_join(stamps->thread, NULL);
	if (!stamps->needless)
		exchange(stamps);
	pthread_cond_destroy(&stamps->change);
	pthread_mutex_destroy(&stamps->lock);
	release(stamps);
}
