/*
 * facts: from META records to the lists of a process.
 *
 * All META records are copied to the capture's arena in the order of writing;
 * then each type's row in `takers` makes its part of the model of them, strings
 * first since everything else names them. Ids are checked against how many
 * records there are: a flipped bit in one must not become a gigabyte of list.
 */
#include "trace/trace_priv.h"

#include <stdlib.h>
#include <string.h>

#define META_RECORDS_MAX (64u << 20)
#define ID_SLACK 4096u /* ids are given out densely; some records may be lost */

WS_VEC_TYPE(rec_list, const struct ws_rec *);

struct facts {
	struct ws_capture *capture;
	const struct ws_trace_opts *opts;
	struct rec_list by_type[WS_REC_TYPE_MAX + 1];
	size_t hint; /* of the clock */
	struct ws_err *err;
};

#define each_rec(var, facts, NAME, T)                                                              \
	for (size_t i_##var = 0; i_##var < (facts)->by_type[WS_REC_##NAME].n; i_##var++)           \
		for (const struct T *var =                                                         \
			     (const struct T *)(facts)->by_type[WS_REC_##NAME].at[i_##var];        \
		     var; var = NULL)

static enum ws_status no_memory(struct facts *f)
{
	return ws_fail(f->err, WS_E_NOMEM, "capture '%s': too many facts",
		       ws_reader_path(f->capture->reader));
}

static const char *str(struct facts *f, uint32_t id)
{
	return ws_process_string(&f->capture->pub, id);
}

static uint64_t to_ns(struct facts *f, uint64_t ticks)
{
	return ticks ? ws_clock_ns(&f->capture->clock, ticks, &f->hint) : 0;
}

static const char *tail_text(struct facts *f, const struct ws_rec *rec)
{
	struct ws_tail tail = ws_rec_tail(rec);

	return ws_arena_strndup(&f->capture->arena, tail.at, tail.n_bytes);
}

/* One more than the largest believable id of a type's records. */
static size_t list_length(struct facts *f, enum ws_rec_type type)
{
	const struct rec_list *list = &f->by_type[type];
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

#define make_list(f, list, TYPE)                                                                   \
	((list)->n = list_length((f), WS_REC_##TYPE),                                              \
	 (list)->at = ws_arena_array(&(f)->capture->arena, (list)->n, sizeof(*(list)->at)),        \
	 (list)->at ? WS_OK : no_memory(f))

/* ---- takers, in the order in which they depend on each other ---- */

static enum ws_status take_strings(struct facts *f)
{
	struct ws_capture *c = f->capture;

	c->n_strings = list_length(f, WS_REC_STRING);
	c->strings = ws_arena_array(&c->arena, c->n_strings, sizeof(*c->strings));
	if (!c->strings)
		return no_memory(f);
	for (size_t i = 0; i < c->n_strings; i++)
		c->strings[i] = "";
	each_rec(rec, f, STRING, ws_rec_string)
	{
		const char *text = tail_text(f, &rec->h);

		if (!text)
			return no_memory(f);
		if (rec->h.what && rec->h.what < c->n_strings)
			c->strings[rec->h.what] = text;
	}
	return WS_OK;
}

static enum ws_status take_clock(struct facts *f)
{
	struct ws_capture *c = f->capture;
	size_t n = 0;
	struct ws_rec_clock *pairs =
		ws_arena_array(&c->arena, f->by_type[WS_REC_CLOCK].n + 1, sizeof(*pairs));

	if (!pairs)
		return no_memory(f);
	each_rec(rec, f, CLOCK, ws_rec_clock)
	{
		if (n == 0)
			c->pub.realtime_offset_ns = (int64_t)(rec->realtime_ns - rec->boottime_ns);
		pairs[n++] = *rec;
	}
	return ws_clock_map_init(&c->clock, pairs, n,
				 ws_reader_head(c->reader)->tick_kind == WS_TICKS_NS, f->err);
}

static enum ws_status take_process(struct facts *f)
{
	struct ws_process *p = &f->capture->pub;
	const struct ws_file_head *head = ws_reader_head(f->capture->reader);

	p->pid = head->pid;
	p->init_ns = head->created_ns;
	for (unsigned i = 0; i < WS_DOMAIN_COUNT; i++) {
		p->ledger[i].asked = head->ledger[i].asked != 0;
		p->ledger[i].dropped = head->ledger[i].dropped;
		p->ledger[i].paused = head->ledger[i].paused;
		p->ledger[i].failed = head->ledger[i].failed;
	}
	each_rec(rec, f, PROCESS, ws_rec_process)
	{
		p->pid = rec->h.what;
		p->ppid = rec->ppid;
		p->main_tid = rec->main_tid;
		p->uid = rec->uid;
		p->flags = rec->flags;
		p->init_ns = rec->h.time;
		for (unsigned i = 0; i < WS_DOMAIN_COUNT; i++)
			p->ledger[i].asked |= rec->domains >> i & 1;
	}
	if (!p->main_tid)
		p->main_tid = p->pid;
	each_rec(rec, f, END, ws_rec_end)
	{
		p->ended = true;
		p->end_cause = rec->h.what;
		p->fini_ns = rec->h.time;
	}
	each_rec(rec, f, RUNTIME, ws_rec_runtime) p->runtimes |=
		rec->h.what < 32 ? 1u << rec->h.what : 0;
	p->hip_used = p->runtimes >> WS_RUNTIME_HIP & 1;
	return WS_OK;
}

static enum ws_status take_texts(struct facts *f)
{
	struct ws_process *p = &f->capture->pub;
	struct {
		enum ws_fact fact;
		const char *const **list;
		size_t *n;
	} lists[] = {
		{ WS_FACT_ARGV, &p->argv, &p->n_argv },
		{ WS_FACT_ENV, &p->env, &p->n_env },
		{ WS_FACT_CONFIG, &p->config, &p->n_config },
		{ WS_FACT_NOTE, &p->notes, &p->n_notes },
	};

	for (unsigned i = 0; i < WS_FACT_COUNT; i++)
		p->facts[i] = "";
	for (unsigned l = 0; l < WS_ARRAY_LEN(lists); l++) {
		size_t n = 0;
		const char **texts;

		each_rec(rec, f, FACT, ws_rec_fact) n += rec->h.what == lists[l].fact;
		texts = ws_arena_array(&f->capture->arena, n + 1, sizeof(*texts));
		if (!texts)
			return no_memory(f);
		n = 0;
		each_rec(rec, f, FACT, ws_rec_fact)
		{
			if (rec->h.what == lists[l].fact && !(texts[n++] = tail_text(f, &rec->h)))
				return no_memory(f);
		}
		*lists[l].list = texts;
		*lists[l].n = n;
	}
	each_rec(rec, f, FACT, ws_rec_fact)
	{
		const char *text = tail_text(f, &rec->h);

		if (!text)
			return no_memory(f);
		if (rec->h.what < WS_FACT_COUNT)
			p->facts[rec->h.what] = text;
	}
	return WS_OK;
}

static int by_node(const void *a, const void *b)
{
	const struct ws_rec_agent *x = (*(struct ws_agent *const *)a)->info;
	const struct ws_rec_agent *y = (*(struct ws_agent *const *)b)->info;

	return x->node_id < y->node_id ? -1 : x->node_id > y->node_id;
}

/* Adds @rec to its agent's list; there are a dozen, so the list is made anew each time. */
static bool add_part(struct facts *f, const struct ws_rec ***list, size_t *n,
		     const struct ws_rec *rec)
{
	const struct ws_rec **more = ws_arena_array(&f->capture->arena, *n + 1, sizeof(*more));

	if (!more)
		return false;
	if (*n)
		memcpy(more, *list, *n * sizeof(*more));
	more[(*n)++] = rec;
	*list = more;
	return true;
}

static enum ws_status take_agents(struct facts *f)
{
	struct ws_capture *c = f->capture;
	enum ws_status st = WS_OK;

	c->pub.agents.at = ws_arena_array(&c->arena, f->by_type[WS_REC_AGENT].n + 1,
					  sizeof(*c->pub.agents.at));
	if (!c->pub.agents.at)
		return no_memory(f);
	each_rec(rec, f, AGENT, ws_rec_agent)
	{
		struct ws_agent *agent = ws_map_get_u64(&c->agents, rec->h.what);

		if (!agent) {
			agent = ws_arena_new(&c->arena, struct ws_agent);
			if (!agent)
				return no_memory(f);
			st = ws_map_put_u64(&c->agents, rec->h.what, agent, f->err);
			if (st)
				return st;
			c->pub.agents.at[c->pub.agents.n++] = agent;
		}
		agent->info = rec;
		agent->name = str(f, rec->name_str);
		agent->vendor_name = str(f, rec->vendor_name_str);
		agent->product_name = str(f, rec->product_name_str);
		agent->model_name = str(f, rec->model_name_str);
	}
	qsort(c->pub.agents.at, c->pub.agents.n, sizeof(*c->pub.agents.at), by_node);
#define TAKE_PART(NAME, T, list, count)                                                            \
	each_rec(rec, f, NAME, T)                                                                  \
	{                                                                                          \
		struct ws_agent *agent = ws_map_get_u64(&c->agents, rec->h.what);                  \
                                                                                                   \
		if (agent &&                                                                       \
		    !add_part(f, (const struct ws_rec ***)&agent->list, &agent->count, &rec->h))   \
			return no_memory(f);                                                       \
	}
	TAKE_PART(AGENT_BANK, ws_rec_agent_bank, banks, n_banks)
	TAKE_PART(AGENT_CACHE, ws_rec_agent_cache, caches, n_caches)
	TAKE_PART(AGENT_LINK, ws_rec_agent_link, links, n_links)
#undef TAKE_PART
	return WS_OK;
}

static enum ws_status take_queues(struct facts *f)
{
	struct ws_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->queues, QUEUE);

	if (st)
		return st;
	each_rec(rec, f, QUEUE, ws_rec_queue)
	{
		struct ws_queue *queue;

		if (!rec->h.what || rec->h.what >= p->queues.n)
			continue;
		queue = &p->queues.at[rec->h.what];
		queue->info = rec;
		queue->agent = ws_process_agent(p, rec->agent);
	}
	for (uint32_t i = 0; i < p->queues.n; i++) {
		p->queues.at[i].id = i;
		for (uint32_t k = 1; k < i; k++)
			p->queues.at[i].index_on_agent +=
				p->queues.at[k].info &&
				p->queues.at[k].agent == p->queues.at[i].agent;
	}
	return WS_OK;
}

static enum ws_status take_streams(struct facts *f)
{
	struct ws_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->streams, STREAM);

	if (st)
		return st;
	for (uint32_t i = 0; i < p->streams.n; i++)
		p->streams.at[i] = (struct ws_stream){ .id = i, .name = "" };
	each_rec(rec, f, STREAM, ws_rec_stream)
	{
		if (!rec->h.what || rec->h.what >= p->streams.n)
			continue;
		p->streams.at[rec->h.what].info = rec;
		p->streams.at[rec->h.what].name = str(f, rec->name_str);
	}
	return WS_OK;
}

static enum ws_status take_code_objects(struct facts *f)
{
	struct ws_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->code_objects, CODE_OBJECT);

	if (st)
		return st;
	for (uint32_t i = 0; i < p->code_objects.n; i++)
		p->code_objects.at[i] = (struct ws_code_object){ .id = i, .uri = "" };
	each_rec(rec, f, CODE_OBJECT, ws_rec_code_object)
	{
		struct ws_code_object *code;

		if (!rec->h.what || rec->h.what >= p->code_objects.n)
			continue;
		code = &p->code_objects.at[rec->h.what];
		code->info = rec;
		code->uri = str(f, rec->uri_str);
		code->agent = ws_process_agent(p, rec->agent);
		code->load_ns = to_ns(f, rec->h.time);
	}
	each_rec(rec, f, CODE_UNLOAD, ws_rec_code_unload)
	{
		if (rec->h.what && rec->h.what < p->code_objects.n)
			p->code_objects.at[rec->h.what].unload_ns = to_ns(f, rec->h.time);
	}
	return WS_OK;
}

struct name_forms {
	const char *mangled, *demangled, *truncated, *formatted;
};

static bool make_forms(struct facts *f, const char *symbol, struct name_forms *out)
{
	struct ws_arena *arena = &f->capture->arena;
	size_t n = strlen(symbol);
	char *demangled, *truncated;

	out->mangled = n > 3 && strcmp(symbol + n - 3, ".kd") == 0
			       ? ws_arena_strndup(arena, symbol, n - 3)
			       : symbol;
	if (!out->mangled)
		return false;
	demangled = ws_demangle(out->mangled);
	truncated = demangled ? ws_truncate_name(demangled) : NULL;
	out->demangled = demangled ? ws_arena_strdup(arena, demangled) : NULL;
	out->truncated = truncated ? ws_arena_strdup(arena, truncated) : NULL;
	free(demangled);
	free(truncated);
	out->formatted = f->opts->truncated_names ? out->truncated
			 : f->opts->mangled_names ? symbol
						  : out->demangled;
	return out->demangled && out->truncated;
}

static enum ws_status take_kernels(struct facts *f)
{
	struct ws_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->kernels, KERNEL);

	if (st)
		return st;
	for (uint32_t i = 0; i < p->kernels.n; i++)
		p->kernels.at[i] =
			(struct ws_kernel){ i, "", "", "", "", "", &p->code_objects.at[0], NULL };
	each_rec(rec, f, KERNEL, ws_rec_kernel)
	{
		struct ws_kernel *kernel;
		struct name_forms forms;

		if (!rec->h.what || rec->h.what >= p->kernels.n)
			continue;
		kernel = &p->kernels.at[rec->h.what];
		kernel->info = rec;
		kernel->symbol = str(f, rec->name_str);
		kernel->code_object = ws_list_at(p->code_objects, rec->code_object);
		if (!make_forms(f, kernel->symbol, &forms))
			return no_memory(f);
		kernel->mangled = forms.mangled;
		kernel->demangled = forms.demangled;
		kernel->truncated = forms.truncated;
		kernel->formatted = forms.formatted;
	}
	return WS_OK;
}

