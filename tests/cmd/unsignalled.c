/*
 * unsignalled [READY_FILE]: kernels without a completion signal, as HIP 5.7 and later launch them.
 *
 * Until SIGTERM, every 2 ms: three kernels of 256 work-items without a signal, and a barrier with one
 * that is waited for. The file appears when the GPU has been used. Prints the number of kernels.
 */
#include "tests/collector/hsa_program.h"

#include <signal.h>
#include <unistd.h>

enum { KERNELS = 3 };

static volatile sig_atomic_t stop;

static void on_term(int number)
{
	stop = 1;
}

static void submit(hsa_queue_t *queue, uint16_t type, const void *filled)
{
	uint64_t at = hsa_queue_add_write_index_screlease(queue, 1);
	uint8_t *slot = (uint8_t *)queue->base_address + at % queue->size * 64;

	while (at - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		;
	memcpy(slot + 4, (const uint8_t *)filled + 4, 60);
	/* The second half of the word: dimensions of a kernel, reserved in a barrier. */
	__atomic_store_n((uint32_t *)slot,
			 (uint32_t)type << HSA_PACKET_HEADER_TYPE |
				 1u << HSA_PACKET_HEADER_BARRIER |
				 (type == HSA_PACKET_TYPE_KERNEL_DISPATCH ? 1u << 16 : 0),
			 __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)at);
}

int main(int argc, char **argv)
{
	hsa_kernel_dispatch_packet_t kernel = { .workgroup_size_x = 64,
						.workgroup_size_y = 1,
						.workgroup_size_z = 1,
						.grid_size_x = 256,
						.grid_size_y = 1,
						.grid_size_z = 1 };
	hsa_barrier_and_packet_t barrier = { 0 };
	hsa_queue_t *queue;
	int n_turns = 0;

	signal(SIGTERM, on_term);
	hsa_program_start();
	kernel.kernel_object = hsa_program_kernel(S_ENDPGM);
	OK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
			    &queue));
	OK(hsa_signal_create(1, 0, NULL, &barrier.completion_signal));
	while (!stop) {
		hsa_signal_store_relaxed(barrier.completion_signal, 1);
		for (int i = 0; i < KERNELS; i++)
			submit(queue, HSA_PACKET_TYPE_KERNEL_DISPATCH, &kernel);
		submit(queue, HSA_PACKET_TYPE_BARRIER_AND, &barrier);
		hsa_signal_wait_scacquire(barrier.completion_signal, HSA_SIGNAL_CONDITION_LT, 1,
					  UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
		if (++n_turns == 3 && argc > 1)
			fclose(fopen(argv[1], "w"));
		usleep(2000);
	}
	OK(hsa_queue_destroy(queue));
	printf("%d kernels\n", n_turns * KERNELS);
	return 0;
}
