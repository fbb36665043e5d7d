#include "base/manual.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* A longer first line of a paragraph in the notes is text, not a heading. */
#define HEADING_MAX 40

/* Text in the middle of a line: characters that roff would interpret are escaped. */
static void put_text(FILE *to, struct ws_str text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.at[i];

		/* A plain '-' may be printed as a typographic hyphen, which a shell does not know. */
		if (c == '\\')
			fputs("\\e", to);
		else if (c == '-')
			fputs("\\-", to);
		else if (c == '\'')
			fputs("\\(aq", to);
		else if (c == '"')
			fputs("\\(dq", to);
		else
			fputc(c, to);
	}
}

/* A line of its own, which must not be taken for a request. */
static void put_line(FILE *to, struct ws_str text)
{
	if (text.n && (text.at[0] == '.' || text.at[0] == ' '))
		fputs("\\&", to);
	put_text(to, text);
	fputc('\n', to);
}

static void put_heading(FILE *to, const char *macro, struct ws_str text)
{
	fprintf(to, ".%s \"", macro);
	for (size_t i = 0; i < text.n; i++) {
		char c = strcmp(macro, "SH") == 0 ? (char)toupper(text.at[i]) : text.at[i];

		put_text(to, (struct ws_str){ &c, 1 });
	}
	fputs("\"\n", to);
}

static void put_paragraphs(FILE *to, const char *text)
{
	struct ws_str rest = ws_str_from(text), paragraph;

	for (bool first = true; ws_str_next(&rest, '\n', &paragraph); first = false) {
		fputs(first ? "" : ".PP\n", to); /* after a heading there is a break already */
		put_line(to, paragraph);
	}
}

static void put_option(FILE *to, const struct ws_opt *opt)
{
	fputs(".TP\n", to);
	if (opt->ch)
		fprintf(to, "\\fB\\-%c\\fR%s", opt->ch, opt->name ? ", " : "");
	if (opt->name) {
		fputs("\\fB\\-\\-", to);
		put_text(to, ws_str_from(opt->name));
		fputs("\\fR", to);
	}
	if (opt->arg) {
		fputs(" \\fI", to);
		put_text(to, ws_str_from(opt->arg));
		fputs("\\fR", to);
	}
	fputs(ws_opt_takes_many(opt) ? "...\n" : "\n", to);
	put_line(to, ws_str_from(opt->text));
}

static void put_options(FILE *to, struct ws_opts opts)
{
	const struct ws_opt *opt;

	for (size_t next = 0; (opt = ws_help_option(opts, &next));) {
		if (opt->kind == WS_OPT_KIND_GROUP)
			put_heading(to, "SS", ws_str_from(opt->name));
		else
			put_option(to, opt);
	}
}

static bool is_heading(struct ws_str line)
{
	return line.n && line.n <= HEADING_MAX && line.at[0] != ' ' && line.at[line.n - 1] == ':';
}

/* Notes are laid out by hand: lines are kept, and a short "Something:" is a heading. */
static void put_notes(FILE *to, const char *notes, const char *heading_macro)
{
	struct ws_str rest = ws_str_from(notes), line;
	bool verbatim = false, blank = true;

	while (notes && ws_str_next(&rest, '\n', &line)) {
		if (!line.n) {
			blank = true;
			continue;
		}
		if (blank && is_heading(line)) {
			if (verbatim)
				fputs(".fi\n", to);
			verbatim = false;
			put_heading(to, heading_macro, (struct ws_str){ line.at, line.n - 1 });
		} else {
			if (verbatim && blank)
				fputs(".sp\n", to);
			else if (!verbatim)
				fputs(blank ? ".PP\n.nf\n" : ".nf\n", to);
			verbatim = true;
			put_line(to, line);
		}
		blank = false;
	}
	if (verbatim)
		fputs(".fi\n", to);
}

static void put_usage(FILE *to, const struct ws_cmd *root, const struct ws_cmd *sub)
{
	const char *usage = (sub ? sub : root)->usage;

	fputs("\\fB", to);
	put_text(to, ws_str_from(root->name));
	if (sub) {
		fputc(' ', to);
		put_text(to, ws_str_from(sub->name));
	}
	fputs("\\fR ", to);
	put_text(to, ws_str_from(usage));
	fputc('\n', to);
}

static void put_synopsis(FILE *to, const struct ws_cmd *cmd)
{
	fputs(".SH SYNOPSIS\n", to);
	put_usage(to, cmd, NULL);
	for (size_t i = 0; cmd->subs && cmd->subs[i]; i++) {
		if (!cmd->subs[i]->summary)
			continue;
		fputs(".br\n", to);
		put_usage(to, cmd, cmd->subs[i]);
	}
}

static void put_sub(FILE *to, const struct ws_cmd *root, const struct ws_cmd *sub)
{
	char heading[128];

	snprintf(heading, sizeof(heading), "%s %s", root->name, sub->name);
	put_heading(to, "SH", ws_str_from(heading));
	put_paragraphs(to, sub->about ? sub->about : sub->summary);
	put_options(to, sub->opts);
	put_notes(to, sub->notes, "SS");
}

static void put_see_also(FILE *to, const struct ws_cmd *cmd, const char *const *names)
{
	const char *before = ".SH \"SEE ALSO\"\n";

	for (size_t i = 0; names && names[i]; i++) {
		if (strcmp(names[i], cmd->name) == 0)
			continue;
		fprintf(to, "%s\\fB", before);
		put_text(to, ws_str_from(names[i]));
		fputs("\\fR(1)", to);
		before = ",\n";
	}
	if (*before == ',')
		fputc('\n', to);
}

void ws_manual_print(FILE *to, const struct ws_cmd *cmd, const struct ws_manual *manual)
{
	fputs(".\\\" Generated from the option tables of the program.\n.TH \"", to);
	for (const char *at = cmd->name; *at; at++)
		put_text(to, (struct ws_str){ &(char){ (char)toupper(*at) }, 1 });
	fprintf(to, "\" 1 \"%s\" \"%s\" \"User Commands\"\n", manual->date, manual->version);
	fputs(".nh\n.ad l\n.SH NAME\n", to); /* Option names must not be hyphenated. */
	put_text(to, ws_str_from(cmd->name));
	fputs(" \\- ", to);
	put_text(to, ws_str_from(cmd->summary));
	fputc('\n', to);
	put_synopsis(to, cmd);
	if (cmd->about) {
		fputs(".SH DESCRIPTION\n", to);
		put_paragraphs(to, cmd->about);
	}
	fputs(".SH OPTIONS\n", to);
	put_options(to, cmd->opts);
	for (size_t i = 0; cmd->subs && cmd->subs[i]; i++)
		if (cmd->subs[i]->summary)
			put_sub(to, cmd, cmd->subs[i]);
	put_notes(to, cmd->notes, "SH");
	put_see_also(to, cmd, manual->see_also);
}
