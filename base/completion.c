#include "base/completion.h"

#include "base/str.h"

#include <string.h>

/* What can be offered for the value of an option. */
enum offer { OFFER_NOTHING, OFFER_CHOICES, OFFER_FILES, OFFER_FOLDERS };

static enum offer offer_of(const struct ws_opt *opt)
{
	/* By the beginning of what --help calls the value. */
	static const struct {
		const char *arg;
		enum offer offer;
	} names[] = {
		{ "DIR", OFFER_FOLDERS },
		{ "FILE", OFFER_FILES },
		{ "LIB", OFFER_FILES },
	};

	if (opt->choices)
		return OFFER_CHOICES;
	for (size_t i = 0; opt->arg && i < WS_ARRAY_LEN(names); i++)
		if (ws_str_starts(ws_str_from(opt->arg), names[i].arg))
			return names[i].offer;
	return OFFER_NOTHING;
}

/* Whether a program is started, and its name and arguments are at the end of the line. */
static bool starts_program(const struct ws_cmd *cmd)
{
	return cmd->usage && strstr(cmd->usage, "PROGRAM");
}

/* Every option that --help shows, without the headings. */
static const struct ws_opt *next_option(const struct ws_cmd *cmd, size_t *next)
{
	const struct ws_opt *opt = ws_help_option(cmd->opts, next);

	while (opt && opt->kind == WS_OPT_KIND_GROUP)
		opt = ws_help_option(cmd->opts, next);
	return opt;
}

/* The command itself, then the sub-commands that --help shows; *@next starts at 0. */
static const struct ws_cmd *next_command(const struct ws_cmd *root, size_t *next)
{
	if ((*next)++ == 0)
		return root;
	for (; root->subs && root->subs[*next - 2]; ++*next)
		if (root->subs[*next - 2]->summary)
			return root->subs[*next - 2];
	--*next; /* stay at the end */
	return NULL;
}

static const char *sub_name(const struct ws_cmd *root, const struct ws_cmd *cmd)
{
	return cmd == root ? "" : cmd->name;
}

static void put_choices(FILE *to, const struct ws_opt *opt)
{
	for (size_t i = 0; opt->choices[i]; i++)
		fprintf(to, "%s%s", i ? " " : "", opt->choices[i]);
}

static void put_sub_names(FILE *to, const struct ws_cmd *root, const char *separator)
{
	const struct ws_cmd *cmd;
	const char *before = "";

	for (size_t next = 1; (cmd = next_command(root, &next)); before = separator)
		fprintf(to, "%s%s", before, cmd->name);
}

/* @c, or what stands for it inside single quotes: the shells differ in what else is special. */
static void put_quoted(FILE *to, const char *text, const char *special, const char *quote)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs(quote, to);
		else if (strchr(special, *text))
			fprintf(to, "\\%c", *text);
		else
			fputc(*text, to);
	}
}

/* The shells' functions are called like the program, as far as that is an identifier. */
static void function_name(const struct ws_cmd *root, const struct ws_cmd *cmd, char *to,
			  size_t room)
{
	snprintf(to, room, "_%s%s%s", root->name, cmd == root ? "" : "_", sub_name(root, cmd));
	for (char *at = to; *at; at++)
		if (*at == '-')
			*at = '_';
}

/* ---- bash ---- */

static void put_bash_option(FILE *to, const char *sub, const struct ws_opt *opt)
{
	fputc('\t', to);
	if (opt->ch)
		fprintf(to, "%s:-%c%s", sub, opt->ch, opt->name ? " | " : "");
	if (opt->name)
		fprintf(to, "%s:--%s", sub, opt->name);
	fprintf(to, ") takes=%s", ws_opt_takes_many(opt) ? "many" : "one");
	switch (offer_of(opt)) {
	case OFFER_CHOICES:
		fputs(" words='", to);
		put_choices(to, opt);
		fputc('\'', to);
		break;
	case OFFER_FILES:
		fputs(" paths=-f", to);
		break;
	case OFFER_FOLDERS:
		fputs(" paths=-d", to);
		break;
	case OFFER_NOTHING:
		break;
	}
	fputs(" ;;\n", to);
}

