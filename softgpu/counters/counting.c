#include "softgpu/counters/counting.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/counters/select.h"

#define MAX_TRACE_BYTES (512ull << 20) /* of workgroups that are ahead of the model */
#define MAX_RESULTS 65536              /* unread ones; then the oldest go */
#define MAX_SAMPLES (16u << 20)        /* of one dispatch */

struct result {
	struct result *next;
	struct ws_softgpu_result public;
	struct ws_softgpu_value *values;
	uint64_t *numbers;
	char *names;
	struct ws_softgpu_pc_sample *samples;
};

/* A queue runs one dispatch at a time, so its model is never waited for. */
struct queue_model {
	struct queue_model *next;
	uint64_t queue;
	struct ws_model *model;
};

struct ws_counting {
	const struct ws_hw *hw;
	pthread_mutex_t lock;         /* all but the model */
	struct ws_selection wanted;
	uint64_t sample_cycles;
	_Atomic bool is_wanted;
	struct result *oldest, **newest;
	uint32_t n_results;
	uint64_t sequence;
	uint64_t *seen;               /* kernel objects that have run: their code is warm */
	size_t n_seen, seen_room;

	uint64_t sample_waves;        /* model about so many waves of a dispatch; 0: all */

	struct queue_model *models;
};

struct ws_count_run {
	struct ws_counting *counting;
	struct ws_count_info info;
	struct ws_model_dispatch d;
	struct ws_model_result r;
	bool counted;
	uint64_t n_wgs, stride;       /* of the dispatch; every stride-th is modelled */
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t arrived;
	struct ws_wg_traces **traces; /* [wg], NULL: not done, or taken */
	uint64_t wanted;              /* the model has asked for those before it */
	uint64_t n_bytes;
	bool cancelled, starved;

	struct ws_softgpu_pc_sample *samples;
	size_t n_samples, samples_room;
};

/* Anything but a number is none: the front end checks what users type. */
static uint64_t read_sample_waves(void)
{
	const char *text = getenv("WAVESCOPE_SAMPLE_WAVES");
	char *end;
	uint64_t n = text ? strtoull(text, &end, 10) : 0;

	return text && !*end ? n : 0;
}

struct ws_counting *ws_counting_create(const struct ws_hw *hw)
{
	struct ws_counting *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->hw = hw;
	c->newest = &c->oldest;
	c->sample_waves = read_sample_waves();
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

static void free_result(struct result *r)
{
	free(r->values);
	free(r->numbers);
	free(r->names);
	free(r->samples);
	free(r);
}

void ws_counting_destroy(struct ws_counting *c)
{
	if (!c)
		return;
	ws_counting_drop(c, UINT64_MAX);
	ws_selection_free(&c->wanted);
	free(c->seen);
	while (c->models) {
		struct queue_model *q = c->models;

		c->models = q->next;
		ws_model_destroy(q->model);
		free(q);
	}
	pthread_mutex_destroy(&c->lock);
	free(c);
}

bool ws_counting_wanted(struct ws_counting *c)
{
	return c && atomic_load_explicit(&c->is_wanted, memory_order_relaxed);
}

/* ---- what the model asks for ---- */

static struct ws_wg_traces *next(void *ctx, uint64_t wg)
{
	struct ws_count_run *run = ctx;
	struct ws_wg_traces *t;

	pthread_mutex_lock(&run->lock);
	run->wanted = wg + 1;
	if (run->starved && !run->traces[wg]) {
		run->starved = false;
		pthread_mutex_unlock(&run->lock);
		run->info.room(run->info.ctx);
		pthread_mutex_lock(&run->lock);
	}
	while (!run->traces[wg] && !run->cancelled)
		pthread_cond_wait(&run->arrived, &run->lock);
	t = run->cancelled ? NULL : run->traces[wg];
	run->traces[wg] = NULL;
	pthread_mutex_unlock(&run->lock);
	return t;
}

static uint64_t bytes_of(const struct ws_wg_traces *t)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < t->n_waves; k++)
		n += ws_trace_bytes(&t->waves[k]);
	return n;
}

