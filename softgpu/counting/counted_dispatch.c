/* A counted dispatch: passes the traces of its workgroups to the model, pass by pass. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "softgpu/counting/counting_priv.h"

#define MAX_TRACE_BYTES (512ull << 20) /* of workgroups that the model has not read yet */
#define FEW_WGS 8
#define SPINS_NS 1000000000ull /* more than the kernel really took: it spins */

/* ---- callbacks of the model ---- */

/* Workers that wait for room go on. */
static void make_room(struct sg_counted_dispatch *run)
{
	bool wake;

	pthread_mutex_lock(&run->lock);
	wake = run->starved;
	run->starved = false;
	pthread_mutex_unlock(&run->lock);
	if (wake)
		run->info.room(run->info.ctx);
}

/* A worker stores traces and then looks for who awaits them; here it is the other way round. */
static struct sg_wg_traces *wait_for(struct sg_counted_dispatch *run, uint64_t wg)
{
	struct sg_wg_traces *t;

	make_room(run);
	pthread_mutex_lock(&run->lock);
	run->awaited = wg;
	while (!(t = run->traces[wg]) && !run->cancelled)
		pthread_cond_wait(&run->arrived, &run->lock);
	run->awaited = UINT64_MAX;
	pthread_mutex_unlock(&run->lock);
	return t;
}

static struct sg_wg_traces *next(void *ctx, uint64_t wg)
{
	struct sg_counted_dispatch *run = ctx;
	struct sg_wg_traces *t = atomic_load_explicit(&run->traces[wg], memory_order_acquire);

	if (wg >=
	    atomic_load_explicit(&run->wanted, memory_order_relaxed)) /* dies are not in step */
		atomic_store_explicit(&run->wanted, wg + 1, memory_order_relaxed);
	if (!t)
		t = wait_for(run, wg);
	if (!t || atomic_load_explicit(&run->cancelled, memory_order_relaxed))
		return NULL;
	if (!sg_traces_are_packed(t)) {
		run->traces[wg] = NULL; /* the rest is recycled */
		run->n_buffers--;
	}
	return t;
}

static void release(void *ctx, uint64_t wg, struct sg_wg_traces *t)
{
	struct sg_counted_dispatch *run = ctx;
	uint32_t n_waves = run->d.waves_per_wg;

	if (sg_trace_store_drop(&run->store, &run->lock, t, n_waves) && run->starved &&
	    run->store.n_bytes < MAX_TRACE_BYTES / 2)
		make_room(run);
}

static bool instruction(void *ctx, uint64_t pc, struct sg_decoded_insn *out)
{
	struct sg_counted_dispatch *run = ctx;

	return run->info.instruction(run->info.ctx, pc, out);
}

static bool is_within(const struct sg_mem_block *b, uint64_t addr)
{
	return addr - b->start < b->size;
}

/* Consecutive accesses are mostly to the same block, and there are few blocks. */
static const struct sg_mem_block *block_at(struct sg_counted_dispatch *run, uint64_t addr)
{
	struct sg_mem_block *b = &run->blocks[run->last_block];

	if (is_within(b, addr))
		return b;
	for (uint32_t k = 0; k < run->n_blocks; k++)
		if (is_within(&run->blocks[k], addr)) {
			run->last_block = k;
			return &run->blocks[k];
		}
	if (run->n_blocks == SG_MAX_MEM_BLOCKS) {
		run->is_uncacheable = true;
		run->n_blocks = 0;
	}
	run->last_block = run->n_blocks;
	b = &run->blocks[run->last_block];
	run->info.find_block(run->info.ctx, addr, b);
	if (b->size)
		run->n_blocks++;
	else
		run->is_uncacheable = true; /* not allocated: it may become anything later */
	return b;
}

static const struct sg_mem_block *memory(void *ctx, uint64_t addr)
{
	return block_at(ctx, addr);
}

/*
 * Waits until the traces decide whether the dispatch equals a cached one. Nothing is modelled
 * meanwhile, so this ends, too, when the traces reach their memory limit.
 */
