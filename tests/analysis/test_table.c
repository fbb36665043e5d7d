/* Box-drawing tables: alignment, gaps, widths, and numbers as Python prints them. */
#include "report/table.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

static struct ws_arena arena;

static int set_up(void **state)
{
	ws_arena_init(&arena, 1 << 20);
	return 0;
}

static int tear_down(void **state)
{
	ws_arena_fini(&arena);
	return 0;
}

static void draws(const struct rpt_grid *grid, const char *expected)
{
	struct ws_buf text;
	struct ws_err err;

	ws_buf_init(&text, 1 << 20);
	assert_int_equal(rpt_grid_draw(grid, &text, &err), WS_OK);
	assert_string_equal(text.at, expected);
	ws_buf_fini(&text);
}

static struct rpt_grid sample(void)
{
	static const char *const headers[] = { "id", "Name", "Avg", "N" };
	struct rpt_grid grid;
	struct rpt_cell *row;

	assert_int_equal(rpt_grid_init(&grid, &arena, headers, 4, NULL), WS_OK);
	row = rpt_grid_row(&grid);
	row[0] = rpt_cell_text("1.1");
	row[1] = rpt_cell_text("two\nlines");
	row[2] = rpt_cell_number(1234.5);
	row[3] = rpt_cell_int(7);
	row = rpt_grid_row(&grid);
	row[0] = rpt_cell_text("1.2");
	row[1] = rpt_cell_text("Fabric™");
	row[2] = rpt_cell_number(NAN);
	row[3] = rpt_cell_int(1000);
	row = rpt_grid_row(&grid);
	row[0] = rpt_cell_text("1.3");
	row[1] = rpt_cell_text("x");
	row[2] = rpt_cell_number(INFINITY);
	row[3] = rpt_cell_int(-1);
	return grid;
}

static void numbers_line_up_and_gaps_stay_gaps(void **state)
{
	struct rpt_grid grid = sample();

	draws(&grid, "╒══════╤═════════╤═════════╤══════╕\n"
		     "│ id   │ Name    │     Avg │    N │\n"
		     "╞══════╪═════════╪═════════╪══════╡\n"
		     "│ 1.1  │ two     │ 1234.50 │    7 │\n"
		     "│      │ lines   │         │      │\n"
		     "├──────┼─────────┼─────────┼──────┤\n"
		     "│ 1.2  │ Fabric™ │     N/A │ 1000 │\n"
		     "├──────┼─────────┼─────────┼──────┤\n"
		     "│ 1.3  │ x       │  inf    │   -1 │\n"
		     "╘══════╧═════════╧═════════╧══════╛\n");
}

static void the_old_form_turns_gaps_into_text(void **state)
{
	struct rpt_grid grid = sample();

	grid.form = RPT_GRID_OLD;
	grid.none = "";
	draws(&grid, "╒══════╤═════════╤════════╤══════╕\n"
		     "│ id   │ Name    │ Avg    │    N │\n"
		     "╞══════╪═════════╪════════╪══════╡\n"
		     "│ 1.1  │ two     │ 1234.5 │    7 │\n"
		     "│      │ lines   │        │      │\n"
		     "├──────┼─────────┼────────┼──────┤\n"
		     "│ 1.2  │ Fabric™ │        │ 1000 │\n"
		     "├──────┼─────────┼────────┼──────┤\n"
		     "│ 1.3  │ x       │ inf    │   -1 │\n"
		     "╘══════╧═════════╧════════╧══════╛\n");
}

static void csv_quotes_what_needs_it(void **state)
{
	static const char *const headers[] = { "a,b", "c" };
	struct rpt_grid grid;
	struct rpt_cell *row;
	struct ws_buf text;

	assert_int_equal(rpt_grid_init(&grid, &arena, headers, 2, NULL), WS_OK);
	row = rpt_grid_row(&grid);
	row[0] = rpt_cell_text("say \"x\"");
	row[1] = rpt_cell_number(0.126);
	row = rpt_grid_row(&grid);
	row[0] = rpt_cell_text("plain");
	ws_buf_init(&text, 1 << 16);
	assert_int_equal(rpt_grid_csv(&grid, &text, NULL), WS_OK);
	assert_string_equal(text.at, "\"a,b\",c\n\"say \"\"x\"\"\",0.13\nplain,\n");
	ws_buf_fini(&text);
}

static void numbers_as_python_prints_them(void **state)
{
	static const struct {
		double number;
		int decimals;
		const char *text;
	} rows[] = {
		{ 0, 2, "0.0" },
		{ 22630.4, 2, "22630.4" },
		{ 70, 2, "70.0" },
		{ 427.032, 2, "427.03" },
		{ 2.675, 2, "2.67" },
		{ 0.125, 2, "0.12" },
		{ 0.00001, 5, "1e-05" },
		{ 1e16, 2, "1e+16" },
		{ 1e15, 2, "1000000000000000.0" },
		{ -0.5, 0, "-0.0" },
		{ INFINITY, 2, "inf" },
		{ -INFINITY, 2, "-inf" },
		{ 1220092447123.456, 2, "1220092447123.46" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[64];

		rpt_number_text(rows[i].number, rows[i].decimals, text);
		assert_string_equal(text, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_line_up_and_gaps_stay_gaps),
		cmocka_unit_test(the_old_form_turns_gaps_into_text),
		cmocka_unit_test(csv_quotes_what_needs_it),
		cmocka_unit_test(numbers_as_python_prints_them),
	};

	return RUN_WITH(tests, set_up, tear_down);
}
