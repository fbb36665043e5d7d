/*
 * rocpd: a SQLite database, schema version 3. docs/formats/rocpd.md.
 *
 * One transaction, prepared statements, no journal: the file is thrown away when
 * anything fails, so nothing needs to be undone.
 */
#include "output/rocpd_priv.h"

#include "base/file.h"
#include "rocpd/sql.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum ws_status output_rocpd_fail(struct output_rocpd_db *db)
{
	int code = sqlite3_errcode(db->db);
	enum ws_status st = code == SQLITE_FULL                                  ? WS_E_LIMIT
			    : code == SQLITE_NOMEM                               ? WS_E_NOMEM
			    : code == SQLITE_CANTOPEN || code == SQLITE_READONLY ? WS_E_ACCESS
										 : WS_E_IO;

	if (db->err && db->err->status)
		return db->err->status;
	if (code == SQLITE_FULL)
		return ws_fail(db->err, st, "cannot write '%s': No space left on device", db->path);
	return ws_fail(db->err, st, "cannot write '%s': %s", db->path, sqlite3_errmsg(db->db));
}

enum ws_status output_rocpd_step(struct output_rocpd_db *db, struct output_rocpd_row *row)
{
	int code = sqlite3_step(row->statement);

	if (code == SQLITE_DONE) {
		sqlite3_reset(row->statement);
		db->n_rows++;
		return WS_OK;
	}
	output_rocpd_fail(db);
	sqlite3_reset(row->statement);
	return db->err && db->err->status ? db->err->status : WS_E_IO;
}

/* Ids that AMD gives a meaning are kept; a damaged capture that has one twice gets another. */
static enum ws_status step_or_new_id(struct output_rocpd_db *db, struct output_rocpd_row *row)
{
	int code = sqlite3_step(row->statement);

	if (code == SQLITE_DONE) {
		sqlite3_reset(row->statement);
		db->n_rows++;
		return WS_OK;
	}
	if (code != SQLITE_CONSTRAINT)
		return output_rocpd_step(db, row);
	sqlite3_reset(row->statement);
	sqlite3_bind_null(row->statement, 1);
	return output_rocpd_step(db, row);
}

/* ---- events ---- */

static enum ws_status put_event_row(struct output_rocpd_db *db, const struct trc_event *ev,
				    uint64_t parent_id, int64_t *out_id)
{
	struct output_rocpd_row row;
	bool message = ev->domain == CAP_DOMAIN_MARKER_API && ev->marker.has_message;

	row = output_rocpd_row(db, message ? OUTPUT_ROCPD_EVENT_EXT : OUTPUT_ROCPD_EVENT);
	*out_id = (int64_t)++db->n_events;
	output_rocpd_int(&row, *out_id);
	output_rocpd_int(&row, db->kind_ids[ev->kind]);
	output_rocpd_int(&row, (int64_t)ev->corr_id);
	output_rocpd_int(&row, (int64_t)parent_id);
	output_rocpd_int(&row, (int64_t)ev->external_id);
	if (message) {
		struct output_jsonw w = { &db->json, false };

		db->json.n = 0;
		output_json_open(&w, NULL, '{');
		output_json_str(&w, "message", ev->name);
		output_json_close(&w, '}');
		output_rocpd_text_n(&row, db->json.buf, db->json.n);
	}
	return output_rocpd_step(db, &row);
}

struct arg_row {
	const char *type, *name;
	char value[CAP_ARG_STR_MAX + 64], extdata[48];
	size_t n_value, n_extdata;
};

static enum ws_status insert_args(struct output_rocpd_db *db, const struct arg_row *rows, int n,
				  int64_t event_id, int position)
{
	struct output_rocpd_row row = { db->args[n - 1], 0 };

	for (int i = 0; i < n; i++) {
		output_rocpd_int(&row, event_id);
		output_rocpd_int(&row, position + i);
		output_rocpd_text(&row, rows[i].type);
		output_rocpd_text(&row, rows[i].name);
		output_rocpd_text_n(&row, rows[i].value, rows[i].n_value);
		output_rocpd_text_n(&row, rows[i].extdata, rows[i].n_extdata);
	}
	db->n_rows += (uint64_t)n - 1;
	return output_rocpd_step(db, &row);
}

