#include "collector/count/count.h"

#include "collector/collector_priv.h"
#include "collector/count/count_priv.h"
#include "collector/count/samples.h"
#include "collector/count/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_BLOCKS 4096u
#define KERNEL_BLOCK 1024u
#define SHAPES 65536u /* a power of two: launches of different size */
#define SHAPE_PROBES 32u

struct gpu {
	struct col_count_target target;
	bool tried;             /* to start it */
	uint64_t n_counted;     /* dispatches: what ROTATE goes by */
	uint32_t *ids;          /* counter ids, set after set */
	uint32_t *first_of_set; /* in ids; one more than there are sets */
	struct col_count_fact *facts;
	uint32_t n_facts;
};

struct kernel {
	uint32_t included;
	uint64_t n_launched;
	uint64_t n_counted; /* what rotating per kernel goes by */
};

/* Launches of a kernel with the same sizes, by their hash: what rotating per launch goes by. */
struct shape {
	uint64_t hash; /* 0: free */
	uint64_t n_counted;
};

enum stage {
	COUNTS,
	DRAINS, /* no new ones; those in flight are still counted */
	OFF,    /* the GPU counts nothing for it */
};

/* The request: one for a program that we started, else one per attach. */
struct plan {
	struct col_count_block *blocks; /* its memory */
	uint32_t epoch;
	uint32_t stage;
	struct col_count_request request;
	struct gpu gpus[COL_COUNT_GPUS_MAX];
	uint32_t n_gpus;
	struct kernel *kernels[KERNEL_BLOCKS]; /* KERNEL_BLOCK each, by id */
	struct shape *shapes;                  /* SHAPES, or NULL */
	uint64_t n_dispatches;                 /* of the process */
};

static struct {
	struct plan *plan;       /* acquire/release; NULL: there was none yet */
	struct col_lock reading; /* results: one at a time */
	struct col_lock starting;
	struct col_lock matching; /* of the patterns; after the lock of the code objects */
	const struct col_count_source *source; /* NULL: nobody counts in this process */
	bool is_soft;
} count;

static struct plan *plan_now(void)
{
	return __atomic_load_n(&count.plan, __ATOMIC_ACQUIRE);
}

static bool is_at(const struct plan *plan, enum stage stage)
{
	return plan && __atomic_load_n(&plan->stage, __ATOMIC_ACQUIRE) == stage;
}

/* ---- deciding ---- */

static struct kernel *kernel_at(struct plan *plan, uint32_t id)
{
	struct kernel *block =
		id / KERNEL_BLOCK < KERNEL_BLOCKS
			? __atomic_load_n(&plan->kernels[id / KERNEL_BLOCK], __ATOMIC_ACQUIRE)
			: NULL;

	return block ? &block[id % KERNEL_BLOCK] : NULL;
}

void col_count_kernel(uint32_t id, const char *symbol)
{
	struct plan *plan;
	struct kernel **block;

	col_lock(&count.matching);
	plan = plan_now();
	if (plan && id / KERNEL_BLOCK < KERNEL_BLOCKS) {
		block = &plan->kernels[id / KERNEL_BLOCK];
		if (!*block)
			__atomic_store_n(block,
					 col_count_pages(&plan->blocks,
							 KERNEL_BLOCK * sizeof(**block)),
					 __ATOMIC_RELEASE);
		if (*block)
			__atomic_store_n(&(*block)[id % KERNEL_BLOCK].included,
					 col_count_includes(&plan->request, symbol),
					 __ATOMIC_RELEASE);
	}
	col_unlock(&count.matching);
}

static bool in_ranges(const struct col_count_range *ranges, size_t n, uint64_t number)
{
	for (size_t i = 0; i < n; i++) {
		if (number >= ranges[i].first && number <= ranges[i].last)
			return true;
	}
	return n == 0;
}

static uint64_t hash_launch(const struct col_count_launch *launch)
{
	const uint32_t words[] = {
		launch->agent,        launch->kernel,       launch->grid[0],
		launch->grid[1],      launch->grid[2],      launch->workgroup[0],
		launch->workgroup[1], launch->workgroup[2], launch->group_bytes
	};
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	return h ? h : 1;
}

