/*
 * Rows of the CPU side as records of a capture: regions, call-stack samples, metrics.
 *
 * A database has regions and frames with both of their ends, a capture has each end when it
 * comes. So rows are read thread by thread in the order of time, and what is open is kept.
 */
#include "rocpd/import_priv.h"

#include "base/util.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 4096u  /* regions that are open at once */
#define FRAMES_MAX 1024u /* of a call stack; further ones, the outermost, are left out */
#define TEXT_MAX 4096u   /* bytes of a name; longer ones are cut */
#define PYTHON_VERSION 0x030bu

void rpd_import_host_init(struct rpd_import_host *host)
{
	ws_map_init(&host->regions, WS_MAP_STR, 1u << 24);
	ws_map_init(&host->functions, WS_MAP_STR, 1u << 24);
	ws_map_init(&host->stacks, WS_MAP_STR, 1u << 24);
	ws_map_init(&host->metrics, WS_MAP_U64, 1u << 20);
	ws_vec_init(&host->open, DEPTH_MAX);
	ws_vec_init(&host->frames, FRAMES_MAX * 64);
}

void rpd_import_host_fini(struct rpd_import_host *host)
{
	ws_map_fini(&host->regions);
	ws_map_fini(&host->functions);
	ws_map_fini(&host->stacks);
	ws_map_fini(&host->metrics);
	ws_vec_fini(&host->open);
	ws_vec_fini(&host->frames);
}

/* The id of what @key describes, from 1; @is_new: it has to be written. 0: failed. */
static uint32_t id_of(struct rpd_import *im, struct ws_map *map, struct ws_str key, bool *is_new)
{
	struct ws_map_entry *entry = ws_map_find(map, key);
	uint32_t id = (uint32_t)map->n + 1;

	*is_new = !entry;
	if (entry)
		return (uint32_t)(uintptr_t)entry->value;
	key.at = ws_arena_strndup(&im->arena, key.at, key.n);
	if (!key.at) {
		ws_fail(im->err, WS_E_NOMEM, "out of memory");
		return 0;
	}
	return ws_map_put(map, key, (void *)(uintptr_t)id, im->err) ? 0 : id;
}

/* ---- regions ---- */

static uint32_t region_category(const char *name)
{
	for (unsigned i = 0; i < CAP_REGION_CATEGORY_COUNT; i++)
		if (strcmp(name, trc_region_category_name(i)) == 0)
			return i;
	/* Markers in a database of AMD's system profiler are named by their message. */
	return strcmp(name, "rocm_marker_api") ? CAP_REGION_HOST : CAP_REGION_USER;
}

static uint32_t region_of(struct rpd_import *im, sqlite3_stmt *stmt)
{
	const char *category = rpd_text(stmt, 1), *name = rpd_text(stmt, 2);
	const char *file = rpd_text(stmt, 6), *line = rpd_text(stmt, 7);
	struct cap_rec_region rec = { .category = region_category(category) };
	struct ws_buf key;
	bool is_new = false;

	ws_buf_init(&key, 1u << 20);
	ws_buf_printf(&key, "%s\n%s\n%s\n%s", category, name, file, line);
	if (!ws_buf_status(&key, im->err))
		rec.h.what = id_of(im, &im->host.regions, ws_buf_view(&key), &is_new);
	ws_buf_fini(&key);
	if (is_new && rec.h.what) {
		rec.name_str = rpd_import_string(im, name);
		rec.file_str = rpd_import_string(im, file);
		rec.line = (uint32_t)strtoul(line, NULL, 10);
		RPD_META(im, REGION, rec);
	}
	return rec.h.what;
}

static void leave_until(struct rpd_import *im, uint64_t until_ns)
{
	struct rpd_import_host *host = &im->host;

	while (host->open.n && host->open.at[host->open.n - 1].end_ns <= until_ns) {
		const struct rpd_open_region *last = &host->open.at[--host->open.n];
		struct cap_rec_leave rec = { .h = { .what = last->id, .time = last->end_ns } };

		rpd_import_event(im, host->tid, CAP_REC_LEAVE, &rec.h, sizeof(rec), NULL, 0);
	}
}

