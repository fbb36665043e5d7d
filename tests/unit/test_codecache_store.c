/* codecache: what a result may depend on, and the files that results are kept in. */
#include "tests/unit/unit.h"

#include "codecache/reach.h"
#include "codecache/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- digest ---- */

static void hex(const uint8_t digest[CC_DIGEST_BYTES], char out[2 * CC_DIGEST_BYTES + 1])
{
	for (int i = 0; i < CC_DIGEST_BYTES; i++)
		sprintf(out + 2 * i, "%02x", digest[i]);
}

/* From Python's hashlib.blake2b(digest_size=32); "abc" as in RFC 7693 with its length. */
static const struct {
	size_t n; /* bytes 0, 1, ... 250, 0, ...; SIZE_MAX: "abc" */
	const char *digest;
} vectors[] = {
	{ 0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8" },
	{ SIZE_MAX, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319" },
	{ 128, "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1" },
	{ 1000, "b372d0608f720c8c3dd41e9c8eecb10143b41abe520b616607e754bf79c08331" },
};

static void digest_is_blake2b(void **state)
{
	static const size_t steps[] = { 1000, 1, 7, 127, 128, 129 };
	uint8_t bytes[1000], digest[CC_DIGEST_BYTES];
	char text[2 * CC_DIGEST_BYTES + 1];

	for (size_t v = 0; v < sizeof(vectors) / sizeof(vectors[0]); v++)
		for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
			size_t n = vectors[v].n == SIZE_MAX ? 3 : vectors[v].n;
			struct cc_digest d;

			for (size_t i = 0; i < n; i++)
				bytes[i] = (uint8_t)(i % 251);
			if (vectors[v].n == SIZE_MAX)
				memcpy(bytes, "abc", 3);
			cc_digest_init(&d);
			for (size_t at = 0; at < n; at += steps[s])
				cc_digest_add(&d, bytes + at,
					      n - at < steps[s] ? n - at : steps[s]);
			cc_digest_end(&d, digest);
			hex(digest, text);
			assert_string_equal(text, vectors[v].digest);
		}
}

/* ---- reach ---- */

static const char *const headers[] = { "rtc.h", "mine/a.hpp" };
static const struct cc_reach reach = { .headers = headers, .n_headers = 2, .has_source = true };

static void text_that_reads_no_file_is_kept(void **state)
{
	static const char *const texts[] = {
		"",
		"__global__ void k(int *p) { *p = 1; }",
		"#include \"rtc.h\"\nint x;",
		"  #  include <mine/a.hpp>\n",
		"#define S(x) #x\n# 33 \"/usr/include/math.h\" 3\n",
		"/* includes nothing */ int include, import;",
		"#if 1\n#endif\n#",
		"int a = 1 \\\n + 2;",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (cc_reach_text(&reach, ws_str_from(texts[i])))
			fail_msg("'%s' is not kept", texts[i]);
}

static void text_that_may_read_a_file_or_the_clock_is_not_kept(void **state)
{
	static const char *const texts[] = {
		"#include \"other.h\"",   "#include <stdio.h>\n",
		"# include_next <rtc.h>", "#include NAME",
		"#include \"rtc.h",       "/* */ #include <x>",
		"%:include <x>",          "\?\?=include <x>",
		"#/**/include <x>",       "#\\\ninclude <x>",
		"#inc\\\nlude <x>",       "#import \"rtc.h\"",
		"#embed \"x\"",           "#if __has_include(<x>)",
		"char *d = __DATE__;",    "__TIME__",
		"__TIMESTAMP__",          "asm(\".incbin \\\"x\\\"\");",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!cc_reach_text(&reach, ws_str_from(texts[i])))
			fail_msg("'%s' is kept", texts[i]);
}

static const char *options_reach(const char *line)
{
	static char copy[500];
	const char *options[32];
	size_t n = 0;

	strcpy(copy, line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		options[n++] = word;
	return cc_reach_options(&reach, options, n);
}

static void options_that_name_no_file_are_kept(void **state)
{
	static const char *const lines[] = {
		"-nogpuinc",
		"-O3 -mllvm -amdgpu-prelink -mcumode -nogpuinc --hip-version=5.2.1 -include rtc.h",
		"-nogpuinc -Xclang -cl-ext=+a -Wall -Wno-gnu-line-marker -DX=1 -UY -std=c++17 "
		"-ffast-math -w",
		"-nogpuinc --offload-arch=gfx90a:sramecc+:xnack- -mcode-object-version=4 "
		"wavefrontsize64",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_null(options_reach(lines[i]));
	/* nothing to compile: no headers of the compiler either */
	assert_null(cc_reach_options(&(struct cc_reach){ .has_source = false }, NULL, 0));
	assert_null(cc_reach_options(
		&(struct cc_reach){ .has_source = true, .has_precompiled = true }, NULL, 0));
}

static void options_that_may_name_a_file_are_not_kept(void **state)
{
	static const char *const lines[] = {
		"-O3",
		"-nogpuinc -I/usr/include",
		"-nogpuinc -I x",
		"-nogpuinc -isystem x",
		"-nogpuinc -include other.h",
		"-nogpuinc -include",
		"-nogpuinc -Xclang -load",
		"-nogpuinc -Xclang -include",
		"-nogpuinc -mllvm -load=x",
		"-nogpuinc -Wl,x",
		"-nogpuinc @file",
		"-nogpuinc x.cpp",
		"-nogpuinc -g",
		"-nogpuinc -save-temps",
		"-nogpuinc --rocm-path=/opt",
		"-nogpuinc -fplugin=x",
		"-nogpuinc -DNOW=__TIME__",
		"-nogpuinc -D X",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!options_reach(lines[i]))
			fail_msg("'%s' is kept", lines[i]);
}

static void a_header_in_the_current_folder_wins(void **state)
{
	char dir[] = "/tmp/ws-codecache-cwd-XXXXXX", before[PATH_MAX];

	assert_non_null(getcwd(before, sizeof(before)));
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_null(options_reach("-nogpuinc -include rtc.h"));
	fclose(fopen("rtc.h", "w"));
	assert_non_null(options_reach("-nogpuinc -include rtc.h"));
	unlink("rtc.h");
	assert_int_equal(chdir(before), 0);
	rmdir(dir);
}

/* ---- store ---- */

static char dir[] = "/tmp/ws-codecache-XXXXXX";
static struct cc_store store;
static const uint8_t key_a[CC_DIGEST_BYTES] = { 1 }, key_b[CC_DIGEST_BYTES] = { 2 };

static size_t n_files(char first[PATH_MAX])
{
	DIR *d = opendir(store.folder);
	struct dirent *entry;
	size_t n = 0;

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.') {
			n++;
			if (first)
				snprintf(first, PATH_MAX, "%.2000s/%s", store.folder,
					 entry->d_name);
		}
	closedir(d);
	return n;
}

static void empty_store(void)
{
	char path[PATH_MAX];

	while (n_files(path))
		assert_int_equal(unlink(path), 0);
}

static bool has(const uint8_t key[CC_DIGEST_BYTES], const char *text)
{
	struct ws_buf bytes;
	bool found;

	ws_buf_init(&bytes, CC_STORE_ENTRY_MAX);
	found = cc_store_get(&store, key, &bytes);
	if (found)
		assert_string_equal(bytes.at, text);
	ws_buf_fini(&bytes);
	return found;
}

static void entry_is_found_by_its_key_only(void **state)
{
	struct stat about;
	char path[PATH_MAX];

	empty_store();
	assert_false(has(key_a, ""));
	cc_store_put(&store, key_a, "one", 3);
	assert_true(has(key_a, "one"));
	assert_false(has(key_b, ""));
	cc_store_put(&store, key_a, "two", 3);
	assert_true(has(key_a, "two"));
	assert_int_equal(n_files(path), 1);
	assert_int_equal(stat(path, &about), 0);
	assert_int_equal(about.st_mode & 0777, 0600);
	assert_int_equal(stat(store.folder, &about), 0);
	assert_int_equal(about.st_mode & 0777, 0700);
}

static void any_damaged_byte_is_noticed(void **state)
{
	char path[PATH_MAX], bytes[200];
	size_t n;
	FILE *file;

	empty_store();
	cc_store_put(&store, key_a, "one", 3);
	assert_int_equal(n_files(path), 1);
	file = fopen(path, "r");
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	for (size_t i = 0; i <= n; i++) { /* at the end: one byte too many; each length, too */
		char damaged[201];

		memcpy(damaged, bytes, n);
		damaged[i] ^= 0x20;
		file = fopen(path, "w");
		fwrite(damaged, 1, i < n ? n : n + 1, file);
		fclose(file);
		assert_false(has(key_a, ""));
		assert_int_equal(truncate(path, (off_t)(i < n ? i : 0)), 0);
		assert_false(has(key_a, ""));
	}
	cc_store_put(&store, key_a, "one", 3);
	assert_true(has(key_a, "one"));
}

static void links_pipes_and_copies_are_no_entries(void **state)
{
	char path[PATH_MAX], other[PATH_MAX + 8], name_b[PATH_MAX];

	empty_store();
	cc_store_put(&store, key_b, "one", 3);
	assert_int_equal(n_files(name_b), 1);
	empty_store();
	cc_store_put(&store, key_a, "one", 3);
	assert_int_equal(n_files(path), 1);
	assert_int_equal(link(path, name_b), 0); /* another key's */
	assert_false(has(key_b, ""));
	unlink(name_b);
	snprintf(other, sizeof(other), "%s.other", dir);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink(other, path), 0);
	assert_false(has(key_a, ""));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(has(key_a, ""));
	cc_store_put(&store, key_a, "two", 3);
	assert_true(has(key_a, "two"));
	unlink(other);
}

static void oldest_entries_are_removed(void **state)
{
	uint8_t key[CC_DIGEST_BYTES] = { 0 };
	static char bytes[1000];
	struct cc_store small = store;
	struct timespec used[2] = { 0 };
	char path[PATH_MAX];

	empty_store();
	small.max_bytes = 20 * 1100;
	for (uint8_t i = 1; i <= 30; i++) {
		key[0] = i;
		cc_store_put(&small, key, bytes, sizeof(bytes));
		snprintf(path, sizeof(path), "%.2000s/%02x%062x", store.folder, i, 0);
		used[0].tv_sec = used[1].tv_sec = 1000000 + i;
		assert_int_equal(utimensat(AT_FDCWD, path, used, 0), 0);
	}
	assert_in_range(n_files(NULL), 14, 20);
	key[0] = 1;
	assert_false(has(key, ""));
	key[0] = 30;
	assert_true(has(key, ""));
}

static void limit_on_file_sizes_does_not_kill(void **state)
{
	struct rlimit before, small = { 64, 64 };

	empty_store();
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	cc_store_put(&store, key_a, "one", 3);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(n_files(NULL), 0);
}

static void folder_must_be_ours(void **state)
{
	struct cc_store other;
	struct ws_err err = { 0 };
	char expected[PATH_MAX];

	assert_int_equal(cc_store_open(&other, "relative", &err), WS_E_USAGE);
	assert_int_equal(cc_store_open(&other, "/proc/codecache", &err), WS_E_NOTFOUND);
	setenv("XDG_CACHE_HOME", "relative", 1);
	unsetenv("HOME");
	assert_int_equal(cc_store_open(&other, NULL, &err), WS_E_NOTFOUND);
	setenv("XDG_CACHE_HOME", dir, 1);
	assert_int_equal(cc_store_open(&other, NULL, &err), WS_OK);
	snprintf(expected, sizeof(expected), "%s/wavescope/code", dir);
	assert_string_equal(other.folder, expected);
	rmdir(expected);
	*strrchr(expected, '/') = '\0';
	rmdir(expected);
}

static int set_up(void **state)
{
	return !mkdtemp(dir) || cc_store_open(&store, dir, NULL);
}

static int tear_down(void **state)
{
	empty_store();
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digest_is_blake2b),
		cmocka_unit_test(text_that_reads_no_file_is_kept),
		cmocka_unit_test(text_that_may_read_a_file_or_the_clock_is_not_kept),
		cmocka_unit_test(options_that_name_no_file_are_kept),
		cmocka_unit_test(options_that_may_name_a_file_are_not_kept),
		cmocka_unit_test(a_header_in_the_current_folder_wins),
		cmocka_unit_test(entry_is_found_by_its_key_only),
		cmocka_unit_test(any_damaged_byte_is_noticed),
		cmocka_unit_test(links_pipes_and_copies_are_no_entries),
		cmocka_unit_test(oldest_entries_are_removed),
		cmocka_unit_test(limit_on_file_sizes_does_not_kill),
		cmocka_unit_test(folder_must_be_ours),
	};

	return unit_verdict(
		cmocka_run_group_tests_name("codecache_store", tests, set_up, tear_down));
}