/* The counter of launches like this one; NULL: too many different shapes. */
static uint64_t *shape_counter(struct plan *plan, const struct col_count_launch *launch)
{
	uint64_t h = hash_launch(launch);

	for (uint32_t i = 0; plan->shapes && i < SHAPE_PROBES; i++) {
		struct shape *shape = &plan->shapes[(h + i) % SHAPES];
		uint64_t there = __atomic_load_n(&shape->hash, __ATOMIC_RELAXED);

		if (there == 0 && __atomic_compare_exchange_n(&shape->hash, &there, h, false,
							      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return &shape->n_counted;
		if (there == h)
			return &shape->n_counted;
	}
	return NULL;
}

/* Which count of launches decides about the next set. */
static uint64_t *turn_counter(struct plan *plan, struct gpu *gpu, struct kernel *kernel,
			      const struct col_count_launch *launch)
{
	uint64_t *counter = NULL;

	if (plan->request.per == COL_COUNT_PER_LAUNCH)
		counter = shape_counter(plan, launch);
	if (!counter && plan->request.per != COL_COUNT_PER_GPU)
		counter = &kernel->n_counted;
	return counter ? counter : &gpu->n_counted;
}

void col_count_decide(struct col_count_ticket *ticket, const struct col_count_launch *launch)
{
	struct plan *plan = plan_now();
	const struct col_count_request *request;
	struct kernel *kernel;
	uint64_t number, nth;
	struct gpu *gpu = NULL;

	*ticket = (struct col_count_ticket){ .set = COL_COUNT_NOTHING };
	if (!is_at(plan, COUNTS) && !(launch->was_selected && is_at(plan, DRAINS)))
		return;
	request = &plan->request;
	kernel = kernel_at(plan, launch->kernel);
	number = __atomic_add_fetch(&plan->n_dispatches, 1, __ATOMIC_RELAXED);
	ticket->epoch = plan->epoch;
	for (uint32_t i = 0; i < plan->n_gpus && !gpu; i++) {
		if (plan->gpus[i].target.agent == launch->agent) {
			gpu = &plan->gpus[i];
			ticket->gpu = i;
		}
	}
	if (!kernel || !__atomic_load_n(&kernel->included, __ATOMIC_ACQUIRE))
		return;
	nth = __atomic_add_fetch(&kernel->n_launched, 1, __ATOMIC_RELAXED);
	if (!gpu || !gpu->target.asked || !gpu->target.asked->n_sets ||
	    !in_ranges(request->ranges, request->n_ranges, nth) ||
	    !in_ranges(request->numbers, request->n_numbers, number))
		return;
	if (request->mode == COL_COUNT_ROTATE)
		ticket->set = (uint32_t)(__atomic_fetch_add(turn_counter(plan, gpu, kernel, launch),
							    1, __ATOMIC_RELAXED) /
					 (request->interval ? request->interval : 1) %
					 gpu->target.asked->n_sets);
	else if (request->mode == COL_COUNT_REPLAY && gpu->target.asked->n_sets > 1)
		ticket->set = SOFTGPU_REPLAY;
	else
		ticket->set = 0;
}

/* ---- reading ---- */

void col_count_lock_results(void)
{
	col_lock(&count.reading);
}

void col_count_unlock_results(void)
{
	col_unlock(&count.reading);
}

static uint32_t n_cells(const struct softgpu_result *result)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < result->n_values; i++)
		n += result->values[i].n_values;
	return n;
}

static void fill_values(const struct gpu *gpu, uint32_t first, const struct softgpu_result *result,
			struct cap_counter_value *to)
{
	uint32_t n_ids = gpu->first_of_set[gpu->target.asked->n_sets];

	for (uint32_t i = 0; i < result->n_values; i++) {
		const struct softgpu_value *value = &result->values[i];

		for (uint32_t k = 0; k < value->n_values; k++)
			*to++ = (struct cap_counter_value){
				.counter = first + i < n_ids ? gpu->ids[first + i] : 0,
				.instance = k,
				.value = (double)value->values[k],
			};
	}
}