void ws_count_run_discard(struct ws_wg_traces *t)
{
	if (!t)
		return;
	for (uint32_t k = 0; k < t->n_waves; k++)
		ws_trace_free(&t->waves[k]);
	free(t->waves);
	free(t);
}

static void release(void *ctx, uint64_t wg, struct ws_wg_traces *t)
{
	struct ws_count_run *run = ctx;
	bool wake;

	pthread_mutex_lock(&run->lock);
	run->n_bytes -= bytes_of(t);
	wake = run->starved && run->n_bytes < MAX_TRACE_BYTES / 2;
	if (wake)
		run->starved = false;
	pthread_mutex_unlock(&run->lock);
	ws_count_run_discard(t);
	if (wake)
		run->info.room(run->info.ctx);
}

static bool instruction(void *ctx, uint64_t pc, struct ws_inst_source *out)
{
	struct ws_count_run *run = ctx;

	return run->info.instruction(run->info.ctx, pc, out);
}

static bool is_host(void *ctx, uint64_t addr)
{
	struct ws_count_run *run = ctx;

	return run->info.is_host && run->info.is_host(run->info.ctx, addr);
}

static void sample(void *ctx, const struct ws_pc_sample *s)
{
	struct ws_count_run *run = ctx;

	if (run->n_samples == run->samples_room) {
		size_t room = run->samples_room ? 2 * run->samples_room : 1024;
		void *samples = room > MAX_SAMPLES ? NULL : realloc(run->samples, room * sizeof(*run->samples));

		if (!samples)
			return;
		run->samples = samples;
		run->samples_room = room;
	}
	run->samples[run->n_samples++] = (struct ws_softgpu_pc_sample){
		.cycle = s->cycle, .workgroup = s->wg * run->stride, .pc = s->pc, .exec = s->exec, .wave = s->wave,
		.cu = s->cu, .simd = s->simd, .wave_slot = s->slot, .inst_type = s->unit, .stall = s->stall,
		.n_waves = s->waves,
	};
}

static struct ws_model *model_of(struct ws_counting *c, uint64_t queue)
{
	struct queue_model *q;

	pthread_mutex_lock(&c->lock);
	for (q = c->models; q && q->queue != queue; q = q->next)
		;
	if (!q && (q = calloc(1, sizeof(*q)))) {
		q->queue = queue;
		q->model = ws_model_create(c->hw);
		q->next = c->models;
		c->models = q;
	}
	pthread_mutex_unlock(&c->lock);
	return q ? q->model : NULL;
}

static void *run_model(void *arg)
{
	struct ws_count_run *run = arg;
	struct ws_counting *c = run->counting;

	struct ws_model *model = model_of(c, run->info.queue);

	run->counted = model && ws_model_run(model, &run->d, &run->r);
	/* given up: nobody will take what still comes */
	pthread_mutex_lock(&run->lock);
	run->wanted = UINT64_MAX;
	pthread_mutex_unlock(&run->lock);
	run->info.room(run->info.ctx);
	return NULL;
}

/* ---- the command processor's side ---- */

static bool first_time(struct ws_counting *c, uint64_t kernel)
{
	for (size_t k = 0; k < c->n_seen; k++)
		if (c->seen[k] == kernel)
			return false;
	if (c->n_seen == c->seen_room) {
		size_t room = c->seen_room ? 2 * c->seen_room : 64;
		uint64_t *seen = realloc(c->seen, room * sizeof(*seen));

		if (!seen)
			return true;
		c->seen = seen;
		c->seen_room = room;
	}
	c->seen[c->n_seen++] = kernel;
	return true;
}

static bool start_thread(struct ws_count_run *run)
{
	sigset_t all, before;
	int error;

	sigfillset(&all); /* the program's signals are the program's */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&run->thread, NULL, run_model, run);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		pthread_setname_np(run->thread, "ws-gpu-model");
	return !error;
}

