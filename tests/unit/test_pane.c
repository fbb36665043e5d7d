/* Lines in a window: scrolling, the cursor, search; and the words that lines begin with. */
#include "screen/pane.h"
#include "screen/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ROWS 4

static void fill(struct scr_pane *pane, const char *text, size_t n_head)
{
	struct ws_err err;

	scr_pane_clear(pane);
	pane->n_head = n_head;
	ws_buf_add(&pane->text, text);
	assert_int_equal(scr_pane_split(pane, &err), WS_OK);
}

static void line_is(struct ws_str line, const char *text)
{
	assert_int_equal(line.n, strlen(text));
	assert_memory_equal(line.at, text, line.n);
}

static void head_stays_and_body_scrolls(void **state)
{
	struct scr_pane pane;

	(void)state;
	scr_pane_init(&pane, true);
	fill(&pane, "head\n0\n1\n2\n3\n4\n5\n", 1);
	assert_int_equal(scr_pane_n_body(&pane), 6);
	line_is(scr_pane_head(&pane, 0), "head");
	line_is(scr_pane_body(&pane, 5), "5");
	line_is(scr_pane_body(&pane, 6), "");
	scr_pane_move(&pane, 3, ROWS);
	assert_int_equal(pane.top, 0);
	scr_pane_move(&pane, 1, ROWS);
	assert_int_equal(pane.cursor, 4);
	assert_int_equal(pane.top, 1);
	scr_pane_move(&pane, 100, ROWS);
	assert_int_equal(pane.cursor, 5);
	assert_int_equal(pane.top, 2);
	scr_pane_move(&pane, -100, ROWS);
	assert_int_equal(pane.cursor, 0);
	assert_int_equal(pane.top, 0);
	scr_pane_fini(&pane);
}

static void without_a_cursor_the_window_moves(void **state)
{
	struct scr_pane pane;

	(void)state;
	scr_pane_init(&pane, false);
	fill(&pane, "0\n1\n2\n3\n4\n5\n", 0);
	scr_pane_move(&pane, 1, ROWS);
	assert_int_equal(pane.top, 1);
	scr_pane_move(&pane, 9, ROWS);
	assert_int_equal(pane.top, 2);
	scr_pane_fini(&pane);
}

static void a_shorter_text_brings_the_cursor_back(void **state)
{
	struct scr_pane pane;

	(void)state;
	scr_pane_init(&pane, true);
	fill(&pane, "0\n1\n2\n3\n4\n5\n", 0);
	scr_pane_move(&pane, 5, ROWS);
	fill(&pane, "0\n1\n", 0);
	scr_pane_fit(&pane, ROWS);
	assert_int_equal(pane.cursor, 1);
	assert_int_equal(pane.top, 0);
	fill(&pane, "", 2);
	scr_pane_fit(&pane, ROWS);
	assert_int_equal(pane.cursor, 0);
	line_is(scr_pane_body(&pane, 0), "");
	scr_pane_fini(&pane);
}

static void search_goes_around_in_any_case(void **state)
{
	struct scr_pane pane;
	size_t at;

	(void)state;
	scr_pane_init(&pane, true);
	fill(&pane, "Alpha\nbeta\ngamma\nALPHABET\n", 0);
	strcpy(pane.search, "alpha");
	assert_true(scr_pane_find(&pane, 1, false, ROWS));
	assert_int_equal(pane.cursor, 3);
	assert_true(scr_pane_find(&pane, 1, false, ROWS));
	assert_int_equal(pane.cursor, 0);
	assert_true(scr_pane_find(&pane, -1, false, ROWS));
	assert_int_equal(pane.cursor, 3);
	assert_true(scr_pane_find(&pane, 1, true, ROWS));
	assert_int_equal(pane.cursor, 3);
	strcpy(pane.search, "delta");
	assert_false(scr_pane_find(&pane, 1, false, ROWS));
	assert_int_equal(pane.cursor, 3);
	strcpy(pane.search, "mm");
	assert_true(scr_pane_hit(&pane, scr_pane_body(&pane, 2), &at));
	assert_int_equal(at, 2);
	scr_pane_fini(&pane);
}

static void sideways_ends_at_the_widest_line(void **state)
{
	struct scr_pane pane;

	(void)state;
	scr_pane_init(&pane, false);
	fill(&pane, "1234567890\näöü\n", 0);
	scr_pane_shift(&pane, 8, 4);
	assert_int_equal(pane.left, 6);
	scr_pane_shift(&pane, -100, 4);
	assert_int_equal(pane.left, 0);
	scr_pane_fini(&pane);
}

static void control_characters_are_shown(void **state)
{
	struct scr_pane pane;

	(void)state;
	scr_pane_init(&pane, false);
	fill(&pane, "a\033[2Jb\n\377\n", 0);
	line_is(scr_pane_body(&pane, 0), "a\\x1b[2Jb");
	line_is(scr_pane_body(&pane, 1), "\\xff");
	scr_pane_fini(&pane);
}

static void first_words(void **state)
{
	char word[8];

	(void)state;
	assert_true(scr_first_word(WS_STR("│ 2.1.0       │ VALU FLOPs"), word, sizeof(word)));
	assert_string_equal(word, "2.1.0");
	assert_true(scr_first_word(WS_STR("   12.2.3 Rate"), word, sizeof(word)));
	assert_string_equal(word, "12.2.3");
	assert_false(scr_first_word(WS_STR("  "), word, sizeof(word)));
	assert_false(scr_first_word(WS_STR("12345678"), word, sizeof(word)));
	assert_true(scr_is_counter_name("TCC_EA0_RDREQ[0]"));
	assert_false(scr_is_counter_name("Formula"));
	assert_false(scr_is_counter_name("SQ_WAVES,"));
}

static void scaled_numbers(void **state)
{
	char room[SCR_TIME_BYTES];

	(void)state;
	assert_string_equal(scr_time_text(room, 187815), "187.8 us");
	assert_string_equal(scr_time_text(room, 999), "999 ns");
	assert_string_equal(scr_time_text(room, 2.5e9), "2.50 s");
	assert_string_equal(scr_time_text(room, __builtin_nan("")), "-");
	assert_string_equal(scr_bytes_text(room, 1.5 * 0x1p30), "1.50 GiB");
	assert_string_equal(scr_bytes_text(room, 0), "0 B");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(head_stays_and_body_scrolls),
		cmocka_unit_test(without_a_cursor_the_window_moves),
		cmocka_unit_test(a_shorter_text_brings_the_cursor_back),
		cmocka_unit_test(search_goes_around_in_any_case),
		cmocka_unit_test(sideways_ends_at_the_widest_line),
		cmocka_unit_test(control_characters_are_shown),
		cmocka_unit_test(first_words),
		cmocka_unit_test(scaled_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
