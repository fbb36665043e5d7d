/*
 * threads: N_ROUNDS times N_THREADS short threads, each with a few calls of its own.
 * Checks that each thread's last error is its own, as HIP promises.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define N_THREADS 32
#define N_ROUNDS 64

int hipSetDevice(int device);
int hipGetLastError(void);
int hipPeekAtLastError(void);
int hipMemcpy(void *dst, const void *src, unsigned long n, int kind);
int hipStreamQuery(void *stream);
int hipStreamCreate(void **stream);
int hipStreamDestroy(void *stream);
int hipStreamSynchronize(void *stream);

static void *body(void *arg)
{
	uintptr_t bad = 0;
	char from[8] = "1234567", to[8];
	void *stream;

	for (int i = 0; i < 4; i++) {
		bad |= hipSetDevice(3) != 101;
		bad |= hipPeekAtLastError() != 101;
		bad |= hipGetLastError() != 101;
		bad |= hipGetLastError() != 0;
		bad |= hipMemcpy(to, from, 8, 0) != 0;
		bad |= hipStreamQuery((void *)2) != 0; /* hipStreamPerThread */
		/* there are four handles only: they go from thread to thread */
		if (hipStreamCreate(&stream) == 0) {
			bad |= hipStreamSynchronize(stream) != 0;
			bad |= hipStreamDestroy(stream) != 0;
		}
		hipGetLastError();
	}
	return (void *)bad;
}

int main(void)
{
	pthread_t threads[N_THREADS];
	uintptr_t bad = 0;
	void *result;

	for (int round = 0; round < N_ROUNDS; round++) {
		for (int i = 0; i < N_THREADS; i++)
			if (pthread_create(&threads[i], NULL, body, NULL))
				return 2;
		for (int i = 0; i < N_THREADS; i++) {
			pthread_join(threads[i], &result);
			bad |= (uintptr_t)result;
		}
	}
	printf("%s\n", bad ? "bad" : "good");
	return bad != 0;
}
