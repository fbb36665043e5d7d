#include "settings/file.h"
#include "settings/md5.h"
#include "settings/names.h"
#include "settings/outputs.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Values after reading @text as a file called @name. */
static enum ws_status read_as(struct set_values *values, const char *name, const char *text,
			      struct ws_err *err)
{
	set_values_init(values);
	return set_read_text(values, name, ws_str_from(text), err);
}

static void expect(const char *name, const char *text, enum set_id id, const char *wanted)
{
	static struct set_values values;
	struct ws_err err = { 0 };
	enum ws_status st = read_as(&values, name, text, &err);

	if (st)
		fail_msg("'%s': %s", text, err.text);
	if (strcmp(set_text(&values, id), wanted) != 0)
		fail_msg("'%s': %s is '%s', not '%s'", text, set_defs[id].name,
			 set_text(&values, id), wanted);
	set_values_fini(&values);
}

static void expect_fails(const char *name, const char *text, enum ws_status wanted,
			 const char *part)
{
	static struct set_values values;
	struct ws_err err = { 0 };

	assert_fails_with(read_as(&values, name, text, &err), wanted, &err, part);
	set_values_fini(&values);
}

static void the_stronger_origin_wins(void **state)
{
	static char env_freq[] = "ROCPROFSYS_SAMPLING_FREQ=20", env_delay[] = "rocprofsys=1";
	static char env_window[] = "ROCPROFSYS_TRACE_DELAY=2.5";
	char *env[] = { env_freq, env_delay, env_window, NULL };
	static struct set_values values;
	struct ws_err err;

	set_values_init(&values);
	assert_int_equal(set_put(&values, SET_SAMPLING_FREQ, "10", SET_FROM_COMMAND_LINE, &err),
			 WS_OK);
	assert_int_equal(set_from_environment(&values, env, &err), WS_OK);
	assert_int_equal(
		set_read_text(&values, "a.cfg",
			      WS_STR("sampling_freq = 30\ntrace_delay = 3\nmax_depth = 7\n"), &err),
		WS_OK);
	assert_string_equal(set_text(&values, SET_SAMPLING_FREQ), "10");
	assert_true(set_real(&values, SET_TRACE_DELAY) == 2.5);
	assert_int_equal(set_int(&values, SET_MAX_DEPTH), 7);
	assert_int_equal(values.at[SET_SAMPLING_FREQ].origin, SET_FROM_COMMAND_LINE);
	assert_int_equal(values.at[SET_TRACE_DELAY].origin, SET_FROM_ENVIRONMENT);
	assert_int_equal(values.at[SET_MAX_DEPTH].origin, SET_FROM_FILE);
	assert_false(set_is_given(&values, SET_SAMPLING_DELAY));
	assert_string_equal(set_text(&values, SET_SAMPLING_DELAY), "0.5");
	set_values_fini(&values);
}

