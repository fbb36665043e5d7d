/* facts_gpu: agents and what lives on them: queues, streams, code, kernels, counters. */
#include "base/map.h"
#include "trace/facts_priv.h"

#include <stdlib.h>
#include <string.h>

static int by_node(const void *a, const void *b)
{
	const struct cap_rec_agent *x = (*(struct trc_agent *const *)a)->info;
	const struct cap_rec_agent *y = (*(struct trc_agent *const *)b)->info;

	return x->node_id < y->node_id ? -1 : x->node_id > y->node_id;
}

/* Adds @rec to its agent's list; there are a dozen, so the list is rebuilt each time. */
static bool add_part(struct trc_facts *f, const struct cap_rec ***list, size_t *n,
		     const struct cap_rec *rec)
{
	const struct cap_rec **more = ws_arena_array(&f->capture->arena, *n + 1, sizeof(*more));

	if (!more)
		return false;
	if (*n)
		memcpy(more, *list, *n * sizeof(*more));
	more[(*n)++] = rec;
	*list = more;
	return true;
}

enum ws_status trc_facts_agents(struct trc_facts *f)
{
	struct trc_capture *c = f->capture;
	enum ws_status st = WS_OK;

	c->pub.agents.at = ws_arena_array(&c->arena, f->by_type[CAP_REC_AGENT].n + 1,
					  sizeof(*c->pub.agents.at));
	if (!c->pub.agents.at)
		return trc_facts_no_memory(f);
	each_rec(rec, f, AGENT, cap_rec_agent)
	{
		struct trc_agent *agent = ws_map_get_u64(&c->agents, rec->h.what);

		if (!agent) {
			agent = ws_arena_new(&c->arena, struct trc_agent);
			if (!agent)
				return trc_facts_no_memory(f);
			agent->given_name = "";
			st = ws_map_put_u64(&c->agents, rec->h.what, agent, f->err);
			if (st)
				return st;
			c->pub.agents.at[c->pub.agents.n++] = agent;
		}
		agent->info = rec;
		agent->name = trc_facts_str(f, rec->name_str);
		agent->vendor_name = trc_facts_str(f, rec->vendor_name_str);
		agent->product_name = trc_facts_str(f, rec->product_name_str);
		agent->model_name = trc_facts_str(f, rec->model_name_str);
	}
	each_rec(rec, f, AGENT_NAME, cap_rec_agent_name)
	{
		struct trc_agent *agent = ws_map_get_u64(&c->agents, rec->h.what);

		if (agent)
			agent->given_name = trc_facts_str(f, rec->name_str);
	}
	qsort(c->pub.agents.at, c->pub.agents.n, sizeof(*c->pub.agents.at), by_node);
#define TAKE_PART(NAME, T, list, count)                                                            \
	each_rec(rec, f, NAME, T)                                                                  \
	{                                                                                          \
		struct trc_agent *agent = ws_map_get_u64(&c->agents, rec->h.what);                 \
                                                                                                   \
		if (agent &&                                                                       \
		    !add_part(f, (const struct cap_rec ***)&agent->list, &agent->count, &rec->h))  \
			return trc_facts_no_memory(f);                                             \
	}
	TAKE_PART(AGENT_BANK, cap_rec_agent_bank, banks, n_banks)
	TAKE_PART(AGENT_CACHE, cap_rec_agent_cache, caches, n_caches)
	TAKE_PART(AGENT_LINK, cap_rec_agent_link, links, n_links)
#undef TAKE_PART
	return WS_OK;
}

enum ws_status trc_facts_queues(struct trc_facts *f)
{
	struct trc_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->queues, QUEUE);

	if (st)
		return st;
	each_rec(rec, f, QUEUE, cap_rec_queue)
	{
		struct trc_queue *queue;

		if (!rec->h.what || rec->h.what >= p->queues.n)
			continue;
		queue = &p->queues.at[rec->h.what];
		queue->info = rec;
		queue->agent = trc_process_agent(p, rec->agent);
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

enum ws_status trc_facts_streams(struct trc_facts *f)
{
	struct trc_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->streams, STREAM);

	if (st)
		return st;
	for (uint32_t i = 0; i < p->streams.n; i++)
		p->streams.at[i] = (struct trc_stream){ .id = i, .name = "" };
	each_rec(rec, f, STREAM, cap_rec_stream)
	{
		if (!rec->h.what || rec->h.what >= p->streams.n)
			continue;
		p->streams.at[rec->h.what].info = rec;
		p->streams.at[rec->h.what].name = trc_facts_str(f, rec->name_str);
	}
	return WS_OK;
}

enum ws_status trc_facts_code_objects(struct trc_facts *f)
{
	struct trc_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->code_objects, CODE_OBJECT);

	if (st)
		return st;
	for (uint32_t i = 0; i < p->code_objects.n; i++)
		p->code_objects.at[i] = (struct trc_code_object){ .id = i, .uri = "", .image = i };
	each_rec(rec, f, CODE_OBJECT, cap_rec_code_object)
	{
		struct trc_code_object *code;

		if (!rec->h.what || rec->h.what >= p->code_objects.n)
			continue;
		code = &p->code_objects.at[rec->h.what];
		code->info = rec;
		code->uri = trc_facts_str(f, rec->uri_str);
		code->agent = trc_process_agent(p, rec->agent);
		code->load_ns = trc_facts_ns(f, rec->h.time);
	}
	each_rec(rec, f, CODE_UNLOAD, cap_rec_code_unload)
	{
		if (rec->h.what && rec->h.what < p->code_objects.n)
			p->code_objects.at[rec->h.what].unload_ns = trc_facts_ns(f, rec->h.time);
	}
	each_rec(rec, f, CODE_SAME, cap_rec_code_same)
	{
		if (rec->h.what && rec->h.what < p->code_objects.n)
			p->code_objects.at[rec->h.what].image = rec->same_as;
	}
	return WS_OK;
}