static enum ws_status take_host_functions(struct facts *f)
{
	struct ws_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->host_functions, HOST_FUNCTION);

	if (st)
		return st;
	for (uint32_t i = 0; i < p->host_functions.n; i++)
		p->host_functions.at[i] =
			(struct ws_host_function){ i, "", "", "", "", &p->kernels.at[0], NULL };
	each_rec(rec, f, HOST_FUNCTION, ws_rec_host_function)
	{
		struct ws_host_function *function;
		struct name_forms forms;

		if (!rec->h.what || rec->h.what >= p->host_functions.n)
			continue;
		function = &p->host_functions.at[rec->h.what];
		function->info = rec;
		function->name = str(f, rec->device_function_str);
		function->kernel = ws_list_at(p->kernels, rec->kernel);
		if (!make_forms(f, function->name, &forms))
			return no_memory(f);
		function->demangled = forms.demangled;
		function->truncated = forms.truncated;
		function->formatted = forms.formatted;
	}
	return WS_OK;
}

static enum ws_status take_counters(struct facts *f)
{
	struct ws_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->counters, COUNTER);

	if (st)
		return st;
	for (uint32_t i = 0; i < p->counters.n; i++)
		p->counters.at[i] = (struct ws_counter){
			.id = i, .name = "", .description = "", .block = "", .expression = ""
		};
	each_rec(rec, f, COUNTER, ws_rec_counter)
	{
		if (!rec->h.what || rec->h.what >= p->counters.n)
			continue;
		p->counters.at[rec->h.what] = (struct ws_counter){
			.id = rec->h.what,
			.name = str(f, rec->name_str),
			.description = str(f, rec->description_str),
			.block = str(f, rec->block_str),
			.expression = str(f, rec->expression_str),
			.agent = ws_process_agent(p, rec->agent),
			.info = rec,
			.dims = ws_rec_tail(&rec->h).at,
		};
	}
	return WS_OK;
}