struct ws_count_run *ws_counting_begin(struct ws_counting *c, const struct ws_count_info *info)
{
	struct ws_count_run *run;

	if (!ws_counting_wanted(c))
		return NULL;
	run = calloc(1, sizeof(*run));
	if (!run)
		return NULL;
	run->n_wgs = info->shape.n_wgs;
	run->stride = 1;
	if (c->sample_waves) {
		/* fewer than fill the GPU a few times over would say little about the rest */
		uint64_t least = 4ull * ws_hw_instances(c->hw, WS_BLOCK_TCP) * 4 * c->hw->simd_waves;
		uint64_t n = c->sample_waves > least ? c->sample_waves : least;

		run->stride = (run->n_wgs * info->shape.waves_per_wg + n - 1) / n;
	}
	if (run->stride > run->n_wgs || !run->stride)
		run->stride = run->n_wgs;
	run->counting = c;
	run->info = *info;
	run->d = info->shape;
	run->d.n_wgs = (run->n_wgs + run->stride - 1) / run->stride;
	run->traces = calloc(run->d.n_wgs, sizeof(struct ws_wg_traces *));
	run->d.origin = info->origin;
	pthread_mutex_lock(&c->lock);
	run->d.cold = first_time(c, info->kernel_object);
	/* recorded: the first dispatch of a kernel is written back within the counted window */
	run->d.system_release |= run->d.cold;
	run->d.sample_cycles = c->sample_cycles;
	pthread_mutex_unlock(&c->lock);
	run->d.next = next;
	run->d.release = release;
	run->d.instruction = instruction;
	run->d.is_host = is_host;
	run->d.sample = sample;
	run->d.ctx = run;
	pthread_mutex_init(&run->lock, NULL);
	pthread_cond_init(&run->arrived, NULL);
	if (!run->traces || !start_thread(run)) {
		free(run->traces);
		free(run);
		return NULL;
	}
	return run;
}

bool ws_count_run_may_start(struct ws_count_run *run, uint64_t wg)
{
	bool may;

	pthread_mutex_lock(&run->lock);
	may = run->n_bytes < MAX_TRACE_BYTES || wg / run->stride < run->wanted;
	run->starved |= !may;
	pthread_mutex_unlock(&run->lock);
	return may;
}

bool ws_count_run_models(const struct ws_count_run *run, uint64_t wg)
{
	return wg % run->stride == 0;
}

struct ws_wg_traces *ws_count_run_start(struct ws_count_run *run)
{
	struct ws_wg_traces *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->n_waves = run->d.waves_per_wg;
	t->waves = calloc(t->n_waves, sizeof(*t->waves));
	if (!t->waves) {
		free(t);
		return NULL;
	}
	return t;
}

void ws_count_run_done(struct ws_count_run *run, uint64_t wg, struct ws_wg_traces *t, uint32_t n_waves)
{
	for (uint32_t k = n_waves; k < t->n_waves; k++)
		ws_trace_free(&t->waves[k]);
	t->n_waves = n_waves;
	pthread_mutex_lock(&run->lock);
	run->n_bytes += bytes_of(t);
	run->traces[wg / run->stride] = t;
	pthread_cond_signal(&run->arrived);
	pthread_mutex_unlock(&run->lock);
}

static struct result *make_result(struct ws_count_run *run)
{
	struct ws_counting *c = run->counting;
	struct result *r = calloc(1, sizeof(*r));
	size_t n_numbers = 0, n_chars = 0;
	char *name;

