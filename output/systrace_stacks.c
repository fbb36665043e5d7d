/*
 * Samples as Perfetto's own profiler writes them (PerfSample), for the viewer's flame graphs.
 *
 * A call stack is a list of frames, a frame a function at an address of a mapping. All of
 * them are interned: a call stack costs its bytes once, a sample a few bytes.
 */
#include "output/systrace_priv.h"

#include <stdio.h>

/* Field numbers of perfetto/trace/profiling. */
enum {
	PACKET_PERF_SAMPLE = 66,
	DEFAULTS_PERF_SAMPLE = 12,
	SAMPLE_DEFAULTS_TIMEBASE = 1,
	TIMEBASE_PERIOD = 1,
	TIMEBASE_FREQUENCY = 2,
	TIMEBASE_COUNTER = 4,
	TIMEBASE_NAME = 10,
	COUNTER_SW_CPU_CLOCK = 1,
	SAMPLE_CPU = 1,
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_STACK = 4,
	SAMPLE_MODE = 5,
	SAMPLE_COUNT = 6,
	MODE_USER = 2,
	INTERNED_FUNCTIONS = 5,
	INTERNED_FRAMES = 6,
	INTERNED_STACKS = 7,
	INTERNED_PATHS = 17,
	INTERNED_SOURCES = 18,
	INTERNED_MAPPINGS = 19,
	MAPPING_PATHS = 7,
	FRAME_FUNCTION = 2,
	FRAME_MAPPING = 3,
	FRAME_OFFSET = 4,
	FRAME_SOURCE = 5,
	FRAME_LINE = 6,
	STACK_FRAMES = 2,
};

#define FRAMES_MAX 2048u /* of a call stack: as many as fit into a packet */

static const char *const sampler_names[CAP_SAMPLER_COUNT] = { "cpu-time", "real-time", "" };

/* What makes samples be taken; of several kinds, the first that takes one. */
static void put_properties(struct output_sys *sys, enum cap_sampler kind)
{
	const struct trc_sampler *sampler = &sys->process->samplers[kind];
	bool timer = kind != CAP_SAMPLER_OVERFLOW;
	const char *name = timer ? sampler_names[kind] : sampler->event;
	char *packet, *defaults, *sample, *timebase;
	char *p = output_pf_begin(&sys->file, 512, &packet);

	p = output_pb_begin(p, PACKET_DEFAULTS, &defaults);
	p = output_pb_u64(p, PACKET_CLOCK, CLOCK_BOOT);
	p = output_pb_begin(p, DEFAULTS_PERF_SAMPLE, &sample);
	p = output_pb_begin(p, SAMPLE_DEFAULTS_TIMEBASE, &timebase);
	if (!timer)
		p = output_pb_u64(p, TIMEBASE_PERIOD, sampler->period);
	else if (sampler->period)
		p = output_pb_u64(p, TIMEBASE_FREQUENCY, 1000000000u / sampler->period);
	p = output_pb_u64(p, TIMEBASE_COUNTER, COUNTER_SW_CPU_CLOCK);
	p = output_pb_text(p, TIMEBASE_NAME, name, strnlen(name, 128));
	output_pb_end(p, timebase);
	output_pb_end(p, sample);
	output_pb_end(p, defaults);
	output_pf_end(&sys->file, p, packet);
	sys->sampling = true;
}

/* ---- interning ---- */

/* The place of a new entry in @map, from 1; 0: no memory. */
static uint64_t add_number(struct ws_map *map, uint64_t key)
{
	uint64_t iid = map->n + 1;

	return ws_map_put_u64(map, key, (void *)(uintptr_t)iid, NULL) ? 0 : iid;
}

static uint64_t find_number(const struct ws_map *map, uint64_t key)
{
	return (uintptr_t)ws_map_get_u64(map, key);
}

static uint64_t intern_text(struct output_sys *sys, struct ws_map *map, unsigned what,
			    const char *text)
{
	struct ws_str key = { text, output_pf_name_bytes(text) };
	struct ws_map_entry *entry = ws_map_find(map, key);
	uint64_t iid = map->n + 1;

	if (entry)
		return (uintptr_t)entry->value;
	/* borrowed: frames live longer than the file is written */
	if (ws_map_put(map, key, (void *)(uintptr_t)iid, NULL))
		return 0;
	output_pf_put_interned(&sys->file, what, iid, text);
	return iid;
}

