#include "softgpu/exec/gws.h"

#include <pthread.h>
#include <stdlib.h>

struct resource {
	uint64_t round; /* barriers completed */
	uint32_t counter;
	uint32_t n_waiting; /* at the semaphore */
};

struct sg_gws {
	pthread_mutex_t lock;
	struct resource resource[SG_GWS_RESOURCES];
};

struct sg_gws *sg_gws_create(void)
{
	struct sg_gws *gws = calloc(1, sizeof(*gws));

	if (gws)
		pthread_mutex_init(&gws->lock, NULL);
	return gws;
}

void sg_gws_destroy(struct sg_gws *gws)
{
	if (!gws)
		return;
	pthread_mutex_destroy(&gws->lock);
	free(gws);
}

static bool barrier(struct resource *r, uint32_t value, uint64_t *wait)
{
	if (*wait) { /* holds the round it arrived in, plus one */
		if (r->round < *wait)
			return false;
		*wait = 0;
		return true;
	}
	if (r->counter) {
		r->counter--;
		*wait = r->round + 1;
		return false;
	}
	r->counter = value;
	r->round++;
	return true;
}

static bool pass(struct resource *r, uint64_t *wait)
{
	if (!r->counter) {
		r->n_waiting += !*wait;
		*wait = 1;
		return false;
	}
	r->counter--;
	if (*wait && r->n_waiting)
		r->n_waiting--;
	*wait = 0;
	return true;
}

static bool apply(struct resource *r, enum sg_gws_op op, uint32_t value, uint64_t *wait)
{
	switch (op) {
	case SG_GWS_INIT:
		r->counter = value;
		r->n_waiting = 0;
		return true;
	case SG_GWS_BARRIER:
		return barrier(r, value, wait);
	case SG_GWS_SEMA_V:
		r->counter++;
		return true;
	case SG_GWS_SEMA_BR:
		r->counter += value;
		return true;
	case SG_GWS_SEMA_P:
		return pass(r, wait);
	case SG_GWS_SEMA_RELEASE_ALL:
		r->counter = r->n_waiting;
		return true;
	}
	return true;
}

bool sg_gws_do(struct sg_gws *gws, enum sg_gws_op op, unsigned resource, uint32_t value,
	       uint64_t *wait)
{
	bool done;

	pthread_mutex_lock(&gws->lock);
	done = apply(&gws->resource[resource % SG_GWS_RESOURCES], op, value, wait);
	pthread_mutex_unlock(&gws->lock);
	return done;
}
