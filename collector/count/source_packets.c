/*
 * source_packets: counting by packets of AMD's aqlprofile.
 *
 * For every set of a GPU there is one program: packets that start, read and stop its counters, and a buffer that
 * they write to. Dispatches are counted one at a time on a GPU, and the next one is not started before the values
 * of the last were taken (hsa/turns.c), so one program per set is enough.
 *
 * Every program also counts COL_COUNT_WITNESS, if its block has a counter left. That counts clock cycles: if it
 * is 0 after a kernel, the counters were not on, and their zeros are not values.
 */
#include "collector/collector_priv.h"
#include "collector/count/aqlprofile.h"
#include "collector/count/count_priv.h"
#include "collector/count/gpu_lock.h"
#include "collector/count/source.h"
#include "collector/hsa/own_queue.h"
#include "collector/hsa/packet_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX 8192u /* of a set, one per instance */
#define WITNESS_LIMIT 2u /* counters of its block */
#define NO_SLOT UINT32_MAX

enum form { EACH, SUM, ONE };

/* The values of one event on all instances of its block. */
struct slot {
	const struct col_count_event *event;
	uint64_t *values;
	uint32_t n_values;
	uint32_t first; /* of the program's events, one per instance */
};

struct item {
	uint32_t slot;
	enum form form;
	uint32_t instance;
};

struct set {
	struct col_aql_program *program;
	uint32_t *slot_of; /* by number of the program's event */
	struct slot *slots;
	uint32_t n_slots, n_events, witness; /* witness: a slot, or NO_SLOT */
	struct item *items;
	struct softgpu_value *values;
	uint64_t *sums; /* one per item */
	bool read;      /* the values are those of the dispatch that is being replayed */
};

static struct {
	struct set *sets[COL_COUNT_GPUS_MAX]; /* acquire/release */
	uint32_t n_sets[COL_COUNT_GPUS_MAX];
	struct softgpu_value *all[COL_COUNT_GPUS_MAX]; /* of all sets, one after the other */
	struct col_count_replay replays[COL_COUNT_GPUS_MAX];
	struct col_count_block *memory;
	bool told;
	bool claimed[COL_COUNT_GPUS_MAX]; /* tried */
	/* over time */
	struct col_own_queue *queues[COL_COUNT_GPUS_MAX];
	int kfd; /* 0: not opened */
} packets;

static bool ends(const char *name, size_t n, const char *with)
{
	size_t n_with = strlen(with);

	return n > n_with && memcmp(name + n - n_with, with, n_with) == 0;
}

static bool find(const char **out_why)
{
	const char *text = getenv("WAVESCOPE_COUNTERS");

	return col_aql_find(text && ends(text, strlen(text), "-1"), out_why);
}

/* Hardware counts exactly. What the software GPU counts is as good by packets as by its service. */
static enum softgpu_fidelity fidelity_of(const struct softgpu_counter *listed, size_t n,
					 const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(listed[i].name, name) == 0)
			return listed[i].fidelity;
	}
	return SOFTGPU_EXACT;
}

#define LISTED_MAX 2048u
static size_t counters(const struct col_count_target *target, struct softgpu_counter *out,
		       size_t room)
{
	const struct col_count_gpu *asked = target->asked;
	struct softgpu_counter *listed = col_pages(LISTED_MAX * sizeof(*listed));
	const char *why;
	size_t n_listed = 0;

	if (listed && col_count_service.find(&why))
		n_listed = WS_MIN(col_count_service.counters(target, listed, LISTED_MAX),
				  (size_t)LISTED_MAX);
	for (size_t i = 0; i < asked->n_events && i < room; i++) {
		const struct col_count_event *event = &asked->events[i];

		out[i] = (struct softgpu_counter){
			.name = event->name,
			.block = event->block,
			.text = "",
			.fidelity = fidelity_of(listed, n_listed, event->name),
			.n_instances = event->n_dies * event->n_engines * event->n_instances,
			.instance = "",
		};
	}
	col_pages_free(listed, LISTED_MAX * sizeof(*listed));
	return asked->n_events;
}

/* ---- from names to events ---- */

