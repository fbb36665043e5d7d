/*
 * dump: a capture as text, one record per line, for tests and for eyes.
 *
 *	dump FILE...            facts first, then events, in the order of the file
 *
 * A line is the record's type and key=value words. Times of calls are ticks as they
 * are in the file; nothing is converted, so that tests see what was written.
 */
#include "base/error.h"
#include "capture/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	char **texts;
	uint32_t n;
} strings;

static const char *text_of(uint32_t id)
{
	return id < strings.n && strings.texts[id] ? strings.texts[id] : "";
}

static void keep_string(const struct cap_rec *rec)
{
	struct cap_tail tail = cap_rec_tail(rec);

	if (rec->what >= strings.n) {
		uint32_t n = rec->what * 2 + 64;

		strings.texts = realloc(strings.texts, n * sizeof(*strings.texts));
		if (!strings.texts)
			exit(2);
		memset(strings.texts + strings.n, 0, (n - strings.n) * sizeof(*strings.texts));
		strings.n = n;
	}
	free(strings.texts[rec->what]);
	strings.texts[rec->what] = strndup(tail.at, tail.n_bytes);
}

static void print_meta(const struct cap_rec *rec)
{
	struct cap_tail tail = cap_rec_tail(rec);

	switch (cap_rec_type(rec)) {
	case CAP_REC_PROCESS: {
		const struct cap_rec_process *r = (const void *)rec;

		printf("PROCESS pid=%u ppid=%u domains=%#" PRIx64 " flags=%u parent_corr=%" PRIu64
		       "\n",
		       rec->what, r->ppid, r->domains, r->flags, r->parent_corr_id);
		break;
	}
	case CAP_REC_FACT:
		printf("FACT %u %.*s\n", rec->what, (int)tail.n_bytes, (const char *)tail.at);
		break;
	case CAP_REC_CLOCK: {
		const struct cap_rec_clock *r = (const void *)rec;

		printf("CLOCK ticks=%" PRIu64 " boottime=%" PRIu64 "\n", rec->time, r->boottime_ns);
		break;
	}
	case CAP_REC_THREAD: {
		const struct cap_rec_thread *r = (const void *)rec;

		printf("THREAD tid=%u ended=%u name=%s\n", rec->what, r->ended,
		       text_of(r->name_str));
		break;
	}
	case CAP_REC_OPERATION: {
		const struct cap_rec_operation *r = (const void *)rec;

		printf("OPERATION op=%u kind=%u id=%u name=%s\n", rec->what, r->kind, r->id,
		       text_of(r->name_str));
		break;
	}
	case CAP_REC_AGENT: {
		const struct cap_rec_agent *r = (const void *)rec;

		printf("AGENT id=%u type=%u node=%u gpu=%d name=%s product=%s cu=%u simd=%u lds=%u "
		       "gfx=%u xcc=%u se=%u waves=%u wg=%u mem=%" PRIu64 " flags=%u\n",
		       rec->what, r->type, r->node_id, r->gpu_index, text_of(r->name_str),
		       text_of(r->product_name_str), r->cu_count, r->simd_count, r->lds_size_in_kb,
		       r->gfx_target_version, r->num_xcc, r->num_shader_banks, r->max_waves_per_cu,
		       r->workgroup_max_size, r->local_mem_size, r->flags);
		break;
	}
	case CAP_REC_QUEUE: {
		const struct cap_rec_queue *r = (const void *)rec;

		printf("QUEUE id=%u agent=%u type=%u packets=%u\n", rec->what, r->agent, r->type,
		       r->n_packets);
		break;
	}
	case CAP_REC_CODE_OBJECT: {
		const struct cap_rec_code_object *r = (const void *)rec;

		printf("CODE_OBJECT id=%u agent=%u storage=%u size=%" PRIu64 " uri=%s\n", rec->what,
		       r->agent, r->storage, r->load_size, text_of(r->uri_str));
		break;
	}
	case CAP_REC_KERNEL: {
		const struct cap_rec_kernel *r = (const void *)rec;

		printf("KERNEL id=%u code=%u kernarg=%u group=%u private=%u sgpr=%u vgpr=%u "
		       "agpr=%u "
		       "name=%s\n",
		       rec->what, r->code_object, r->kernarg_bytes, r->group_bytes,
		       r->private_bytes, r->sgpr_count, r->arch_vgpr_count, r->accum_vgpr_count,
		       text_of(r->name_str));
		break;
	}
	case CAP_REC_EXTERNAL: {
		const struct cap_rec_external *r = (const void *)rec;

		printf("EXTERNAL id=%" PRIu64 " text=%s\n", r->external_id, text_of(rec->what));
		break;
	}
	case CAP_REC_CONTROL: {
		const struct cap_rec_control *r = (const void *)rec;

		printf("CONTROL on=%u cause=%u\n", rec->what, r->cause);
		break;
	}
	case CAP_REC_SAMPLER: {
		const struct cap_rec_sampler *r = (const void *)rec;

		printf("SAMPLER kind=%u period=%" PRIu64 " event=%s counts=%s\n", rec->what,
		       r->period, text_of(r->event_str), text_of(r->count_names_str));
		break;
	}
	case CAP_REC_REGION: {
		const struct cap_rec_region *r = (const void *)rec;

		printf("REGION id=%u category=%u address=%#" PRIx64 " line=%u file=%s name=%s\n",
		       rec->what, r->category, r->address, r->line, text_of(r->file_str),
		       text_of(r->name_str));
		break;
	}
	case CAP_REC_METRIC: {
		const struct cap_rec_metric *r = (const void *)rec;

		printf("METRIC id=%u category=%u unit=%s name=%s\n", rec->what, r->category,
		       text_of(r->unit_str), text_of(r->name_str));
		break;
	}
	case CAP_REC_STRING:
		break;
	default:
		printf("%s what=%u\n", cap_rec_type_name(cap_rec_type(rec)), rec->what);
	}
}

