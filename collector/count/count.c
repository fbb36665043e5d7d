#include "collector/count/count.h"

#include "collector/collector_priv.h"
#include "collector/count/count_priv.h"
#include "collector/count/samples.h"
#include "softgpu/counters/service.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TICKETS 32768u /* a power of two: more than all queues' places of a busy program */
#define TICKET_PROBES 64u
#define KERNEL_BLOCKS 4096u
#define KERNEL_BLOCK 1024u
#define SHAPES 65536u /* a power of two: launches of different size */
#define SHAPE_PROBES 32u
#define SEEN_WINDOW 65536u /* as many results as the software GPU keeps */

_Static_assert(WS_COUNT_NOTHING == WS_SOFTGPU_PLAIN, "one word for it");

struct gpu {
	uint32_t agent; /* our id of it; 0: no counting */
	uint32_t node;
	const struct ws_count_gpu *asked;
	uint64_t n_counted;     /* dispatches: what ROTATE goes by */
	uint32_t *ids;          /* counter ids, set after set */
	uint32_t *first_of_set; /* in ids; one more than there are sets */
	struct ws_count_fact *facts;
	uint32_t n_facts;
	/* Which results have been read, so that the service may forget them. One thread. */
	uint64_t n_read; /* every result up to this one was */
	uint8_t *seen;   /* SEEN_WINDOW, those after it */
};

struct kernel {
	uint32_t included;
	uint64_t n_launched;
	uint64_t n_counted; /* what rotating per kernel goes by */
};

/* Launches of a kernel with the same sizes, by their hash: what rotating per launch goes by. */
struct shape {
	uint64_t hash; /* 0: free */
	uint64_t n_counted;
};

struct expected {
	uint64_t signal;
	struct ws_count_ticket *ticket;
};

static struct {
	struct ws_count_request request;
	struct gpu gpus[WS_COUNT_GPUS_MAX];
	uint32_t n_gpus;
	struct expected *expected;             /* TICKETS */
	struct kernel *kernels[KERNEL_BLOCKS]; /* KERNEL_BLOCK each, by id */
	struct shape *shapes;                  /* SHAPES, or NULL */
	uint64_t n_dispatches;                 /* of the process */
	struct ws_lock reading;
	bool loaded;
	struct {
		size_t (*counters)(uint32_t, struct ws_softgpu_counter *, size_t);
		int (*sets)(uint32_t, const struct ws_softgpu_set *, size_t, ws_softgpu_choose *,
			    void *, char *, size_t);
		int (*result)(uint32_t, uint64_t, uint64_t, struct ws_softgpu_result *);
		void (*drop)(uint32_t, uint64_t);
	} service;
} count;

/* ---- tickets, by the signal of their dispatch ---- */

static uint32_t hash(uint64_t signal)
{
	return (uint32_t)((signal >> 6) * 0x9e3779b97f4a7c15ull >> 40);
}

bool ws_count_expect(struct ws_count_ticket *ticket, uint64_t signal)
{
	for (uint32_t i = 0; i < TICKET_PROBES; i++) {
		struct expected *e = &count.expected[(hash(signal) + i) % TICKETS];
		uint64_t none = 0;

		if (__atomic_load_n(&e->signal, __ATOMIC_RELAXED) == 0 &&
		    __atomic_compare_exchange_n(&e->signal, &none, signal, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED)) {
			__atomic_store_n(&e->ticket, ticket, __ATOMIC_RELEASE);
			return true;
		}
	}
	return false;
}

static struct expected *find(uint64_t signal)
{
	for (uint32_t i = 0; signal && i < TICKET_PROBES; i++) {
		struct expected *e = &count.expected[(hash(signal) + i) % TICKETS];

		if (__atomic_load_n(&e->signal, __ATOMIC_ACQUIRE) == signal)
			return e;
	}
	return NULL;
}

