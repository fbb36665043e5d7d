/*
 * names: where the files of a process go.
 *
 *	<OUTPUT_PATH>[/<time>]/[<prefix>]<name>[-<pid or rank>].<ext>
 *
 * OUTPUT_PATH, OUTPUT_PREFIX and other texts may hold keys: %tag%, %rank%, %env{USER}%. What is
 * not a key stays.
 *
 * Memory   in buffers of the caller.
 */
#ifndef WS_SETTINGS_NAMES_H
#define WS_SETTINGS_NAMES_H

#include "base/error.h"
#include "base/str.h"
#include "launch/placeholder.h"
#include "settings/values.h"

/* A key, for lists of them. */
struct set_key {
	const char *key;  /* "%argv%" */
	const char *help; /* what it stands for */
};
extern const struct set_key set_keys[]; /* {NULL, NULL} at the end */

/* @text with its keys replaced. */
enum ws_status set_expand(const struct set_values *values, const struct launch_place *place,
			  const char *text, struct ws_buf *out, struct ws_err *err);

/* Of one process. */
struct set_names {
	char folder[PATH_MAX]; /* without '/' at its end; absolute unless OUTPUT_PATH is relative */
	char prefix[256];      /* with its '-', and perhaps folders; "" none */
	char suffix[32];       /* "-4711"; "" none */
};
enum ws_status set_names_make(const struct set_values *values, const struct launch_place *place,
			      struct set_names *out_names, struct ws_err *err);

/* "FOLDER/PREFIXnameSUFFIX.ext"; @name may have folders, and stands alone when absolute. */
enum ws_status set_names_path(const struct set_names *names, const char *name, const char *ext,
			      char out_path[PATH_MAX], struct ws_err *err);

/* Whether the process is one of a parallel job, and named after its rank. */
bool set_is_ranked(const struct launch_place *place);

#endif
