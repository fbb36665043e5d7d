/* A program's output of any bytes: how it comes in pieces changes neither what is counted nor what passes. */
#include "base/util.h"
#include "models/library_trace.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

#define ALL ((1u << MDL_LIBRARY_MODES) - 1)

static uint64_t trace_in_pieces(const uint8_t *data, size_t size, size_t piece, struct ws_buf *pass)
{
	struct mdl_library_trace *trace = NULL;
	uint64_t n_calls;

	CHECK(!mdl_library_trace_create(ALL, &trace, NULL));
	for (size_t at = 0; at < size; at += piece)
		mdl_library_trace_feed(trace, (const char *)data + at,
				       size - at < piece ? size - at : piece, pass);
	mdl_library_trace_flush(trace, true, pass);
	n_calls = mdl_library_trace_n_calls(trace);
	mdl_library_trace_destroy(trace);
	return n_calls;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ws_buf whole, pieces;
	uint64_t n_calls;

	ws_buf_init(&whole, 16 << 20);
	ws_buf_init(&pieces, 16 << 20);
	n_calls = trace_in_pieces(data, size, size ? size : 1, &whole);
	for (size_t piece = 1; piece < 12; piece += 5) {
		ws_buf_clear(&pieces);
		CHECK(trace_in_pieces(data, size, piece, &pieces) == n_calls);
		CHECK(pieces.n == whole.n && !memcmp(pieces.at, whole.at, whole.n));
	}
	CHECK(whole.n <= size);
	ws_buf_fini(&whole);
	ws_buf_fini(&pieces);
	return 0;
}
