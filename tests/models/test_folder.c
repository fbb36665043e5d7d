#include "base/file.h"
#include "base/path.h"
#include "models/folder.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct ws_arena arena;
static struct ws_err err;
static char base[PATH_MAX], from[PATH_MAX + 8], to[PATH_MAX + 8], other[PATH_MAX + 8];

static void shell(const char *script)
{
	char command[4 * PATH_MAX];

	snprintf(command, sizeof(command), "cd '%s' && { %s; }", base, script);
	assert_int_equal(system(command), 0);
}

static int setup(void **state)
{
	ws_arena_init(&arena, 8 << 20);
	assert_int_equal(ws_dir_temp("folder", base, &err), WS_OK);
	snprintf(from, sizeof(from), "%s/from", base);
	snprintf(to, sizeof(to), "%s/to", base);
	snprintf(other, sizeof(other), "%s/other", base);
	shell("mkdir -p from/tools to && echo ours >from/tools.json && echo run >from/tools/run.sh "
	      "&& "
	      "chmod 755 from/tools/run.sh");
	return 0;
}

static int teardown(void **state)
{
	shell("rm -rf from to other");
	rmdir(base);
	ws_arena_fini(&arena);
	return 0;
}

static struct mdl_common lay(void)
{
	const char *const sources[] = { other, from, NULL };
	struct mdl_common common;

	if (mdl_common_lay(to, sources, &arena, &common, &err))
		fail_msg("%s", err.text);
	return common;
}

static void what_was_laid_is_removed(void **state)
{
	struct mdl_common common = lay();

	shell("cmp from/tools.json to/scripts/common/tools.json && test -x "
	      "to/scripts/common/tools/run.sh");
	mdl_common_remove(&common);
	shell("test -z \"$(ls -A to)\"");
	mdl_common_remove(&common);
}

static void files_of_the_user_stay_as_they_are(void **state)
{
	struct mdl_common common;

	shell("mkdir -p to/scripts/common && echo mine >to/scripts/common/tools.json && echo mine "
	      ">to/scripts/own.sh");
	common = lay();
	shell("grep -q mine to/scripts/common/tools.json && test -e "
	      "to/scripts/common/tools/run.sh");
	shell("echo new >to/scripts/common/tools/of_the_user");
	mdl_common_remove(&common);
	shell("grep -q mine to/scripts/common/tools.json && grep -q mine to/scripts/own.sh && test "
	      "! -e "
	      "to/scripts/common/tools/run.sh && test -e to/scripts/common/tools/of_the_user && "
	      "test "
	      "! -e to/scripts/common/.madengine");
}

static void the_first_source_of_a_file_counts(void **state)
{
	struct mdl_common common;

	shell("mkdir -p other/tools && echo first >other/tools.json && echo more "
	      ">other/tools/more.sh");
	common = lay();
	shell("grep -q first to/scripts/common/tools.json && test -e "
	      "to/scripts/common/tools/more.sh && "
	      "test -e to/scripts/common/tools/run.sh");
	mdl_common_remove(&common);
	shell("test -z \"$(ls -A to)\"");
}

static void a_killed_run_is_cleaned_up_by_the_next(void **state)
{
	struct mdl_common killed = lay(), common;

	ws_vec_fini(&killed.paths);
	ws_vec_fini(&killed.sources);
	shell("echo newer >from/tools.json");
	common = lay();
	shell("cmp from/tools.json to/scripts/common/tools.json");
	mdl_common_remove(&common);
	shell("test -z \"$(ls -A to)\"");
}

static void trees_are_copied_with_links_followed(void **state)
{
	shell("ln -s tools.json from/link && echo old >to/tools.json");
	assert_int_equal(mdl_copy(from, to, &err), WS_OK);
	shell("cmp from/tools.json to/tools.json && test ! -L to/link && cmp from/tools.json "
	      "to/link");
	assert_fails_with(mdl_copy("/no/such", to, &err), WS_E_NOTFOUND, &err, "/no/such");
}

static void a_folder_has_one_run_at_a_time(void **state)
{
	int first, second;

	assert_int_equal(mdl_folder_lock(to, &first, &err), WS_OK);
	assert_fails_with(mdl_folder_lock(to, &second, &err), WS_E_STATE, &err,
			  "another madengine runs in this folder");
	close(first);
	assert_int_equal(mdl_folder_lock(to, &second, &err), WS_OK);
	close(second);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_laid_is_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(files_of_the_user_stay_as_they_are, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_first_source_of_a_file_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(a_killed_run_is_cleaned_up_by_the_next, setup,
						teardown),
		cmocka_unit_test_setup_teardown(trees_are_copied_with_links_followed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_folder_has_one_run_at_a_time, setup, teardown),
	};

	return RUN(tests);
}
