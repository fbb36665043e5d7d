/* A request for counters of any bytes: what is read can be written and read again. */
#include "collector/count/request.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct col_count_room room, room2;
	static char text[1 << 20], again[1 << 21], third[1 << 21];
	struct col_count_request request, same;

	size = size < sizeof(text) - 1 ? size : sizeof(text) - 1;
	memcpy(text, data, size);
	text[size] = 0;
	if (!col_count_request_parse(text, &room, &request)) {
		CHECK(request.wrong && *request.wrong);
		return 0;
	}
	CHECK(col_count_request_print(&request, again, sizeof(again)));
	CHECK(col_count_request_parse(again, &room2, &same));
	CHECK(same.n_gpus == request.n_gpus && same.n_ranges == request.n_ranges);
	CHECK(col_count_request_print(&same, third, sizeof(third)));
	return 0;
}
