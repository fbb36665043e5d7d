/* Batch jobs: what is asked of Slurm, what its answers mean, what the nodes hand back. */
#include "base/file.h"
#include "models/slurm_priv.h"
#include "tests/models/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mdl_run_options options;
static struct mdl_entry entry;

static int begin(void **state)
{
	begin_arena(state);
	options = (struct mdl_run_options){ .timeout_s = -1 };
	entry = (struct mdl_entry){ .image = "ci-scope_dummy" };
	assert_int_equal(
		mdl_model_from_doc("test", "scope",
				   parse("{\"name\": \"dummy\", \"scripts\": \"scripts/dummy\"}"),
				   &arena, &entry.model, &err),
		WS_OK);
	entry.model.name = "scope/dummy";
	return 0;
}

static enum ws_status make_plan(const char *context, struct mdl_slurm_plan *out_plan)
{
	return mdl_slurm_plan(&entry, parse("{}"), parse(context), &options, &arena, out_plan,
			      &err);
}

static struct mdl_slurm_plan plan_of(const char *context)
{
	struct mdl_slurm_plan plan;

	if (make_plan(context, &plan))
		fail_msg("%s", err.text);
	return plan;
}

static const char *script_of(const char *context)
{
	struct mdl_slurm_plan plan = plan_of(context);
	struct ws_buf out;
	const char *text;

	ws_buf_init(&out, 1u << 20);
	if (mdl_slurm_script(&plan, &out, &err))
		fail_msg("%s", err.text);
	text = ws_arena_strdup(&arena, out.at);
	ws_buf_fini(&out);
	return text;
}

static void presets_are_merged_below_the_context(void **state)
{
	struct mdl_slurm_plan plan = plan_of("{\"slurm\": {\"partition\": \"p\"}, \"env_vars\": "
					     "{\"OMP_NUM_THREADS\": \"2\"}}");
	const struct ws_doc *env = ws_doc_get(plan.context, "env_vars");

	assert_int_equal(plan.n_nodes, 1);
	assert_int_equal(plan.n_gpus, 8);
	assert_string_equal(ws_doc_get_text(plan.slurm, "partition", ""), "p");
	assert_string_equal(ws_doc_get_text(plan.slurm, "time", ""), "12:00:00");
	assert_string_equal(ws_doc_get_text(env, "OMP_NUM_THREADS", ""), "2");
	assert_string_equal(ws_doc_get_text(env, "MIOPEN_FIND_MODE", ""), "1");
	assert_null(ws_doc_get(env, "NCCL_IB_DISABLE"));

	/* either of the two keys makes it a job of several nodes */
	plan = plan_of("{\"slurm\": {}, \"distributed\": {\"nnodes\": 3}}");
	assert_int_equal(plan.n_nodes, 3);
	assert_int_equal(plan.launch.n_nodes, 3);
	assert_string_equal(ws_doc_get_text(plan.slurm, "time", ""), "24:00:00");
	assert_string_equal(
		ws_doc_get_text(ws_doc_get(plan.context, "env_vars"), "NCCL_IB_DISABLE", ""), "1");
}

static void directives_are_amds(void **state)
{
	const char *text =
		script_of("{\"slurm\": {\"nodes\": 2, \"gpus_per_node\": 4, \"time\": "
			  "\"04:00:00\", \"nodelist\": [\"a1\", \"a2\"], \"qos\": \"high\", "
			  "\"account\": \"team one\", \"constraint\": \"mi300x\"}}");

	has(text, "#!/bin/bash\n#SBATCH --job-name=madengine-scope_dummy\n#SBATCH --output=");
	has(text, "/slurm_results/madengine-scope_dummy_%j_%t.out\n");
	has(text, "/slurm_results/madengine-scope_dummy_%j_%t.err\n");
	has(text, "#SBATCH --partition=amd-rccl\n#SBATCH --nodes=2\n#SBATCH --ntasks=2\n"
		  "#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=4\n"
		  "#SBATCH --time=04:00:00\n#SBATCH --nodelist=a1,a2\n#SBATCH --constraint=mi300x\n"
		  "#SBATCH --qos=high\n#SBATCH --account=\"team one\"\n#SBATCH --exclusive\n"
		  "#SBATCH --no-requeue\n");
	lacks(text, "#SBATCH --exclude=");
	lacks(script_of("{\"slurm\": {\"exclusive\": false}}"), "--exclusive");
}

