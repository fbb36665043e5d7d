#include "models/context.h"
#include "tests/models/rig.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char file[] = "/tmp/ws-context.XXXXXX.json";

static struct ws_doc *load(const char *text)
{
	struct ws_doc *context = NULL;

	if (mdl_context_load(NULL, text, &arena, &context, &err))
		fail_msg("%s", err.text);
	return context;
}

static void is_json(const struct ws_doc *doc, const char *expected)
{
	struct ws_buf out;

	ws_buf_init(&out, 1 << 16);
	ws_doc_to_json(doc, 0, &out);
	assert_string_equal(out.at, expected);
	ws_buf_fini(&out);
}

static void defaults_are_amd_and_ubuntu(void **state)
{
	is_json(load("{}"), "{\"gpu_vendor\": \"AMD\", \"guest_os\": \"UBUNTU\"}");
	is_json(load("{\"guest_os\": \"centos\"}"),
		"{\"guest_os\": \"centos\", \"gpu_vendor\": \"AMD\"}");
	is_json(load(NULL), "{\"gpu_vendor\": \"AMD\", \"guest_os\": \"UBUNTU\"}");
}

static void the_text_replaces_whole_keys_of_the_file(void **state)
{
	struct ws_doc *context;
	int fd = mkstemps(file, 5);
	FILE *to = fdopen(fd, "w");

	fputs("{\"tools\": [{\"name\": \"a\"}, {\"name\": \"b\"}], \"slurm\": {\"nodes\": 2, "
	      "\"time\": \"1:00\"}, \"debug\": false}",
	      to);
	fclose(to);
	assert_int_equal(
		mdl_context_load(file,
				 "{\"tools\": [{\"name\": \"c\"}], \"slurm\": {\"nodes\": 3}}",
				 &arena, &context, &err),
		WS_OK);
	unlink(file);
	is_json(context, "{\"tools\": [{\"name\": \"c\"}], \"slurm\": {\"nodes\": 3}, \"debug\": "
			 "false, \"gpu_vendor\": \"AMD\", \"guest_os\": \"UBUNTU\"}");
}

static void comments_are_dropped_but_variables_stay(void **state)
{
	is_json(load("{\"_note\": 1, \"tools\": [{\"_why\": 2, \"name\": \"a\", \"env_vars\": "
		     "{\"_X\": \"3\"}}]}"),
		"{\"tools\": [{\"name\": \"a\", \"env_vars\": {\"_X\": \"3\"}}], \"gpu_vendor\": "
		"\"AMD\", \"guest_os\": \"UBUNTU\"}");
}

static void a_python_dict_is_fine(void **state)
{
	is_json(load("{'debug': True, 'timeout': 5, 'model_args': \"it's\",}"),
		"{\"debug\": true, \"timeout\": 5, \"model_args\": \"it's\", \"gpu_vendor\": "
		"\"AMD\", \"guest_os\": \"UBUNTU\"}");
}

static void refused(const char *text, enum ws_status st, const char *part)
{
	struct ws_doc *context = NULL;

	assert_fails_with(mdl_context_load(NULL, text, &arena, &context, &err), st, &err, part);
	assert_null(context);
}

static void mistakes_name_the_key(void **state)
{
	refused("{\"tools\": [", WS_E_FORMAT, "--additional-context:1: invalid JSON");
	refused("{'tools': [", WS_E_FORMAT, "--additional-context:1: a value is missing");
	refused("[1]", WS_E_FORMAT, "a JSON object is expected, not a list");
	refused("{\"tools\": {}}", WS_E_USAGE, "'tools' must be a list, not a mapping");
	refused("{\"tools\": [\"rocprof\"]}", WS_E_USAGE, "'tools[0]' must be a mapping");
	refused("{\"tools\": [{}]}", WS_E_USAGE, "'tools[0]': 'name' is missing");
	refused("{\"pre_scripts\": [{\"args\": \"x\"}]}", WS_E_USAGE,
		"'pre_scripts[0]': 'path' is missing");
	refused("{\"gpu_vendor\": \"INTEL\"}", WS_E_USAGE, "must be AMD or NVIDIA, not 'INTEL'");
	refused("{\"docker_gpus\": 1}", WS_E_USAGE, "'docker_gpus' must be a text");
	refused("{\"env_vars\": {\"A-B\": \"1\"}}", WS_E_USAGE,
		"'A-B' is not the name of a variable");
	refused("{\"env_vars\": {\"A\": []}}", WS_E_USAGE,
		"'env_vars.A' must be a text or a number, not a list");
	refused("{\"tools\": [{\"name\": \"a\", \"env_vars\": {\"A\": {}}}]}", WS_E_USAGE,
		"'tools[0].env_vars.A' must be a text or a number, not a mapping");
	refused("{\"timeout\": \"x\"}", WS_E_USAGE, "'timeout' must be a number, not a text");
	refused("{\"log_error_patterns\": []}", WS_E_USAGE, "'log_error_patterns' is empty");
}

