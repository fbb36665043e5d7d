/* output/ledger: the accounts of a run, from processes and what was written of them. */
#include "tests/unit/unit.h"

#include "output/ledger.h"

#include <stdlib.h>
#include <string.h>

static char *text;
static size_t n_text;

/* A program with 10 dispatches of which 2 were dropped, and 3 copies. */
static struct trc_process a_process(void)
{
	static const char *const argv[] = { "./bin/app" };
	struct trc_process process = { .pid = 4711, .argv = argv, .n_argv = 1, .ended = true };

	process.ledger[CAP_DOMAIN_KERNEL_DISPATCH].written = 8;
	process.ledger[CAP_DOMAIN_KERNEL_DISPATCH].dropped = 2;
	process.ledger[CAP_DOMAIN_MEMORY_COPY].written = 3;
	return process;
}

static struct output_result wrote(uint64_t n_dispatches, uint64_t n_copies)
{
	struct output_result result = { .n_files = 0 };

	result.n_written[OUTPUT_CSV][CAP_DOMAIN_KERNEL_DISPATCH] = n_dispatches;
	result.n_written[OUTPUT_CSV][CAP_DOMAIN_MEMORY_COPY] = n_copies;
	result.n_written[OUTPUT_JSON][CAP_DOMAIN_MEMORY_COPY] =
		1; /* another format: the most counts */
	return result;
}

static FILE *open_text(void)
{
	FILE *file = open_memstream(&text, &n_text);

	assert_non_null(file);
	return file;
}

static void expect_text(FILE *file, const char *expected)
{
	fclose(file);
	assert_string_equal(text, expected);
	free(text);
}

static void lines_say_seen_written_and_dropped(void **state)
{
	struct output_ledger_how how = { .formats = OUTPUT_BIT(CSV) | OUTPUT_BIT(JSON) };
	struct trc_process process = a_process();
	struct output_result result = wrote(8, 3);
	struct output_ledger ledger = { 0 };
	FILE *to = open_text();

	output_ledger_process(&ledger, &process, &result, &how, to);
	expect_text(to, "rocprofv3: process 4711 (app)\n"
			"    SERVICE                         SEEN     WRITTEN     DROPPED\n"
			"    kernel dispatches                 10           8           2\n"
			"    memory copies                      3           3           0\n");
	assert_int_equal(ledger.n_processes, 1);
	assert_int_equal(ledger.n_lost, 2);
	assert_int_equal(ledger.seen[CAP_DOMAIN_KERNEL_DISPATCH], 10);
}

static void what_was_not_to_be_written_is_not_lost(void **state)
{
	struct output_ledger_how how = { .no_files = "--benchmark-mode", .is_running = true };
	struct trc_process process = a_process();
	struct output_result result = wrote(0, 0);
	struct output_ledger ledger = { 0 };
	FILE *to = open_text();

	process.ended = false;
	output_ledger_process(&ledger, &process, &result, &how, to);
	fflush(to);
	assert_non_null(strstr(text, "process 4711 (app), which is still running\n"));
	assert_non_null(strstr(text, "    --benchmark-mode: no files\n"));
	assert_int_equal(ledger.n_lost, 0);
	fclose(to);
	free(text);
}

static void a_process_without_a_gpu_is_only_counted(void **state)
{
	struct trc_process process = { .pid = 1, .ended = true };
	struct output_result result = wrote(0, 0);
	struct output_ledger ledger = { 0 };
	FILE *to = open_text();

	output_ledger_process(&ledger, &process, &result, &(struct output_ledger_how){ 0 }, to);
	expect_text(to, "");
	assert_int_equal(ledger.n_idle, 1);
	assert_int_equal(ledger.n_processes, 0);
}

static void named_requests_that_were_not_observed_are_listed(void **state)
{
	static const struct output_ledger_request requests[] = {
		{ CAP_DOMAIN_KERNEL_DISPATCH, NULL, true },
		{ CAP_DOMAIN_HIP_API, NULL, true },
		{ CAP_DOMAIN_HIP_API, NULL, true },   /* named once in the text */
		{ CAP_DOMAIN_RCCL_API, NULL, false }, /* part of a group: no news */
		{ .unsupported = "driver events", .named = true },
	};
	struct output_ledger ledger = { .n_processes = 1, .n_idle = 2 };
	FILE *to = open_text();

	ledger.seen[CAP_DOMAIN_KERNEL_DISPATCH] = 5;
	assert_false(output_ledger_end(&ledger, requests, 5, to));
	expect_text(to, "rocprofv3: requested, but never observed: HIP calls\n"
			"rocprofv3: requested, but not supported by this version: driver events\n"
			"rocprofv3: 2 more processes used no GPU\n");
}

static void a_group_is_complete_when_any_of_it_was_observed(void **state)
{
	static const struct output_ledger_request group[] = {
		{ CAP_DOMAIN_KERNEL_DISPATCH, NULL, false },
		{ CAP_DOMAIN_RCCL_API, NULL, false },
	};
	struct output_ledger ledger = { .n_processes = 1 };
	FILE *to = open_text();

	assert_false(output_ledger_end(&ledger, group, 2, to));
	expect_text(to,
		    "rocprofv3: requested, but never observed: kernel dispatches, RCCL calls\n");
	ledger.seen[CAP_DOMAIN_KERNEL_DISPATCH] = 1;
	to = open_text();
	assert_true(output_ledger_end(&ledger, group, 2, to));
	expect_text(to, "");
	ledger.n_lost = 1;
	assert_false(output_ledger_end(&ledger, group, 2, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_say_seen_written_and_dropped),
		cmocka_unit_test(what_was_not_to_be_written_is_not_lost),
		cmocka_unit_test(a_process_without_a_gpu_is_only_counted),
		cmocka_unit_test(named_requests_that_were_not_observed_are_listed),
		cmocka_unit_test(a_group_is_complete_when_any_of_it_was_observed),
	};

	return RUN(tests);
}