/* A function that tells how an option's value is completed, one row per option that has one. */
static void put_bash_values(FILE *to, const struct ws_cmd *root, const char *function)
{
	const struct ws_cmd *cmd;

	fprintf(to,
		"# Option $2 of sub-command $1: whether it takes one value or many, and which.\n"
		"%s_value()\n{\n\ttakes='' words='' paths=''\n\tcase $1:$2 in\n",
		function);
	for (size_t c = 0; (cmd = next_command(root, &c));) {
		const struct ws_opt *opt;

		for (size_t o = 0; (opt = next_option(cmd, &o));)
			if (opt->arg)
				put_bash_option(to, sub_name(root, cmd), opt);
	}
	fputs("\tesac\n}\n\n", to);
}

/* The words before the cursor: sub-command, option that waits for a value, program. */
static void put_bash_scan(FILE *to, const struct ws_cmd *root, const char *function)
{
	const struct ws_cmd *cmd;

	fprintf(to,
		"%s()\n{\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} sub='' takes='' words='' paths='' "
		"program='' i word\n"
		"\n"
		"\tCOMPREPLY=()\n"
		"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		"\t\tword=${COMP_WORDS[i]}\n"
		"\t\tcase $takes:$word in\n"
		"\t\t*:--)\n"
		"\t\t\tprogram=$((i + 1))\n"
		"\t\t\tbreak\n"
		"\t\t\t;;\n"
		"\t\t*:=) ;; # --name=value is three words here\n"
		"\t\t*:-*) %s_value \"$sub\" \"$word\" ;;\n"
		"\t\tmany:*) ;;\n"
		"\t\tone:*) takes='' words='' paths='' ;;\n"
		"\t\t*)\n",
		function, function);
	if (root->subs) {
		fputs("\t\t\tcase $sub:$word in\n\t\t\t:", to);
		put_sub_names(to, root, " | :");
		fputs(")\n\t\t\t\tsub=$word\n\t\t\t\tcontinue\n\t\t\t\t;;\n\t\t\tesac\n", to);
	}
	for (size_t c = 0; (cmd = next_command(root, &c));)
		if (starts_program(cmd) && cmd->order == WS_OPT_FIRST)
			fprintf(to, "\t\t\t[[ $sub != '%s' ]] || { program=$i && break; }\n",
				sub_name(root, cmd));
	fputs("\t\t\t;;\n\t\tesac\n\tdone\n", to);
}

static void put_bash_replies(FILE *to, const struct ws_cmd *root)
{
	const struct ws_cmd *cmd;

	fputs("\t[[ $cur != = ]] || cur=''\n"
	      "\tif [[ $program ]]; then\n"
	      "\t\tif declare -F _command_offset >/dev/null; then\n"
	      "\t\t\t_command_offset \"$program\"\n"
	      "\t\t\treturn\n"
	      "\t\tfi\n"
	      "\t\tpaths=-f\n"
	      "\t\t((COMP_CWORD > program)) || paths=-c\n"
	      "\telif [[ $takes && $cur != -* ]]; then\n"
	      "\t\t:\n"
	      "\telif [[ $cur == -* ]]; then\n"
	      "\t\tpaths=''\n"
	      "\t\tcase $sub in\n",
	      to);
	for (size_t c = 0; (cmd = next_command(root, &c));) {
		const struct ws_opt *opt;

		fprintf(to, "\t\t'%s') words='", sub_name(root, cmd));
		for (size_t o = 0; (opt = next_option(cmd, &o));) {
			if (opt->ch)
				fprintf(to, "-%c ", opt->ch);
			if (opt->name)
				fprintf(to, "--%s ", opt->name);
		}
		fputs("' ;;\n", to);
	}
	fputs("\t\tesac\n", to);
	if (root->subs) {
		fputs("\telif [[ ! $sub ]]; then\n\t\twords='", to);
		put_sub_names(to, root, " ");
		fputs("'\n", to);
	}
	fputs("\telse\n\t\tpaths=-f\n\tfi\n"
	      "\t[[ ! $paths ]] || compopt -o filenames 2>/dev/null\n"
	      "\t# shellcheck disable=SC2086 # no paths is no argument\n"
	      "\tmapfile -t COMPREPLY < <(compgen $paths -W \"$words\" -- \"$cur\")\n"
	      "}\n\n",
	      to);
}