void ws_count_over(const struct ws_count_ticket *ticket, uint64_t signal)
{
	struct expected *e = ticket->set == WS_COUNT_NOTHING ? NULL : find(signal);

	if (!e || __atomic_load_n(&e->ticket, __ATOMIC_RELAXED) != ticket)
		return;
	__atomic_store_n(&e->ticket, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&e->signal, 0, __ATOMIC_RELEASE);
}

/* On the thread of the GPU's packet processor. */
static uint32_t choose(void *user, const struct ws_softgpu_dispatch *dispatch)
{
	struct expected *e = find(dispatch->completion_signal);
	struct ws_count_ticket *ticket = e ? __atomic_load_n(&e->ticket, __ATOMIC_ACQUIRE) : NULL;

	if (!ticket)
		return WS_SOFTGPU_PLAIN;
	ticket->queue = dispatch->queue;
	ticket->packet = dispatch->packet;
	__atomic_store_n(&ticket->met, 1, __ATOMIC_RELEASE);
	return ticket->set;
}

/* ---- deciding ---- */

static struct kernel *kernel_at(uint32_t id)
{
	struct kernel *block =
		id / KERNEL_BLOCK < KERNEL_BLOCKS
			? __atomic_load_n(&count.kernels[id / KERNEL_BLOCK], __ATOMIC_ACQUIRE)
			: NULL;

	return block ? &block[id % KERNEL_BLOCK] : NULL;
}

void ws_count_kernel(uint32_t id, const char *symbol)
{
	struct kernel **block = &count.kernels[id / KERNEL_BLOCK % KERNEL_BLOCKS];

	if (!count.loaded || id / KERNEL_BLOCK >= KERNEL_BLOCKS)
		return;
	/* Callers hold the lock of the code objects: one at a time. */
	if (!*block)
		__atomic_store_n(block, ws_pages(KERNEL_BLOCK * sizeof(**block)), __ATOMIC_RELEASE);
	if (*block)
		__atomic_store_n(&(*block)[id % KERNEL_BLOCK].included,
				 ws_count_includes(&count.request, symbol), __ATOMIC_RELEASE);
}

static bool in_ranges(const struct ws_count_range *ranges, size_t n, uint64_t number)
{
	for (size_t i = 0; i < n; i++) {
		if (number >= ranges[i].first && number <= ranges[i].last)
			return true;
	}
	return n == 0;
}

static uint64_t hash_launch(const struct ws_count_launch *launch)
{
	const uint32_t words[] = {
		launch->agent,        launch->kernel,       launch->grid[0],
		launch->grid[1],      launch->grid[2],      launch->workgroup[0],
		launch->workgroup[1], launch->workgroup[2], launch->group_bytes
	};
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	return h ? h : 1;
}