static bool is_known(struct sg_counted_dispatch *run)
{
	bool known;

	pthread_mutex_lock(&run->lock);
	while (run->lookup.n && run->n_compared < run->d.n_wgs && !run->cancelled && !run->starved)
		pthread_cond_wait(&run->arrived, &run->lock);
	known = run->lookup.n && run->n_compared == run->d.n_wgs && !run->cancelled &&
		sg_cache_lookup_take(&run->lookup, run->model, &run->r);
	run->is_compared = false; /* a worker may still compare: the pass ends the lookup */
	pthread_mutex_unlock(&run->lock);
	return known;
}

static uint64_t host_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/*
 * A kernel that spins until the host or another GPU writes to memory runs as long as they take. Its loop is
 * executed faster than the GPU would execute it, so that the model has many times as much to simulate.
 */
static bool is_too_long(void *ctx, uint64_t cycles)
{
	struct sg_counted_dispatch *run = ctx;
	uint64_t ended = atomic_load(&run->ended_ns);
	uint64_t real_ns = (ended ? ended : host_ns()) - run->started_ns;

	run->too_long = cycles / run->counting->hw->sclk_mhz * 1000 > real_ns + SPINS_NS;
	return run->too_long;
}

static void *run_model(void *arg)
{
	struct sg_counted_dispatch *run = arg;

	run->was_cached = is_known(run);
	run->counted = run->was_cached || sg_model_run(run->model, &run->d, &run->r);
	/* abandoned: the remaining traces will not be read */
	pthread_mutex_lock(&run->lock);
	run->wanted = UINT64_MAX;
	pthread_mutex_unlock(&run->lock);
	run->info.room(run->info.ctx);
	return NULL;
}

/* ---- called by the command processor ---- */

/* Looks for cached results that the dispatch may equal. */
static void make_guess(struct sg_counted_dispatch *run)
{
	struct sg_dispatch_key *key = &run->key;
	const struct sg_model_dispatch *d = &run->d;

	memset(key, 0, sizeof(*key));
	key->kernel = run->info.dispatch.kernel_object;
	key->n_wgs = d->n_wgs;
	key->stride = run->stride;
	key->origin = d->origin;
	key->extent = d->extent;
	key->caches = d->cold && !run->counting->hw->mall_bytes ? 0 : sg_model_state(run->model);
	key->waves_per_wg = d->waves_per_wg;
	key->vgprs = d->vgprs;
	key->sgprs = d->sgprs;
	key->lds_bytes = d->lds_bytes;
	key->scratch_wave_bytes = d->scratch_wave_bytes;
	key->scratch_waves = d->scratch_waves;
	key->cold = d->cold;
	key->system_release = d->system_release;
	run->world = (struct sg_dispatch_world){ run->info.instruction, run->info.find_block,
						 run->info.ctx };
	run->n_blocks = run->last_block = 0;
	run->blocks[0].size = 0;
	/* samples are not cached: with PC sampling the model has to run */
	run->has_digests = !d->sample_cycles && run->counting->result_cache;
	run->is_uncacheable = !run->has_digests;
	if (run->has_digests)
		sg_cache_lookup_begin(&run->lookup, run->counting->result_cache, key, &run->world);
	run->is_compared = run->lookup.n;
}

static void learn(struct sg_counted_dispatch *run)
{
	struct sg_modelled_dispatch facts = { .key = run->key,
					      .world = run->world,
					      .model = run->model,
					      .result = &run->r,
					      .digests = run->digests,
					      .blocks = run->blocks,
					      .n_blocks = run->n_blocks };

	if (!run->was_cached && !run->is_uncacheable)
		sg_result_cache_add(run->counting->result_cache, &facts);
}

/* Starts a thread that models while workers execute. Few workgroups are modelled at the end instead. */
static bool start_model(struct sg_counted_dispatch *run)
{
	sigset_t all, before;
	int error;

	make_guess(run);
	if (run->d.n_wgs <= FEW_WGS)
		return true;
	sigfillset(&all); /* the program's signals are for its own threads */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&run->thread, NULL, run_model, run);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		pthread_setname_np(run->thread, "ws-gpu-model");
	return !error;
}

