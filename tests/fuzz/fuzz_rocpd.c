/*
 * A database of rocprof-sys with any values in its rows, imported as rocpd convert does it: the
 * captures can be read whatever the rows contain. replay.c runs it as a test.
 *
 * An input is a list of changes: which column, which row, which kind of value, its bytes.
 */
#include "tests/fuzz/fuzz.h"

#include "base/file.h"
#include "base/util.h"
#include "output/output.h"
#include "rocpd/rocpd.h"
#include "tests/output/systrace_capture.h"
#include "trace/host.h"

#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHANGES_MAX 24

static char dir[PATH_MAX], known[PATH_MAX + 32], changed[PATH_MAX + 32];

/* What the importer reads of the CPU side, and what its joins go by. */
static const struct {
	const char *table, *column;
} columns[] = {
	{ "rocpd_string", "string" },      { "rocpd_event", "category_id" },
	{ "rocpd_event", "call_stack" },   { "rocpd_event", "line_info" },
	{ "rocpd_region", "start" },       { "rocpd_region", "end" },
	{ "rocpd_region", "tid" },         { "rocpd_region", "name_id" },
	{ "rocpd_region", "event_id" },    { "rocpd_sample", "track_id" },
	{ "rocpd_sample", "timestamp" },   { "rocpd_sample", "event_id" },
	{ "rocpd_track", "name_id" },      { "rocpd_track", "tid" },
	{ "rocpd_arg", "event_id" },       { "rocpd_arg", "name" },
	{ "rocpd_arg", "type" },           { "rocpd_arg", "value" },
	{ "rocpd_pmc_event", "event_id" }, { "rocpd_pmc_event", "pmc_id" },
	{ "rocpd_pmc_event", "value" },    { "rocpd_info_pmc", "name" },
	{ "rocpd_info_pmc", "units" },     { "rocpd_info_thread", "tid" },
	{ "rocpd_info_process", "pid" },   { "rocpd_info_process", "end" },
};

/* ---- the databases ---- */

static void make_known(void)
{
	struct output_result result;
	struct output_config cfg;
	struct trc_trace *trace;
	struct ws_err err = { 0 };
	char capture[PATH_MAX + 32], prefix[PATH_MAX + 32];
	const char *paths[] = { capture };

	CHECK(!ws_dir_temp("fuzz-rocpd", dir, &err));
	snprintf(capture, sizeof(capture), "%s/a.wcap", dir);
	snprintf(prefix, sizeof(prefix), "%s/a", dir);
	snprintf(known, sizeof(known), "%s/a_results.db", dir);
	snprintf(changed, sizeof(changed), "%s/b.db", dir);
	CHECK(!systrace_capture_write(capture, false, &err));
	CHECK(!trc_open(paths, 1, NULL, &trace, &err));
	output_config_init(&cfg);
	cfg.formats = OUTPUT_BIT(ROCPD);
	cfg.prefix = prefix;
	cfg.host_data = true;
	cfg.frames = (struct prof_frames *)dir; /* systrace_capture.c has the names */
	CHECK(!output_write(trace, NULL, 0, &cfg, &result, &err));
	output_result_fini(&result);
	trc_close(trace);
	unlink(capture);
}

static void remove_all(void)
{
	unlink(known);
	unlink(changed);
	rmdir(dir);
}