static void put_bash(FILE *to, const struct ws_cmd *root)
{
	char function[64];

	function_name(root, root, function, sizeof(function));
	fprintf(to, "# bash completion for %s, generated from its option tables\n\n", root->name);
	put_bash_values(to, root, function);
	put_bash_scan(to, root, function);
	put_bash_replies(to, root);
	fprintf(to, "complete -F %s %s\n", function, root->name);
}

/* ---- zsh ---- */

#define ZSH_SPECIAL "[]:\\"
#define ZSH_QUOTE "'\\''"

/* One form of an option, as _arguments wants it; @mark is what joins it to its value. */
static void put_zsh_form(FILE *to, const struct ws_opt *opt, const char *form, const char *mark)
{
	bool many = ws_opt_takes_many(opt);

	fprintf(to, " \\\n\t\t'%s%s%s[", many || opt->kind == WS_OPT_KIND_LIST ? "*" : "", form,
		opt->arg ? mark : "");
	put_quoted(to, opt->text, ZSH_SPECIAL, ZSH_QUOTE);
	fputc(']', to);
	if (opt->arg) {
		fputs(many ? ":*-*:" : ":", to);
		put_quoted(to, opt->arg, ZSH_SPECIAL, ZSH_QUOTE);
		fputc(':', to);
	}
	switch (offer_of(opt)) {
	case OFFER_CHOICES:
		fputc('(', to);
		put_choices(to, opt);
		fputc(')', to);
		break;
	case OFFER_FILES:
		fputs("_files", to);
		break;
	case OFFER_FOLDERS:
		fputs("_files -/", to);
		break;
	case OFFER_NOTHING:
		break;
	}
	fputc('\'', to);
}

static void put_zsh_options(FILE *to, const struct ws_cmd *cmd)
{
	const struct ws_opt *opt;

	for (size_t o = 0; (opt = next_option(cmd, &o));) {
		char form[80];

		if (opt->ch) {
			snprintf(form, sizeof(form), "-%c", opt->ch);
			put_zsh_form(to, opt, form, "+");
		}
		if (opt->name) {
			snprintf(form, sizeof(form), "--%s", opt->name);
			put_zsh_form(to, opt, form, "=");
		}
	}
}

static void put_zsh_sub(FILE *to, const struct ws_cmd *root, const struct ws_cmd *cmd)
{
	char function[64];

	function_name(root, cmd, function, sizeof(function));
	fprintf(to, "%s()\n{\n\t_arguments -s -S", function);
	put_zsh_options(to, cmd);
	fprintf(to, " \\\n\t\t'%s'\n}\n\n",
		starts_program(cmd) ? "*::program:_normal" : "*:file:_files");
}