/* Every stride-th workgroup is modelled. */
static uint64_t stride_of(const struct sg_counting *c, const struct sg_model_dispatch *shape)
{
	/* fewer than fill the GPU several times would not represent the rest */
	uint64_t least = 4ull * sg_hw_instances(c->hw, SG_BLOCK_TCP) * 4 * c->hw->simd_waves;
	uint64_t n = c->sample_waves > least ? c->sample_waves : least, stride;

	if (!c->sample_waves)
		return 1;
	stride = (shape->n_wgs * shape->waves_per_wg + n - 1) / n;
	return stride > shape->n_wgs ? shape->n_wgs : stride ? stride : 1;
}

/* Frees the traces that were not read. */
static void recycle(struct sg_counted_dispatch *run)
{
	for (uint64_t k = 0; run->n_buffers && k < run->d.n_wgs; k++) {
		struct sg_wg_traces *t = run->traces[k];

		if (!t || sg_traces_are_packed(t))
			continue;
		sg_traces_reuse(&run->counting->spares, t, run->d.waves_per_wg);
		run->n_buffers--;
	}
	sg_trace_store_clear(&run->store);
}

static void free_run(struct sg_counted_dispatch *run)
{
	for (uint32_t k = 0; k < run->n_done; k++)
		sg_model_result_free(&run->passes[k]);
	recycle(run);
	if (run->counting->result_cache)
		sg_cache_lookup_end(&run->lookup, run->counting->result_cache);
	free(run->digests);
	free(run->passes);
	free(run->traces);
	free(run->samples);
	sg_counter_sets_put(run->counter_sets);
	pthread_mutex_destroy(&run->lock);
	pthread_cond_destroy(&run->arrived);
	free(run);
}

static struct sg_counted_dispatch *new_run(struct sg_counting *c, const struct sg_count_info *info,
					   struct sg_counter_sets *counter_sets, uint32_t choice)
{
	struct sg_counted_dispatch *run = calloc(1, sizeof(*run));

	if (!run) {
		sg_counter_sets_put(counter_sets);
		return NULL;
	}
	pthread_mutex_init(&run->lock, NULL);
	pthread_cond_init(&run->arrived, NULL);
	run->counting = c;
	run->store.spares = &c->spares;
	run->counter_sets = counter_sets;
	run->choice = choice;
	run->info = *info;
	run->n_wgs = info->shape.n_wgs;
	run->stride = stride_of(c, &info->shape);
	run->n_passes = choice == SOFTGPU_REPLAY ? (uint32_t)counter_sets->n : 1;
	run->model = sg_counting_model(c, info->dispatch.queue);
	run->d = info->shape;
	run->d.n_wgs = (run->n_wgs + run->stride - 1) / run->stride;
	run->d.apart = run->counting->every_engine;
	run->d.origin = info->origin;
	run->d.extent = info->extent;
	run->d.next = next;
	run->d.release = release;
	run->d.instruction = instruction;
	run->d.memory = info->find_block ? memory : NULL;
	run->d.sample = sg_counted_dispatch_sample;
	run->d.ctx = run;
	run->traces = calloc(run->d.n_wgs, sizeof(*run->traces));
	run->digests = malloc(run->d.n_wgs * sizeof(*run->digests));
	run->awaited = UINT64_MAX;
	run->passes = calloc(run->n_passes, sizeof(*run->passes));
	if (!run->traces || !run->digests || !run->passes || !run->model ||
	    (run->n_passes > 1 && !sg_model_save(run->model))) {
		free_run(run);
		return NULL;
	}
	return run;
}

/* Calls the chooser. Returns a reference to the sets, which the caller puts. */
static struct sg_counter_sets *choose(struct sg_counting *c,
				      const struct softgpu_dispatch *dispatch, uint32_t *choice)
{
	struct sg_counter_sets *counter_sets;

	pthread_mutex_lock(&c->choosing);
	counter_sets = sg_counter_sets_get(c->counter_sets);
	*choice = counter_sets && counter_sets->choose
			  ? counter_sets->choose(counter_sets->user, dispatch)
			  : 0;
	pthread_mutex_unlock(&c->choosing);
	if (counter_sets && *choice >= counter_sets->n && *choice != SOFTGPU_REPLAY)
		*choice = SOFTGPU_PLAIN;
	return counter_sets;
}