static enum ws_status put_args(struct output_rocpd_db *db, const struct trc_event *ev,
			       int64_t event_id)
{
	struct arg_row rows[OUTPUT_ROCPD_ARGS];
	struct trc_arg_walk walk = { 0 };
	enum ws_status st = WS_OK;
	int n = 0, position = 0;
	struct trc_arg arg;

	while (!st && trc_event_arg(ev, &walk, &arg)) {
		struct arg_row *row = &rows[n++];
		int n_value = trc_arg_print(ev->process, &arg, row->value, sizeof(row->value));

		row->type = arg.type;
		row->name = arg.name;
		row->n_value = n_value < 0 ? 0 : WS_MIN((size_t)n_value, sizeof(row->value) - 1);
		strcpy(row->extdata, "{}"); /* the table's default */
		row->n_extdata = 2;
		if (arg.kind == CAP_ARG_STREAM) {
			uint32_t id = db->run->cfg->group_by_queue ? 0 : arg.stream;
			int64_t row_id = output_rocpd_stream(db, id);

			if (row_id < 0)
				return output_rocpd_fail(db);
			row->n_extdata =
				(size_t)snprintf(row->extdata, sizeof(row->extdata),
						 "{\"stream_id\":%lld}", (long long)row_id);
		}
		if (n == OUTPUT_ROCPD_ARGS) {
			st = insert_args(db, rows, n, event_id, position);
			position += n;
			n = 0;
		}
	}
	return !st && n ? insert_args(db, rows, n, event_id, position) : st;
}

static void bind_thread(const struct output_rocpd_db *db, struct output_rocpd_row *row, int64_t tid)
{
	output_rocpd_int(row, db->nid);
	output_rocpd_int(row, db->pid);
	output_rocpd_int(row, tid);
}

static void bind_span(const struct output_rocpd_db *db, struct output_rocpd_row *row, int64_t tid,
		      const struct trc_event *ev, int64_t name_id)
{
	bind_thread(db, row, tid);
	output_rocpd_int(row, (int64_t)ev->start_ns);
	output_rocpd_int(row, (int64_t)ev->end_ns);
	output_rocpd_int(row, name_id);
}

static enum ws_status put_sample(struct output_rocpd_db *db, const struct trc_event *ev,
				 int64_t tid, int64_t event_id)
{
	uint64_t key = (uint64_t)ev->thread->index << 8 | (uint64_t)ev->kind;
	int64_t track = (int64_t)(intptr_t)ws_map_get_u64(&db->tracks, key);
	struct output_rocpd_row row;
	enum ws_status st;

	if (!track) {
		track = (int64_t)++db->n_tracks;
		row = output_rocpd_row(db, OUTPUT_ROCPD_TRACK);
		output_rocpd_int(&row, track);
		bind_thread(db, &row, tid);
		output_rocpd_int(&row, db->kind_ids[ev->kind]);
		st = output_rocpd_step(db, &row);
		if (!st)
			st = ws_map_put_u64(&db->tracks, key, (void *)(intptr_t)track, db->err);
		if (st)
			return st;
	}
	row = output_rocpd_row(db, OUTPUT_ROCPD_SAMPLE);
	output_rocpd_int(&row, db->base + (int64_t)ev->corr_id);
	output_rocpd_int(&row, track);
	output_rocpd_int(&row, (int64_t)ev->start_ns);
	output_rocpd_int(&row, event_id);
	return step_or_new_id(db, &row);
}

static enum ws_status put_region(struct output_rocpd_db *db, const struct trc_event *ev)
{
	/* a marker's region is named after the function: its message is with the event */
	const char *name = ev->domain == CAP_DOMAIN_MARKER_API ? ev->marker.op_name : ev->name;
	int64_t tid = output_rocpd_thread(db, ev->thread);
	int64_t name_id = output_rocpd_string(db, name, true), event_id;
	struct output_rocpd_row row;
	enum ws_status st;

