/*
 * opt: command-line options, described by a table.
 *
 * A command keeps one const array of struct ws_opt and one struct of values; the
 * parser, --help, the manual page and the completions all read the array. A row's macro checks
 * at compile time that the field has the row's type.
 *
 *	static const struct ws_opt opts[] = {
 *		WS_OPT_GROUP("Output"),
 *		WS_OPT_STR(struct args, out_dir, 'd', "output-directory", "DIR", "write to DIR"),
 *		WS_OPT_BOOL(struct args, quiet, 'q', "quiet", "print errors only"),
 *	};
 *
 * Understood: --name value, --name=value, -n value, -nvalue, -qv for two flags, -MI for --MI,
 * --no-quiet and --quiet=no for flags, -- to end the options. The last of
 * repeated options wins, except that lists collect. -h, --help, -V and --version
 * are known without a row, unless a row takes the name. An option whose name is in capitals is
 * typed with one dash: -MI value. A TRI flag takes the next
 * word for its value unless that is an option: y yes t true on 1, n no f false off 0. A SWITCH
 * takes it only if it is one of these, and can be joined with others: -PTD.
 *
 * Values are borrowed from argv. Lists are allocated: ws_opt_fini() frees them.
 */
#ifndef WS_BASE_OPT_H
#define WS_BASE_OPT_H

#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ws_opt_kind {
	WS_OPT_KIND_GROUP,  /* a heading in --help; no option */
	WS_OPT_KIND_BOOL,   /* bool */
	WS_OPT_KIND_STR,    /* const char * */
	WS_OPT_KIND_U64,    /* uint64_t */
	WS_OPT_KIND_I64,    /* int64_t */
	WS_OPT_KIND_F64,    /* double */
	WS_OPT_KIND_CHOICE, /* int: the index of one of `choices` */
	WS_OPT_KIND_LIST,   /* struct ws_strv: one more value each time it is given */
	WS_OPT_KIND_MANY,   /* struct ws_strv: takes all values up to the next option */
	WS_OPT_KIND_TRI,    /* enum ws_tri: a flag whose value may be the next word */
	WS_OPT_KIND_SETS,   /* struct ws_strv: as MANY, none is fine; NULL before each occurrence */
	WS_OPT_KIND_SWITCH, /* enum ws_tri: as TRI; the next word only if it is yes or no */
	/*
	 * struct ws_strv: as many values as `arg` shows, "PATH [PREFIX]" or "[NAME...]"; NULL before
	 * each occurrence. With "..." occurrences collect, else the last wins. Without a "--"
	 * in front of the program only those that are not in brackets, and numbers, which are no
	 * programs; of "[NAME]..." one, if there is one.
	 */
	WS_OPT_KIND_WORDS,
};

enum ws_tri { WS_TRI_UNSET, WS_TRI_NO, WS_TRI_YES };

struct ws_opt {
	enum ws_opt_kind kind;
	int ch;                     /* 'd' for -d; 0: no short form */
	const char *name;           /* without dashes; a group's heading */
	const char *arg;            /* what --help calls the value; NULL for flags */
	const char *text;           /* help; NULL hides the row */
	size_t offset;              /* of the field in the struct of values */
	const char *const *choices; /* names by index, NULL at the end; for texts: any case */
};

/* clang-format off */
#define WS_OPT_FIELD_(T, field, type) _Generic(((T *)0)->field, type: offsetof(T, field))

#define WS_OPT_GROUP(heading) { WS_OPT_KIND_GROUP, 0, heading, NULL, "", 0, NULL }
#define WS_OPT_BOOL(T, field, ch, name, text)                                                      \
	{ WS_OPT_KIND_BOOL, ch, name, NULL, text, WS_OPT_FIELD_(T, field, bool), NULL }
#define WS_OPT_STR(T, field, ch, name, arg, text)                                                  \
	{ WS_OPT_KIND_STR, ch, name, arg, text, WS_OPT_FIELD_(T, field, const char *), NULL }
#define WS_OPT_U64(T, field, ch, name, arg, text)                                                  \
	{ WS_OPT_KIND_U64, ch, name, arg, text, WS_OPT_FIELD_(T, field, uint64_t), NULL }
