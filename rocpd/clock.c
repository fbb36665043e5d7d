#include "rocpd/clock.h"

#include "base/map.h"
#include "base/str.h"
#include "base/util.h"

#include <inttypes.h>
#include <string.h>

/* ---- whose ---- */

#define CLOCKS_MAX 65536u

static const char find_query[] =
	"SELECT json_extract(m.value, '$.boot_id'), json_extract(m.value, '$.realtime_offset_ns'), "
	"n.machine_id, n.hostname, p.init FROM rocpd_info_process p "
	"LEFT JOIN rocpd_info_node n ON n.id = p.nid AND n.guid = p.guid "
	"LEFT JOIN rocpd_metadata m ON m.tag = 'wavescope_ledger' AND "
	"json_extract(m.value, '$.pid') = p.pid WHERE p.guid = ?1 AND p.id = ?2 LIMIT 1";

static const char *text_of(sqlite3_stmt *stmt, int i)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);

	return text ? text : "";
}

bool rpd_clock_find(sqlite3 *sql, const char *guid, int64_t process, struct rpd_clock *out_clock)
{
	sqlite3_stmt *stmt = NULL;
	struct ws_err none;
	uint64_t id[2];
	bool found;

	if (rpd_prepare(sql, find_query, &stmt, &none))
		return false;
	sqlite3_bind_text(stmt, 1, guid, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 2, process);
	found = sqlite3_step(stmt) == SQLITE_ROW;
	if (found) {
		const char *machine = text_of(stmt, 2), *host = text_of(stmt, 3);

		/* Nodes of a cluster often have one of both in common: images are copied. */
		if (sscanf(text_of(stmt, 0), "%16" SCNx64 "%16" SCNx64, &id[0], &id[1]) != 2) {
			id[0] = ws_hash_bytes(machine, strlen(machine));
			id[1] = ws_hash_bytes(host, strlen(host));
		}
		memcpy(out_clock->id, id, sizeof(out_clock->id));
		out_clock->realtime_offset_ns = sqlite3_column_int64(stmt, 1);
		out_clock->init_ns = (uint64_t)sqlite3_column_int64(stmt, 4);
	}
	sqlite3_finalize(stmt);
	return found;
}

WS_VEC_TYPE(clock_list, struct rpd_clock);

static enum ws_status add_clock(struct clock_list *list, const struct rpd_clock *clock,
				struct ws_err *err)
{
	for (size_t i = 0; i < list->n; i++)
		if (memcmp(list->at[i].id, clock->id, sizeof(clock->id)) == 0)
			return WS_OK;
	return ws_vec_push(list, *clock, err);
}

static enum ws_status add_clocks(struct clock_list *list, const char *path, struct ws_err *err)
{
	struct ws_strv one = { .at = &path, .n = 1 };
	struct rpd_db db = { .sql = NULL };
	sqlite3_stmt *stmt = NULL;
	enum ws_status st = rpd_open(&db, &one, err);

	if (!st)
		st = rpd_prepare(db.sql, "SELECT guid, id FROM rocpd_info_process", &stmt, err);
	while (!st && sqlite3_step(stmt) == SQLITE_ROW) {
		struct rpd_clock clock;

		if (rpd_clock_find(db.sql, text_of(stmt, 0), sqlite3_column_int64(stmt, 1), &clock))
			st = add_clock(list, &clock, err);
	}
	sqlite3_finalize(stmt);
	rpd_close(&db);
	return st;
}

enum ws_status rpd_clocks_count(const struct ws_strv *files, size_t *out_n, struct ws_err *err)
{
	struct clock_list clocks;
	enum ws_status st = WS_OK;

	ws_vec_init(&clocks, CLOCKS_MAX);
	for (size_t i = 0; !st && i < files->n; i++)
		st = add_clocks(&clocks, files->at[i], err);
	*out_n = clocks.n;
	ws_vec_fini(&clocks);
	return st;
}

/* ---- moving ---- */

/* clang-format off */
/* All columns of the schema that are times. */
static const struct {
	const char *table, *columns[4];
} times[] = {
	{ "rocpd_region",          { "start", "end" } },
	{ "rocpd_kernel_dispatch", { "start", "end" } },
	{ "rocpd_memory_copy",     { "start", "end" } },
	{ "rocpd_memory_allocate", { "start", "end" } },
	{ "rocpd_sample",          { "timestamp" } },
	{ "rocpd_info_thread",     { "start", "end" } },
	{ "rocpd_info_process",    { "init", "fini", "start", "end" } },
};
/* clang-format on */

static void put_update(struct ws_buf *to, size_t row, const char *suffix,
		       const struct trc_clock_line *line)
{
	const char *before = "SET";

	ws_buf_printf(to, "UPDATE \"%s_%s\" ", times[row].table, suffix);
	for (size_t i = 0; i < WS_ARRAY_LEN(times[row].columns) && times[row].columns[i]; i++) {
		const char *column = times[row].columns[i];

		ws_buf_printf(to,
			      "%s \"%s\" = \"%s\" + %" PRId64 " + CAST(ROUND(%.17g * (\"%s\" - "
			      "%" PRIu64 ")) AS INTEGER)",
			      before, column, column, line->shift_ns, line->drift, column,
			      line->at_ns);
		before = ",";
	}
	ws_buf_add(to, ";\n");
}

enum ws_status rpd_clock_move(const char *path, const char *guid, const struct trc_clock_line *line,
			      struct ws_err *err)
{
	sqlite3 *sql = NULL;
	struct ws_buf text;
	char suffix[64];
	enum ws_status st = WS_OK;

	snprintf(suffix, sizeof(suffix), "%s", guid);
	for (char *c = suffix; *c; c++) {
		if (*c == '-')
			*c = '_';
		else if (!strchr("0123456789abcdefABCDEF", *c))
			return ws_fail(err, WS_E_FORMAT, "'%s': '%s' is no guid", path, guid);
	}
	ws_buf_init(&text, 1 << 16);
	ws_buf_add(&text, "BEGIN;\n");
	for (size_t i = 0; i < WS_ARRAY_LEN(times); i++)
		put_update(&text, i, suffix, line);
	ws_buf_add(&text, "COMMIT;\n");
	if (sqlite3_open_v2(path, &sql, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		st = ws_fail(err, WS_E_IO, "cannot write '%s': %s", path, sqlite3_errmsg(sql));
	if (!st)
		st = ws_buf_status(&text, err);
	if (!st)
		st = rpd_exec(sql, text.at, err);
	sqlite3_close(sql);
	ws_buf_fini(&text);
	return st;
}
