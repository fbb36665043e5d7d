/*
 * hsa_program: what small HSA programs begin with: agents, host memory, a kernel made of instructions.
 *
 *	hsa_program_start();
 *	kernel = hsa_program_kernel(S_ENDPGM);
 *	hsa_program_launch(queue, kernel, done);     one wave of it
 */
#ifndef WS_TESTS_COLLECTOR_HSA_PROGRAM_H
#define WS_TESTS_COLLECTOR_HSA_PROGRAM_H

#include <errno.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S_ENDPGM 0xbf810000u

static hsa_agent_t gpu, cpu;
static hsa_amd_memory_pool_t pool; /* of the host */

static void ok(hsa_status_t status, const char *what)
{
	if (status == HSA_STATUS_SUCCESS)
		return;
	fprintf(stderr, "%s: %s: 0x%x\n", program_invocation_short_name, what, status);
	exit(1);
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

static void hsa_program_start(void)
{
	OK(hsa_init());
	OK(hsa_iterate_agents(find_agents, NULL));
	hsa_amd_agent_iterate_memory_pools(cpu, find_pool, NULL);
}

/* The kernel object: a descriptor, the instruction, and s_endpgm. */
static inline uint64_t hsa_program_kernel(uint32_t instruction)
{
	uint8_t *at;

	OK(hsa_amd_memory_pool_allocate(pool, 4096, 0, (void **)&at));
	OK(hsa_amd_agents_allow_access(1, &gpu, NULL, at));
	memset(at, 0, 4096);
	*(int64_t *)(at + 16) = 256; /* where the code is */
	*(uint32_t *)(at + 256) = instruction;
	*(uint32_t *)(at + 260) = S_ENDPGM;
	return (uint64_t)at;
}

static inline void hsa_program_launch(hsa_queue_t *queue, uint64_t kernel, hsa_signal_t done)
{
	uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
	hsa_kernel_dispatch_packet_t *packet =
		(hsa_kernel_dispatch_packet_t *)queue->base_address + (index & (queue->size - 1));

	memset((char *)packet + 4, 0, sizeof(*packet) - 4);
	packet->workgroup_size_x = packet->grid_size_x = 64;
	packet->workgroup_size_y = packet->workgroup_size_z = 1;
	packet->grid_size_y = packet->grid_size_z = 1;
	packet->kernel_object = kernel;
	packet->completion_signal = done;
	__atomic_store_n((uint32_t *)packet,
			 HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1u << 16,
			 __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

#endif