static const struct col_count_event *find_event(const struct col_count_gpu *asked, const char *name,
						size_t n)
{
	for (size_t i = 0; i < asked->n_events; i++) {
		if (strlen(asked->events[i].name) == n &&
		    memcmp(asked->events[i].name, name, n) == 0)
			return &asked->events[i];
	}
	return NULL;
}

struct building {
	struct set *set;
	struct col_aql_event *events; /* EVENTS_MAX */
	char *error;
	size_t n_error;
};

/* The event on every instance of its block; returns its slot, or NO_SLOT. */
static uint32_t add_slot(struct building *b, const struct col_count_event *event)
{
	struct set *set = b->set;
	uint32_t block = event ? col_aql_block(event->block) : UINT32_MAX;
	uint32_t n_values = event ? event->n_dies * event->n_engines * event->n_instances : 0;
	struct slot *slot = &set->slots[set->n_slots];

	if (block == UINT32_MAX || set->n_events + event->n_instances > EVENTS_MAX)
		return NO_SLOT;
	*slot = (struct slot){ event, col_count_pages(&packets.memory, n_values * sizeof(uint64_t)),
			       n_values, set->n_events };
	if (!slot->values)
		return NO_SLOT;
	for (uint32_t i = 0; i < event->n_instances; i++) {
		set->slot_of[set->n_events] = set->n_slots;
		b->events[set->n_events++] =
			(struct col_aql_event){ .block = block,
						.instance = i,
						.number = event->number,
						.n_engines = event->n_engines };
	}
	return set->n_slots++;
}

/* The event is counted for another name of the set already. */
static uint32_t known_slot(const struct set *set, const struct col_count_event *event)
{
	for (uint32_t i = 0; i < set->n_slots; i++) {
		if (set->slots[i].event == event)
			return i;
	}
	return NO_SLOT;
}

/* An accumulation is of the counter selected just before it in the block. */
static uint32_t add_accumulation(struct building *b, const struct col_count_gpu *asked,
				 const struct col_count_event *level)
{
	const struct col_count_event *accumulate =
		find_event(asked, COL_COUNT_ACCUMULATE, strlen(COL_COUNT_ACCUMULATE));
	const struct set *set = b->set;
	bool follows = set->n_slots && set->slots[set->n_slots - 1].event == level;

	if (!level || !accumulate || (!follows && add_slot(b, level) == NO_SLOT))
		return NO_SLOT;
	return add_slot(b, accumulate);
}

static bool add_name(struct building *b, const struct col_count_gpu *asked, const char *name,
		     struct item *out)
{
	size_t n = strcspn(name, "[");
	const struct col_count_event *event = find_event(asked, name, n);
	enum form form = name[n] ? ONE : EACH;
	uint32_t slot;

	if (!event && ends(name, n, "_ACCUM")) {
		slot = add_accumulation(b, asked, find_event(asked, name, n - strlen("_ACCUM")));
		form = SUM;
	} else {
		if (!event && ends(name, n, "_sum")) {
			event = find_event(asked, name, n - strlen("_sum"));
			form = SUM;
		}
		slot = event ? known_slot(b->set, event) : NO_SLOT;
		if (slot == NO_SLOT)
			slot = add_slot(b, event);
	}
	*out = (struct item){ slot, form, name[n] ? (uint32_t)strtoul(name + n + 1, NULL, 10) : 0 };
	if (slot != NO_SLOT && (form != ONE || out->instance < b->set->slots[slot].n_values))
		return true;
	snprintf(b->error, b->n_error, "counter '%s' has no hardware event that aqlprofile counts",
		 name);
	return false;
}

static void add_witness(struct building *b, const struct col_count_gpu *asked)
{
	const struct col_count_event *event =
		find_event(asked, COL_COUNT_WITNESS, strlen(COL_COUNT_WITNESS));
	struct set *set = b->set;
	uint32_t n_used = 0;

	set->witness = NO_SLOT;
	if (!event)
		return;
	for (uint32_t i = 0; i < set->n_slots; i++)
		n_used += strcmp(set->slots[i].event->block, event->block) == 0;
	set->witness = known_slot(set, event);
	if (set->witness == NO_SLOT && n_used < WITNESS_LIMIT)
		set->witness = add_slot(b, event);
}

