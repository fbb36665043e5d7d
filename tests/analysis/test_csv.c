/* The CSV reader: numbers, text, quotes, and what is cut off. */
#include "tests/unit/unit.h"
#include "workload/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
	struct ws_arena arena;
	struct wl_dict dict;
	struct wl_csv csv;
};

static const char *const texts[] = { "Kernel_Name", NULL };

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	ws_arena_init(&f->arena, 1 << 24);
	wl_dict_init(&f->dict, &f->arena);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	wl_csv_fini(&f->csv);
	wl_dict_fini(&f->dict);
	ws_arena_fini(&f->arena);
	free(f);
	return 0;
}

static enum ws_status parse(struct fixture *f, const char *text)
{
	struct wl_csv_how how = { texts, &f->dict };
	struct ws_err err;

	wl_csv_fini(&f->csv);
	return wl_csv_parse(text, strlen(text), &how, &f->arena, &f->csv, &err);
}

static double at(struct fixture *f, const char *name, size_t row)
{
	const struct wl_csv_column *col = wl_csv_column(&f->csv, name);

	assert_non_null(col);
	assert_true(row < f->csv.n_rows);
	return col->at[row];
}

static void numbers_are_read_exactly(void **state)
{
	static const char *const numbers[] = {
		"0",
		"1",
		"123456789012345678",
		"1234567890123456789012",
		"0.5",
		"123.456",
		"1e3",
		"-7",
		"+3",
		"0.1",
		"1411551767635712.0",
		"9007199254740993",
		"1.7976931348623157e308",
		"4.9e-324",
		"0.000001",
		"99999999999999999.5",
		".5",
		"5.",
		"  12  ",
		"inf",
		"-inf",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		char text[200];

		snprintf(text, sizeof(text), "a,b,c\n%s,%s,%s\n", numbers[i], numbers[i],
			 numbers[i]);
		assert_int_equal(parse(f, text), WS_OK);
		for (size_t c = 0; c < 3; c++)
			if (f->csv.columns[c].at[0] != strtod(numbers[i], NULL))
				fail_msg("%s became %.17g", numbers[i], f->csv.columns[c].at[0]);
	}
}

static void nothing_is_not_zero(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "a,b,c,d,e\n,NA,nan,0,x\n1,2,3,4,5\n"), WS_OK);
	assert_true(isnan(at(f, "a", 0)) && isnan(at(f, "b", 0)) && isnan(at(f, "c", 0)));
	assert_true(at(f, "d", 0) == 0);
	assert_int_equal(f->csv.n_rows_holed, 1);
	assert_true(wl_csv_column(&f->csv, "e")->is_text);
	assert_false(wl_csv_column(&f->csv, "a")->is_text);
	assert_true(wl_csv_column(&f->csv, "d")->is_int);
}

static void handles_are_text(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "obj\n0x7f719d074ec0\n"), WS_OK);
	assert_true(wl_csv_column(&f->csv, "obj")->is_text);
}

static void quotes_and_line_ends(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "\xef\xbb\xbfKernelName,n\r\n\"a, \"\"b\"\"\",1\r\nplain,2\r\n"
				  "\"two\nlines\",3\n\n\"a, \"\"b\"\"\",4"),
			 WS_OK);
	assert_int_equal(f->csv.n_rows, 4);
	assert_string_equal(f->dict.texts[(size_t)at(f, "Kernel_Name", 0)], "a, \"b\"");
	assert_string_equal(f->dict.texts[(size_t)at(f, "Kernel_Name", 2)], "two\nlines");
	assert_true(at(f, "Kernel_Name", 0) == at(f, "Kernel_Name", 3));
	assert_true(at(f, "n", 3) == 4);
	assert_int_equal(f->dict.n, 3);
}

static void rows_that_were_cut_off_are_counted(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, "a,b,c\n1,2,3\n4,5\n7,8,9\n1,2,3,4\n5,6,"), WS_OK);
	assert_int_equal(f->csv.n_rows, 3); /* an empty last cell is a cell */
	assert_int_equal(f->csv.n_rows_bad, 2);
	assert_int_equal(f->csv.first_bad, 3);
	assert_true(at(f, "a", 1) == 7 && at(f, "b", 1) == 8);
	assert_true(isnan(at(f, "c", 2)));
	assert_int_equal(parse(f, "a,b\n1,\"open"), WS_OK);
	assert_int_equal(parse(f, "a,b\n0,0\n5\n0,0\n"), WS_OK);
	assert_true(at(f, "a", 1) == 0); /* nothing of the bad row stays */
}

static void empty_files_are_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, ""), WS_E_FORMAT);
	assert_int_equal(parse(f, "\n1\n"), WS_E_FORMAT);
	assert_int_equal(parse(f, "a\n"), WS_OK);
	assert_int_equal(f->csv.n_rows, 0);
}

static void records_are_read_as_text(void **state)
{
	static const char text[] = "a,b,c\n1,\"x, y\",\n";
	const char *pos = text, *end = text + sizeof(text) - 1, **cells;
	struct fixture *f = *state;
	size_t n;

	assert_true(wl_csv_record(&pos, end, &f->arena, &cells, &n));
	assert_int_equal(n, 3);
	assert_true(wl_csv_record(&pos, end, &f->arena, &cells, &n));
	assert_string_equal(cells[1], "x, y");
	assert_string_equal(cells[2], "");
	assert_false(wl_csv_record(&pos, end, &f->arena, &cells, &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(numbers_are_read_exactly, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_is_not_zero, set_up, tear_down),
		cmocka_unit_test_setup_teardown(handles_are_text, set_up, tear_down),
		cmocka_unit_test_setup_teardown(quotes_and_line_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_that_were_cut_off_are_counted, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(empty_files_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(records_are_read_as_text, set_up, tear_down),
	};

	return RUN(tests);
}