	if (tid < 0 || name_id < 0)
		return output_rocpd_fail(db);
	/* messages are in the table of strings, too, as far as it may grow */
	if (ev->domain == CAP_DOMAIN_MARKER_API && db->strings.n < OUTPUT_NAMES_MAX &&
	    output_rocpd_string(db, ev->name, false) < 0)
		return output_rocpd_fail(db);
	st = put_event_row(db, ev, ev->ancestor_id, &event_id);
	if (!st && (ev->domain == CAP_DOMAIN_HIP_API || ev->domain == CAP_DOMAIN_ROCDECODE_API))
		st = put_args(db, ev, event_id);
	if (st)
		return st;
	if (ev->start_ns == ev->end_ns)
		return put_sample(db, ev, tid, event_id);
	row = output_rocpd_row(db, OUTPUT_ROCPD_REGION);
	output_rocpd_int(&row, db->base + (int64_t)ev->corr_id);
	bind_span(db, &row, tid, ev, name_id);
	output_rocpd_int(&row, event_id);
	return step_or_new_id(db, &row);
}

static enum ws_status put_values(struct output_rocpd_db *db, const struct trc_event *ev,
				 int64_t event_id)
{
	enum ws_status st = WS_OK;

	for (uint32_t i = 0; !st && i < ev->dispatch.info->n_values; i++) {
		const struct cap_counter_value *value = &ev->dispatch.values[i];
		struct output_rocpd_row row = output_rocpd_row(db, OUTPUT_ROCPD_PMC_EVENT);

		if (value->counter >= ev->process->counters.n ||
		    !ev->process->counters.at[value->counter].info)
			continue; /* no such counter: there is no row to refer to */
		output_rocpd_int(&row, event_id);
		output_rocpd_int(&row, db->base + value->counter);
		sqlite3_bind_double(row.statement, ++row.at, value->value);
		st = output_rocpd_step(db, &row);
	}
	return st;
}

static enum ws_status put_dispatch(struct output_rocpd_db *db, const struct trc_event *ev)
{
	const struct cap_rec_dispatch *info = ev->dispatch.info;
	bool renamed = db->run->cfg->kernel_rename && ev->dispatch.renamed;
	int64_t ids[] = {
		output_rocpd_thread(db, ev->thread),
		output_rocpd_agent(db, ev->dispatch.agent),
		output_rocpd_kernel(db, ev->dispatch.kernel),
		(int64_t)info->dispatch_id,
		output_rocpd_queue(db, ev->dispatch.queue->id),
		output_rocpd_stream(db, output_run_stream(db->run, ev)),
	};
	int64_t region =
		renamed ? output_rocpd_string(db, ev->dispatch.renamed, true) : db->empty_id;
	struct output_rocpd_row row;
	int64_t event_id;
	enum ws_status st;

	for (size_t i = 0; i < WS_ARRAY_LEN(ids); i++)
		if (ids[i] < 0 || region < 0)
			return output_rocpd_fail(db);
	st = put_event_row(db, ev, ev->corr_id, &event_id);
	if (st)
		return st;
	row = output_rocpd_row(db, OUTPUT_ROCPD_DISPATCH);
	output_rocpd_int(&row, db->base + (int64_t)info->dispatch_id);
	output_rocpd_int(&row, db->nid);
	output_rocpd_int(&row, db->pid);
	for (size_t i = 0; i < WS_ARRAY_LEN(ids); i++)
		output_rocpd_int(&row, ids[i]);
	output_rocpd_int(&row, (int64_t)ev->start_ns);
	output_rocpd_int(&row, (int64_t)ev->end_ns);
	output_rocpd_int(&row, info->private_bytes);
	output_rocpd_int(&row, info->group_bytes);
	for (int i = 0; i < 3; i++)
		output_rocpd_int(&row, info->workgroup[i]);
	for (int i = 0; i < 3; i++)
		output_rocpd_int(&row, info->grid[i]);
	output_rocpd_int(&row, region);
	output_rocpd_int(&row, event_id);
	st = step_or_new_id(db, &row);
	return st ? st : put_values(db, ev, event_id);
}

static void bind_agent(struct output_rocpd_db *db, struct output_rocpd_row *row,
		       const struct trc_agent *agent)
{
	if (agent)
		output_rocpd_int(row, output_rocpd_agent(db, agent));
	else
		output_rocpd_null(row);
}

