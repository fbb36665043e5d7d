#define _XOPEN_SOURCE_EXTENDED 1
#include "screen/terminal.h"

#include "screen/screen.h"

#include "base/log.h"
#include "base/utf8.h"
#include "base/util.h"

#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

/* curses has one terminal in global variables, and so have we. */
static struct {
	SCREEN *screen;
	int stderr_fd, messages_fd; /* the user's stderr; what is written instead */
	struct sigaction before[3];
	bool signals_set;
	unsigned click_row, click_column;
} terminal = { .stderr_fd = -1, .messages_fd = -1 };

static volatile sig_atomic_t quit_asked;
static const int quit_signals[] = { SIGINT, SIGTERM, SIGHUP };

/* clang-format off */
static const struct {
	int curses_key, key;
} keys[] = {
	{ KEY_UP,        SCR_KEY_UP },
	{ KEY_DOWN,      SCR_KEY_DOWN },
	{ KEY_LEFT,      SCR_KEY_LEFT },
	{ KEY_RIGHT,     SCR_KEY_RIGHT },
	{ KEY_PPAGE,     SCR_KEY_PAGE_UP },
	{ KEY_NPAGE,     SCR_KEY_PAGE_DOWN },
	{ KEY_HOME,      SCR_KEY_HOME },
	{ KEY_END,       SCR_KEY_END },
	{ KEY_ENTER,     SCR_KEY_ENTER },
	{ KEY_BACKSPACE, SCR_KEY_BACK },
	{ KEY_BTAB,      SCR_KEY_TAB_BACK },
	{ KEY_RESIZE,    SCR_KEY_RESIZE },
};

static const struct {
	attr_t attributes;
	short colour; /* -1: the terminal's own */
} looks[SCR_LOOK_COUNT] = {
	[SCR_PLAIN]  = { A_NORMAL,           -1 },
	[SCR_BAR]    = { A_REVERSE,          -1 },
	[SCR_HEAD]   = { A_BOLD,             -1 },
	[SCR_CURSOR] = { A_REVERSE,          -1 },
	[SCR_CHOSEN] = { A_REVERSE | A_BOLD, -1 },
	[SCR_ALARM]  = { A_BOLD,             COLOR_RED },
	[SCR_WARN]   = { A_NORMAL,           COLOR_YELLOW },
	[SCR_GOOD]   = { A_NORMAL,           COLOR_GREEN },
};
/* clang-format on */

static void ask_to_quit(int signal_number)
{
	(void)signal_number;
	quit_asked = 1;
}

/* ---- stderr ---- */

static void keep_messages(void)
{
	terminal.messages_fd = memfd_create("messages", MFD_CLOEXEC);
	terminal.stderr_fd = dup(STDERR_FILENO);
	if (terminal.messages_fd >= 0 && terminal.stderr_fd >= 0)
		dup2(terminal.messages_fd, STDERR_FILENO);
}

static bool said_before(struct ws_str text, struct ws_str line)
{
	struct ws_str before = { text.at, (size_t)(line.at - text.at) }, other;

	while (before.n && ws_str_next(&before, '\n', &other))
		if (ws_str_eq(other, line))
			return true;
	return false;
}

static void print_messages(void)
{
	off_t n = lseek(terminal.messages_fd, 0, SEEK_END);
	char *at = n > 0 ? mmap(NULL, (size_t)n, PROT_READ, MAP_SHARED, terminal.messages_fd, 0)
			 : MAP_FAILED;
	struct ws_str text = { at, (size_t)WS_MAX(n, 0) }, rest = text, line;

	if (at == MAP_FAILED)
		return;
	while (rest.n && ws_str_next(&rest, '\n', &line))
		if (line.n && !said_before(text, line))
			fprintf(stderr, "%.*s\n", WS_STR_ARGS(line));
	munmap(at, text.n);
}