static void variables_are_amds(void **state)
{
	const char *text =
		script_of("{\"slurm\": {\"nodes\": 2, \"gpus_per_node\": 3, "
			  "\"network_interface\": \"ib1\", \"modules\": [\"rocm/6.4\"]}, "
			  "\"env_vars\": {\"MINE\": \"a 'b' $c\"}}");

	has(text, "module load rocm/6.4 || exit 1\n");
	has(text, "export MINE='a '\\''b'\\'' $c'\n");
	has(text, "export HIP_VISIBLE_DEVICES=0,1,2\n");
	has(text, "export ROCR_VISIBLE_DEVICES=0,1,2\n");
	has(text, "export CUDA_VISIBLE_DEVICES=0,1,2\n");
	has(text, "export NCCL_SOCKET_IFNAME=ib1\n");
	has(text, "export GLOO_SOCKET_IFNAME=ib1\n");
	has(text, "export MAD_DEPLOYMENT_TYPE=slurm\n");
	has(text, "export MAD_IN_SLURM_JOB=1\n");
	has(text, "export MAD_TOTAL_NODES=2\n");
	has(text, "export DISTRIBUTED_BACKEND=nccl\n");
	has(text, "--node_rank=${NODE_RANK}");
	lacks(text, "export MIOPEN_USER_DB_PATH=/tmp/.miopen\n");

	text = script_of("{\"slurm\": {\"gpus_per_node\": 2}, \"distributed\": {\"launcher\": "
			 "\"vllm\"}}");
	has(text, "export HIP_VISIBLE_DEVICES=0,1\nunset ROCR_VISIBLE_DEVICES\n"
		  "unset CUDA_VISIBLE_DEVICES\n");
	has(text, "export VLLM_TENSOR_PARALLEL_SIZE=\"2\"\n");
}

static void inner_run_has_the_options(void **state)
{
	options =
		(struct mdl_run_options){ .timeout_s = 60, .live_output = true, .mirror = "/a b" };
	has(script_of("{\"slurm\": {}}"), "\nmadengine run --manifest-file "
					  "build_manifest_local.json --keep-model-dir --timeout 60 "
					  "--force-mirror-local '/a b' --live-output >>");
}

static void script_is_a_script(void **state)
{
	const char *text = script_of("{\"slurm\": {\"nodes\": 2}}");
	const char *task = strstr(text, "<<'MAD_END_OF_TASK'");
	FILE *bash = popen("bash -n", "w");

	assert_non_null(task);
	assert_non_null(strstr(task, "\nMAD_END_OF_TASK\n"));
	lacks(text, "@exports@");
	assert_non_null(bash);
	fputs(text, bash);
	assert_int_equal(pclose(bash), 0);
	/* the here-document is a script of its own */
	bash = popen("bash -n", "w");
	assert_non_null(bash);
	task = strchr(task, '\n') + 1;
	fwrite(task, 1, (size_t)(strstr(task, "\nMAD_END_OF_TASK\n") - task), bash);
	assert_int_equal(pclose(bash), 0);
}