bool sg_counting_begin(struct sg_counting *c, const struct sg_count_info *info,
		       struct sg_counted_dispatch **out_run)
{
	struct sg_counted_dispatch *run;
	struct sg_counter_sets *counter_sets;
	uint64_t sample_cycles, trap_cycles, n_resets;
	uint32_t choice;
	bool cold, counted, is_tallied;

	*out_run = NULL;
	if (!sg_counting_wanted(c))
		return true;
	counter_sets = choose(c, &info->dispatch, &choice);
	pthread_mutex_lock(&c->lock);
	cold = sg_counting_first_time(c, info->dispatch.queue,
				      info->dispatch.kernel_object); /* counted or not */
	sample_cycles = c->sample_cycles;
	trap_cycles = c->trap_cycles;
	is_tallied = c->tally.is_open;
	n_resets = c->tally.n_resets;
	pthread_mutex_unlock(&c->lock);
	counted = counter_sets ? choice != SOFTGPU_PLAIN : sample_cycles != 0;
	if (!counted && !trap_cycles && !is_tallied && !c->times) {
		sg_counter_sets_put(counter_sets);
		return true;
	}
	run = new_run(c, info, counter_sets, choice);
	if (!run)
		return false;
	run->d.cold = cold;
	run->d.sample_cycles = counted && sample_cycles ? sample_cycles : trap_cycles;
	run->is_trapped = trap_cycles != 0;
	run->quiet = !counted;
	run->started_ns = host_ns();
	run->d.is_too_long = counted || is_tallied ? NULL : is_too_long;
	run->is_tallied = is_tallied;
	run->n_resets = n_resets;
	if (!start_model(run)) {
		free_run(run);
		return false;
	}
	*out_run = run;
	return true;
}

bool sg_counted_dispatch_may_start(struct sg_counted_dispatch *run, uint64_t wg)
{
	bool may;

	if (atomic_load_explicit(&run->store.n_bytes, memory_order_relaxed) < MAX_TRACE_BYTES)
		return true;
	pthread_mutex_lock(&run->lock);
	may = run->store.n_bytes < MAX_TRACE_BYTES || wg / run->stride < run->wanted;
	run->starved |= !may;
	if (!may && run->lookup.n)
		pthread_cond_signal(&run->arrived);
	pthread_mutex_unlock(&run->lock);
	return may;
}

bool sg_counted_dispatch_models(const struct sg_counted_dispatch *run, uint64_t wg)
{
	return wg % run->stride == 0;
}

struct sg_wg_traces *sg_counted_dispatch_start(struct sg_counted_dispatch *run)
{
	return sg_traces_create(&run->counting->spares, run->d.waves_per_wg);
}

void sg_counted_dispatch_discard(struct sg_wg_traces *t)
{
	sg_traces_destroy(t);
}

/*
 * The traces of one more workgroup decide whether the dispatch may equal a cached one. The model's thread waits for
 * the last one, or for one that differs.
 */
static void compare(struct sg_counted_dispatch *run, uint64_t place, uint64_t digest)
{
	bool left = sg_cache_lookup_wg(&run->lookup, place, digest);

	if (!left)
		run->is_compared = false;
	if (atomic_fetch_add(&run->n_compared, 1) + 1 < run->d.n_wgs && left)
		return;
	pthread_mutex_lock(&run->lock);
	pthread_cond_signal(&run->arrived);
	pthread_mutex_unlock(&run->lock);
}