static void text_files_have_all_their_syntax(void **state)
{
	setenv("WS_TEST_FREQ", "123", 1);
	expect("a.cfg", "ROCPROFSYS_TRACE = off", SET_TRACE, "false");
	expect("a.cfg", "  trace=NO  # why", SET_TRACE, "false");
	expect("a.cfg", "Rocprofsys_Use_Rocm\t=\tF", SET_USE_ROCM, "false");
	expect("a.cfg", "# trace = off\n\n#\n", SET_TRACE, "true");
	expect("a.cfg", "timemory_components = wall_clock  peak_rss;cpu_clock,\tpage_rss",
	       SET_TIMEMORY_COMPONENTS, "wall_clock,peak_rss,cpu_clock,page_rss");
	expect("a.cfg", "output_prefix = \"my run, #1;\"-x", SET_OUTPUT_PREFIX, "my run, #1;-x");
	expect("a.cfg", "output_prefix = 'a$b \"c\"'", SET_OUTPUT_PREFIX, "a$b \"c\"");
	expect("a.cfg", "output_prefix =", SET_OUTPUT_PREFIX, "");
	expect("a.cfg", "sampling_cpus = ''", SET_SAMPLING_CPUS, "");
	expect("a.cfg", "$F = 50\nsampling_freq = $F", SET_SAMPLING_FREQ, "50");
	expect("a.cfg", "$F = 5\nsampling_freq = ${F}0.5", SET_SAMPLING_FREQ, "50.5");
	expect("a.cfg", "$A = wall_clock peak_rss\ntimemory_components = $A, cpu_clock",
	       SET_TIMEMORY_COMPONENTS, "wall_clock,peak_rss,cpu_clock");
	expect("a.cfg", "sampling_freq = $env:WS_TEST_FREQ", SET_SAMPLING_FREQ, "123");
	expect("a.cfg", "sampling_freq = 1$env:WS_TEST_FREQ", SET_SAMPLING_FREQ, "1123");
	expect("a.cfg", "output_path = $env{HOME}/out-%tag%-$cfg{mode}", SET_OUTPUT_PATH,
	       "$env{HOME}/out-%tag%-$cfg{mode}");
	expect("a.cfg", "sampling_freq = 1\nsampling_freq = 2", SET_SAMPLING_FREQ, "2");
	expect("a.cfg", "verbose = \r\ntrace = off\r\n", SET_TRACE, "false");
	expect("a.conf", "use_perfetto = off", SET_TRACE, "false");
	expect("a.cfg", "use_perfetto = off\ntrace = on", SET_TRACE, "true");
	expect("a.cfg", "trace = on\nuse_perfetto = off", SET_TRACE, "true");
}

static void variables_for_the_program_are_kept(void **state)
{
	static struct set_values values;
	struct ws_err err;

	setenv("WS_TEST_SET", "mine", 1);
	unsetenv("WS_TEST_UNSET");
	assert_int_equal(read_as(&values, "a.cfg",
				 "$env:WS_TEST_UNSET = a b\n$env:WS_TEST_SET = other\n", &err),
			 WS_OK);
	assert_int_equal(values.exports.n, 2);
	assert_string_equal(values.exports.at[0], "WS_TEST_UNSET");
	assert_string_equal(values.exports.at[1], "a,b");
	set_values_fini(&values);
}

static void unknown_names_are_errors_unless_allowed(void **state)
{
	static struct set_values values;
	struct ws_err err;

	expect_fails("a.cfg", "trace = on\nROCPROFSYS_TRACES = 1\n", WS_E_NOTFOUND,
		     "a.cfg:2: Unknown setting 'ROCPROFSYS_TRACES' (value = '1')");
	expect_fails("a.cfg", "tarce = 1", WS_E_NOTFOUND, "did you mean 'ROCPROFSYS_TRACE'?");
	assert_int_equal(read_as(&values, "a.cfg",
				 "ROCPROFSYS_NEW_ONE = x\nother = y\nstrict_config = off\n", &err),
			 WS_OK);
	assert_int_equal(values.exports.n, 2);
	assert_string_equal(values.exports.at[0], "ROCPROFSYS_NEW_ONE");
	assert_string_equal(values.exports.at[1], "x");
	set_values_fini(&values);
}