static enum ws_status take_operations(struct facts *f)
{
	struct ws_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->operations, OPERATION);

	if (st)
		return st;
	for (uint32_t i = 0; i < p->operations.n; i++)
		p->operations.at[i] =
			(struct ws_operation){ .op = i, .domain = WS_DOMAIN_COUNT, .name = "" };
	each_rec(rec, f, OPERATION, ws_rec_operation)
	{
		if (!rec->h.what || rec->h.what >= p->operations.n)
			continue;
		if (rec->domain >= WS_DOMAIN_COUNT || rec->kind >= WS_KIND_COUNT) {
			p->damage.n_records++;
			continue;
		}
		p->operations.at[rec->h.what] = (struct ws_operation){
			.op = rec->h.what,
			.kind = rec->kind,
			.domain = rec->domain,
			.id = rec->id,
			.name = str(f, rec->name_str),
			.n_args = rec->n_args,
			.args = ws_rec_tail(&rec->h).at,
			.ret_kind = rec->ret_kind,
		};
	}
	return WS_OK;
}

static enum ws_status take_maps(struct facts *f)
{
	struct ws_capture *c = f->capture;
	enum ws_status st = WS_OK;

	each_rec(rec, f, EXTERNAL, ws_rec_external)
	{
		if (!st)
			st = ws_map_put_u64(&c->externals, rec->external_id,
					    (void *)str(f, rec->h.what), f->err);
	}
	each_rec(rec, f, ENUM_NAME, ws_rec_enum_name)
	{
		if (!st)
			st = ws_map_put_u64(&c->enums,
					    (uint64_t)rec->h.what << 32 ^ (uint64_t)rec->value,
					    (void *)str(f, rec->name_str), f->err);
	}
	return st;
}

