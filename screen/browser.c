#include "screen/browser.h"

#include "base/utf8.h"
#include "base/util.h"
#include "report/explain.h"
#include "screen/terminal.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define TABS_MAX 9u   /* each has a digit */
#define OPENED_MAX 8u /* pages on top of a tab */
#define SHIFT_COLUMNS 8
#define BARS 3 /* rows that are no page: title, tabs, keys */
#define TABS_ROW 1

struct page {
	const struct scr_page_kind *kind; /* NULL: none */
	char arg[SCR_ARG_BYTES];
	struct scr_pane pane;
	bool stale;
	unsigned tab_from,
		tab_end; /* columns of its name in the row of tabs; equal: it is not there */
};

struct browser {
	const struct scr_subject *subject;
	struct page tabs[TABS_MAX], opened[OPENED_MAX];
	size_t n_tabs, tab, n_opened;
	bool helping, mouse, done;
	struct scr_pane help;
	char typed[SCR_SEARCH_BYTES]; /* while searching */
	bool searching;
	struct ws_buf title_text; /* as the subject wrote it */
	char note[120];           /* in the last row, until the next key */
};

/* ---- pages ---- */

static struct page *shown_page(struct browser *b)
{
	return b->n_opened ? &b->opened[b->n_opened - 1] : &b->tabs[b->tab];
}

static struct scr_pane *shown_pane(struct browser *b)
{
	return b->helping ? &b->help : &shown_page(b)->pane;
}

static struct scr_area page_area(void)
{
	unsigned n = scr_terminal_rows();

	return (struct scr_area){ scr_terminal_columns(), n > BARS + 1 ? n - BARS : 1 };
}

static size_t body_rows(const struct scr_pane *pane)
{
	size_t n = page_area().n_rows;

	return n > pane->n_head ? n - pane->n_head : 1;
}

static void open_page(struct page *page, const struct scr_page_kind *kind)
{
	page->kind = kind;
	page->stale = true;
	scr_pane_init(&page->pane, kind->has_cursor);
}

/* An error is shown in place of the page: other pages still have something to say. */
static enum ws_status fill_page(struct browser *b, struct page *page, struct ws_err *err)
{
	struct ws_err why = { WS_OK, "" };
	struct scr_pane *pane = &page->pane;

	scr_pane_clear(pane);
	page->stale = false;
	if (page->kind->fill(b->subject->of, page->arg, page_area(), pane, &why)) {
		scr_pane_clear(pane);
		rpt_text_fill(why.text, 1, 1, page_area().n_columns, &pane->text);
	}
	return scr_pane_split(pane, err);
}

static void make_stale(struct browser *b, enum scr_change change)
{
	if (change == SCR_PAGE_CHANGED)
		shown_page(b)->stale = true;
	for (size_t i = 0; change == SCR_PAGES_CHANGED && i < b->n_tabs; i++)
		b->tabs[i].stale = true;
	for (size_t i = 0; change == SCR_PAGES_CHANGED && i < b->n_opened; i++)
		b->opened[i].stale = true;
}

static void close_opened(struct browser *b)
{
	scr_pane_fini(&b->opened[--b->n_opened].pane);
}

static void go_to_tab(struct browser *b, size_t tab)
{
	while (b->n_opened)
		close_opened(b);
	b->tab = tab;
}

static void open_line(struct browser *b)
{
	struct page *page = shown_page(b);
	const struct scr_page_kind *kind = NULL;
	char arg[SCR_ARG_BYTES] = "";

	if (page->kind->open)
		kind = page->kind->open(b->subject->of,
					scr_pane_body(&page->pane, page->pane.cursor), arg);
	if (!kind)
		return;
	for (size_t i = 0; i < b->n_tabs; i++) {
		if (b->tabs[i].kind == kind) { /* it has a tab of its own */
			go_to_tab(b, i);
			make_stale(b, SCR_PAGES_CHANGED);
			return;
		}
	}
	if (b->n_opened == OPENED_MAX) {
		snprintf(b->note, sizeof(b->note), "too many pages are open: go back first");
		return;
	}
	page = &b->opened[b->n_opened++];
	open_page(page, kind);
	snprintf(page->arg, sizeof(page->arg), "%s", arg);
}

