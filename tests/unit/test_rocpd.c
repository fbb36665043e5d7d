/* rocpd/: databases written by output/ are read, narrowed, summarized, merged and imported. */
#include "tests/unit/unit.h"

#include "base/arena.h"
#include "base/file.h"
#include "output/output.h"
#include "rocpd/rocpd.h"
#include "tests/output/synth.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_ROUNDS 40
#define EVENTS_MAX 20000

static char dir[PATH_MAX], capture[2][PATH_MAX], database[2][PATH_MAX + 16];
static const char *const one_input[] = { database[0] };
static const char *const both_inputs[] = { database[0], database[1] };

static struct ws_strv list_of(const char *const *at, size_t n)
{
	return (struct ws_strv){ .at = (const char **)at, .n = n, .max_n = n };
}

static struct trc_trace *open_trace(const char *const *paths, size_t n)
{
	struct trc_trace *trace = NULL;
	struct ws_err err = { 0 };

	if (trc_open(paths, n, &(struct trc_opts){ 0 }, &trace, &err))
		fail_msg("%s", err.text);
	return trace;
}

/* Two captures of different processes, and a database of each. */
static int make_databases(void **state)
{
	struct ws_err err = { 0 };

	assert_int_equal(ws_dir_temp("test-rocpd", dir, &err), WS_OK);
	for (uint32_t i = 0; i < 2; i++) {
		struct ws_synth synth = { .pid = 4711 + i, .n_threads = 2, .n_rounds = N_ROUNDS };
		struct output_result result = { .n_files = 0 };
		struct output_config cfg;
		const char *path = capture[i];
		struct trc_trace *trace;
		char prefix[PATH_MAX];
		uint64_t n_events;

		snprintf(capture[i], sizeof(capture[i]), "%.3000s/%u.wcap", dir, i);
		snprintf(prefix, sizeof(prefix), "%.3000s/%u", dir, i);
		snprintf(database[i], sizeof(database[i]), "%.3000s/%u_results.db", dir, i);
		assert_int_equal(ws_synth_write(capture[i], &synth, &n_events, &err), WS_OK);
		trace = open_trace(&path, 1);
		output_config_init(&cfg);
		cfg.formats = OUTPUT_BIT(ROCPD);
		cfg.prefix = prefix;
		if (output_write(trace, NULL, 0, &cfg, &result, &err))
			fail_msg("%s", err.text);
		assert_string_equal(result.files[0].path, database[i]);
		output_result_fini(&result);
		trc_close(trace);
	}
	return 0;
}

static int drop_databases(void **state)
{
	for (int i = 0; i < 2; i++) {
		unlink(capture[i]);
		unlink(database[i]);
	}
	return rmdir(dir);
}

static void open_db(struct rpd_db *db, const char *const *files, size_t n)
{
	struct ws_strv inputs = list_of(files, n);
	struct ws_err err = { 0 };

	if (rpd_open(db, &inputs, &err))
		fail_msg("%s", err.text);
}

static int64_t number(struct rpd_db *db, const char *query)
{
	struct ws_err err = { 0 };
	int64_t n = 0;

	if (rpd_number(db->sql, query, -1, &n, &err))
		fail_msg("%s: %s", query, err.text);
	return n;
}

/* ---- import ---- */

/* What of an event a database keeps. */
struct kept {
	enum cap_domain domain;
	uint64_t start_ns, end_ns, corr_id;
	uint32_t tid, n_values;
	char name[96];
};

static size_t read_events(const struct trc_trace *trace, uint32_t domains, struct kept *to)
{
	struct trc_event_query query = { .domains = domains, .order = TRC_ORDER_START };
	struct trc_events *events = NULL;
	const struct trc_event *e;
	struct ws_err err = { 0 };
	size_t n = 0;

	assert_int_equal(trc_events_open(trace, &query, &events, &err), WS_OK);
	while ((e = trc_events_next(events))) {
		assert_true(n < EVENTS_MAX);
		to[n] = (struct kept){ e->domain,      e->start_ns, e->end_ns, e->corr_id,
				       e->thread->tid, 0,           "" };
		if (e->domain == CAP_DOMAIN_KERNEL_DISPATCH)
			to[n].n_values = e->dispatch.info->n_values;
		/* A rename is in the database only when it was requested. */
		snprintf(to[n++].name, sizeof(to[0].name), "%s",
			 e->domain == CAP_DOMAIN_KERNEL_DISPATCH ? e->dispatch.kernel->formatted
								 : e->name);
	}
	assert_int_equal(trc_events_close(events, &err), WS_OK);
	return n;
}

