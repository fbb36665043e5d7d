#include "base/pattern.h"

#include <regex.h>
#include <string.h>

/* Classes by their letter, as the inside of a bracket. */
static const char *class_of(char letter)
{
	return letter == 'd'   ? "0-9"
	       : letter == 'w' ? "_[:alnum:]"
	       : letter == 's' ? "[:space:]"
			       : NULL;
}

/* \ and what follows it; returns how many characters that was, 0: it cannot be said. */
static size_t put_escape(const char *at, bool in_bracket, struct ws_buf *out)
{
	const char *class = class_of(at[1]);
	char lower = (char)(at[1] | 0x20);

	if (!at[1])
		return 0;
	if (class && in_bracket) {
		ws_buf_add(out, class);
	} else if (class) {
		ws_buf_printf(out, "[%s]", class);
	} else if (!in_bracket && at[1] != lower && class_of(lower)) {
		ws_buf_printf(out, "[^%s]", class_of(lower));
	} else if (at[1] >= '1' && at[1] <= '9') {
		return 0;
	} else if (in_bracket) {
		ws_buf_add_n(out, at + 1, 1); /* a backslash is itself there: leave it out */
	} else {
		ws_buf_add_n(out, at, 2);
	}
	return 2;
}

static enum ws_status translate(const char *text, struct ws_buf *out, struct ws_err *err)
{
	bool in_bracket = false, repeats = false;

	for (const char *at = text; *at;) {
		size_t n = 1;
		bool repeated = repeats;

		repeats = false;
		if (*at == '\\') {
			n = put_escape(at, in_bracket, out);
			if (!n)
				return ws_fail(err, WS_E_USAGE,
					       "'%s' is no regular expression: '%.2s' is not "
					       "understood",
					       text, at);
		} else if (in_bracket) {
			in_bracket = *at != ']';
			ws_buf_add_n(out, at, 1);
		} else if (strncmp(at, "(?:", 3) == 0) {
			ws_buf_add(out, "(");
			n = 3;
		} else if (strncmp(at, "(?", 2) == 0) {
			return ws_fail(
				err, WS_E_USAGE,
				"'%s' is no regular expression here: '(?' other than '(?:' is "
				"not understood",
				text);
		} else if (*at == '?' && repeated) {
			/* lazy */
		} else if (*at == '[') {
			/* "[]" and "[^]" begin with a bracket that is one of the characters */
			n = 1 + (at[1] == '^');
			n += at[n] == ']';
			in_bracket = true;
			ws_buf_add_n(out, at, n);
		} else {
			repeats = strchr("*+?}", *at) != NULL;
			ws_buf_add_n(out, at, 1);
		}
		at += n;
	}
	return WS_OK;
}

enum ws_status ws_pattern_posix(const char *text, struct ws_buf *out, struct ws_err *err)
{
	size_t first = out->n;
	enum ws_status st = translate(text, out, err);
	char why[96];
	regex_t regex;
	int failed;

	if (!st)
		st = ws_buf_status(out, err);
	if (st)
		return st;
	failed = regcomp(&regex, *text ? out->at + first : "", REG_EXTENDED | REG_NOSUB);
	if (!failed) {
		regfree(&regex);
		return WS_OK;
	}
	regerror(failed, &regex, why, sizeof(why));
	return ws_fail(err, WS_E_USAGE, "'%s' is no regular expression: %s", text, why);
}