static void mistakes_name_file_and_line(void **state)
{
	expect_fails("a.cfg", "\n\ntrace = perhaps", WS_E_USAGE,
		     "a.cfg:3: ROCPROFSYS_TRACE: 'perhaps' is not true or false");
	expect_fails("a.cfg", "trace", WS_E_FORMAT, "a.cfg:1: not 'NAME = VALUE': 'trace'");
	expect_fails("a.cfg", "= 1", WS_E_FORMAT, "a.cfg:1: not 'NAME = VALUE'");
	expect_fails("a.cfg", "trace = $X", WS_E_FORMAT,
		     "a.cfg:1: no variable of this file is called 'X'");
	expect_fails("a.cfg", "$X = 1\ntrace = ${X", WS_E_FORMAT, "a.cfg:2: no '}' after");
	expect_fails("a.cfg", "trace = \"on", WS_E_FORMAT, "a.cfg:1: no closing quote in");
	expect_fails("a.cfg", "$ = 1", WS_E_FORMAT, "a.cfg:1: no name of a variable");
	expect_fails("a.cfg", "$env: = 1", WS_E_FORMAT,
		     "a.cfg:1: no name of an environment variable");
	expect_fails("a.cfg", "sampling_freq = fast", WS_E_USAGE, "'fast' is not a number");
	expect_fails("a.cfg", "max_depth = -1", WS_E_USAGE, "'-1' is not a whole number");
	expect_fails("a.cfg", "mode = smapling", WS_E_USAGE, "did you mean 'sampling'?");
	expect_fails("a.cfg", "rocm_domains = hip_api,hop_api", WS_E_USAGE, "no choice 'hop_api'");
	expect_fails("a.cfg", "config_file = /no/such/file.cfg", WS_E_NOTFOUND,
		     "a.cfg:1: configuration file: ");
	expect_fails("a.json", "{", WS_E_FORMAT, "a.json");
	expect_fails("a.json", "{\"x\": 1}", WS_E_FORMAT, "a.json: no settings");
	expect_fails("a.xml", "<a><b></a>", WS_E_FORMAT, "a.xml:1: a closing tag does not match");
	expect_fails("a.xml", "<a>\n<b>", WS_E_FORMAT, "a.xml:2: an element is not closed");
	expect_fails("a.xml", "text", WS_E_FORMAT, "a.xml:1: no element");
}

static void json_and_xml_are_read(void **state)
{
	expect("a.json",
	       "{\"rocprofiler-systems\": {\"settings\": {\"ROCPROFSYS_TRACE\": {\"name\": "
	       "\"trace\", \"value\": false}}}}",
	       SET_TRACE, "false");
	expect("a.json", "{\"rocprof-sys\": {\"settings\": {\"sampling_freq\": 12}}}",
	       SET_SAMPLING_FREQ, "12");
	expect("a.json",
	       "{\"rocprofiler-systems\": {\"metadata\": {\"settings\": {\"verbose\": {\"value\": "
	       "-1}}}}}",
	       SET_VERBOSE, "-1");
	expect("a.json",
	       "{\"rocprofiler-systems\": {\"settings\": {\"timemory_components\": {\"value\": "
	       "[\"wall_clock\", \"peak_rss\"]}}}}",
	       SET_TIMEMORY_COMPONENTS, "wall_clock,peak_rss");
	expect("a.XML",
	       "<?xml version=\"1.0\"?><!-- c --><timemory_xml><rocprofiler-systems>\n"
	       "<settings><ROCPROFSYS_OUTPUT_PREFIX a=\"1\"><name>output_prefix</name>"
	       "<value>a&lt;b&#45;</value></ROCPROFSYS_OUTPUT_PREFIX>"
	       "<ROCPROFSYS_TRACE><value>OFF</value></ROCPROFSYS_TRACE><ROCPROFSYS_CONFIG_FILE>"
	       "<value/></ROCPROFSYS_CONFIG_FILE></settings></rocprofiler-systems></timemory_xml>",
	       SET_OUTPUT_PREFIX, "a<b-");
	expect("a.xml",
	       "<timemory_xml><rocprofiler-systems><settings><TIMEMORY_COMPONENTS><value>"
	       "<value0>wall_clock</value0><value1><![CDATA[peak_rss]]></value1></value>"
	       "</TIMEMORY_COMPONENTS></settings></rocprofiler-systems></timemory_xml>",
	       SET_TIMEMORY_COMPONENTS, "wall_clock,peak_rss");
}

