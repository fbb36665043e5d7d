#include "cmd/madengine/madengine.h"

#include "base/file.h"
#include "base/path.h"
#include "report/svg.h"
#include "workload/csv.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES_MAX (256u << 20)

static const char page_head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<title>madengine</title>\n<style>\n"
	"body{font:14px system-ui,sans-serif;margin:2em}\n"
	"table{border-collapse:collapse;margin-bottom:2em}\n"
	"th,td{border:1px solid #bbb;padding:.3em .6em;text-align:left;white-space:nowrap}\n"
	"th{background:#eee}\n.FAILURE{background:#fdd}.SUCCESS{background:#dfd}\n"
	"</style></head><body>\n";

/* ---- one table ---- */

static void put_row(struct ws_buf *to, const char *element, const char *const *cells, size_t n)
{
	ws_buf_add(to, "<tr>");
	for (size_t i = 0; i < n; i++) {
		bool status = strcmp(cells[i], "FAILURE") == 0 || strcmp(cells[i], "SUCCESS") == 0;

		ws_buf_printf(to, "<%s", element);
		if (status)
			ws_buf_printf(to, " class=\"%s\"", cells[i]);
		ws_buf_add(to, ">");
		rpt_svg_escape(to, cells[i]);
		ws_buf_printf(to, "</%s>", element);
	}
	ws_buf_add(to, "</tr>\n");
}

static enum ws_status put_table(struct ws_buf *to, const char *path, struct ws_err *err)
{
	struct ws_arena arena;
	struct ws_buf text;
	const char *at, **cells;
	bool head = true;
	enum ws_status st;
	size_t n;

	ws_arena_init(&arena, PAGE_BYTES_MAX);
	ws_buf_init(&text, PAGE_BYTES_MAX);
	st = ws_file_read(path, &text, err);
	at = text.at;
	ws_buf_add(to, "<h2>");
	rpt_svg_escape(to, path);
	ws_buf_add(to, "</h2>\n<table>\n");
	while (!st && wl_csv_record(&at, text.at + text.n, &arena, &cells, &n)) {
		put_row(to, head ? "th" : "td", cells, n);
		head = false;
		ws_arena_reset(&arena);
	}
	ws_buf_add(to, "</table>\n");
	if (!st && head)
		st = ws_fail(err, WS_E_FORMAT, "%s is empty", path);
	ws_buf_fini(&text);
	ws_arena_fini(&arena);
	return st;
}

static enum ws_status write_page(const char *path, struct ws_buf *page, struct ws_err *err)
{
	enum ws_status st;

	ws_buf_add(page, "</body></html>\n");
	st = ws_buf_status(page, err);
	if (!st)
		st = ws_file_replace(path, page->at, page->n, err);
	if (!st)
		printf("madengine: wrote %s\n", path);
	return st;
}

/* ---- to-html ---- */

struct html_args {
	const char *csv_file_path;
	bool verbose;
};

static const struct ws_opt html_opts[] = {
	WS_OPT_STR(struct html_args, csv_file_path, 0, "csv-file-path", "FILE",
		   "the CSV file; the page is written beside it, with the ending .html"),
	WS_OPT_STR(struct html_args, csv_file_path, 0, "csv-file", "FILE", NULL),
	WS_OPT_BOOL(struct html_args, verbose, 'v', "verbose", NULL),
};

static enum ws_status to_html(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct html_args *args = call->values;
	const char *path = args->csv_file_path;
	char target[PATH_MAX];
	struct ws_buf page;
	enum ws_status st;
	size_t n;

	if (!path)
		return ws_fail(err, WS_E_USAGE, "--csv-file-path is missing");
	n = strlen(path);
	if (ws_str_ends(ws_str_from(path), ".csv"))
		n -= 4;
	if (n + sizeof(".html") > sizeof(target))
		return ws_fail(err, WS_E_LIMIT, "%s: the path is too long", path);
	snprintf(target, sizeof(target), "%.*s.html", (int)n, path);
	ws_buf_init(&page, PAGE_BYTES_MAX);
	ws_buf_add(&page, page_head);
	st = put_table(&page, path, err);
	if (!st)
		st = write_page(target, &page, err);
	ws_buf_fini(&page);
	return st;
}

static const struct ws_cmd to_html_cmd = {
	.name = "to-html",
	.summary = "write a CSV file as an HTML page",
	.usage = "--csv-file-path FILE",
	.about = "Writes FILE.html with the rows of FILE.csv as a table.",
	.opts = { html_opts, WS_ARRAY_LEN(html_opts) },
	.values_bytes = sizeof(struct html_args),
	.run = to_html,
};

/* ---- to-email ---- */

struct email_args {
	const char *directory;
	const char *output;
	bool verbose;
};

static const struct ws_opt email_opts[] = {
	WS_OPT_STR(struct email_args, directory, 0, "directory", "DIR",
		   "folder with CSV files; default: ."),
	WS_OPT_STR(struct email_args, directory, 0, "dir", "DIR", NULL),
	WS_OPT_STR(struct email_args, output, 'o', "output", "FILE",
		   "the page; default: run_results.html"),
	WS_OPT_BOOL(struct email_args, verbose, 'v', "verbose", NULL),
};

static void email_defaults(void *values)
{
	struct email_args *args = values;

	args->directory = ".";
	args->output = "run_results.html";
}

static int is_csv(const struct dirent *entry)
{
	return ws_str_ends(ws_str_from(entry->d_name), ".csv");
}

static enum ws_status to_email(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct email_args *args = call->values;
	struct dirent **names = NULL;
	char path[PATH_MAX];
	struct ws_buf page;
	enum ws_status st = WS_OK;
	int n = scandir(args->directory, &names, is_csv, alphasort);

	if (n < 0)
		return ws_fail_errno(err, errno, "%s", args->directory);
	ws_buf_init(&page, PAGE_BYTES_MAX);
	ws_buf_add(&page, page_head);
	for (int i = 0; i < n; i++) {
		if (!st)
			st = ws_path_join(args->directory, names[i]->d_name, path, err);
		if (!st)
			st = put_table(&page, path, err);
		free(names[i]);
	}
	free(names);
	if (!st && !n)
		st = ws_fail(err, WS_E_NOTFOUND, "%s has no CSV files", args->directory);
	if (!st)
		st = write_page(args->output, &page, err);
	ws_buf_fini(&page);
	return st;
}

static const struct ws_cmd to_email_cmd = {
	.name = "to-email",
	.summary = "write all CSV files of a folder as one HTML page",
	.usage = "[--directory DIR] [--output FILE]",
	.about = "Writes one page that a mail can carry: all styles are in it, and nothing is "
		 "loaded.",
	.opts = { email_opts, WS_ARRAY_LEN(email_opts) },
	.values_bytes = sizeof(struct email_args),
	.set_defaults = email_defaults,
	.run = to_email,
};

static const struct ws_cmd *const subs[] = { &to_html_cmd, &to_email_cmd, NULL };

const struct ws_cmd mad_report_cmd = {
	.name = "report",
	.summary = "write results as HTML",
	.usage = "COMMAND [options]",
	.subs = subs,
};