	if (!r)
		return NULL;
	for (size_t k = 0; k < c->wanted.n; k++) {
		n_numbers += ws_selected_n_values(&c->wanted.items[k], c->hw);
		n_chars += strlen(c->wanted.items[k].name) + 1;
	}
	r->values = calloc(c->wanted.n + 1, sizeof(*r->values));
	r->numbers = calloc(n_numbers + 1, sizeof(*r->numbers));
	r->names = name = calloc(n_chars + 1, 1);
	if (!r->values || !r->numbers || !r->names) {
		free_result(r);
		return NULL;
	}
	uint64_t *at = r->numbers;

	for (size_t k = 0; k < c->wanted.n; k++) {
		const struct ws_selected *item = &c->wanted.items[k];

		ws_selected_values(item, &run->r, at);
		r->values[k] = (struct ws_softgpu_value){
			.name = strcpy(name, item->name), .n_values = ws_selected_n_values(item, c->hw),
			.values = at,
			.fidelity = item->counter->fidelity == WS_EXACT ? WS_SOFTGPU_EXACT : WS_SOFTGPU_MODELLED,
		};
		at += r->values[k].n_values;
		name += strlen(name) + 1;
	}
	r->samples = run->samples;
	run->samples = NULL;
	r->public = (struct ws_softgpu_result){
		.queue = run->info.queue, .packet = run->info.packet, .kernel_object = run->info.kernel_object,
		.completion_signal = run->info.completion_signal, .duration_ns = run->r.duration_ns,
		.cycles = run->r.cycles, .clock_mhz = run->r.mhz,
		.sampled = (double)run->d.n_wgs / (double)run->n_wgs,
		.n_pc_samples = run->n_samples, .n_values = (uint32_t)c->wanted.n, .values = r->values,
	};
	return r;
}

static void drop_oldest(struct ws_counting *c)
{
	struct result *r = c->oldest;

	c->oldest = r->next;
	if (!c->oldest)
		c->newest = &c->oldest;
	c->n_results--;
	free_result(r);
}

