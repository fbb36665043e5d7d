#include "base/util.h"
#include "models/library_trace.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALL ((1u << MDL_LIBRARY_MODES) - 1)

static struct ws_env env;
static struct mdl_library_trace *trace;
static struct ws_buf pass;

static int setup(void **state)
{
	static char *const variables[] = { "MAD_MODEL_NAME=my, model", "HIPBLASLT_LOG_LEVEL=2",
					   "MIOPEN_TRACE=1", "TENSILE_TRACE=", NULL };
	struct ws_err err;

	ws_buf_init(&pass, 8 << 20);
	return ws_env_init(&env, variables, &err) || mdl_library_trace_create(ALL, &trace, &err);
}

static int teardown(void **state)
{
	mdl_library_trace_destroy(trace);
	ws_env_fini(&env);
	ws_buf_fini(&pass);
	return 0;
}

static void feed(const char *text)
{
	mdl_library_trace_feed(trace, text, strlen(text), &pass);
}

/* The rows of the file, without the date. */
static void rows_are(const char *expected)
{
	char path[] = "/tmp/ws-library-trace.XXXXXX", text[4096];
	int fd = mkstemp(path);
	struct ws_err err;
	struct ws_buf rows;
	FILE *file;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(mdl_library_trace_write(trace, &env, path, &err), WS_OK);
	file = fopen(path, "r");
	assert_non_null(file);
	ws_buf_init(&rows, 1 << 20);
	while (fgets(text, sizeof(text), file)) {
		char *date = strstr(text, ",2");

		if (date && strlen(date) > 21 && date[20] == ',')
			memmove(date, date + 20, strlen(date + 20) + 1);
		ws_buf_add(&rows, text);
	}
	fclose(file);
	unlink(path);
	assert_string_equal(rows.at, expected);
	ws_buf_fini(&rows);
}

#define HEADER "jobid,created_date,model,library,config,calls\r\n"

static void lines_of_libraries_are_counted_and_taken_out(void **state)
{
	feed("Running kernel: Cijk_Ailk_Bljk_SB\n"
	     "epoch 1\n"
	     "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 1, \"x\"\n"
	     "- { rocblas_function: \"rocblas_sgemm\", M: 4 }\n"
	     "rank 0: ./rocblas-bench -f gemm -m 4\n"
	     "./rocblas-bench -f gemm -m 8\n"
	     "hipblaslt-bench --api_method c -m 4\r\n"
	     "rank 1: ./rocblas-bench -f gemm -m 4\n"
	     "MIOpen(HIP): Command [x] nothing that we know\n"
	     "not Running kernel: here\n");
	assert_string_equal(pass.at, "epoch 1\n"
				     "MIOpen(HIP): Command [x] nothing that we know\n"
				     "not Running kernel: here\n");
	assert_int_equal(mdl_library_trace_n_calls(trace), 7);
	rows_are(HEADER "0,\"my, model\",rocblas,./rocblas-bench -f gemm -m 4,2\r\n"
			"0,\"my, model\",rocblas,./rocblas-bench -f gemm -m 8,1\r\n"
			"0,\"my, model\",hipblaslt,hipblaslt-bench --api_method c -m 4,1\r\n"
			"0,\"my, model\",rocblas_function,\"- { rocblas_function: "
			"\"\"rocblas_sgemm\"\", M: "
			"4 }\",1\r\n"
			"0,\"my, model\",miopen,\"./bin/MIOpenDriver conv -n 1, \"\"x\"\"\",1\r\n"
			"0,\"my, model\",tensile,Cijk_Ailk_Bljk_SB,1\r\n");
}

static void a_line_may_come_in_pieces(void **state)
{
	feed("./rocbl");
	assert_string_equal(pass.at, "");
	feed("as-bench -m ");
	mdl_library_trace_flush(trace, false, &pass);
	assert_string_equal(pass.at, ""); /* it is one of a library: it waits */
	feed("1\nnext");
	assert_string_equal(pass.at, "");
	mdl_library_trace_flush(trace, false, &pass);
	assert_string_equal(pass.at, "next"); /* a prompt is shown */
	feed(" ./rocblas-bench -m 1\n./rocblas-bench -m 2");
	assert_string_equal(pass.at, "next");
	mdl_library_trace_flush(trace, true, &pass);
	assert_string_equal(pass.at, "next");
	rows_are(HEADER "0,\"my, model\",rocblas,./rocblas-bench -m 1,2\r\n"
			"0,\"my, model\",rocblas,./rocblas-bench -m 2,1\r\n");
}