static void return_messages(void)
{
	if (terminal.stderr_fd >= 0)
		dup2(terminal.stderr_fd, STDERR_FILENO);
	if (terminal.messages_fd >= 0) {
		print_messages();
		close(terminal.messages_fd);
	}
	if (terminal.stderr_fd >= 0)
		close(terminal.stderr_fd);
	terminal.stderr_fd = terminal.messages_fd = -1;
}

/* ---- opening ---- */

enum ws_status scr_check(const char *instead, struct ws_err *err)
{
	const char *type = getenv("TERM");
	int known;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "this needs a terminal, and stdin or stdout is none: %s", instead);
	if (!type || !type[0])
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "TERM is not set: set it to the type of the terminal, such as "
			       "xterm-256color");
	if (setupterm(type, STDOUT_FILENO, &known) != OK)
		return ws_fail(
			err, WS_E_UNSUPPORTED,
			"the terminal type '%s' is not known here: set TERM to another, such "
			"as xterm or vt100",
			type);
	if (!tigetstr("cup") || tigetstr("cup") == (char *)-1)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "a terminal of type '%s' cannot move its cursor: %s", type, instead);
	return WS_OK;
}

/* Without a locale, as often over SSH, terminals are UTF-8 all the same. */
static void choose_locale(void)
{
	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
}

static void prepare_colours(void)
{
	if (!ws_colour_ok(STDOUT_FILENO) || !has_colors() || start_color() != OK)
		return;
	use_default_colors();
	for (int i = 1; i < SCR_LOOK_COUNT; i++)
		init_pair((short)i, looks[i].colour, -1);
}

enum ws_status scr_terminal_open(const char *instead, struct ws_err *err)
{
	struct sigaction quits = { .sa_handler = ask_to_quit };
	enum ws_status st = scr_check(instead, err);

	if (st)
		return st;
	choose_locale();
	quit_asked = 0;
	for (size_t i = 0; i < WS_ARRAY_LEN(quit_signals); i++)
		sigaction(quit_signals[i], &quits, &terminal.before[i]);
	terminal.signals_set = true;
	/* The size comes from the terminal, also after it changed; COLUMNS may be of another. */
	unsetenv("COLUMNS");
	unsetenv("LINES");
	terminal.screen = newterm(NULL, stdout, stdin);
	if (!terminal.screen) {
		scr_terminal_close();
		return ws_fail(err, WS_E_UNSUPPORTED, "cannot use this terminal: %s", instead);
	}
	keep_messages();
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	prepare_colours();
	return WS_OK;
}

void scr_terminal_close(void)
{
	if (terminal.screen) {
		endwin();
		delscreen(terminal.screen);
		terminal.screen = NULL;
		return_messages();
	}
	for (size_t i = 0; terminal.signals_set && i < WS_ARRAY_LEN(quit_signals); i++)
		sigaction(quit_signals[i], &terminal.before[i], NULL);
	terminal.signals_set = false;
}

/* ---- drawing ---- */

unsigned scr_terminal_rows(void)
{
	return (unsigned)WS_MAX(LINES, 1);
}

unsigned scr_terminal_columns(void)
{
	return (unsigned)WS_MAX(COLS, 1);
}

static void set_look(enum scr_look look)
{
	attr_set(looks[look].attributes, looks[look].colour >= 0 ? (short)look : 0, NULL);
}

/* The character at *@at, and how wide it is; what cannot be shown is '?'. */
static wchar_t next_character(struct ws_str text, size_t *at, int *out_width)
{
	static const unsigned char masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	size_t n = ws_utf8_length(text.at + *at, text.n - *at);
	wchar_t c = n ? (wchar_t)((unsigned char)text.at[*at] & masks[n]) : L'?';

	for (size_t i = 1; i < n; i++)
		c = (wchar_t)(c << 6 | ((unsigned char)text.at[*at + i] & 0x3f));
	*at += WS_MAX(n, (size_t)1);
	*out_width = wcwidth(c);
	if (*out_width < 0) {
		c = L'?';
		*out_width = 1;
	}
	return c;
}

static int columns_of(struct ws_str text)
{
	int n = 0, width;

	for (size_t at = 0; at < text.n; n += width)
		next_character(text, &at, &width);
	return n;
}

