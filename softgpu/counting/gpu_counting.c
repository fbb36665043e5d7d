#include "softgpu/counting/counting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/counting/counting_priv.h"

#define MAX_RESULTS 65536 /* unread; then the oldest are dropped */

/* Not a number: 0. The front end checks user input. */
static uint64_t read_sample_waves(void)
{
	const char *text = getenv("WAVESCOPE_SAMPLE_WAVES");
	char *end;
	uint64_t n = text ? strtoull(text, &end, 10) : 0;

	return text && !*end ? n : 0;
}

static bool is_set(const char *name, const char *to)
{
	const char *text = getenv(name);

	return text && !strcmp(text, to);
}

struct sg_counting *sg_counting_create(const struct sg_hw *hw)
{
	struct sg_counting *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->hw = hw;
	c->newest = &c->oldest;
	c->sample_waves = read_sample_waves();
	c->sample_only = c->sample_waves && is_set("WAVESCOPE_SAMPLE_ONLY", "1");
	c->times = is_set("WAVESCOPE_GPU_TIME", "simulated") ||
		   (!getenv("WAVESCOPE_GPU_TIME") && is_set("WAVESCOPE_TIMES", "modelled"));
	c->every_engine = is_set("WAVESCOPE_MODEL", "full");
	if (!is_set("WAVESCOPE_MODEL", "always") && !c->every_engine)
		c->result_cache =
			sg_result_cache_create(); /* NULL, without memory: nothing is cached */
	atomic_init(&c->is_wanted, c->times);
	pthread_mutex_init(&c->choosing, NULL);
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->spares.lock, NULL);
	return c;
}

static void free_result(struct sg_kept_result *r)
{
	free(r->values);
	free(r->numbers);
	free(r->names);
	free(r->samples);
	free(r);
}

