/*
 * facts: from META records to the lists of a process.
 *
 * All META records are copied to the capture's arena in the order of writing;
 * then each type's row in `takers` makes its part of the model of them, strings
 * first since everything else names them. Ids are checked against how many
 * records there are: a flipped bit in one must not become a gigabyte of list.
 */
#include "trace/facts_priv.h"

#include <stdlib.h>
#include <string.h>

#define META_RECORDS_MAX (64u << 20)
/*
 * Ids are given out densely; some records may be lost. Operations alone have a range of ids per
 * provider (collector/provider.h), and a capture may hold those of the last one only.
 */
#define ID_SLACK 16384u

enum ws_status trc_facts_no_memory(struct trc_facts *f)
{
	return ws_fail(f->err, WS_E_NOMEM, "capture '%s': too many metadata records",
		       cap_reader_path(f->capture->reader));
}

uint64_t trc_facts_ns(struct trc_facts *f, uint64_t ticks)
{
	return ticks ? trc_capture_shift(f->capture,
					 trc_clock_ns(&f->capture->clock, ticks, &f->hint))
		     : 0;
}

static const char *tail_text(struct trc_facts *f, const struct cap_rec *rec)
{
	struct cap_tail tail = cap_rec_tail(rec);

	return ws_arena_strndup(&f->capture->arena, tail.at, tail.n_bytes);
}

size_t trc_facts_length(struct trc_facts *f, enum cap_rec_type type)
{
	const struct trc_rec_list *list = &f->by_type[type];
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		uint32_t id = list->at[i]->what;

		if (id < list->n * 2 + ID_SLACK)
			n = WS_MAX(n, (size_t)id + 1);
		else
			f->capture->pub.damage.n_records++;
	}
	return WS_MAX(n, (size_t)1);
}

/* ---- takers, in the order in which they depend on each other ---- */

static enum ws_status take_strings(struct trc_facts *f)
{
	struct trc_capture *c = f->capture;

	c->n_strings = trc_facts_length(f, CAP_REC_STRING);
	c->strings = ws_arena_array(&c->arena, c->n_strings, sizeof(*c->strings));
	if (!c->strings)
		return trc_facts_no_memory(f);
	for (size_t i = 0; i < c->n_strings; i++)
		c->strings[i] = "";
	each_rec(rec, f, STRING, cap_rec_string)
	{
		const char *text = tail_text(f, &rec->h);

		if (!text)
			return trc_facts_no_memory(f);
		if (rec->h.what && rec->h.what < c->n_strings)
			c->strings[rec->h.what] = text;
	}
	return WS_OK;
}

static enum ws_status take_clock(struct trc_facts *f)
{
	struct trc_capture *c = f->capture;
	size_t n = 0;
	struct cap_rec_clock *pairs =
		ws_arena_array(&c->arena, f->by_type[CAP_REC_CLOCK].n + 1, sizeof(*pairs));

	if (!pairs)
		return trc_facts_no_memory(f);
	each_rec(rec, f, CLOCK, cap_rec_clock)
	{
		if (n == 0)
			c->pub.realtime_offset_ns = (int64_t)(rec->realtime_ns - rec->boottime_ns);
		pairs[n++] = *rec;
	}
	return trc_clock_map_init(&c->clock, pairs, n,
				  cap_reader_head(c->reader)->tick_kind == CAP_TICKS_NS, f->err);
}

static enum ws_status take_process(struct trc_facts *f)
{
	struct trc_process *p = &f->capture->pub;
	const struct cap_file_head *head = cap_reader_head(f->capture->reader);

