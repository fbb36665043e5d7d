/*
 * lost_queue: a queue that is destroyed while its kernel runs for ever; then a kernel in a second queue, which was
 * there all the time. Prints whether it ended. While counters are programmed by packets, the first kernel has the
 * GPU, and its queue takes it along.
 */
#include <unistd.h>

#include "tests/collector/hsa_program.h"

#define S_BRANCH_TO_ITSELF 0xbf82ffffu
#define SECOND_NS 1000000000ull

int main(void)
{
	hsa_queue_t *first, *second;
	hsa_signal_t never, done;
	hsa_signal_value_t left;

	hsa_program_start();
	OK(hsa_signal_create(1, 0, NULL, &never));
	OK(hsa_signal_create(2, 0, NULL, &done));
	OK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX,
			    &first));
	OK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX,
			    &second));
	hsa_program_launch(first, hsa_program_kernel(S_BRANCH_TO_ITSELF), never);
	usleep(200000); /* it runs */
	hsa_program_launch(second, hsa_program_kernel(S_ENDPGM), done);
	OK(hsa_queue_destroy(first));
	hsa_program_launch(second, hsa_program_kernel(S_ENDPGM), done);
	left = hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 5 * SECOND_NS,
					 HSA_WAIT_STATE_BLOCKED);
	printf("second queue: %s\n", left == 0 ? "ok" : "blocked");
	fflush(stdout);
	return left != 0;
}