/* ---- keys ---- */

enum action {
	ACT_NONE,
	ACT_QUIT,
	ACT_HELP,
	ACT_LINES, /* by `n` */
	ACT_PAGES, /* by `n` halves */
	ACT_FIRST,
	ACT_LAST,
	ACT_COLUMNS, /* by `n` steps */
	ACT_OPEN,
	ACT_BACK,
	ACT_SEARCH,
	ACT_FIND, /* towards `n` */
	ACT_TABS, /* by `n` */
	ACT_MOUSE,
	ACT_CLICK,
	ACT_REDRAW,
	ACT_RESIZE,
};

/* clang-format off */
static const struct binding {
	int key, other;
	enum action action;
	int n;
	const char *help; /* NULL: the row above has said it */
} bindings[] = {
	{ 'j',             SCR_KEY_DOWN,      ACT_LINES,   1, "j k, arrows    a line down, up" },
	{ 'k',             SCR_KEY_UP,        ACT_LINES,  -1, NULL },
	{ ' ',             SCR_KEY_PAGE_DOWN, ACT_PAGES,   2, "Space b        a page down, up; also PgDn, PgUp" },
	{ 'b',             SCR_KEY_PAGE_UP,   ACT_PAGES,  -2, NULL },
	{ SCR_KEY_CTRL('d'), 0,               ACT_PAGES,   1, "Ctrl-D Ctrl-U  half a page down, up" },
	{ SCR_KEY_CTRL('u'), 0,               ACT_PAGES,  -1, NULL },
	{ 'g',             SCR_KEY_HOME,      ACT_FIRST,   0, "g G            first line, last line; also Home, End" },
	{ 'G',             SCR_KEY_END,       ACT_LAST,    0, NULL },
	{ 'h',             SCR_KEY_LEFT,      ACT_COLUMNS, -1, "h l, arrows    scroll sideways" },
	{ 'l',             SCR_KEY_RIGHT,     ACT_COLUMNS, 1, NULL },
	{ SCR_KEY_ENTER,   'o',               ACT_OPEN,    0, "Enter          open what the line names" },
	{ SCR_KEY_BACK,    SCR_KEY_ESCAPE,    ACT_BACK,    0, "Backspace Esc  go back" },
	{ '/',             0,                 ACT_SEARCH,  0, "/              search; n N: next, previous" },
	{ 'n',             0,                 ACT_FIND,    1, NULL },
	{ 'N',             0,                 ACT_FIND,   -1, NULL },
	{ '\t',            0,                 ACT_TABS,    1, "Tab 1 2 ...    next tab, first, second ..." },
	{ SCR_KEY_TAB_BACK, 0,                ACT_TABS,   -1, NULL },
	{ 'm',             0,                 ACT_MOUSE,   0, "m              mouse on or off; off, the terminal selects text" },
	{ SCR_KEY_CTRL('l'), 0,               ACT_REDRAW,  0, "Ctrl-L         draw the screen again" },
	{ '?',             0,                 ACT_HELP,    0, "?              this help" },
	{ 'q',             SCR_KEY_QUIT,      ACT_QUIT,    0, "q              quit" },
	{ SCR_KEY_WHEEL_DOWN, 0,              ACT_LINES,   3, NULL },
	{ SCR_KEY_WHEEL_UP, 0,                ACT_LINES,  -3, NULL },
	{ SCR_KEY_CLICK,   0,                 ACT_CLICK,   0, NULL },
	{ SCR_KEY_RESIZE,  0,                 ACT_RESIZE,  0, NULL },
};
/* clang-format on */

