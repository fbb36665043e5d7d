/* Containers: the command lines, word by word as AMD's users know them. */
#include "gpu/agent.h"
#include "models/container.h"
#include "tests/models/rig.h"

#include <stdlib.h>
#include <string.h>

static struct mdl_model model;
static struct mdl_gpus gpus;
static struct mdl_machine machine;
static struct gpu_agents present;
static struct mdl_job job;

static int begin(void **state)
{
	begin_arena(state);
	unsetenv("MAD_IN_SLURM_JOB");
	if (mdl_model_from_doc("test", "", parse("{\"name\": \"dummy\", \"scripts\": \"s\"}"),
			       &arena, &model, &err))
		fail_msg("%s", err.text);
	gpus = (struct mdl_gpus){ .at = { 0, 2 }, .n = 2 };
	machine = (struct mdl_machine){ .n_gpus = 3 };
	present.n = 3;
	for (size_t i = 0; i < present.n; i++) {
		present.at[i].is_gpu = true;
		present.at[i].drm_render_minor = 128 + 8 * i;
	}
	job = (struct mdl_job){
		.model = &model,
		.built = parse("{\"docker_image\": \"ci-dummy_dummy.ubuntu.amd\"}"),
		.context = parse("{\"gpu_vendor\": \"AMD\"}"),
		.gpus = &gpus,
		.machine = &machine,
		.env = parse("{\"MAD_MODEL_NAME\": \"dummy\"}"),
		.workspace = "/home/u/work",
	};
	return 0;
}

static enum ws_status make_line(const char **out_line)
{
	struct ws_buf out;
	enum ws_status st;

	ws_buf_init(&out, 1u << 20);
	st = mdl_container_line("docker", &job,
				mdl_container_name(ws_doc_get_text(job.built, "docker_image", ""),
						   &arena),
				&present, "/opt/ws build", &out, &err);
	*out_line = ws_arena_strdup(&arena, out.at);
	ws_buf_fini(&out);
	return st;
}

static const char *line(void)
{
	const char *text;

	if (make_line(&text))
		fail_msg("%s", err.text);
	return text;
}

#define AMD                                                                                        \
	"docker run -t -d --network host -u root --group-add video --cap-add=SYS_PTRACE "          \
	"--cap-add SYS_ADMIN --device /dev/fuse --security-opt seccomp=unconfined "                \
	"--security-opt apparmor=unconfined --ipc=host"
#define END                                                                                        \
	" -v /home/u/work:/myworkspace/ --workdir /myworkspace/ --name "                           \
	"container_ci-dummy_dummy.ubuntu.amd ci-dummy_dummy.ubuntu.amd cat"

static void amd_gpus_are_devices(void **state)
{
	assert_string_equal(line(),
			    AMD " --device=/dev/kfd --device=/dev/dri/renderD128 "
				"--device=/dev/dri/renderD144 --env MAD_MODEL_NAME=dummy" END);
	gpus = (struct mdl_gpus){ .at = { 3 }, .n = 1 };
	assert_int_equal(make_line(&(const char *){ NULL }), WS_E_USAGE);
	assert_non_null(strstr(err.text, "docker_gpus names GPU 3: this machine has 3"));
}

static void nvidia_gpus_are_an_option(void **state)
{
	const char *text;

	job.context = parse("{\"gpu_vendor\": \"nvidia\"}");
	text = line();
	assert_non_null(strstr(text, "docker run -t -d -u root --cap-add=SYS_PTRACE --cap-add "
				     "SYS_ADMIN --cap-add SYS_NICE --device /dev/fuse "));
	assert_non_null(strstr(text, " --gpus '\"device=0,2,\"' "));
	assert_null(strstr(text, "--group-add video"));
	job.context = parse("{\"gpu_vendor\": \"ACME\"}");
	assert_int_equal(make_line(&text), WS_E_USAGE);
}

