#include "cmd/madengine/madengine.h"

#include "base/doc_edit.h"
#include "base/file.h"
#include "workload/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct database_args {
	const char *file;
	const char *database;
	const char *collection;
	const char *unique_key;
	uint64_t batch_size;
	bool no_upsert;
	bool no_index;
	bool dry_run;
	bool verbose;
};

static const struct ws_opt opts[] = {
	WS_OPT_STR(struct database_args, file, 'f', "file", "FILE",
		   "CSV or JSON file with results"),
	WS_OPT_STR(struct database_args, database, 0, "database", "NAME", "name of the database"),
	WS_OPT_STR(struct database_args, database, 0, "db", "NAME", NULL),
	WS_OPT_STR(struct database_args, collection, 'c', "collection", "NAME",
		   "name of the collection"),
	WS_OPT_STR(struct database_args, unique_key, 'k', "unique-key", "KEYS",
		   "columns that identify a result, separated by commas"),
	WS_OPT_U64(struct database_args, batch_size, 0, "batch-size", "N",
		   "results per request; default: 1000"),
	WS_OPT_BOOL(struct database_args, no_upsert, 0, "no-upsert", "insert only"),
	WS_OPT_BOOL(struct database_args, no_index, 0, "no-index", "create no index"),
	WS_OPT_BOOL(struct database_args, dry_run, 0, "dry-run", "print what would be sent"),
	WS_OPT_BOOL(struct database_args, verbose, 'v', "verbose", NULL),
};

static void set_defaults(void *values)
{
	struct database_args *args = values;

	args->batch_size = 1000;
}

/* The rows of a CSV file as objects. */
static enum ws_status read_csv(const char *path, struct ws_arena *arena, struct ws_doc **out_rows,
			       struct ws_err *err)
{
	struct ws_doc *rows = ws_doc_list(arena);
	const char **names = NULL, **cells, *at;
	size_t n_names = 0, n;
	struct ws_buf text;
	bool ok = rows != NULL;
	enum ws_status st;

	ws_buf_init(&text, WS_DOC_BYTES_MAX);
	st = ws_file_read(path, &text, err);
	at = text.at;
	if (!st && !wl_csv_record(&at, text.at + text.n, arena, &names, &n_names))
		st = ws_fail(err, WS_E_FORMAT, "%s is empty", path);
	while (!st && ok && wl_csv_record(&at, text.at + text.n, arena, &cells, &n)) {
		struct ws_doc *row = ws_doc_map(arena);

		for (size_t i = 0; i < n && i < n_names && ok; i++)
			ok = ws_doc_put_text(row, names[i], cells[i], arena);
		ok = ok && ws_doc_add(rows, row, arena);
	}
	if (!st && !ok)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	*out_rows = rows;
	ws_buf_fini(&text);
	return st;
}

static enum ws_status print_rows(const struct database_args *args, const struct ws_doc *rows,
				 struct ws_err *err)
{
	const char *host = getenv("MONGO_HOST"), *port = getenv("MONGO_PORT");
	size_t n = rows->kind == WS_DOC_LIST ? rows->n : 1;
	struct ws_buf text;
	enum ws_status st;

	printf("%zu result%s for collection '%s' of database '%s' at %s:%s, %s by %s:\n", n,
	       n == 1 ? "" : "s", args->collection ? args->collection : "",
	       args->database ? args->database : "", host ? host : "localhost",
	       port ? port : "27017", args->no_upsert ? "inserted" : "replaced",
	       args->unique_key ? args->unique_key : "no key");
	ws_buf_init(&text, 4 * WS_DOC_BYTES_MAX);
	ws_doc_to_json(rows, 4, &text);
	st = ws_buf_status(&text, err);
	if (!st)
		printf("%s\n", text.at);
	ws_buf_fini(&text);
	return st;
}

static enum ws_status database(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct database_args *args = call->values;
	struct ws_doc *rows = NULL;
	struct ws_arena arena;
	enum ws_status st;

	if (!args->file)
		return ws_fail(err, WS_E_USAGE,
			       "--file is missing: a CSV or JSON file with results");
	if (!args->dry_run)
		return ws_fail(
			err, WS_E_UNSUPPORTED,
			"uploading to MongoDB is not supported: --dry-run prints what would be "
			"sent, for mongoimport");
	ws_arena_init(&arena, MAD_ARENA_BYTES);
	if (ws_str_ends(ws_str_from(args->file), ".csv"))
		st = read_csv(args->file, &arena, &rows, err);
	else
		st = ws_doc_read(args->file, &arena, &rows, err);
	if (!st)
		st = print_rows(args, rows, err);
	ws_arena_fini(&arena);
	return st;
}

const struct ws_cmd mad_database_cmd = {
	.name = "database",
	.summary = "print results as they would be sent to MongoDB",
	.usage = "--file FILE --dry-run [options]",
	.about =
		"Uploading is not supported in this version. --dry-run prints the results as JSON.",
	.opts = { opts, WS_ARRAY_LEN(opts) },
	.values_bytes = sizeof(struct database_args),
	.set_defaults = set_defaults,
	.only_prints = true,
	.run = database,
};