static enum ws_status put_copy(struct output_rocpd_db *db, const struct trc_event *ev)
{
	const struct cap_rec_copy *info = ev->copy.info;
	int64_t tid = output_rocpd_thread(db, ev->thread);
	int64_t name_id = output_rocpd_string(db, ev->name, true);
	int64_t stream = output_rocpd_stream(db, output_run_stream(db->run, ev));
	/* the view shows copies whose agents are both known: an unknown one is a row, too */
	int64_t dst = output_rocpd_agent(db, ev->copy.dst),
		src = output_rocpd_agent(db, ev->copy.src);
	struct output_rocpd_row row;
	int64_t event_id;
	enum ws_status st;

	if (tid < 0 || name_id < 0 || stream < 0 || dst < 0 || src < 0)
		return output_rocpd_fail(db);
	st = put_event_row(db, ev, ev->corr_id, &event_id);
	if (st)
		return st;
	row = output_rocpd_row(db, OUTPUT_ROCPD_COPY);
	bind_span(db, &row, tid, ev, name_id);
	output_rocpd_int(&row, dst);
	output_rocpd_int(&row, (int64_t)info->dst_address);
	output_rocpd_int(&row, src);
	output_rocpd_int(&row, (int64_t)info->src_address);
	output_rocpd_int(&row, (int64_t)info->n_bytes);
	output_rocpd_int(&row, stream);
	output_rocpd_int(&row, event_id);
	return output_rocpd_step(db, &row);
}

/* Allocations and scratch share a table. */
static enum ws_status put_memory(struct output_rocpd_db *db, const struct trc_event *ev,
				 const char *type, const char *level, const struct trc_agent *agent,
				 uint64_t address, uint64_t n_bytes, uint32_t queue_id,
				 uint32_t stream_id, const char *ext)
{
	int64_t tid = output_rocpd_thread(db, ev->thread), queue = output_rocpd_queue(db, queue_id);
	int64_t stream = output_rocpd_stream(db, stream_id), event_id;
	struct output_rocpd_row row;
	enum ws_status st;

	if (tid < 0 || queue < 0 || stream < 0)
		return output_rocpd_fail(db);
	st = put_event_row(db, ev, ev->ancestor_id, &event_id);
	if (st)
		return st;
	row = output_rocpd_row(db, ext ? OUTPUT_ROCPD_SCRATCH : OUTPUT_ROCPD_ALLOCATE);
	bind_thread(db, &row, tid);
	bind_agent(db, &row, agent);
	output_rocpd_text(&row, type);
	output_rocpd_text(&row, level);
	output_rocpd_int(&row, (int64_t)ev->start_ns);
	output_rocpd_int(&row, (int64_t)ev->end_ns);
	output_rocpd_int(&row, (int64_t)address);
	output_rocpd_int(&row, (int64_t)n_bytes);
	output_rocpd_int(&row, queue);
	output_rocpd_int(&row, stream);
	output_rocpd_int(&row, event_id);
	if (ext)
		output_rocpd_text(&row, ext);
	return output_rocpd_step(db, &row);
}

static enum ws_status put_alloc(struct output_rocpd_db *db, const struct trc_event *ev)
{
	const struct cap_rec_alloc *info = ev->alloc.info;
	uint32_t op = info->h.what;
	bool is_free = op == CAP_ALLOC_FREE || op == CAP_ALLOC_VMEM_FREE;
	bool is_virtual = op == CAP_ALLOC_VMEM_ALLOCATE || op == CAP_ALLOC_VMEM_FREE;

	return put_memory(db, ev, is_free ? "FREE" : "ALLOC", is_virtual ? "VIRTUAL" : "REAL",
			  is_free ? NULL : ev->alloc.agent, info->address, info->n_bytes, 0,
			  output_run_stream(db->run, ev), NULL);
}

static enum ws_status put_scratch(struct output_rocpd_db *db, const struct trc_event *ev)
{
	static const char *const types[] = {
		[CAP_SCRATCH_ALLOC] = "ALLOC",
		[CAP_SCRATCH_FREE] = "FREE",
		[CAP_SCRATCH_ASYNC_RECLAIM] = "RECLAIM",
	};
	const struct cap_rec_scratch *info = ev->scratch.info;
	const char *type = info->h.what < WS_ARRAY_LEN(types) ? types[info->h.what] : NULL;
	char ext[40];

	snprintf(ext, sizeof(ext), "{\"flags\":\"%u\"}", info->flags);
	return put_memory(db, ev, type, "SCRATCH", ev->scratch.agent, 0, info->n_bytes,
			  ev->scratch.queue->id, 0, ext);
}

