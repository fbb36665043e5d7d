/* The JSON of trace pages: which tracks, levels and tiles there are, and what they are called. */
#include "output/html_head.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add_text(struct ws_buf *buf, const char *key, const char *text)
{
	ws_buf_printf(buf, "\"%s\":\"", key);
	ws_buf_add_json(buf, text, strlen(text));
	ws_buf_add(buf, "\"");
}

static void add_levels(const struct output_trace_head *head, struct ws_buf *buf, uint32_t number)
{
	const struct tl_track *track = tl_track_at(head->timeline, number);
	uint64_t zero_ns = tl_start_ns(head->timeline);

	ws_buf_add(buf, "\"levels\":[");
	for (size_t i = 0; i < track->n_levels; i++) {
		const struct tl_level *level = &track->levels[i];
		bool kept = !head->finest || i >= head->finest[number];

		/* The times of the first level's tiles are needed for its summaries. */
		ws_buf_printf(buf,
			      "%s{\"resolution\":%" PRIu64 ",\"n\":%" PRIu64 ",\"block\":%" PRId64,
			      i ? "," : "", level->resolution_ns, level->n,
			      kept ? (int64_t)head->first_block[number][i] : (int64_t)-1);
		ws_buf_add(buf, ",\"tiles\":[");
		for (size_t k = 0; (kept || !i) && k < level->n_tiles; k++)
			ws_buf_printf(buf, "%s%" PRIu64 ",%" PRIu64 ",%u", k ? "," : "",
				      level->tiles[k].start_ns - zero_ns,
				      level->tiles[k].end_ns - level->tiles[k].start_ns,
				      level->tiles[k].n);
		ws_buf_add(buf, "]}");
	}
	ws_buf_add(buf, "]");
}

static void add_track(const struct output_trace_head *head, struct ws_buf *buf, uint32_t number)
{
	const struct tl_track *track = tl_track_at(head->timeline, number);

	ws_buf_add(buf, "{");
	add_text(buf, "kind", tl_track_word(track->kind));
	ws_buf_add(buf, ",");
	add_text(buf, "name", track->name);
	ws_buf_add(buf, ",");
	add_text(buf, "unit", track->unit);
	ws_buf_printf(buf,
		      ",\"pid\":%u,\"process\":%u,\"simulated\":%s,\"rows\":%u,\"events\":%" PRIu64
		      ",\"min\":%.17g,\"max\":%.17g,",
		      track->process->pid, track->process->index,
		      track->simulated ? "true" : "false", track->n_rows, track->n_events,
		      track->min, track->max);
	add_levels(head, buf, number);
	ws_buf_add(buf, "}");
}

/* ---- facts ---- */

static void add_note(struct ws_buf *buf, bool *more, const char *text)
{
	ws_buf_add(buf, *more ? ",\"" : "\"");
	ws_buf_add_json(buf, text, strlen(text));
	ws_buf_add(buf, "\"");
	*more = true;
}

/* What a reader has to know before believing the picture. */
static void add_notes(const struct output_trace_head *head, struct ws_buf *buf)
{
	uint64_t n_samples = 0;
	bool more = false;
	char text[320];

	ws_buf_add(buf, "\"notes\":[");
	for (size_t i = 0; i < head->n_processes; i++) {
		const struct trc_process *process = head->processes[i];
		uint64_t n_dropped = 0;

		n_samples += process->ledger[CAP_DOMAIN_PC_SAMPLING_HOST_TRAP].written +
			     process->ledger[CAP_DOMAIN_PC_SAMPLING_STOCHASTIC].written;
		for (int d = 0; d < CAP_DOMAIN_COUNT; d++)
			n_dropped += process->ledger[d].dropped;
		if (n_dropped) {
			snprintf(text, sizeof(text), "process %u: %" PRIu64 " records were dropped",
				 process->pid, n_dropped);
			add_note(buf, &more, text);
		}
		if (process->n_unended) {
			snprintf(text, sizeof(text),
				 "process %u: %" PRIu64 " kernels were submitted and did not end "
				 "while it was recorded",
				 process->pid, process->n_unended);
			add_note(buf, &more, text);
		}
		if (cap_damage_any(&process->damage)) {
			snprintf(text, sizeof(text), "process %u: its capture is damaged",
				 process->pid);
			add_note(buf, &more, text);
		}
		if (!process->ended) {
			snprintf(text, sizeof(text), "process %u did not end normally",
				 process->pid);
			add_note(buf, &more, text);
		}
	}
	if (n_samples) {
		snprintf(text, sizeof(text),
			 "%" PRIu64 " PC samples are not shown: they are in the CSV and JSON files",
			 n_samples);
		add_note(buf, &more, text);
	}
	if (tl_n_unnamed(head->timeline)) {
		snprintf(text, sizeof(text), "%" PRIu64 " events are shown without their own name",
			 tl_n_unnamed(head->timeline));
		add_note(buf, &more, text);
	}
	ws_buf_add(buf, "],");
}

