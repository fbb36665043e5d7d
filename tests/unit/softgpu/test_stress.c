/* Everything at once, from several threads: made for the thread sanitizer. */
#include "tests/unit/softgpu/rig.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HEADER(type) ((uint16_t)((type) | 1 << 8))
#define LO(p) (uint32_t)(uint64_t)(p)
#define HI(p) (uint32_t)((uint64_t)(p) >> 32)
#define N_THREADS 6
#define N_ROUNDS 60

struct job {
	struct rig *rig;
	uint32_t seed;
	const char *failure;
};

static enum sg_wg_state add(struct fake_wg *wg, void *arg)
{
	atomic_fetch_add((_Atomic uint32_t *)arg, 1);
	return wg->n_turns < wg->index % 4 ? wg->index % 2 ? SG_WG_RUNNABLE : SG_WG_WAITING
					   : SG_WG_DONE;
}

static uint32_t turns_of(uint32_t n_wgs)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_wgs; i++)
		n += i % 4 + 1;
	return n;
}

/* A kernel, a barrier that waits for it on another queue, a copy of what it counted. */
static const char *one_round(struct job *job)
{
	struct rig *rig = job->rig;
	uint32_t n_wgs = rand_r(&job->seed) % 40 + 1, id;
	struct fake_kernel *k = (void *)rig_alloc(rig, 8192);
	_Atomic uint32_t *counter = (void *)((uint64_t)k + 4096);
	struct sg_amd_signal *kernel_done = rig_signal(rig, 1), *all_done = rig_signal(rig, 1);
	struct rig_aql one, two;
	struct rig_sdma sdma;
	union sg_aql_packet packet;
	const char *failure = NULL;
	uint64_t mailbox;

	if (sg_event_create(rig->events, SG_EVENT_SIGNAL, false, false, &id, &mailbox))
		return "no event";
	all_done->event_mailbox = mailbox;
	all_done->event_id = id;
	k->run = add;
	k->arg = (void *)counter;
	rig_aql_open(rig, &one, 16);
	rig_aql_open(rig, &two, 16);
	rig_sdma_open(rig, &sdma);

	packet = (union sg_aql_packet){ .barrier = { .signals = { (uint64_t)kernel_done },
						     .completion = (uint64_t)all_done } };
	rig_aql_submit(&two, &packet, HEADER(SG_AQL_BARRIER_AND));
	{
		uint32_t dw[] = { 8 | 3u << 28 | 1u << 31,
				  LO(&all_done->value),
				  HI(&all_done->value),
				  0,
				  ~0u,
				  0,
				  1,
				  3,
				  0,
				  LO(counter),
				  HI(counter),
				  LO(counter + 1),
				  HI(counter + 1),
				  5,
				  LO(counter + 2),
				  HI(counter + 2),
				  1 };

		rig_sdma_submit(&sdma, dw, sizeof(dw) / 4);
	}
	packet = rig_kernel_packet(k, n_wgs, kernel_done);
	rig_aql_submit(&one, &packet, HEADER(SG_AQL_DISPATCH));

	while (atomic_load(&all_done->value) &&
	       sg_event_wait(rig->events, &id, 1, false, 10000) == SG_EVENT_OK)
		;
	if (atomic_load(&all_done->value))
		failure = "the barrier never completed";
	for (int i = 0; i < 100000 && !atomic_load(&counter[2]); i++)
		rig_pause();
	if (!failure && atomic_load(&counter[1]) != turns_of(n_wgs))
		failure = "workgroups ran too often or not often enough";

	sg_device_destroy_queue(one.queue);
	sg_device_destroy_queue(two.queue);
	sg_device_destroy_queue(sdma.queue);
	sg_event_destroy(rig->events, id);
	sg_vm_free(rig->vm, (uint64_t)k);
	sg_vm_free(rig->vm, (uint64_t)kernel_done);
	sg_vm_free(rig->vm, (uint64_t)all_done);
	return failure;
}

static void *run_job(void *arg)
{
	struct job *job = arg;
	char *pinned = malloc(1 << 16);

	for (int i = 0; i < N_ROUNDS && !job->failure; i++) {
		sg_vm_pin(job->rig->vm, (uint64_t)pinned, 1 << 16, 0);
		job->failure = one_round(job);
		if (!sg_vm_accessible(job->rig->vm, (uint64_t)pinned, 1 << 16))
			job->failure = "a pinned range was lost";
		sg_vm_unpin(job->rig->vm, (uint64_t)pinned);
	}
	free(pinned);
	return NULL;
}

static void many_threads_share_the_device(void **state)
{
	struct rig *rig = rig_create(3);
	struct job jobs[N_THREADS];
	pthread_t threads[N_THREADS];

	for (uint32_t i = 0; i < N_THREADS; i++) {
		jobs[i] = (struct job){ .rig = rig, .seed = i + 1 };
		assert_int_equal(pthread_create(&threads[i], NULL, run_job, &jobs[i]), 0);
	}
	for (int i = 0; i < N_THREADS; i++) {
		pthread_join(threads[i], NULL);
		if (jobs[i].failure)
			fail_msg("thread %d: %s", i, jobs[i].failure);
	}
	rig_destroy(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_threads_share_the_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
