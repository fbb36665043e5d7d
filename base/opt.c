#include "base/opt.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* More values than any command line can hold; a ceiling all the same. */
#define LIST_MAX 65536

struct parser {
	struct ws_opts opts;
	int argc, at; /* argv[at] is the next word to look at */
	char **argv;
	void *values;
	struct ws_err *err;
	char asked;
	bool greedy; /* "--" is in front of the program: all words before it are ours */
};

static const struct ws_opt *find_long(struct ws_opts opts, struct ws_str name)
{
	for (size_t i = 0; i < opts.n; i++)
		if (opts.at[i].kind != WS_OPT_KIND_GROUP && opts.at[i].name &&
		    ws_str_is(name, opts.at[i].name))
			return &opts.at[i];
	return NULL;
}

/* -MI: an option whose name is written in capitals, which is typed with one dash. */
static const struct ws_opt *find_capitals(struct ws_opts opts, const char *word)
{
	return word[1] >= 'A' && word[1] <= 'Z' && word[2] ? find_long(opts, ws_str_from(word + 1))
							   : NULL;
}

static const struct ws_opt *find_short(struct ws_opts opts, char ch)
{
	for (size_t i = 0; i < opts.n; i++)
		if (opts.at[i].ch && opts.at[i].ch == ch)
			return &opts.at[i];
	return NULL;
}

static const char *next_long_name(const void *list, size_t i)
{
	const struct ws_opts *opts = list;

	/* Groups and hidden rows are skipped by yielding a word that is near to nothing. */
	if (i >= opts->n)
		return NULL;
	return opts->at[i].kind == WS_OPT_KIND_GROUP || !opts->at[i].text ? "" : opts->at[i].name;
}

static const char *next_choice(const void *list, size_t i)
{
	return ((const char *const *)list)[i];
}

static enum ws_status unknown_option(struct parser *p, struct ws_str name)
{
	char word[64];
	const char *near;

	snprintf(word, sizeof(word), "%.*s", WS_STR_ARGS(name));
	near = ws_str_nearest(word, next_long_name, &p->opts);
	if (near)
		return ws_fail(p->err, WS_E_USAGE, "unknown option '--%s': did you mean '--%s'?",
			       word, near);
	return ws_fail(p->err, WS_E_USAGE, "unknown option '--%s': --help lists them", word);
}

static enum ws_status bad_value(struct parser *p, const char *shown, const char *value,
				const char *wanted)
{
	return ws_fail(p->err, WS_E_USAGE, "option '%s': '%s' is not %s", shown, value, wanted);
}

/* What an option may be set to, and is not. */
static enum ws_status not_a_choice(struct parser *p, const struct ws_opt *opt, const char *shown,
				   const char *value)
{
	struct ws_buf names;
	enum ws_status st;

	if (ws_str_nearest(value, next_choice, opt->choices))
		return ws_fail(p->err, WS_E_USAGE,
			       "option '%s': no choice '%s': did you mean '%s'?", shown, value,
			       ws_str_nearest(value, next_choice, opt->choices));
	ws_buf_init(&names, 160);
	for (int i = 0; opt->choices[i]; i++)
		ws_buf_printf(&names, "%s%s", i ? ", " : "", opt->choices[i]);
	st = ws_fail(p->err, WS_E_USAGE, "option '%s': no choice '%s': use one of %s", shown, value,
		     names.at);
	ws_buf_fini(&names);
	return st;
}

static enum ws_status set_choice(struct parser *p, const struct ws_opt *opt, const char *shown,
				 const char *value, int *field)
{
	for (int i = 0; opt->choices[i]; i++)
		if (strcmp(value, opt->choices[i]) == 0) {
			*field = i;
			return WS_OK;
		}
	return not_a_choice(p, opt, shown, value);
}

/* A text with choices becomes the choice, as the table spells it. */
static enum ws_status canonical(struct parser *p, const struct ws_opt *opt, const char *shown,
				const char **value)
{
	if (!opt->choices)
		return WS_OK;
	for (int i = 0; opt->choices[i]; i++)
		if (strcasecmp(*value, opt->choices[i]) == 0) {
			*value = opt->choices[i];
			return WS_OK;
		}
	return not_a_choice(p, opt, shown, *value);
}

