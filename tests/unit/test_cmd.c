#include "base/cmd.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct args {
	bool fast;
	uint64_t n;
};

static const struct ws_opt rows[] = {
	WS_OPT_GROUP("Speed"),
	WS_OPT_BOOL(struct args, fast, 'f', "fast",
		    "go fast, with a text that is long enough to need a second line in eighty "
		    "columns"),
	WS_OPT_U64(struct args, n, 0, "a-name-that-is-very-long", "NUMBER", "a count"),
	WS_OPT_BOOL(struct args, fast, 0, "secret", NULL),
};

static struct args seen;
static int n_operands;

static void set_defaults(void *values)
{
	((struct args *)values)->n = 3;
}

static enum ws_status go(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	seen = *(const struct args *)call->values;
	n_operands = call->rest.n;
	*exit_code = (int)seen.n;
	return seen.fast ? ws_fail(err, WS_E_STATE, "too fast: slow down") : WS_OK;
}

static const struct ws_cmd go_cmd = {
	.name = "go",
	.summary = "go somewhere",
	.usage = "[options] [PLACE...]",
	.about = "Goes somewhere.",
	.notes = "Exit code: the count.",
	.opts = { rows, WS_ARRAY_LEN(rows) },
	.values_bytes = sizeof(struct args),
	.set_defaults = set_defaults,
	.run = go,
};
static const struct ws_cmd exec_cmd = {
	.name = "exec",
	.summary = "run something",
	.usage = "[options] PROGRAM",
	.opts = { rows, WS_ARRAY_LEN(rows) },
	.order = WS_OPT_FIRST,
	.values_bytes = sizeof(struct args),
	.run = go,
};
static const struct ws_cmd hidden_cmd = { .name = "hidden", .run = go };
static const struct ws_cmd *const subs[] = { &go_cmd, &exec_cmd, &hidden_cmd, NULL };
static const struct ws_cmd root = {
	.name = "tool", .summary = "a tool", .usage = "COMMAND [options]", .subs = subs
};

static char out[4096], said[1024];

static void slurp(FILE *file, char *text, size_t room)
{
	size_t n;

	rewind(file);
	n = fread(text, 1, room - 1, file);
	text[n] = '\0';
	fclose(file);
}

/* Run the tool with @line split at spaces; fills out[] and said[], returns the exit code. */
static int call_tool(const char *line)
{
	FILE *to = tmpfile(), *complaints = tmpfile();
	int saved_out = dup(1), saved_err = dup(2), argc = 0, code;
	char text[256], *argv[16], *save;

	snprintf(text, sizeof(text), "tool %s", line);
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	fflush(stdout);
	dup2(fileno(to), 1);
	dup2(fileno(complaints), 2);
	code = ws_cmd_main(&root, "tool 1.2", argc, argv);
	dup2(saved_out, 1);
	dup2(saved_err, 2);
	close(saved_out);
	close(saved_err);
	slurp(to, out, sizeof(out));
	slurp(complaints, said, sizeof(said));
	return code;
}

static void a_command_gets_its_values_and_chooses_the_code(void **state)
{
	assert_int_equal(call_tool("go a b"), 3);
	assert_int_equal(n_operands, 2);
	assert_int_equal(call_tool("go --a-name-that-is-very-long 0"), 0);
	assert_int_equal(call_tool("go --fast"), 3);
	assert_string_equal(said, "tool: too fast: slow down\n");
	assert_int_equal(call_tool("go --fast --a-name-that-is-very-long=0"), 1);
}

static void wrong_usage_is_code_2_and_one_line(void **state)
{
	static const struct {
		const char *line, *said;
	} cases[] = {
		{ "", "tool: no command given: 'tool --help' lists the commands\n" },
		{ "og", "tool: unknown command 'og': did you mean 'go'?\n" },
		{ "hiddn", "tool: unknown command 'hiddn': 'tool --help' lists the commands\n" },
		{ "go --fats", "tool: unknown option '--fats': did you mean '--fast'?\n" },
		{ "--zzz", "tool: unknown option '--zzz': --help lists them\n" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		assert_int_equal(call_tool(cases[i].line), 2);
		assert_string_equal(said, cases[i].said);
		assert_string_equal(out, "");
	}
}

static void help_is_asked_for_in_many_ways(void **state)
{
	static const char *const lines[] = { "go --help",        "go -h",
					     "help go",          "go --fast -h",
					     "go --fats --help", "go place --help" };

	for (size_t i = 0; i < WS_ARRAY_LEN(lines); i++) {
		assert_int_equal(call_tool(lines[i]), 0);
		assert_non_null(strstr(out, "usage: tool go [options] [PLACE...]\n"));
		assert_string_equal(said, "");
	}
	assert_int_equal(call_tool("go -- --help"), 3);
	/* After an option's value, and not after a program's name. */
	assert_int_equal(call_tool("exec --a-name-that-is-very-long 7 --help"), 0);
	assert_non_null(strstr(out, "usage: tool exec"));
	assert_int_equal(call_tool("exec --a-name-that-is-very-long 7 prog --help"), 7);
	assert_int_equal(n_operands, 2);
	assert_int_equal(call_tool("--help"), 0);
	assert_non_null(strstr(out, "Commands:\n  go                      go somewhere\n  exec  "));
	assert_null(strstr(out, "hidden"));
	assert_int_equal(call_tool("--version"), 0);
	assert_string_equal(out, "tool 1.2\n");
	assert_int_equal(call_tool("go --version"), 0);
	assert_string_equal(out, "tool 1.2\n");
}

static void help_is_grouped_wrapped_and_hides_hidden_rows(void **state)
{
	unsetenv("COLUMNS");
	assert_int_equal(call_tool("go --help"), 0);
	assert_string_equal(
		out,
		"usage: tool go [options] [PLACE...]\n"
		"\n"
		"Goes somewhere.\n"
		"\n"
		"Speed:\n"
		"  -f, --fast              go fast, with a text that is long enough to need a\n"
		"                          second line in eighty columns\n"
		"      --a-name-that-is-very-long NUMBER\n"
		"                          a count\n"
		"\n"
		"Help:\n"
		"  -h, --help              show this help and exit\n"
		"  -V, --version           show the version and exit\n"
		"\n"
		"Exit code: the count.\n");
}

static void a_full_disk_is_not_success(void **state)
{
	char *argv[] = { "tool", "--help", NULL };
	FILE *full = fopen("/dev/full", "w");
	int saved_out = dup(1), saved_err = dup(2), code;

	if (!full)
		unit_skip("no /dev/full");
	fflush(stdout);
	dup2(fileno(full), 1);
	dup2(fileno(full), 2);
	code = ws_cmd_main(&root, "tool 1.2", 2, argv);
	clearerr(stdout);
	dup2(saved_out, 1);
	dup2(saved_err, 2);
	fclose(full);
	assert_int_equal(code, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_gets_its_values_and_chooses_the_code),
		cmocka_unit_test(wrong_usage_is_code_2_and_one_line),
		cmocka_unit_test(help_is_asked_for_in_many_ways),
		cmocka_unit_test(help_is_grouped_wrapped_and_hides_hidden_rows),
		cmocka_unit_test(a_full_disk_is_not_success),
	};

	return RUN(tests);
}