static void software_gpu_comes_with_wavescope_and_without_devices(void **state)
{
	machine.simulated = true;
	assert_string_equal(line(), AMD " -v '/opt/ws build':/opt/wavescope:ro --env "
					"MAD_MODEL_NAME=dummy" END);
}

static void options_of_user_and_model_are_there(void **state)
{
	machine.simulated = true;
	job.context =
		parse("{\"docker_cpus\": \"0-3, 8\", \"docker_mounts\": {\"/data\": \"/nfs/my "
		      "data\"}}");
	job.env = parse("{\"A\": \"it's\", \"B\": \"\", \"C\": \"/opt/ws build/samples\"}");
	model.additional_docker_run_options = "--shm-size 16G";
	assert_string_equal(line(),
			    AMD " -v '/opt/ws build':/opt/wavescope:ro --cpuset-cpus 0-3,8 --env "
				"A='it'\\''s' --env B='' --env C=/opt/wavescope/samples -v "
				"'/nfs/my data':/data --shm-size 16G" END);
}

static void secrets_are_not_on_the_command_line(void **state)
{
	setenv("MAD_SECRETS_KEY", "hush", 1);
	job.env = parse("{\"MAD_SECRETS_KEY\": \"hush\", \"A\": \"1\"}");
	assert_non_null(strstr(line(), " --env MAD_SECRETS_KEY --env A=1"));
	assert_null(strstr(line(), "hush"));
	unsetenv("MAD_SECRETS_KEY");
}

static void what_is_not_safe_is_refused(void **state)
{
	const char *text;

	machine.simulated = true;
	job.env = parse("{\"A;id\": \"1\"}");
	assert_int_equal(make_line(&text), WS_E_USAGE);
	assert_non_null(strstr(err.text, "'A;id' cannot be the name of a variable"));
	job.env = parse("{}");
	job.context = parse("{\"docker_cpus\": \"0;id\"}");
	assert_int_equal(make_line(&text), WS_E_USAGE);
}

static void without_memory_there_is_no_line(void **state)
{
	machine.simulated = true;
	job.env = parse("{\"A\": \"it's\", \"C\": \"/opt/ws build/samples\"}");
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct ws_buf out;

		ws_buf_init(&out, 1u << 20);
		if (!mdl_container_line("docker", &job, "name", &present, "/opt/ws build", &out,
					&err))
			assert_non_null(strstr(out.at, " --env C=/opt/wavescope/samples "));
		ws_buf_fini(&out);
	}
}

static void names_are_safe_and_one_per_node(void **state)
{
	assert_string_equal(mdl_container_name("host:5000/a/b:tag", &arena),
			    "container_host_5000_a_b_tag");
	setenv("MAD_IN_SLURM_JOB", "1", 1);
	setenv("NODE_RANK", "3", 1);
	assert_string_equal(mdl_container_name("ci-x", &arena), "container_ci-x_node3");
	unsetenv("MAD_IN_SLURM_JOB");
	assert_string_equal(mdl_registry_image("host:5000", "ci-x", &arena), "host:5000/ci-x");
	assert_string_equal(mdl_registry_image("docker.io", "ci-x", &arena), "ci-x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(amd_gpus_are_devices, begin, end_arena),
		cmocka_unit_test_setup_teardown(nvidia_gpus_are_an_option, begin, end_arena),
		cmocka_unit_test_setup_teardown(
			software_gpu_comes_with_wavescope_and_without_devices, begin, end_arena),
		cmocka_unit_test_setup_teardown(options_of_user_and_model_are_there, begin,
						end_arena),
		cmocka_unit_test_setup_teardown(secrets_are_not_on_the_command_line, begin,
						end_arena),
		cmocka_unit_test_setup_teardown(what_is_not_safe_is_refused, begin, end_arena),
		cmocka_unit_test_setup_teardown(without_memory_there_is_no_line, begin, end_arena),
		cmocka_unit_test_setup_teardown(names_are_safe_and_one_per_node, begin, end_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
