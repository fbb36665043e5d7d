/*
 * places: kernels in a queue, whose places are reserved in every way that HSA has, by two threads in
 * turn; their grids are 1, 2, 3, ... workgroups. At the end a queue is destroyed in which three
 * wait for ever. Prints the ids of the threads.
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/collector/hsa_program.h"

#define N_ROUNDS 40u /* of five kernels, in a queue of 64: several laps */

static hsa_queue_t *queue;
static hsa_signal_t done;
static uint64_t kernel;
static uint32_t n_launched;

static void put(uint64_t index, uint32_t n_wgs, uint16_t type, hsa_signal_t completion)
{
	hsa_kernel_dispatch_packet_t *p =
		(hsa_kernel_dispatch_packet_t *)queue->base_address + index % queue->size;

	while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		;
	memset((char *)p + 2, 0, sizeof(*p) - 2);
	if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
		p->setup = 1;
		p->workgroup_size_x = 64;
		p->workgroup_size_y = p->workgroup_size_z = p->grid_size_y = p->grid_size_z = 1;
		p->grid_size_x = 64 * n_wgs;
		p->kernel_object = kernel;
	}
	p->completion_signal = completion;
	__atomic_store_n(&p->header, (uint16_t)(type << HSA_PACKET_HEADER_TYPE), __ATOMIC_RELEASE);
}

static void launch(uint64_t index)
{
	put(index, ++n_launched, HSA_PACKET_TYPE_KERNEL_DISPATCH, done);
}

static void *five_ways(void *arg)
{
	uint64_t at;

	launch(hsa_queue_add_write_index_relaxed(queue, 1));
	at = hsa_queue_add_write_index_screlease(queue, 3); /* the second is no kernel */
	launch(at);
	put(at + 1, 0, HSA_PACKET_TYPE_BARRIER_AND, (hsa_signal_t){ 0 });
	launch(at + 2);
	do
		at = hsa_queue_load_write_index_relaxed(queue);
	while (hsa_queue_cas_write_index_scacq_screl(queue, at, at + 1) != at);
	launch(at);
	/* the packet first, then the index: nobody else launches meanwhile */
	at = hsa_queue_load_write_index_relaxed(queue);
	launch(at);
	hsa_queue_store_write_index_screlease(queue, at + 1);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)at);
	*(long *)arg = syscall(SYS_gettid);
	return NULL;
}

static void *rounds(void *arg)
{
	for (unsigned i = 0; i < N_ROUNDS / 2; i++)
		five_ways(arg);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	long tids[2];
	hsa_signal_t never;

	hsa_program_start();
	kernel = hsa_program_kernel(S_ENDPGM);
	OK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
			    &queue));
	OK(hsa_signal_create(5 * N_ROUNDS, 0, NULL, &done));
	rounds(&tids[0]);
	if (pthread_create(&thread, NULL, rounds, &tids[1]) || pthread_join(thread, NULL))
		return 1;
	hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
				  HSA_WAIT_STATE_BLOCKED);
	OK(hsa_queue_destroy(queue));
	printf("%ld %ld\n", tids[0], tids[1]);

	OK(hsa_signal_create(1, 0, NULL, &never));
	OK(hsa_signal_create(3, 0, NULL, &done));
	OK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
			    &queue));
	put(0, 0, HSA_PACKET_TYPE_INVALID, (hsa_signal_t){ 0 });
	((hsa_barrier_and_packet_t *)queue->base_address)->dep_signal[0] = never;
	hsa_queue_add_write_index_relaxed(queue, 4);
	for (uint64_t i = 1; i < 4; i++)
		launch(i);
	__atomic_store_n((uint16_t *)queue->base_address,
			 HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, 3);
	OK(hsa_queue_destroy(queue));
	return hsa_shut_down() != HSA_STATUS_SUCCESS;
}
