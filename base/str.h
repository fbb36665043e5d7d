/*
 * str: text as a view, and text that is being built.
 *
 * struct ws_str is a borrowed stretch of characters, not terminated; it lives
 * as long as what it points into. Print one with "%.*s", WS_STR_ARGS(s).
 *
 * struct ws_buf is a builder. Appending never reports failure at once: the
 * first failure (memory, or the ceiling) makes all later appends do nothing,
 * and ws_buf_status() tells in the end. `at` is always terminated, never NULL.
 *
 * Threads  one at a time.
 */
#ifndef WS_BASE_STR_H
#define WS_BASE_STR_H

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ws_str {
	const char *at;
	size_t n;
};

#define WS_STR(literal) ((struct ws_str){ "" literal, sizeof(literal) - 1 })
#define WS_STR_ARGS(s) (int)(s).n, (s).at

struct ws_str ws_str_from(const char *text); /* NULL gives the empty view */
bool ws_str_eq(struct ws_str a, struct ws_str b);
bool ws_str_is(struct ws_str s, const char *text);
bool ws_str_starts(struct ws_str s, const char *prefix);
bool ws_str_ends(struct ws_str s, const char *suffix);
struct ws_str ws_str_trim(struct ws_str s); /* white space at both ends */

/*
 * Take the part of *@rest before @sep and leave what follows it. False after
 * the last part: "a,,b," gives "a", "", "b", "", and "" gives one empty part.
 */
bool ws_str_next(struct ws_str *rest, char sep, struct ws_str *out_part);
/* The last line that is not empty: where most programs say why they end. */
struct ws_str ws_str_last_line(struct ws_str text);

/* The whole view must be a number (0x.. too); else, or on overflow, false. */
bool ws_str_u64(struct ws_str s, uint64_t *out_value);
bool ws_str_i64(struct ws_str s, int64_t *out_value);
bool ws_str_f64(struct ws_str s, double *out_value);
bool ws_str_bool(struct ws_str s, bool *out_value); /* 1/0 yes/no true/false on/off */

/*
 * @text as one word of a shell, in single quotes where needed; @text itself if it is one already, or
 * does not fit.
 */
#define WS_STR_SHELL_ROOM(n_bytes) (4 * (n_bytes) + 3) /* for the worst case: all are quotes */
const char *ws_str_shell(const char *text, char *to, size_t room);

/* Edits (insert, delete, replace, swap of neighbours) between two words. */
unsigned ws_str_distance(const char *a, const char *b);

/*
 * The candidate a person most likely meant by @word, or NULL when none is near.
 * @next yields candidate number i, or NULL after the last.
 */
const char *ws_str_nearest(const char *word, const char *(*next)(const void *list, size_t i),
			   const void *list);

struct ws_buf {
	char *at;
	size_t n;
	size_t cap;   /* 0: `at` is a constant "" */
	size_t max_n; /* ceiling for n */
	enum ws_status failed;
};

void ws_buf_init(struct ws_buf *buf, size_t max_n);
void ws_buf_fini(struct ws_buf *buf);  /* a zeroed or finished buffer is fine */
void ws_buf_clear(struct ws_buf *buf); /* empty again, and failures forgotten */
void ws_buf_add(struct ws_buf *buf, const char *text);
void ws_buf_add_n(struct ws_buf *buf, const void *bytes, size_t n);
void ws_buf_add_c(struct ws_buf *buf, char c, size_t times);
void ws_buf_printf(struct ws_buf *buf, const char *fmt, ...) WS_PRINTF(2, 3);
void ws_buf_vprintf(struct ws_buf *buf, const char *fmt, va_list args) WS_PRINTF(2, 0);
enum ws_status ws_buf_status(const struct ws_buf *buf, struct ws_err *err);
struct ws_str ws_buf_view(const struct ws_buf *buf);

/* Reserves @n bytes for the caller to write, who then adds to buf->n; NULL: failed. */
char *ws_buf_room(struct ws_buf *buf, size_t n);

#endif