#define WS_OPT_I64(T, field, ch, name, arg, text)                                                  \
	{ WS_OPT_KIND_I64, ch, name, arg, text, WS_OPT_FIELD_(T, field, int64_t), NULL }
#define WS_OPT_F64(T, field, ch, name, arg, text)                                                  \
	{ WS_OPT_KIND_F64, ch, name, arg, text, WS_OPT_FIELD_(T, field, double), NULL }
#define WS_OPT_CHOICE(T, field, ch, name, arg, choices, text)                                      \
	{ WS_OPT_KIND_CHOICE, ch, name, arg, text, WS_OPT_FIELD_(T, field, int), choices }
#define WS_OPT_LIST(T, field, ch, name, arg, text)                                                 \
	{ WS_OPT_KIND_LIST, ch, name, arg, text, WS_OPT_FIELD_(T, field, struct ws_strv), NULL }
#define WS_OPT_MANY(T, field, ch, name, arg, text)                                                 \
	{ WS_OPT_KIND_MANY, ch, name, arg, text, WS_OPT_FIELD_(T, field, struct ws_strv), NULL }
#define WS_OPT_TRI(T, field, ch, name, text)                                                       \
	{ WS_OPT_KIND_TRI, ch, name, NULL, text, WS_OPT_FIELD_(T, field, enum ws_tri), NULL }
#define WS_OPT_SETS(T, field, ch, name, arg, text)                                                 \
	{ WS_OPT_KIND_SETS, ch, name, arg, text, WS_OPT_FIELD_(T, field, struct ws_strv), NULL }
#define WS_OPT_SWITCH(T, field, ch, name, text)                                                    \
	{ WS_OPT_KIND_SWITCH, ch, name, NULL, text, WS_OPT_FIELD_(T, field, enum ws_tri), NULL }
#define WS_OPT_WORDS(T, field, ch, name, arg, text)                                                \
	{ WS_OPT_KIND_WORDS, ch, name, arg, text, WS_OPT_FIELD_(T, field, struct ws_strv), NULL }
/* A text, or texts, that must be one of @choices. */
#define WS_OPT_ONE_OF(T, field, ch, name, arg, choices, text)                                      \
	{ WS_OPT_KIND_STR, ch, name, arg, text, WS_OPT_FIELD_(T, field, const char *), choices }
#define WS_OPT_SOME_OF(T, field, ch, name, arg, choices, text)                                     \
	{ WS_OPT_KIND_MANY, ch, name, arg, text, WS_OPT_FIELD_(T, field, struct ws_strv), choices }
/* clang-format on */

enum ws_opt_order {
	WS_OPT_MIXED, /* options and operands in any order, up to -- */
	WS_OPT_FIRST, /* options end at the first operand: what follows belongs to a program */
};

struct ws_opts {
	const struct ws_opt *at;
	size_t n;
};

struct ws_opt_rest {
	char **operands; /* inside argv, NULL at the end */
	int n;
	int n_before; /* how many of them stood before --; all, when there was none */
	char asked;   /* 'h' or 'V': --help or --version was met, and parsing stopped there */
};

/*
 * Parse argv[1] and on into @values, moving operands to the end of @argv. On
 * failure (WS_E_USAGE) the text names the option and what to do; @values is then
 * half filled, and ws_opt_fini() is still due.
 */
enum ws_status ws_opt_parse(struct ws_opts opts, enum ws_opt_order order, int argc, char **argv,
			    void *values, struct ws_opt_rest *out_rest, struct ws_err *err);

void ws_opt_fini(struct ws_opts opts, void *values); /* frees the lists */

/*
 * Set one option from elsewhere (a file, the environment), with the same checks;
 * @shown names it in messages. @value must live as long as @values.
 */
enum ws_status ws_opt_set(const struct ws_opt *opt, const char *shown, const char *value,
			  void *values, struct ws_err *err);
const struct ws_opt *ws_opt_find(struct ws_opts opts, const char *name); /* long name, or NULL */
bool ws_opt_takes_many(const struct ws_opt *opt);          /* all words up to the next option */
bool ws_tri_parse(const char *word, enum ws_tri *out_tri); /* any case */

#endif