static enum ws_status fill_help(struct browser *b, struct ws_err *err)
{
	scr_pane_clear(&b->help);
	for (size_t i = 0; i < WS_ARRAY_LEN(bindings); i++)
		if (bindings[i].help)
			ws_buf_printf(&b->help.text, "  %s\n", bindings[i].help);
	ws_buf_printf(&b->help.text, "\n%s", b->subject->help);
	return scr_pane_split(&b->help, err);
}

static void find(struct browser *b, int step, bool from_here)
{
	struct scr_pane *pane = shown_pane(b);

	if (!pane->search[0])
		snprintf(b->note, sizeof(b->note), "nothing to search for: type / first");
	else if (!scr_pane_find(pane, step, from_here, body_rows(pane)))
		snprintf(b->note, sizeof(b->note), "not found: %.90s", pane->search);
}

/* A key while the user types what to search for. */
static void type_search(struct browser *b, int key)
{
	struct scr_pane *pane = shown_pane(b);
	size_t n = strlen(b->typed);

	if (key == SCR_KEY_ENTER) {
		b->searching = false;
		if (n)
			memcpy(pane->search, b->typed, sizeof(b->typed));
		find(b, 1, true);
	} else if (key == SCR_KEY_ESCAPE || key == SCR_KEY_QUIT) {
		b->searching = false;
		b->done = key == SCR_KEY_QUIT;
	} else if (key == SCR_KEY_BACK) {
		while (n && ((unsigned char)b->typed[n - 1] & 0xc0) == 0x80)
			n--;
		b->typed[n ? n - 1 : 0] = '\0';
	} else if (key >= ' ' && key < 0x80 && n + 1 < sizeof(b->typed)) {
		b->typed[n] = (char)key;
		b->typed[n + 1] = '\0';
	} else if (key >= 0x80 && key < SCR_KEY_NONE && n + 4 < sizeof(b->typed)) {
		snprintf(b->typed + n, sizeof(b->typed) - n, "%lc", (wint_t)key);
	}
}

/* On a tab: shows it. On a line: selects it, or opens it if it is selected already. */
static void click(struct browser *b)
{
	struct scr_pane *pane = shown_pane(b);
	unsigned column;
	size_t row = scr_terminal_click(&column), first = BARS - 1 + pane->n_head, line;

	for (size_t i = 0; row == TABS_ROW && i < b->n_tabs; i++)
		if (column >= b->tabs[i].tab_from && column < b->tabs[i].tab_end) {
			b->helping = false;
			go_to_tab(b, i);
			return;
		}
	if (!pane->has_cursor || row < first || row >= first + body_rows(pane))
		return;
	line = pane->top + row - first;
	if (line == pane->cursor && !b->helping)
		open_line(b);
	else
		scr_pane_go(pane, line, body_rows(pane));
}

static void act(struct browser *b, const struct binding *to_do)
{
	struct scr_pane *pane = shown_pane(b);
	size_t n_rows = body_rows(pane), n = scr_pane_n_body(pane);

	switch (to_do->action) {
	case ACT_QUIT:
		b->done = true;
		break;
	case ACT_HELP:
		b->helping = !b->helping;
		break;
	case ACT_LINES:
		scr_pane_move(pane, to_do->n, n_rows);
		break;
	case ACT_PAGES:
		scr_pane_move(pane, to_do->n * (long)WS_MAX(n_rows / 2, (size_t)1), n_rows);
		break;
	case ACT_FIRST:
		scr_pane_move(pane, -(long)n, n_rows);
		pane->left = 0;
		break;
	case ACT_LAST:
		scr_pane_move(pane, (long)n, n_rows);
		break;
	case ACT_COLUMNS:
		scr_pane_shift(pane, to_do->n * SHIFT_COLUMNS, page_area().n_columns);
		break;
	case ACT_OPEN:
		if (!b->helping)
			open_line(b);
		break;
	case ACT_BACK:
		if (b->helping)
			b->helping = false;
		else if (b->n_opened)
			close_opened(b);
		break;
	case ACT_SEARCH:
		b->searching = true;
		b->typed[0] = '\0';
		break;
	case ACT_FIND:
		find(b, to_do->n, false);
		break;
	case ACT_TABS:
		b->helping = false;
		go_to_tab(b, (b->tab + b->n_tabs + (size_t)to_do->n) % b->n_tabs);
		break;
	case ACT_MOUSE:
		b->mouse = !b->mouse;
		scr_terminal_mouse(b->mouse);
		snprintf(b->note, sizeof(b->note), "mouse: %s", b->mouse ? "on" : "off");
		break;
	case ACT_CLICK:
		click(b);
		break;
	case ACT_REDRAW:
		scr_terminal_redraw();
		break;
	case ACT_RESIZE:
		make_stale(b, SCR_PAGES_CHANGED);
		scr_terminal_redraw();
		break;
	case ACT_NONE:
		break;
	}
}

