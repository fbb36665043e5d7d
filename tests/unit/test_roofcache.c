/* launch/roofcache: what is an entry, and what only looks like one. */
#include "tests/unit/unit.h"

#include "base/file.h"
#include "launch/roofcache.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PEAKS "device,HBMBw\n0,1234\n"

static char dir[] = "/tmp/ws-roofcache-XXXXXX";
static struct gpu_agents agents = {
	.at = { { .arch = "gfx90a",
		  .product = "AMD Instinct MI210",
		  .is_gpu = true,
		  .simd_count = 416,
		  .simd_per_cu = 4,
		  .freq_mhz = 1700 } },
	.n = 1,
	.runtime = "/usr/lib/libhsa-runtime64.so.1.5.0, 1 bytes, 2",
};

static enum ws_status open_cache(struct launch_roofcache *cache, struct ws_err *err)
{
	return launch_roofcache_open(cache, &(struct launch_roofcache_key){ "1.0", &agents, 0 },
				     err);
}

static void keep(const char *text)
{
	struct launch_roofcache cache;
	struct ws_buf buf;

	assert_int_equal(open_cache(&cache, NULL), WS_OK);
	ws_buf_init(&buf, 1 << 20);
	ws_buf_add(&buf, text);
	launch_roofcache_put(&cache, &buf);
	ws_buf_fini(&buf);
	launch_roofcache_close(&cache);
}

static bool is_known(struct timespec since)
{
	struct launch_roofcache cache;
	struct ws_buf buf;
	time_t when;
	bool known;

	open_cache(&cache, NULL);
	ws_buf_init(&buf, 1 << 20);
	known = launch_roofcache_take(&cache, since, &buf, &when);
	if (known) {
		assert_string_equal(buf.at, PEAKS);
		assert_in_range(when, time(NULL) - 100, time(NULL) + 1);
	}
	ws_buf_fini(&buf);
	launch_roofcache_close(&cache);
	return known;
}
static const struct timespec ever;

static const char *entry(void)
{
	static char path[PATH_MAX];
	char pattern[PATH_MAX];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/cache/wavescope/roofline-????????????????", dir);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	snprintf(path, sizeof(path), "%s", found.gl_pathv[0]);
	globfree(&found);
	return path;
}

static int setup(void **state)
{
	char path[PATH_MAX];
	FILE *f;

	if (!mkdtemp(strcpy(dir, "/tmp/ws-roofcache-XXXXXX")))
		return -1;
	snprintf(path, sizeof(path), "%s/bench", dir);
	f = fopen(path, "w");
	if (!f || fclose(f) || chmod(path, 0755))
		return -1;
	setenv("ROOFLINE_BIN", path, 1);
	snprintf(path, sizeof(path), "%s/cache", dir);
	setenv("XDG_CACHE_HOME", path, 1);
	return 0;
}

static int teardown(void **state)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	return system(command);
}

static void peaks_come_back_as_they_were(void **state)
{
	struct stat st;

	assert_false(is_known(ever));
	keep(PEAKS);
	assert_true(is_known(ever));
	assert_int_equal(stat(entry(), &st), 0);
	assert_int_equal(st.st_mode & 022, 0);
	/* Not measured since we began; measured after that, by a rank for one. */
	assert_false(is_known((struct timespec){ .tv_sec = time(NULL) + 2 }));
	assert_true(is_known((struct timespec){ .tv_sec = time(NULL) - 2 }));
	assert_in_range(launch_roofcache_start().tv_sec, time(NULL) - 600, time(NULL));
}

static void anything_else_that_changes_is_another_entry(void **state)
{
	const struct gpu_agents before = agents;

	keep(PEAKS);
	strcpy(agents.runtime, "/usr/lib/libhsa-runtime64.so.1.5.0, 1 bytes, 3");
	assert_false(is_known(ever));
	agents = before;
	agents.at[0].freq_mhz = 1600;
	assert_false(is_known(ever));
	agents = before;
	agents.at[0].location_id = 7;
	assert_false(is_known(ever));
	agents = before;
	agents.at[1] = agents.at[0];
	agents.n = 2;
	assert_false(is_known(ever));
	agents = before;
	assert_true(is_known(ever));
}

static void what_is_damaged_is_no_entry(void **state)
{
	struct ws_buf good, bad;

	keep(PEAKS);
	ws_buf_init(&good, 1 << 20);
	assert_int_equal(ws_file_read(entry(), &good, NULL), WS_OK);
	/* each byte changed, and each shorter file */
	for (size_t i = 0; i < good.n; i++) {
		char was = good.at[i];

		good.at[i] ^= 1;
		assert_int_equal(ws_file_replace(entry(), good.at, good.n, NULL), WS_OK);
		assert_false(is_known(ever));
		good.at[i] = was;
		assert_int_equal(ws_file_replace(entry(), good.at, i, NULL), WS_OK);
		assert_false(is_known(ever));
	}
	ws_buf_init(&bad, 1 << 20);
	ws_buf_add_n(&bad, good.at, good.n);
	ws_buf_add(&bad, "0,5\n");
	assert_int_equal(ws_file_replace(entry(), bad.at, bad.n, NULL), WS_OK);
	assert_false(is_known(ever));
	assert_int_equal(ws_file_replace(entry(), good.at, good.n, NULL), WS_OK);
	assert_true(is_known(ever));
	ws_buf_fini(&good);
	ws_buf_fini(&bad);
}

static void links_are_no_entries(void **state)
{
	char moved[PATH_MAX];
	const char *path;

	keep(PEAKS);
	path = entry();
	snprintf(moved, sizeof(moved), "%s/moved", dir);
	assert_int_equal(rename(path, moved), 0);
	assert_int_equal(symlink(moved, path), 0);
	assert_false(is_known(ever));
	keep(PEAKS);
	assert_true(is_known(ever));
}

static void what_another_user_owns_is_no_cache(void **state)
{
	struct launch_roofcache cache;
	struct ws_err err;

	if (geteuid() != 0)
		unit_skip("only root may give a file away");
	keep(PEAKS);
	assert_true(is_known(ever));
	assert_int_equal(chown(entry(), 65534, 65534), 0);
	assert_false(is_known(ever));

	assert_int_equal(chown(dir, 65534, 65534), 0);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", dir, 1);
	assert_fails_with(open_cache(&cache, &err), WS_E_ACCESS, &err, "another user");
	launch_roofcache_close(&cache);
}

static void no_home_is_no_cache(void **state)
{
	struct launch_roofcache cache;
	struct ws_err err;

	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	assert_fails_with(open_cache(&cache, &err), WS_E_NOTFOUND, &err, "nor HOME is set");
	launch_roofcache_close(&cache);
	assert_false(is_known(ever));
	setenv("XDG_CACHE_HOME", "relative", 1);
	assert_fails_with(open_cache(&cache, &err), WS_E_NOTFOUND, &err, "nor HOME is set");
	launch_roofcache_close(&cache);
}

static void an_incomplete_result_is_not_kept(void **state)
{
	keep("");
	keep("device,HBMBw\n");
	keep("device,HBMBw\n0,12");
	assert_false(is_known(ever));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(peaks_come_back_as_they_were),
		TEST(anything_else_that_changes_is_another_entry),
		TEST(what_is_damaged_is_no_entry),
		TEST(links_are_no_entries),
		TEST(what_another_user_owns_is_no_cache),
		TEST(no_home_is_no_cache),
		TEST(an_incomplete_result_is_not_kept),
	};

	return RUN(tests);
}