/* Those that say something of themselves; survey.c adds those that only wrote. */
static enum ws_status take_threads(struct facts *f)
{
	struct ws_capture *c = f->capture;
	size_t n = 0;

	c->named_threads.at = ws_arena_array(&c->arena, f->by_type[WS_REC_THREAD].n + 1,
					     sizeof(*c->named_threads.at));
	if (!c->named_threads.at)
		return no_memory(f);
	each_rec(rec, f, THREAD, ws_rec_thread)
	{
		c->named_threads.at[n++] = (struct ws_thread){
			.tid = rec->h.what,
			.name = str(f, rec->name_str),
			.start_ns = to_ns(f, rec->h.time),
			.end_ns = rec->ended ? to_ns(f, rec->end_ticks) : 0,
			.process = &c->pub,
		};
	}
	c->named_threads.n = n;
	return WS_OK;
}

static enum ws_status (*const takers[])(struct facts *f) = {
	take_strings,  take_clock,      take_process,      take_texts,   take_agents,
	take_queues,   take_streams,    take_code_objects, take_kernels, take_host_functions,
	take_counters, take_operations, take_maps,         take_threads,
};

/* ---- reading ---- */

static enum ws_status keep_record(struct facts *f, const struct ws_rec *rec)
{
	uint32_t n = ws_rec_bytes(rec);
	struct ws_rec *copy = ws_arena_alloc(&f->capture->arena, n);
	struct rec_list *list = &f->by_type[ws_rec_type(rec)];

	if (!copy)
		return no_memory(f);
	memcpy(copy, rec, n);
	if (!list->max_n)
		ws_vec_init(list, META_RECORDS_MAX);
	return ws_vec_push(list, copy, f->err);
}

static enum ws_status read_meta(struct facts *f)
{
	struct ws_capture *c = f->capture;
	struct ws_view view = { 0 };
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < ws_reader_n_chunks(c->reader); i++) {
		const struct ws_rec *rec;

		if (ws_reader_chunk(c->reader, i)->kind != WS_CHUNK_META)
			continue;
		st = ws_reader_load(c->reader, i, &view, f->err);
		while (!st && (rec = ws_view_next(&view)))
			st = keep_record(f, rec);
	}
	ws_damage_add(&c->pub.damage, &view.damage);
	ws_view_fini(&view);
	return st;
}

enum ws_status ws_capture_read_facts(struct ws_capture *capture, const struct ws_trace_opts *opts,
				     struct ws_err *err)
{
	struct facts *f = calloc(1, sizeof(*f));
	enum ws_status st;

	if (!f)
		return ws_fail(err, WS_E_NOMEM, "capture '%s'", ws_reader_path(capture->reader));
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
