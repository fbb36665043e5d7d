#include "base/doc_edit.h"
#include "base/file.h"
#include "base/util.h"
#include "models/lint.h"
#include "models/tools.h"
#include "tests/unit/doc_rig.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRAPPER "bash ../scripts/common/tools/rocprof_wrapper.sh "
#define LIBRARY_TRACE "python3 ../scripts/common/tools/get_library_trace.py "

static struct ws_doc *tools; /* those that are installed */

static void source_path(const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/data/%s", getenv("WS_SOURCE"), name);
}

static int begin_tools(void **state)
{
	char path[PATH_MAX];

	begin_arena(state);
	source_path("madengine/scripts/common/tools.json", path);
	return mdl_tools_read(path, &arena, &tools, &err);
}

static struct mdl_chain chain_of(const char *context)
{
	struct mdl_chain chain;

	if (mdl_chain_build(tools, parse(context), &arena, &chain, &err))
		fail_msg("%s", err.text);
	return chain;
}

static void script_is(const struct mdl_scripts *list, size_t i, const char *path, const char *args)
{
	assert_true(i < list->n);
	assert_string_equal(list->at[i].path, path);
	assert_string_equal(list->at[i].args, args);
}

static void no_tools_leave_the_command_as_it_is(void **state)
{
	struct mdl_chain chain = chain_of("{\"encapsulate_script\": \"nice\"}");

	assert_string_equal(chain.prefix, "nice ");
	assert_int_equal(chain.n_tools, 0);
	assert_int_equal(chain.pre.n, 0);
	assert_int_equal(chain.n_outputs, 0);
}

static void the_first_tool_is_the_innermost_prefix(void **state)
{
	struct mdl_chain chain =
		chain_of("{\"tools\": [{\"name\": \"test_tools_A\"}, {\"name\": \"test_tools_B\"}],"
			 " \"encapsulate_script\": \"inner\","
			 " \"pre_scripts\": [{\"path\": \"mine.sh\", \"args\": \"1\"}],"
			 " \"post_scripts\": [{\"path\": \"mine.sh\"}]}");

	assert_string_equal(chain.prefix, "echo cmd_B &&  echo cmd_A &&  inner ");
	assert_int_equal(chain.pre.n, 3);
	script_is(&chain.pre, 0, "scripts/common/tools/test_echo.sh", "pre_script B");
	script_is(&chain.pre, 1, "scripts/common/tools/test_echo.sh", "pre_script A");
	script_is(&chain.pre, 2, "mine.sh", "1");
	assert_int_equal(chain.post.n, 3);
	script_is(&chain.post, 0, "mine.sh", "");
	script_is(&chain.post, 1, "scripts/common/tools/test_echo.sh", "post_script A");
	script_is(&chain.post, 2, "scripts/common/tools/test_echo.sh", "post_script B");
	assert_string_equal(chain.names[0], "test_tools_A");
	assert_string_equal(chain.names[1], "test_tools_B");
}

static void variables_are_merged_and_the_later_tool_wins(void **state)
{
	struct mdl_chain chain =
		chain_of("{\"tools\": [{\"name\": \"rocprofv3_full\", \"env_vars\": "
			 "{\"RCCL_DEBUG\": \"TRACE\","
			 " \"N\": 8}}, {\"name\": \"rocprof\", \"env_vars\": {\"N\": 9}}]}");

	assert_string_equal(ws_doc_get_text(chain.env, "RCCL_DEBUG", ""), "TRACE");
	assert_string_equal(ws_doc_get_text(chain.env, "HSA_ENABLE_SDMA", ""), "0");
	assert_string_equal(ws_doc_get_text(chain.env, "N", ""), "9");
}