static bool make_set(struct building *b, const struct col_aql_agent *agent,
		     const struct col_count_gpu *asked, const struct col_count_set *names)
{
	struct set *set = b->set;
	const char *why;

	snprintf(b->error, b->n_error, "no memory");
	set->slot_of = col_count_pages(&packets.memory, EVENTS_MAX * sizeof(*set->slot_of));
	set->slots = col_count_pages(&packets.memory, (2 * names->n + 1) * sizeof(*set->slots));
	set->items = col_count_pages(&packets.memory, (names->n + 1) * sizeof(*set->items));
	set->values = col_count_pages(&packets.memory, (names->n + 1) * sizeof(*set->values));
	set->sums = col_count_pages(&packets.memory, (names->n + 1) * sizeof(*set->sums));
	if (!set->slot_of || !set->slots || !set->items || !set->values || !set->sums)
		return false;
	for (size_t i = 0; i < names->n; i++) {
		if (!add_name(b, asked, names->names[i], &set->items[i]))
			return false;
		set->values[i].name = names->names[i];
	}
	add_witness(b, asked);
	set->program = col_aql_create(agent, b->events, set->n_events, &why);
	if (!set->program)
		snprintf(b->error, b->n_error, "%s", why);
	return set->program != NULL;
}

/* A software GPU is its process's own. */
static void claim_gpu(const struct col_count_target *target)
{
	const struct cap_rec_agent *facts = col_agent_facts(col_agent_by_gpu(target->gpu));
	char text[200];
	const char *why;

	if (packets.claimed[target->gpu] || col_count_service.find(&why))
		return;
	packets.claimed[target->gpu] = true;
	if (col_gpu_claim(facts->domain, facts->location_id))
		return;
	snprintf(text, sizeof(text),
		 "counters: another process counts kernels of GPU %u at the same time: values of "
		 "both may be wrong: profile one at a time",
		 target->gpu);
	col_note(text);
}

static bool start(const struct col_count_target *target, char *error, size_t n_error)
{
	const struct col_count_gpu *asked = target->asked;
	struct col_aql_agent agent;
	struct set *sets = col_count_pages(&packets.memory, asked->n_sets * sizeof(*sets));
	struct building b = { .error = error, .n_error = n_error };
	size_t n_names = 0;

	snprintf(error, n_error, "no memory");
	b.events = col_pages(EVENTS_MAX * sizeof(*b.events));
	if (!sets || !b.events)
		return false;
	if (!col_packet_agent(col_agent_by_gpu(target->gpu), &agent)) {
		snprintf(error, n_error, "this runtime has no memory that packets can write to");
		return false;
	}
	for (size_t i = 0; i < asked->n_sets; i++) {
		b.set = &sets[i];
		if (!make_set(&b, &agent, asked, &asked->sets[i])) {
			col_pages_free(b.events, EVENTS_MAX * sizeof(*b.events));
			return false;
		}
	}
	col_pages_free(b.events, EVENTS_MAX * sizeof(*b.events));
	for (size_t i = 0; i < asked->n_sets; i++)
		n_names += asked->sets[i].n;
	packets.all[target->gpu] =
		col_count_pages(&packets.memory, (n_names + 1) * sizeof(*packets.all[0]));
	if (!packets.all[target->gpu])
		return false;
	claim_gpu(target);
	packets.n_sets[target->gpu] = (uint32_t)asked->n_sets;
	__atomic_store_n(&packets.sets[target->gpu], sets, __ATOMIC_RELEASE);
	return true;
}

/* Its packets may be in queues still, so its memory stays. */
static void stop(const struct col_count_target *target)
{
	__atomic_store_n(&packets.sets[target->gpu], NULL, __ATOMIC_RELEASE);
}

static struct set *set_at(uint32_t gpu, uint32_t set)
{
	struct set *sets = gpu < COL_COUNT_GPUS_MAX
				   ? __atomic_load_n(&packets.sets[gpu], __ATOMIC_ACQUIRE)
				   : NULL;

	return sets && set < packets.n_sets[gpu] ? &sets[set] : NULL;
}

struct col_aql_program *col_count_program(uint32_t gpu, uint32_t set)
{
	struct set *at = set_at(gpu, set);

	return at ? at->program : NULL;
}

/* ---- values ---- */