/* The order of events that begin and end together is the writer's. */
static int by_time(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	if (x->corr_id != y->corr_id)
		return x->corr_id < y->corr_id ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void imported_captures_hold_what_was_recorded(void **state)
{
	uint32_t domains = TRC_DOMAIN_BIT(HIP_API) | TRC_DOMAIN_BIT(HSA_API) |
			   TRC_DOMAIN_BIT(KERNEL_DISPATCH) | TRC_DOMAIN_BIT(MEMORY_COPY);
	const char *source = capture[0];
	struct trc_trace *before = open_trace(&source, 1), *after;
	struct kept *a = calloc(EVENTS_MAX, sizeof(*a)), *b = calloc(EVENTS_MAX, sizeof(*b));
	struct ws_strv paths = { .max_n = 0 };
	struct ws_err err = { 0 };
	struct rpd_db db;
	size_t n;

	open_db(&db, one_input, 1);
	if (rpd_import_captures(&db, dir, &paths, &err))
		fail_msg("%s", err.text);
	rpd_close(&db);
	assert_int_equal(paths.n, 1);
	after = open_trace(paths.at, 1);
	assert_int_equal(trc_process_at(after, 0)->pid, 4711);
	assert_false(cap_damage_any(&trc_process_at(after, 0)->damage));
	assert_true(trc_process_at(after, 0)->ended);
	n = read_events(before, domains, a);
	assert_true(n > 10 * N_ROUNDS);
	assert_int_equal(read_events(after, domains, b), n);
	qsort(a, n, sizeof(*a), by_time);
	qsort(b, n, sizeof(*b), by_time);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(a[i].domain, b[i].domain);
		assert_int_equal(a[i].start_ns, b[i].start_ns);
		assert_int_equal(a[i].end_ns, b[i].end_ns);
		assert_int_equal(a[i].corr_id, b[i].corr_id);
		assert_int_equal(a[i].tid, b[i].tid);
		assert_int_equal(a[i].n_values, b[i].n_values);
		assert_string_equal(a[i].name, b[i].name);
	}
	trc_close(before);
	trc_close(after);
	unlink(paths.at[0]);
	free((void *)paths.at[0]);
	ws_vec_fini(&paths);
	free(a);
	free(b);
}

/* ---- several as one ---- */

static void rows_of_all_inputs_are_seen(void **state)
{
	struct rpd_db one, both;

	open_db(&one, one_input, 1);
	open_db(&both, both_inputs, 2);
	assert_true(number(&one, "SELECT COUNT(*) FROM kernels") > 0);
	assert_int_equal(number(&both, "SELECT COUNT(*) FROM kernels"),
			 2 * number(&one, "SELECT COUNT(*) FROM kernels"));
	assert_int_equal(number(&both, "SELECT COUNT(DISTINCT pid) FROM kernels"), 2);
	rpd_close(&one);
	rpd_close(&both);
}

static void one_run_given_twice_is_refused(void **state)
{
	const char *const twice[] = { database[0], database[0] };
	struct ws_strv inputs = list_of(twice, 2);
	struct ws_err err = { 0 };
	struct rpd_db db;

	assert_fails_with(rpd_open(&db, &inputs, &err), WS_E_USAGE, &err, "in another input");
	rpd_close(&db);
}

static void merged_and_packaged_databases_read_the_same(void **state)
{
	struct ws_strv files = list_of(both_inputs, 2), found = { .max_n = 0 }, inputs;
	char folder[PATH_MAX], inside[PATH_MAX + 16];
	const char *const package[] = { folder };
	struct rpd_db direct, packaged;
	struct ws_arena arena;
	struct ws_err err = { 0 };

	open_db(&direct, both_inputs, 2);
	for (enum rpd_package_how how = RPD_PACKAGE_REFER; how <= RPD_PACKAGE_MERGE; how++) {
		assert_int_equal(ws_dir_temp("test-package", folder, &err), WS_OK);
		if (rpd_package_write(&files, folder, how, &err))
			fail_msg("%s", err.text);
		ws_arena_init(&arena, 1 << 20);
		inputs = list_of(package, 1);
		found = (struct ws_strv){ .max_n = 0 };
		assert_int_equal(rpd_inputs(&inputs, &arena, &found, &err), WS_OK);
		assert_int_equal(found.n, how == RPD_PACKAGE_MERGE ? 1 : 2);
		open_db(&packaged, package, 1);
		assert_int_equal(number(&packaged, "SELECT SUM(duration) FROM kernels"),
				 number(&direct, "SELECT SUM(duration) FROM kernels"));
		rpd_close(&packaged);
		for (size_t i = 0; i < found.n && how != RPD_PACKAGE_REFER; i++)
			assert_int_equal(unlink(found.at[i]), 0);
		ws_vec_fini(&found);
		ws_arena_fini(&arena);
		snprintf(inside, sizeof(inside), "%s/index.yaml", folder);
		assert_int_equal(unlink(inside), 0);
		assert_int_equal(rmdir(folder), 0);
	}
	rpd_close(&direct);
}

/* ---- window and summary ---- */

