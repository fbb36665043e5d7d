#include "profile/folded.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define FOLDED_BYTES_MAX ((size_t)4 << 30)
#define FOLDED_LINES_MAX (1u << 26)
#define FOLDED_LINE_MAX (1u << 20)

struct line {
	const char *stack;
	uint64_t n;
};

struct folding {
	const struct prof_folded_opts *opts;
	struct prof_frames *frames;
	struct ws_arena arena;
	struct ws_map of_ids;   /* thread and stack id -> struct line * */
	struct ws_map of_texts; /* the same by text */
	WS_VEC(struct line *) lines;
	struct ws_buf text;
	struct ws_err *err;
};

/* A name must neither end the frame nor the line. */
static void add_name(struct ws_buf *to, const char *name)
{
	for (; *name; name++)
		ws_buf_add_c(to, *name == ';' ? ':' : (unsigned char)*name < ' ' ? ' ' : *name, 1);
}

static enum ws_status write_stack(struct folding *f, const struct trc_thread *thread,
				  uint32_t stack)
{
	const struct prof_frame *frames;
	size_t n = prof_frames_of(f->frames, stack, &frames);

	ws_buf_clear(&f->text);
	if (f->opts->threads) {
		add_name(&f->text, thread->name[0] ? thread->name : "thread");
		ws_buf_printf(&f->text, " (%u)%s", thread->tid, n ? ";" : "");
	}
	for (size_t i = 0; i < n; i++) {
		if (i)
			ws_buf_add(&f->text, ";");
		add_name(&f->text, frames[i].name);
	}
	if (!f->text.n)
		ws_buf_add(&f->text, "[unknown]");
	return ws_buf_status(&f->text, f->err);
}

static enum ws_status line_of(struct folding *f, const struct trc_thread *thread, uint32_t stack,
			      struct line **out_line)
{
	uint64_t key = (uint64_t)(f->opts->threads ? thread->tid : 0) << 32 | stack;
	struct line *line = ws_map_get_u64(&f->of_ids, key);
	enum ws_status st;

	if (!line) {
		st = write_stack(f, thread, stack);
		if (st)
			return st;
		line = ws_map_get(&f->of_texts, f->text.at);
		if (!line) {
			line = ws_arena_new(&f->arena, struct line);
			if (line)
				line->stack = ws_arena_strdup(&f->arena, f->text.at);
			if (!line || !line->stack)
				return ws_fail(f->err, WS_E_NOMEM, "folded stacks");
			st = ws_map_put(&f->of_texts, ws_str_from(line->stack), line, f->err);
			if (!st)
				st = ws_vec_push(&f->lines, line, f->err);
		}
		if (!st)
			st = ws_map_put_u64(&f->of_ids, key, line, f->err);
		if (st)
			return st;
	}
	*out_line = line;
	return WS_OK;
}

static enum ws_status fold(struct folding *f, const struct trc_trace *trace,
			   const struct trc_process *process)
{
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(CALL_STACK_SAMPLING),
					 .process = process };
	const struct trc_event *event;
	struct trc_events *events;
	enum ws_status st = trc_events_open(trace, &query, &events, f->err), read;
	struct line *line = NULL;

	if (st)
		return st;
	while (!st && (event = trc_events_next(events))) {
		const struct cap_rec_sample *sample = event->stack.info;

		if (sample->sampler != f->opts->sampler)
			continue;
		st = line_of(f, event->thread, sample->h.what, &line);
		if (!st)
			line->n += 1 + (uint64_t)sample->n_missed;
	}
	read = trc_events_close(events, st ? NULL : f->err);
	return st ? st : read;
}

static int by_stack(const void *a, const void *b)
{
	return strcmp((*(struct line *const *)a)->stack, (*(struct line *const *)b)->stack);
}

enum ws_status prof_folded_write(const struct trc_trace *trace, const struct trc_process *process,
				 struct prof_frames *frames, const struct prof_folded_opts *opts,
				 FILE *to, struct ws_err *err)
{
	struct folding f = { .opts = opts, .frames = frames, .err = err };
	enum ws_status st;

	ws_arena_init(&f.arena, FOLDED_BYTES_MAX);
	ws_map_init(&f.of_ids, WS_MAP_U64, FOLDED_LINES_MAX);
	ws_map_init(&f.of_texts, WS_MAP_STR, FOLDED_LINES_MAX);
	ws_vec_init(&f.lines, FOLDED_LINES_MAX);
	ws_buf_init(&f.text, FOLDED_LINE_MAX);
	st = fold(&f, trace, process);
	ws_vec_sort(&f.lines, by_stack);
	ws_vec_each(line, &f.lines)
		if (!st && fprintf(to, "%s %" PRIu64 "\n", (*line)->stack, (*line)->n) < 0)
			st = ws_fail_errno(err, errno, "folded stacks");
	ws_vec_fini(&f.lines);
	ws_buf_fini(&f.text);
	ws_map_fini(&f.of_ids);
	ws_map_fini(&f.of_texts);
	ws_arena_fini(&f.arena);
	return st;
}