static void profile_and_trace_follow_each_other(void **state)
{
	static const struct {
		enum set_origin origin;
		const char *profile, *trace;   /* given; NULL: not */
		const char *profiles, *traces; /* in the end */
	} cases[] = {
		{ SET_FROM_COMMAND_LINE, NULL, NULL, "false", "true" },
		{ SET_FROM_COMMAND_LINE, "on", NULL, "true", "false" },
		{ SET_FROM_ENVIRONMENT, "on", NULL, "true", "false" },
		{ SET_FROM_FILE, "on", NULL, "true", "true" },
		{ SET_FROM_COMMAND_LINE, "on", "on", "true", "true" },
		{ SET_FROM_ENVIRONMENT, NULL, "off", "true", "false" },
		{ SET_FROM_ENVIRONMENT, "off", NULL, "false", "true" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		static struct set_values values;
		struct ws_err err;

		set_values_init(&values);
		if (cases[i].profile)
			set_put(&values, SET_PROFILE, cases[i].profile, cases[i].origin, &err);
		if (cases[i].trace)
			set_put(&values, SET_TRACE, cases[i].trace, cases[i].origin, &err);
		set_finish(&values, true);
		assert_string_equal(set_text(&values, SET_PROFILE), cases[i].profiles);
		assert_string_equal(set_text(&values, SET_TRACE), cases[i].traces);
		set_values_fini(&values);
	}
}

static void a_started_program_is_sampled_unless_the_user_objects(void **state)
{
	static struct set_values values;
	struct ws_err err;

	set_values_init(&values);
	set_finish(&values, true);
	assert_true(set_on(&values, SET_USE_SAMPLING));
	assert_true(set_on(&values, SET_SAMPLING_CPUTIME));
	set_values_fini(&values);

	set_values_init(&values);
	set_finish(&values, false); /* as rocprof-sys-avail shows it */
	assert_false(set_on(&values, SET_USE_SAMPLING));
	assert_string_equal(set_text(&values, SET_MODE), "trace");
	set_values_fini(&values);

	set_values_init(&values);
	set_put(&values, SET_MODE, "Trace", SET_FROM_FILE, &err);
	set_finish(&values, true);
	assert_false(set_on(&values, SET_USE_SAMPLING));
	set_values_fini(&values);

	set_values_init(&values);
	set_put(&values, SET_SAMPLING_REALTIME, "1", SET_FROM_FILE, &err);
	set_finish(&values, true);
	assert_false(set_on(&values, SET_SAMPLING_CPUTIME));
	set_values_fini(&values);
}

/* ---- names ---- */

static const char *const words[] = { "/opt/bin/train.py", "-n", "./data/in.txt" };
static const char *const env[] = { "USER=ann", "DEEP=/a/b", NULL };

static struct launch_place place(void)
{
	return (struct launch_place){
		.argv = words,
		.n_argv = WS_ARRAY_LEN(words),
		.hostname = "node7",
		.cwd = "/work",
		.pid = 42,
		.ppid = 41,
		.launched = 1700000000,
		.env = launch_lookup_list(env),
		.rank = { .rank = 0, .size = 1 },
	};
}

static void keys_have_their_values(void **state)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{ "%argv%", "opt_bin_train.py_-n_data_in.txt" },
		{ "%argt%", "train_-n_data_in.txt" },
		{ "%args%", "-n_data_in.txt" },
		{ "%arg0%|%arg2%|%arg7%|", "opt_bin_train.py|data_in.txt||" },
		{ "%tag%-out", "train-out" },
		{ "%pid%-%p-%ppid%-%nid%", "42-42-41-42" },
		{ "%rank%/%r of %size%/%s", "0/0 of 1/1" },
		{ "%env{USER}%$env{DEEP}", "ann/a/b" },
		{ "%env{NONE}%x", "x" },
		{ "%cfg{mode}%-$cfg{ROCPROFSYS_TIMING_UNITS}", "trace-sec" },
		{ "%launch_time%", "2023-11-14_22.13" },
		{ "100%", "100%" },
		{ "%unknown%", "%unknown%" },
		{ "%tag_hash%", "61b3a8faa9c1091806675c230a9abe64" },
	};
	static struct set_values values;
	struct launch_place p = place();
	struct ws_err err;
	char hex[33];

	setenv("TZ", "UTC", 1);
	set_values_init(&values);
	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		struct ws_buf out;

		ws_buf_init(&out, 4096);
		assert_int_equal(set_expand(&values, &p, cases[i].text, &out, &err), WS_OK);
		assert_string_equal(out.at, cases[i].wanted);
		ws_buf_fini(&out);
	}
	set_values_fini(&values);
	/* From RFC 1321, section A.5; the last one is longer than one block. */
	set_md5("", 0, hex);
	assert_string_equal(hex, "d41d8cd98f00b204e9800998ecf8427e");
	set_md5("message digest", 14, hex);
	assert_string_equal(hex, "f96b697d7cb7938d525a2f31aaf161d0");
	set_md5("12345678901234567890123456789012345678901234567890123456789012345678901234567890",
		80, hex);
	assert_string_equal(hex, "57edf4a22be3c955ac49da2e2107b67a");
}

