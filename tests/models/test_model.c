#include "base/doc_edit.h"
#include "base/file.h"
#include "models/model.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct ws_arena arena;
static struct ws_err err;
static char root[PATH_MAX];

static void put(const char *name, const char *text)
{
	char path[2 * PATH_MAX], *slash;
	FILE *to;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	slash = strrchr(path, '/');
	*slash = '\0';
	assert_int_equal(ws_mkdirs(path, &err), WS_OK);
	*slash = '/';
	to = fopen(path, "w");
	fputs(text, to);
	fclose(to);
}

static int setup(void **state)
{
	ws_arena_init(&arena, 8 << 20);
	assert_int_equal(ws_dir_temp("models", root, &err), WS_OK);
	put("models.json",
	    "[{\"name\": \"a\", \"scripts\": \"s/a.sh\", \"tags\": [\"red\", \"big\", "
	    "\"training\"], \"n_gpus\": "
	    "4, \"args\": \"-x\"},"
	    " {\"name\": \"b\", \"scripts\": \"s/b.py\", \"tags\": \"red,small\", \"timeout\": 5},"
	    " {\"name\": \"c\", \"scripts\": \"s/c\", \"skip_gpu_arch\": [\"gfx90a\"]}]");
	put("scripts/two/models.json",
	    "[{\"name\": \"a\", \"scripts\": \"run.sh\", \"dockerfile\": \"../../docker/x\", "
	    "\"tags\": [\"red\"]}]");
	put("scripts/empty/run.sh", "");
	return 0;
}

static int teardown(void **state)
{
	char command[2 * PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	assert_int_equal(system(command), 0);
	ws_arena_fini(&arena);
	return 0;
}

static struct mdl_models all(void)
{
	struct mdl_models models;

	if (mdl_models_read(root, &arena, &models, &err))
		fail_msg("%s", err.text);
	return models;
}

/* "a b" of what the tags select. */
static const char *chosen(const char *tags)
{
	static char names[200];
	const char *words[4];
	struct mdl_models models = all(), found;
	char *copy = ws_arena_strdup(&arena, tags), *save = NULL;
	size_t n = 0;

	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		words[n++] = word;
	if (mdl_models_select(&models, words, n, &arena, &found, &err))
		return err.text;
	names[0] = '\0';
	for (size_t i = 0; i < found.n; i++)
		sprintf(names + strlen(names), "%s%s", i ? " " : "", found.at[i].name);
	return names;
}

static void definitions_are_read_from_root_and_scopes(void **state)
{
	struct mdl_models models = all();

	assert_int_equal(models.n, 4);
	assert_string_equal(models.at[0].n_gpus, "4");
	assert_string_equal(models.at[0].args, "-x");
	assert_true(models.at[0].timeout_s < 0);
	assert_true(models.at[1].timeout_s == 5);
	assert_string_equal(models.at[3].name, "two/a");
	assert_string_equal(models.at[3].scope, "two");
	assert_string_equal(models.at[3].scripts, "scripts/two/run.sh");
	assert_string_equal(models.at[3].dockerfile, "docker/x");
	assert_string_equal(ws_doc_get_text(models.at[3].doc, "name", ""), "two/a");
	assert_true(mdl_model_lists(&models.at[2], "skip_gpu_arch", "gfx90a"));
	assert_false(mdl_model_lists(&models.at[2], "skip_gpu_arch", "gfx908"));
	assert_true(mdl_models_exist(root));
	assert_false(mdl_models_exist("/no/such"));
}

static void tags_select_by_name_tag_and_scope(void **state)
{
	assert_string_equal(chosen("a"), "a");
	assert_string_equal(chosen("red"), "a b two/a");
	assert_string_equal(chosen("small"), "b");
	assert_string_equal(chosen("all"), "a b c two/a");
	assert_string_equal(chosen("two/all"), "two/a");
	assert_string_equal(chosen("two/a"), "two/a");
	assert_string_equal(chosen("two/red"), "two/a");
	assert_string_equal(chosen("two:a"), "two/a");
	assert_string_equal(chosen("c big"), "a c");
}

static void a_tag_without_a_model_is_an_error(void **state)
{
	assert_non_null(strstr(chosen("trainig"), "did you mean 'training'?"));
	assert_non_null(strstr(chosen("a zzzzzz"), "no model has the name or tag 'zzzzzz'"));
	assert_non_null(strstr(chosen("two/b"), "no model has the name or tag 'two/b'"));
}

static void a_tag_can_add_arguments(void **state)
{
	const char *tags[] = { "a:batch=8:in=3", "c:n=1" };
	struct mdl_models models = all(), found;

	assert_int_equal(mdl_models_select(&models, tags, 2, &arena, &found, &err), WS_OK);
	assert_string_equal(found.at[0].args, "-x --batch 8 --in 3");
	assert_string_equal(ws_doc_get_text(found.at[0].doc, "args", ""), "-x --batch 8 --in 3");
	assert_string_equal(found.at[1].args, "--n 1");
	assert_string_equal(models.at[0].args, "-x");
}

static void mistakes_name_the_file(void **state)
{
	struct mdl_models models;

	put("models.json", "{\"name\": 1}");
	assert_fails_with(mdl_models_read(root, &arena, &models, &err), WS_E_FORMAT, &err,
			  "models.json: a list of models is expected, not a mapping");
	put("models.json", "[{\"scripts\": \"x\"}]");
	assert_fails_with(mdl_models_read(root, &arena, &models, &err), WS_E_FORMAT, &err,
			  "a model without a name");
	put("models.json", "[{\"name\": \"x\"}]");
	assert_fails_with(mdl_models_read(root, &arena, &models, &err), WS_E_FORMAT, &err,
			  "model 'x' has no scripts");
	put("models.json", "[");
	assert_fails_with(mdl_models_read(root, &arena, &models, &err), WS_E_FORMAT, &err,
			  "models.json:1: invalid JSON");
	put("models.json", "[]");
	put("scripts/two/get_models_json.py", "");
	assert_fails_with(mdl_models_read(root, &arena, &models, &err), WS_E_FORMAT, &err,
			  "has models.json and get_models_json.py");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(definitions_are_read_from_root_and_scopes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(tags_select_by_name_tag_and_scope, setup, teardown),
		cmocka_unit_test_setup_teardown(a_tag_without_a_model_is_an_error, setup, teardown),
		cmocka_unit_test_setup_teardown(a_tag_can_add_arguments, setup, teardown),
		cmocka_unit_test_setup_teardown(mistakes_name_the_file, setup, teardown),
	};

	return RUN(tests);
}