bool ws_opt_takes_many(const struct ws_opt *opt)
{
	return opt->kind == WS_OPT_KIND_MANY || opt->kind == WS_OPT_KIND_SETS;
}

bool ws_tri_parse(const char *word, enum ws_tri *out_tri)
{
	static const struct {
		const char *word;
		enum ws_tri tri;
	} words[] = {
		{ "y", WS_TRI_YES },    { "yes", WS_TRI_YES }, { "t", WS_TRI_YES },
		{ "true", WS_TRI_YES }, { "on", WS_TRI_YES },  { "1", WS_TRI_YES },
		{ "n", WS_TRI_NO },     { "no", WS_TRI_NO },   { "f", WS_TRI_NO },
		{ "false", WS_TRI_NO }, { "off", WS_TRI_NO },  { "0", WS_TRI_NO },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(words); i++)
		if (strcasecmp(word, words[i].word) == 0) {
			*out_tri = words[i].tri;
			return true;
		}
	return false;
}

/* Write one value into the field; @shown is the option as it was typed. */
static enum ws_status set_value(struct parser *p, const struct ws_opt *opt, const char *shown,
				const char *value)
{
	struct ws_str view = ws_str_from(value);
	void *field = (char *)p->values + opt->offset;
	struct ws_strv *list = field;
	enum ws_status st;

	switch (opt->kind) {
	case WS_OPT_KIND_TRI:
	case WS_OPT_KIND_SWITCH:
		return ws_tri_parse(value, field)
			       ? WS_OK
			       : bad_value(p, shown, value, "yes or no: a program goes after '--'");
	case WS_OPT_KIND_BOOL:
		return ws_str_bool(view, field) ? WS_OK : bad_value(p, shown, value, "yes or no");
	case WS_OPT_KIND_U64:
		return ws_str_u64(view, field) ? WS_OK
					       : bad_value(p, shown, value, "a whole number");
	case WS_OPT_KIND_I64:
		return ws_str_i64(view, field) ? WS_OK
					       : bad_value(p, shown, value, "a whole number");
	case WS_OPT_KIND_F64:
		return ws_str_f64(view, field) ? WS_OK : bad_value(p, shown, value, "a number");
	case WS_OPT_KIND_STR:
		st = canonical(p, opt, shown, &value);
		if (!st)
			*(const char **)field = value;
		return st;
	case WS_OPT_KIND_CHOICE:
		return set_choice(p, opt, shown, value, field);
	case WS_OPT_KIND_LIST:
	case WS_OPT_KIND_MANY:
	case WS_OPT_KIND_SETS:
	case WS_OPT_KIND_WORDS:
		st = value ? canonical(p, opt, shown, &value) : WS_OK;
		if (!list->max_n)
			list->max_n = LIST_MAX;
		return st ? st : ws_vec_push(list, value, p->err);
	case WS_OPT_KIND_GROUP:
		break;
	}
	return ws_fail(p->err, WS_E_USAGE, "option '%s' takes no value", shown);
}

/*
 * A word that is an option of ours is no value: the value was forgotten, and what follows
 * would be read as something else. A value that looks like one is attached: --name=-x.
 */
static bool is_option(const struct parser *p, const char *word)
{
	struct ws_str name;

	if (word[0] != '-' || !word[1])
		return false;
	if (word[1] != '-')
		return word[2] ? find_capitals(p->opts, word) != NULL
			       : find_short(p->opts, word[1]) != NULL;
	name = (struct ws_str){ word + 2, strcspn(word + 2, "=") };
	return !name.n || find_long(p->opts, name);
}

/* "PATH [PREFIX]" takes one or two words, "[NAME...]" any number. @out_few: without "--". */
static void count_words(const char *arg, size_t *out_min, size_t *out_few, size_t *out_max)
{
	struct ws_str rest = ws_str_from(arg), word;

	*out_min = *out_few = *out_max = 0;
	while (ws_str_next(&rest, ' ', &word)) {
		*out_min += *word.at != '[';
		*out_few += *word.at != '[' || ws_str_ends(word, "]...");
		++*out_max;
	}
	if (strstr(arg, "..."))
		*out_max = SIZE_MAX;
}