static void keep_value(void *ctx, uint32_t event, uint32_t die, uint32_t engine, uint64_t value)
{
	struct set *set = ctx;
	struct slot *slot = &set->slots[set->slot_of[event]];
	uint32_t row = die * slot->event->n_engines + engine;

	slot->values[row * slot->event->n_instances + event - slot->first] = value;
}

static uint64_t sum_of(const struct slot *slot)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < slot->n_values; i++)
		sum += slot->values[i];
	return sum;
}

static void note_once(const char *text)
{
	if (!packets.told)
		col_note(text);
	packets.told = true;
}

/* The values of the set's first @n names, from those of its slots. */
static void fill_values(struct set *set, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct slot *slot = &set->slots[set->items[i].slot];
		struct softgpu_value *value = &set->values[i];

		set->sums[i] = set->items[i].form == SUM   ? sum_of(slot)
			       : set->items[i].form == ONE ? slot->values[set->items[i].instance]
							   : 0;
		value->n_values = set->items[i].form == EACH ? slot->n_values : 1;
		value->values = set->items[i].form == EACH ? slot->values : &set->sums[i];
	}
}

static void fill_result(struct set *set, uint32_t n, struct softgpu_result *out_result)
{
	fill_values(set, n);
	*out_result = (struct softgpu_result){
		.sampled = 1, .n_runs = 1, .n_values = n, .values = set->values
	};
}

/* The values of the set whose packets have ended. */
static bool read_set(struct set *set, uint32_t n)
{
	if (!col_aql_values(set->program, keep_value, set)) {
		note_once("counters: the GPU did not write the values of a kernel: it has none");
		return false;
	}
	if (set->witness != NO_SLOT && sum_of(&set->slots[set->witness]) == 0) {
		note_once("counters: a kernel ran and " COL_COUNT_WITNESS
			  " stayed 0: the counters of this GPU are not enabled, and its kernels "
			  "have no values: wavescope doctor says why");
		return false;
	}
	fill_values(set, n);
	return true;
}

static void pass(const struct col_count_target *target, const struct col_count_ticket *ticket)
{
	struct set *set = set_at(target->gpu, ticket->set);

	if (set)
		set->read = read_set(set, (uint32_t)target->asked->sets[ticket->set].n);
}

static void replay(const struct col_count_target *target, const struct col_count_replay *how)
{
	struct set *set;

	packets.replays[target->gpu] = how ? *how : (struct col_count_replay){ 0 };
	for (uint32_t i = 0; !how && (set = set_at(target->gpu, i)); i++)
		set->read = false;
}

/* Of all passes; a set that was not counted has names and no values. */
static bool take_all(const struct col_count_target *target, struct softgpu_result *out_result)
{
	const struct col_count_replay *how = &packets.replays[target->gpu];
	struct softgpu_value *all = packets.all[target->gpu];
	const struct set *set;
	uint32_t n = 0;
	bool any = false;

	for (uint32_t i = 0; (set = set_at(target->gpu, i)); i++) {
		for (size_t k = 0; k < target->asked->sets[i].n; k++) {
			all[n] = set->values[k];
			all[n++].n_values *= set->read;
		}
		any |= set->read;
	}
	*out_result = (struct softgpu_result){ .sampled = 1,
					       .set = COL_COUNT_REPLAYED,
					       .n_runs = how->n_runs,
					       .saved_bytes = how->saved_bytes,
					       .replay_host_ns = how->replay_ns,
					       .n_values = n,
					       .values = all };
	return any;
}

static bool take(const struct col_count_target *target, const struct col_count_ticket *ticket,
		 struct softgpu_result *out_result)
{
	struct set *set = set_at(target->gpu, ticket->set);
	uint32_t n;

	if (ticket->set == COL_COUNT_REPLAYED)
		return take_all(target, out_result);
	if (!set)
		return false;
	n = (uint32_t)target->asked->sets[ticket->set].n;
	if (!read_set(set, n))
		return false;
	*out_result = (struct softgpu_result){
		.sampled = 1, .set = ticket->set, .n_runs = 1, .n_values = n, .values = set->values
	};
	return true;
}

/* ---- over time ---- */

#define PACKET_NS 2000000000ull /* limit of the wait for one */

