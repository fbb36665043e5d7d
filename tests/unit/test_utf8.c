#include "base/utf8.h"
#include "tests/unit/unit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(const char *text, const char *utf8, const char *shown)
{
	struct ws_arena arena;
	struct ws_buf out;

	ws_buf_init(&out, SIZE_MAX);
	ws_buf_add_utf8(&out, text, strlen(text));
	assert_string_equal(out.at, utf8);
	ws_buf_clear(&out);
	ws_buf_add_shown(&out, text, strlen(text), "");
	assert_string_equal(out.at, shown);
	ws_buf_fini(&out);
	ws_arena_init(&arena, 1 << 20);
	assert_string_equal(ws_utf8_text(text, &arena), utf8);
	assert_string_equal(ws_shown_text(text, &arena), shown);
	assert_int_equal(ws_utf8_ok(text, strlen(text)), strcmp(text, utf8) == 0);
	assert_int_equal(ws_shown_ok(text, strlen(text), ""), strcmp(text, shown) == 0);
	ws_arena_fini(&arena);
}

#define FFFD "\xef\xbf\xbd"

static void text_of_others_is_made_fit(void **state)
{
	expect("", "", "");
	expect("gemm<float>(int*)", "gemm<float>(int*)", "gemm<float>(int*)");
	expect("gr\xc3\xb6\xc3\x9f"
	       "er \xe2\x82\xac \xf0\x9f\x98\x80",
	       "gr\xc3\xb6\xc3\x9f"
	       "er \xe2\x82\xac \xf0\x9f\x98\x80",
	       "gr\xc3\xb6\xc3\x9f"
	       "er \xe2\x82\xac \xf0\x9f\x98\x80");
	expect("a\033[31mb\r\n\t\a\177", "a\033[31mb\r\n\t\a\177",
	       "a\\x1b[31mb\\x0d\\x0a\\x09\\x07\\x7f");
	/* Latin-1, a cut character, one written too long, a surrogate, one beyond the last */
	expect("\xe9t\xe9", FFFD "t" FFFD, "\\xe9t\\xe9");
	expect("\xe2\x82", FFFD FFFD, "\\xe2\\x82");
	expect("\xc0\xaf", FFFD FFFD, "\\xc0\\xaf");
	expect("\xed\xa0\x80", FFFD FFFD FFFD, "\\xed\\xa0\\x80");
	expect("\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD, "\\xf4\\x90\\x80\\x80");
	/* ESC [ as one character of Latin-1, and what turns the direction of writing */
	expect("\xc2\x9b"
	       "31m",
	       "\xc2\x9b"
	       "31m",
	       "\\xc2\\x9b31m");
	expect("\xe2\x80\xae"
	       "cba",
	       "\xe2\x80\xae"
	       "cba",
	       "\\xe2\\x80\\xaecba");
}

static void what_may_stay_stays(void **state)
{
	struct ws_buf out;

	ws_buf_init(&out, SIZE_MAX);
	ws_buf_add_shown(&out, "a\n\tb\033\0c", 7, "\n\t");
	assert_string_equal(out.at, "a\n\tb\\x1b\\x00c");
	ws_buf_fini(&out);
}

/* Every text of random bytes: what comes out is UTF-8, and has no control in it. */
static void no_bytes_get_through(void **state)
{
	uint64_t seed = 1;
	struct ws_buf out;

	ws_buf_init(&out, SIZE_MAX);
	for (int round = 0; round < 20000; round++) {
		char text[24];
		size_t n;

		for (n = 0; n < sizeof(text); n++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			/* many lead bytes and continuations, so that characters happen */
			text[n] = (char)(seed >> 56 & 1   ? 0x80 | (seed >> 48 & 0x3f)
					 : seed >> 57 & 1 ? 0xc0 | (seed >> 48 & 0x3f)
							  : seed >> 48 & 0xff);
		}
		ws_buf_clear(&out);
		ws_buf_add_utf8(&out, text, n);
		assert_true(ws_utf8_ok(out.at, out.n));
		ws_buf_clear(&out);
		ws_buf_add_shown(&out, text, n, "");
		assert_true(ws_shown_ok(out.at, out.n, ""));
		for (size_t i = 0; i < out.n; i++)
			assert_true((unsigned char)out.at[i] >= 0x20 && out.at[i] != 0x7f);
		if (ws_shown_ok(text, n, ""))
			assert_memory_equal(out.at, text, n);
	}
	ws_buf_fini(&out);
}

static void json_cannot_leave_its_quotes_or_its_element(void **state)
{
	struct ws_buf out;

	ws_buf_init(&out, SIZE_MAX);
	ws_buf_add_json(&out, "a</script>\"\\\n\x01\xe9z", 16);
	assert_string_equal(out.at, "a\\u003c/script>\\u0022\\u005c\\u000a\\u0001" FFFD "z");
	ws_buf_clear(&out);
	ws_buf_add_json(&out, "", 0);
	assert_string_equal(out.at, "");
	ws_buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_of_others_is_made_fit),
		cmocka_unit_test(json_cannot_leave_its_quotes_or_its_element),
		cmocka_unit_test(what_may_stay_stays),
		cmocka_unit_test(no_bytes_get_through),
	};

	return RUN(tests);
}