void scr_terminal_row(unsigned row, struct ws_str text, size_t left, enum scr_look look,
		      struct scr_span hit)
{
	int room = (int)scr_terminal_columns(), column = 0, width;
	size_t at = 0, skipped = 0;
	bool cut;

	if (row >= scr_terminal_rows())
		return;
	while (at < text.n && skipped < left) {
		next_character(text, &at, &width);
		skipped += (size_t)width;
	}
	/* A line of many kilobytes is measured no further than the screen reaches. */
	cut = text.n - at > (size_t)room &&
	      columns_of((struct ws_str){ text.at + at, WS_MIN(text.n - at, (size_t)room * 8) }) >
		      room;
	set_look(look);
	move((int)row, 0);
	while (at < text.n) {
		size_t from = at;
		wchar_t c = next_character(text, &at, &width);

		if (column + width > room - cut)
			break;
		if (hit.n && from >= hit.at && from < hit.at + hit.n)
			attron(A_REVERSE | A_BOLD);
		else
			set_look(look);
		addnwstr(&c, 1);
		column += width;
	}
	set_look(look);
	if (cut)
		addnwstr(L"…", 1);
	if (look == SCR_BAR || look == SCR_CURSOR)
		for (column += cut; column < room; column++)
			addnwstr(L" ", 1);
	else if (column + cut < room)
		clrtoeol();
	set_look(SCR_PLAIN);
}

unsigned scr_terminal_put(unsigned row, unsigned column, const char *text, enum scr_look look)
{
	struct ws_str all = ws_str_from(text);
	int width;

	set_look(look);
	move((int)row, (int)column);
	for (size_t at = 0; at < all.n;) {
		wchar_t c = next_character(all, &at, &width);

		if (column + (unsigned)width > scr_terminal_columns())
			break;
		addnwstr(&c, 1);
		column += (unsigned)width;
	}
	set_look(SCR_PLAIN);
	return column;
}

void scr_terminal_cursor(bool shown)
{
	curs_set(shown);
}

void scr_terminal_show(void)
{
	refresh();
}

void scr_terminal_redraw(void)
{
	clearok(curscr, TRUE);
}

/* ---- keys ---- */

void scr_terminal_mouse(bool on)
{
	mousemask(on ? BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0,
		  NULL);
	mouseinterval(0);
}

unsigned scr_terminal_click(unsigned *out_column)
{
	*out_column = terminal.click_column;
	return terminal.click_row;
}

static int mouse_key(void)
{
	MEVENT event;

	if (getmouse(&event) != OK)
		return SCR_KEY_NONE;
	terminal.click_row = (unsigned)WS_MAX(event.y, 0);
	terminal.click_column = (unsigned)WS_MAX(event.x, 0);
	return event.bstate & BUTTON4_PRESSED   ? SCR_KEY_WHEEL_UP
	       : event.bstate & BUTTON5_PRESSED ? SCR_KEY_WHEEL_DOWN
						: SCR_KEY_CLICK;
}

/* Then every read ends at once, and waiting for a key would be an endless loop. */
static bool is_gone(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&in, 1, 0) > 0 && in.revents & (POLLHUP | POLLERR | POLLNVAL);
}

int scr_terminal_key(int timeout_ms)
{
	wint_t got = 0;
	int kind;

	timeout(timeout_ms);
	kind = get_wch(&got);
	if (quit_asked || (kind == ERR && is_gone()))
		return SCR_KEY_QUIT;
	if (kind == ERR)
		return SCR_KEY_NONE;
	if (kind != KEY_CODE_YES)
		return got == '\r' || got == '\n' ? SCR_KEY_ENTER
		       : got == 0x7f || got == 8  ? SCR_KEY_BACK
						  : (int)got;
	if (got == KEY_MOUSE)
		return mouse_key();
	for (size_t i = 0; i < WS_ARRAY_LEN(keys); i++)
		if (keys[i].curses_key == (int)got)
			return keys[i].key;
	return SCR_KEY_NONE;
}