static void a_replaced_command_names_its_own_output(void **state)
{
	struct mdl_chain chain = chain_of(
		"{\"tools\": [{\"name\": \"rocprof\", \"cmd\": \"" WRAPPER
		"--hip-trace -d './my traces' --\"}, {\"name\": \"gpu_info_vram_profiler\","
		" \"env_vars\": {\"VRAM_OUTPUT_FILE\": \"v.csv\"}}]}");

	assert_string_equal(chain.prefix, WRAPPER "--hip-trace -d './my traces' -- ");
	assert_int_equal(chain.n_outputs, 2);
	assert_string_equal(chain.outputs[0].tool, "rocprof");
	assert_string_equal(chain.outputs[0].pattern, "./my traces/*");
	assert_string_equal(chain.outputs[1].pattern, "v.csv");
	chain = chain_of("{\"tools\": [{\"name\": \"rocprof\", \"cmd\": \"" WRAPPER "--\"}]}");
	assert_string_equal(chain.outputs[0].pattern, "rocprof_output/*");
}

/* The presets are data of ours: each of them gives the chain of the specification. */
static void the_comprehensive_preset_has_one_library_trace(void **state)
{
	char path[PATH_MAX];
	struct ws_doc *preset;
	struct mdl_chain chain;

	source_path("presets/rocprofv3_comprehensive.json", path);
	assert_int_equal(ws_doc_read(path, &arena, &preset, &err), WS_OK);
	assert_int_equal(mdl_chain_build(tools, preset, &arena, &chain, &err), WS_OK);
	assert_string_equal(
		chain.prefix, LIBRARY_TRACE WRAPPER
		"--hip-trace --hsa-trace --kernel-trace --memory-copy-trace "
		"--memory-allocation-trace --rccl-trace --scratch-memory-trace --marker-trace "
		"--runtime-trace -i ../scripts/common/tools/counters/full_profile.txt "
		"--output-format pftrace --stats -d ./rocprof_output -- ");
	assert_string_equal(ws_doc_get_text(chain.env, "MIOPEN_TRACE", ""), "1");
	assert_string_equal(ws_doc_get_text(chain.env, "ROCBLAS_TRACE", ""), "1");
	assert_string_equal(ws_doc_get_text(chain.env, "POWER_SAMPLING_RATE", ""), "0.1");
	assert_int_equal(chain.pre.n, 4);
	script_is(&chain.pre, 1, "scripts/common/pre_scripts/gpu_info_vram_start.sh", "");
	script_is(&chain.pre, 3, "scripts/common/pre_scripts/gpu_info_power_start.sh", "");
	assert_int_equal(chain.post.n, 5);
	script_is(&chain.post, 0, "scripts/common/post_scripts/trace.sh", "rocprof");
	script_is(&chain.post, 4, "scripts/common/post_scripts/gpu_info_post.sh",
		  "gpu_info_vram_profiler");
}

static void presets_name_tools_that_there_are(void **state)
{
	static const char *const names[] = {
		"rocprofv3_compute_bound", "rocprofv3_memory_bound", "rocprofv3_multi_gpu",
		"rocprofv3_comprehensive", "rocprofv3_lightweight",  "rocprofv3_multi_node",
		"rocprofv3_multinode",     "rocm_trace_lite",        "rocm_trace_lite_default",
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(names); i++) {
		char name[128], path[PATH_MAX];
		struct mdl_chain chain = { 0 };
		struct ws_doc *preset;

		snprintf(name, sizeof(name), "presets/%s.json", names[i]);
		source_path(name, path);
		assert_int_equal(ws_doc_read(path, &arena, &preset, &err), WS_OK);
		assert_int_equal(mdl_chain_build(tools, preset, &arena, &chain, &err), WS_OK);
		assert_true(chain.n_tools > 0);
		assert_true(*chain.prefix);
	}
}

/* Commands check types before they lint; whoever does not gets a finding. */
static void an_entry_without_a_name_is_a_bad_tool(void **state)
{
	struct mdl_findings findings = { .n = 0 };
	struct ws_doc *context;

	assert_int_equal(ws_doc_parse_json("c", WS_STR("{\"tools\": [{\"cmd\": \"nice\"}]}"),
					   &arena, &context, &err),
			 WS_OK);
	assert_int_equal(mdl_lint(context, tools, ".", NULL, &arena, &findings, &err), WS_OK);
	assert_int_equal(findings.n, 1);
	assert_int_equal(findings.n_errors, 1);
	assert_string_equal(findings.at[0].rule, "bad-tool");
	assert_string_equal(findings.at[0].where, "tools[0]");
	assert_string_equal(findings.at[0].text,
			    "tools[0] has no name: give {\"name\": \"rocprofv3_compute\"}");
}

