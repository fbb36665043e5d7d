/*
 * shell: text for scripts that bash reads.
 */
#ifndef WS_MODELS_SHELL_H
#define WS_MODELS_SHELL_H

#include "base/str.h"

#include <stdbool.h>

/* One word: @text as it is where that is safe, else in single quotes. */
void mdl_shell_word(const char *text, struct ws_buf *out);
/* export NAME='value', and a line end. */
void mdl_shell_export(const char *name, const char *value, struct ws_buf *out);
/* [A-Za-z_][A-Za-z0-9_]*: what may be exported. */
bool mdl_shell_name_ok(const char *name);

#endif
