#include "screen/pane.h"

#include "base/utf8.h"

#include <string.h>
#include <strings.h>

#define TEXT_MAX ((size_t)256 << 20)
#define LINES_MAX ((size_t)8 << 20)

void scr_pane_init(struct scr_pane *pane, bool has_cursor)
{
	*pane = (struct scr_pane){ .has_cursor = has_cursor };
	ws_buf_init(&pane->text, TEXT_MAX);
	ws_vec_init(&pane->lines, LINES_MAX);
}

void scr_pane_fini(struct scr_pane *pane)
{
	ws_buf_fini(&pane->text);
	ws_vec_fini(&pane->lines);
}

void scr_pane_clear(struct scr_pane *pane)
{
	ws_buf_clear(&pane->text);
	pane->lines.n = 0;
	pane->n_head = 0;
}

static enum ws_status make_shown(struct scr_pane *pane, struct ws_err *err)
{
	struct ws_buf shown;
	enum ws_status st = ws_buf_status(&pane->text, err);

	if (st || ws_shown_ok(pane->text.at, pane->text.n, "\n"))
		return st;
	ws_buf_init(&shown, TEXT_MAX);
	ws_buf_add_shown(&shown, pane->text.at, pane->text.n, "\n");
	ws_buf_fini(&pane->text);
	pane->text = shown;
	return ws_buf_status(&shown, err);
}

enum ws_status scr_pane_split(struct scr_pane *pane, struct ws_err *err)
{
	enum ws_status st = make_shown(pane, err);
	struct ws_str rest = ws_buf_view(&pane->text), line;

	pane->lines.n = 0;
	if (rest.n && rest.at[rest.n - 1] == '\n')
		rest.n--; /* the end of the last line begins no other */
	while (!st && ws_str_next(&rest, '\n', &line))
		st = ws_vec_push(&pane->lines, line, err);
	pane->n_head = WS_MIN(pane->n_head, pane->lines.n);
	return st;
}

size_t scr_pane_n_body(const struct scr_pane *pane)
{
	return pane->lines.n - pane->n_head;
}

struct ws_str scr_pane_body(const struct scr_pane *pane, size_t i)
{
	return i < scr_pane_n_body(pane) ? pane->lines.at[pane->n_head + i] : WS_STR("");
}

struct ws_str scr_pane_head(const struct scr_pane *pane, size_t i)
{
	return i < pane->n_head ? pane->lines.at[i] : WS_STR("");
}

void scr_pane_fit(struct scr_pane *pane, size_t n_rows)
{
	size_t n = scr_pane_n_body(pane);

	n_rows = WS_MAX(n_rows, (size_t)1);
	pane->cursor = n ? WS_MIN(pane->cursor, n - 1) : 0;
	pane->top = WS_MIN(pane->top, n > n_rows ? n - n_rows : 0);
	if (!pane->has_cursor)
		return;
	if (pane->cursor < pane->top)
		pane->top = pane->cursor;
	else if (pane->cursor >= pane->top + n_rows)
		pane->top = pane->cursor - n_rows + 1;
}

static size_t moved(size_t from, long by)
{
	size_t back = by < 0 ? (size_t)-by : 0;

	return by < 0 ? from - WS_MIN(back, from) : from + (size_t)by;
}

void scr_pane_move(struct scr_pane *pane, long n_lines, size_t n_rows)
{
	if (pane->has_cursor)
		pane->cursor = moved(pane->cursor, n_lines);
	else
		pane->top = moved(pane->top, n_lines);
	scr_pane_fit(pane, n_rows);
}

void scr_pane_go(struct scr_pane *pane, size_t line, size_t n_rows)
{
	size_t n = scr_pane_n_body(pane);

	pane->cursor = line;
	if (line < pane->top || line >= pane->top + n_rows)
		pane->top = line - WS_MIN(line, n_rows / 2); /* with what stands around it */
	pane->top = WS_MIN(pane->top, n);
	scr_pane_fit(pane, n_rows);
}

/* Characters of the widest line; what is wider than one column is scrolled in smaller steps. */
static size_t widest(const struct scr_pane *pane)
{
	size_t most = 0;

	for (size_t i = 0; i < pane->lines.n; i++) {
		struct ws_str line = pane->lines.at[i];
		size_t n = 0;

		for (size_t k = 0; line.n > most && k < line.n; k++)
			n += ((unsigned char)line.at[k] & 0xc0) != 0x80;
		most = WS_MAX(most, n);
	}
	return most;
}

void scr_pane_shift(struct scr_pane *pane, long n_columns, size_t width)
{
	size_t most = widest(pane);

	pane->left = WS_MIN(moved(pane->left, n_columns), most > width ? most - width : 0);
}

bool scr_pane_hit(const struct scr_pane *pane, struct ws_str line, size_t *out_at)
{
	size_t n = strlen(pane->search);

	for (size_t i = 0; n && i + n <= line.n; i++) {
		if (strncasecmp(line.at + i, pane->search, n) == 0) {
			*out_at = i;
			return true;
		}
	}
	return false;
}

bool scr_pane_find(struct scr_pane *pane, int step, bool from_here, size_t n_rows)
{
	size_t n = scr_pane_n_body(pane), at, ignored;

	at = pane->has_cursor || pane->cursor - pane->top < n_rows ? pane->cursor : pane->top;
	for (size_t i = from_here ? 0 : 1; n && i <= n; i++) {
		size_t line = step > 0 ? (at + i) % n : (at + n - i % n) % n;

		if (scr_pane_hit(pane, scr_pane_body(pane, line), &ignored)) {
			scr_pane_go(pane, line, n_rows);
			return true;
		}
	}
	return false;
}
