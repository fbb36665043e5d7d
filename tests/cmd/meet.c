/*
 * meet MS: a kernel on each of two GPUs; each says that it is there, and spins until the other is.
 *
 * Code for gfx90a. The second kernel is submitted MS milliseconds after the first. Prints "met".
 */
#include "tests/collector/hsa_program.h"

#include <unistd.h>

/* Arguments: the word to set, the word to wait for. */
static const uint32_t code[] = {
	0xc00a0100, 0x00000000, /*        s_load_dwordx4 s[4:7], s[0:1], 0x0 */
	0x7e000280,             /*        v_mov_b32 v0, 0 */
	0x7e020281,             /*        v_mov_b32 v1, 1 */
	0xbf8cc07f,             /*        s_waitcnt lgkmcnt(0) */
	0xdc708000, 0x00040100, /*        global_store_dword v0, v1, s[4:5] */
	0xdc518000, 0x02060000, /* again: global_load_dword v2, v0, s[6:7] glc */
	0xbf8c0f70,             /*        s_waitcnt vmcnt(0) */
	0x7e100502,             /*        v_readfirstlane_b32 s8, v2 */
	0xbf068008,             /*        s_cmp_eq_u32 s8, 0 */
	0xbf85fffa,             /*        s_cbranch_scc1 again */
	S_ENDPGM,
};

enum { GPUS = 2 };
static hsa_agent_t gpus[GPUS];
static uint32_t n_gpus;

static hsa_status_t find_gpus(hsa_agent_t agent, void *arg)
{
	hsa_device_type_t type;

	OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_GPU && n_gpus < GPUS)
		gpus[n_gpus++] = agent;
	return HSA_STATUS_SUCCESS;
}

/* Descriptor and code, words and arguments: all that the kernels need. */
static uint8_t *lay_out(void)
{
	uint8_t *page;
	volatile uint32_t *words;

	OK(hsa_amd_memory_pool_allocate(pool, 4096, 0, (void **)&page));
	OK(hsa_amd_agents_allow_access(GPUS, gpus, NULL, page));
	memset(page, 0, 4096);
	*(int64_t *)(page + 16) = 256; /* where the code is */
	*(uint32_t *)(page + 52) = 4;  /* two registers of the user */
	*(uint16_t *)(page + 56) = 8;  /* the address of the arguments */
	memcpy(page + 256, code, sizeof(code));
	words = (uint32_t *)(page + 1024);
	for (int i = 0; i < GPUS; i++) {
		*(volatile uint32_t **)(page + 2048 + 64 * i) = &words[16 * i];
		*(volatile uint32_t **)(page + 2056 + 64 * i) = &words[16 * (1 - i)];
	}
	return page;
}

int main(int argc, char **argv)
{
	hsa_signal_t done[GPUS];
	uint8_t *page;

	hsa_program_start();
	OK(hsa_iterate_agents(find_gpus, NULL));
	if (n_gpus < GPUS) {
		fprintf(stderr, "meet: two GPUs are needed\n");
		return 1;
	}
	page = lay_out();
	for (int i = 0; i < GPUS; i++) {
		hsa_kernel_dispatch_packet_t *packet;
		hsa_queue_t *queue;
		uint64_t at;

		OK(hsa_queue_create(gpus[i], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
				    UINT32_MAX, &queue));
		OK(hsa_signal_create(1, 0, NULL, &done[i]));
		at = hsa_queue_add_write_index_screlease(queue, 1);
		packet = (hsa_kernel_dispatch_packet_t *)queue->base_address + at;
		packet->workgroup_size_x = packet->grid_size_x = 64;
		packet->workgroup_size_y = packet->grid_size_y = 1;
		packet->workgroup_size_z = packet->grid_size_z = 1;
		packet->kernel_object = (uint64_t)page;
		packet->kernarg_address = page + 2048 + 64 * i;
		packet->completion_signal = done[i];
		packet->setup = 1;
		__atomic_store_n(&packet->header,
				 HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE,
				 __ATOMIC_RELEASE);
		hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)at);
		usleep(argc > 1 ? (useconds_t)atoi(argv[1]) * 1000 : 0);
	}
	for (int i = 0; i < GPUS; i++)
		hsa_signal_wait_scacquire(done[i], HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					  HSA_WAIT_STATE_BLOCKED);
	printf("met\n");
	return 0;
}
