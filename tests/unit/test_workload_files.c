/* The files of a workload folder: settings, how far it came, and how passes become sheets. */
#include "base/doc.h"
#include "counters/plan.h"
#include "tests/unit/unit.h"
#include "workload/config.h"
#include "workload/sheet.h"
#include "workload/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/ws-workload.XXXXXX";

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* Whatever a text is, YAML gives it back as that text. */
static void settings_read_back_as_they_were(void **state)
{
	static const char *const texts[] = {
		"plain",   "12",          "1.5",   "-3",      "--",        "-n",
		"true",    "No",          "null",  "~",       "",          "a b",
		"it's",    "a: b",        "# no",  "[x]",     "{y}",       "*z",
		"&z",      "!t",          "%e",    "@w",      "`q",        "0x10",
		".5",      "..",          "../up", "./vcopy", "tab\there", "line\nend",
		"q\"uote", "back\\slash", "ä",     "=",       "---",       "1e5",
		"+7",      "a,b",         "x#y",   "k:",      "y",         "off",
	};
	const struct ws_doc *list, *flag;
	struct wl_config config;
	struct ws_arena arena;
	struct ws_doc *doc;
	struct ws_err err;
	char path[128];

	wl_config_init(&config);
	wl_config_list(&config, "texts", texts, WS_ARRAY_LEN(texts));
	wl_config_list(&config, "none", NULL, 0);
	wl_config_set(&config, "set", texts, 3, "metric_id");
	wl_config_set(&config, "no_set", NULL, 0, "metric_id");
	wl_config_bool(&config, "flag", true);
	wl_config_text(&config, "nothing", NULL);
	wl_config_int(&config, "a_number", -5);
	wl_config_text(&config, "flag2", "true");
	assert_int_equal(wl_config_write(&config, dir, "c.yaml", &err), WS_OK);
	wl_config_fini(&config);

	snprintf(path, sizeof(path), "%s/c.yaml", dir);
	ws_arena_init(&arena, 1 << 20);
	if (ws_doc_read(path, &arena, &doc, &err))
		fail_msg("%s", err.text);
	list = ws_doc_get(doc, "texts");
	assert_int_equal(list->n, WS_ARRAY_LEN(texts));
	for (size_t i = 0; i < list->n; i++) {
		if (list->at[i]->kind != WS_DOC_TEXT)
			fail_msg("'%s' reads back as %s", texts[i],
				 ws_doc_kind_name(list->at[i]->kind));
		assert_string_equal(list->at[i]->text, texts[i]);
	}
	assert_int_equal(ws_doc_get(doc, "none")->n, 0);
	list = ws_doc_get(doc, "set");
	assert_true(list->kind == WS_DOC_MAP && list->n == 3);
	for (size_t i = 0; i < list->n; i++) {
		assert_string_equal(list->at[i]->key, texts[i]);
		assert_string_equal(list->at[i]->text, "metric_id");
	}
	list = ws_doc_get(doc, "no_set");
	assert_true(list->kind == WS_DOC_MAP && list->n == 0);
	flag = ws_doc_get(doc, "flag");
	assert_true(flag->kind == WS_DOC_BOOL && flag->on);
	assert_int_equal(ws_doc_get(doc, "flag2")->kind, WS_DOC_TEXT);
	assert_int_equal(ws_doc_get(doc, "nothing")->kind, WS_DOC_NULL);
	assert_int_equal(ws_doc_get(doc, "a_number")->number, -5);
	assert_string_equal(doc->at[0]->key, "a_number"); /* sorted */
	ws_arena_fini(&arena);
}

static void a_state_reads_back_as_it_was(void **state)
{
	static const char *const wants[] = { "SQ_WAVES", "TCC_HIT[]", "SQ_LEVEL_WAVES_ACCUM" };
	struct wl_state before, after;
	struct ws_arena arena;
	struct ws_err err;

	ws_arena_init(&arena, 1 << 20);
	assert_int_equal(wl_state_read(dir, &arena, &after, &err), WS_E_NOTFOUND);
	wl_state_fini(&after);
	wl_state_init(&before);
	assert_int_equal(ws_vec_push(&before.argv, "./app", &err), WS_OK);
	assert_int_equal(ws_vec_push(&before.argv, "-n 1, 'x'", &err), WS_OK);
	assert_int_equal(ws_vec_push(&before.sections, "11.2", &err), WS_OK);
	before.directory = "/home/a b";
	before.program_bytes = 1234;
	before.program_mtime_ns = 1763200000123456789;
	before.arch = "gfx90a";
	before.how = "format csv, kernel a|b";
	assert_int_equal(ws_vec_push(&before.passes,
				     ((struct wl_state_pass){ "pmc_perf_0", true, 3, wants, 3 }),
				     &err),
			 WS_OK);
	assert_int_equal(
		ws_vec_push(&before.passes,
			    ((struct wl_state_pass){ "SQ_LEVEL_WAVES", false, 0, wants, 1 }), &err),
		WS_OK);
	assert_int_equal(wl_state_write(&before, dir, &err), WS_OK);
	if (wl_state_read(dir, &arena, &after, &err))
		fail_msg("%s", err.text);
	assert_int_equal(after.argv.n, 2);
	assert_string_equal(after.argv.at[1], "-n 1, 'x'");
	assert_string_equal(after.sections.at[0], "11.2");
	assert_string_equal(after.directory, "/home/a b");
	assert_string_equal(after.how, before.how);
	assert_true(after.program_mtime_ns == before.program_mtime_ns);
	assert_false(after.complete);
	assert_int_equal(after.passes.n, 2);
	assert_true(after.passes.at[0].done && !after.passes.at[1].done);
	assert_int_equal(after.passes.at[0].n_rows, 3);
	assert_int_equal(after.passes.at[0].n_wants, 3);
	assert_string_equal(after.passes.at[0].wants[1], "TCC_HIT[]");
	assert_string_equal(after.passes.at[1].name, "SQ_LEVEL_WAVES");
	wl_state_fini(&before);
	wl_state_fini(&after);
	ws_arena_fini(&arena);
}

