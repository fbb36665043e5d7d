#include "base/doc.h"
#include "base/util.h"
#include "tests/unit/doc_rig.h"

#include <string.h>

static struct ws_doc *yaml(const char *text)
{
	struct ws_doc *doc = NULL;

	assert_int_equal(ws_doc_parse_yaml("t.yaml", ws_str_from(text), &arena, &doc, &err), WS_OK);
	return doc;
}

static void check_jobs(const struct ws_doc *doc)
{
	const struct ws_doc *jobs = ws_doc_get(doc, "jobs"), *job;

	assert_int_equal(jobs->kind, WS_DOC_LIST);
	assert_int_equal(jobs->n, 2);
	job = jobs->at[0];
	assert_string_equal(ws_doc_get(job, "pmc")->at[1]->text, "B");
	assert_true(ws_doc_get(job, "kernel_trace")->on);
	assert_int_equal(ws_doc_get(job, "n")->number, 16);
	assert_true(ws_doc_get(job, "x")->real == 2.5);
	assert_int_equal(ws_doc_get(job, "none")->kind, WS_DOC_NULL);
	assert_null(ws_doc_get(job, "missing"));
	assert_null(ws_doc_get(jobs, "pmc"));
	assert_int_equal(jobs->at[1]->kind, WS_DOC_MAP);
	assert_int_equal(jobs->at[1]->n, 0);
}

static void both_formats_give_the_same_tree(void **state)
{
	check_jobs(yaml("jobs:\n - pmc: [A, \"B\"]\n   kernel_trace: Yes\n   n: 0x10\n   x: 2.5\n"
			"   none: ~\n - {}\n"));
	check_jobs(parse("{\"jobs\": [{\"pmc\": [\"A\", \"B\"], \"kernel_trace\": true, \"n\": 16, "
			 "\"x\": 2.5, \"none\": null}, {}]}"));
}

static void plain_words_of_yaml_have_kinds(void **state)
{
	static const struct {
		const char *text;
		enum ws_doc_kind kind;
	} cases[] = {
		{ "on", WS_DOC_BOOL },        { "OFF", WS_DOC_BOOL },
		{ "null", WS_DOC_NULL },      { "1_000", WS_DOC_INT },
		{ "-5", WS_DOC_INT },         { "1e3", WS_DOC_REAL },
		{ "\"yes\"", WS_DOC_TEXT },   { "'12'", WS_DOC_TEXT },
		{ "SQ_WAVES", WS_DOC_TEXT },  { "1:2:3", WS_DOC_TEXT },
		{ "\"[1-3]\"", WS_DOC_TEXT }, { "nan", WS_DOC_TEXT },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++)
		assert_int_equal(yaml(cases[i].text)->kind, cases[i].kind);
	assert_int_equal(yaml("")->kind, WS_DOC_NULL);
	assert_int_equal(yaml("a: &x [1, 2]\nb: *x\n")->at[1]->at[1]->number, 2);
}

static void mistakes_name_file_and_line(void **state)
{
	struct ws_doc *doc;

	assert_fails_with(ws_doc_parse_yaml("t.yaml", WS_STR("a: 1\nb: [1,\n"), &arena, &doc, &err),
			  WS_E_FORMAT, &err, "t.yaml:3: invalid YAML");
	assert_fails_with(ws_doc_parse_json("t.json", WS_STR("{\n\"a\": }"), &arena, &doc, &err),
			  WS_E_FORMAT, &err, "t.json:2: invalid JSON");
	assert_fails_with(ws_doc_parse_yaml("t.yaml", WS_STR("a: &x [*x]\n"), &arena, &doc, &err),
			  WS_E_FORMAT, &err, "nested too deeply");
	assert_fails_with(ws_doc_read("jobs.toml", &arena, &doc, &err), WS_E_FORMAT, &err,
			  "neither .yaml");
	assert_int_equal(ws_doc_read("/no/such.json", &arena, &doc, &err), WS_E_NOTFOUND);
}

static void files_that_unfold_without_end_hit_the_ceiling(void **state)
{
	struct ws_arena small;
	struct ws_doc *doc;
	static const char bomb[] = "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n"
				   "c: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c]\n"
				   "e: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n";

	ws_arena_init(&small, 1 << 20);
	assert_fails_with(ws_doc_parse_yaml("bomb.yaml", ws_str_from(bomb), &small, &doc, &err),
			  WS_E_LIMIT, &err, "too large");
	ws_arena_fini(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_formats_give_the_same_tree, begin_arena,
						end_arena),
		cmocka_unit_test_setup_teardown(plain_words_of_yaml_have_kinds, begin_arena,
						end_arena),
		cmocka_unit_test_setup_teardown(mistakes_name_file_and_line, begin_arena,
						end_arena),
		cmocka_unit_test(files_that_unfold_without_end_hit_the_ceiling),
	};

	return RUN(tests);
}
