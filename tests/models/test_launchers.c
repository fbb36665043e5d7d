/* Launchers: what a model's environment says of its ranks, on one machine and on nodes. */
#include "models/launchers.h"
#include "tests/models/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int begin(void **state)
{
	begin_arena(state);
	unsetenv("MAD_LAUNCHER");
	return 0;
}

static struct mdl_launch find(const char *context, const char *model, size_t n_gpus)
{
	struct mdl_launch launch;

	assert_int_equal(mdl_launch_find(parse(context), parse(model), n_gpus, &launch, &err),
			 WS_OK);
	return launch;
}

/* The lines that a task of a batch job runs; lives in the arena. */
static const char *script(const char *context)
{
	struct mdl_launch launch = find(context, "{}", 8);
	struct ws_buf out;
	const char *text;

	ws_buf_init(&out, 1u << 16);
	assert_int_equal(mdl_launch_script(&launch, false, &out, &err), WS_OK);
	text = ws_arena_strdup(&arena, out.at);
	ws_buf_fini(&out);
	return text;
}

static void names_are_those_of_amd_and_two_more(void **state)
{
	static const char *const names[] = { "torchrun",    "torchtitan",    "deepspeed",
					     "megatron-lm", "primus",        "vllm",
					     "sglang",      "sglang-disagg", "slurm_multi",
					     "mpirun",      "srun" };
	size_t i;

	for (i = 0; i < WS_ARRAY_LEN(names); i++)
		assert_string_equal(mdl_launcher_name(i), names[i]);
	assert_null(mdl_launcher_name(i));
	assert_string_equal(mdl_launcher_known("sglang_disagg"), "sglang-disagg");
	assert_string_equal(mdl_launcher_known("slurm-multi"), "slurm_multi");
	assert_string_equal(mdl_launcher_known("megatron"), "megatron-lm");
	assert_null(mdl_launcher_known("torchrn"));
}

static void context_comes_before_model_before_environment(void **state)
{
	const char *model =
		"{\"distributed\": {\"launcher\": \"deepspeed\", \"nproc_per_node\": 2}}";

	assert_string_equal(find("{}", "{}", 4).launcher, "torchrun");
	setenv("MAD_LAUNCHER", "vllm", 1);
	assert_string_equal(find("{}", "{}", 4).launcher, "vllm");
	assert_string_equal(find("{}", model, 4).launcher, "deepspeed");
	assert_int_equal(find("{}", model, 4).n_per_node, 2);
	assert_string_equal(
		find("{\"distributed\": {\"launcher\": \"sglang\"}}", model, 4).launcher, "sglang");
	unsetenv("MAD_LAUNCHER");
	assert_string_equal(
		find("{\"distributed\": {\"launcher\": \"torchrn\"}}", "{}", 4).launcher, "docker");
}

static void numbers_are_checked(void **state)
{
	struct mdl_launch launch =
		find("{\"slurm\": {\"nodes\": 3}, \"distributed\": {\"nnodes\": 3, "
		     "\"nproc_per_node\": \"4\", \"port\": 1234}}",
		     "{}", 8);

	assert_int_equal(launch.n_nodes, 3);
	assert_int_equal(launch.n_per_node, 4);
	assert_int_equal(launch.port, 1234);
	assert_int_equal(find("{}", "{}", 0).n_per_node, 1);
	assert_int_equal(find("{}", "{}", 0).port, 29500);
	assert_int_equal(mdl_launch_find(parse("{\"distributed\": {\"nnodes\": 0}}"), NULL, 1,
					 &launch, &err),
			 WS_E_USAGE);
	has(err.text, "distributed.nnodes is '0'");
	assert_int_equal(mdl_launch_find(parse("{\"distributed\": {\"port\": 65536}}"), NULL, 1,
					 &launch, &err),
			 WS_E_USAGE);
}