/* The counter of launches like this one; NULL: more shapes than there is room for. */
static uint64_t *shape_counter(const struct ws_count_launch *launch)
{
	uint64_t h = hash_launch(launch);

	for (uint32_t i = 0; count.shapes && i < SHAPE_PROBES; i++) {
		struct shape *shape = &count.shapes[(h + i) % SHAPES];
		uint64_t there = __atomic_load_n(&shape->hash, __ATOMIC_RELAXED);

		if (there == 0 && __atomic_compare_exchange_n(&shape->hash, &there, h, false,
							      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return &shape->n_counted;
		if (there == h)
			return &shape->n_counted;
	}
	return NULL;
}

/* Which count of launches decides about the next set. */
static uint64_t *turn_counter(struct gpu *gpu, struct kernel *kernel,
			      const struct ws_count_launch *launch)
{
	uint64_t *counter = NULL;

	if (count.request.per == WS_COUNT_PER_LAUNCH)
		counter = shape_counter(launch);
	if (!counter && count.request.per != WS_COUNT_PER_GPU)
		counter = &kernel->n_counted;
	return counter ? counter : &gpu->n_counted;
}

void ws_count_decide(struct ws_count_ticket *ticket, const struct ws_count_launch *launch)
{
	struct kernel *kernel = kernel_at(launch->kernel);
	uint64_t interval = count.request.interval;
	uint64_t number = __atomic_add_fetch(&count.n_dispatches, 1, __ATOMIC_RELAXED), nth;
	struct gpu *gpu = NULL;

	*ticket = (struct ws_count_ticket){ .set = WS_COUNT_NOTHING };
	for (uint32_t i = 0; i < count.n_gpus && !gpu; i++) {
		if (count.gpus[i].agent == launch->agent) {
			gpu = &count.gpus[i];
			ticket->gpu = i;
		}
	}
	if (!kernel || !__atomic_load_n(&kernel->included, __ATOMIC_ACQUIRE))
		return;
	nth = __atomic_add_fetch(&kernel->n_launched, 1, __ATOMIC_RELAXED);
	if (!gpu || !gpu->asked || !gpu->asked->n_sets ||
	    !in_ranges(count.request.ranges, count.request.n_ranges, nth) ||
	    !in_ranges(count.request.numbers, count.request.n_numbers, number))
		return;
	if (count.request.mode == WS_COUNT_ROTATE)
		ticket->set = (uint32_t)(__atomic_fetch_add(turn_counter(gpu, kernel, launch), 1,
							    __ATOMIC_RELAXED) /
					 (interval ? interval : 1) % gpu->asked->n_sets);
	else if (count.request.mode == WS_COUNT_REPLAY && gpu->asked->n_sets > 1)
		ticket->set = WS_SOFTGPU_REPLAY;
	else
		ticket->set = 0;
}

/* ---- reading ---- */

/* The service keeps results until it is told that all up to one were read. */
static void mark_read(struct gpu *gpu, uint64_t sequence)
{
	uint64_t before = gpu->n_read;

	if (sequence <= gpu->n_read)
		return;
	if (sequence - gpu->n_read >= SEEN_WINDOW) {
		/* One was never read, its queue is gone: the service has dropped it by now. */
		memset(gpu->seen, 0, SEEN_WINDOW);
		gpu->n_read = sequence - 1;
	}
	gpu->seen[sequence % SEEN_WINDOW] = 1;
	while (gpu->seen[(gpu->n_read + 1) % SEEN_WINDOW])
		gpu->seen[++gpu->n_read % SEEN_WINDOW] = 0;
	if (gpu->n_read != before)
		count.service.drop(gpu->node, gpu->n_read);
}

static uint32_t n_cells(const struct ws_softgpu_result *result)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < result->n_values; i++)
		n += result->values[i].n_values;
	return n;
}

static void fill_values(const struct gpu *gpu, uint32_t first,
			const struct ws_softgpu_result *result, struct ws_counter_value *to)
{
	uint32_t n_ids = gpu->first_of_set[gpu->asked->n_sets];

	for (uint32_t i = 0; i < result->n_values; i++) {
		const struct ws_softgpu_value *value = &result->values[i];

		for (uint32_t k = 0; k < value->n_values; k++)
			*to++ = (struct ws_counter_value){
				.counter = first + i < n_ids ? gpu->ids[first + i] : 0,
				.instance = k,
				.value = (double)value->values[k],
			};
	}
}

