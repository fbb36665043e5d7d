#include "base/file.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/ws-test-file-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int remove_file(void **state)
{
	return unlink(path);
}

static void write_text(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void a_file_is_read_whole(void **state)
{
	struct ws_buf buf;

	write_text("one\ntwo\n");
	ws_buf_init(&buf, 8);
	assert_int_equal(ws_file_read(path, &buf, NULL), WS_OK);
	assert_string_equal(buf.at, "one\ntwo\n");
	ws_buf_fini(&buf);
	/* A file without a size, as those of /proc are. */
	ws_buf_init(&buf, 1 << 20);
	assert_int_equal(ws_file_read("/proc/self/status", &buf, NULL), WS_OK);
	assert_non_null(strstr(buf.at, "Name:\t"));
	ws_buf_fini(&buf);
}

static void a_file_too_large_is_an_error(void **state)
{
	struct ws_err err;
	struct ws_buf buf;

	write_text("one\ntwo\n");
	ws_buf_init(&buf, 7);
	assert_fails_with(ws_file_read(path, &buf, &err), WS_E_LIMIT, &err, "larger than 7");
	ws_buf_fini(&buf);
}

static void a_missing_file_is_named(void **state)
{
	struct ws_err err;
	struct ws_buf buf;

	ws_buf_init(&buf, 100);
	assert_fails_with(ws_file_read("/no/such", &buf, &err), WS_E_NOTFOUND, &err, "/no/such");
	ws_buf_fini(&buf);
}

static void lines_and_numbers_come_without_their_end(void **state)
{
	char line[16];
	uint64_t value;

	write_text("42 \nrest");
	assert_true(ws_file_line(path, line, sizeof(line)));
	assert_string_equal(line, "42 ");
	assert_true(ws_file_u64(path, &value));
	assert_int_equal(value, 42);
	write_text("many");
	assert_false(ws_file_u64(path, &value));
	assert_false(ws_file_line("/no/such", line, sizeof(line)));
}

/* ---- names that others can guess ---- */

static char folder[] = "/tmp/ws-test-names-XXXXXX", secret[64], name[64];

static int make_folder(void **state)
{
	FILE *f;

	if (!mkdtemp(strcpy(folder, "/tmp/ws-test-names-XXXXXX")))
		return -1;
	snprintf(secret, sizeof(secret), "%s/secret", folder);
	snprintf(name, sizeof(name), "%s/name", folder);
	f = fopen(secret, "w");
	return f && fputs("private", f) >= 0 && fclose(f) == 0 ? 0 : -1;
}

static int remove_made(void **state)
{
	char part[80];

	snprintf(part, sizeof(part), "%s.part", name);
	unlink(secret);
	unlink(part);
	if (unlink(name))
		rmdir(name);
	return rmdir(folder);
}

static void assert_holds(const char *file, const char *text)
{
	char line[64];

	assert_true(ws_file_line(file, line, sizeof(line)));
	assert_string_equal(line, text);
}

static void put(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(close(fd), 0);
}

static void a_new_file_takes_the_place_of_a_link(void **state)
{
	struct stat st;
	int fd;

	assert_int_equal(symlink(secret, name), 0);
	assert_int_equal(ws_file_create(name, &fd, NULL), WS_OK);
	put(fd, "new");
	assert_int_equal(lstat(name, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_holds(name, "new");
	assert_holds(secret, "private");
	/* A second name of a file is taken away from it, and the file stays as it is. */
	assert_int_equal(unlink(name), 0);
	assert_int_equal(link(secret, name), 0);
	assert_int_equal(ws_file_create(name, &fd, NULL), WS_OK);
	put(fd, "new");
	assert_holds(secret, "private");
}

static void a_new_file_takes_no_folder_s_place(void **state)
{
	struct ws_err err;
	int fd;

	assert_int_equal(mkdir(name, 0700), 0);
	assert_fails_with(ws_file_create(name, &fd, &err), WS_E_IO, &err, "cannot replace");
}

static void whole_files_replace_links_and_leave_no_part(void **state)
{
	char part[80];

	snprintf(part, sizeof(part), "%s.part", name);
	assert_int_equal(symlink(secret, name), 0);
	assert_int_equal(symlink(secret, part), 0);
	assert_int_equal(ws_file_replace(name, "whole", 5, NULL), WS_OK);
	assert_holds(name, "whole");
	assert_holds(secret, "private");
	assert_int_equal(access(part, F_OK), -1);
}

static void a_file_in_the_making_is_not_seen(void **state)
{
	char part[80];
	FILE *file = NULL;
	struct ws_err err;

	snprintf(part, sizeof(part), "%s.part", name);
	assert_int_equal(ws_file_begin(name, &file, NULL), WS_OK);
	fputs("half", file);
	assert_int_equal(access(name, F_OK), -1);
	ws_file_discard(name, file);
	assert_int_equal(access(name, F_OK), -1);
	assert_int_equal(access(part, F_OK), -1);
	assert_int_equal(ws_file_begin(name, &file, NULL), WS_OK);
	fputs("whole", file);
	assert_int_equal(ws_file_commit(name, file, NULL), WS_OK);
	assert_holds(name, "whole");
	/* What failed while it was written keeps the old file. */
	assert_int_equal(ws_file_begin(name, &file, NULL), WS_OK);
	assert_non_null(freopen("/dev/full", "w", file));
	fputs("more", file);
	assert_fails_with(ws_file_commit(name, file, &err), WS_E_IO, &err, "cannot write");
	assert_holds(name, "whole");
	assert_int_equal(access(part, F_OK), -1);
	ws_file_discard(name, NULL);
}

static void only_plain_files_are_opened_again(void **state)
{
	struct ws_err err;
	FILE *file;
	int fd;

	assert_int_equal(ws_file_append_stream(name, &file, NULL), WS_OK);
	assert_int_equal(ftell(file), 0);
	fputs("one", file);
	fclose(file);
	assert_int_equal(ws_file_append_stream(name, &file, NULL), WS_OK);
	assert_int_equal(ftell(file), 3);
	fputs("two", file);
	fclose(file);
	assert_holds(name, "onetwo");
	unlink(name);
	assert_int_equal(symlink(secret, name), 0);
	assert_fails_with(ws_file_open_plain(name, &fd, &err), WS_E_ACCESS, &err,
			  "is a symbolic link");
	unlink(name);
	assert_int_equal(link(secret, name), 0);
	assert_fails_with(ws_file_open_plain(name, &fd, &err), WS_E_ACCESS, &err,
			  "not a regular file");
	unlink(name);
	assert_int_equal(mkfifo(name, 0666), 0); /* must not wait for its other end */
	assert_fails_with(ws_file_open_plain(name, &fd, &err), WS_E_ACCESS, &err,
			  "not a regular file");
}

static void a_private_folder_is_ours_or_an_error(void **state)
{
	struct ws_err err;
	struct stat st;

	assert_int_equal(ws_dir_private(name, NULL), WS_OK);
	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(chmod(name, 0777), 0); /* of an earlier version: closed to others */
	assert_int_equal(ws_dir_private(name, NULL), WS_OK);
	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(rmdir(name), 0);
	assert_int_equal(symlink("/tmp", name), 0);
	assert_fails_with(ws_dir_private(name, &err), WS_E_ACCESS, &err, "not a folder");
	assert_int_equal(unlink(name), 0);
	assert_int_equal(symlink(secret, name), 0);
	assert_fails_with(ws_dir_private(name, &err), WS_E_ACCESS, &err, "not a folder");
}

static void a_private_folder_of_another_user_is_an_error(void **state)
{
	struct ws_err err;

	if (geteuid() != 0)
		unit_skip("only root may give a folder away");
	assert_int_equal(ws_dir_private(name, NULL), WS_OK);
	assert_int_equal(chown(name, 65534, 65534), 0);
	assert_fails_with(ws_dir_private(name, &err), WS_E_ACCESS, &err, "another user");
}

static void temporary_names_are_new_and_in_tmpdir(void **state)
{
	char a[PATH_MAX], b[PATH_MAX];
	struct ws_err err;
	struct stat st;
	int fd;

	setenv("TMPDIR", folder, 1);
	assert_int_equal(ws_dir_temp("x", a, NULL), WS_OK);
	assert_int_equal(ws_dir_temp("x", b, NULL), WS_OK);
	assert_string_not_equal(a, b);
	assert_memory_equal(a, folder, strlen(folder));
	assert_int_equal(stat(a, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	rmdir(a);
	rmdir(b);
	assert_int_equal(ws_file_temp("x", a, &fd, NULL), WS_OK);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	close(fd);
	unlink(a);
	setenv("TMPDIR", "/no/such", 1);
	assert_fails_with(ws_dir_temp("x", a, &err), WS_E_NOTFOUND, &err,
			  "set TMPDIR to a writable folder");
	unsetenv("TMPDIR");
}

#define NAMES_TEST(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_made)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read_whole),
		cmocka_unit_test(a_file_too_large_is_an_error),
		cmocka_unit_test(a_missing_file_is_named),
		cmocka_unit_test(lines_and_numbers_come_without_their_end),
		NAMES_TEST(a_new_file_takes_the_place_of_a_link),
		NAMES_TEST(a_new_file_takes_no_folder_s_place),
		NAMES_TEST(whole_files_replace_links_and_leave_no_part),
		NAMES_TEST(a_file_in_the_making_is_not_seen),
		NAMES_TEST(only_plain_files_are_opened_again),
		NAMES_TEST(a_private_folder_is_ours_or_an_error),
		NAMES_TEST(a_private_folder_of_another_user_is_an_error),
		NAMES_TEST(temporary_names_are_new_and_in_tmpdir),
	};

	return RUN_WITH(tests, make_file, remove_file);
}