/* What samples of call stacks are made of. */
static bool print_host_event(const struct cap_rec *rec, uint32_t tid)
{
	struct cap_tail tail = cap_rec_tail(rec);

	switch (cap_rec_type(rec)) {
	case CAP_REC_MODULE: {
		const struct cap_rec_module *r = (const void *)rec;

		printf("MODULE id=%u gen=%u start=%#" PRIx64 " end=%#" PRIx64 " bias=%#" PRIx64
		       " build=",
		       rec->what, r->generation, r->start, r->end, r->bias);
		for (uint32_t i = 0; i < r->n_build_id; i++)
			printf("%02x", r->build_id[i]);
		printf(" path=%.*s\n", (int)tail.n_bytes, (const char *)tail.at);
		return true;
	}
	case CAP_REC_STACK: {
		const struct cap_rec_stack *r = (const void *)rec;
		const uint64_t *frames = tail.at;

		printf("STACK id=%u gen=%u flags=%u native=%u frames=", rec->what, r->generation,
		       r->flags, r->n_native);
		for (uint32_t i = 0; i < r->n_frames; i++)
			printf("%s%" PRIx64, i ? "," : "", frames[i]);
		printf("\n");
		return true;
	}
	case CAP_REC_PYTHON_CODE: {
		const struct cap_rec_python_code *r = (const void *)rec;
		const char *text = tail.at;

		printf("PYTHON id=%u version=%x line=%u table=%u name=%.*s file=%.*s\n", rec->what,
		       r->version, r->first_line, r->n_bytes - r->n_name - r->n_file,
		       (int)r->n_name, text, (int)r->n_file, text + r->n_name);
		return true;
	}
	case CAP_REC_SAMPLE: {
		const struct cap_rec_sample *r = (const void *)rec;

		printf("SAMPLE tid=%u stack=%u sampler=%u missed=%u cpu=%" PRIu64
		       " switches=%u faults=%u peak=%u time=%" PRIu64,
		       tid, rec->what, r->sampler, r->n_missed, r->cpu_ns, r->n_switches,
		       r->n_faults, r->peak_kb, rec->time);
		for (uint32_t i = 0; i < r->n_counts; i++)
			printf(" count%u=%" PRIu64, i, ((const uint64_t *)tail.at)[i]);
		printf("\n");
		return true;
	}
	}
	return false;
}