static void annotate(struct rpd_import *im, const char *name, const char *type, const char *value)
{
	static const struct {
		const char *type;
		enum cap_arg_kind kind;
	} kinds[] = {
		{ "uint64_t", CAP_ARG_U64 },
		{ "int64_t", CAP_ARG_I64 },
		{ "double", CAP_ARG_F64 },
		{ "void*", CAP_ARG_PTR },
	};
	struct cap_rec_annotation rec = { .h = { .what = CAP_ARG_STR, .time = im->host.last_ns } };
	char tail[2 * TEXT_MAX];
	double f64;

	for (size_t i = 0; i < WS_ARRAY_LEN(kinds); i++)
		if (strcmp(type, kinds[i].type) == 0)
			rec.h.what = kinds[i].kind;
	switch ((enum cap_arg_kind)rec.h.what) {
	case CAP_ARG_F64:
		f64 = strtod(value, NULL);
		memcpy(&rec.bits, &f64, sizeof(f64));
		break;
	case CAP_ARG_I64:
		rec.bits = (uint64_t)strtoll(value, NULL, 10);
		break;
	default:
		rec.bits = strtoull(value, NULL, 0);
		break;
	}
	rec.n_name = (uint32_t)strnlen(name, TEXT_MAX);
	rec.n_bytes = rec.n_name;
	memcpy(tail, name, rec.n_name);
	if (rec.h.what == CAP_ARG_STR) {
		rec.n_bytes += (uint32_t)strnlen(value, TEXT_MAX);
		memcpy(tail + rec.n_name, value, rec.n_bytes - rec.n_name);
	}
	rpd_import_event(im, im->host.tid, CAP_REC_ANNOTATION, &rec.h, sizeof(rec), tail,
			 rec.n_bytes);
}

/* A region, once for each of its annotations. By thread, then by time, the longer first. */
void rpd_take_host_region(struct rpd_import *im, sqlite3_stmt *stmt)
{
	struct rpd_import_host *host = &im->host;
	struct rpd_open_region region = { .end_ns = U64(5) };
	struct cap_rec_enter rec = { .h.time = U64(4) };

	if (host->tid != U32(3)) {
		leave_until(im, UINT64_MAX);
		host->tid = U32(3);
		host->event = 0;
	}
	if (host->event != sqlite3_column_int64(stmt, 0)) {
		leave_until(im, U64(4));
		/* Regions of other tools may overlap: what ends later than its parent is cut. */
		if (host->open.n)
			region.end_ns =
				WS_MIN(region.end_ns, host->open.at[host->open.n - 1].end_ns);
		rec.h.what = region.id = region_of(im, stmt);
		if (!region.id || ws_vec_push(&host->open, region, im->err))
			return;
		rpd_import_event(im, host->tid, CAP_REC_ENTER, &rec.h, sizeof(rec), NULL, 0);
		host->event = sqlite3_column_int64(stmt, 0);
		host->last_ns = U64(4);
	}
	if (sqlite3_column_type(stmt, 8) != SQLITE_NULL)
		annotate(im, rpd_text(stmt, 8), rpd_text(stmt, 9), rpd_text(stmt, 10));
}

/* ---- samples ---- */

/* A frame of a stack: the number of the function that a row names; 0: failed. */
static uint64_t frame_of(struct rpd_import *im, sqlite3_stmt *stmt)
{
	const char *name = rpd_text(stmt, 6), *file = rpd_text(stmt, 8), *line = rpd_text(stmt, 9);
	/* Functions without an address, which are not inlined either, are Python's. */
	bool python = !*rpd_text(stmt, 7) && !*rpd_text(stmt, 10);
	struct cap_rec_python_code rec = { .version = python ? PYTHON_VERSION : 0 };
	char tail[2 * TEXT_MAX];
	struct ws_buf key;
	bool is_new = false;

	ws_buf_init(&key, 1u << 20);
	ws_buf_printf(&key, "%s\n%s\n%s", name, file, line);
	if (!ws_buf_status(&key, im->err))
		rec.h.what = id_of(im, &im->host.functions, ws_buf_view(&key), &is_new);
	ws_buf_fini(&key);
	if (is_new && rec.h.what) {
		rec.first_line = (uint32_t)strtoul(line, NULL, 10);
		rec.n_name = (uint32_t)strnlen(name, TEXT_MAX);
		rec.n_file = (uint32_t)strnlen(file, TEXT_MAX);
		rec.n_bytes = rec.n_name + rec.n_file;
		memcpy(tail, name, rec.n_name);
		memcpy(tail + rec.n_name, file, rec.n_file);
		rpd_import_event(im, U32(3), CAP_REC_PYTHON_CODE, &rec.h, sizeof(rec), tail,
				 rec.n_bytes);
	}
	return rec.h.what ? CAP_FRAME_PYTHON | (uint64_t)rec.h.what << 32 | UINT32_MAX : 0;
}

/* The frames read so far as a stack of the capture; 0: failed. */
static uint32_t put_stack(struct rpd_import *im)
{
	struct rpd_import_host *host = &im->host;
	struct ws_str key = { (const char *)host->frames.at,
			      host->frames.n * sizeof(*host->frames.at) };
	struct cap_rec_stack rec = { .generation = 1 };
	uint64_t stack[FRAMES_MAX];
	bool is_new;

	rec.h.what = id_of(im, &host->stacks, key, &is_new);
	if (!is_new || !rec.h.what)
		return rec.h.what;
	rec.n_frames = (uint32_t)WS_MIN(host->frames.n, FRAMES_MAX);
	if (rec.n_frames < host->frames.n)
		rec.flags = CAP_STACK_CUT;
	for (uint32_t i = 0; i < rec.n_frames; i++) /* innermost first */
		stack[i] = host->frames.at[host->frames.n - 1 - i];
	stack[rec.n_frames - 1] |= CAP_FRAME_ENTRY;
	rpd_import_event(im, host->sample.tid, CAP_REC_STACK, &rec.h, sizeof(rec), stack,
			 rec.n_frames * sizeof(*stack));
	return rec.h.what;
}