/* Somebody edited it, or it is of a later version: said, and nothing is believed. */
static void wrong_states_are_refused(void **state)
{
	static const char *const texts[] = {
		"wavescope_profile: 2\n",
		"- a list\n",
		"wavescope_profile: 1\npasses:\n- perhaps 3 x\n",
		"wavescope_profile: 1\npasses:\n- done three x\n",
		"wavescope_profile: 1\npasses:\n- done 3 ../../etc/passwd\n",
		"wavescope_profile: 1\npasses:\n- done\n",
		"wavescope_profile: [1\n",
	};
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, WL_STATE_NAME);
	for (size_t i = 0; i < WS_ARRAY_LEN(texts); i++) {
		FILE *file = fopen(path, "w");
		struct ws_arena arena;
		struct wl_state read;
		struct ws_err err;

		fputs(texts[i], file);
		fclose(file);
		ws_arena_init(&arena, 1 << 20);
		assert_int_equal(wl_state_read(dir, &arena, &read, &err), WS_E_FORMAT);
		wl_state_fini(&read);
		ws_arena_fini(&arena);
	}
	unlink(path);
}

/* Two levels that the planner put into one pass are two files; the rest is in the first. */
static void levels_have_files_of_their_own(void **state)
{
	static const struct wl_want wants[] = {
		{ "SQ_IFETCH_LEVEL", false },   { "SQ_IFETCH_LEVEL_ACCUM", false },
		{ "SQ_INST_LEVEL_LDS", false }, { "SQ_INST_LEVEL_LDS_ACCUM", false },
		{ "SQ_WAVES", false },          { "TCC_HIT", true },
		{ "TCC_HIT_sum", false },
	};
	const char *names[WS_ARRAY_LEN(wants)];
	const struct cnt_plan_group group = { names, WS_ARRAY_LEN(wants) };
	const struct wl_perfmon_filter filter = { "a,b", NULL };
	struct cnt_catalogue *cat = NULL;
	struct cnt_plan *plan = NULL;
	struct wl_sheets sheets;
	struct ws_arena arena;
	struct ws_err err;
	size_t n_channels = 0;
	char command[400];

	for (size_t i = 0; i < WS_ARRAY_LEN(wants); i++)
		names[i] = wants[i].name;
	ws_arena_init(&arena, 16 << 20);
	assert_int_equal(cnt_catalogue_create_typical("gfx90a", &cat, &err), WS_OK);
	if (cnt_plan_make(cat, &group, 1, CNT_PLAN_POOL, &plan, &err))
		fail_msg("%s", err.text);
	assert_int_equal(wl_sheets_make(plan, wants, WS_ARRAY_LEN(wants), 3, &arena, &sheets, &err),
			 WS_OK);
	assert_in_range(sheets.n, 2, 3);
	assert_string_equal(sheets.at[0].name, "SQ_IFETCH_LEVEL");
	assert_string_equal(sheets.at[1].name, "SQ_INST_LEVEL_LDS");
	for (size_t i = 0; i < sheets.n; i++) {
		size_t n_accumulated = 0;

		for (size_t c = 0; c < sheets.at[i].n_columns; c++) {
			const struct wl_sheet_column *column = &sheets.at[i].columns[c];

			n_channels += column->instance >= 0;
			n_accumulated += strcmp(column->header, "SQ_ACCUM_PREV_HIRES") == 0;
			if (c)
				assert_true(strcmp(column[-1].header, column->header) < 0);
		}
		assert_int_equal(n_accumulated, sheets.at[i].level ? 1 : 0);
		assert_int_equal(wl_perfmon_write(&sheets, &sheets.at[i], &filter, dir, &err),
				 WS_OK);
	}
	assert_int_equal(n_channels, 32);
	snprintf(command, sizeof(command),
		 "grep -q ' SQ_INST_LEVEL_LDS SQ_INST_LEVEL_LDS_ACCUM' "
		 "%s/perfmon/SQ_INST_LEVEL_LDS.txt && grep -q '^kernel: a,b$' "
		 "%s/perfmon/SQ_IFETCH_LEVEL.txt && grep -q 'name: TCC_HIT\\[31\\]' "
		 "%s/perfmon/*.yaml",
		 dir, dir, dir);
	assert_int_equal(system(command), 0);
	cnt_plan_destroy(plan);
	cnt_catalogue_destroy(cat);
	ws_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_read_back_as_they_were),
		cmocka_unit_test(a_state_reads_back_as_it_was),
		cmocka_unit_test(wrong_states_are_refused),
		cmocka_unit_test(levels_have_files_of_their_own),
	};

	return RUN_WITH(tests, make_dir, remove_dir);
}
