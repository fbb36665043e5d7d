#include "cmd/sys/avail.h"

#include "base/log.h"
#include "cmd/cmd.h"
#include "settings/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* clang-format off */
#define A struct sys_avail_args
#define ALSO_SWITCH(field, name) WS_OPT_SWITCH(A, field, 0, name, NULL)

static const char *const config_formats[] = { "txt", "json", "xml", NULL };

static const struct ws_opt rows[] = {
	WS_OPT_GROUP("[DEBUG OPTIONS]"),
	WS_OPT_SWITCH(A, monochrome, 0, "monochrome", "print without colours"),
	WS_OPT_SWITCH(A, debug, 0, "debug", "show which configuration files are read"),
	WS_OPT_WORDS(A, verbose, 0, "verbose", "[N]", "the same for N above 0"),
	WS_OPT_GROUP("[INFO OPTIONS]"),
	WS_OPT_SWITCH(A, settings, 'S', "settings", "list settings and their values (the default)"),
	ALSO_SWITCH(settings, "print-settings"),
	WS_OPT_SWITCH(A, components, 'C', "components", "list components of profiles"),
	ALSO_SWITCH(components, "print-components"),
	WS_OPT_SWITCH(A, hw_counters, 'H', "hw-counters", "list hardware counters of CPUs and GPUs"),
	ALSO_SWITCH(hw_counters, "print-hw-counters"),
	WS_OPT_SWITCH(A, all, 'a', "all", "all three lists with all columns, advanced settings included"),
	WS_OPT_SWITCH(A, advanced, 0, "advanced", "also list settings that few people need"),
	WS_OPT_SWITCH(A, list_categories, 0, "list-categories", "list the names for --categories"),
	WS_OPT_SWITCH(A, list_keys, 0, "list-keys", "list the keys for names of output files"),
	WS_OPT_SWITCH(A, expand_keys, 0, "expand-keys", "show values with their keys replaced"),
	WS_OPT_GROUP("[FILTER OPTIONS]"),
	WS_OPT_SWITCH(A, available, 'A', "available", "only what can be used here"),
	WS_OPT_WORDS(A, filter, 'r', "filter", "REGEX...", "rows in which a shown cell matches one of these (as grep -E); ~REGEX: rows in which none does"),
	WS_OPT_WORDS(A, category_filter, 'R', "category-filter", "REGEX...", "the same for the categories of rows"),
	WS_OPT_SWITCH(A, ignore_case, 'i', "ignore-case", "ignore case in filters"),
	WS_OPT_SWITCH(A, highlight, 'p', "highlight", "show matches of filters in colour"),
	ALSO_SWITCH(highlight, "hl"),
	WS_OPT_SWITCH(A, alphabetical, 0, "alphabetical", "sort by name"),
	WS_OPT_GROUP("[COLUMN OPTIONS]"),
	WS_OPT_SWITCH(A, brief, 'b', "brief", "names only, unless other columns are requested"),
	WS_OPT_SWITCH(A, description, 'd', "description", "add descriptions"),
	WS_OPT_SWITCH(A, string, 's', "string", "add the names by which components can be requested"),
	WS_OPT_SWITCH(A, value, 'v', "value", "add types of values"),
	WS_OPT_SWITCH(A, filename, 'f', "filename", "add the names of files of components"),
	WS_OPT_WORDS(A, categories, 'c', "categories", "[NAME...]", "add categories; with names, only rows in one of these, such as CPU, GPU, core or settings::io"),
	WS_OPT_GROUP("[DISPLAY OPTIONS]"),
	WS_OPT_STR(A, column_width, 'w', "column-width", "N", "truncate columns to N characters; 0: not at all"),
	WS_OPT_STR(A, max_total_width, 'W', "max-total-width", "N", "width of the table; 0: any. Default: the terminal's"),
	WS_OPT_GROUP("[OUTPUT OPTIONS]"),
	WS_OPT_WORDS(A, generate_config, 'G', "generate-config", "[FILE]", "write a configuration file. Default: rocprof-sys-config"),
	{ WS_OPT_KIND_WORDS, 'F', "config-format", "NAME...", "its formats: txt (the default), json and xml", WS_OPT_FIELD_(A, config_format, struct ws_strv), config_formats },
	WS_OPT_STR(A, output, 'O', "output", "FILE", "write to FILE"),
	WS_OPT_STR(A, tag, 't', "tag", "TEXT", "the value of %tag%"),
	WS_OPT_SWITCH(A, markdown, 'M', "markdown", "print as markdown"),
	WS_OPT_SWITCH(A, csv, 0, "csv", "print as comma-separated values"),
	WS_OPT_STR(A, csv_separator, 0, "csv-separator", "TEXT", "separate them with TEXT"),
	WS_OPT_SWITCH(A, force, 0, "force", "replace existing configuration files without asking"),
	WS_OPT_BOOL(A, question, '?', NULL, NULL),
};
/* clang-format on */