static bool write_result(const struct ws_count_ticket *ticket, const struct gpu *gpu,
			 const struct ws_rec_dispatch *dispatch,
			 const struct ws_softgpu_result *result)
{
	struct ws_thread *t = ws_thread();
	struct ws_lane *lane = t ? ws_thread_lane(t) : NULL;
	uint32_t n = n_cells(result);
	uint64_t n_bytes = sizeof(*dispatch) + (uint64_t)n * sizeof(struct ws_counter_value);
	struct ws_rec_dispatch *rec = NULL;
	struct ws_rec_counted *how = NULL;

	if (lane && n_bytes <= WS_REC_BYTES_MAX)
		rec = ws_lane_reserve(&lane, (uint32_t)n_bytes);
	if (!rec)
		return false;
	*rec = *dispatch;
	rec->n_values = n;
	fill_values(gpu, ticket->set == WS_SOFTGPU_REPLAY ? 0 : gpu->first_of_set[ticket->set],
		    result, (struct ws_counter_value *)(rec + 1));
	ws_lane_commit(lane, &rec->h, WS_REC_TAG(WS_REC_DISPATCH, n_bytes));
	lane = ws_thread_lane(t);
	how = ws_lane_reserve(&lane, sizeof(*how));
	if (how) {
		how->h.what = dispatch->agent;
		how->h.time = dispatch->h.time;
		how->dispatch_id = dispatch->dispatch_id;
		how->sampled = result->sampled;
		how->set = ticket->set;
		how->n_executed = result->n_runs;
		how->saved_bytes = result->saved_bytes;
		how->replay_ns = result->replay_host_ns;
		how->cycles = result->cycles;
		how->clock_mhz = result->clock_mhz;
		ws_lane_commit(lane, &how->h, WS_REC_FIXED_TAG(COUNTED, struct ws_rec_counted));
	}
	return true;
}

bool ws_count_write(const struct ws_count_ticket *ticket, const struct ws_rec_dispatch *dispatch)
{
	struct gpu *gpu = &count.gpus[ticket->gpu];
	struct ws_softgpu_result result;
	bool done = false;
	struct ws_writer *writer;

	if (ticket->set == WS_COUNT_NOTHING)
		return false;
	if (__atomic_load_n(&ticket->met, __ATOMIC_ACQUIRE)) {
		ws_lock(&count.reading);
		if (count.service.result(gpu->node, ticket->queue, ticket->packet, &result) == 0) {
			done = write_result(ticket, gpu, dispatch, &result);
			ws_samples_write(gpu->node, &result, dispatch);
			mark_read(gpu, result.sequence);
		}
		ws_unlock(&count.reading);
	}
	writer = done ? NULL : ws_capture_now();
	if (writer && ws_asked(WS_SERVICE_COUNTERS))
		ws_writer_count(writer, WS_DOMAIN_COUNTER_COLLECTION, WS_LEDGER_FAILED, 1);
	return done;
}

/* ---- setting up ---- */

