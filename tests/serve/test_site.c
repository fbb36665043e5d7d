/* What sites answer, without a server: lists of numbers, filters, tiles and sums of a small trace. */
#include "serve/profile_filter.h"
#include "serve/trace.h"
#include "tests/profile/rig.h"
#include "tests/unit/unit.h"
#include "timeline/tile.h"
#include "timeline/timeline.h"

#include <string.h>
#include <unistd.h>

#define US 1000ull
#define START (1000 * 1000 * US)
#define CALLS 20000u

/* ---- lists ---- */

static enum ws_status parse(const char *text, struct srv_range *ranges, size_t *n,
			    struct ws_err *err)
{
	return srv_ranges_parse(text, 99, 10, ranges, 4, n, err);
}

static void lists_are_ranges_of_numbers(void **state)
{
	struct srv_range ranges[4];
	size_t n;

	assert_int_equal(parse("0-3,7,9-9", ranges, &n, NULL), WS_OK);
	assert_int_equal(n, 3);
	assert_int_equal(ranges[0].first, 0);
	assert_int_equal(ranges[0].last, 3);
	assert_int_equal(ranges[1].first, 7);
	assert_int_equal(ranges[1].last, 7);
	assert_int_equal(ranges[2].last, 9);
	assert_int_equal(parse("90-99", ranges, &n, NULL), WS_OK);
	assert_int_equal(srv_ranges_parse("7-18446744073709551600", UINT64_MAX, UINT64_MAX, ranges,
					  4, &n, NULL),
			 WS_OK);
	assert_int_equal(ranges[0].last, 18446744073709551600ull);
}

static void lists_that_are_wrong_are_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "", "looks like" },          { "x", "looks like" },
		{ "1,", "looks like" },        { ",1", "looks like" },
		{ "1-", "looks like" },        { "-1", "looks like" },
		{ "1 ", "looks like" },        { "1-2-3", "looks like" },
		{ "+1", "looks like" },        { "3,2", "ascending" },
		{ "3-2", "ascending" },        { "1,1", "ascending" },
		{ "100", "up to 99" },         { "0-100", "up to 99" },
		{ "0-10", "10 numbers" },      { "1,3,5,7,9", "4 ranges" },
		{ "0-5,10-14", "10 numbers" }, { "99999999999999999999999", "looks like" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct srv_range ranges[4];
		struct ws_err err = { 0 };
		size_t n;

		assert_fails_with(parse(rows[i].text, ranges, &n, &err), WS_E_USAGE, &err,
				  rows[i].why);
	}
}

/* ---- requests ---- */

/* A query as pairs of words, NULL at the end. */
static const char *value_of(void *ctx, const char *key, size_t i)
{
	for (const char *const *words = ctx; words[0]; words += 2)
		if (strcmp(words[0], key) == 0 && !i--)
			return words[1];
	return NULL;
}

#define QUERY(...) ((const char *const[]){ __VA_ARGS__, NULL })

static struct srv_request request_for(const char *path, const char *const *query)
{
	return (struct srv_request){
		.path = path, .nonce = "abc", .value = value_of, .ctx = (void *)(uintptr_t)query
	};
}

static enum ws_status read_filter(const char *const *query, struct srv_profile_filter *filter,
				  struct ws_err *err)
{
	struct srv_request request = request_for("", query);

	return srv_profile_filter_read(&request, filter, err);
}

static void filters_are_what_the_address_says(void **state)
{
	static struct srv_profile_filter filter;

	assert_int_equal(read_filter(QUERY("kernels", "0,2-3", "normal-unit", "per_wave",
					   "max-stat-num", "20", "gpus", ""),
				     &filter, NULL),
			 WS_OK);
	assert_true(srv_number_set_has(&filter.kernels, 0));
	assert_false(srv_number_set_has(&filter.kernels, 1));
	assert_true(srv_number_set_has(&filter.kernels, 3));
	assert_true(srv_number_set_has(&filter.gpus, 17));
	assert_true(srv_number_set_has(&filter.dispatches, 17));
	assert_int_equal(filter.norm, 0);
	assert_int_equal(filter.n_in_top, 20);
	assert_int_equal(read_filter(QUERY("other", "1"), &filter, NULL), WS_OK);
	assert_int_equal(filter.norm, -1);
	assert_int_equal(filter.n_in_top, -1);
}