static bool write_result(const struct col_count_ticket *ticket, const struct gpu *gpu,
			 const struct cap_rec_dispatch *dispatch,
			 const struct softgpu_result *result)
{
	struct col_thread *t = col_thread();
	struct cap_lane *lane = t ? col_thread_lane(t) : NULL;
	uint32_t n = n_cells(result);
	uint64_t n_bytes = sizeof(*dispatch) + (uint64_t)n * sizeof(struct cap_counter_value);
	struct cap_rec_dispatch *rec = NULL;
	struct cap_rec_counted *how = NULL;

	if (lane && n_bytes <= CAP_REC_BYTES_MAX)
		rec = cap_lane_reserve(&lane, (uint32_t)n_bytes);
	if (!rec)
		return false;
	*rec = *dispatch;
	rec->n_values = n;
	fill_values(gpu, ticket->set == SOFTGPU_REPLAY ? 0 : gpu->first_of_set[ticket->set], result,
		    (struct cap_counter_value *)(rec + 1));
	cap_lane_commit(lane, &rec->h, CAP_REC_TAG(CAP_REC_DISPATCH, n_bytes));
	lane = col_thread_lane(t);
	how = cap_lane_reserve(&lane, sizeof(*how));
	if (how) {
		how->h.what = dispatch->agent;
		how->h.time = dispatch->h.time;
		how->dispatch_id = dispatch->dispatch_id;
		how->sampled = result->sampled;
		how->set = ticket->set;
		how->n_executed = result->n_runs;
		how->saved_bytes = result->saved_bytes;
		how->replay_ns = result->replay_host_ns;
		how->cycles = result->cycles;
		how->clock_mhz = result->clock_mhz;
		cap_lane_commit(lane, &how->h, CAP_REC_FIXED_TAG(COUNTED, struct cap_rec_counted));
	}
	return true;
}

static bool samples_come_with_results(void)
{
	return !count.source->by_packets && !count.source->by_runtime;
}

bool col_count_write(const struct col_count_ticket *ticket, const struct cap_rec_dispatch *dispatch)
{
	const struct plan *plan = plan_now();
	const struct gpu *gpu;
	struct softgpu_result result;
	bool done = false;
	struct cap_writer *writer;

	/* Discard results that an earlier attach did not wait for. */
	if (ticket->set == COL_COUNT_NOTHING || !plan || ticket->epoch != plan->epoch)
		return false;
	gpu = &plan->gpus[ticket->gpu];
	col_lock(&count.reading);
	if (count.source->take(&gpu->target, ticket, &result)) {
		done = write_result(ticket, gpu, dispatch, &result);
		if (samples_come_with_results())
			col_samples_write(gpu->target.node, &result, dispatch);
		if (count.source->taken)
			count.source->taken(&gpu->target, &result);
	}
	col_unlock(&count.reading);
	writer = done ? NULL : col_capture_now();
	if (writer && col_asked(COL_SERVICE_COUNTERS))
		cap_writer_count(writer, CAP_DOMAIN_COUNTER_COLLECTION, CAP_LEDGER_FAILED, 1);
	return done;
}

/* ---- setting up ---- */

const struct col_count_source *col_count_wanted_source(void)
{
	const char *text = getenv("WAVESCOPE_COUNTERS");

	if (text && strncmp(text, "compare", strlen("compare")) == 0)
		return &col_count_compare;
	return text && strncmp(text, "aqlprofile", strlen("aqlprofile")) == 0 ? &col_count_packets
									      : NULL;
}

/* PC samples alone are a request for sets of nothing. */
static bool asks_for_counters(const struct plan *plan)
{
	bool asks = false;

	for (size_t i = 0; i < plan->request.n_gpus; i++)
		for (size_t k = 0; k < plan->request.gpus[i].n_sets; k++)
			asks |= plan->request.gpus[i].sets[k].n != 0;
	return asks;
}