static void keep_result(struct ws_count_run *run)
{
	struct ws_counting *c = run->counting;
	struct result *r;

	pthread_mutex_lock(&c->lock);
	c->sequence++; /* also of what is lost: readers see the gap */
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

/* What was modelled stands for all: every number grows by the part that was left out. */
static void scale(struct ws_count_run *run)
{
	double by = (double)run->n_wgs / (double)run->d.n_wgs;
	struct ws_model_result *r = &run->r;

	if (run->d.n_wgs == run->n_wgs)
		return;
	for (unsigned b = 0; b < WS_N_BLOCKS; b++)
		for (size_t k = 0; k < (size_t)r->n_instances[b] * ws_blocks[b].n; k++)
			r->values[b][k] = (uint64_t)((double)r->values[b][k] * by + 0.5);
	for (size_t k = 0; k < (size_t)r->n_instances[WS_BLOCK_SQ] * WS_N_SQ; k++)
		r->accumulated[k] = (uint64_t)((double)r->accumulated[k] * by + 0.5);
	r->cycles = (uint64_t)((double)r->cycles * by + 0.5);
	r->duration_ns = (uint64_t)((double)r->duration_ns * by + 0.5);
}

void ws_count_run_cancel(struct ws_count_run *run)
{
	pthread_mutex_lock(&run->lock);
	run->cancelled = true;
	pthread_cond_broadcast(&run->arrived);
	pthread_mutex_unlock(&run->lock);
}

bool ws_count_run_end(struct ws_count_run *run, uint64_t *duration_ns)
{
	bool counted;

	pthread_join(run->thread, NULL);
	counted = run->counted;
	if (counted) {
		scale(run);
		keep_result(run);
		*duration_ns = run->r.duration_ns;
		ws_model_result_free(&run->r);
	}
	for (uint64_t k = 0; k < run->d.n_wgs; k++)
		ws_count_run_discard(run->traces[k]);
	free(run->traces);
	free(run->samples);
	pthread_mutex_destroy(&run->lock);
	pthread_cond_destroy(&run->arrived);
	free(run);
	return counted;
}

/* ---- the service ---- */

size_t ws_counting_list(struct ws_counting *c, struct ws_softgpu_counter *out, size_t room)
{
	static const char *const instances[] = { [WS_PER_DEVICE] = "device", [WS_PER_SE] = "shader engine",
						 [WS_PER_CU] = "CU", [WS_PER_CHANNEL] = "L2 channel" };
	size_t n = 0;

	for (size_t k = 0; k < ws_n_counters; k++) {
		const struct ws_counter_info *i = &ws_counters[k];
		const struct ws_block_info *b = &ws_blocks[i->block];

		if (!(i->targets & (c->hw->gfx90a ? 2 : 1)))
			continue;
		if (n < room)
			out[n] = (struct ws_softgpu_counter){
				.name = i->name, .block = b->name, .text = i->text,
				.fidelity = i->fidelity == WS_EXACT	  ? WS_SOFTGPU_EXACT :
					    i->fidelity == WS_UNSUPPORTED ? WS_SOFTGPU_UNSUPPORTED :
									    WS_SOFTGPU_MODELLED,
				.n_instances = ws_hw_instances(c->hw, i->block),
				.instance = instances[b->per], .block_limit = b->limit,
				.is_level = i->fidelity == WS_LEVEL_COUNTER,
			};
		n++;
	}
	return n;
}

static void update_wanted(struct ws_counting *c)
{
	atomic_store(&c->is_wanted, c->wanted.n || c->sample_cycles);
}

int ws_counting_choose(struct ws_counting *c, const char *const *names, size_t n, char *error,
		       size_t error_bytes)
{
	struct ws_selection s;
	int status = ws_selection_make(&s, c->hw, names, n, error, error_bytes);

	if (status)
		return status;
	pthread_mutex_lock(&c->lock);
	ws_selection_free(&c->wanted);
	c->wanted = s;
	update_wanted(c);
	pthread_mutex_unlock(&c->lock);
	return 0;
}

int ws_counting_sample(struct ws_counting *c, uint64_t cycles)
{
	if (cycles && cycles < 64)
		return EINVAL;
	pthread_mutex_lock(&c->lock);
	c->sample_cycles = cycles;
	update_wanted(c);
	pthread_mutex_unlock(&c->lock);
	return 0;
}

int ws_counting_result(struct ws_counting *c, uint64_t queue, uint64_t packet, struct ws_softgpu_result *out)
{
	int status = ENOENT;

	pthread_mutex_lock(&c->lock);
	for (struct result *r = c->oldest; r; r = r->next)
		if (r->public.queue == queue && r->public.packet == packet) {
			*out = r->public;
			status = 0;
		}
	pthread_mutex_unlock(&c->lock);
	return status;
}

int ws_counting_next(struct ws_counting *c, uint64_t after, struct ws_softgpu_result *out)
{
	int status = ENOENT;

	pthread_mutex_lock(&c->lock);
	for (struct result *r = c->oldest; r && status; r = r->next)
		if (r->public.sequence > after) {
			*out = r->public;
			status = 0;
		}
	pthread_mutex_unlock(&c->lock);
	return status;
}

void ws_counting_drop(struct ws_counting *c, uint64_t sequence)
{
	pthread_mutex_lock(&c->lock);
	while (c->oldest && c->oldest->public.sequence <= sequence)
		drop_oldest(c);
	pthread_mutex_unlock(&c->lock);
}

size_t ws_counting_samples(struct ws_counting *c, uint64_t sequence, uint64_t first,
			   struct ws_softgpu_pc_sample *out, size_t room)
{
	size_t n = 0;

	pthread_mutex_lock(&c->lock);
	for (struct result *r = c->oldest; r; r = r->next)
		if (r->public.sequence == sequence && first < r->public.n_pc_samples) {
			n = r->public.n_pc_samples - first;
			n = n < room ? n : room;
			memcpy(out, r->samples + first, n * sizeof(*out));
		}
	pthread_mutex_unlock(&c->lock);
	return n;
}