static void filters_that_are_wrong_are_refused(void **state)
{
	static const struct {
		const char *key, *value, *why;
	} rows[] = {
		{ "kernels", "a", "kernels: a list looks like" },
		{ "dispatches", ">3", "dispatches: a list looks like" },
		{ "runs", "0-99999999999", "runs: a list requires" },
		{ "normal-unit", "per_day", "normal-unit requires per_wave" },
		{ "max-stat-num", "-1", "max-stat-num requires a number" },
		{ "max-stat-num", "1001", "up to 1000" },
	};
	static struct srv_profile_filter filter;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ws_err err = { 0 };

		assert_fails_with(read_filter(QUERY(rows[i].key, rows[i].value), &filter, &err),
				  WS_E_USAGE, &err, rows[i].why);
	}
}

/* ---- traces ---- */

static char dir[] = "/tmp/ws-site-XXXXXX";
static struct rig rig;
static struct trc_trace *trace;
static struct srv_trace *site;

static int open_site(void **state)
{
	struct cap_lane *lane;

	if (!mkdtemp(dir))
		return -1;
	rig_start(&rig, dir, 4711, START);
	rig_operation(&rig, 1, "hipGetDevice");
	rig_gpu(&rig, "kernel");
	lane = rig_lane(&rig, 4711);
	for (uint32_t i = 0; i < CALLS; i++)
		rig_call(lane, 1, START + i * US, START + i * US + 300, i + 1);
	for (uint32_t i = 0; i < 10; i++)
		rig_dispatch(rig_lane(&rig, 4720), 4711, START + i * 100 * US,
			     START + i * 100 * US + 7 * US, i + 1, NULL);
	rig_end(&rig, START + CALLS * US);
	trace = rig_open(&rig, 1);
	return srv_trace_create(trace, NULL, NULL, &site, NULL) ? -1 : 0;
}

static int close_site(void **state)
{
	srv_trace_destroy(site);
	trc_close(trace);
	unlink(rig.path);
	return rmdir(dir);
}

/* The whole answer, read in pieces of @room; to be freed. */
static char *ask(const char *path, const char *const *query, size_t room, size_t *out_n)
{
	struct srv_request request = request_for(path, query);
	struct srv_answer answer = { .type = SRV_TYPE_HTML };
	char *text;

	ws_buf_init(&answer.body, 1u << 28);
	assert_int_equal(srv_trace_answer(site, &request, &answer, NULL), WS_OK);
	*out_n = answer.read ? answer.n_bytes : answer.body.n;
	text = calloc(*out_n + 1, 1);
	if (!answer.read)
		memcpy(text, answer.body.at, *out_n);
	for (uint64_t at = 0; answer.read && at < *out_n;) {
		ssize_t n = answer.read(answer.ctx, at, text + at,
					*out_n - at < room ? *out_n - at : room);

		assert_true(n > 0);
		at += (uint64_t)n;
	}
	if (answer.release)
		answer.release(answer.ctx);
	ws_buf_fini(&answer.body);
	return text;
}

static void tiles_are_sent_as_they_are_stored(void **state)
{
	size_t n, n_again, at = 0;
	char *whole = ask("tiles", QUERY("blocks", "1-5"), 4096, &n);
	char *again = ask("tiles", QUERY("blocks", "1-5"), 3, &n_again);
	static struct tl_slice slices[TL_TILE_EVENTS];
	uint64_t n_slices = 0;
	struct tl_coder coder;

	assert_int_equal(n, n_again);
	assert_memory_equal(whole, again, n);
	assert_int_equal(tl_coder_init(&coder, NULL), WS_OK);
	for (size_t block = 0; block < 5; block++) {
		const unsigned char *bytes = (unsigned char *)whole + at;
		size_t length = bytes[0] | bytes[1] << 8 | bytes[2] << 16, n_here;

		assert_true(at + 4 + length <= n);
		assert_int_equal(tl_coder_read_slices(&coder, START, bytes + 4, length, slices,
						      TL_TILE_EVENTS, &n_here, NULL),
				 WS_OK);
		n_slices += n_here;
		at += 4 + length;
	}
	assert_int_equal(at, n);
	assert_int_equal(n_slices,
			 CALLS); /* behind the ten kernels of the queue: level 0 of the thread */
	tl_coder_fini(&coder);
	free(whole);
	free(again);
}

