/* instrument_lists: the functions that can be, are and are not instrumented, for the user. */
#include "cmd/sys/instrument.h"

#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/utf8.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define LIST_BYTES_MAX (1ull << 30)

static bool is_available(const struct sys_choice_row *row)
{
	(void)row;
	return true;
}

static bool is_instrumented(const struct sys_choice_row *row)
{
	return row->instrumented;
}

static bool is_excluded(const struct sys_choice_row *row)
{
	return !row->instrumented;
}

static bool is_overlapping(const struct sys_choice_row *row)
{
	return row->function->overlaps;
}

static const struct {
	const char *name;
	bool (*has)(const struct sys_choice_row *row);
	size_t printed; /* the option */
} list_kinds[] = {
#define PRINTED(field) offsetof(struct sys_instrument_args, field)
	{ "available", is_available, PRINTED(print_available) },
	{ "instrumented", is_instrumented, PRINTED(print_instrumented) },
	{ "excluded", is_excluded, PRINTED(print_excluded) },
	{ "overlapping", is_overlapping, PRINTED(print_overlapping) },
#undef PRINTED
};

static const char *linkage_name(const struct code_host_function *f)
{
	switch (f->binding) {
	case STB_LOCAL:
		return "local";
	case STB_GLOBAL:
	case STB_WEAK:
		return "global";
	case STB_GNU_UNIQUE:
		return "unique";
	default:
		return "unknown";
	}
}

static const char *visibility_name(const struct code_host_function *f)
{
	static const char *const names[] = { "default", "internal", "hidden", "protected" };

	return names[f->visibility & 3];
}

/* ---- formats ---- */

static void add_text_head(struct ws_buf *to, const char *list)
{
	(void)list;
	ws_buf_printf(to, "%16s %13s %14s %8s %10s  %-32s  %-48s  %s\n", "StartAddress",
		      "AddressRange", "#Instructions", "Linkage", "Visibility", "Module",
		      "Function", "Reason");
}

static void add_text_row(struct ws_buf *to, const struct sys_choice_row *row, bool first)
{
	const struct code_host_function *f = row->function;

	(void)first;
	ws_buf_printf(to, "%#16llx %13llu %14u %8s %10s  %-32s  ", (unsigned long long)f->offset,
		      (unsigned long long)f->size, row->n_instructions, linkage_name(f),
		      visibility_name(f), row->module);
	ws_buf_printf(to, "%-48s  %s\n", f->shown, row->reason ? row->reason : "");
}

static void add_text_end(struct ws_buf *to)
{
	(void)to;
}

static void add_json_head(struct ws_buf *to, const char *list)
{
	ws_buf_printf(to, "{\n  \"rocprofsys\": {\n    \"%s\": [", list);
}

static void add_json_member(struct ws_buf *to, const char *key, const char *text)
{
	ws_buf_printf(to, ", \"%s\": \"", key);
	ws_buf_add_json(to, text, strlen(text));
	ws_buf_add(to, "\"");
}

static void add_json_row(struct ws_buf *to, const struct sys_choice_row *row, bool first)
{
	const struct code_host_function *f = row->function;

	ws_buf_printf(to,
		      "%s\n      {\"start_address\": %llu, \"address_range\": %llu, "
		      "\"num_instructions\": %u",
		      first ? "" : ",", (unsigned long long)f->offset, (unsigned long long)f->size,
		      row->n_instructions);
	add_json_member(to, "linkage", linkage_name(f));
	add_json_member(to, "visibility", visibility_name(f));
	add_json_member(to, "module", row->module);
	add_json_member(to, "function", f->name);
	add_json_member(to, "signature", f->shown);
	if (row->reason)
		add_json_member(to, "reason", row->reason);
	ws_buf_add(to, "}");
}

static void add_json_end(struct ws_buf *to)
{
	ws_buf_add(to, "\n    ]\n  }\n}\n");
}

static void add_xml_text(struct ws_buf *to, const char *key, const char *text)
{
	ws_buf_printf(to, "<%s>", key);
	for (; *text; text++) {
		size_t n = ws_utf8_length(text, strlen(text));

		if (*text == '<')
			ws_buf_add(to, "&lt;");
		else if (*text == '&')
			ws_buf_add(to, "&amp;");
		else if (n == 1 && (unsigned char)*text >= ' ')
			ws_buf_add_n(to, text, 1);
		else
			ws_buf_add_utf8(to, text, n ? n : 1);
		text += n > 1 ? n - 1 : 0;
	}
	ws_buf_printf(to, "</%s>", key);
}

static void add_xml_head(struct ws_buf *to, const char *list)
{
	ws_buf_printf(to, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rocprofsys list=\"%s\">\n",
		      list);
}