/* Takes no lock as long as the model does not wait, because model and workers would wait for each other otherwise. */
bool sg_counted_dispatch_done(struct sg_counted_dispatch *run, uint64_t wg, struct sg_wg_traces *t,
			      uint32_t n_waves)
{
	struct sg_wg_traces *packed = sg_traces_pack(&run->store, &run->lock, t, n_waves);
	uint64_t place = wg / run->stride;

	if (!packed) {
		sg_trace_store_keep(&run->store, t, n_waves);
		run->n_buffers++;
	}
	if (run->has_digests)
		run->digests[place] = sg_traces_digest(packed ? packed : t);
	run->traces[place] = packed ? packed : t;
	if (run->awaited == place) {
		pthread_mutex_lock(&run->lock);
		pthread_cond_signal(&run->arrived);
		pthread_mutex_unlock(&run->lock);
	}
	if (run->is_compared)
		compare(run, place, run->digests[place]);
	return packed;
}

/* Scales the counts of the modelled workgroups to all workgroups. */
static void scale(const struct sg_counted_dispatch *run, struct sg_model_result *r)
{
	double by = (double)run->n_wgs / (double)run->d.n_wgs;

	if (run->d.n_wgs == run->n_wgs)
		return;
	for (unsigned b = 0; b < SG_N_BLOCKS; b++)
		for (size_t k = 0; k < (size_t)r->n_instances[b] * sg_blocks[b].n; k++)
			r->values[b][k] = (uint64_t)((double)r->values[b][k] * by + 0.5);
	for (size_t k = 0; k < (size_t)r->n_instances[SG_BLOCK_SQ] * SG_N_SQ; k++)
		r->accumulated[k] = (uint64_t)((double)r->accumulated[k] * by + 0.5);
	r->cycles = (uint64_t)((double)r->cycles * by + 0.5);
	r->duration_ns = (uint64_t)((double)r->duration_ns * by + 0.5);
}

void sg_counted_dispatch_cancel(struct sg_counted_dispatch *run)
{
	pthread_mutex_lock(&run->lock);
	run->cancelled = true;
	pthread_cond_broadcast(&run->arrived);
	pthread_mutex_unlock(&run->lock);
}

uint64_t sg_counted_dispatch_stride(const struct sg_counted_dispatch *run)
{
	return run->counting->sample_only ? run->stride : 1;
}

uint32_t sg_counted_dispatch_n_passes(const struct sg_counted_dispatch *run)
{
	return run->n_passes;
}

bool sg_counted_dispatch_too_long(const struct sg_counted_dispatch *run)
{
	return run->too_long;
}

bool sg_counted_dispatch_pass(struct sg_counted_dispatch *run)
{
	atomic_store(&run->ended_ns, host_ns());
	if (run->d.n_wgs <= FEW_WGS)
		run_model(run);
	else
		pthread_join(run->thread, NULL);
	if (run->counting->result_cache)
		sg_cache_lookup_end(&run->lookup, run->counting->result_cache);
	if (!run->counted) {
		if (run->n_done) /* how far a pass came that was cut off differs from run to run */
			sg_model_restore(run->model);
		return false;
	}
	learn(run);
	scale(run, &run->r);
	run->passes[run->n_done++] = run->r;
	run->d.sample_cycles = 0; /* samples are taken in one pass only */
	return true;
}

bool sg_counted_dispatch_again(struct sg_counted_dispatch *run)
{
	recycle(run);
	memset(run->traces, 0, run->d.n_wgs * sizeof(*run->traces));
	run->wanted = run->n_compared = 0;
	run->cancelled = run->starved = run->counted = false;
	sg_model_restore(run->model);
	return start_model(run);
}

void sg_counted_dispatch_cost(struct sg_counted_dispatch *run, uint64_t saved_bytes,
			      uint64_t host_ns)
{
	run->saved_bytes = saved_bytes;
	run->replay_host_ns = host_ns;
}

bool sg_counted_dispatch_end(struct sg_counted_dispatch *run, uint64_t *duration_ns)
{
	bool counted = run->n_done != 0;

	if (counted) {
		if (!run->quiet)
			sg_counting_keep(run);
		if (run->is_tallied)
			sg_counting_add(run);
		*duration_ns = run->passes[0].duration_ns;
	} else if (run->too_long) {
		*duration_ns = atomic_load(&run->ended_ns) - run->started_ns;
	}
	free_run(run);
	return counted;
}