static void mistakes_are_refused(void **state)
{
	static const struct {
		const char *context, *text;
	} rows[] = {
		{ "{\"slurm\": {\"partition\": 3}}",
		  "slurm.partition is a whole number: give a text" },
		{ "{\"slurm\": {\"exclusive\": \"yes\"}}", "give true or false" },
		{ "{\"slurm\": {\"nodes\": 0}}", "slurm.nodes is '0'" },
		{ "{\"slurm\": {\"gpus_per_node\": 1000}}", "slurm.gpus_per_node is '1000'" },
		{ "{\"slurm\": {\"job_id\": \"twelve\"}}", "slurm.job_id is 'twelve'" },
	};
	struct mdl_slurm_plan plan;
	struct ws_buf out;

	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++) {
		assert_int_equal(make_plan(rows[i].context, &plan), WS_E_USAGE);
		has(err.text, rows[i].text);
	}
	ws_buf_init(&out, 1u << 20);
	plan = plan_of("{\"slurm\": {\"qos\": \"a\\n#SBATCH --uid=0\"}}");
	assert_int_equal(mdl_slurm_script(&plan, &out, &err), WS_E_USAGE);
	has(err.text, "--qos of sbatch");
	plan = plan_of("{\"slurm\": {}, \"env_vars\": {\"A;id\": \"1\"}}");
	assert_int_equal(mdl_slurm_script(&plan, &out, &err), WS_E_USAGE);
	has(err.text, "'A;id' cannot be the name of a variable");
	ws_buf_fini(&out);
}

static void without_memory_it_fails_and_nothing_is_lost(void **state)
{
	struct ws_doc *context = parse("{\"slurm\": {\"nodes\": 2, \"nodelist\": [\"a\", \"b\"]}, "
				       "\"distributed\": {\"launcher\": \"mpirun\"}}");
	struct ws_doc *manifest =
		parse("{\"built_images\": {\"ci-scope_dummy\": {}}, \"built_models\": "
		      "{\"ci-scope_dummy\": {}}, \"deployment_config\": {\"slurm\": {}}}");

	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct mdl_slurm_plan plan;
		struct ws_arena own;
		struct ws_buf out;
		enum ws_status st;

		ws_arena_init(&own, 8u << 20);
		ws_buf_init(&out, 1u << 20);
		st = mdl_slurm_plan(&entry, manifest, context, &options, &own, &plan, &err);
		if (!st)
			st = mdl_slurm_script(&plan, &out, &err);
		if (st)
			assert_true(*err.text);
		else if (mdl_slurm_manifest(&plan, manifest, &own))
			assert_non_null(strstr(out.at, "\n#SBATCH --nodelist=a,b\n"));
		ws_buf_fini(&out);
		ws_arena_fini(&own);
	}
}

static void nodes_get_a_local_manifest(void **state)
{
	struct mdl_slurm_plan plan = plan_of("{\"slurm\": {\"gpus_per_node\": 2}}");
	struct ws_doc *local;

	local = mdl_slurm_manifest(
		&plan,
		parse("{\"built_images\": {\"other\": {}, \"ci-scope_dummy\": {\"docker_image\": "
		      "\"i\"}}, "
		      "\"built_models\": {\"other\": {}, \"ci-scope_dummy\": {\"name\": \"n\"}}, "
		      "\"context\": {\"tools\": [{\"name\": \"rocprofv3\"}]}, "
		      "\"deployment_config\": "
		      "{\"target\": \"slurm\", \"slurm\": {}, \"k8s\": {}, \"debug\": true}}"),
		&arena);
	assert_non_null(local);
	assert_int_equal(ws_doc_get(local, "built_images")->n, 1);
	assert_int_equal(ws_doc_get(local, "built_models")->n, 1);
	assert_string_equal(ws_doc_get_text(ws_doc_get(local, "deployment_config"), "target", ""),
			    "docker");
	assert_null(ws_doc_get(ws_doc_get(local, "deployment_config"), "slurm"));
	assert_null(ws_doc_get(ws_doc_get(local, "deployment_config"), "k8s"));
	assert_int_equal(ws_doc_get_int(ws_doc_get(local, "deployment_config"), "gpus_per_node", 0),
			 2);
	assert_true(ws_doc_get_bool(ws_doc_get(local, "context"), "skip_perf_collection", false));
	assert_int_equal(ws_doc_get(ws_doc_get(local, "context"), "tools")->n, 1);
	assert_null(mdl_slurm_manifest(&plan, parse("{\"built_images\": {}}"), &arena));
}