static void add_xml_row(struct ws_buf *to, const struct sys_choice_row *row, bool first)
{
	const struct code_host_function *f = row->function;

	(void)first;
	ws_buf_printf(to,
		      "<value><start_address>%llu</start_address><address_range>%llu"
		      "</address_range><num_instructions>%u</num_instructions>",
		      (unsigned long long)f->offset, (unsigned long long)f->size,
		      row->n_instructions);
	add_xml_text(to, "linkage", linkage_name(f));
	add_xml_text(to, "visibility", visibility_name(f));
	add_xml_text(to, "module", row->module);
	add_xml_text(to, "function", f->name);
	add_xml_text(to, "signature", f->shown);
	add_xml_text(to, "reason", row->reason ? row->reason : "");
	ws_buf_add(to, "</value>\n");
}

static void add_xml_end(struct ws_buf *to)
{
	ws_buf_add(to, "</rocprofsys>\n");
}

static const struct list_format {
	const char *name;
	bool usual; /* written if no format is requested */
	void (*head)(struct ws_buf *to, const char *list);
	void (*row)(struct ws_buf *to, const struct sys_choice_row *row, bool first);
	void (*end)(struct ws_buf *to);
} formats[] = {
	{ "txt", true, add_text_head, add_text_row, add_text_end },
	{ "json", true, add_json_head, add_json_row, add_json_end },
	{ "xml", false, add_xml_head, add_xml_row, add_xml_end },
};

static bool is_requested(const struct ws_strv *words, const struct list_format *format)
{
	for (size_t i = 0; i < words->n; i++)
		if (words->at[i] && strcmp(words->at[i], format->name) == 0)
			return true;
	return words->n == 0 && format->usual;
}

/* ---- files ---- */

static enum ws_status write_list(const struct sys_choice *choice, const char *dir, size_t list,
				 const struct list_format *format, struct ws_err *err)
{
	char name[64], path[PATH_MAX];
	struct ws_buf text;
	bool first = true;
	enum ws_status st;

	snprintf(name, sizeof(name), "%s.%s", list_kinds[list].name, format->name);
	st = ws_path_join(dir, name, path, err);
	if (st)
		return st;
	ws_buf_init(&text, LIST_BYTES_MAX);
	format->head(&text, list_kinds[list].name);
	for (size_t i = 0; i < choice->rows.n; i++) {
		if (!list_kinds[list].has(&choice->rows.at[i]))
			continue;
		format->row(&text, &choice->rows.at[i], first);
		first = false;
	}
	format->end(&text);
	st = ws_buf_status(&text, err);
	if (!st)
		st = ws_file_replace(path, text.at, text.n, err);
	ws_buf_fini(&text);
	if (!st)
		ws_log_info("outputting '%s'", path);
	return st;
}

/* ---- on the screen ---- */

static void print_row(const struct sys_choice_row *row, const char *what, const char *before)
{
	const struct code_host_function *f = row->function;

	if (strcmp(what, "modules") == 0) {
		if (!before || strcmp(before, row->module) != 0)
			ws_print(stdout, "%s\n", row->module);
	} else if (strcmp(what, "functions") == 0) {
		ws_print(stdout, "%s\n", f->name);
	} else if (strcmp(what, "functions+") == 0) {
		ws_print(stdout, "%s\n", f->shown);
	} else {
		ws_print(stdout, "[%s] --> [%s]\n", row->module,
			 strcmp(what, "pair") == 0 ? f->name : f->shown);
	}
}

static void print_list(const struct sys_choice *choice, size_t list)
{
	const struct ws_strv *what =
		(const struct ws_strv *)((const char *)choice->args + list_kinds[list].printed);
	const char *before = NULL, *word = NULL;

	for (size_t i = 0; i < what->n; i++)
		word = what->at[i] ? what->at[i] : "functions";
	if (!word)
		return;
	printf("[%s]\n", list_kinds[list].name);
	for (size_t i = 0; i < choice->rows.n; i++) {
		if (!list_kinds[list].has(&choice->rows.at[i]))
			continue;
		print_row(&choice->rows.at[i], word, before);
		before = choice->rows.at[i].module;
	}
}

enum ws_status sys_lists_write(const struct sys_choice *choice, const char *dir, struct ws_err *err)
{
	enum ws_status st = ws_mkdirs(dir, err);

	for (size_t list = 0; list < WS_ARRAY_LEN(list_kinds) && !st; list++) {
		for (size_t i = 0; i < WS_ARRAY_LEN(formats) && !st; i++)
			if (is_requested(&choice->args->print_format, &formats[i]))
				st = write_list(choice, dir, list, &formats[i], err);
		print_list(choice, list);
	}
	return st;
}