static void press(struct browser *b, int key)
{
	struct scr_pane *pane = shown_pane(b);

	b->note[0] = '\0';
	if (b->searching && key != SCR_KEY_RESIZE) {
		type_search(b, key);
		return;
	}
	if (key > '0' && key <= '0' + (int)b->n_tabs) {
		b->helping = false;
		go_to_tab(b, (size_t)(key - '1'));
		return;
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(bindings); i++) {
		if (bindings[i].key == key || (bindings[i].other && bindings[i].other == key)) {
			act(b, &bindings[i]);
			return;
		}
	}
	if (!b->helping && b->subject->key)
		make_stale(b,
			   b->subject->key(b->subject->of, key, scr_pane_body(pane, pane->cursor)));
}

/* ---- drawing ---- */

/* Lines that mean more than others. */
static const struct {
	const char *text;
	enum scr_look look;
} marks[] = {
	{ "[high]", SCR_ALARM }, { "[medium]", SCR_WARN }, { "[low]", SCR_HEAD },
	{ "WARNING", SCR_WARN }, { "slower", SCR_ALARM },  { "faster", SCR_GOOD },
};

static enum scr_look look_of(struct ws_str line)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(marks); i++)
		if (line.n && memmem(line.at, line.n, marks[i].text, strlen(marks[i].text)))
			return marks[i].look;
	return SCR_PLAIN;
}

static void draw_pane(const struct scr_pane *pane)
{
	struct scr_area area = page_area();
	unsigned first = BARS - 1;

	for (unsigned row = 0; row < area.n_rows; row++) {
		bool head = row < pane->n_head;
		size_t body = head ? 0 : pane->top + row - pane->n_head;
		struct ws_str line = head ? scr_pane_head(pane, row) : scr_pane_body(pane, body);
		enum scr_look look = head ? SCR_HEAD : look_of(line);
		struct scr_span hit = { 0, strlen(pane->search) };

		if (!head && pane->has_cursor && body == pane->cursor && line.at && line.n)
			look = SCR_CURSOR;
		if (head || !scr_pane_hit(pane, line, &hit.at))
			hit.n = 0;
		scr_terminal_row(first + row, line, pane->left, look, hit);
	}
}

static void draw_tabs(struct browser *b)
{
	unsigned column = 0;

	scr_terminal_row(TABS_ROW, WS_STR(""), 0, SCR_PLAIN, (struct scr_span){ 0 });
	for (size_t i = 0; i < b->n_tabs; i++) {
		bool chosen = i == b->tab && !b->helping;
		char name[48];

		b->tabs[i].tab_from = b->tabs[i].tab_end = column;
		if (b->n_opened && !chosen) /* the way to what was opened takes the row */
			continue;
		snprintf(name, sizeof(name), " %zu %s ", i + 1, b->tabs[i].kind->name);
		column = scr_terminal_put(TABS_ROW, column, name, chosen ? SCR_CHOSEN : SCR_PLAIN);
		b->tabs[i].tab_end = column;
	}
	for (size_t i = 0; !b->helping && i < b->n_opened; i++) {
		char name[SCR_ARG_BYTES + 48];

		snprintf(name, sizeof(name), " > %s %s", b->opened[i].kind->name, b->opened[i].arg);
		column = scr_terminal_put(TABS_ROW, column, name, SCR_HEAD);
	}
	if (b->helping)
		scr_terminal_put(TABS_ROW, column, " Keys ", SCR_CHOSEN);
}

