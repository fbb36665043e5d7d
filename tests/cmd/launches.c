/*
 * launches N [PAUSE_US [FILE]]: N kernels of one wave each, alternately in two queues, one after the other. FILE gets
 * the number of those that have ended, as 8 bytes, while it runs. Prints the number at the end.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/collector/hsa_program.h"

static uint64_t *open_progress(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	void *at;

	if (fd < 0 || ftruncate(fd, 8) != 0 ||
	    (at = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	close(fd);
	return at;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, none, *n_ended = &none, kernel;
	useconds_t pause_us = argc > 2 ? (useconds_t)strtoul(argv[2], NULL, 10) : 0;
	hsa_queue_t *queues[2];
	hsa_signal_t done;

	if (argc > 3)
		n_ended = open_progress(argv[3]);
	hsa_program_start();
	OK(hsa_signal_create(1, 0, NULL, &done));
	for (int k = 0; k < 2; k++)
		OK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX,
				    UINT32_MAX, &queues[k]));
	kernel = hsa_program_kernel(S_ENDPGM);
	for (uint64_t k = 0; k < n; k++) {
		hsa_signal_store_relaxed(done, 1);
		hsa_program_launch(queues[k % 2], kernel, done);
		while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
						 HSA_WAIT_STATE_BLOCKED) > 0)
			;
		__atomic_store_n(n_ended, k + 1, __ATOMIC_RELEASE);
		if (pause_us)
			usleep(pause_us);
	}
	printf("%llu kernels\n", (unsigned long long)n);
	return 0;
}