static void add_processes(const struct output_trace_head *head, struct ws_buf *buf)
{
	ws_buf_add(buf, "\"processes\":[");
	for (size_t i = 0; i < head->n_processes; i++) {
		const struct trc_process *process = head->processes[i];
		enum trc_gpu_times times = trc_process_gpu_times(process);

		ws_buf_printf(buf, "%s{\"pid\":%u,\"index\":%u,", i ? "," : "", process->pid,
			      process->index);
		add_text(buf, "program", trc_process_program(process));
		ws_buf_add(buf, ",");
		add_text(buf, "host", process->facts[CAP_FACT_HOSTNAME]);
		ws_buf_printf(buf, ",\"software\":%s,",
			      times == TRC_GPU_TIMES_HARDWARE ? "false" : "true");
		add_text(buf, "gpuTimes", trc_gpu_times_word(times));
		ws_buf_add(buf, "}");
	}
	ws_buf_add(buf, "],");
}

void output_trace_head_json(const struct output_trace_head *head, struct ws_buf *out)
{
	const struct tl_timeline *tl = head->timeline;
	uint64_t n_events = 0;

	ws_buf_add(out, "{");
	for (size_t i = 0; i < tl_n_tracks(tl); i++)
		if (tl_track_at(tl, i)->kind != TL_TRACK_COUNTER)
			n_events += tl_track_at(tl, i)->n_events;
	ws_buf_printf(out,
		      "\"start\":\"%" PRIu64 "\",\"length\":%" PRIu64 ",\"events\":%" PRIu64 ",",
		      tl_start_ns(tl), tl_end_ns(tl) - tl_start_ns(tl), n_events);
	ws_buf_add(out, "\"kinds\":[");
	for (unsigned i = 0; i < PROF_KIND_COUNT; i++)
		ws_buf_printf(out, "%s\"%s\"", i ? "," : "", prof_kind_word((enum prof_kind)i));
	ws_buf_add(out, "],");
	add_notes(head, out);
	add_processes(head, out);
	ws_buf_add(out, "\"order\":[");
	for (size_t i = 0; i < tl_n_tracks(tl); i++)
		ws_buf_printf(out, "%s%zu", i ? "," : "", tl_track_in_order(tl, i));
	ws_buf_add(out, "],\"tracks\":[");
	for (size_t i = 0; i < tl_n_tracks(tl); i++) {
		ws_buf_add(out, i ? ",\n" : "\n");
		add_track(head, out, (uint32_t)i);
	}
	ws_buf_add(out, "]}");
}

static void add_texts(struct ws_buf *buf, const struct tl_timeline *tl, size_t n,
		      const char *(*text)(const struct tl_timeline *tl, size_t i))
{
	for (size_t i = 0; i < n; i++) {
		ws_buf_add(buf, i ? ",\"" : "\"");
		ws_buf_add_json(buf, text(tl, i), strlen(text(tl, i)));
		ws_buf_add(buf, "\"");
	}
}

void output_trace_tables_json(const struct tl_timeline *tl, struct ws_buf *out)
{
	ws_buf_add(out, "{\"names\":[");
	add_texts(out, tl, tl_n_names(tl), tl_name_at);
	ws_buf_add(out, "],\"details\":[");
	add_texts(out, tl, tl_n_details(tl), tl_detail_at);
	ws_buf_add(out, "],\"paths\":[");
	for (size_t i = 0; i < tl_n_paths(tl); i++) {
		const struct tl_path *path = tl_path_at(tl, i);

		ws_buf_printf(out, "%s%u,%u,%u", i ? "," : "", path->parent, path->name,
			      path->kind);
	}
	ws_buf_add(out, "]}");
}