static void files_are_named_by_path_time_prefix_and_process(void **state)
{
	static const struct {
		const char *path, *prefix;
		bool timed, pid, ranked;
		const char *wanted;
	} cases[] = {
		{ "rocprofsys-%tag%-output", "", true, true, false,
		  "rocprofsys-train-output/2023-11-14_22.13/wall_clock-42.txt" },
		{ "out/", "", false, true, false, "out/wall_clock-42.txt" },
		{ "out", "", false, false, false, "out/wall_clock.txt" },
		{ "out", "run1", false, false, false, "out/run1-wall_clock.txt" },
		{ "out", "run1_", false, false, false, "out/run1_wall_clock.txt" },
		{ "out", "sub/", false, false, false, "out/sub/wall_clock.txt" },
		{ "/out", "", false, true, true, "/out/wall_clock-3.txt" },
		/* Ranks would write the same files. */
		{ "out", "", false, false, true, "out/wall_clock-3.txt" },
	};

	setenv("TZ", "UTC", 1);
	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		static struct set_values values;
		struct launch_place p = place();
		struct set_names names;
		char path[PATH_MAX];
		struct ws_err err;

		if (cases[i].ranked)
			p.rank = (struct launch_rank){
				.known = true, .rank = 3, .size = 4, .size_known = true
			};
		set_values_init(&values);
		set_put(&values, SET_OUTPUT_PATH, cases[i].path, SET_FROM_FILE, &err);
		set_put(&values, SET_OUTPUT_PREFIX, cases[i].prefix, SET_FROM_FILE, &err);
		set_put(&values, SET_TIME_OUTPUT, cases[i].timed ? "1" : "0", SET_FROM_FILE, &err);
		set_put(&values, SET_USE_PID, cases[i].pid ? "1" : "0", SET_FROM_FILE, &err);
		assert_int_equal(set_names_make(&values, &p, &names, &err), WS_OK);
		assert_int_equal(set_names_path(&names, "wall_clock", "txt", path, &err), WS_OK);
		assert_string_equal(path, cases[i].wanted);
		set_values_fini(&values);
	}
}

static void memory_that_runs_out_is_reported(void **state)
{
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		static struct set_values values;
		struct ws_err err = { 0 };
		enum ws_status st;

		st = read_as(&values, "a.cfg", "$A = 5\nsampling_freq = $A\n$env:NEW_ONE = 1\n",
			     &err);
		assert_int_equal(st, allocation_failed() ? WS_E_NOMEM : WS_OK);
		set_values_fini(&values);
	}
}

/* ---- what was written ---- */