static enum ws_status take_words(struct parser *p, const struct ws_opt *opt, const char *shown,
				 const char *attached)
{
	struct ws_strv *list = (struct ws_strv *)((char *)p->values + opt->offset);
	size_t n_min, n_few, n_max, n = 0;
	double number;
	enum ws_status st;

	count_words(opt->arg, &n_min, &n_few, &n_max);
	if (n_max != SIZE_MAX)
		ws_vec_clear(list);
	st = set_value(p, opt, shown, NULL);
	if (attached) {
		n++;
		st = st ? st : set_value(p, opt, shown, attached);
	}
	while (!st && n < n_max && p->at < p->argc && p->argv[p->at][0] != '-' &&
	       (!attached || n < n_min)) {
		if (!p->greedy && n >= n_few && !ws_str_f64(ws_str_from(p->argv[p->at]), &number))
			break;
		n++;
		st = set_value(p, opt, shown, p->argv[p->at++]);
	}
	if (!st && n < n_min)
		st = ws_fail(p->err, WS_E_USAGE, "option '%s' needs a value: %s %s", shown, shown,
			     opt->arg);
	return st;
}

/* The value of @opt: what is @attached to the word, or else the following word or words. */
static enum ws_status take_value(struct parser *p, const struct ws_opt *opt, const char *shown,
				 const char *attached)
{
	enum ws_status st = opt->kind == WS_OPT_KIND_SETS ? set_value(p, opt, shown, NULL) : WS_OK;
	bool none_next = p->at >= p->argc || p->argv[p->at][0] == '-';
	enum ws_tri tri;

	if (st)
		return st;
	if (opt->kind == WS_OPT_KIND_WORDS)
		return take_words(p, opt, shown, attached);
	if (opt->kind == WS_OPT_KIND_SWITCH && !attached && !none_next)
		none_next = !ws_tri_parse(p->argv[p->at], &tri);
	if ((opt->kind == WS_OPT_KIND_TRI || opt->kind == WS_OPT_KIND_SWITCH) && !attached &&
	    none_next)
		return set_value(p, opt, shown, "yes");
	if (attached)
		return set_value(p, opt, shown, attached);
	if (opt->kind == WS_OPT_KIND_SETS && none_next)
		return WS_OK;
	if (p->at >= p->argc || is_option(p, p->argv[p->at]) ||
	    (opt->kind == WS_OPT_KIND_MANY && p->argv[p->at][0] == '-'))
		return ws_fail(p->err, WS_E_USAGE, "option '%s' needs a value: %s %s", shown, shown,
			       opt->arg);
	do {
		st = set_value(p, opt, shown, p->argv[p->at++]);
	} while (!st && ws_opt_takes_many(opt) && p->at < p->argc && p->argv[p->at][0] != '-');
	return st;
}

/* Options that every command has, whether or not its table says so. */
static char common_option(struct ws_str name)
{
	if (ws_str_is(name, "help") || ws_str_is(name, "h"))
		return 'h';
	return ws_str_is(name, "version") || ws_str_is(name, "V") ? 'V' : '\0';
}

static enum ws_status parse_long(struct parser *p, char *word)
{
	char *equals = strchr(word, '=');
	struct ws_str name = { word + 2, equals ? (size_t)(equals - word - 2) : strlen(word + 2) };
	const struct ws_opt *opt = find_long(p->opts, name);
	char shown[64];

	snprintf(shown, sizeof(shown), "--%.*s", WS_STR_ARGS(name));
	if (!opt && ws_str_starts(name, "no-")) {
		opt = find_long(p->opts, (struct ws_str){ name.at + 3, name.n - 3 });
		if (opt && (opt->kind == WS_OPT_KIND_BOOL || opt->kind == WS_OPT_KIND_TRI ||
			    opt->kind == WS_OPT_KIND_SWITCH)) {
			if (equals)
				return ws_fail(p->err, WS_E_USAGE, "option '%s' takes no value",
					       shown);
			return set_value(p, opt, shown, "no");
		}
		opt = NULL;
	}
	if (!opt && name.n > 1)
		p->asked = common_option(name);
	if (!opt)
		return p->asked ? WS_OK : unknown_option(p, name);
	if (opt->kind == WS_OPT_KIND_BOOL)
		return set_value(p, opt, shown, equals ? equals + 1 : "yes");
	return take_value(p, opt, shown, equals ? equals + 1 : NULL);
}