/* The period of a timer is not in the database; that of the first sample is as good. */
static void put_sampler(struct rpd_import *im, const struct rpd_import_sample *sample)
{
	struct cap_rec_sampler rec = { .h.what = sample->sampler, .period = 1 };

	if (im->host.sampled[sample->sampler])
		return;
	im->host.sampled[sample->sampler] = true;
	if (sample->sampler != CAP_SAMPLER_OVERFLOW)
		rec.period = sample->end_ns - sample->start_ns;
	RPD_META(im, SAMPLER, rec);
}

static void put_sample(struct rpd_import *im)
{
	struct rpd_import_host *host = &im->host;
	struct cap_rec_sample rec = { .h.time = host->sample.end_ns,
				      .sampler = host->sample.sampler };

	if (!host->frames.n)
		return;
	put_sampler(im, &host->sample);
	rec.h.what = put_stack(im);
	rpd_import_event(im, host->sample.tid, CAP_REC_SAMPLE, &rec.h, sizeof(rec), NULL, 0);
	ws_vec_clear(&host->frames);
}

/* By track, then as they were written: the frames of a sample follow each other. */
void rpd_take_frame(struct rpd_import *im, sqlite3_stmt *stmt)
{
	struct rpd_import_host *host = &im->host;
	struct rpd_import_sample sample = {
		.track = sqlite3_column_int64(stmt, 0),
		.tid = U32(3),
		.sampler = strcmp(rpd_text(stmt, 1), "overflow_sampling") == 0
				   ? CAP_SAMPLER_OVERFLOW
			   : strstr(rpd_text(stmt, 2), "Real Time ") ? CAP_SAMPLER_REAL_TIME
								     : CAP_SAMPLER_CPU_TIME,
		.start_ns = U64(4),
		.end_ns = WS_MAX(U64(4), U64(5)),
	};
	uint64_t frame;

	if (sample.track != host->sample.track || sample.start_ns != host->sample.start_ns ||
	    sample.end_ns != host->sample.end_ns) {
		put_sample(im);
		host->sample = sample;
	}
	frame = frame_of(im, stmt);
	if (frame && host->frames.n < host->frames.max_n)
		ws_vec_push(&host->frames, frame, im->err);
}

void rpd_import_host_flush(struct rpd_import *im)
{
	leave_until(im, UINT64_MAX);
	put_sample(im);
}

/* ---- metrics ---- */

/* Which of the three names a tool uses for the category differs. */
static uint32_t metric_category(sqlite3_stmt *stmt)
{
	for (int column = 1; column <= 3; column++)
		for (unsigned i = 0; i < CAP_METRIC_CATEGORY_COUNT; i++)
			if (strcmp(rpd_text(stmt, column), trc_metric_category_name(i)) == 0)
				return i;
	/* It decides about nothing but the viewer's filter. */
	return strcmp(rpd_text(stmt, 5), "GPU") ? CAP_METRIC_PROCESS_IO : CAP_METRIC_DEVICE_CLOCK;
}

static uint32_t metric_of(struct rpd_import *im, sqlite3_stmt *stmt)
{
	struct ws_map_entry *entry = ws_map_find_u64(&im->host.metrics, U64(0));
	struct cap_rec_metric rec = {
		.h.what = (uint32_t)im->host.metrics.n + 1,
		.category = metric_category(stmt),
		.device = strcmp(rpd_text(stmt, 5), "GPU") ? -1 : (int32_t)U32(6),
		.flags = strcmp(rpd_text(stmt, 7), "simulated") ? 0 : CAP_METRIC_SIMULATED,
	};

	if (entry)
		return (uint32_t)(uintptr_t)entry->value;
	rec.name_str = rpd_import_string(im, rpd_text(stmt, 1));
	rec.unit_str = rpd_import_string(im, rpd_text(stmt, 4));
	if (ws_map_put_u64(&im->host.metrics, U64(0), (void *)(uintptr_t)rec.h.what, im->err))
		return 0;
	RPD_META(im, METRIC, rec);
	return rec.h.what;
}

void rpd_take_metric_value(struct rpd_import *im, sqlite3_stmt *stmt)
{
	struct cap_metric_value value = { .metric = metric_of(im, stmt),
					  .value = sqlite3_column_double(stmt, 9) };
	struct cap_rec_metrics rec = { .h.time = U64(8), .n_values = 1 };

	if (value.metric)
		rpd_import_event(im, im->main_tid, CAP_REC_METRICS, &rec.h, sizeof(rec), &value,
				 sizeof(value));
}
