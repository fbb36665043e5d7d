/*
 * Any bytes as a CSV file: nothing may be read outside, rows and columns must agree, and
 * text columns must stay within the dictionary. As a test it replays its corpus and then
 * runs mutations of it.
 */
#include "tests/fuzz/fuzz.h"
#include "workload/csv.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const texts[] = { "Kernel_Name", "Counter_Name", NULL };
	char *bytes = malloc(size ? size : 1); /* exactly as large, so that ASan sees the end */
	const char *at = bytes, **cells;
	struct ws_arena arena;
	struct wl_dict dict;
	struct wl_csv_how how = { texts, &dict };
	struct wl_csv csv;
	struct ws_err err;
	size_t n;

	memcpy(bytes, data, size);
	ws_arena_init(&arena, 64u << 20);
	wl_dict_init(&dict, &arena);
	if (wl_csv_parse(bytes, size, &how, &arena, &csv, &err) == WS_OK) {
		double sum = 0;

		for (size_t c = 0; c < csv.n_columns; c++)
			for (size_t r = 0; r < csv.n_rows; r++) {
				double value = csv.columns[c].at[r];

				sum += value;
				if (csv.columns[c].is_dict)
					CHECK(value >= 0 && value < (double)dict.n);
			}
		CHECK(csv.n_rows_holed <= csv.n_rows);
		CHECK(!csv.n_rows_bad == !csv.first_bad);
		(void)sum;
		wl_csv_fini(&csv);
	}
	while (wl_csv_record(&at, bytes + size, &arena, &cells, &n))
		for (size_t i = 0; i < n; i++)
			CHECK(strlen(cells[i]) <= size);
	wl_dict_fini(&dict);
	ws_arena_fini(&arena);
	free(bytes);
	return 0;
}

#ifndef WS_LIBFUZZER
#include "tests/fuzz/replay.h"
#endif