static enum ws_status parse_short(struct parser *p, const char *word)
{
	const struct ws_opt *capitals = find_capitals(p->opts, word);

	if (capitals)
		return take_value(p, capitals, word, NULL);
	for (const char *ch = word + 1; *ch; ch++) {
		const struct ws_opt *opt = find_short(p->opts, *ch);
		char shown[3] = { '-', *ch, '\0' };
		enum ws_tri tri;
		enum ws_status st;

		if (!opt)
			p->asked = common_option((struct ws_str){ ch, 1 });
		if (p->asked)
			return WS_OK;
		if (!opt)
			return ws_fail(p->err, WS_E_USAGE,
				       "unknown option '-%c': --help lists them", *ch);
		/* -PTD is three switches, -PT two (T is also short for true), -Pno and -P0 one. */
		if (opt->kind == WS_OPT_KIND_SWITCH && ch[1] &&
		    (!ws_tri_parse(ch + 1, &tri) || (!ch[2] && find_short(p->opts, ch[1])))) {
			st = set_value(p, opt, shown, "yes");
			if (st)
				return st;
			continue;
		}
		if (opt->kind != WS_OPT_KIND_BOOL)
			return take_value(p, opt, shown, ch[1] ? ch + 1 : NULL);
		st = set_value(p, opt, shown, "yes");
		if (st)
			return st;
	}
	return WS_OK;
}

enum ws_status ws_opt_parse(struct ws_opts opts, enum ws_opt_order order, int argc, char **argv,
			    void *values, struct ws_opt_rest *out_rest, struct ws_err *err)
{
	struct parser p = { opts, argc, 1, argv, values, err, '\0', order == WS_OPT_MIXED };
	int n_operands = 0, dashes_at = -1;
	enum ws_status st;

	for (int i = 1; i < argc; i++)
		p.greedy |= strcmp(argv[i], "--") == 0;
	while (p.at < p.argc && !p.asked) {
		char *word = p.argv[p.at];

		if (strcmp(word, "--") == 0) {
			dashes_at = p.at++;
			break;
		}
		if (word[0] != '-' || word[1] == '\0') { /* "-" alone is a file name */
			if (order == WS_OPT_FIRST)
				break;
			/* Slots before p.at are spent, so operands can gather at the front. */
			p.argv[1 + n_operands++] = word;
			p.at++;
			continue;
		}
		p.at++;
		st = word[1] == '-' ? parse_long(&p, word) : parse_short(&p, word);
		if (st)
			return st;
	}
	/* What stood before -- moves up against what stands after it. */
	memmove(&argv[p.at - n_operands], &argv[1], (size_t)n_operands * sizeof(*argv));
	*out_rest = (struct ws_opt_rest){
		.operands = &argv[p.at - n_operands],
		.n = argc - p.at + n_operands,
		.asked = p.asked,
	};
	out_rest->n_before = dashes_at >= 0 ? n_operands : out_rest->n;
	return WS_OK;
}

void ws_opt_fini(struct ws_opts opts, void *values)
{
	for (size_t i = 0; i < opts.n; i++)
		if (opts.at[i].kind == WS_OPT_KIND_LIST || opts.at[i].kind == WS_OPT_KIND_WORDS ||
		    ws_opt_takes_many(&opts.at[i]))
			ws_vec_fini((struct ws_strv *)((char *)values + opts.at[i].offset));
}

enum ws_status ws_opt_set(const struct ws_opt *opt, const char *shown, const char *value,
			  void *values, struct ws_err *err)
{
	struct parser p = { .values = values, .err = err };

	return set_value(&p, opt, shown, value);
}

const struct ws_opt *ws_opt_find(struct ws_opts opts, const char *name)
{
	return find_long(opts, ws_str_from(name));
}
