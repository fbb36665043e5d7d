#include "launch/roofcache.h"

#include "base/file.h"
#include "base/map.h"
#include "base/path.h"
#include "launch/roofline.h"
#include "launch/rundir.h"
#include "launch/softgpu.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT_LINE "wavescope roofline cache 1\n"
#define CHECK "check "
#define CHECK_LINE_BYTES (sizeof(CHECK) - 1 + 16 + 1)
#define KEY_MAX (256u << 10)
#define TEXT_MAX (1u << 20)
#define WAIT_MS 600000 /* a benchmark takes a minute at most; do not wait for a stopped process */
#define STEP_MS 50

/* ---- what for ---- */

/* A file that the peaks depend on: replaced, it has another size or time. */
static void add_file(struct ws_buf *key, const char *what, const char *path)
{
	struct stat file;

	if (stat(path, &file))
		memset(&file, 0, sizeof(file));
	ws_buf_printf(key, "%s: %s, %lld bytes, %lld.%09ld\n", what, path, (long long)file.st_size,
		      (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

static void add_machine(struct ws_buf *key)
{
	char host[256] = "", id[64] = "";

	gethostname(host, sizeof(host) - 1);
	ws_file_line("/etc/machine-id", id, sizeof(id));
	ws_buf_printf(key, "machine: %s %s\n", host, id);
}

static enum ws_status write_key(const struct launch_roofcache_key *from, struct ws_buf *key,
				struct ws_err *err)
{
	const struct gpu_agents *agents = from->agents;
	char path[PATH_MAX];
	enum ws_status st = launch_roofline_program(path, err);

	if (st)
		return st;
	ws_buf_add(key, FORMAT_LINE);
	ws_buf_printf(key, "version: %s\n", from->version);
	add_machine(key);
	add_file(key, "benchmark", path);
	ws_buf_printf(key, "runtime: %s\n", agents->runtime);
	if (agents->soft && !launch_softgpu_library(path, NULL))
		add_file(key, "software GPU", path);
	for (size_t i = 0; i < agents->n; i++) {
		const struct gpu_agent *gpu = &agents->at[i];

		ws_buf_printf(key,
			      "GPU: %s, %s, chip 0x%" PRIx64 ", bus 0x%" PRIx64 ", %" PRIu64
			      " CUs, %u MHz, %" PRIu64 " KiB\n",
			      gpu->arch, gpu->product, gpu->device_id, gpu->location_id,
			      gpu_agent_n_cus(gpu), gpu->freq_mhz, gpu->mem_kib);
	}
	ws_buf_printf(key, "measured: %d\n\n", from->device);
	return ws_buf_status(key, err);
}

/* ---- one at a time ---- */

static int lock_entry(const char *path)
{
	char name[PATH_MAX + 8];
	int fd;

	snprintf(name, sizeof(name), "%s.lock", path);
	if (ws_file_open_plain(name, &fd, NULL))
		return -1;
	for (int ms = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; ms += STEP_MS) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || ms >= WAIT_MS) {
			close(fd);
			return -1;
		}
		nanosleep(&(struct timespec){ 0, STEP_MS * 1000000L }, NULL);
	}
	return fd;
}

enum ws_status launch_roofcache_open(struct launch_roofcache *cache,
				     const struct launch_roofcache_key *key, struct ws_err *err)
{
	char folder[PATH_MAX], name[48];
	enum ws_status st;

	*cache = (struct launch_roofcache){ .lock = -1 };
	ws_buf_init(&cache->key, KEY_MAX);
	st = write_key(key, &cache->key, err);
	if (!st)
		st = ws_dir_cache(folder, err);
	if (st)
		return st;
	snprintf(name, sizeof(name), "roofline-%016" PRIx64,
		 ws_hash_bytes(cache->key.at, cache->key.n));
	st = ws_path_join(folder, name, cache->path, err);
	if (!st)
		cache->lock = lock_entry(cache->path);
	else
		cache->path[0] = '\0';
	return st;
}

void launch_roofcache_close(struct launch_roofcache *cache)
{
	if (cache->lock >= 0)
		close(cache->lock);
	cache->lock = -1;
	ws_buf_fini(&cache->key);
}

/* ---- reading and writing ---- */

struct timespec launch_roofcache_start(void)
{
	unsigned long long ticks = 0;
	struct timespec now, up;
	char line[1024];
	const char *at;
	double start_s;

	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	/* The 22nd field of /proc/PID/stat; the name in brackets is the second. */
	if (!ws_file_line("/proc/self/stat", line, sizeof(line)) || !(at = strrchr(line, ')')) ||
	    sscanf(at + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
		   "%llu",
		   &ticks) != 1)
		return now;
	/* The next tick: what was written in the one that this process started in may be older than it. */
	start_s = (double)(ticks + 1) / (double)sysconf(_SC_CLK_TCK);
	start_s += (double)(now.tv_sec - up.tv_sec) + 1e-9 * (double)(now.tv_nsec - up.tv_nsec);
	return (struct timespec){ .tv_sec = (time_t)start_s,
				  .tv_nsec = (long)(1e9 * (start_s - (double)(time_t)start_s)) };
}

static void check_line(const struct launch_roofcache *cache, const char *text, size_t n,
		       char out[CHECK_LINE_BYTES + 1])
{
	snprintf(out, CHECK_LINE_BYTES + 1, CHECK "%016" PRIx64 "\n",
		 ws_hash_bytes(text, n) ^ ws_hash_bytes(cache->key.at, cache->key.n));
}

/* A roofline.csv has a header and a row at least. */
static bool looks_whole(const char *text, size_t n)
{
	const char *end = memchr(text, '\n', n);

	return n > 7 && memcmp(text, "device,", 7) == 0 && end && end + 1 < text + n &&
	       text[n - 1] == '\n';
}

bool launch_roofcache_take(const struct launch_roofcache *cache, struct timespec since,
			   struct ws_buf *out_text, time_t *out_when)
{
	struct stat file;
	struct ws_buf all;
	bool found = false;

	if (!*cache->path || lstat(cache->path, &file) || !S_ISREG(file.st_mode) ||
	    file.st_uid != geteuid() || file.st_mtim.tv_sec < since.tv_sec ||
	    (file.st_mtim.tv_sec == since.tv_sec && file.st_mtim.tv_nsec < since.tv_nsec))
		return false;
	ws_buf_init(&all, KEY_MAX + TEXT_MAX);
	if (!ws_file_read(cache->path, &all, NULL) && all.n > cache->key.n + CHECK_LINE_BYTES &&
	    memcmp(all.at, cache->key.at, cache->key.n) == 0) {
		const char *text = all.at + cache->key.n + CHECK_LINE_BYTES;
		size_t n = all.n - cache->key.n - CHECK_LINE_BYTES;
		char check[CHECK_LINE_BYTES + 1];

		check_line(cache, text, n, check);
		found = memcmp(check, text - CHECK_LINE_BYTES, CHECK_LINE_BYTES) == 0 &&
			looks_whole(text, n);
		if (found)
			ws_buf_add_n(out_text, text, n);
	}
	ws_buf_fini(&all);
	*out_when = file.st_mtim.tv_sec;
	return found && !ws_buf_status(out_text, NULL);
}

void launch_roofcache_put(const struct launch_roofcache *cache, const struct ws_buf *text)
{
	char check[CHECK_LINE_BYTES + 1];
	struct ws_buf all;

	if (!*cache->path || !looks_whole(text->at, text->n))
		return;
	ws_buf_init(&all, KEY_MAX + TEXT_MAX);
	ws_buf_add_n(&all, cache->key.at, cache->key.n);
	check_line(cache, text->at, text->n, check);
	ws_buf_add(&all, check);
	ws_buf_add_n(&all, text->at, text->n);
	/* Without it the next profile measures again, which is all that is lost. */
	if (!ws_buf_status(&all, NULL))
		ws_file_replace(cache->path, all.at, all.n, NULL);
	ws_buf_fini(&all);
}
