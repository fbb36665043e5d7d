/* Regions of threads in a database: a row when one has ended, its annotations as arguments. */
#include "output/rocpd_host_priv.h"
#include "profile/frames.h"

#include <inttypes.h>

#define NOTES_MAX 65536u /* bytes per region; further annotations are left out */

static const char *region_name(struct output_rocpd_host *h, const struct trc_region *region,
			       char address[24])
{
	if (*region->name)
		return region->name;
	if (h->frames)
		return prof_frames_at(h->frames, region->address)->name;
	snprintf(address, 24, "0x%" PRIx64, region->address);
	return address;
}

static void format_note(const struct cap_rec_annotation *note, struct output_rocpd_arg *arg,
			char name[128])
{
	const char *tail = (const char *)(note + 1);
	uint32_t n_name = WS_MIN(note->n_name, note->n_bytes);
	size_t n_text = WS_MIN(note->n_bytes - n_name, sizeof(arg->value) - 1);
	size_t room = sizeof(arg->value);
	double f64;
	int n = 0;

	snprintf(name, 128, "%.*s", (int)WS_MIN(n_name, 127u), tail);
	arg->name = name;
	strcpy(arg->extdata, "{}");
	arg->n_extdata = 2;
	switch ((enum cap_arg_kind)note->h.what) {
	case CAP_ARG_F64:
		memcpy(&f64, &note->bits, sizeof(f64));
		arg->type = "double";
		n = snprintf(arg->value, room, "%.17g", f64);
		break;
	case CAP_ARG_I64:
		arg->type = "int64_t";
		n = snprintf(arg->value, room, "%" PRIi64, (int64_t)note->bits);
		break;
	case CAP_ARG_PTR:
		arg->type = "void*";
		n = snprintf(arg->value, room, "0x%" PRIx64, note->bits);
		break;
	case CAP_ARG_STR:
		arg->type = "const char*";
		memcpy(arg->value, tail + n_name, n_text);
		n = (int)n_text;
		break;
	default:
		arg->type = "uint64_t";
		n = snprintf(arg->value, room, "%" PRIu64, note->bits);
		break;
	}
	arg->n_value = (size_t)n;
}

static enum ws_status put_notes(struct output_rocpd_host *h, const struct output_rocpd_open *open,
				int64_t event_id)
{
	struct output_rocpd_arg arg;
	enum ws_status st = WS_OK;
	char name[128];
	int position = 0;

	for (size_t at = 0; at < open->notes.n && !st;) {
		const struct cap_rec_annotation *note = (const void *)(open->notes.at + at);

		format_note(note, &arg, name);
		st = output_rocpd_put_args(h->db, &arg, 1, event_id, position++);
		at += CAP_REC_ROUND(sizeof(*note) + note->n_bytes);
	}
	return st;
}

/* The innermost region has ended. */
static enum ws_status close_innermost(struct output_rocpd_host *h,
				      struct output_rocpd_host_thread *thread, uint64_t end_ns)
{
	struct output_rocpd_open *open = &thread->open.at[--thread->open.n];
	const struct trc_region *region = open->region;
	struct output_jsonw w = { &h->db->json, false };
	const char *category = trc_region_category_name(region->category);
	char address[24];
	const char *name = region_name(h, region, address);
	int64_t event_id, name_id = output_rocpd_string(h->db, name, false);
	enum ws_status st;
	size_t n_stack;

	h->db->json.n = 0;
	output_sink_lit(&h->db->json, "{}"); /* it was not looked at */
	n_stack = *region->file && region->line ? h->db->json.n : 0;
	output_json_open(&w, NULL, '{');
	output_rocpd_json_line(&w, name, region->file, region->line);
	output_json_close(&w, '}');
	event_id = output_rocpd_host_event(h, category, n_stack);
	st = output_rocpd_host_region(h, thread->thread, open->start_ns, end_ns, name_id, event_id);
	if (!st)
		st = put_notes(h, open, event_id);
	ws_buf_fini(&open->notes);
	return st;
}

static enum ws_status annotate(struct output_rocpd_host_thread *thread,
			       const struct cap_rec_annotation *note, struct ws_err *err)
{
	size_t n = sizeof(*note) + note->n_bytes;
	struct ws_buf *notes;

	if (!thread->open.n)
		return WS_OK;
	notes = &thread->open.at[thread->open.n - 1].notes;
	if (notes->n + CAP_REC_ROUND(n) > NOTES_MAX)
		return WS_OK;
	ws_buf_add_n(notes, (const char *)note, n);
	ws_buf_add_c(notes, 0, CAP_REC_ROUND(n) - n);
	return ws_buf_status(notes, err);
}

static enum ws_status leave(struct output_rocpd_host *h, struct output_rocpd_host_thread *thread,
			    const struct trc_event *ev)
{
	size_t i = thread->open.n;
	enum ws_status st = WS_OK;

	while (i && thread->open.at[i - 1].region != ev->region.region)
		i--;
	while (i && thread->open.n >= i && !st)
		st = close_innermost(h, thread, ev->start_ns);
	return st;
}

enum ws_status output_rocpd_put_region(struct output_rocpd_host *h,
				       struct output_rocpd_host_thread *thread,
				       const struct trc_event *ev)
{
	struct output_rocpd_open open = { .region = ev->region.region, .start_ns = ev->start_ns };

	h->db->run->result->n_written[OUTPUT_ROCPD][CAP_DOMAIN_REGIONS]++;
	if (ev->region.annotation)
		return annotate(thread, ev->region.annotation, h->db->err);
	if (!ev->region.enters)
		return leave(h, thread, ev);
	ws_buf_init(&open.notes, NOTES_MAX);
	return ws_vec_push(&thread->open, open, h->db->err);
}

enum ws_status output_rocpd_end_regions(struct output_rocpd_host *h,
					struct output_rocpd_host_thread *thread, uint64_t end_ns)
{
	enum ws_status st = WS_OK;

	while (thread->open.n && !st)
		st = close_innermost(h, thread, end_ns);
	return st;
}
