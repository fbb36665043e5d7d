/* source_service: counting by the software GPU's own service. */
#include "collector/collector_priv.h"
#include "collector/count/count_priv.h"
#include "collector/count/samples.h"
#include "collector/count/source.h"
#include "collector/softgpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define SEEN_WINDOW 65536u /* as many results as the software GPU keeps */

#if COL_COUNT_NOTHING != SOFTGPU_PLAIN || COL_COUNT_REPLAYED != SOFTGPU_REPLAY
#error "a ticket's set is the service's"
#endif

/* Which results of a GPU have been read, so that the service may forget them. */
struct reader {
	uint64_t n_read; /* every result up to this one was */
	uint8_t *seen;   /* SEEN_WINDOW, those after it */
};

static struct {
	struct reader readers[COL_COUNT_GPUS_MAX];
	size_t (*counters)(uint32_t, struct softgpu_counter *, size_t);
	int (*sets)(uint32_t, const struct softgpu_set *, size_t, softgpu_choose *, void *, char *,
		    size_t);
	int (*result)(uint32_t, uint64_t, uint64_t, struct softgpu_result *);
	int (*next)(uint32_t, uint64_t, struct softgpu_result *);
	void (*drop)(uint32_t, uint64_t);
	int (*total_open)(uint32_t, const char *const *, size_t, char *, size_t);
	int (*total_read)(uint32_t, struct softgpu_result *);
	void (*total_close)(uint32_t);
} service;

static bool find(const char **out_why)
{
	void *library = col_softgpu_open();

	*out_why = "the software GPU is not in this process";
	if (!library)
		return false;
#define FIND(field, name) *(void **)&service.field = dlsym(library, name)
	FIND(counters, "softgpu_counters");
	FIND(sets, "softgpu_count_sets");
	FIND(result, "softgpu_result");
	FIND(next, "softgpu_next_result");
	FIND(drop, "softgpu_drop");
	FIND(total_open, "softgpu_total_open");
	FIND(total_read, "softgpu_total_read");
	FIND(total_close, "softgpu_total_close");
	col_samples_find(library);
#undef FIND
	dlclose(library); /* ROCr has it open */
	return service.counters && service.sets && service.result && service.next && service.drop;
}

static size_t counters(const struct col_count_target *target, struct softgpu_counter *out,
		       size_t room)
{
	return service.counters(target->node, out, room);
}

/* On the thread of the GPU's packet processor. */
static uint32_t choose(void *user, const struct softgpu_dispatch *dispatch)
{
	const struct col_count_target *target = user;
	struct col_count_ticket *ticket = col_count_expected(dispatch->completion_signal);

	if (!ticket)
		ticket = col_count_unexpected(dispatch,
					      __atomic_load_n(&target->agent, __ATOMIC_ACQUIRE));
	/* One of an earlier attach means sets that are no more. */
	if (!ticket || ticket->epoch != target->epoch)
		return SOFTGPU_PLAIN;
	ticket->queue = dispatch->queue;
	ticket->packet = dispatch->packet;
	__atomic_store_n(&ticket->met, 1, __ATOMIC_RELEASE);
	return ticket->set;
}

/* The results that exist now will not be read. */
static void read_no_more(const struct col_count_target *target)
{
	struct reader *reader = &service.readers[target->gpu];
	struct softgpu_result result;

	col_count_lock_results();
	while (service.next(target->node, reader->n_read, &result) == 0)
		reader->n_read = result.sequence;
	service.drop(target->node, reader->n_read);
	memset(reader->seen, 0, SEEN_WINDOW);
	col_count_unlock_results();
}

static bool start(const struct col_count_target *target, char *error, size_t n_error)
{
	const struct col_count_gpu *asked = target->asked;
	struct reader *reader = &service.readers[target->gpu];
	struct softgpu_set *sets = col_pages((asked->n_sets + 1) * sizeof(*sets));
	int status;

	snprintf(error, n_error, "no memory");
	if (!reader->seen)
		reader->seen = col_pages(SEEN_WINDOW);
	if (!sets || !reader->seen)
		return false;
	read_no_more(target);
	for (size_t i = 0; i < asked->n_sets; i++)
		sets[i] = (struct softgpu_set){ asked->sets[i].names, asked->sets[i].n };
	snprintf(error, n_error, "its service refused");
	status = service.sets(target->node, sets, asked->n_sets, choose, (void *)target, error,
			      n_error);
	col_pages_free(sets, (asked->n_sets + 1) * sizeof(*sets));
	return status == 0;
}

static void stop(const struct col_count_target *target)
{
	char error[256];

	service.sets(target->node, NULL, 0, NULL, NULL, error, sizeof(error));
	read_no_more(target);
}

static bool take(const struct col_count_target *target, const struct col_count_ticket *ticket,
		 struct softgpu_result *out_result)
{
	return __atomic_load_n(&ticket->met, __ATOMIC_ACQUIRE) &&
	       service.result(target->node, ticket->queue, ticket->packet, out_result) == 0;
}

/* The service keeps results until we report that all up to one were read. */
static void taken(const struct col_count_target *target, const struct softgpu_result *result)
{
	struct reader *reader = &service.readers[target->gpu];
	uint64_t before = reader->n_read, sequence = result->sequence;

	if (sequence <= reader->n_read)
		return;
	if (sequence - reader->n_read >= SEEN_WINDOW) {
		/* One was never read, its queue is gone: the service has dropped it by now. */
		memset(reader->seen, 0, SEEN_WINDOW);
		reader->n_read = sequence - 1;
	}
	reader->seen[sequence % SEEN_WINDOW] = 1;
	while (reader->seen[(reader->n_read + 1) % SEEN_WINDOW])
		reader->seen[++reader->n_read % SEEN_WINDOW] = 0;
	if (reader->n_read != before)
		service.drop(target->node, reader->n_read);
}

/* ---- over time ---- */

static bool open_total(const struct col_count_target *target, char *error, size_t n_error)
{
	const struct col_count_set *set = &target->asked->sets[0];

	snprintf(error, n_error, "its service refused");
	return service.total_open && service.total_read && service.total_close &&
	       service.total_open(target->node, set->names, set->n, error, n_error) == 0;
}

static bool shape_total(const struct col_count_target *target, struct softgpu_result *out_result)
{
	return service.total_read(target->node, out_result) == 0;
}

static enum col_count_reading read_total(const struct col_count_target *target,
					 struct softgpu_result *out_result)
{
	return service.total_read(target->node, out_result) == 0 ? COL_COUNT_READ : COL_COUNT_STUCK;
}

static void close_total(const struct col_count_target *target)
{
	service.total_close(target->node);
}

const struct col_count_source col_count_service = {
	.find = find,
	.counters = counters,
	.start = start,
	.stop = stop,
	.take = take,
	.taken = taken,
	.open = open_total,
	.shape = shape_total,
	.read = read_total,
	.close = close_total,
};