void sg_counting_destroy(struct sg_counting *c)
{
	if (!c)
		return;
	sg_counting_drop(c, UINT64_MAX);
	sg_counting_total_close(c);
	sg_counter_sets_put(c->counter_sets);
	free(c->seen);
	while (c->models) {
		struct sg_queue_model *q = c->models;

		c->models = q->next;
		sg_model_destroy(q->model);
		free(q);
	}
	sg_trace_spares_free(&c->spares);
	sg_result_cache_destroy(c->result_cache);
	sg_model_result_free(&c->tally.sum);
	pthread_mutex_destroy(&c->spares.lock);
	pthread_mutex_destroy(&c->choosing);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

bool sg_counting_wanted(struct sg_counting *c)
{
	return c && atomic_load_explicit(&c->is_wanted, memory_order_relaxed);
}

bool sg_counting_simulates_times(const struct sg_counting *c)
{
	return c && c->times;
}

bool sg_counting_alone(struct sg_counting *c)
{
	return c && atomic_load_explicit(&c->is_alone, memory_order_relaxed);
}

struct sg_model *sg_counting_model(struct sg_counting *c, uint64_t queue)
{
	struct sg_queue_model *q;

	pthread_mutex_lock(&c->lock);
	for (q = c->models; q && q->queue != queue; q = q->next)
		;
	if (!q && (q = calloc(1, sizeof(*q)))) {
		q->queue = queue;
		q->model = sg_model_create(c->hw);
		q->next = c->models;
		c->models = q;
	}
	pthread_mutex_unlock(&c->lock);
	return q ? q->model : NULL;
}

bool sg_counting_first_time(struct sg_counting *c, uint64_t queue, uint64_t kernel)
{
	for (size_t k = 0; k < c->n_seen; k++)
		if (c->seen[k].kernel == kernel && c->seen[k].queue == queue)
			return false;
	if (c->n_seen == c->seen_room) {
		size_t room = c->seen_room ? 2 * c->seen_room : 64;
		struct sg_seen_kernel *seen = realloc(c->seen, room * sizeof(*seen));

		if (!seen)
			return true;
		c->seen = seen;
		c->seen_room = room;
	}
	c->seen[c->n_seen++] = (struct sg_seen_kernel){ queue, kernel };
	return true;
}

/* ---- results ---- */

/* The pass that counted a set: its own, or the first. */
static const struct sg_model_result *pass_of(const struct sg_counted_dispatch *run, size_t set)
{
	bool own = run->choice == SOFTGPU_REPLAY && run->n_done == run->n_passes;

	return &run->passes[own ? set : 0];
}

/* The sets that were counted: one, or all. */
static void sets_of(const struct sg_counted_dispatch *run, size_t *first, size_t *end)
{
	bool all = run->choice == SOFTGPU_REPLAY;

	*first = all || !run->counter_sets ? 0 : run->choice;
	*end = !run->counter_sets ? 0 : all ? run->counter_sets->n : *first + 1;
}

static bool make_room(struct sg_kept_result *r, const struct sg_counted_dispatch *run, size_t first,
		      size_t end)
{
	size_t n_values = 0, n_numbers = 0, n_chars = 0;

	for (size_t s = first; s < end; s++)
		for (size_t k = 0; k < run->counter_sets->sets[s].n; k++) {
			const struct sg_selected *item = &run->counter_sets->sets[s].items[k];

			n_values++;
			n_numbers += sg_selected_n_values(item, run->counting->hw);
			n_chars += strlen(item->name) + 1;
		}
	r->values = calloc(n_values + 1, sizeof(*r->values));
	r->numbers = calloc(n_numbers + 1, sizeof(*r->numbers));
	r->names = calloc(n_chars + 1, 1);
	return r->values && r->numbers && r->names;
}

static uint32_t fill_values(struct sg_kept_result *r, const struct sg_counted_dispatch *run,
			    size_t first, size_t end)
{
	uint64_t *at = r->numbers;
	char *name = r->names;
	uint32_t n = 0;

	for (size_t s = first; s < end; s++)
		for (size_t k = 0; k < run->counter_sets->sets[s].n; k++) {
			const struct sg_selected *item = &run->counter_sets->sets[s].items[k];

			sg_selected_values(item, pass_of(run, s), at);
			r->values[n] = (struct softgpu_value){
				.name = strcpy(name, item->name),
				.n_values = sg_selected_n_values(item, run->counting->hw),
				.values = at,
				.fidelity = item->counter->fidelity == SG_EXACT ? SOFTGPU_EXACT
										: SOFTGPU_MODELLED,
			};
			at += r->values[n++].n_values;
			name += strlen(name) + 1;
		}
	return n;
}

static struct sg_kept_result *make_result(struct sg_counted_dispatch *run)
{
	struct sg_kept_result *r = calloc(1, sizeof(*r));
	size_t first, end;

	sets_of(run, &first, &end);
	if (!r || !make_room(r, run, first, end)) {
		if (r)
			free_result(r);
		return NULL;
	}
	r->samples = run->samples;
	run->samples = NULL;
	r->public = (struct softgpu_result){
		.queue = run->info.dispatch.queue,
		.packet = run->info.dispatch.packet,
		.kernel_object = run->info.dispatch.kernel_object,
		.completion_signal = run->info.dispatch.completion_signal,
		.duration_ns = run->passes[0].duration_ns,
		.cycles = run->passes[0].cycles,
		.clock_mhz = run->passes[0].mhz,
		.sampled = (double)run->d.n_wgs / (double)run->n_wgs,
		.n_pc_samples = run->n_samples,
		.set = run->choice,
		.n_runs = run->n_done == run->n_passes ? run->n_passes : 1,
		.saved_bytes = run->saved_bytes,
		.replay_host_ns = run->replay_host_ns,
		.n_values = fill_values(r, run, first, end),
		.values = r->values,
	};
	return r;
}

static void drop_oldest(struct sg_counting *c)
{
	struct sg_kept_result *r = c->oldest;

	c->oldest = r->next;
	if (!c->oldest)
		c->newest = &c->oldest;
	c->n_results--;
	free_result(r);
}

void sg_counting_keep(struct sg_counted_dispatch *run)
{
	struct sg_counting *c = run->counting;
	struct sg_kept_result *r;

	pthread_mutex_lock(&c->lock);
	c->sequence++; /* also for dropped results: readers see the gap */
	r = make_result(run);
	if (r) {
		r->public.sequence = c->sequence;
		*c->newest = r;
		c->newest = &r->next;
		if (++c->n_results > MAX_RESULTS)
			drop_oldest(c);
	}
	pthread_mutex_unlock(&c->lock);
}

/* ---- the service ---- */

size_t sg_counting_list(struct sg_counting *c, struct softgpu_counter *out, size_t room)
{
	static const char *const instances[] = { [SG_PER_DEVICE] = "device",
						 [SG_PER_ARBITER] = "arbiter",
						 [SG_PER_SE] = "shader engine",
						 [SG_PER_CU] = "CU",
						 [SG_PER_CHANNEL] = "L2 channel" };
	size_t n = 0;

	for (size_t k = 0; k < sg_n_counters; k++) {
		const struct sg_counter_info *i = &sg_counters[k];
		const struct sg_block_info *b = &sg_blocks[i->block];

		if (!(i->targets & c->hw->target))
			continue;
		if (n < room)
			out[n] = (struct softgpu_counter){
				.name = i->name,
				.block = b->name,
				.text = sg_counter_text(i, c->hw->target),
				.fidelity = !sg_counter_is_supported(i, c->hw->target)
						    ? SOFTGPU_UNSUPPORTED
					    : i->fidelity == SG_EXACT ? SOFTGPU_EXACT
								      : SOFTGPU_MODELLED,
				.n_instances = sg_hw_instances(c->hw, i->block),
				.instance = instances[b->per],
				.block_limit = b->limit,
				.is_level = i->fidelity == SG_LEVEL_COUNTER,
			};
		n++;
	}
	return n;
}

void sg_counting_update_wanted(struct sg_counting *c)
{
	atomic_store(&c->is_wanted, c->counter_sets || c->sample_cycles || c->trap_cycles ||
					    c->times || c->tally.is_open);
	atomic_store(&c->is_alone, c->counter_sets && c->counter_sets->n_counters);
}

int sg_counting_choose(struct sg_counting *c, const struct softgpu_set *sets, size_t n,
		       softgpu_choose *choose, void *user, char *error, size_t error_bytes)
{
	struct sg_counter_sets *counter_sets = NULL, *old;
	int status = n ? sg_counter_sets_create(&counter_sets, c->hw, sets, n, choose, user, error,
						error_bytes)
		       : 0;

	if (status)
		return status;
	/* from here on no thread is inside the old chooser */
	pthread_mutex_lock(&c->choosing);
	pthread_mutex_lock(&c->lock);
	old = c->counter_sets;
	c->counter_sets = counter_sets;
	sg_counting_update_wanted(c);
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(&c->choosing);
	sg_counter_sets_put(old);
	return 0;
}

int sg_counting_sample(struct sg_counting *c, uint64_t cycles)
{
	if (cycles && cycles < 64)
		return EINVAL;
	pthread_mutex_lock(&c->lock);
	c->sample_cycles = cycles;
	sg_counting_update_wanted(c);
	pthread_mutex_unlock(&c->lock);
	return 0;
}

int sg_counting_sample_traps(struct sg_counting *c, uint64_t cycles)
{
	if (cycles && cycles < 64)
		return EINVAL;
	pthread_mutex_lock(&c->lock);
	c->trap_cycles = cycles;
	sg_counting_update_wanted(c);
	pthread_mutex_unlock(&c->lock);
	return 0;
}

int sg_counting_result(struct sg_counting *c, uint64_t queue, uint64_t packet,
		       struct softgpu_result *out)
{
	int status = ENOENT;

	pthread_mutex_lock(&c->lock);
	for (struct sg_kept_result *r = c->oldest; r; r = r->next)
		if (r->public.queue == queue && r->public.packet == packet) {
			*out = r->public;
			status = 0;
		}
	pthread_mutex_unlock(&c->lock);
	return status;
}

int sg_counting_next(struct sg_counting *c, uint64_t after, struct softgpu_result *out)
{
	int status = ENOENT;

	pthread_mutex_lock(&c->lock);
	for (struct sg_kept_result *r = c->oldest; r && status; r = r->next)
		if (r->public.sequence > after) {
			*out = r->public;
			status = 0;
		}
	pthread_mutex_unlock(&c->lock);
	return status;
}

void sg_counting_drop(struct sg_counting *c, uint64_t sequence)
{
	pthread_mutex_lock(&c->lock);
	while (c->oldest && c->oldest->public.sequence <= sequence)
		drop_oldest(c);
	pthread_mutex_unlock(&c->lock);
}

size_t sg_counting_samples(struct sg_counting *c, uint64_t sequence, uint64_t first,
			   struct softgpu_pc_sample *out, size_t room)
{
	size_t n = 0;

	pthread_mutex_lock(&c->lock);
	for (struct sg_kept_result *r = c->oldest; r; r = r->next)
		if (r->public.sequence == sequence && first < r->public.n_pc_samples) {
			n = r->public.n_pc_samples - first;
			n = n < room ? n : room;
			memcpy(out, r->samples + first, n * sizeof(*out));
		}
	pthread_mutex_unlock(&c->lock);
	return n;
}