	p->pid = head->pid;
	p->init_ns = trc_capture_shift(f->capture, head->created_ns);
	memcpy(p->boot_id, head->boot_id, sizeof(p->boot_id));
	for (unsigned i = 0; i < CAP_DOMAIN_COUNT; i++) {
		p->ledger[i].asked = head->ledger[i].asked != 0;
		p->ledger[i].dropped = head->ledger[i].dropped;
		p->ledger[i].paused = head->ledger[i].paused;
		p->ledger[i].failed = head->ledger[i].failed;
		p->ledger[i].left_out = head->left_out[i];
	}
	each_rec(rec, f, PROCESS, cap_rec_process)
	{
		p->pid = rec->h.what;
		p->ppid = rec->ppid;
		p->main_tid = rec->main_tid;
		p->uid = rec->uid;
		p->flags = rec->flags;
		p->init_ns = trc_capture_shift(f->capture, rec->h.time);
		for (unsigned i = 0; i < CAP_DOMAIN_COUNT; i++)
			p->ledger[i].asked |= rec->domains >> i & 1;
	}
	if (!p->main_tid)
		p->main_tid = p->pid;
	each_rec(rec, f, END, cap_rec_end)
	{
		p->ended = true;
		p->end_cause = rec->h.what;
		p->fini_ns = trc_capture_shift(f->capture, rec->h.time);
	}
	each_rec(rec, f, RUNTIME, cap_rec_runtime) p->runtimes |=
		rec->h.what < 32 ? 1u << rec->h.what : 0;
	p->hip_used = p->runtimes >> CAP_RUNTIME_HIP & 1;
	return WS_OK;
}

static enum ws_status take_texts(struct trc_facts *f)
{
	struct trc_process *p = &f->capture->pub;
	struct {
		enum cap_fact fact;
		const char *const **list;
		size_t *n;
	} lists[] = {
		{ CAP_FACT_ARGV, &p->argv, &p->n_argv },
		{ CAP_FACT_ENV, &p->env, &p->n_env },
		{ CAP_FACT_CONFIG, &p->config, &p->n_config },
		{ CAP_FACT_NOTE, &p->notes, &p->n_notes },
	};

	for (unsigned i = 0; i < CAP_FACT_COUNT; i++)
		p->facts[i] = "";
	for (unsigned l = 0; l < WS_ARRAY_LEN(lists); l++) {
		size_t n = 0;
		const char **texts;

		each_rec(rec, f, FACT, cap_rec_fact) n += rec->h.what == lists[l].fact;
		texts = ws_arena_array(&f->capture->arena, n + 1, sizeof(*texts));
		if (!texts)
			return trc_facts_no_memory(f);
		n = 0;
		each_rec(rec, f, FACT, cap_rec_fact)
		{
			if (rec->h.what == lists[l].fact && !(texts[n++] = tail_text(f, &rec->h)))
				return trc_facts_no_memory(f);
		}
		*lists[l].list = texts;
		*lists[l].n = n;
	}
	each_rec(rec, f, FACT, cap_rec_fact)
	{
		const char *text = tail_text(f, &rec->h);

		if (!text)
			return trc_facts_no_memory(f);
		if (rec->h.what < CAP_FACT_COUNT)
			p->facts[rec->h.what] = text;
	}
	return WS_OK;
}

static enum ws_status take_operations(struct trc_facts *f)
{
	struct trc_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->operations, OPERATION);

	if (st)
		return st;
	for (uint32_t i = 0; i < p->operations.n; i++)
		p->operations.at[i] =
			(struct trc_operation){ .op = i, .domain = CAP_DOMAIN_COUNT, .name = "" };
	each_rec(rec, f, OPERATION, cap_rec_operation)
	{
		if (!rec->h.what || rec->h.what >= p->operations.n)
			continue;
		if (rec->domain >= CAP_DOMAIN_COUNT || rec->kind >= CAP_KIND_COUNT) {
			p->damage.n_records++;
			continue;
		}
		p->operations.at[rec->h.what] = (struct trc_operation){
			.op = rec->h.what,
			.kind = rec->kind,
			.domain = rec->domain,
			.id = rec->id,
			.name = trc_facts_str(f, rec->name_str),
			.n_args = rec->n_args,
			.args = cap_rec_tail(&rec->h).at,
			.ret_kind = rec->ret_kind,
		};
	}
	return WS_OK;
}

static enum ws_status take_maps(struct trc_facts *f)
{
	struct trc_capture *c = f->capture;
	enum ws_status st = WS_OK;

