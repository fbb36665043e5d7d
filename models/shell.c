#include "models/shell.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS "0123456789"

void mdl_shell_word(const char *text, struct ws_buf *out)
{
	size_t room = WS_STR_SHELL_ROOM(strlen(text));
	char *to = ws_buf_room(out, room);

	if (to && ws_str_shell(text, to, room) == to)
		out->n += strlen(to);
	else
		ws_buf_add(out, text);
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