static enum ws_status number(const char *option, const char *text, size_t *out, struct ws_err *err)
{
	uint64_t value;

	if (!text)
		return WS_OK;
	if (!ws_str_u64(ws_str_from(text), &value))
		return ws_fail(err, WS_E_USAGE, "option '%s': '%s' is not a whole number", option,
			       text);
	*out = (size_t)value;
	return WS_OK;
}

/* Of the terminal; a file may have lines of any length. */
static size_t screen_width(void)
{
	struct winsize size;
	uint64_t n;

	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
	return ws_str_u64(ws_str_from(getenv("COLUMNS")), &n) ? (size_t)n : 0;
}

static enum ws_status choose_style(struct sys_avail *avail, struct ws_err *err)
{
	const struct sys_avail_args *args = avail->args;
	struct sys_table_style *style = &avail->style;
	enum ws_status st;

	*style = (struct sys_table_style){
		.csv = args->csv == WS_TRI_YES,
		.markdown = args->markdown == WS_TRI_YES,
		.separator = args->csv_separator ? args->csv_separator : ",",
		.padding = 4,
		.total_width = screen_width(),
	};
	if (style->csv && style->markdown)
		return ws_fail(err, WS_E_USAGE, "--csv and --markdown exclude each other");
	if (!*style->separator)
		return ws_fail(err, WS_E_USAGE, "option '--csv-separator' needs a text");
	if (style->markdown || args->hw_counters == WS_TRI_YES || args->all == WS_TRI_YES)
		style->padding = 6;
	st = number("-w", args->column_width, &style->max_width, err);
	return st ? st : number("-W", args->max_total_width, &style->total_width, err);
}

static const char *next_name(const void *list, size_t i)
{
	const struct ws_strv *names = list;

	return i < names->n ? names->at[i] : NULL;
}

/* "CPU" is hw_counters::CPU; of a word that has several meanings all are meant. */
static enum ws_status find_category(struct sys_avail *avail, const struct ws_strv *known,
				    const char *word, struct ws_err *err)
{
	static const char *const kinds[] = { "", "component::", "settings::", "hw_counters::" };
	bool found = false;
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < known->n && !st; i++)
		for (size_t k = 0; k < WS_ARRAY_LEN(kinds) && !st; k++)
			if (strncmp(known->at[i], kinds[k], strlen(kinds[k])) == 0 &&
			    strcmp(known->at[i] + strlen(kinds[k]), word) == 0) {
				found = true;
				st = ws_vec_push(&avail->categories, known->at[i], err);
			}
	if (st || found)
		return st;
	if (ws_str_nearest(word, next_name, known))
		return ws_fail(err, WS_E_USAGE, "no category '%s': did you mean '%s'?", word,
			       ws_str_nearest(word, next_name, known));
	return ws_fail(err, WS_E_USAGE, "no category '%s': --list-categories shows them", word);
}

static enum ws_status take_filters(struct sys_avail *avail, char *const *operands,
				   struct ws_err *err)
{
	const struct sys_avail_args *args = avail->args;
	struct ws_strv known = { .max_n = 4096 }, words = { .max_n = 65536 };
	enum ws_status st = sys_avail_categories(&avail->arena, &known, err);

	for (size_t i = 0; i < args->categories.n && !st; i++)
		if (args->categories.at[i])
			st = find_category(avail, &known, args->categories.at[i], err);
	for (size_t i = 0; i < args->filter.n && !st; i++)
		st = ws_vec_push(&words, args->filter.at[i], err);
	for (; *operands && !st; operands++)
		st = ws_vec_push(&words, *operands, err);
	if (!st)
		st = sys_filter_create(&words, args->ignore_case == WS_TRI_YES, &avail->filter,
				       err);
	if (!st)
		st = sys_filter_create(&args->category_filter, args->ignore_case == WS_TRI_YES,
				       &avail->category_filter, err);
	ws_vec_fini(&known);
	ws_vec_fini(&words);
	return st;
}

static enum ws_status list_categories(struct sys_avail *avail, struct ws_err *err)
{
	struct ws_strv known = { .max_n = 4096 };
	enum ws_status st = sys_avail_categories(&avail->arena, &known, err);