	each_rec(rec, f, EXTERNAL, cap_rec_external)
	{
		if (!st)
			st = ws_map_put_u64(&c->externals, rec->external_id,
					    (void *)trc_facts_str(f, rec->h.what), f->err);
	}
	each_rec(rec, f, ENUM_NAME, cap_rec_enum_name)
	{
		if (!st)
			st = ws_map_put_u64(&c->enums,
					    (uint64_t)rec->h.what << 32 ^ (uint64_t)rec->value,
					    (void *)trc_facts_str(f, rec->name_str), f->err);
	}
	return st;
}

/* Those that say something of themselves; survey.c adds those that only wrote. */
static enum ws_status take_threads(struct trc_facts *f)
{
	struct trc_capture *c = f->capture;
	size_t n = 0;

	c->named_threads.at = ws_arena_array(&c->arena, f->by_type[CAP_REC_THREAD].n + 1,
					     sizeof(*c->named_threads.at));
	if (!c->named_threads.at)
		return trc_facts_no_memory(f);
	each_rec(rec, f, THREAD, cap_rec_thread)
	{
		c->named_threads.at[n++] = (struct trc_thread){
			.tid = rec->h.what,
			.name = trc_facts_str(f, rec->name_str),
			.start_ns = trc_facts_ns(f, rec->h.time),
			.end_ns = rec->ended ? trc_facts_ns(f, rec->end_ticks) : 0,
			.process = &c->pub,
		};
	}
	c->named_threads.n = n;
	return WS_OK;
}

static enum ws_status (*const takers[])(struct trc_facts *f) = {
	take_strings,       take_clock,
	take_process,       take_texts,
	trc_facts_agents,   trc_facts_queues,
	trc_facts_streams,  trc_facts_code_objects,
	trc_facts_kernels,  trc_facts_host_functions,
	trc_facts_counters, take_operations,
	take_maps,          take_threads,
	trc_facts_samplers, trc_facts_metrics,
	trc_facts_regions,  trc_facts_usage,
};

/* ---- reading ---- */

static enum ws_status keep_record(struct trc_facts *f, const struct cap_rec *rec)
{
	uint32_t n = cap_rec_bytes(rec);
	struct cap_rec *copy = ws_arena_alloc(&f->capture->arena, n);
	struct trc_rec_list *list = &f->by_type[cap_rec_type(rec)];

	if (!copy)
		return trc_facts_no_memory(f);
	memcpy(copy, rec, n);
	if (!list->max_n)
		ws_vec_init(list, META_RECORDS_MAX);
	return ws_vec_push(list, copy, f->err);
}

static enum ws_status read_meta(struct trc_facts *f)
{
	struct trc_capture *c = f->capture;
	struct cap_view view = { 0 };
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < cap_reader_n_chunks(c->reader); i++) {
		const struct cap_rec *rec;

		if (cap_reader_chunk(c->reader, i)->kind != CAP_CHUNK_META)
			continue;
		st = cap_reader_load(c->reader, i, &view, f->err);
		while (!st && (rec = cap_view_next(&view)))
			st = keep_record(f, rec);
	}
	cap_damage_add(&c->pub.damage, &view.damage);
	cap_view_fini(&view);
	return st;
}

enum ws_status trc_capture_read_facts(struct trc_capture *capture, const struct trc_opts *opts,
				      struct ws_err *err)
{
	struct trc_facts *f = calloc(1, sizeof(*f));
	enum ws_status st;

	if (!f)
		return ws_fail(err, WS_E_NOMEM, "capture '%s'", cap_reader_path(capture->reader));
	f->capture = capture;
	f->opts = opts;
	f->err = err;
	st = read_meta(f);
	for (size_t i = 0; !st && i < WS_ARRAY_LEN(takers); i++)
		st = takers[i](f);
	for (size_t i = 0; i < WS_ARRAY_LEN(f->by_type); i++)
		ws_vec_fini(&f->by_type[i]);
	free(f);
	return st;
}