static void states_are_read(void **state)
{
	static const struct {
		const char *text, *name;
		enum mdl_slurm_phase phase;
		const char *elapsed, *where;
	} rows[] = {
		{ "RUNNING 1:02 node[1-2]\n", "RUNNING", MDL_SLURM_GOING, "1:02", "node[1-2]" },
		{ "PENDING 0:00 (Nodes required for job are DOWN)", "PENDING", MDL_SLURM_GOING,
		  "0:00", "(Nodes required for job are DOWN)" },
		{ "   COMPLETED ", "COMPLETED", MDL_SLURM_COMPLETED, "", "" },
		{ "CANCELLED by 1000", "CANCELLED", MDL_SLURM_FAILED, "by", "1000" },
		{ "OUT_OF_ME+", "OUT_OF_MEMORY", MDL_SLURM_FAILED, "", "" },
		{ "NODE_FAIL", "NODE_FAIL", MDL_SLURM_FAILED, "", "" },
		{ "SOMETHING_NEW", "SOMETHING_NEW", MDL_SLURM_FAILED, "", "" },
		{ "", "UNKNOWN", MDL_SLURM_FAILED, "", "" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++) {
		struct mdl_slurm_state found;

		mdl_slurm_read_state(ws_str_from(rows[i].text), &found);
		assert_string_equal(found.name, rows[i].name);
		assert_int_equal(found.phase, rows[i].phase);
		assert_string_equal(found.elapsed, rows[i].elapsed);
		assert_string_equal(found.where, rows[i].where);
	}
}

static void write_node(const char *dir, size_t rank, const char *facts, const char *log)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.3000s/node_%zu", dir, rank);
	assert_int_equal(ws_mkdirs(path, &err), WS_OK);
	snprintf(path, sizeof(path), "%.3000s/node_%zu/node.txt", dir, rank);
	assert_int_equal(ws_file_replace(path, facts, strlen(facts), &err), WS_OK);
	snprintf(path, sizeof(path), "%.3000s/node_%zu/dummy.run.live.log", dir, rank);
	assert_int_equal(ws_file_replace(path, log, strlen(log), &err), WS_OK);
}

/* The plan of two nodes with an output folder of its own. */
static struct mdl_slurm_plan plan_in(char dir[PATH_MAX])
{
	struct mdl_slurm_plan plan = plan_of("{\"slurm\": {\"nodes\": 2, \"gpus_per_node\": 4}}");

	assert_int_equal(ws_dir_temp("slurm", dir, &err), WS_OK);
	plan.output_dir = ws_arena_strdup(&arena, dir);
	return plan;
}

static void remove_dir(const char *dir)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	assert_int_equal(system(command), 0);
}

static void results_of_all_nodes_are_combined(void **state)
{
	char dir[PATH_MAX], job[PATH_MAX];
	struct mdl_slurm_plan plan = plan_in(dir);
	struct mdl_slurm_state done = { .phase = MDL_SLURM_COMPLETED, .name = "COMPLETED" };
	struct mdl_result result = { 0 };
	struct ws_doc *summary;

	snprintf(job, sizeof(job), "%.3000s/scope_dummy/7", dir);
	write_node(job, 0, "host=a\nexit_code=0\n",
		   "performance: 10.5 samples_per_second\ntest_duration: 3.25s\n");
	write_node(job, 1, "host=b\nexit_code=0\n",
		   "performance: 12 samples_per_second\ntest_duration: 4.5s\n");
	assert_int_equal(mdl_slurm_collect(&plan, "7", &done, &arena, &result, &err), WS_OK);
	assert_int_equal(result.outcome, MDL_SUCCESS);
	assert_string_equal(result.performance, "22.5");
	assert_string_equal(result.metric, "samples_per_second");
	assert_string_equal(result.test_duration, "4.50");
	assert_string_equal(result.n_gpus, "8");
	assert_string_equal(result.nnodes, "2");
	assert_string_equal(result.machine_name, "a,b");
	snprintf(job, sizeof(job), "%.3000s/scope_dummy/7/results_summary.json", dir);
	assert_int_equal(ws_doc_read(job, &arena, &summary, &err), WS_OK);
	assert_string_equal(ws_doc_get_text(summary, "final_performance", ""), "22.5");
	assert_string_equal(ws_doc_get_text(summary, "combined_by", ""), "sum");
	assert_int_equal(ws_doc_get(summary, "per_node_metrics")->n, 2);
	remove_dir(dir);
}

