#include "base/doc_edit.h"
#include "base/util.h"
#include "tests/unit/doc_rig.h"

#include <math.h>
#include <string.h>

static void is_json(const struct ws_doc *doc, unsigned indent, const char *text)
{
	struct ws_buf out;

	ws_buf_init(&out, 1 << 16);
	ws_doc_to_json(doc, indent, &out);
	assert_string_equal(out.at, text);
	ws_buf_fini(&out);
}

static void what_is_written_reads_back_the_same(void **state)
{
	const char *text = "{\"a\": [1, -2, 0.5, 1e+300, true, null, \"x\\\"\\n\"], \"b\": {}, "
			   "\"c\": [], \"d\": 2.0}";

	is_json(parse(text), 0, text);
	is_json(parse("{\"a\":[1,2],\"b\":{\"c\":\"d\"}}"), 2,
		"{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {\n    \"c\": \"d\"\n  }\n}");
}

static void what_json_cannot_hold_is_replaced(void **state)
{
	struct ws_doc *list = ws_doc_list(&arena);

	assert_true(ws_doc_add(list, ws_doc_real(NAN, &arena), &arena));
	assert_true(ws_doc_add(list, ws_doc_text("a\xff", &arena), &arena));
	assert_true(ws_doc_add(list, ws_doc_text(NULL, &arena), &arena));
	is_json(list, 0, "[null, \"a\xef\xbf\xbd\", null]");
	is_json(NULL, 0, "null");
}

static void put_replaces_in_place_and_remove_removes(void **state)
{
	struct ws_doc *map = parse("{\"a\": 1, \"b\": 2, \"c\": 3}");

	assert_true(ws_doc_put_text(map, "b", "two", &arena));
	assert_true(ws_doc_put_bool(map, "d", true, &arena));
	is_json(map, 0, "{\"a\": 1, \"b\": \"two\", \"c\": 3, \"d\": true}");
	assert_true(ws_doc_remove(map, "a"));
	assert_false(ws_doc_remove(map, "a"));
	is_json(map, 0, "{\"b\": \"two\", \"c\": 3, \"d\": true}");
}

static void overlay_replaces_whole_members_and_merge_goes_deeper(void **state)
{
	struct ws_doc *under = parse("{\"slurm\": {\"nodes\": 1, \"time\": \"1\"}, \"x\": [1]}");
	struct ws_doc *over = parse("{\"slurm\": {\"nodes\": 2}, \"x\": [2, 3], \"y\": null}");

	is_json(ws_doc_overlay(under, over, &arena), 0,
		"{\"slurm\": {\"nodes\": 2}, \"x\": [2, 3], \"y\": null}");
	is_json(ws_doc_merge(under, over, &arena), 0,
		"{\"slurm\": {\"nodes\": 2, \"time\": \"1\"}, \"x\": [2, 3], \"y\": null}");
	is_json(under, 0, "{\"slurm\": {\"nodes\": 1, \"time\": \"1\"}, \"x\": [1]}");
}

static void readers_fall_back_for_other_kinds(void **state)
{
	struct ws_doc *map = parse("{\"n\": 8, \"t\": \"8\", \"r\": 0.5, \"b\": true, \"l\": []}");

	assert_int_equal(ws_doc_get_int(map, "n", -1), 8);
	assert_int_equal(ws_doc_get_int(map, "t", -1), -1);
	assert_string_equal(ws_doc_get_text(map, "t", "no"), "8");
	assert_string_equal(ws_doc_get_text(map, "n", "no"), "no");
	assert_string_equal(ws_doc_get_scalar(map, "n", "no"), "8");
	assert_string_equal(ws_doc_get_scalar(map, "l", "no"), "no");
	assert_true(ws_doc_get_bool(map, "b", false));
	assert_true(ws_doc_get_real(map, "r", 0) == 0.5);
	assert_true(ws_doc_get_real(map, "n", 0) == 8.0);
	assert_string_equal(ws_doc_get_text(NULL, "t", "none"), "none");
}

static void a_copy_shares_nothing(void **state)
{
	struct ws_doc *from = parse("{\"a\": {\"b\": 1}}");
	struct ws_doc *copy = ws_doc_copy(from, &arena);

	assert_true(ws_doc_put_int((struct ws_doc *)ws_doc_get(copy, "a"), "b", 2, &arena));
	is_json(from, 0, "{\"a\": {\"b\": 1}}");
	is_json(copy, 0, "{\"a\": {\"b\": 2}}");
}

static void a_full_arena_is_reported(void **state)
{
	struct ws_arena small;
	struct ws_doc *list;
	bool ok = true;

	ws_arena_init(&small, 4096);
	list = ws_doc_list(&small);
	for (int i = 0; i < 1000 && ok; i++)
		ok = ws_doc_add(list, ws_doc_int(i, &small), &small);
	assert_false(ok);
	assert_false(ws_doc_put(NULL, "a", list, &small));
	ws_arena_fini(&small);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_back_the_same),
		cmocka_unit_test(what_json_cannot_hold_is_replaced),
		cmocka_unit_test(put_replaces_in_place_and_remove_removes),
		cmocka_unit_test(overlay_replaces_whole_members_and_merge_goes_deeper),
		cmocka_unit_test(readers_fall_back_for_other_kinds),
		cmocka_unit_test(a_copy_shares_nothing),
		cmocka_unit_test(a_full_arena_is_reported),
	};

	return RUN_WITH(tests, begin_arena, end_arena);
}
