/*
 * cycles: hsa_init() to hsa_shut_down(), N times, with a queue and eight barriers on one
 * signal each time. Fails when memory grows: what is loaded again must not be kept twice.
 */
#include <hsa/hsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROWTH_KIB 1024 /* over all cycles after the tenth; ROCr itself keeps a little */

static hsa_agent_t gpu;

static hsa_status_t find_gpu(hsa_agent_t agent, void *arg)
{
	hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;

	hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	if (type != HSA_DEVICE_TYPE_GPU)
		return HSA_STATUS_SUCCESS;
	gpu = agent;
	return HSA_STATUS_INFO_BREAK;
}

/* Without mapped files: how many chunks of the capture are mapped depends on its helper thread. */
static long anonymous_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	if (kib < 0)
		exit(2);
	fclose(file);
	return kib;
}

static void put_barrier(hsa_queue_t *queue, hsa_signal_t signal)
{
	uint64_t at = hsa_queue_add_write_index_relaxed(queue, 1);
	hsa_barrier_and_packet_t *packet =
		(hsa_barrier_and_packet_t *)queue->base_address + at % queue->size;

	memset((char *)packet + sizeof(packet->header), 0,
	       sizeof(*packet) - sizeof(packet->header));
	packet->completion_signal = signal;
	__atomic_store_n(&packet->header, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE,
			 __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)at);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;
	long before = 0, after;

	for (int i = 0; i < n; i++) {
		hsa_queue_t *queue;
		hsa_signal_t signal;

		if (hsa_init() != HSA_STATUS_SUCCESS ||
		    hsa_iterate_agents(find_gpu, NULL) != HSA_STATUS_INFO_BREAK ||
		    hsa_queue_create(gpu, 256, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
				     UINT32_MAX, &queue) != HSA_STATUS_SUCCESS ||
		    hsa_signal_create(8, 0, NULL, &signal) != HSA_STATUS_SUCCESS)
			return 1;
		for (int k = 0; k < 8; k++)
			put_barrier(queue, signal);
		hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					  HSA_WAIT_STATE_BLOCKED);
		hsa_signal_destroy(signal);
		hsa_queue_destroy(queue);
		hsa_shut_down();
		if (i == 9)
			before = anonymous_kib();
	}
	after = anonymous_kib();
	if (n > 10 && after - before > GROWTH_KIB) {
		fprintf(stderr, "cycles: %ld KiB after ten, %ld after %d\n", before, after, n);
		return 1;
	}
	return 0;
}
