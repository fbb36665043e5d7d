/*
 * def: the settings of rocprof-sys, as data/settings/ defines them.
 *
 * A setting is known by its variable, ROCPROFSYS_TRACE, and by its key, trace. The tables are
 * made when wavescope is built.
 *
 * Threads  constants and pure functions.
 */
#ifndef WS_SETTINGS_DEF_H
#define WS_SETTINGS_DEF_H

#include "base/str.h"
#include "settings/ids.h" /* made by gen_settings.py */

#include <stdbool.h>

#define SET_PREFIX "ROCPROFSYS_"

enum set_id {
#define SET_ID_ROW(name) SET_##name,
	SET_ID_TABLE(SET_ID_ROW)
#undef SET_ID_ROW
		SET_COUNT /* also: no such setting */
};

enum set_type {
	SET_TYPE_BOOL,
	SET_TYPE_INT,
	SET_TYPE_UNSIGNED,
	SET_TYPE_DOUBLE,
	SET_TYPE_STRING,
	SET_TYPE_LIST, /* words: set_next_word() */
};

struct set_def {
	const char *name; /* "ROCPROFSYS_TRACE" */
	const char *key;  /* "trace" */
	enum set_type type;
	const char *fallback; /* its value when nothing sets it and values.h has no better one */
	const char *const *categories; /* sorted; NULL at the end */
	const char *const *choices;    /* NULL: any value; else NULL at the end */
	const char *help;
	const char *unused; /* why it has no effect here; NULL: it has */
	bool advanced;
	enum set_id renamed; /* an old name of this setting; SET_COUNT: it is none */
};
extern const struct set_def set_defs[SET_COUNT];

/* By variable or key, in any case; SET_COUNT: there is none. */
enum set_id set_find(struct ws_str name);
/* The variable that was probably meant, or NULL. */
const char *set_nearest(const char *name);
bool set_in_category(enum set_id id, const char *category);
/* For people: "bool", "int", "unsigned", "double" or "string". */
const char *set_type_name(enum set_type type);

/* The next word of a list: blanks, ',' and ';' separate, and so does ':' where @colons. */
bool set_next_word(struct ws_str *rest, bool colons, struct ws_str *out_word);

/*
 * Variables that AMD's tool reads from the environment only: they are no settings and no
 * mistakes. @name is with its prefix.
 */
bool set_is_environment_only(const char *name);

#endif