static void a_very_long_line_passes(void **state)
{
	const size_t n = 3 * (size_t)MDL_LIBRARY_LINE_MAX;
	char *text = malloc(n + 2);

	assert_non_null(text);
	memset(text, 'x', n);
	memcpy(text, "./rocblas-bench ", 16);
	text[n] = '\n';
	text[n + 1] = '\0';
	for (size_t at = 0; at <= n; at += 4096)
		mdl_library_trace_feed(trace, text + at, n + 1 - at < 4096 ? n + 1 - at : 4096,
				       &pass);
	assert_int_equal(pass.n, n + 1);
	assert_memory_equal(pass.at, text, n + 1);
	assert_int_equal(mdl_library_trace_n_calls(trace), 0);
	feed("./rocblas-bench -m 1\n");
	assert_int_equal(mdl_library_trace_n_calls(trace), 1);
	free(text);
}

static void modes_come_from_the_environment(void **state)
{
	uint32_t modes;
	struct ws_err err;

	assert_int_equal(mdl_library_modes_env(&env, &modes, &err), WS_OK);
	assert_int_equal(modes, MDL_LIBRARY_BIT(MIOPEN)); /* an empty variable is none */
	assert_int_equal(ws_env_set(&env, "TRACE_MODE", "rccl_trace, tensile_trace", &err), WS_OK);
	assert_int_equal(mdl_library_modes_env(&env, &modes, &err), WS_OK);
	assert_int_equal(modes, MDL_LIBRARY_BIT(MIOPEN) | MDL_LIBRARY_BIT(RCCL) |
					MDL_LIBRARY_BIT(TENSILE));
	assert_int_equal(mdl_library_modes_parse("rocblas_trac", &modes, &err), WS_E_USAGE);
	assert_string_equal(err.text,
			    "no library trace 'rocblas_trac': did you mean 'rocblas_trace'?");
}

static void a_mode_makes_its_library_log(void **state)
{
	struct ws_err err;

	assert_int_equal(mdl_library_env(MDL_LIBRARY_BIT(HIPBLASLT), &env, &err), WS_OK);
	assert_string_equal(ws_env_get(&env, "HIPBLASLT_LOG_MASK"), "32");
	assert_null(ws_env_get(&env, "HIPBLASLT_LOG_LEVEL"));
	assert_null(ws_env_get(&env, "ROCBLAS_LAYER"));
	assert_int_equal(mdl_library_env(ALL, &env, &err), WS_OK);
	assert_string_equal(ws_env_get(&env, "ROCBLAS_LAYER"), "6");
	assert_string_equal(ws_env_get(&env, "NCCL_DEBUG_SUBSYS"), "INIT,COLL");
}

static void nested_prefixes_are_cut_out(void **state)
{
	char *argv[] = { "python3",
			 "../tools/get_library_trace.py",
			 "bash",
			 "wrapper.sh",
			 "--",
			 "wavescope",
			 "library-trace",
			 "--",
			 "python3",
			 "run.py",
			 NULL };

	mdl_library_unnest(argv);
	assert_string_equal(argv[0], "bash");
	assert_string_equal(argv[1], "wrapper.sh");
	assert_string_equal(argv[2], "--");
	assert_string_equal(argv[3], "python3");
	assert_string_equal(argv[4], "run.py");
	assert_null(argv[5]);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(lines_of_libraries_are_counted_and_taken_out),
		TEST(a_line_may_come_in_pieces),
		TEST(a_very_long_line_passes),
		TEST(modes_come_from_the_environment),
		TEST(a_mode_makes_its_library_log),
		TEST(nested_prefixes_are_cut_out),
	};

	return RUN(tests);
}
