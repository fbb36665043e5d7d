/*
 * values: what each setting is, and who said so.
 *
 * The command line is stronger than the environment, which is stronger than configuration
 * files. The order of the calls below does not matter, except that files are read last,
 * because the other two name them:
 *
 *	set_values_init(&values);
 *	set_put(&values, SET_TRACE, "true", SET_FROM_COMMAND_LINE, err);
 *	set_from_environment(&values, environ, err);
 *	set_from_files(&values, err);                    settings/file.h
 *	set_finish(&values, true);
 *	if (set_on(&values, SET_TRACE)) ...
 *
 * Threads  one at a time while values are set; any number of readers afterwards.
 * Memory   texts live as long as the values.
 * Failure  WS_E_USAGE for a value that its setting does not accept; the text names the setting.
 */
#ifndef WS_SETTINGS_VALUES_H
#define WS_SETTINGS_VALUES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "settings/def.h"

#include <stdint.h>

enum set_origin {
	SET_FROM_DEFAULT,
	SET_FROM_FILE,
	SET_FROM_ENVIRONMENT,
	SET_FROM_COMMAND_LINE,
};

struct set_value {
	const char *text;  /* never NULL */
	const char *usual; /* what it is when nothing sets it */
	enum set_origin origin;
};

struct set_values {
	struct ws_arena arena;
	struct set_value at[SET_COUNT];
	/* For the program's environment, from files: name, value, name, value... */
	struct ws_strv exports;
};

void set_values_init(struct set_values *values);
void set_values_fini(struct set_values *values);

/* A weaker origin than the one that set it before changes nothing. */
enum ws_status set_put(struct set_values *values, enum set_id id, const char *text,
		       enum set_origin origin, struct ws_err *err);
/*
 * By variable or key. An old name sets what it is called now, with a warning. WS_E_NOTFOUND:
 * no such setting.
 */
enum ws_status set_put_named(struct set_values *values, const char *name, const char *text,
			     enum set_origin origin, struct ws_err *err);

/* All ROCPROFSYS_ variables of @env (NULL at the end). An unknown one is a warning. */
enum ws_status set_from_environment(struct set_values *values, char *const *env,
				    struct ws_err *err);

/*
 * Defaults that depend on other settings and on this machine. @running: for a program that is
 * about to be run; mode 'sampling' is then the default.
 */
void set_finish(struct set_values *values, bool running);

/*
 * Warns of settings that were changed and have no effect here. Setting one to its default is
 * no change.
 */
void set_warn_unused(const struct set_values *values);

bool set_is_given(const struct set_values *values, enum set_id id); /* by anybody */
const char *set_text(const struct set_values *values, enum set_id id);
bool set_on(const struct set_values *values, enum set_id id);                    /* BOOL */
int64_t set_int(const struct set_values *values, enum set_id id);                /* INT, UNSIGNED */
double set_real(const struct set_values *values, enum set_id id);                /* DOUBLE */
bool set_has(const struct set_values *values, enum set_id id, const char *word); /* LIST */

/* on/off, yes/no, true/false, 1/0, t/f, y/n, in any case. */
bool set_parse_bool(struct ws_str text, bool *out_value);

#endif