static void missing_node_is_a_failure_that_keeps_the_others(void **state)
{
	char dir[PATH_MAX], job[PATH_MAX];
	struct mdl_slurm_plan plan = plan_in(dir);
	struct mdl_slurm_state gone = { .phase = MDL_SLURM_FAILED, .name = "NODE_FAIL" };
	struct mdl_result result = { 0 };

	snprintf(job, sizeof(job), "%.3000s/scope_dummy/8", dir);
	write_node(job, 0, "host=a\nexit_code=143\n", "performance: 10 latency\n");
	write_node(job, 1, "host=b\n", "");
	assert_int_equal(mdl_slurm_collect(&plan, "8", &gone, &arena, &result, &err), WS_OK);
	assert_int_equal(result.outcome, MDL_FAILURE);
	assert_string_equal(result.performance, "10");
	assert_string_equal(result.reason,
			    "node 0 (a) ended with 143, node 1 (b) did not finish: the "
			    "job's state is NODE_FAIL");
	/* a job without any folder */
	memset(&result, 0, sizeof(result));
	assert_int_equal(mdl_slurm_collect(&plan, "9", &gone, &arena, &result, &err), WS_OK);
	has(result.reason, "node 0 never started, node 1 never started");
	remove_dir(dir);
}

static void how_numbers_combine_depends_on_the_metric(void **state)
{
	static const struct {
		const char *metric, *value;
	} rows[] = { { "tokens_per_second", "30" }, { "latency", "15" }, { "memory_gb", "20" } };

	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++) {
		struct mdl_node nodes[] = {
			{ .host = "a", .number = "10", .metric = rows[i].metric, .seconds = -1 },
			{ .host = "b", .seconds = -1 },
			{ .host = "c", .number = "2e1", .metric = rows[i].metric, .seconds = -1 },
			{ .host = "d", .number = "99", .metric = "other", .seconds = -1 },
		};
		struct mdl_result result = { 0 };
		const char *how;

		assert_true(mdl_nodes_combine(nodes, 4, &arena, &result, &how));
		assert_string_equal(result.performance, rows[i].value);
		assert_string_equal(result.metric, rows[i].metric);
		/* one number stays as it was written */
		assert_true(mdl_nodes_combine(nodes + 2, 1, &arena, &result, &how));
		assert_string_equal(result.performance, "2e1");
		assert_false(mdl_nodes_combine(nodes + 1, 1, &arena, &result, &how));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(presets_are_merged_below_the_context, begin,
						end_arena),
		cmocka_unit_test_setup_teardown(directives_are_amds, begin, end_arena),
		cmocka_unit_test_setup_teardown(variables_are_amds, begin, end_arena),
		cmocka_unit_test_setup_teardown(inner_run_has_the_options, begin, end_arena),
		cmocka_unit_test_setup_teardown(script_is_a_script, begin, end_arena),
		cmocka_unit_test_setup_teardown(mistakes_are_refused, begin, end_arena),
		cmocka_unit_test_setup_teardown(without_memory_it_fails_and_nothing_is_lost, begin,
						end_arena),
		cmocka_unit_test_setup_teardown(nodes_get_a_local_manifest, begin, end_arena),
		cmocka_unit_test_setup_teardown(states_are_read, begin, end_arena),
		cmocka_unit_test_setup_teardown(results_of_all_nodes_are_combined, begin,
						end_arena),
		cmocka_unit_test_setup_teardown(missing_node_is_a_failure_that_keeps_the_others,
						begin, end_arena),
		cmocka_unit_test_setup_teardown(how_numbers_combine_depends_on_the_metric, begin,
						end_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