struct name_forms {
	const char *mangled, *demangled, *truncated, *formatted;
};

static bool make_forms(struct trc_facts *f, const char *symbol, struct name_forms *out)
{
	struct ws_arena *arena = &f->capture->arena;
	size_t n = strlen(symbol);
	char *demangled, *truncated;

	out->mangled = n > 3 && strcmp(symbol + n - 3, ".kd") == 0
			       ? ws_arena_strndup(arena, symbol, n - 3)
			       : symbol;
	if (!out->mangled)
		return false;
	demangled = trc_demangle(out->mangled);
	truncated = demangled ? trc_truncate_name(demangled) : NULL;
	out->demangled = demangled ? ws_arena_strdup(arena, demangled) : NULL;
	out->truncated = truncated ? ws_arena_strdup(arena, truncated) : NULL;
	free(demangled);
	free(truncated);
	out->formatted = f->opts->truncated_names ? out->truncated
			 : f->opts->mangled_names ? symbol
						  : out->demangled;
	return out->demangled && out->truncated;
}

enum ws_status trc_facts_kernels(struct trc_facts *f)
{
	struct trc_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->kernels, KERNEL);

	if (st)
		return st;
	for (uint32_t i = 0; i < p->kernels.n; i++)
		p->kernels.at[i] =
			(struct trc_kernel){ i, "", "", "", "", "", &p->code_objects.at[0], NULL };
	each_rec(rec, f, KERNEL, cap_rec_kernel)
	{
		struct trc_kernel *kernel;
		struct name_forms forms;

		if (!rec->h.what || rec->h.what >= p->kernels.n)
			continue;
		kernel = &p->kernels.at[rec->h.what];
		kernel->info = rec;
		kernel->symbol = trc_facts_str(f, rec->name_str);
		kernel->code_object = trc_list_at(p->code_objects, rec->code_object);
		if (!make_forms(f, kernel->symbol, &forms))
			return trc_facts_no_memory(f);
		kernel->mangled = forms.mangled;
		kernel->demangled = forms.demangled;
		kernel->truncated = forms.truncated;
		kernel->formatted = forms.formatted;
	}
	return WS_OK;
}

/*
 * A program registers its kernels by name before their code is loaded, which may be
 * never; whoever recorded that cannot know the kernel's id. The names match, though.
 */
static enum ws_status kernels_by_name(struct trc_facts *f, struct ws_map *out_map)
{
	struct trc_process *p = &f->capture->pub;
	enum ws_status st = WS_OK;

	ws_map_init(out_map, WS_MAP_STR, INT32_MAX);
	for (uint32_t i = p->kernels.n; i-- > 1 && !st;) /* of several, one per GPU, the first */
		if (p->kernels.at[i].info)
			st = ws_map_put(out_map, ws_str_from(p->kernels.at[i].mangled),
					&p->kernels.at[i], f->err);
	return st;
}

enum ws_status trc_facts_host_functions(struct trc_facts *f)
{
	struct trc_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->host_functions, HOST_FUNCTION);
	struct ws_map kernels = { .n = 0 };

	if (!st)
		st = kernels_by_name(f, &kernels);
	if (st)
		goto out;
	for (uint32_t i = 0; i < p->host_functions.n; i++)
		p->host_functions.at[i] =
			(struct trc_host_function){ i, "", "", "", "", &p->kernels.at[0], NULL };
	each_rec(rec, f, HOST_FUNCTION, cap_rec_host_function)
	{
		struct trc_host_function *function;
		struct name_forms forms;

		if (!rec->h.what || rec->h.what >= p->host_functions.n)
			continue;
		function = &p->host_functions.at[rec->h.what];
		function->info = rec;
		function->name = trc_facts_str(f, rec->device_function_str);
		function->kernel = rec->kernel ? trc_list_at(p->kernels, rec->kernel)
					       : ws_map_get(&kernels, function->name);
		if (!function->kernel)
			function->kernel = &p->kernels.at[0];
		if (!make_forms(f, function->name, &forms)) {
			st = trc_facts_no_memory(f);
			goto out;
		}
		function->demangled = forms.demangled;
		function->truncated = forms.truncated;
		function->formatted = forms.formatted;
	}
out:
	ws_map_fini(&kernels);
	return st;
}

enum ws_status trc_facts_counters(struct trc_facts *f)
{
	struct trc_process *p = &f->capture->pub;
	enum ws_status st = make_list(f, &p->counters, COUNTER);

	if (st)
		return st;
	for (uint32_t i = 0; i < p->counters.n; i++)
		p->counters.at[i] = (struct trc_counter){ .id = i,
							  .name = "",
							  .description = "",
							  .block = "",
							  .expression = "",
							  .fidelity = "" };
	each_rec(rec, f, COUNTER, cap_rec_counter)
	{
		if (!rec->h.what || rec->h.what >= p->counters.n)
			continue;
		p->counters.at[rec->h.what] = (struct trc_counter){
			.id = rec->h.what,
			.name = trc_facts_str(f, rec->name_str),
			.description = trc_facts_str(f, rec->description_str),
			.block = trc_facts_str(f, rec->block_str),
			.expression = trc_facts_str(f, rec->expression_str),
			.fidelity = "",
			.agent = trc_process_agent(p, rec->agent),
			.info = rec,
			.dims = cap_rec_tail(&rec->h).at,
		};
	}
	return WS_OK;
}
