/*
 * places: kernels in a queue, whose places are reserved in every way that HSA has, by two threads in
 * turn; their grids are 1, 2, 3, ... workgroups. At the end a queue is destroyed in which three
 * wait for ever. Prints the ids of the threads.
 */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N_ROUNDS 40u /* of five kernels, in a queue of 64: several laps */

static hsa_agent_t gpu, cpu;
static hsa_amd_memory_pool_t pool;
static hsa_queue_t *queue;
static hsa_signal_t done;
static uint64_t kernel; /* a descriptor, and s_endpgm */
static uint32_t n_launched;

static void ok(hsa_status_t status, const char *what)
{
	if (status != HSA_STATUS_SUCCESS) {
		fprintf(stderr, "places: %s: 0x%x\n", what, status);
		exit(1);
	}
}
#define OK(call) ok((call), #call)

static hsa_status_t find_agents(hsa_agent_t agent, void *arg)
{
	hsa_device_type_t type;

	OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	*(type == HSA_DEVICE_TYPE_GPU ? &gpu : &cpu) = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_pool(hsa_amd_memory_pool_t candidate, void *arg)
{
	pool = candidate;
	return HSA_STATUS_INFO_BREAK;
}

static void make_kernel(void)
{
	uint8_t *at;

	hsa_amd_agent_iterate_memory_pools(cpu, find_pool, NULL);
	OK(hsa_amd_memory_pool_allocate(pool, 4096, 0, (void **)&at));
	OK(hsa_amd_agents_allow_access(1, &gpu, NULL, at));
	memset(at, 0, 4096);
	*(int64_t *)(at + 16) = 256;          /* where the code is */
	*(uint32_t *)(at + 256) = 0xbf810000; /* s_endpgm */
	kernel = (uint64_t)at;
}

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

	OK(hsa_init());
	OK(hsa_iterate_agents(find_agents, NULL));
	make_kernel();
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
