#include "base/cmd.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Options longer than this get their text on the next line. */
#define OPTION_COLUMNS 26

unsigned ws_help_columns(void)
{
	struct winsize size;
	uint64_t n = 80;

	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		n = size.ws_col;
	else
		(void)ws_str_u64(ws_str_from(getenv("COLUMNS")), &n);
	return (unsigned)WS_MIN(WS_MAX(n, 40u), 100u); /* longer lines are hard to read */
}

void ws_help_fill(FILE *to, const char *text, unsigned indent, unsigned width)
{
	unsigned column = indent;
	struct ws_str rest = ws_str_from(text), word;

	while (ws_str_next(&rest, ' ', &word)) {
		if (column > indent && column + 1 + word.n > width) {
			fprintf(to, "\n%*s", (int)indent, "");
			column = indent;
		}
		if (column > indent) {
			fputc(' ', to);
			column++;
		}
		fprintf(to, "%.*s", WS_STR_ARGS(word));
		column += (unsigned)word.n;
	}
	fputc('\n', to);
}

/* A left column and a text beside it; a long left column stands alone. */
static void print_row(FILE *to, const char *left, const char *text, unsigned n_columns)
{
	if (strlen(left) + 2 > OPTION_COLUMNS)
		fprintf(to, "%s\n%*s", left, OPTION_COLUMNS, "");
	else
		fprintf(to, "%-*s", OPTION_COLUMNS, left);
	ws_help_fill(to, text, OPTION_COLUMNS, n_columns);
}

static void print_option(FILE *to, const struct ws_opt *opt, unsigned n_columns)
{
	char ch[] = "    ", left[80];

	if (opt->ch)
		snprintf(ch, sizeof(ch), "-%c%s", opt->ch, opt->name ? ", " : "");
	snprintf(left, sizeof(left), "  %s%s%s%s%s%s", ch, opt->name ? "--" : "",
		 opt->name ? opt->name : "", opt->arg ? " " : "", opt->arg ? opt->arg : "",
		 ws_opt_takes_many(opt) ? "..." : "");
	print_row(to, left, opt->text, n_columns);
}

const struct ws_opt *ws_help_option(struct ws_opts opts, size_t *next)
{
	static const struct ws_opt heading = WS_OPT_GROUP("Options");
	static const struct ws_opt common[] = {
		WS_OPT_GROUP("Help"),
		{ WS_OPT_KIND_BOOL, 'h', "help", NULL, "show this help and exit", 0, NULL },
		{ WS_OPT_KIND_BOOL, 'V', "version", NULL, "show the version and exit", 0, NULL },
	};

	if (*next == 0) {
		++*next;
		if (opts.n && opts.at[0].kind != WS_OPT_KIND_GROUP)
			return &heading;
	}
	for (; *next <= opts.n; ++*next)
		if (opts.at[*next - 1].text)
			return &opts.at[(*next)++ - 1];
	for (; *next - 1 - opts.n < WS_ARRAY_LEN(common); ++*next) {
		const struct ws_opt *opt = &common[*next - 1 - opts.n];

		if (opt->kind == WS_OPT_KIND_GROUP || !ws_opt_find(opts, opt->name)) {
			++*next;
			return opt;
		}
	}
	return NULL;
}

static void print_options(FILE *to, struct ws_opts opts, unsigned n_columns)
{
	const struct ws_opt *opt;

	for (size_t next = 0; (opt = ws_help_option(opts, &next));) {
		if (opt->kind == WS_OPT_KIND_GROUP)
			fprintf(to, "\n%s:\n", opt->name);
		else
			print_option(to, opt, n_columns);
	}
}

void ws_help_print(FILE *to, const struct ws_cmd *cmd, const char *path, unsigned n_columns)
{
	fprintf(to, "usage: %s%s%s\n", path, cmd->usage && *cmd->usage ? " " : "",
		cmd->usage ? cmd->usage : "");
	if (cmd->about) {
		struct ws_str rest = ws_str_from(cmd->about), paragraph;
		char line[1024];

		while (ws_str_next(&rest, '\n', &paragraph)) {
			snprintf(line, sizeof(line), "%.*s", WS_STR_ARGS(paragraph));
			fputc('\n', to);
			ws_help_fill(to, line, 0, n_columns);
		}
	}
	if (cmd->subs) {
		fputs("\nCommands:\n", to);
		for (size_t i = 0; cmd->subs[i]; i++) {
			char left[64];

			if (!cmd->subs[i]->summary)
				continue;
			snprintf(left, sizeof(left), "  %s", cmd->subs[i]->name);
			print_row(to, left, cmd->subs[i]->summary, n_columns);
		}
	}
	print_options(to, cmd->opts, n_columns);
	if (cmd->notes)
		fprintf(to, "\n%s\n", cmd->notes);
}