static void mistakes_are_named(void **state)
{
	static const struct {
		const char *context;
		enum ws_status status;
		const char *text;
	} rows[] = {
		{ "{\"tools\": [{\"name\": \"rocprofv3_computer\"}]}", WS_E_NOTFOUND,
		  "no tool 'rocprofv3_computer': did you mean 'rocprofv3_compute'?" },
		{ "{\"tools\": [{\"name\": \"xyzzy\"}]}", WS_E_NOTFOUND,
		  "no tool 'xyzzy': 'madengine lint-profile --tools' lists them" },
		{ "{\"tools\": [{}]}", WS_E_USAGE,
		  "tools[0] has no name: give {\"name\": \"rocprofv3_compute\"}" },
		{ "{\"tools\": [\"rocprof\"]}", WS_E_USAGE,
		  "tools[0] has no name: give {\"name\": \"rocprofv3_compute\"}" },
		{ "{\"tools\": [{\"name\": \"rpd\", \"env_vars\": {\"A\": []}}]}", WS_E_FORMAT,
		  "tool 'rpd': env_vars.A is a list: give a text or a number" },
		{ "{\"tools\": [{\"name\": \"rpd\", \"cmd\": 3}]}", WS_E_FORMAT,
		  "tool 'rpd': 'cmd' is a whole number, not a text" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++) {
		struct mdl_chain chain;

		assert_int_equal(mdl_chain_build(tools, parse(rows[i].context), &arena, &chain,
						 &err),
				 rows[i].status);
		assert_string_equal(err.text, rows[i].text);
	}
}

static void words_are_split_as_a_shell_does(void **state)
{
	static const char *const expected[] = { "a", "b c", "d'e", "f g", "", NULL };
	char **words;

	assert_int_equal(mdl_command_words(" a 'b c'  \"d'e\"\tf\\ g '' ", &arena, &words, &err),
			 WS_OK);
	for (size_t i = 0; i < WS_ARRAY_LEN(expected) - 1; i++)
		assert_string_equal(words[i], expected[i]);
	assert_null(words[WS_ARRAY_LEN(expected) - 1]);
}

/* Two tools, scripts and outputs: whatever allocation fails, it is reported and nothing leaks. */
static void memory_that_runs_out_is_reported(void **state)
{
	struct ws_doc *context =
		parse("{\"tools\": [{\"name\": \"rocprof\", \"cmd\": \"rocprofv3 -d x --\"},"
		      " {\"name\": \"gpu_info_vram_profiler\"}], \"tols\": 1}");

	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct ws_arena own;
		struct mdl_chain chain;
		struct mdl_findings findings;
		enum ws_status st;

		ws_arena_init(&own, 1 << 20);
		st = mdl_chain_build(tools, context, &own, &chain, &err);
		if (!st)
			st = mdl_lint(context, tools, ".", NULL, &own, &findings, &err);
		fail_after(-1);
		if (st)
			assert_int_equal(st, WS_E_NOMEM);
		else
			assert_int_equal(findings.n, 1);
		ws_arena_fini(&own);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_tools_leave_the_command_as_it_is),
		cmocka_unit_test(the_first_tool_is_the_innermost_prefix),
		cmocka_unit_test(variables_are_merged_and_the_later_tool_wins),
		cmocka_unit_test(a_replaced_command_names_its_own_output),
		cmocka_unit_test(the_comprehensive_preset_has_one_library_trace),
		cmocka_unit_test(presets_name_tools_that_there_are),
		cmocka_unit_test(an_entry_without_a_name_is_a_bad_tool),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(words_are_split_as_a_shell_does),
		cmocka_unit_test(memory_that_runs_out_is_reported),
	};

	return RUN_WITH(tests, begin_tools, end_arena);
}