static void the_page_has_the_nonce_and_every_level(void **state)
{
	size_t n;
	char *page = ask("", QUERY("x", ""), 0, &n);

	assert_non_null(strstr(page, "<script nonce=\"abc\">"));
	assert_null(strstr(page, "http-equiv")); /* the policy is a header */
	assert_non_null(strstr(page, "\"events\":20000,"));
	assert_null(strstr(page, "\"block\":-1"));
	free(page);
}

static void a_search_answers_with_a_tile(void **state)
{
	size_t n;
	char *all =
		ask("find", QUERY("track", "1", "tile", "1", "step", "up", "names", "0-2"), 0, &n);
	char *none =
		ask("find", QUERY("track", "1", "tile", "99", "step", "up", "names", "0-2"), 0, &n);

	assert_string_equal(all, "[1]");
	assert_string_equal(none, "[]");
	free(all);
	free(none);
}

static void requests_that_are_wrong_are_refused(void **state)
{
	const struct {
		const char *path;
		const char *const *query;
		enum ws_status st;
		const char *why;
	} rows[] = {
		{ "etc/passwd", QUERY("x", ""), WS_E_NOTFOUND, "no such page" },
		{ "../tiles", QUERY("x", ""), WS_E_NOTFOUND, "no such page" },
		{ "tiles", QUERY("x", ""), WS_E_USAGE, "blocks is missing" },
		{ "tiles", QUERY("blocks", "0-64"), WS_E_USAGE, "up to" },
		{ "tiles", QUERY("blocks", "4000000000"), WS_E_USAGE, "ascending numbers up to" },
		{ "sums", QUERY("from", "0"), WS_E_USAGE, "to is missing" },
		{ "sums", QUERY("from", "9", "to", "8", "samples", "0"), WS_E_USAGE, "before" },
		{ "sums", QUERY("from", "0", "to", "8", "samples", "2"), WS_E_USAGE, "samples" },
		{ "sums", QUERY("from", "0", "to", "18446744073709551615", "samples", "0"),
		  WS_E_USAGE, "to requires" },
		{ "find", QUERY("track", "77", "tile", "0", "step", "up", "names", "1"), WS_E_USAGE,
		  "track requires" },
		{ "find", QUERY("track", "0", "tile", "0", "step", "on", "names", "1"), WS_E_USAGE,
		  "up or down" },
		{ "find", QUERY("track", "0", "tile", "0", "step", "up", "names", "0-9999"),
		  WS_E_USAGE, "ascending" },
		{ "find", QUERY("track", "0", "tile", "0", "step", "up"), WS_E_USAGE, "names" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct srv_request request = request_for(rows[i].path, rows[i].query);
		struct srv_answer answer = { .type = SRV_TYPE_HTML };
		struct ws_err err = { 0 };

		ws_buf_init(&answer.body, 1u << 28);
		assert_fails_with(srv_trace_answer(site, &request, &answer, &err), rows[i].st, &err,
				  rows[i].why);
		ws_buf_fini(&answer.body);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_ranges_of_numbers),
		cmocka_unit_test(lists_that_are_wrong_are_refused),
		cmocka_unit_test(filters_are_what_the_address_says),
		cmocka_unit_test(filters_that_are_wrong_are_refused),
		cmocka_unit_test(tiles_are_sent_as_they_are_stored),
		cmocka_unit_test(the_page_has_the_nonce_and_every_level),
		cmocka_unit_test(a_search_answers_with_a_tile),
		cmocka_unit_test(requests_that_are_wrong_are_refused),
	};

	return RUN_WITH(tests, open_site, close_site);
}