static void a_missing_file_is_not_found(void **state)
{
	struct ws_doc *context;

	assert_fails_with(mdl_context_load("/no/such.json", NULL, &arena, &context, &err),
			  WS_E_NOTFOUND, &err, "no context file '/no/such.json'");
}

static void the_target_follows_from_keys(void **state)
{
	enum mdl_target target;

	assert_int_equal(mdl_context_target(load("{}"), &target, &err), WS_OK);
	assert_int_equal(target, MDL_TARGET_LOCAL);
	assert_int_equal(mdl_context_target(load("{\"slurm\": {}}"), &target, &err), WS_OK);
	assert_int_equal(target, MDL_TARGET_SLURM);
	assert_int_equal(mdl_context_target(load("{\"kubernetes\": {}}"), &target, &err), WS_OK);
	assert_int_equal(target, MDL_TARGET_K8S);
	assert_fails_with(mdl_context_target(load("{\"slurm\": {}, \"k8s\": {}}"), &target, &err),
			  WS_E_USAGE, &err, "both slurm and k8s");
}

static size_t gpus(const char *context, const char *model, unsigned at[8])
{
	struct mdl_gpus found;

	if (mdl_context_gpus(load(context), model, 8, &found, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < found.n && i < 8; i++)
		at[i] = found.at[i];
	return found.n;
}

static void gpus_are_counted_and_chosen(void **state)
{
	struct mdl_gpus found;
	unsigned at[8];

	assert_int_equal(gpus("{}", NULL, at), 1);
	assert_int_equal(gpus("{}", "-1", at), 8);
	assert_int_equal(gpus("{\"docker_gpus\": \"all\"}", "-1", at), 8);
	assert_int_equal(gpus("{\"docker_gpus\": \"7,2-4\"}", "-1", at), 4);
	assert_int_equal(at[0], 7);
	assert_int_equal(at[3], 4);
	assert_int_equal(gpus("{\"docker_gpus\": \"1,3,5\"}", "2", at), 2);
	assert_int_equal(at[1], 3);
	assert_int_equal(gpus("{\"n_gpus\": 3, \"slurm\": {\"gpus_per_node\": 4}}", "2", at), 3);
	assert_int_equal(gpus("{\"slurm\": {\"gpus_per_node\": 4}}", "2", at), 4);
	assert_fails_with(mdl_context_gpus(load("{}"), "9", 8, &found, &err), WS_E_USAGE, &err,
			  "asks for 9 GPUs, and there are 8");
	assert_fails_with(mdl_context_gpus(load("{\"docker_gpus\": \"8\"}"), "1", 8, &found, &err),
			  WS_E_USAGE, &err, "there is no GPU 8");
	assert_fails_with(mdl_context_gpus(load("{\"docker_gpus\": \"x\"}"), "1", 8, &found, &err),
			  WS_E_USAGE, &err, "write numbers, ranges or all");
	assert_fails_with(mdl_context_gpus(load("{\"docker_gpus\": \"3-1\"}"), "1", 8, &found,
					   &err),
			  WS_E_USAGE, &err, "is no range");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_amd_and_ubuntu),
		cmocka_unit_test(the_text_replaces_whole_keys_of_the_file),
		cmocka_unit_test(comments_are_dropped_but_variables_stay),
		cmocka_unit_test(a_python_dict_is_fine),
		cmocka_unit_test(mistakes_name_the_key),
		cmocka_unit_test(a_missing_file_is_not_found),
		cmocka_unit_test(the_target_follows_from_keys),
		cmocka_unit_test(gpus_are_counted_and_chosen),
	};

	return RUN_WITH(tests, begin_arena, end_arena);
}