static void print_event(const struct cap_rec *rec, uint32_t tid)
{
	struct cap_tail tail = cap_rec_tail(rec);

	switch (cap_rec_type(rec)) {
	case CAP_REC_CALL:
	case CAP_REC_CALL_ARGS: {
		const struct cap_rec_call *r = (const void *)rec;

		printf("CALL tid=%u op=%u start=%" PRIu64 " end=%" PRIu64 " corr=%" PRIu64
		       " ancestor=%" PRIu64 "\n",
		       tid, rec->what, rec->time, r->end_ticks, r->corr_id, r->ancestor_id);
		break;
	}
	case CAP_REC_MARKER: {
		const struct cap_rec_marker *r = (const void *)rec;

		printf("MARKER tid=%u op=%u start=%" PRIu64 " end=%" PRIu64 " corr=%" PRIu64
		       " text=%.*s%s\n",
		       tid, rec->what, rec->time, r->end_ticks, r->corr_id, (int)tail.n_bytes,
		       (const char *)tail.at, text_of(r->message));
		break;
	}
	case CAP_REC_DISPATCH: {
		const struct cap_rec_dispatch *r = (const void *)rec;

		printf("DISPATCH id=%" PRIu64 " kernel=%u start=%" PRIu64 " end=%" PRIu64
		       " corr=%" PRIu64 " external=%" PRIu64 " tid=%u agent=%u queue=%u stream=%u "
		       "wg=%u,%u,%u grid=%u,%u,%u lds=%u private=%u ordered=%u\n",
		       r->dispatch_id, rec->what, rec->time, r->end_ns, r->corr_id, r->external_id,
		       r->tid, r->agent, r->queue, r->stream, r->workgroup[0], r->workgroup[1],
		       r->workgroup[2], r->grid[0], r->grid[1], r->grid[2], r->group_bytes,
		       r->private_bytes, r->flags & CAP_DISPATCH_ORDERED ? 1 : 0);
		break;
	}
	case CAP_REC_COPY: {
		const struct cap_rec_copy *r = (const void *)rec;

		printf("COPY op=%u start=%" PRIu64 " end=%" PRIu64 " corr=%" PRIu64
		       " bytes=%" PRIu64 " dst=%u src=%u tid=%u stream=%u\n",
		       rec->what, rec->time, r->end_ns, r->corr_id, r->n_bytes, r->dst_agent,
		       r->src_agent, r->tid, r->stream);
		break;
	}
	case CAP_REC_SCRATCH: {
		const struct cap_rec_scratch *s = (const void *)rec;

		printf("SCRATCH tid=%u op=%u agent=%u queue=%u flags=%u bytes=%" PRIu64
		       " times=%s\n",
		       s->tid, rec->what, s->agent, s->queue, s->flags, s->n_bytes,
		       rec->time < s->end_ticks ? "ok" : "bad");
		break;
	}
	case CAP_REC_ENTER:
	case CAP_REC_LEAVE:
		printf("%s tid=%u region=%u ticks=%" PRIu64 "\n",
		       cap_rec_type(rec) == CAP_REC_ENTER ? "ENTER" : "LEAVE", tid, rec->what,
		       rec->time);
		break;
	case CAP_REC_ANNOTATION: {
		const struct cap_rec_annotation *r = (const void *)rec;
		uint32_t n_name = r->n_name <= tail.n_bytes ? r->n_name : tail.n_bytes;

		printf("ANNOTATION tid=%u kind=%u bits=%#" PRIx64 " name=%.*s text=%.*s\n", tid,
		       rec->what, r->bits, (int)n_name, (const char *)tail.at,
		       (int)(tail.n_bytes - n_name), (const char *)tail.at + n_name);
		break;
	}
	case CAP_REC_COLLECTIVE: {
		const struct cap_rec_collective *r = (const void *)rec;

		printf("COLLECTIVE tid=%u region=%u comm=%#" PRIx64 " seq=%" PRIu64
		       " rank=%u of=%u root=%d times=%s\n",
		       tid, rec->what, r->comm, r->seq, r->rank, r->n_ranks, r->root,
		       rec->time < r->end_ticks ? "ok" : "bad");
		break;
	}
	case CAP_REC_LAUNCHED: {
		const struct cap_rec_launched *r = (const void *)rec;

		printf("LAUNCHED tid=%u number=%u corr=%" PRIu64 " end=%" PRIu64 "\n", r->tid,
		       rec->what, r->first_corr_id, r->end_corr_id);
		break;
	}
	case CAP_REC_METRICS: {
		const struct cap_rec_metrics *r = (const void *)rec;
		const struct cap_metric_value *values = tail.at;

		for (uint32_t i = 0; i < r->n_values; i++)
			printf("VALUE tid=%u metric=%u ticks=%" PRIu64 " value=%.15g\n", tid,
			       values[i].metric, rec->time, values[i].value);
		break;
	}
	case CAP_REC_ALLOC: {
		const struct cap_rec_alloc *r = (const void *)rec;

		printf("ALLOC tid=%u op=%u corr=%" PRIu64 " ancestor=%" PRIu64 " bytes=%" PRIu64
		       " agent=%u address=%#" PRIx64 "\n",
		       tid, rec->what, r->corr_id, r->ancestor_id, r->n_bytes, r->agent,
		       r->address);
		break;
	}
	default:
		if (!print_host_event(rec, tid))
			printf("%s what=%u\n", cap_rec_type_name(cap_rec_type(rec)), rec->what);
	}
}

