#include "base/doc_edit.h"
#include "models/pyliteral.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct ws_arena arena;

static int setup(void **state)
{
	ws_arena_init(&arena, 8 << 20);
	return 0;
}

static int teardown(void **state)
{
	ws_arena_fini(&arena);
	return 0;
}

static void reads_as(const char *text, const char *json)
{
	struct ws_doc *doc = NULL;
	struct ws_err err;
	struct ws_buf out;

	if (mdl_pyliteral_parse("t", ws_str_from(text), &arena, &doc, &err))
		fail_msg("%s: %s", text, err.text);
	ws_buf_init(&out, 1 << 16);
	ws_doc_to_json(doc, 0, &out);
	assert_string_equal(out.at, json);
	ws_buf_fini(&out);
}

static void values_of_all_kinds(void **state)
{
	reads_as("{'a': [1, -2, 0x10, 1_000, 1.5, 1e3], 'b': (1, 'x'), 'c': (2)}",
		 "{\"a\": [1, -2, 16, 1000, 1.5, 1000.0], \"b\": [1, \"x\"], \"c\": 2}");
	reads_as(" [True, False, None,] # end\n", "[true, false, null]");
	reads_as("{}", "{}");
	reads_as("()", "[]");
	reads_as("+5", "5");
}

static void texts_with_escapes_and_neighbours(void **state)
{
	reads_as("'a' \"b'\" '''c\n'd'''", "\"ab'c\\n'd\"");
	reads_as("'\\n\\x41\\u00e9\\U0001F600\\101\\q'", "\"\\nAé😀A\\\\q\"");
	reads_as("r'\\n\\''", "\"\\\\n\\\\'\"");
	reads_as("u'x'", "\"x\"");
	reads_as("'a\\\nb'", "\"ab\"");
}

static void refused(const char *text, const char *part)
{
	struct ws_doc *doc = NULL;
	struct ws_err err;

	assert_fails_with(mdl_pyliteral_parse("t", ws_str_from(text), &arena, &doc, &err),
			  WS_E_FORMAT, &err, part);
}

static void mistakes_have_a_line(void **state)
{
	refused("", "t:1: a value is missing");
	refused("{\n'a' 1}", "t:2: ':' is missing after the key 'a'");
	refused("{1: 2}", "a key in quotes");
	refused("{'a': 1 'b': 2}", "',' or '}' is missing");
	refused("[1 2]", "',' or ']' is missing");
	refused("'abc", "' is missing");
	refused("'a\nb'", "' is missing");
	refused("[true]", "'true' is not a value: texts need quotes");
	refused("1.2.3", "'1.2.3' is not a number");
	refused("1 2", "text follows");
	refused("'\\x4'", "hexadecimal digits");
	refused("'\\ud800'", "no character");
	refused("'\\0'", "zero byte");
	refused("{*a}", "a key in quotes");
	refused("[*a]", "unexpected '*'");
}

static void nesting_has_a_limit(void **state)
{
	struct ws_doc *doc = NULL;
	char deep[201];
	struct ws_err err;

	memset(deep, '[', 200);
	deep[200] = '\0';
	assert_fails_with(mdl_pyliteral_parse("t", ws_str_from(deep), &arena, &doc, &err),
			  WS_E_LIMIT, &err, "nested too deeply");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_all_kinds),
		cmocka_unit_test(texts_with_escapes_and_neighbours),
		cmocka_unit_test(mistakes_have_a_line),
		cmocka_unit_test(nesting_has_a_limit),
	};

	return RUN_WITH(tests, setup, teardown);
}
