#include "softgpu/cp/traps.h"

#include <stdlib.h>
#include <time.h>

#include "softgpu/counting/counting.h"
#include "softgpu/cp/cp_priv.h"
#include "softgpu/device/log.h"
#include "softgpu/exec/trap.h"

#define TICKS_PER_US 100 /* of the device clock */
#define DOORBELL_PAGE 8192u
#define AQL_PACKET_BYTES 64u
/* The host is another thread, on a machine that may be busy; it needs two command buffers. */
#define ANSWER_NS 200000000ull
#define COMMANDS_PER_ANSWER 2u
#define NAP_NS 20000

struct sg_traps {
	pthread_mutex_t lock; /* what follows; held while samples are delivered */
	uint64_t handler, memory;
	struct sg_trap_unit *unit; /* made when first needed */
	bool failed;               /* said so; nothing more is delivered to this handler */
	_Atomic uint32_t n_commands;
	_Atomic uint32_t
		method; /* enum sg_traps_method; changed without the lock, to end a delivery */
};

struct sg_traps *sg_traps_create(void)
{
	struct sg_traps *traps = calloc(1, sizeof(*traps));

	if (traps)
		pthread_mutex_init(&traps->lock, NULL);
	return traps;
}

void sg_traps_destroy(struct sg_traps *traps)
{
	if (!traps)
		return;
	sg_trap_unit_destroy(traps->unit);
	pthread_mutex_destroy(&traps->lock);
	free(traps);
}

void sg_traps_set_handler(struct sg_traps *traps, uint64_t handler, uint64_t memory)
{
	pthread_mutex_lock(&traps->lock);
	traps->handler = handler;
	traps->memory = memory;
	traps->failed = false;
	pthread_mutex_unlock(&traps->lock);
}

void sg_traps_select(struct sg_traps *traps, enum sg_traps_method method)
{
	atomic_store(&traps->method, method);
	pthread_mutex_lock(&traps->lock); /* a delivery is at its end then */
	pthread_mutex_unlock(&traps->lock);
}

void sg_traps_commands_done(struct sg_traps *traps)
{
	if (traps)
		atomic_fetch_add_explicit(&traps->n_commands, 1, memory_order_relaxed);
}

/* ---- delivering ---- */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static bool is_wanted(const struct sg_queue *queue, uint32_t method)
{
	return !atomic_load(&queue->dying) && method &&
	       atomic_load_explicit(&queue->gpu->traps->method, memory_order_relaxed) == method;
}

/* The handler has called the host. */
static void wait_for_host(const struct sg_queue *queue, uint32_t method, uint32_t n_before)
{
	struct sg_traps *traps = queue->gpu->traps;
	const struct timespec nap = { .tv_nsec = NAP_NS };
	uint64_t until = now_ns() + ANSWER_NS;

	while (atomic_load_explicit(&traps->n_commands, memory_order_relaxed) - n_before <
		       COMMANDS_PER_ANSWER &&
	       now_ns() < until && is_wanted(queue, method))
		nanosleep(&nap, NULL);
}

static struct sg_trap_wave wave_of(const struct sg_queue *queue, const struct softgpu_pc_sample *s,
				   uint64_t start_ticks, uint32_t method)
{
	const struct sg_launch *l = &queue->dispatch.launch;
	uint32_t packets = (uint32_t)(queue->desc.size_bytes / AQL_PACKET_BYTES);
	uint32_t mhz = queue->trapped.mhz ? queue->trapped.mhz : 1;

	return (struct sg_trap_wave){
		.stochastic = method == SG_TRAPS_STOCHASTIC,
		.pc = s->pc,
		.exec = s->exec,
		.clock = start_ticks + s->cycle * TICKS_PER_US / mhz,
		.workgroup = { (uint32_t)(s->workgroup % l->n_wg[0]),
			       (uint32_t)(s->workgroup / l->n_wg[0] % l->n_wg[1]),
			       (uint32_t)(s->workgroup / l->n_wg[0] / l->n_wg[1]) },
		.wave = s->wave,
		.packet = (uint32_t)(l->dispatch_id % packets),
		.doorbell = (uint32_t)((uintptr_t)queue->desc.doorbell % DOORBELL_PAGE / 8),
		.hw_id = s->hw_id,
		.xcc_id = queue->gpu->first_xcc + s->xcc_id,
		.snapshot = s->snapshot,
		.snapshot1 = s->snapshot1,
	};
}

static void complain(struct sg_queue *queue, const struct sg_fault *fault)
{
	queue->gpu->traps->failed = true;
	sg_gpu_log(
		SG_GPU_LOG_ERROR,
		"node %u: the trap handler of the runtime failed at 0x%llx (%s), address 0x%llx: "
		"no more PC samples",
		queue->gpu->node, (unsigned long long)fault->pc,
		fault->text[0] ? fault->text : "it does not end",
		(unsigned long long)fault->address);
}

static void deliver_all(struct sg_queue *queue, uint64_t start_ticks)
{
	const struct sg_cp_host *host = &queue->cp->host;
	struct sg_traps *traps = queue->gpu->traps;
	uint32_t method = atomic_load(&traps->method);

	for (size_t k = 0; k < queue->trapped.n && is_wanted(queue, method); k++) {
		struct sg_trap_wave wave =
			wave_of(queue, &queue->trapped.samples[k], start_ticks, method);
		uint32_t n_before = atomic_load_explicit(&traps->n_commands, memory_order_relaxed);
		struct sg_fault fault;
		bool interrupted, returned;

		if (host->enter)
			host->enter(host->ctx);
		returned = sg_trap_unit_run(traps->unit, traps->handler, traps->memory, &wave,
					    &interrupted, &fault);
		if (host->leave)
			host->leave(host->ctx);
		if (!returned) {
			complain(queue, &fault);
			return;
		}
		if (interrupted)
			wait_for_host(queue, method, n_before);
	}
}

/* In order of time; at the same time by place, so that the order does not depend on the model's loops. */
static int compare(const void *a_, const void *b_)
{
	const struct softgpu_pc_sample *a = a_, *b = b_;

	if (a->cycle != b->cycle)
		return a->cycle < b->cycle ? -1 : 1;
	if (a->xcc_id != b->xcc_id)
		return a->xcc_id < b->xcc_id ? -1 : 1;
	return a->hw_id < b->hw_id ? -1 : a->hw_id > b->hw_id;
}

void sg_traps_deliver(struct sg_queue *queue, uint64_t start_ticks)
{
	struct sg_traps *traps = queue->gpu->traps;

	pthread_mutex_lock(&traps->lock);
	if (!traps->unit)
		traps->unit = sg_trap_unit_create(queue->gpu->target, queue->cp->host.mem,
						  &queue->cp->hooks, queue->gpu->code_cache);
	if (traps->unit && traps->handler && traps->memory && !traps->failed) {
		qsort(queue->trapped.samples, queue->trapped.n, sizeof(*queue->trapped.samples),
		      compare);
		deliver_all(queue, start_ticks);
	}
	pthread_mutex_unlock(&traps->lock);
	free(queue->trapped.samples);
	queue->trapped = (struct sg_trapped){ 0 };
}