static bool find_service(void)
{
	void *library = dlopen("libhsakmt.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (!library)
		return false;
#define FIND(field, name) *(void **)&count.service.field = dlvsym(library, name, "WAVESCOPE_1")
	FIND(counters, "ws_softgpu_counters");
	FIND(sets, "ws_softgpu_count_sets");
	FIND(result, "ws_softgpu_result");
	FIND(drop, "ws_softgpu_drop");
	ws_samples_find(library);
#undef FIND
	dlclose(library); /* ROCr has it open */
	return count.service.counters && count.service.sets && count.service.result &&
	       count.service.drop;
}

static const struct ws_count_gpu *asked_of(uint32_t gpu_index)
{
	const struct ws_count_gpu *every = NULL;

	for (size_t i = 0; i < count.request.n_gpus; i++) {
		const struct ws_count_gpu *asked = &count.request.gpus[i];

		if (asked->gpu == gpu_index)
			return asked;
		if (asked->gpu == WS_COUNT_EVERY_GPU)
			every = asked;
	}
	return every;
}

static void note(uint32_t gpu_index, const char *why)
{
	char text[512];

	snprintf(text, sizeof(text), "counters: GPU %u counts nothing: %s", gpu_index, why);
	ws_note(text);
}

static bool set_up(struct gpu *gpu, uint32_t gpu_index)
{
	const struct ws_count_gpu *asked = gpu->asked;
	char error[256] = "";
	struct ws_softgpu_set *sets;
	int status;

	gpu->seen = ws_pages(SEEN_WINDOW);
	sets = ws_pages((asked->n_sets + 1) * sizeof(*sets));
	if (!sets || !gpu->seen ||
	    !ws_count_facts(gpu->node, count.service.counters, asked, &gpu->ids, &gpu->first_of_set,
			    &gpu->facts, &gpu->n_facts)) {
		note(gpu_index, "no memory");
		return false;
	}
	for (size_t i = 0; i < asked->n_sets; i++)
		sets[i] = (struct ws_softgpu_set){ asked->sets[i].names, asked->sets[i].n };
	status = count.service.sets(gpu->node, sets, asked->n_sets, choose, gpu, error,
				    sizeof(error));
	ws_pages_free(sets, (asked->n_sets + 1) * sizeof(*sets));
	if (status)
		note(gpu_index, *error ? error : "its service refused");
	return status == 0;
}

static char *read_request(size_t *out_bytes)
{
	char path[PATH_MAX + sizeof(WS_COUNT_REQUEST_NAME) + 1], *text;
	size_t n = 0, n_dir = strlen(ws_config()->dir);
	ssize_t got = 1;
	int fd;

	memcpy(path, ws_config()->dir, n_dir);
	path[n_dir] = '/';
	memcpy(path + n_dir + 1, WS_COUNT_REQUEST_NAME, sizeof(WS_COUNT_REQUEST_NAME));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	text = ws_pages(WS_COUNT_TEXT_MAX);
	while (text && got > 0 && n < WS_COUNT_TEXT_MAX - 1) {
		got = read(fd, text + n, WS_COUNT_TEXT_MAX - 1 - n);
		n += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	*out_bytes = n;
	return text;
}

static bool take_request(void)
{
	static struct ws_count_room *room;
	size_t n_bytes = 0;
	char *text, wrong[160];

	room = ws_pages(sizeof(*room));
	text = room ? read_request(&n_bytes) : NULL;
	if (!text) {
		ws_note("counters: there is no request in the folder of the captures");
		return false;
	}
	if (ws_count_request_parse(text, room, &count.request))
		return ws_count_patterns(&count.request);
	snprintf(wrong, sizeof(wrong), "counters: the request cannot be read: %s",
		 count.request.wrong);
	ws_note(wrong);
	return false;
}

void ws_count_load(void)
{
	struct ws_writer *writer = ws_capture();
	uint32_t agent;

	if (!ws_counting())
		return;
	if (!count.loaded) {
		count.expected = ws_pages(TICKETS * sizeof(*count.expected));
		if (!count.expected || !take_request())
			return;
		if (count.request.per == WS_COUNT_PER_LAUNCH)
			count.shapes = ws_pages(SHAPES * sizeof(*count.shapes));
		count.loaded = true;
		ws_count_kernel(0, "0"); /* one whose name nobody told us */
	}
	if (!find_service()) {
		ws_note("counters: this GPU's driver library offers none to wavescope (the "
			"software "
			"GPU does): the program runs, and nothing is counted");
		return;
	}
	for (uint32_t i = 0; (agent = ws_agent_by_gpu(i)) != 0 && i < WS_COUNT_GPUS_MAX; i++) {
		struct gpu *gpu = &count.gpus[i];

		/* After another hsa_init() it is the same GPU. */
		gpu->agent = 0;
		gpu->node = ws_agent_node(agent);
		/* The software GPU's nodes follow the host's, which is node 0. */
		gpu->asked = asked_of(gpu->node - 1);
		if (gpu->asked && gpu->asked->n_sets && set_up(gpu, gpu->node - 1)) {
			gpu->agent = agent;
			ws_samples_start(gpu->node, agent);
		}
		if (i >= count.n_gpus)
			__atomic_store_n(&count.n_gpus, i + 1, __ATOMIC_RELEASE);
	}
	if (writer)
		ws_count_state(writer);
}

void ws_count_state(struct ws_writer *writer)
{
	for (uint32_t i = 0; i < count.n_gpus; i++) {
		if (count.gpus[i].agent)
			ws_count_write_facts(writer, count.gpus[i].agent, count.gpus[i].facts,
					     count.gpus[i].n_facts);
	}
}

void ws_count_forked(void)
{
	count.reading = (struct ws_lock){ 0 };
	if (count.expected)
		memset(count.expected, 0, TICKETS * sizeof(*count.expected));
	count.n_dispatches = 0; /* of this process */
}