/*
 * The driver's lock, for the queues of all processes (gpu_lock.h). Without it, SQ counts only queues in which packets have
 * enabled it; the launcher has refused counters of SQ then. Another profiler is a reason not to begin.
 */
static bool lock_gpu(const struct col_count_target *target, char *error, size_t n_error)
{
	uint32_t gpu_id = col_agent_facts(col_agent_by_gpu(target->gpu))->gpu_id;
	struct col_gpu_lock_way way;
	int status;

	if (packets.kfd <= 0)
		packets.kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (packets.kfd <= 0 || !col_gpu_lock_find(packets.kfd, &way))
		return true;
	status = col_gpu_lock_set(packets.kfd, &way, gpu_id, true);
	snprintf(error, n_error,
		 "another process has its counters: wait until it has ended, or stop it");
	return status != EBUSY;
}

static void unlock_gpu(const struct col_count_target *target)
{
	struct col_gpu_lock_way way;

	if (packets.kfd > 0 && col_gpu_lock_find(packets.kfd, &way))
		col_gpu_lock_set(packets.kfd, &way,
				 col_agent_facts(col_agent_by_gpu(target->gpu))->gpu_id, false);
}

static bool run_step(const struct col_count_target *target, enum col_aql_step step)
{
	struct set *set = set_at(target->gpu, 0);
	struct col_own_queue *queue = packets.queues[target->gpu];

	if (!set || !queue)
		return false;
	col_own_queue_put_step(queue, col_aql_packets(set->program), step,
			       col_own_queue_end(queue));
	return col_own_queue_wait(queue, NULL, PACKET_NS) == COL_OWN_ENDED;
}

static bool open_gpu(const struct col_count_target *target, char *error, size_t n_error)
{
	if (!lock_gpu(target, error, n_error) || !start(target, error, n_error))
		return false;
	snprintf(error, n_error,
		 "this version of aqlprofile has no packet that reads counters "
		 "while they count");
	if (!col_aql_packets(set_at(target->gpu, 0)->program)->has_read)
		return false;
	snprintf(error, n_error, "a queue for its packets could not be created");
	packets.queues[target->gpu] = col_own_queue_create(col_agent_by_gpu(target->gpu), NULL);
	if (!packets.queues[target->gpu])
		return false;
	snprintf(error, n_error, "its packets do not end");
	return run_step(target, COL_AQL_START);
}

static bool shape_gpu(const struct col_count_target *target, struct softgpu_result *out_result)
{
	fill_result(set_at(target->gpu, 0), (uint32_t)target->asked->sets[0].n, out_result);
	return true;
}

/* Until the witness counts, zeros are not values. The software GPU's stands still before the first kernel. */
static enum col_count_reading read_gpu(const struct col_count_target *target,
				       struct softgpu_result *out_result)
{
	struct set *set = set_at(target->gpu, 0);
	const char *why;

	col_aql_clear(set->program);
	if (!run_step(target, COL_AQL_READ))
		return COL_COUNT_STUCK;
	if (!col_aql_values(set->program, keep_value, set)) {
		note_once("counters: the GPU did not write the values of an interval: it has none");
		return COL_COUNT_UNREAD;
	}
	if (set->witness != NO_SLOT && sum_of(&set->slots[set->witness]) == 0) {
		if (!col_count_service.find(&why))
			note_once("counters: " COL_COUNT_WITNESS
				  " stayed 0: the counters of this GPU are not enabled, and "
				  "intervals have no values: wavescope doctor says why");
		return COL_COUNT_UNREAD;
	}
	fill_result(set, (uint32_t)target->asked->sets[0].n, out_result);
	return COL_COUNT_READ;
}

static void close_gpu(const struct col_count_target *target)
{
	if (run_step(target, COL_AQL_STOP))
		col_own_queue_destroy(packets.queues[target->gpu]);
	packets.queues[target->gpu] = NULL;
	unlock_gpu(target);
	stop(target);
}

const struct col_count_source col_count_packets = {
	.by_packets = true,
	.find = find,
	.counters = counters,
	.start = start,
	.stop = stop,
	.take = take,
	.pass = pass,
	.replay = replay,
	.open = open_gpu,
	.shape = shape_gpu,
	.read = read_gpu,
	.close = close_gpu,
};
