/* Four threads that lock, wait and join known numbers of times; see pthread_regions.sh. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#undef NDEBUG
#define THREADS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static int total;

static void *work(void *arg)
{
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&mutex);
		total++;
		pthread_mutex_unlock(&mutex);
	}
	for (int i = 0; i < 5; i++) {
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
	}
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	for (int i = 0; i < 7; i++) {
		pthread_spin_lock(&spin);
		pthread_spin_unlock(&spin);
	}
	for (int i = 0; i < 3; i++)
		pthread_barrier_wait(&barrier);
	return arg;
}

int main(void)
{
	const struct timespec past = { 0, 0 };
	pthread_t threads[THREADS];
	void *result;

	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		assert(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
	for (long i = 0; i < THREADS; i++) {
		assert(pthread_join(threads[i], &result) == 0);
		assert(result == (void *)i);
	}
	assert(total == 10 * THREADS);
	/* what fails fails as before */
	pthread_mutex_lock(&mutex);
	errno = 0;
	assert(pthread_mutex_trylock(&mutex) == EBUSY && errno == 0);
	assert(pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT && errno == 0);
	pthread_mutex_unlock(&mutex);
	puts("ok");
	return 7;
}