/* Three passes: texts, facts, events. */
static void print_pass(struct cap_reader *reader, int pass, struct cap_view *view)
{
	struct ws_err err;

	for (size_t i = 0; i < cap_reader_n_chunks(reader); i++) {
		uint32_t kind = cap_reader_chunk(reader, i)->kind;
		const struct cap_rec *rec;

		if (kind != (pass == 2 ? CAP_CHUNK_EVENT : CAP_CHUNK_META))
			continue;
		if (cap_reader_load(reader, i, view, &err)) {
			fprintf(stderr, "dump: %s\n", err.text);
			exit(1);
		}
		while ((rec = cap_view_next(view))) {
			if (pass == 0 && cap_rec_type(rec) == CAP_REC_STRING)
				keep_string(rec);
			else if (pass == 1)
				print_meta(rec);
			else if (pass == 2)
				print_event(rec, view->tid);
		}
	}
}

static void print_file(const char *path)
{
	struct cap_view view = { 0 };
	struct cap_reader *reader;
	struct ws_err err;

	if (cap_reader_open(path, &reader, &err)) {
		fprintf(stderr, "dump: %s\n", err.text);
		exit(1);
	}
	printf("FILE closed=%d\n", cap_reader_closed(reader));
	for (int pass = 0; pass < 3; pass++)
		print_pass(reader, pass, &view);
	for (unsigned i = 0; i < CAP_DOMAIN_COUNT; i++) {
		const struct cap_ledger_line *line = &cap_reader_head(reader)->ledger[i];

		if (line->asked | line->dropped | line->paused | line->failed)
			printf("LEDGER domain=%u dropped=%" PRIu64 " paused=%" PRIu64
			       " failed=%" PRIu64 "\n",
			       i, line->dropped, line->paused, line->failed);
	}
	printf("DAMAGE any=%d pages_cut=%" PRIu64 "\n",
	       cap_damage_any(&view.damage) || cap_damage_any(cap_reader_damage(reader)),
	       cap_reader_damage(reader)->n_pages_cut);
	cap_view_fini(&view);
	cap_reader_close(reader);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		print_file(argv[i]);
	return argc < 2;
}
