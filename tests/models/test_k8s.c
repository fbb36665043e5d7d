/* Kubernetes: names, refusals, and what happens when memory runs out. */
#include "base/file.h"
#include "base/path.h"
#include "models/k8s_priv.h"
#include "tests/models/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct mdl_entry entry;
static struct mdl_chain chain;

static int begin(void **state)
{
	begin_arena(state);
	chain = (struct mdl_chain){ .prefix = "" };
	entry = (struct mdl_entry){ .image = "ci-dummy",
				    .built = parse("{\"docker_image\": \"rocm/x:1\"}") };
	if (mdl_model_from_doc("test", "",
			       parse("{\"name\": \"dummy\", \"scripts\": \"s/run.sh\"}"), &arena,
			       &entry.model, &err))
		fail_msg("%s", err.text);
	return 0;
}

static void names_are_those_of_objects(void **state)
{
	static const struct {
		const char *model, *name;
	} rows[] = {
		{ "dummy", "madengine-dummy" },
		{ "Scope/My_Model.v2", "madengine-scope-my-model-v2" },
		{ "--x--", "madengine-x" },
		{ "", "madengine" },
		{ "a234567890b234567890c234567890d234567890-234567890",
		  "madengine-a234567890b234567890c"
		  "234567890d234567890-2" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++) {
		assert_string_equal(mdl_k8s_name(rows[i].model, &arena), rows[i].name);
		assert_true(strlen(rows[i].name) <= 52);
	}
}

static enum ws_status make_plan(const char *context, struct mdl_k8s_plan *out_plan)
{
	return mdl_k8s_plan(&entry, parse(context), &chain, ".", &arena, out_plan, &err);
}

static void sizes_choose_the_preset(void **state)
{
	struct mdl_k8s_plan plan;

	assert_int_equal(make_plan("{\"kubernetes\": {\"namespace\": \"team\"}}", &plan), WS_OK);
	assert_int_equal(plan.n_gpus, 1);
	assert_string_equal(plan.name_space, "team");
	assert_string_equal(ws_doc_get_text(plan.k8s, "memory", ""), "16Gi");
	assert_false(plan.privileged);
	assert_int_equal(make_plan("{\"k8s\": {\"gpu_count\": 8, \"memory\": \"1Ti\"}}", &plan),
			 WS_OK);
	assert_string_equal(ws_doc_get_text(plan.k8s, "memory", ""), "1Ti");
	assert_string_equal(ws_doc_get_text(plan.k8s, "memory_limit", ""), "128Gi");
	assert_string_equal(ws_doc_get_text(plan.k8s, "gpu_resource_name", ""), "amd.com/gpu");
	assert_int_equal(make_plan("{\"gpu_vendor\": \"NVIDIA\", \"k8s\": {}, \"distributed\": "
				   "{\"nnodes\": 4}}",
				   &plan),
			 WS_OK);
	assert_int_equal(plan.n_nodes, 4);
	assert_string_equal(ws_doc_get_text(plan.k8s, "gpu_resource_name", ""), "nvidia.com/gpu");
}

static void what_cannot_be_a_pod_is_refused(void **state)
{
	struct mdl_k8s_plan plan;

	assert_fails_with(make_plan("{\"k8s\": {\"gpu_count\": -1}}", &plan), WS_E_USAGE, &err,
			  "give k8s.gpu_count");
	entry.built = parse("{}");
	assert_fails_with(make_plan("{\"k8s\": {}}", &plan), WS_E_USAGE, &err, "has no image");
	assert_int_equal(make_plan("{\"k8s\": {}, \"MAD_CONTAINER_IMAGE\": \"i\"}", &plan), WS_OK);
	assert_string_equal(plan.image, "i");
}

/* A folder with a script to send. */
static void make_script(char dir[PATH_MAX])
{
	char path[PATH_MAX];

	assert_int_equal(ws_dir_temp("k8s", dir, &err), WS_OK);
	assert_int_equal(ws_path_join(dir, "s", path, &err), WS_OK);
	assert_int_equal(ws_mkdirs(path, &err), WS_OK);
	assert_int_equal(ws_path_join(path, "run.sh", path, &err), WS_OK);
	assert_int_equal(ws_file_replace(path, "echo\n", 5, &err), WS_OK);
}

static void remove_dir(const char *dir)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	assert_int_equal(system(command), 0);
}

static void without_memory_it_fails_and_nothing_is_lost(void **state)
{
	struct ws_doc *context =
		parse("{\"k8s\": {}, \"distributed\": {\"nnodes\": 2}, \"env_vars\": "
		      "{\"A\": \"1\"}}");
	char dir[PATH_MAX];

	make_script(dir);
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct mdl_k8s_plan plan;
		struct ws_arena own;
		struct ws_buf out;
		enum ws_status st;

		ws_arena_init(&own, 64u << 20);
		ws_buf_init(&out, 1u << 20);
		st = mdl_k8s_plan(&entry, context, &chain, dir, &own, &plan, &err);
		if (!st)
			st = mdl_k8s_objects(&plan, &own, &out, &err);
		if (st)
			assert_true(*err.text);
		else
			assert_non_null(strstr(out.at, "\nkind: Job\n"));
		ws_buf_fini(&out);
		ws_arena_fini(&own);
	}
	remove_dir(dir);
}

static void a_file_that_is_not_text_is_refused(void **state)
{
	struct mdl_k8s_plan plan;
	char dir[PATH_MAX], path[PATH_MAX];
	struct ws_buf out;

	make_script(dir);
	assert_int_equal(ws_path_join(dir, "s/program", path, &err), WS_OK);
	assert_int_equal(ws_file_replace(path, "\177ELF\0\377", 6, &err), WS_OK);
	ws_buf_init(&out, 1u << 20);
	assert_int_equal(mdl_k8s_plan(&entry, parse("{\"k8s\": {}}"), &chain, dir, &arena, &plan,
				      &err),
			 WS_OK);
	assert_fails_with(mdl_k8s_objects(&plan, &arena, &out, &err), WS_E_FORMAT, &err,
			  "is not text: put it into the image");
	ws_buf_fini(&out);
	remove_dir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_are_those_of_objects, begin, end_arena),
		cmocka_unit_test_setup_teardown(sizes_choose_the_preset, begin, end_arena),
		cmocka_unit_test_setup_teardown(what_cannot_be_a_pod_is_refused, begin, end_arena),
		cmocka_unit_test_setup_teardown(without_memory_it_fails_and_nothing_is_lost, begin,
						end_arena),
		cmocka_unit_test_setup_teardown(a_file_that_is_not_text_is_refused, begin,
						end_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
