#include "base/log.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
static const struct {
	const char *word;
	const char *label;
	const char *colour;
} levels[] = {
#define WS_LOG_ROW(name, word, label, colour) [name] = { word, label, colour },
	WS_LOG_TABLE(WS_LOG_ROW)
#undef WS_LOG_ROW
};
/* clang-format on */

static const char *tool_name = "wavescope";
static _Atomic int shown = WS_LOG_WARN;
static bool coloured;

bool ws_colour_ok(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	/* no-color.org: present and not empty, whatever its value. */
	if (no && *no)
		return false;
	return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

void ws_log_init(const char *tool)
{
	const char *word = getenv("WAVESCOPE_LOG");
	size_t i;

	tool_name = tool;
	coloured = ws_colour_ok(STDERR_FILENO);
	shown = WS_LOG_WARN;
	if (!word || !*word)
		return;
	for (i = 0; i < WS_ARRAY_LEN(levels); i++)
		if (strcmp(word, levels[i].word) == 0) {
			shown = (int)i;
			return;
		}
	ws_log_warn("WAVESCOPE_LOG=%s is not a log level: use error, warn, info, debug or trace",
		    word);
}

void ws_log_set_level(enum ws_log_level level)
{
	shown = (int)level;
}

bool ws_log_shows(enum ws_log_level level)
{
	return (int)level <= shown;
}

static void write_all(const char *at, size_t n)
{
	while (n) {
		ssize_t done = write(STDERR_FILENO, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return; /* nowhere left to complain to */
		at += done;
		n -= (size_t)done;
	}
}

/*
 * @line from @at on is a sentence that may quote others: names, paths, their own errors. What a
 * terminal would obey goes there in words; our colours are before @at.
 */
static void write_shown(char *line, size_t at)
{
	size_t n = strlen(line);
	struct ws_buf made;

	if (ws_shown_ok(line + at, n - at, "\n\t")) {
		line[n++] = '\n';
		write_all(line, n);
		return;
	}
	ws_buf_init(&made, SIZE_MAX);
	ws_buf_add_n(&made, line, at);
	ws_buf_add_shown(&made, line + at, n - at, "\n\t");
	ws_buf_add(&made, "\n");
	write_all(made.at, made.n);
	ws_buf_fini(&made);
}

void ws_log_v(enum ws_log_level level, const char *fmt, va_list args)
{
	const char *colour = coloured ? levels[level].colour : NULL;
	const char *on = "", *off = "";
	char line[2048], paint[16];
	int saved_errno = errno;
	size_t n;

	if (!ws_log_shows(level))
		return;
	if (colour) {
		snprintf(paint, sizeof(paint), "\033[%sm", colour);
		on = paint;
		off = "\033[0m";
	}
	n = (size_t)snprintf(line, sizeof(line), "%s%s:%s %s", on, tool_name, off,
			     levels[level].label);
	n = WS_MIN(n, sizeof(line) - 2);
	vsnprintf(line + n, sizeof(line) - 1 - n, fmt, args);
	write_shown(line, n);
	errno = saved_errno;
}

/* clang-format off */
#define LOG_FUNCTION(name, level)                \
	void name(const char *fmt, ...)          \
	{                                        \
		va_list args;                    \
						 \
		va_start(args, fmt);             \
		ws_log_v(level, fmt, args);      \
		va_end(args);                    \
	}

LOG_FUNCTION(ws_log_error, WS_LOG_ERROR)
LOG_FUNCTION(ws_log_warn,  WS_LOG_WARN)
LOG_FUNCTION(ws_log_info,  WS_LOG_INFO)
LOG_FUNCTION(ws_log_debug, WS_LOG_DEBUG)
LOG_FUNCTION(ws_log_trace, WS_LOG_TRACE)
/* clang-format on */

void ws_print(FILE *to, const char *fmt, ...)
{
	struct ws_buf text, made;
	va_list args;

	ws_buf_init(&text, SIZE_MAX);
	ws_buf_init(&made, SIZE_MAX);
	va_start(args, fmt);
	ws_buf_vprintf(&text, fmt, args);
	va_end(args);
	ws_buf_add_shown(&made, text.at, text.n, "\n\t");
	fputs(made.at, to);
	ws_buf_fini(&text);
	ws_buf_fini(&made);
}