static void find_source(const struct plan *plan)
{
	const struct col_count_source *wanted = col_count_wanted_source();
	const char *why;
	char text[400];

	count.is_soft = col_count_service.find(&why);
	if (!wanted)
		wanted = count.is_soft ? &col_count_service : &col_count_packets;
	if (wanted == &col_count_packets && col_samples_asked() && !asks_for_counters(plan))
		wanted = &col_count_samples;
	count.source = wanted->find(&why) ? wanted : NULL;
	if (count.source)
		return;
	snprintf(text, sizeof(text), "counters: %s. The program runs without counting", why);
	col_note(text);
}

static const struct col_count_gpu *asked_of(const struct plan *plan, uint32_t gpu_index)
{
	const struct col_count_gpu *every = NULL;

	for (size_t i = 0; i < plan->request.n_gpus; i++) {
		const struct col_count_gpu *asked = &plan->request.gpus[i];

		if (asked->gpu == gpu_index)
			return asked;
		if (asked->gpu == COL_COUNT_EVERY_GPU)
			every = asked;
	}
	return every;
}

static void note(uint32_t gpu_index, const char *why)
{
	char text[512];

	snprintf(text, sizeof(text), "counters: GPU %u counts nothing: %s", gpu_index, why);
	col_note(text);
}

static bool set_up(struct plan *plan, struct gpu *gpu, uint32_t gpu_index)
{
	char error[256] = "";

	if (!col_count_facts(&plan->blocks, &gpu->target, count.source, &gpu->ids,
			     &gpu->first_of_set, &gpu->facts, &gpu->n_facts)) {
		note(gpu_index, "no memory");
		return false;
	}
	if (count.source->start(&gpu->target, error, sizeof(error)))
		return true;
	note(gpu_index, error);
	return false;
}

static void free_plan(struct plan *plan)
{
	if (plan)
		col_count_pages_free(plan->blocks);
	col_pages_free(plan, sizeof(*plan));
}

/*
 * A thread of the program may be deciding by the last plan still; by the one of four attaches
 * ago nobody does.
 */
static bool new_plan(void)
{
	static struct plan *kept[4];
	struct plan *plan = col_pages(sizeof(*plan)), **place = &kept[col_epoch() % 4];
	bool done;

	if (!plan || !col_count_tickets_start() ||
	    !col_count_request_load(&plan->blocks, &plan->request)) {
		free_plan(plan);
		return false;
	}
	plan->epoch = col_epoch();
	if (plan->request.per == COL_COUNT_PER_LAUNCH)
		plan->shapes = col_count_pages(&plan->blocks, SHAPES * sizeof(*plan->shapes));
	col_lock(&count.matching);
	done = col_count_patterns(&plan->request);
	if (done)
		__atomic_store_n(&count.plan, plan, __ATOMIC_RELEASE);
	col_unlock(&count.matching);
	if (!done) {
		free_plan(plan);
		return false;
	}
	free_plan(*place);
	*place = plan;
	col_count_kernel(0, "0"); /* a kernel of unknown name */
	return true;
}

static void start_gpu(struct plan *plan, struct gpu *gpu, uint32_t agent)
{
	const struct col_count_gpu *asked = gpu->target.asked;

	gpu->tried = true;
	if (!asked || !asked->n_sets || !set_up(plan, gpu, gpu->target.gpu))
		return;
	__atomic_store_n(&gpu->target.agent, agent, __ATOMIC_RELEASE);
	if (samples_come_with_results())
		col_samples_start(gpu->target.node, agent);
}

bool col_count_by_runtime(void)
{
	return count.source && count.source->by_runtime && col_count_on();
}

/* ---- kernel replay by packets ---- */

bool col_count_replays(void)
{
	const struct plan *plan = plan_now();

	if (!col_count_by_packets() || plan->request.mode != COL_COUNT_REPLAY)
		return false;
	for (size_t i = 0; i < plan->request.n_gpus; i++) {
		if (plan->request.gpus[i].n_sets > 1)
			return true;
	}
	return false;
}

