#include "report/pc_listing.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_FUNCTION 120u /* instructions; longer ones are cut */
#define CONTEXT 3u          /* instructions shown before and behind a sampled one */
#define SOURCE_BYTES_MAX (16u << 20)
#define FUNCTIONS_MAX (1u << 20)
#define BAR_CELLS 10u

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define RED "\033[31m"
#define PLAIN "\033[0m"

/* A function with samples: a stretch of the profile's spots. */
struct part {
	const struct code_pc_spot *spots;
	size_t n_spots;
	struct code_code *code; /* NULL: its machine code is not at hand */
	bool has_function;
	struct code_function function;
	uint64_t n, n_issued, n_waiting[CODE_PC_REASONS];
};

struct listing {
	FILE *to;
	const struct code_pc_profile *profile;
	const struct rpt_pc_listing_opts *opts;
	struct ws_map sources; /* by file name: struct ws_buf */
	struct ws_arena arena;
};

static const char *tone(const struct listing *l, const char *code)
{
	return l->opts->color ? code : "";
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Names and files of others: nothing that the terminal would obey. */
static const char *shown_text(struct listing *l, const char *text)
{
	const char *shown = ws_shown_text(text, &l->arena);

	return shown ? shown : "?";
}

/* ---- source text ---- */

/* Line @number of @file, without its end and indentation; empty when the file is not here. */
static struct ws_str source_line(struct listing *l, const char *file, uint32_t number)
{
	struct ws_buf *text = ws_map_get(&l->sources, file);
	struct ws_str rest, line = { "", 0 };
	struct ws_err err;

	if (!text) {
		text = ws_arena_alloc(&l->arena, sizeof(*text));
		if (!text)
			return line;
		ws_buf_init(text, SOURCE_BYTES_MAX);
		if (ws_file_read(file, text, &err))
			ws_buf_clear(text);
		if (ws_map_put(&l->sources, ws_str_from(file), text, &err)) {
			ws_buf_fini(text);
			return line;
		}
	}
	rest = ws_buf_view(text);
	for (uint32_t i = 0; i < number; i++)
		if (!ws_str_next(&rest, '\n', &line))
			return (struct ws_str){ "", 0 };
	return ws_str_trim(line);
}

static void put_source(struct listing *l, const struct code_insn *insn)
{
	const char *slash = strrchr(insn->file, '/');
	struct ws_str text = source_line(l, insn->file, insn->line);
	int room = (int)l->opts->n_columns - 30;
	struct ws_buf shown;

	if ((int)text.n > room && room > 0)
		text.n = (size_t)room;
	ws_buf_init(&shown, SIZE_MAX);
	ws_buf_add_shown(&shown, text.at, text.n, "\t");
	fprintf(l->to, "%s%19s:%-6u%s %s%s\n", tone(l, DIM),
		shown_text(l, slash ? slash + 1 : insn->file), insn->line, tone(l, PLAIN BOLD),
		shown.at, tone(l, PLAIN));
	ws_buf_fini(&shown);
}

/* ---- one line per instruction ---- */

/* Eighths of a cell, so that one sample in a thousand still shows. */
static void put_bar(struct listing *l, double part)
{
	static const char *const eighths[] = { " ", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	unsigned n = (unsigned)(part * BAR_CELLS * 8 + 0.5), cells = 0;

	if (n > BAR_CELLS * 8)
		n = BAR_CELLS * 8;
	fputs(tone(l, RED), l->to);
	for (; n >= 8; n -= 8, cells++)
		fputs("█", l->to);
	if (cells < BAR_CELLS) {
		fputs(eighths[n], l->to);
		cells++;
	}
	fprintf(l->to, "%*s%s", (int)(BAR_CELLS - cells), "", tone(l, PLAIN));
}

static unsigned top_reason(const uint64_t *waiting)
{
	unsigned top = 0;

	for (unsigned i = 1; i < CODE_PC_REASONS; i++)
		if (waiting[i] > waiting[top])
			top = i;
	return top;
}

static void put_why(struct listing *l, const struct code_pc_spot *spot)
{
	unsigned top = top_reason(spot->n_waiting);
	char text[48] = "";

	if (spot->n_waiting[top])
		snprintf(text, sizeof(text), "%3.0f%% %s", percent(spot->n_waiting[top], spot->n),
			 code_pc_reason_name(top));
	else if (spot->n_issued)
		snprintf(text, sizeof(text), "%3.0f%% issued", percent(spot->n_issued, spot->n));
	fprintf(l->to, " %-24.24s", text);
}

static void put_instruction(struct listing *l, const struct part *part, uint64_t offset,
			    const char *text, const struct code_pc_spot *spot)
{
	int used = 41 + (l->profile->has_reasons ? 25 : 0), room;

	if (spot) {
		fprintf(l->to, "%9" PRIu64 " %5.1f%% ", spot->n, percent(spot->n, part->n));
		put_bar(l, (double)spot->n / (double)part->n);
		if (l->profile->has_reasons)
			put_why(l, spot);
	} else {
		fprintf(l->to, "%27s%s", "", tone(l, DIM));
		if (l->profile->has_reasons)
			fprintf(l->to, "%25s", "");
	}
	room = (int)l->opts->n_columns - used;
	fprintf(l->to, " %8" PRIx64 "  %.*s%s\n", offset, room > 24 ? room : 24, text,
		spot ? "" : tone(l, PLAIN));
}

/* ---- one function ---- */

static void put_head(struct listing *l, const struct part *part)
{
	char *name = part->has_function ? trc_demangle(part->function.name) : NULL;

	fprintf(l->to, "%s%s%s", tone(l, BOLD),
		name                 ? shown_text(l, name)
		: part->has_function ? shown_text(l, part->function.name)
				     : "(code that is in no function)",
		tone(l, PLAIN));
	if (part->code)
		fprintf(l->to, "  %s", code_target(part->code));
	fprintf(l->to, "\n%" PRIu64 " samples, %.1f%% of all", part->n,
		percent(part->n, l->profile->n));
	if (l->profile->has_reasons) {
		uint64_t waiting[CODE_PC_REASONS];

		fprintf(l->to, "; %.1f%% issued", percent(part->n_issued, part->n));
		memcpy(waiting, part->n_waiting, sizeof(waiting));
		for (unsigned i = 0; i < 3 && waiting[top_reason(waiting)]; i++) {
			unsigned top = top_reason(waiting);

			fprintf(l->to, ", %.1f%% %s", percent(waiting[top], part->n),
				code_pc_reason_name(top));
			waiting[top] = 0;
		}
	}
	fprintf(l->to, "\n\n%s%9s %6s %-*s", tone(l, DIM), "samples", "", (int)BAR_CELLS, "");
	if (l->profile->has_reasons)
		fprintf(l->to, " %-24s", "most often");
	fprintf(l->to, " %8s  %s%s\n", "offset", "instruction", tone(l, PLAIN));
	free(name);
}

/* Its code is not here: where the samples are, and no more. */
static void put_bare(struct listing *l, const struct part *part)
{
	for (size_t i = 0; i < part->n_spots; i++)
		put_instruction(l, part, part->spots[i].offset, "", &part->spots[i]);
}

static bool is_near(const struct part *part, const uint64_t *offsets, size_t n, size_t i,
		    size_t spot)
{
	/* The next sampled instruction, or the one before, within CONTEXT instructions. */
	if (spot < part->n_spots && i + CONTEXT < n &&
	    part->spots[spot].offset <= offsets[i + CONTEXT])
		return true;
	if (spot < part->n_spots && i + CONTEXT >= n)
		return true;
	return spot > 0 && part->spots[spot - 1].offset >= offsets[i > CONTEXT ? i - CONTEXT : 0];
}

static void put_code(struct listing *l, const struct part *part, const uint64_t *offsets, size_t n)
{
	size_t spot = 0, skipped = 0;
	const char *file = NULL;
	uint32_t line = 0;

	for (size_t i = 0; i < n; i++) {
		const struct code_pc_spot *here = NULL;
		struct code_insn insn;

		while (spot < part->n_spots && part->spots[spot].offset < offsets[i])
			spot++;
		if (spot < part->n_spots && part->spots[spot].offset == offsets[i])
			here = &part->spots[spot];
		if (n > WHOLE_FUNCTION && !here && !is_near(part, offsets, n, i, spot)) {
			skipped++;
			continue;
		}
		if (skipped)
			fprintf(l->to, "%s%28s%zu instructions without samples%s\n", tone(l, DIM),
				"... ", skipped, tone(l, PLAIN));
		skipped = 0;
		if (!code_at(part->code, offsets[i], &insn))
			break;
		if (insn.line && (insn.line != line || insn.file != file))
			put_source(l, &insn);
		if (insn.line) {
			line = insn.line;
			file = insn.file;
		}
		put_instruction(l, part, offsets[i], insn.text, here);
	}
	if (skipped)
		fprintf(l->to, "%s%28s%zu instructions without samples%s\n", tone(l, DIM), "... ",
			skipped, tone(l, PLAIN));
}

static enum ws_status put_part(struct listing *l, const struct part *part, struct ws_err *err)
{
	WS_VEC(uint64_t) offsets;
	struct code_insn insn;
	enum ws_status st = WS_OK;
	uint64_t at = part->function.offset;

	put_head(l, part);
	if (!part->code || !part->has_function || !code_at(part->code, at, &insn)) {
		put_bare(l, part);
		return WS_OK;
	}
	ws_vec_init(&offsets, FUNCTIONS_MAX);
	while (!st && at < part->function.offset + part->function.n_bytes &&
	       code_at(part->code, at, &insn)) {
		st = ws_vec_push(&offsets, at, err);
		at += insn.n_bytes;
	}
	if (!st)
		put_code(l, part, offsets.at, offsets.n);
	ws_vec_fini(&offsets);
	return st;
}

/* ---- all of them ---- */

static int by_samples(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return (x->spots > y->spots) - (x->spots < y->spots);
}

static bool same_part(const struct part *part, const struct code_pc_spot *spot, bool has_function,
		      const struct code_function *f)
{
	return part->spots->code_object == spot->code_object &&
	       part->has_function == has_function &&
	       (!has_function || part->function.offset == f->offset);
}

WS_VEC_TYPE(parts, struct part);

static enum ws_status make_parts(const struct trc_process *process,
				 const struct code_pc_profile *profile,
				 struct code_objects *objects, struct parts *parts,
				 struct ws_err *err)
{
	for (size_t i = 0; i < profile->spots.n; i++) {
		const struct code_pc_spot *spot = &profile->spots.at[i];
		struct code_code *code = code_objects_get(objects, process, spot->code_object);
		struct code_function f = { .offset = 0 };
		bool found = code && code_function(code, spot->offset, &f);
		struct part *part = parts->n ? &parts->at[parts->n - 1] : NULL;

		if (!part || !same_part(part, spot, found, &f)) {
			struct part fresh = {
				.spots = spot, .code = code, .has_function = found, .function = f
			};
			enum ws_status st = ws_vec_push(parts, fresh, err);

			if (st)
				return st;
			part = &parts->at[parts->n - 1];
		}
		part->n_spots++;
		part->n += spot->n;
		part->n_issued += spot->n_issued;
		for (unsigned k = 0; k < CODE_PC_REASONS; k++)
			part->n_waiting[k] += spot->n_waiting[k];
	}
	return WS_OK;
}

enum ws_status rpt_pc_listing(FILE *to, const struct trc_process *process,
			      const struct code_pc_profile *profile, struct code_objects *objects,
			      const struct rpt_pc_listing_opts *opts, struct ws_err *err)
{
	struct listing l = { .to = to, .profile = profile, .opts = opts };
	struct parts parts;
	enum ws_status st;
	size_t n;

	ws_vec_init(&parts, FUNCTIONS_MAX);
	ws_map_init(&l.sources, WS_MAP_STR, 1 << 16);
	ws_arena_init(&l.arena, 1 << 20);
	st = make_parts(process, profile, objects, &parts, err);
	ws_vec_sort(&parts, by_samples);
	n = opts->max_functions && opts->max_functions < parts.n ? opts->max_functions : parts.n;
	for (size_t i = 0; i < n && !st; i++) {
		if (i)
			fputc('\n', to);
		st = put_part(&l, &parts.at[i], err);
	}
	if (!st && n < parts.n)
		fprintf(to, "\n%zu more functions have samples\n", parts.n - n);
	if (!st && profile->n_lost)
		fprintf(to, "\n%" PRIu64 " samples belong to no code object that is known\n",
			profile->n_lost);
	ws_map_each(entry, &l.sources)
		ws_buf_fini(entry->value);
	ws_map_fini(&l.sources);
	ws_arena_fini(&l.arena);
	ws_vec_fini(&parts);
	return st;
}