static void draw_keys(struct browser *b)
{
	const struct scr_pane *pane = shown_pane(b);
	const char *own = b->helping ? NULL : shown_page(b)->kind->keys;
	size_t n = scr_pane_n_body(pane), at = pane->has_cursor ? pane->cursor : pane->top;
	unsigned row = scr_terminal_rows() - 1, columns = scr_terminal_columns();
	char keys[256], place[48];

	snprintf(place, sizeof(place), " %zu/%zu ", n ? at + 1 : 0, n);
	if (b->searching)
		snprintf(keys, sizeof(keys), "/%s", b->typed);
	else if (b->note[0])
		snprintf(keys, sizeof(keys), " %s", b->note);
	else
		snprintf(keys, sizeof(keys), " q quit  ? help  / search%s%s%s%s",
			 b->n_opened && !b->helping ? "  Backspace back" : "",
			 !b->helping && shown_page(b)->kind->open ? "  Enter open" : "",
			 own ? "  " : "", own ? own : "");
	scr_terminal_row(row, ws_str_from(keys), 0, SCR_BAR, (struct scr_span){ 0 });
	if (columns > strlen(place))
		scr_terminal_put(row, columns - (unsigned)strlen(place), place, SCR_BAR);
	if (b->searching)
		scr_terminal_put(row, 0, keys, SCR_BAR);
	scr_terminal_cursor(b->searching);
}

static enum ws_status draw(struct browser *b, struct ws_buf *title, struct ws_err *err)
{
	struct scr_pane *pane = shown_pane(b);
	enum ws_status st = WS_OK;

	if (!b->helping && shown_page(b)->stale)
		st = fill_page(b, shown_page(b), err);
	if (st)
		return st;
	ws_buf_clear(title);
	ws_buf_clear(&b->title_text);
	b->subject->title(b->subject->of, &b->title_text);
	ws_buf_add_shown(title, b->title_text.at, b->title_text.n, "");
	scr_pane_fit(pane, body_rows(pane));
	scr_terminal_row(0, ws_buf_view(title), 0, SCR_BAR, (struct scr_span){ 0 });
	draw_tabs(b);
	draw_pane(pane);
	draw_keys(b);
	scr_terminal_show();
	return WS_OK;
}

enum ws_status scr_browse(const struct scr_subject *subject, struct ws_err *err)
{
	struct browser b = { .subject = subject };
	int wait_ms = subject->idle ? subject->wait_ms : -1;
	struct ws_buf title;
	enum ws_status st;

	ws_buf_init(&title, 1u << 16);
	ws_buf_init(&b.title_text, 1u << 16);
	for (; subject->tabs[b.n_tabs] && b.n_tabs < TABS_MAX; b.n_tabs++)
		open_page(&b.tabs[b.n_tabs], subject->tabs[b.n_tabs]);
	scr_pane_init(&b.help, false);
	st = fill_help(&b, err);
	if (!st)
		st = scr_terminal_open(subject->instead, err);
	while (!st && !b.done) {
		int key;

		st = draw(&b, &title, err);
		key = st ? SCR_KEY_NONE : scr_terminal_key(wait_ms);
		if (key != SCR_KEY_NONE)
			press(&b, key);
		else if (!st && subject->idle)
			make_stale(&b, subject->idle(subject->of, &wait_ms));
	}
	scr_terminal_close();
	while (b.n_opened)
		close_opened(&b);
	for (size_t i = 0; i < b.n_tabs; i++)
		scr_pane_fini(&b.tabs[i].pane);
	scr_pane_fini(&b.help);
	ws_buf_fini(&title);
	ws_buf_fini(&b.title_text);
	return st;
}