static uint64_t intern_mapping(struct output_sys *sys, const char *path)
{
	uint64_t path_iid = intern_text(sys, &sys->paths, INTERNED_PATHS, path);
	uint64_t iid = find_number(&sys->mappings, path_iid);
	char *packet, *data, *entry, *p;

	if (iid || !path_iid)
		return iid;
	iid = add_number(&sys->mappings, path_iid);
	p = output_pf_begin(&sys->file, 64, &packet);
	p = output_pb_begin(p, PACKET_INTERNED, &data);
	p = output_pb_begin(p, INTERNED_MAPPINGS, &entry);
	p = output_pb_u64(p, INTERNED_IID, iid);
	p = output_pb_u64(p, MAPPING_PATHS, path_iid);
	output_pb_end(p, entry);
	output_pb_end(p, data);
	output_pf_end(&sys->file, p, packet);
	return iid;
}

static uint64_t intern_frame(struct output_sys *sys, const struct prof_frame *frame)
{
	struct {
		uint64_t function, mapping, source, offset, line;
	} key = {
		.function = intern_text(sys, &sys->functions, INTERNED_FUNCTIONS, frame->name),
		.mapping = intern_mapping(sys, *frame->module  ? frame->module
					       : frame->python ? "[python]"
							       : "[unknown]"),
		.source = *frame->file
				  ? intern_text(sys, &sys->sources, INTERNED_SOURCES, frame->file)
				  : 0,
		.offset = frame->offset,
		.line = frame->line,
	};
	uint64_t hash = ws_hash_bytes(&key, sizeof(key));
	uint64_t iid = find_number(&sys->frames, hash);
	char *packet, *data, *entry, *p;

	if (iid || !key.function || !key.mapping)
		return iid;
	iid = add_number(&sys->frames, hash);
	p = output_pf_begin(&sys->file, 128, &packet);
	p = output_pb_begin(p, PACKET_INTERNED, &data);
	p = output_pb_begin(p, INTERNED_FRAMES, &entry);
	p = output_pb_u64(p, INTERNED_IID, iid);
	p = output_pb_u64(p, FRAME_FUNCTION, key.function);
	p = output_pb_u64(p, FRAME_MAPPING, key.mapping);
	p = output_pb_u64(p, FRAME_OFFSET, key.offset);
	if (key.source)
		p = output_pb_u64(p, FRAME_SOURCE, key.source);
	if (key.line)
		p = output_pb_u64(p, FRAME_LINE, key.line);
	output_pb_end(p, entry);
	output_pb_end(p, data);
	output_pf_end(&sys->file, p, packet);
	return iid;
}

/* The iid is the number of the recorded stack, which is from 1, too. */
static bool intern_stack(struct output_sys *sys, uint32_t id, const struct prof_frame *stack,
			 size_t n)
{
	char *packet, *data, *entry, *p;

	if (ws_map_find_u64(&sys->stacks, id))
		return true;
	n = WS_MIN(n, FRAMES_MAX);
	for (size_t i = 0; i < n; i++)
		if (!intern_frame(sys, &stack[i]))
			return false;
	if (!add_number(&sys->stacks, id))
		return false;
	p = output_pf_begin(&sys->file, n * 6 + 64, &packet);
	p = output_pb_begin(p, PACKET_INTERNED, &data);
	p = output_pb_begin(p, INTERNED_STACKS, &entry);
	p = output_pb_u64(p, INTERNED_IID, id);
	for (size_t i = 0; i < n; i++)
		p = output_pb_u64(p, STACK_FRAMES, intern_frame(sys, &stack[i]));
	output_pb_end(p, entry);
	output_pb_end(p, data);
	output_pf_end(&sys->file, p, packet);
	return true;
}

/* ---- samples ---- */

enum ws_status output_sys_put_stack(struct output_sys *sys, const struct trc_event *ev,
				    const struct prof_frame *stack, size_t n)
{
	const struct cap_rec_sample *info = ev->stack.info;
	char *packet, *sample, *p;

	if (!sys->sampling)
		put_properties(sys, info->sampler);
	if (!info->h.what || !intern_stack(sys, info->h.what, stack, n))
		return output_sys_no_memory(sys);
	sys->n_sampled[info->sampler] += 1 + info->n_missed;
	p = output_pf_begin(&sys->file, 128, &packet);
	p = output_pb_u64(p, PACKET_TIMESTAMP, ev->start_ns);
	p = output_pb_begin_short(p, PACKET_PERF_SAMPLE, &sample);
	p = output_pb_u64(p, SAMPLE_CPU, 0); /* it is not recorded, and readers expect one */
	p = output_pb_u64(p, SAMPLE_PID, sys->process->pid + sys->file.pid_base);
	p = output_pb_u64(p, SAMPLE_TID, ev->thread->tid + sys->file.pid_base);
	p = output_pb_u64(p, SAMPLE_STACK, info->h.what);
	p = output_pb_u64(p, SAMPLE_MODE, MODE_USER);
	p = output_pb_u64(p, SAMPLE_COUNT, sys->n_sampled[info->sampler]);
	output_pb_end_short(p, sample);
	output_pf_end(&sys->file, p, packet);
	return WS_OK;
}