static void local_runners_are_amds(void **state)
{
	static const struct {
		const char *launcher, *runner;
	} rows[] = {
		{ "torchrun", "torchrun --standalone --nproc_per_node=4" },
		{ "torchtitan", "torchrun --standalone --nproc_per_node=4" },
		{ "megatron-lm", "torchrun --standalone --nproc_per_node=4" },
		{ "deepspeed", "deepspeed --num_gpus=4" },
		{ "vllm", "" },
		{ "sglang", "" },
		{ "sglang-disagg", "" },
		{ "primus", "" },
		{ "docker", "torchrun --standalone --nproc_per_node=4" },
		{ "mpirun", "mpirun -np 4" },
		{ "srun", "srun --overlap --nodes=1 --ntasks=4" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++) {
		struct mdl_launch launch = {
			.launcher = rows[i].launcher, .n_nodes = 2, .n_per_node = 4, .port = 29500
		};
		struct ws_doc *env = ws_doc_map(&arena);

		assert_int_equal(mdl_launch_local(&launch, env, &arena, &err), WS_OK);
		assert_string_equal(ws_doc_get_text(env, "MAD_MULTI_NODE_RUNNER", "(none)"),
				    rows[i].runner);
	}
}

static void local_run_keeps_what_is_there(void **state)
{
	struct mdl_launch launch = find("{\"distributed\": {\"launcher\": \"vllm\"}}", "{}", 2);
	struct ws_doc *env = parse("{\"MAD_MULTI_NODE_RUNNER\": \"mine\"}");

	assert_int_equal(mdl_launch_local(&launch, env, &arena, &err), WS_OK);
	assert_string_equal(ws_doc_get_text(env, "MAD_MULTI_NODE_RUNNER", ""), "mine");
	assert_string_equal(ws_doc_get_text(env, "VLLM_TENSOR_PARALLEL_SIZE", ""), "2");
	assert_string_equal(ws_doc_get_text(env, "VLLM_DISTRIBUTED_BACKEND", ""), "auto");
}

#define NODES(launcher)                                                                            \
	"{\"slurm\": {\"nodes\": 2}, \"distributed\": {\"launcher\": \"" launcher "\"}}"

static void node_runners_are_amds(void **state)
{
	const char *text = script(NODES("torchrun"));

	has(text, "export MAD_MULTI_NODE_RUNNER=\"torchrun --nnodes=2 --nproc_per_node=8 "
		  "--node_rank=${NODE_RANK} --master_addr=${MASTER_ADDR} --master_port=29500\"\n");
	has(text, "export NNODES=\"2\"\n");
	has(text, "export NPROC_PER_NODE=\"8\"\n");
	text = script(NODES("torchtitan"));
	has(text, "export TORCHTITAN_PIPELINE_PARALLEL_SIZE=\"2\"\n");
	has(text, "export TORCHTITAN_FSDP_ENABLED=\"1\"\n");
	text = script(NODES("megatron-lm"));
	has(text, "torchrun --nnodes=2");
	has(text, "export TENSOR_MODEL_PARALLEL_SIZE=\"8\"\n");
	has(text, "export PIPELINE_MODEL_PARALLEL_SIZE=\"2\"\n");
	text = script(NODES("deepspeed"));
	has(text, "sed 's/$/ slots=8/' >\"/tmp/deepspeed_hostfile_${mad_job}.txt\"\n");
	has(text, "deepspeed --hostfile=/tmp/deepspeed_hostfile_${mad_job}.txt "
		  "--master_addr=${MASTER_ADDR} --master_port=29500\"\n");
	text = script(NODES("vllm"));
	has(text, "export VLLM_DISTRIBUTED_BACKEND=\"none\"\n");
	lacks(text, "MAD_MULTI_NODE_RUNNER");
	lacks(script(NODES("native")), "MAD_MULTI_NODE_RUNNER");
}

static void mpi_starts_all_ranks_from_the_first_node(void **state)
{
	const char *text = script(NODES("mpirun"));

	has(text, "sed 's/$/:8/' | paste -sd, -)");
	has(text, "if [ \"$NODE_RANK\" = 0 ]; then\n\texport MAD_MULTI_NODE_RUNNER=\"mpirun -np 16 "
		  "--host ${MAD_MPI_HOSTS}\"\nelse\n\texport MAD_MULTI_NODE_RUNNER=true\nfi\n");
	has(script(NODES("srun")), "srun --overlap --nodes=2 --ntasks=16 --ntasks-per-node=8");
}

static void pods_meet_by_rendezvous(void **state)
{
	struct mdl_launch launch = find(NODES("torchrun"), "{}", 8);
	struct ws_buf out;

	ws_buf_init(&out, 1u << 16);
	assert_int_equal(mdl_launch_script(&launch, true, &out, &err), WS_OK);
	has(out.at, "torchrun --nnodes=2 --nproc_per_node=8 --node_rank=${NODE_RANK} "
		    "--rdzv_backend=c10d --rdzv_endpoint=${MASTER_ADDR}:29500 --rdzv_id=${mad_job} "
		    "--role=worker --tee=3");
	launch = find(NODES("mpirun"), "{}", 8);
	assert_int_equal(mdl_launch_script(&launch, true, &out, &err), WS_E_USAGE);
	has(err.text, "on Slurm only");
	ws_buf_fini(&out);
}

static void one_node_has_the_local_form(void **state)
{
	has(script("{}"),
	    "export MAD_MULTI_NODE_RUNNER=\"torchrun --standalone --nproc_per_node=8\"\n");
	has(script("{\"distributed\": {\"launcher\": \"deepspeed\"}}"),
	    "export MAD_MULTI_NODE_RUNNER=\"deepspeed --num_gpus=8\"\n");
	has(script("{\"distributed\": {\"launcher\": \"megatron-lm\", \"nproc_per_node\": 16}}"),
	    "export TENSOR_MODEL_PARALLEL_SIZE=\"8\"\n");
}

static void texts_of_the_user_are_quoted(void **state)
{
	const char *text = script("{\"distributed\": {\"launcher\": \"primus\", \"primus\": "
				  "{\"cli_extra\": \"--a $(id) 'b'\"}}}");

	has(text, "export PRIMUS_CONFIG_PATH=exp_pretrain.yaml\n");
	has(text, "export PRIMUS_CLI_EXTRA='--a $(id) '\\''b'\\'''\n");
	lacks(text, "BACKEND");
}

static void disaggregated_nodes_are_split(void **state)
{
	static const char form[] = "{\"slurm\": {\"nodes\": 6}, \"distributed\": {\"launcher\": "
				   "\"sglang_disagg\", \"sglang_disagg\": {%s}}}";
	struct mdl_launch launch;
	struct ws_buf out;
	char json[300];
	const char *text;

	snprintf(json, sizeof(json), form, "");
	text = script(json);
	has(text, "export SGLANG_DISAGG_PREFILL_NODES=\"2\"\n");
	has(text, "export SGLANG_DISAGG_DECODE_NODES=\"3\"\n");
	has(text, "export SGLANG_NODE_RANK=\"${NODE_RANK}\"\n");
	snprintf(json, sizeof(json), form, "\"prefill_nodes\": 4, \"decode_nodes\": 1");
	has(script(json), "export SGLANG_DISAGG_PREFILL_NODES=\"4\"\n");

	ws_buf_init(&out, 1u << 16);
	snprintf(json, sizeof(json), form, "\"prefill_nodes\": 4, \"decode_nodes\": 4");
	launch = find(json, "{}", 8);
	assert_int_equal(mdl_launch_script(&launch, false, &out, &err), WS_E_USAGE);
	has(err.text, "4 prefill and 4 decode nodes are not the 5");
	launch = find(NODES("sglang-disagg"), "{}", 8);
	assert_int_equal(mdl_launch_script(&launch, false, &out, &err), WS_E_USAGE);
	has(err.text, "needs at least 3 nodes and gets 2");
	ws_buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_are_those_of_amd_and_two_more, begin,
						end_arena),
		cmocka_unit_test_setup_teardown(context_comes_before_model_before_environment,
						begin, end_arena),
		cmocka_unit_test_setup_teardown(numbers_are_checked, begin, end_arena),
		cmocka_unit_test_setup_teardown(local_runners_are_amds, begin, end_arena),
		cmocka_unit_test_setup_teardown(local_run_keeps_what_is_there, begin, end_arena),
		cmocka_unit_test_setup_teardown(node_runners_are_amds, begin, end_arena),
		cmocka_unit_test_setup_teardown(mpi_starts_all_ranks_from_the_first_node, begin,
						end_arena),
		cmocka_unit_test_setup_teardown(pods_meet_by_rendezvous, begin, end_arena),
		cmocka_unit_test_setup_teardown(one_node_has_the_local_form, begin, end_arena),
		cmocka_unit_test_setup_teardown(texts_of_the_user_are_quoted, begin, end_arena),
		cmocka_unit_test_setup_teardown(disaggregated_nodes_are_split, begin, end_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