static enum ws_status put_event(void *ctx, const struct trc_event *ev)
{
	struct output_rocpd_db *db = ctx;
	uint64_t *n_written = db->run->result->n_written[OUTPUT_ROCPD];
	enum ws_status st = WS_OK;

	if (output_event_is_dispatch(ev)) {
		st = put_dispatch(db, ev);
		n_written[CAP_DOMAIN_KERNEL_DISPATCH] += output_event_traced(ev);
		n_written[CAP_DOMAIN_COUNTER_COLLECTION] += ev->dispatch.info->n_values != 0;
		return st;
	}
	switch (output_domain_infos[ev->domain].shape) {
	case OUTPUT_SHAPE_CALL:
	case OUTPUT_SHAPE_MARKER:
		st = put_region(db, ev);
		break;
	case OUTPUT_SHAPE_COPY:
		st = put_copy(db, ev);
		break;
	case OUTPUT_SHAPE_ALLOC:
		st = put_alloc(db, ev);
		break;
	case OUTPUT_SHAPE_SCRATCH:
		st = put_scratch(db, ev);
		break;
	default:
		return WS_OK; /* the schema has no place for PC samples */
	}
	n_written[ev->domain]++;
	return st;
}

/* ---- the file ---- */

static enum ws_status run_sql(struct output_rocpd_db *db, const char *sql)
{
	if (sqlite3_exec(db->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return output_rocpd_fail(db);
	return WS_OK;
}

/* A text of rpd_sql() with its placeholders filled in. */
static enum ws_status run_named(struct output_rocpd_db *db, const char *name)
{
	const char *at = rpd_sql(name), *hit;
	struct ws_buf sql;
	enum ws_status st;

	ws_buf_init(&sql, 1u << 20);
	while ((hit = strstr(at, "{{"))) {
		ws_buf_add_n(&sql, at, (size_t)(hit - at));
		ws_buf_add(&sql, hit[2] == 'u' ? db->suffix : db->run->guid);
		at = strstr(hit, "}}") + 2;
	}
	ws_buf_add(&sql, at);
	st = ws_buf_status(&sql, db->err);
	if (!st)
		st = run_sql(db, sql.at);
	ws_buf_fini(&sql);
	return st;
}

/* INSERT INTO table (columns) VALUES (?,?),(?,?)... */
static enum ws_status prepare_rows(struct output_rocpd_db *db, const char *table,
				   const char *columns, int n_rows, sqlite3_stmt **out_statement)
{
	char sql[1024];
	size_t n = (size_t)snprintf(sql, sizeof(sql), "INSERT INTO \"%s%s\" (%s) VALUES ", table,
				    db->suffix, columns);

	for (int i = 0; i < n_rows; i++) {
		n += (size_t)snprintf(sql + n, sizeof(sql) - n, i ? ",(?" : "(?");
		for (const char *at = columns; *at; at++)
			if (*at == ',')
				n += (size_t)snprintf(sql + n, sizeof(sql) - n, ",?");
		n += (size_t)snprintf(sql + n, sizeof(sql) - n, ")");
	}
	return sqlite3_prepare_v3(db->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out_statement,
				  NULL) == SQLITE_OK
		       ? WS_OK
		       : output_rocpd_fail(db);
}

static enum ws_status prepare(struct output_rocpd_db *db)
{
	static const struct {
		const char *table, *columns;
	} rows[] = {
#define OUTPUT_ROCPD_ROW(name, table, columns) { table, columns },
		OUTPUT_ROCPD_STATEMENTS(OUTPUT_ROCPD_ROW)
#undef OUTPUT_ROCPD_ROW
	};
	enum ws_status st = WS_OK;

	for (int i = 0; i < OUTPUT_ROCPD_STATEMENT_COUNT && !st; i++)
		st = prepare_rows(db, rows[i].table, rows[i].columns, 1, &db->statements[i]);
	for (int i = 0; i < OUTPUT_ROCPD_ARGS && !st; i++)
		st = prepare_rows(db, "rocpd_arg", "event_id, position, type, name, value, extdata",
				  i + 1, &db->args[i]);
	return st;
}

static enum ws_status open_database(struct output_rocpd_db *db, const char *partial)
{
	/*
	 * Nobody else reads the file yet and a failed one is removed, so neither journal
	 * nor syncing nor locks are needed; foreign keys are checked by the tests instead
	 * of at every insert.
	 */
	static const char pragmas[] = "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF;"
				      "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
				      "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536;"
				      "PRAGMA foreign_keys = OFF; BEGIN;";
	static const char *const parts[] = { "tables", "views", "data_views", "summary_views" };
	enum ws_status st = output_make_parents(db->path, db->err);
	int fd;

	/* SQLite opens what is there; so it is ours before. */
	if (!st)
		st = ws_file_create(partial, &fd, db->err);
	if (st)
		return st;
	close(fd);
	if (sqlite3_open_v2(partial, &db->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return output_rocpd_fail(db);
	st = run_sql(db, pragmas);
	for (size_t i = 0; i < WS_ARRAY_LEN(parts) && !st; i++)
		st = run_named(db, parts[i]);
	if (!st)
		st = prepare(db);
	return st;
}

static enum ws_status fill(struct output_rocpd_db *db)
{
	struct output_run *run = db->run;
	enum ws_status st = output_rocpd_strings(db);

	for (size_t i = 0; !st && i < run->n_processes; i++) {
		st = output_rocpd_begin_process(db, run->processes[i], i);
		if (!st)
			st = output_run_each(run, run->processes[i], 0, TRC_ORDER_RECORDED,
					     put_event, db, db->err);
		output_rocpd_end_process(db);
	}
	return st ? st : run_sql(db, "COMMIT");
}

static void release(struct output_rocpd_db *db)
{
	for (int i = 0; i < OUTPUT_ROCPD_STATEMENT_COUNT; i++)
		sqlite3_finalize(db->statements[i]);
	for (int i = 0; i < OUTPUT_ROCPD_ARGS; i++)
		sqlite3_finalize(db->args[i]);
	sqlite3_close(db->db);
	db->db = NULL;
	output_sink_abandon(&db->json);
	ws_map_fini(&db->strings);
	ws_map_fini(&db->threads);
	ws_map_fini(&db->nodes);
	ws_arena_fini(&db->arena);
}

static enum ws_status write_rocpd(struct output_run *run, struct ws_err *err)
{
	struct output_rocpd_db *db = calloc(1, sizeof(*db));
	char partial[PATH_MAX + 16];
	struct stat file = { 0 };
	enum ws_status st;

	if (!db)
		return ws_fail(err, WS_E_NOMEM, "no memory to write a database");
	db->run = run;
	db->err = err;
	ws_map_init(&db->strings, WS_MAP_STR, 1u << 28);
	ws_map_init(&db->threads, WS_MAP_U64, 1u << 28);
	ws_map_init(&db->nodes, WS_MAP_U64, 1u << 20);
	ws_arena_init(&db->arena, (size_t)2 << 30);
	snprintf(db->suffix, sizeof(db->suffix), "_%s", run->guid);
	for (char *at = db->suffix; *at; at++)
		*at = *at == '-' ? '_' : *at;
	st = output_run_path(run, "results.db", db->path, err);
	if (!st)
		st = output_sink_open_memory(&db->json, err);
	snprintf(partial, sizeof(partial), "%s.partial", db->path);
	if (!st)
		st = open_database(db, partial);
	if (!st && run->cfg->opened)
		run->cfg->opened(run->cfg->opened_ctx, db->path, run->guid);
	if (!st)
		st = fill(db);
	release(db);
	if (!st && stat(partial, &file))
		st = ws_fail_errno(err, errno, "cannot write '%s'", db->path);
	if (!st && rename(partial, db->path))
		st = ws_fail_errno(err, errno, "cannot write '%s'", db->path);
	if (st) {
		unlink(partial);
		memset(run->result->n_written[OUTPUT_ROCPD], 0,
		       sizeof(run->result->n_written[OUTPUT_ROCPD]));
	}
	output_run_file(run, OUTPUT_ROCPD, db->path, db->n_rows, (uint64_t)file.st_size,
			st ? err : NULL);
	free(db);
	return st;
}

const struct output_ops output_rocpd = {
	.word = "rocpd",
	.what = "rocpd database",
	.write = write_rocpd,
};
