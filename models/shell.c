#include "models/shell.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS "0123456789"

void mdl_shell_word(const char *text, struct ws_buf *out)
{
	if (*text && !text[strspn(text, LETTERS DIGITS "@%+=:,./-")]) {
		ws_buf_add(out, text);
		return;
	}
	ws_buf_add(out, "'");
	for (; *text; text++) {
		if (*text == '\'')
			ws_buf_add(out, "'\\''");
		else
			ws_buf_add_n(out, text, 1);
	}
	ws_buf_add(out, "'");
}

void mdl_shell_export(const char *name, const char *value, struct ws_buf *out)
{
	ws_buf_printf(out, "export %s=", name);
	mdl_shell_word(value, out);
	ws_buf_add(out, "\n");
}

bool mdl_shell_name_ok(const char *name)
{
	return *name && !strchr(DIGITS, *name) && !name[strspn(name, LETTERS DIGITS)];
}
