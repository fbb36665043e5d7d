/*
 * Kernel names for --kernel-verbose: template arguments deeper than the level are left
 * out, as are name spaces and the compiler's [clone] mark.
 *
 * A name is taken apart into pieces: words (with blanks and parentheses), the
 * punctuation behind them, and whether "::" follows. The pieces and the counting of
 * levels are those of AMD's tool, so that shortened names match its listings.
 */
#include "workload/workload_priv.h"

#include "base/utf8.h"
#include "trace/trace.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct piece {
	struct ws_str word, marks;
	bool scope; /* "::" follows */
};

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '(' || c == ')' || c == ' ';
}

static bool in_marks(char c)
{
	return c && strchr(" ,*<>()", c);
}

/* The next piece at or after *@pos, longest match first, as a regular expression would. */
static bool next_piece(const char *name, size_t *pos, struct piece *out)
{
	for (size_t from = *pos; name[from]; from++) {
		size_t to = from, end;

		while (in_word(name[to]))
			to++;
		while (to > from && !in_marks(name[to]))
			to--; /* give back what may serve as punctuation */
		if (to == from)
			continue;
		for (end = to; in_marks(name[end]); end++)
			;
		*out = (struct piece){ { name + from, to - from }, { name + to, end - to }, false };
		if (name[end] == ':' && name[end + 1] == ':') {
			out->scope = true;
			end += 2;
		}
		*pos = end;
		return true;
	}
	return false;
}

static int count(struct ws_str text, char c)
{
	int n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.at[i] == c;
	return n;
}

static void add_piece(struct ws_buf *to, const struct piece *piece, int level, int *depth)
{
	struct ws_str marks = piece->marks;

	if (*depth < level)
		ws_buf_add_n(to, piece->word.at, piece->word.n);
	if (!count(marks, '>')) {
		int opens = count(marks, '<');

		if (*depth < level && !(*depth == level - 1 && opens))
			ws_buf_add_n(to, marks.at, marks.n);
		*depth += opens;
		return;
	}
	/* Closing brackets: once the depth allows, the rest of the punctuation is shown. */
	for (size_t i = 0; i < marks.n; i++) {
		if (*depth < level) {
			struct ws_str rest = { marks.at + i, marks.n - i };

			ws_buf_add_n(to, rest.at, rest.n);
			*depth -= count(rest, '>');
			return;
		}
		if (marks.at[i] == '>')
			--*depth;
	}
}

static const char *shortened(struct ws_arena *arena, const char *name, int level)
{
	const char *result = name;
	struct piece piece;
	struct ws_buf made;
	size_t pos = 0;
	int depth = 0;

	ws_buf_init(&made, 1 << 20);
	while (next_piece(name, &pos, &piece))
		if (!piece.scope && !ws_str_is(piece.word, "clone"))
			add_piece(&made, &piece, level, &depth);
	if (made.n && !ws_buf_status(&made, NULL))
		result = ws_arena_strdup(arena, made.at);
	ws_buf_fini(&made);
	return result;
}

/* Kernels whose names became the same are one kernel from here on. */
static enum ws_status merge_equal(struct wl_workload *load, struct ws_err *err)
{
	uint32_t *number = calloc(load->n_kernels + 1, sizeof(*number));
	uint32_t *kernel_of = (uint32_t *)(uintptr_t)load->kernel_of;
	enum ws_status st = WS_OK;
	struct ws_map names;
	size_t n = 0;

	if (!number)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_map_init(&names, WS_MAP_STR, (1u << 31) - 1);
	for (size_t k = 0; !st && k < load->n_kernels; k++) {
		struct ws_str name = ws_str_from(load->kernels[k].shown);
		struct ws_map_entry *entry = ws_map_find(&names, name);

		if (entry) {
			number[k] = (uint32_t)(uintptr_t)entry->value;
			continue;
		}
		number[k] = (uint32_t)n;
		load->kernels[n] = load->kernels[k];
		st = ws_map_put(&names, name, (void *)(uintptr_t)n++, err);
	}
	for (size_t row = 0; !st && row < load->n_rows; row++)
		kernel_of[row] = number[kernel_of[row]];
	load->n_kernels = n;
	ws_map_fini(&names);
	free(number);
	return st;
}

enum ws_status wl_load_shorten(struct wl_workload *load, int level, struct ws_err *err)
{
	for (size_t k = 0; k < load->n_kernels; k++) {
		char *demangled = trc_demangle(load->kernels[k].name);
		const char *name = demangled ? ws_arena_strdup(&load->arena, demangled)
					     : load->kernels[k].name;

		free(demangled);
		name = name ? ws_shown_text(name, &load->arena) : NULL;
		load->kernels[k].shown = name ? shortened(&load->arena, name, level) : NULL;
		if (!load->kernels[k].shown)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	return merge_equal(load, err);
}
