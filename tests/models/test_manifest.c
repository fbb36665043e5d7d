#include "base/file.h"
#include "models/manifest.h"
#include "tests/models/rig.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void is_json(const struct ws_doc *doc, const char *expected)
{
	struct ws_buf out;

	ws_buf_init(&out, 1 << 16);
	ws_doc_to_json(doc, 0, &out);
	assert_string_equal(out.at, expected);
	ws_buf_fini(&out);
}

static void names_of_images(void **state)
{
	assert_string_equal(mdl_image_name("dummy", "docker/dummy.ubuntu.amd.Dockerfile", &arena),
			    "ci-dummy_dummy.ubuntu.amd");
	assert_string_equal(mdl_image_name("two/a", "", &arena), "ci-two_a");
}

static void a_manifest_keeps_its_part_of_the_context(void **state)
{
	struct ws_doc *manifest = mdl_manifest_create(
		parse("{\"gpu_vendor\": \"AMD\", \"tools\": [{\"name\": \"x\"}], \"slurm\": "
		      "{\"nodes\": "
		      "2}, \"env_vars\": {\"A\": \"1\", \"MIOPEN_USER_DB_PATH\": \"/tmp\"}, "
		      "\"model_args\": \"-x\"}"),
		"/models", &arena);

	is_json(ws_doc_get(manifest, "context"),
		"{\"docker_env_vars\": {}, \"docker_mounts\": {}, \"docker_build_arg\": {}, "
		"\"gpu_vendor\": \"AMD\", \"tools\": [{\"name\": \"x\"}]}");
	is_json(ws_doc_get(manifest, "deployment_config"),
		"{\"slurm\": {\"nodes\": 2}, \"env_vars\": {\"A\": \"1\"}, \"target\": \"slurm\"}");
	assert_string_equal(ws_doc_get_text(manifest, "model_root", ""), "/models");
}

static void a_local_manifest_has_no_deployment(void **state)
{
	struct ws_doc *manifest =
		mdl_manifest_create(parse("{\"guest_os\": \"UBUNTU\"}"), ".", &arena);

	assert_null(ws_doc_get(manifest, "deployment_config"));
	assert_null(ws_doc_get(manifest, "model_root"));
}

static void written_and_read_again(void **state)
{
	struct ws_doc *manifest = mdl_manifest_create(parse("{}"), ".", &arena), *again;
	char dir[PATH_MAX], path[PATH_MAX + 8];
	struct mdl_entries entries;
	struct mdl_model model;

	assert_int_equal(mdl_model_from_doc("t", "",
					    parse("{\"name\": \"two/a\", \"scripts\": \"s\", "
						  "\"cred\": \"key\", \"n_gpus\": \"2\"}"),
					    &arena, &model, &err),
			 WS_OK);
	assert_int_equal(mdl_manifest_add(manifest, &model, "ci-two_a",
					  parse("{\"docker_image\": \"img\"}"), &arena, &err),
			 WS_OK);
	is_json(ws_doc_get(manifest, "credentials_required"), "[\"key\"]");
	assert_int_equal(ws_dir_temp("manifest", dir, &err), WS_OK);
	snprintf(path, sizeof(path), "%s/m.json", dir);
	assert_int_equal(ws_doc_write_json(path, manifest, &err), WS_OK);
	assert_int_equal(mdl_manifest_read(path, &arena, &again, &err), WS_OK);
	assert_int_equal(mdl_manifest_entries(path, again, &arena, &entries, &err), WS_OK);
	unlink(path);
	rmdir(dir);
	assert_int_equal(entries.n, 1);
	assert_string_equal(entries.at[0].image, "ci-two_a");
	assert_string_equal(entries.at[0].model.name, "two/a");
	assert_string_equal(entries.at[0].model.scope, "two");
	assert_string_equal(entries.at[0].model.n_gpus, "2");
	assert_string_equal(ws_doc_get_text(entries.at[0].built, "docker_image", ""), "img");
}

static void the_context_of_a_run_replaces_what_it_may(void **state)
{
	struct ws_doc *manifest = mdl_manifest_create(
		parse("{\"tools\": [{\"name\": \"x\"}], \"docker_gpus\": \"0\"}"), ".", &arena);

	assert_int_equal(
		mdl_manifest_merge(manifest,
				   parse("{\"tools\": [{\"name\": \"y\"}], \"docker_gpus\": "
					 "\"1\", \"slurm\": {\"nodes\": 2}}"),
				   &arena, &err),
		WS_OK);
	assert_string_equal(ws_doc_get_text(ws_doc_get(manifest, "context"), "docker_gpus", ""),
			    "0");
	is_json(ws_doc_get(ws_doc_get(manifest, "context"), "tools"), "[{\"name\": \"y\"}]");
	is_json(ws_doc_get(manifest, "deployment_config"),
		"{\"slurm\": {\"nodes\": 2}, \"target\": \"slurm\"}");
	/* What is typed counts for the run even where the manifest keeps its own. */
	assert_string_equal(ws_doc_get_text(mdl_manifest_context(manifest,
								 parse("{\"docker_gpus\": \"1\"}"),
								 &arena),
					    "docker_gpus", ""),
			    "1");
}

static void a_file_that_is_no_manifest_is_refused(void **state)
{
	struct ws_doc *manifest;
	char path[] = "/tmp/ws-manifest.XXXXXX.json";
	FILE *to = fdopen(mkstemps(path, 5), "w");

	fputs("{\"built_images\": {}}", to);
	fclose(to);
	assert_fails_with(mdl_manifest_read(path, &arena, &manifest, &err), WS_E_FORMAT, &err,
			  "it has no object 'built_models'");
	unlink(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_images),
		cmocka_unit_test(a_manifest_keeps_its_part_of_the_context),
		cmocka_unit_test(a_local_manifest_has_no_deployment),
		cmocka_unit_test(written_and_read_again),
		cmocka_unit_test(the_context_of_a_run_replaces_what_it_may),
		cmocka_unit_test(a_file_that_is_no_manifest_is_refused),
	};

	return RUN_WITH(tests, begin_arena, end_arena);
}