const struct col_count_target *col_count_target_of(const struct col_count_ticket *ticket,
						   const struct col_count_source **out_source)
{
	struct plan *plan = plan_now();

	*out_source = count.source;
	return plan && ticket->epoch == plan->epoch ? &plan->gpus[ticket->gpu].target : NULL;
}

bool col_count_by_packets(void)
{
	return count.source && count.source->by_packets && col_count_on();
}

/*
 * Done late: aqlprofile's first interface calls the runtime, which must be up; and what is allocated for packets
 * does not move what the program has allocated before.
 */
void col_count_first(uint32_t agent)
{
	struct plan *plan = plan_now();
	struct cap_writer *writer = col_capture();
	bool started = false;

	if (!col_count_by_packets())
		return;
	col_lock(&count.starting);
	for (uint32_t i = 0; i < plan->n_gpus; i++) {
		if (!plan->gpus[i].tried && col_agent_by_gpu(i) == agent) {
			start_gpu(plan, &plan->gpus[i], agent);
			started = true;
		}
	}
	col_unlock(&count.starting);
	if (started && writer)
		col_count_state(writer);
}

void col_count_load(void)
{
	struct cap_writer *writer = col_capture();
	struct plan *plan = plan_now();
	uint32_t agent;

	if (!col_counting())
		return;
	if ((!plan || plan->epoch != col_epoch()) && !new_plan())
		return;
	plan = plan_now();
	find_source(plan);
	if (!count.source)
		return;
	for (uint32_t i = 0; (agent = col_agent_by_gpu(i)) != 0 && i < COL_COUNT_GPUS_MAX; i++) {
		struct gpu *gpu = &plan->gpus[i];

		/* After another hsa_init() it is the same GPU. */
		gpu->tried = false;
		gpu->target = (struct col_count_target){ .gpu = i,
							 .node = col_agent_node(agent),
							 .epoch = plan->epoch };
		/* The software GPU's nodes follow the host's, which is node 0, and some may be hidden. */
		gpu->target.asked = asked_of(plan, count.is_soft ? gpu->target.node - 1 : i);
		if (!count.source->by_packets)
			start_gpu(plan, gpu, agent);
		if (i >= plan->n_gpus)
			__atomic_store_n(&plan->n_gpus, i + 1, __ATOMIC_RELEASE);
	}
	if (writer)
		col_count_state(writer);
}

/* ---- the end of it ---- */

void col_count_report(void)
{
	if (col_count_on() && count.source && count.source->report)
		count.source->report();
}

bool col_count_on(void)
{
	return plan_now() && !is_at(plan_now(), OFF);
}

bool col_count_selects(void)
{
	return is_at(plan_now(), COUNTS);
}

void col_count_drain(void)
{
	struct plan *plan = plan_now();

	if (col_count_on())
		__atomic_store_n(&plan->stage, DRAINS, __ATOMIC_RELEASE);
}

void col_count_stop(void)
{
	struct plan *plan = plan_now();

	if (!col_count_on())
		return;
	__atomic_store_n(&plan->stage, OFF, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < plan->n_gpus; i++) {
		if (!plan->gpus[i].target.agent)
			continue;
		if (samples_come_with_results())
			col_samples_stop(plan->gpus[i].target.node);
		count.source->stop(&plan->gpus[i].target);
	}
}

/* ---- facts, forks ---- */

void col_count_state(struct cap_writer *writer)
{
	const struct plan *plan = plan_now();

	if (!col_counting() || !plan || plan->epoch != col_epoch())
		return; /* what an earlier attach counted is not for this capture */
	for (uint32_t i = 0; i < plan->n_gpus; i++) {
		if (plan->gpus[i].target.agent)
			col_count_write_facts(writer, plan->gpus[i].target.agent,
					      plan->gpus[i].facts, plan->gpus[i].n_facts);
	}
}

void col_count_forked(void)
{
	count.reading = count.starting = (struct col_lock){ 0 };
	count.matching = (struct col_lock){ 0 };
	col_count_tickets_forked();
	if (count.plan)
		count.plan->n_dispatches = 0; /* of this process */
}