	fputs("Categories:\n", avail->to);
	for (size_t i = 0; i < known.n && !st; i++)
		if (sys_filter_selects(avail->filter, known.at[i]))
			fprintf(avail->to, "    %s\n", known.at[i]);
	ws_vec_fini(&known);
	return st;
}

static enum ws_status show(struct sys_avail *avail, struct ws_err *err)
{
	const struct sys_avail_args *args = avail->args;
	bool lists = args->list_categories == WS_TRI_YES || args->list_keys == WS_TRI_YES;
	bool all = args->all == WS_TRI_YES;
	enum ws_status st = WS_OK;

	if (args->list_categories == WS_TRI_YES)
		st = list_categories(avail, err);
	if (!st && args->list_keys == WS_TRI_YES)
		st = sys_avail_keys(avail, err);
	if (st || lists)
		return st;
	if (all || args->components == WS_TRI_YES)
		st = sys_avail_components(avail, err);
	if (!st && (all || args->settings == WS_TRI_YES ||
		    (args->components != WS_TRI_YES && args->hw_counters != WS_TRI_YES)))
		st = sys_avail_settings(avail, err);
	if (!st && (all || args->hw_counters == WS_TRI_YES))
		st = sys_avail_counters(avail, err);
	return st;
}

static enum ws_status show_in(struct sys_avail *avail, struct ws_err *err)
{
	const char *path = avail->args->output;
	enum ws_status st;

	avail->to = stdout;
	if (!path)
		return show(avail, err);
	avail->to = fopen(path, "w");
	if (!avail->to)
		return ws_fail_errno(err, errno, "cannot write '%s'", path);
	st = show(avail, err);
	if (fclose(avail->to) != 0 && !st)
		st = ws_fail_errno(err, errno, "cannot write '%s'", path);
	return st;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	static char hostname[256], cwd[PATH_MAX];
	static struct set_values values;
	const struct sys_avail_args *args = call->values;
	const char *argv[] = { args->tag ? args->tag : "rocprof-sys-avail", NULL };
	struct launch_place place;
	struct sys_avail avail = { .args = args, .values = &values, .place = &place };
	enum ws_status st;

	if (args->question) {
		ws_help_print(stdout, &cmd_rocprof_sys_avail, "rocprof-sys-avail",
			      ws_help_columns());
		return WS_OK;
	}
	if (args->debug == WS_TRI_YES || args->verbose.n)
		ws_log_set_level(WS_LOG_INFO);
	ws_arena_init(&avail.arena, 256u << 20);
	ws_vec_init(&avail.categories, 4096);
	set_values_init(&values);
	launch_place_init(&place, hostname, cwd);
	place.argv = argv;
	place.n_argv = 1;
	st = set_from_environment(&values, environ, err);
	if (!st)
		st = set_from_files(&values, err);
	set_finish(&values, false);
	if (!st)
		st = choose_style(&avail, err);
	if (!st)
		st = take_filters(&avail, call->rest.operands, err);
	if (!st)
		st = args->generate_config.n ? sys_avail_generate(&avail, err)
					     : show_in(&avail, err);
	sys_filter_destroy(avail.filter);
	sys_filter_destroy(avail.category_filter);
	ws_vec_fini(&avail.categories);
	set_values_fini(&values);
	ws_arena_fini(&avail.arena);
	return st;
}

const struct ws_cmd cmd_rocprof_sys_avail = {
	.name = "rocprof-sys-avail",
	.summary = "list settings, components and counters of rocprof-sys",
	.usage = "[options] [REGEX]",
	.about = "Lists the settings of rocprof-sys with their values, the components of profiles, "
		 "and "
		 "hardware counters. REGEX is a filter, as with -r. With -G it writes a "
		 "configuration "
		 "file with the values of the environment and of the current configuration files.",
	.notes = "Examples:\n"
		 "  rocprof-sys-avail -G my.cfg             a configuration file to edit\n"
		 "  rocprof-sys-avail -G ~/.rocprof-sys.cfg --all    the same with explanations\n"
		 "  rocprof-sys-avail -S -d SAMPLING        settings about sampling\n"
		 "  rocprof-sys-avail -H -c GPU -r SQ_      GPU counters\n"
		 "  rocprof-sys-avail -H -c CPU -A          CPU counters that can be read here",
	.opts = { rows, WS_ARRAY_LEN(rows) },
	.order = WS_OPT_MIXED,
	.values_bytes = sizeof(struct sys_avail_args),
	.only_prints = true,
	.run = run,
};