static void put_zsh(FILE *to, const struct ws_cmd *root)
{
	const struct ws_cmd *cmd;
	char function[64];

	function_name(root, root, function, sizeof(function));
	fprintf(to, "#compdef %s\n# generated from its option tables\n\n", root->name);
	if (!root->subs) {
		put_zsh_sub(to, root, root);
		fprintf(to, "%s \"$@\"\n", function);
		return;
	}
	for (size_t c = 1; (cmd = next_command(root, &c));)
		put_zsh_sub(to, root, cmd);
	fprintf(to,
		"%s()\n{\n\tlocal curcontext=$curcontext state line\n\ttypeset -A opt_args\n\n"
		"\t_arguments -s -S -C",
		function);
	put_zsh_options(to, root);
	fputs(" \\\n\t\t'1:command:((", to);
	for (size_t c = 1; (cmd = next_command(root, &c));) {
		fprintf(to, "%s\\:\"", cmd->name);
		put_quoted(to, cmd->summary, ZSH_SPECIAL, ZSH_QUOTE);
		fputs("\" ", to);
	}
	fputs("))' \\\n\t\t'*::argument:->argument' && return\n\tcase $words[1] in\n", to);
	for (size_t c = 1; (cmd = next_command(root, &c));) {
		char sub[64];

		function_name(root, cmd, sub, sizeof(sub));
		fprintf(to, "\t%s) %s ;;\n", cmd->name, sub);
	}
	fprintf(to, "\tesac\n}\n\n%s \"$@\"\n", function);
}

/* ---- fish ---- */

#define FISH_SPECIAL "\\"
#define FISH_QUOTE "\\'"

static void put_fish_option(FILE *to, const char *line, const struct ws_opt *opt)
{
	fputs(line, to);
	if (opt->ch)
		fprintf(to, " -s %c", opt->ch);
	if (opt->name)
		fprintf(to, " -l %s", opt->name);
	switch (offer_of(opt)) {
	case OFFER_CHOICES:
		fputs(" -x -a '", to);
		put_choices(to, opt);
		fputc('\'', to);
		break;
	case OFFER_FILES:
		fputs(" -r -F", to);
		break;
	case OFFER_FOLDERS:
		fputs(" -x -a '(__fish_complete_directories)'", to);
		break;
	case OFFER_NOTHING:
		fputs(opt->arg ? " -x" : "", to);
		break;
	}
	fputs(" -d '", to);
	put_quoted(to, opt->text, FISH_SPECIAL, FISH_QUOTE);
	fputs("'\n", to);
}

static void put_fish(FILE *to, const struct ws_cmd *root)
{
	const struct ws_cmd *cmd;

	fprintf(to, "# fish completion for %s, generated from its option tables\n", root->name);
	for (size_t c = 0; (cmd = next_command(root, &c));) {
		const struct ws_opt *opt;
		char line[160];

		if (cmd != root) {
			fprintf(to, "complete -c %s -n __fish_use_subcommand -f -a %s -d '",
				root->name, cmd->name);
			put_quoted(to, cmd->summary, FISH_SPECIAL, FISH_QUOTE);
			fputs("'\n", to);
		}
		if (!root->subs)
			snprintf(line, sizeof(line), "complete -c %s", root->name);
		else if (cmd == root)
			snprintf(line, sizeof(line), "complete -c %s -n __fish_use_subcommand",
				 root->name);
		else
			snprintf(line, sizeof(line),
				 "complete -c %s -n '__fish_seen_subcommand_from %s'", root->name,
				 cmd->name);
		for (size_t o = 0; (opt = next_option(cmd, &o));)
			put_fish_option(to, line, opt);
	}
}

enum ws_status ws_completion_print(FILE *to, const struct ws_cmd *cmd, const char *shell,
				   struct ws_err *err)
{
	static const struct {
		const char *name;
		void (*put)(FILE *to, const struct ws_cmd *cmd);
	} shells[] = { { "bash", put_bash }, { "zsh", put_zsh }, { "fish", put_fish } };

	for (size_t i = 0; i < WS_ARRAY_LEN(shells); i++)
		if (strcmp(shell, shells[i].name) == 0) {
			shells[i].put(to, cmd);
			return WS_OK;
		}
	return ws_fail(err, WS_E_USAGE, "no completion for '%s': bash, zsh and fish are supported",
		       shell);
}