static void copy_known(void)
{
	int from = open(known, O_RDONLY), to = open(changed, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct stat st;

	CHECK(from >= 0 && to >= 0 && fstat(from, &st) == 0);
	CHECK(sendfile(to, from, NULL, (size_t)st.st_size) == st.st_size);
	close(from);
	close(to);
}

/* ---- changes ---- */

struct input {
	const uint8_t *at, *end;
};

static uint64_t take(struct input *in, unsigned n_bytes)
{
	uint64_t value = 0;

	while (n_bytes-- && in->at < in->end)
		value = value << 8 | *in->at++;
	return value;
}

static void change(sqlite3 *sql, const char *suffix, struct input *in)
{
	unsigned which = (unsigned)take(in, 1) % WS_ARRAY_LEN(columns);
	unsigned row = (unsigned)take(in, 1), kind = (unsigned)take(in, 1) % 4;
	size_t n = (size_t)take(in, 1);
	sqlite3_stmt *stmt = NULL;
	char text[512];

	snprintf(text, sizeof(text),
		 "UPDATE \"%s%s\" SET \"%s\" = ?1 WHERE id = (SELECT id FROM \"%s%s\" LIMIT 1 "
		 "OFFSET "
		 "%u %% (SELECT COUNT(*) FROM \"%s%s\"))",
		 columns[which].table, suffix, columns[which].column, columns[which].table, suffix,
		 row, columns[which].table, suffix);
	CHECK(sqlite3_prepare_v2(sql, text, -1, &stmt, NULL) == SQLITE_OK);
	n = WS_MIN(n, (size_t)(in->end - in->at));
	if (kind == 0)
		sqlite3_bind_int64(stmt, 1, (int64_t)take(in, 8));
	else if (kind == 1)
		sqlite3_bind_int64(stmt, 1, (int64_t)take(in, 1));
	else if (kind == 2)
		sqlite3_bind_text(stmt, 1, (const char *)in->at, (int)n, SQLITE_TRANSIENT);
	in->at += kind == 2 ? n : 0;
	sqlite3_step(stmt); /* constraints may refuse it */
	sqlite3_finalize(stmt);
}

static void change_all(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	sqlite3_stmt *stmt = NULL;
	char suffix[64] = "";
	sqlite3 *sql = NULL;

	CHECK(sqlite3_open(changed, &sql) == SQLITE_OK);
	CHECK(sqlite3_prepare_v2(sql, "SELECT value FROM rocpd_metadata WHERE tag = 'uuid'", -1,
				 &stmt, NULL) == SQLITE_OK);
	CHECK(sqlite3_step(stmt) == SQLITE_ROW);
	snprintf(suffix, sizeof(suffix), "%s", sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	sqlite3_exec(sql, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN", NULL, NULL,
		     NULL);
	for (unsigned i = 0; i < CHANGES_MAX && in.at < in.end; i++)
		change(sql, suffix, &in);
	sqlite3_exec(sql, "COMMIT", NULL, NULL, NULL);
	sqlite3_close(sql);
}

/* ---- reading the captures ---- */

static void check_stack(const struct trc_host *host, const struct trc_stack *stack)
{
	for (uint32_t i = 0; stack && i < stack->n_frames; i++) {
		uint64_t frame = stack->frames[i];

		CHECK(frame & CAP_FRAME_PYTHON);
		CHECK(trc_host_python(host, CAP_FRAME_PYTHON_CODE(frame)));
	}
}

static void read_all(struct trc_trace *trace)
{
	const uint32_t domains = TRC_DOMAINS_USUAL | TRC_DOMAIN_BIT(CALL_STACK_SAMPLING) |
				 TRC_DOMAIN_BIT(METRICS) | TRC_DOMAIN_BIT(REGIONS);

	for (size_t i = 0; i < trc_n_processes(trace); i++) {
		const struct trc_process *process = trc_process_at(trace, i);
		struct trc_event_query query = { .domains = domains,
						 .order = TRC_ORDER_START,
						 .process = process };
		struct trc_host *host = NULL;
		struct trc_events *events;
		const struct trc_event *ev;
		struct ws_err err = { 0 };

		CHECK(!trc_host_open(process, &host, &err));
		CHECK(!trc_events_open(trace, &query, &events, &err));
		while ((ev = trc_events_next(events))) {
			if (ev->domain == CAP_DOMAIN_CALL_STACK_SAMPLING)
				check_stack(host, trc_host_stack(host, ev->stack.info->h.what));
			if (ev->domain == CAP_DOMAIN_REGIONS && !ev->region.annotation)
				CHECK(ev->region.region && ev->region.region->name);
		}
		CHECK(!trc_events_close(events, &err));
		CHECK(!cap_damage_any(&process->damage));
		trc_host_close(host);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *inputs[] = { changed };
	struct ws_strv list = { .at = inputs, .n = 1, .max_n = 1 }, paths = { .max_n = 0 };
	struct trc_trace *trace = NULL;
	struct ws_err err = { 0 };
	struct rpd_db db;

	if (!dir[0]) {
		make_known();
		atexit(remove_all);
	}
	copy_known();
	change_all(data, size);
	if (!rpd_open(&db, &list, &err) && !rpd_import_captures(&db, dir, &paths, &err)) {
		CHECK(!trc_open(paths.at, paths.n, NULL, &trace, &err));
		read_all(trace);
	}
	trc_close(trace);
	for (size_t i = 0; i < paths.n; i++) {
		unlink(paths.at[i]);
		free((void *)paths.at[i]);
	}
	ws_vec_fini(&paths);
	rpd_close(&db);
	return 0;
}