static void output_is_found_by_the_number_in_its_name(void **state)
{
	static const struct {
		const char *name, *stem, *ext;
		uint64_t number;
	} good[] = {
		{ "wall_clock-3.json", "wall_clock", "json", 3 },
		{ "run-1-perfetto-trace-4711.proto", "run-1-perfetto-trace", "proto", 4711 },
		{ "rocprof-device-0-SQ_WAVES-12.json", "rocprof-device-0-SQ_WAVES", "json", 12 },
	};
	static const char *const bad[] = { "wall_clock.json",
					   "merged-wall_clock.json",
					   "merged.proto",
					   "-3.json",
					   "wall_clock-3",
					   "wall_clock-.json",
					   "a-3x.json",
					   "metadata-7.json.partial",
					   "" };
	struct ws_arena arena;
	struct set_output output;

	ws_arena_init(&arena, 1u << 20);
	for (size_t i = 0; i < WS_ARRAY_LEN(good); i++) {
		assert_true(set_output_parse(good[i].name, &arena, &output));
		assert_string_equal(output.stem, good[i].stem);
		assert_string_equal(output.ext, good[i].ext);
		assert_int_equal(output.number, good[i].number);
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(bad); i++)
		if (set_output_parse(bad[i], &arena, &output))
			fail_msg("'%s' is taken for output of process %llu", bad[i],
				 (unsigned long long)output.number);
	ws_arena_fini(&arena);
}

static void touch(const char *folder, const char *name)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
}

static void output_of_a_job_is_complete_or_not(void **state)
{
	static const char *const names[] = { "metadata-0.json", "metadata-1.json", "t-1.proto",
					     "merged.proto" };
	struct set_outputs outputs = { .max_n = 100 };
	struct timespec then = { 0 }, later = { .tv_sec = INT32_MAX };
	char dir[] = "/tmp/ws-outputs-XXXXXX", run[64], line[128];
	struct ws_err err = { 0 };
	struct ws_arena arena;

	assert_non_null(mkdtemp(dir));
	snprintf(run, sizeof(run), "%s/2026-01-31_12.30", dir);
	assert_int_equal(mkdir(run, 0700), 0);
	ws_arena_init(&arena, 1u << 20);
	assert_int_equal(set_outputs_add(&outputs, run, &arena, &err), WS_E_NOTFOUND);
	for (size_t i = 0; i < WS_ARRAY_LEN(names); i++)
		touch(run, names[i]);
	/* The folder of runs is not that of one. */
	assert_int_equal(set_outputs_add(&outputs, dir, &arena, &err), WS_E_NOTFOUND);
	assert_non_null(strstr(err.text, "the newest is '"));
	assert_non_null(strstr(err.text, run));
	assert_int_equal(set_outputs_add(&outputs, run, &arena, &err), WS_OK);
	assert_int_equal(set_outputs_sort(&outputs, &err), WS_OK);
	assert_int_equal(outputs.n, 3);
	assert_int_equal(set_outputs_group(&outputs, 0), 2);
	assert_true(set_outputs_complete(&outputs, "metadata", "json", 2, then));
	assert_false(set_outputs_complete(&outputs, "metadata", "json", 3, then));
	assert_false(set_outputs_complete(&outputs, "metadata", "json", 2, later));
	assert_false(set_outputs_complete(&outputs, "t", "proto", 1, then));
	/* The same rank twice. */
	assert_int_equal(set_outputs_add(&outputs, run, &arena, &err), WS_OK);
	assert_int_equal(set_outputs_sort(&outputs, &err), WS_E_USAGE);
	assert_non_null(strstr(err.text, "are of the same process"));
	ws_vec_fini(&outputs);
	ws_arena_fini(&arena);
	snprintf(line, sizeof(line), "rm -r '%s'", dir);
	assert_int_equal(system(line), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stronger_origin_wins),
		cmocka_unit_test(text_files_have_all_their_syntax),
		cmocka_unit_test(variables_for_the_program_are_kept),
		cmocka_unit_test(output_is_found_by_the_number_in_its_name),
		cmocka_unit_test(output_of_a_job_is_complete_or_not),
		cmocka_unit_test(unknown_names_are_errors_unless_allowed),
		cmocka_unit_test(mistakes_name_file_and_line),
		cmocka_unit_test(json_and_xml_are_read),
		cmocka_unit_test(profile_and_trace_follow_each_other),
		cmocka_unit_test(a_started_program_is_sampled_unless_the_user_objects),
		cmocka_unit_test(keys_have_their_values),
		cmocka_unit_test(files_are_named_by_path_time_prefix_and_process),
		cmocka_unit_test(memory_that_runs_out_is_reported),
	};

	return RUN(tests);
}