static void a_window_keeps_what_lies_inside(void **state)
{
	struct rpd_window window = { .start = "25%", .end = "75%" };
	struct rpd_bounds bounds;
	struct ws_err err = { 0 };
	struct rpd_db db, narrowed;
	int64_t inside, overlapping;
	char query[256];

	assert_true(rpd_window_is_open(&(struct rpd_window){ .start = NULL }));
	assert_false(rpd_window_is_open(&window));
	open_db(&db, one_input, 1);
	for (int i = 0; i < 2; i++) {
		window.overlapping = i;
		open_db(&narrowed, one_input, 1);
		assert_int_equal(rpd_narrow(&narrowed, &window, &bounds, &err), WS_OK);
		assert_int_equal(bounds.from_ns - bounds.first_ns,
				 (bounds.last_ns - bounds.first_ns) / 4);
		snprintf(query, sizeof(query),
			 "SELECT COUNT(*) FROM kernels WHERE \"%s\" >= %lld AND \"%s\" <= %lld",
			 i ? "end" : "start", (long long)bounds.from_ns, i ? "start" : "end",
			 (long long)bounds.to_ns);
		*(i ? &overlapping : &inside) = number(&db, query);
		assert_int_equal(number(&narrowed, "SELECT COUNT(*) FROM kernels"),
				 number(&db, query));
		rpd_close(&narrowed);
	}
	assert_true(inside > 0);
	assert_true(overlapping >= inside);
	assert_true(overlapping < number(&db, "SELECT COUNT(*) FROM kernels"));
	rpd_close(&db);
}

static void summaries_add_up(void **state)
{
	static const char *const hip_only[] = { "HIP" };
	struct ws_strv all = { .n = 0 }, hip = list_of(hip_only, 1);
	struct ws_err err = { 0 };
	sqlite3_stmt *stmt = NULL;
	int64_t n_calls = 0, ns = 0;
	double percent = 0;
	struct rpd_db db;

	open_db(&db, both_inputs, 2);
	assert_string_equal(rpd_summary_view(0), "kernels");
	assert_int_equal(rpd_summary_prepare(&db, 0, &all, false, &stmt, &err), WS_OK);
	assert_string_equal(sqlite3_column_name(stmt, 2), "DURATION (nsec)");
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		n_calls += sqlite3_column_int64(stmt, 1);
		ns += sqlite3_column_int64(stmt, 2);
		percent += sqlite3_column_double(stmt, 4);
	}
	sqlite3_finalize(stmt);
	assert_int_equal(n_calls, number(&db, "SELECT COUNT(*) FROM kernels"));
	assert_int_equal(ns, number(&db, "SELECT SUM(duration) FROM kernels"));
	assert_true(percent > 99.999 && percent < 100.001);

	/* Per process: the percentages of each add up. */
	percent = 0;
	assert_int_equal(rpd_summary_prepare(&db, 0, &all, true, &stmt, &err), WS_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		percent += sqlite3_column_double(stmt, 6);
	sqlite3_finalize(stmt);
	assert_true(percent > 199.999 && percent < 200.001);

	/* One row per kind: work of the GPU in any case, calls by category. */
	for (size_t i = 0; i < rpd_n_summaries; i++)
		if (strcmp(rpd_summary_view(i), "hsa") == 0)
			assert_false(rpd_summary_wanted(i, &hip));
		else if (strcmp(rpd_summary_view(i), "hip") == 0)
			assert_true(rpd_summary_wanted(i, &hip));
	assert_int_equal(rpd_summary_prepare(&db, RPD_SUMMARY_DOMAIN, &hip, false, &stmt, &err),
			 WS_OK);
	n_calls = 0;
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(stmt, 0);

		assert_string_not_equal(name, "HSA");
		if (strcmp(name, "HIP") == 0)
			n_calls = sqlite3_column_int64(stmt, 1);
	}
	sqlite3_finalize(stmt);
	assert_true(n_calls > 0);
	assert_int_equal(n_calls,
			 number(&db, "SELECT COUNT(*) FROM regions WHERE category LIKE 'HIP%'"));
	rpd_close(&db);
}

static void a_query_is_one_statement(void **state)
{
	struct ws_err err = { 0 };
	sqlite3_stmt *stmt = NULL;
	struct rpd_db db;

	open_db(&db, one_input, 1);
	assert_fails_with(rpd_prepare_one(db.sql, " ", &stmt, &err), WS_E_USAGE, &err, "no SQL");
	assert_int_equal(rpd_prepare_one(db.sql, "SELECT 1; -- done", &stmt, &err), WS_OK);
	sqlite3_finalize(stmt);
	stmt = NULL;
	assert_fails_with(rpd_prepare_one(db.sql, "SELECT 1; SELECT 2", &stmt, &err), WS_E_USAGE,
			  &err, "more than one");
	sqlite3_finalize(stmt);
	rpd_close(&db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(imported_captures_hold_what_was_recorded),
		cmocka_unit_test(rows_of_all_inputs_are_seen),
		cmocka_unit_test(one_run_given_twice_is_refused),
		cmocka_unit_test(merged_and_packaged_databases_read_the_same),
		cmocka_unit_test(a_window_keeps_what_lies_inside),
		cmocka_unit_test(summaries_add_up),
		cmocka_unit_test(a_query_is_one_statement),
	};

	return cmocka_run_group_tests(tests, make_databases, drop_databases);
}
