#include "softgpu/cp/busy.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "softgpu/device/board.h"
#include "softgpu/device/clock.h"

struct sg_busy_time {
	_Atomic bool measured;
	pthread_mutex_t lock; /* everything below */
	uint32_t n_running;
	uint64_t since_ns, busy_ns; /* since when one is running; time before that */
	struct sg_board_page *page; /* NULL: it is shown nowhere */
	uint32_t gpu;
};

struct sg_busy_time *sg_busy_time_create(void)
{
	struct sg_busy_time *busy = calloc(1, sizeof(*busy));

	if (busy)
		pthread_mutex_init(&busy->lock, NULL);
	return busy;
}

void sg_busy_time_destroy(struct sg_busy_time *busy)
{
	if (!busy)
		return;
	pthread_mutex_destroy(&busy->lock);
	free(busy);
}

/* Locked. */
static void show(struct sg_busy_time *busy, uint64_t now_ns)
{
	struct sg_board_page *page = busy->page;

	if (!page)
		return;
	atomic_store_explicit(&page->busy_ns[busy->gpu], busy->busy_ns, memory_order_relaxed);
	atomic_store_explicit(&page->since_ns[busy->gpu], busy->n_running ? busy->since_ns : 0,
			      memory_order_relaxed);
	sg_board_set_running(page, busy->gpu, now_ns, busy->n_running != 0);
}

bool sg_busy_time_begin(struct sg_busy_time *busy)
{
	if (!busy || !atomic_load_explicit(&busy->measured, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&busy->lock);
	if (!busy->n_running++) {
		busy->since_ns = sg_clock_system_ns();
		show(busy, busy->since_ns);
	}
	pthread_mutex_unlock(&busy->lock);
	return true;
}

void sg_busy_time_end(struct sg_busy_time *busy)
{
	pthread_mutex_lock(&busy->lock);
	if (!--busy->n_running) {
		uint64_t now_ns = sg_clock_system_ns();

		busy->busy_ns += now_ns - busy->since_ns;
		show(busy, now_ns);
	}
	pthread_mutex_unlock(&busy->lock);
}

uint64_t sg_busy_time_ns(struct sg_busy_time *busy)
{
	uint64_t busy_ns;

	atomic_store(&busy->measured, true);
	pthread_mutex_lock(&busy->lock);
	busy_ns = busy->busy_ns;
	if (busy->n_running)
		busy_ns += sg_clock_system_ns() - busy->since_ns;
	pthread_mutex_unlock(&busy->lock);
	return busy_ns;
}

void sg_busy_time_publish(struct sg_busy_time *busy, struct sg_board_page *page, uint32_t gpu)
{
	pthread_mutex_lock(&busy->lock);
	busy->page = page;
	busy->gpu = gpu;
	show(busy, sg_clock_system_ns());
	pthread_mutex_unlock(&busy->lock);
	atomic_store(&busy->measured, true);
}
