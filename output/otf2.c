/*
 * otf2: an OTF2 archive, for Vampir and its kin. docs/formats/otf2.md.
 *
 * Written through libotf2, the reference implementation. Events are read by start; each
 * location keeps the ends of what is open on it, so its records are in order of time.
 * The archive is made in a folder of its own and moved to its place when it is whole.
 */
#include "base/utf8.h"
#include "output/output_priv.h"

#ifdef OUTPUT_HAVE_OTF2

#include "output/otf2_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define CHUNK_EVENTS (2u << 20)
#define CHUNK_EVENTS_SMALL (256u << 10) /* with many threads: each location holds a chunk */
#define THREADS_MANY 32
#define CHUNK_DEFS (8u << 20)

enum ws_status output_otf2_check(struct output_otf2 *o, OTF2_ErrorCode code)
{
	if (code == OTF2_SUCCESS)
		return WS_OK;
	if (o->err->status)
		return o->err->status;
	return ws_fail(o->err, WS_E_IO, "cannot write the OTF2 archive '%s_results.otf2': %s",
		       o->run->cfg->prefix, OTF2_Error_GetDescription(code));
}

/* The library prints errors itself by default; ours go through ws_err. */
static OTF2_ErrorCode take_error(void *ctx, const char *file, uint64_t line, const char *function,
				 OTF2_ErrorCode code, const char *format, va_list args)
{
	struct output_otf2 *o = ctx;
	char text[160];

	vsnprintf(text, sizeof(text), format, args);
	if (!o->err->status)
		ws_fail(o->err, WS_E_IO, "cannot write the OTF2 archive '%s_results.otf2': %s: %s",
			o->run->cfg->prefix, OTF2_Error_GetDescription(code), text);
	return code;
}

/* ---- definitions ---- */

static const char *agent_name(const struct trc_agent *agent)
{
	return *agent->given_name ? agent->given_name : agent->name;
}

OTF2_StringRef output_otf2_string(struct output_otf2 *o, const char *text)
{
	struct ws_str key = ws_str_from(text);
	struct ws_map_entry *entry = ws_map_find(&o->strings, key);
	OTF2_StringRef ref = (OTF2_StringRef)o->string_list.n;

	if (entry)
		return (OTF2_StringRef)(uintptr_t)entry->value;
	key.at = ws_arena_strndup(&o->arena, text, key.n);
	if (!key.at || ws_map_put(&o->strings, key, (void *)(uintptr_t)ref, o->err) ||
	    !(text = ws_utf8_text(key.at, &o->arena)) ||
	    ws_vec_push(&o->string_list, text, o->err)) {
		if (!o->err->status)
			ws_fail(o->err, WS_E_NOMEM, "no memory for the names of the OTF2 archive");
		return OTF2_UNDEFINED_STRING;
	}
	return ref;
}

OTF2_RegionRef output_otf2_region(struct output_otf2 *o, const char *name, bool stable,
				  OTF2_RegionRole role, OTF2_Paradigm paradigm)
{
	size_t slot = ((uintptr_t)name >> 3 ^ (uintptr_t)name >> 15) % OUTPUT_OTF2_REGION_CACHE;
	struct output_otf2_region region = { .role = role, .paradigm = paradigm };
	struct ws_map_entry *entry;
	OTF2_RegionRef ref = (OTF2_RegionRef)o->region_list.n;

	if (stable && o->cache[slot].name == name)
		return o->cache[slot].region;
	entry = ws_map_find(&o->regions, ws_str_from(name));
	if (entry) {
		ref = (OTF2_RegionRef)(uintptr_t)entry->value;
	} else {
		region.name = output_otf2_string(o, name);
		if (region.name == OTF2_UNDEFINED_STRING)
			return OTF2_UNDEFINED_REGION;
		/* the string's copy is the key: it lives as long as the map */
		if (ws_map_put(&o->regions, ws_str_from(o->string_list.at[region.name]),
			       (void *)(uintptr_t)ref, o->err) ||
		    ws_vec_push(&o->region_list, region, o->err))
			return OTF2_UNDEFINED_REGION;
	}
	if (stable) {
		o->cache[slot].name = name;
		o->cache[slot].region = ref;
	}
	return ref;
}

static OTF2_RegionRef region_of(struct output_otf2 *o, const struct trc_event *ev)
{
	bool user = ev->domain == CAP_DOMAIN_MARKER_API || ev->domain == CAP_DOMAIN_ROCDECODE_API;
	OTF2_RegionRole role = ev->domain == CAP_DOMAIN_MEMORY_COPY ? OTF2_REGION_ROLE_DATA_TRANSFER
			       : ev->domain == CAP_DOMAIN_MEMORY_ALLOCATION
				       ? OTF2_REGION_ROLE_ALLOCATE
				       : OTF2_REGION_ROLE_FUNCTION;

	return output_otf2_region(o, output_run_name(o->run, ev),
				  ev->domain != CAP_DOMAIN_MARKER_API, role,
				  user ? OTF2_PARADIGM_USER : OTF2_PARADIGM_HIP);
}

struct output_otf2_location *output_otf2_new_location(struct output_otf2 *o, uint64_t key,
						      const char *name, OTF2_LocationType type,
						      uint32_t group)
{
	struct output_otf2_location *location =
		ws_arena_new(&o->arena, struct output_otf2_location);

	if (!location || ws_map_put_u64(&o->located, key, location, o->err) ||
	    ws_vec_push(&o->locations, location, o->err)) {
		if (!o->err->status)
			ws_fail(o->err, WS_E_NOMEM, "no memory for the OTF2 archive");
		return NULL;
	}
	location->id = o->locations.n; /* from 1 */
	location->group = group;
	location->type = type;
	location->name = output_otf2_string(o, name);
	location->writer = OTF2_Archive_GetEvtWriter(o->archive, location->id);
	if (!location->writer)
		output_otf2_check(o, OTF2_ERROR_FILE_CAN_NOT_OPEN);
	return location->writer ? location : NULL;
}

static uint32_t agent_group(const struct output_otf2 *o, const struct trc_agent *agent)
{
	for (size_t i = 0; i < o->process->agents.n; i++)
		if (o->process->agents.at[i] == agent)
			return o->process_group + 1 + (uint32_t)i;
	return o->process_group;
}

/* Ranges of the process begin and end anywhere, also across regions: apart from them. */
#define RANGES_KEY 15u
static bool is_crossing(const struct trc_event *ev)
{
	return ev->domain == CAP_DOMAIN_MARKER_API && ev->rec->what == CAP_MARKER_PROCESS_RANGE &&
	       ev->process->ledger[CAP_DOMAIN_REGIONS].written;
}

/* Calls, markers and regions of a thread are shown together. */
static bool is_of_thread(enum output_record_shape shape)
{
	return shape == OUTPUT_SHAPE_MARKER || shape == OUTPUT_SHAPE_NONE;
}

struct output_otf2_location *output_otf2_locate(struct output_otf2 *o, const struct trc_event *ev)
{
	enum output_record_shape shape = output_domain_infos[ev->domain].shape;
	enum trc_agent_index mode = o->run->cfg->agent_index;
	const struct trc_agent *agent = shape == OUTPUT_SHAPE_COPY     ? ev->copy.dst
					: shape == OUTPUT_SHAPE_ALLOC  ? ev->alloc.agent
					: output_event_is_dispatch(ev) ? ev->dispatch.agent
								       : NULL;
	uint32_t queue = output_event_is_dispatch(ev) ? ev->dispatch.queue->id : 0;
	unsigned tid = ev->thread->tid;
	bool range = is_crossing(ev);
	uint64_t key = (uint64_t)ev->thread->index << 40 | (uint64_t)queue << 16 |
		       (uint64_t)((agent ? agent->info->h.what : 0) & 0xfff) << 4 |
		       (range                 ? RANGES_KEY
			: is_of_thread(shape) ? OUTPUT_SHAPE_CALL
					      : shape);
	struct output_otf2_location *location = ws_map_get_u64(&o->located, key);
	OTF2_LocationType type = OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
	char name[160], where[40];
	size_t n;

	if (location)
		return location;
	n = output_agent_text(agent, mode, '-', where, sizeof(where));
	if (!n)
		snprintf(where, sizeof(where), "0");
	switch (shape) {
	case OUTPUT_SHAPE_COPY:
		snprintf(name, sizeof(name), "Thread %u, Copy to %s %s", tid,
			 output_agent_type_text(agent), where);
		break;
	case OUTPUT_SHAPE_ALLOC:
		snprintf(name, sizeof(name), "Thread %u, Memory Operation at %s %s", tid,
			 output_agent_type_text(agent), where);
		break;
	case OUTPUT_SHAPE_DISPATCH:
	case OUTPUT_SHAPE_COUNTERS:
		snprintf(name, sizeof(name), "Thread %u, Compute on %s %s, Queue %u", tid,
			 output_agent_type_text(agent), where, queue);
		break;
	default:
		snprintf(name, sizeof(name), range ? "Thread %u, Ranges" : "Thread %u", tid);
		type = OTF2_LOCATION_TYPE_CPU_THREAD;
		break;
	}
	return output_otf2_new_location(o, key, name, type, agent_group(o, agent));
}

/* ---- events ---- */

enum ws_status output_otf2_leave_until(struct output_otf2 *o, struct output_otf2_location *location,
				       uint64_t until_ns)
{
	enum ws_status st = WS_OK;

	while (!st && location->n_open && location->open[location->n_open - 1].end_ns <= until_ns)
		st = output_otf2_leave(o, location, location->open[location->n_open - 1].end_ns);
	return st;
}

enum ws_status output_otf2_leave(struct output_otf2 *o, struct output_otf2_location *location,
				 uint64_t at_ns)
{
	struct output_otf2_open *last = &location->open[--location->n_open];

	if (at_ns == OUTPUT_OTF2_NO_END)
		at_ns = WS_MAX(o->process->fini_ns, location->last_ns);
	location->last_ns = at_ns;
	location->n_events++;
	return output_otf2_check(o,
				 OTF2_EvtWriter_Leave(location->writer, NULL, at_ns, last->region));
}

static enum ws_status push_open(struct output_otf2 *o, struct output_otf2_location *location,
				uint64_t end_ns, OTF2_RegionRef region)
{
	size_t at = location->n_open;

	if (location->n_open == location->cap_open) {
		size_t cap = location->cap_open ? location->cap_open * 2 : 16;
		struct output_otf2_open *more = realloc(location->open, cap * sizeof(*more));

		if (!more)
			return ws_fail(o->err, WS_E_NOMEM, "no memory for the OTF2 archive");
		location->open = more;
		location->cap_open = cap;
	}
	/* at equal ends the inner one, which came later, is left first */
	for (; at && location->open[at - 1].end_ns < end_ns; at--)
		location->open[at] = location->open[at - 1];
	location->open[at] = (struct output_otf2_open){ end_ns, region };
	location->n_open++;
	return WS_OK;
}

enum ws_status output_otf2_enter(struct output_otf2 *o, struct output_otf2_location *location,
				 uint64_t start_ns, uint64_t end_ns, OTF2_RegionRef region,
				 const char *category)
{
	enum ws_status st;

	if (region == OTF2_UNDEFINED_REGION)
		return ws_fail(o->err, WS_E_NOMEM, "no memory for the names of the OTF2 archive");
	st = output_otf2_check(o, OTF2_AttributeList_AddStringRef(o->attributes, 0,
								  output_otf2_string(o, category)));
	if (!st)
		st = output_otf2_check(o, OTF2_EvtWriter_Enter(location->writer, o->attributes,
							       start_ns, region));
	location->n_events++;
	location->last_ns = start_ns;
	o->n_rows++;
	return st ? st : push_open(o, location, end_ns, region);
}

static enum ws_status put_event(struct output_otf2 *o, const struct trc_event *ev)
{
	enum cap_domain domain =
		output_event_is_dispatch(ev) ? CAP_DOMAIN_KERNEL_DISPATCH : ev->domain;
	uint64_t end_ns = WS_MAX(ev->end_ns, ev->start_ns);
	struct output_otf2_location *location;
	OTF2_RegionRef region;
	enum ws_status st;

	if (output_event_is_dispatch(ev) && !output_event_traced(ev))
		return WS_OK;
	if (domain == CAP_DOMAIN_MARKER_API && ev->kind == CAP_KIND_MARKER_CORE_RANGE_API &&
	    ev->op_id == CAP_MARKER_MARK)
		return WS_OK; /* has no extent; AMD leaves marks out, too */
	location = output_otf2_locate(o, ev);
	if (!location)
		return o->err->status;
	st = output_otf2_leave_until(o, location, ev->start_ns);
	if (st)
		return st;
	region = region_of(o, ev);
	o->run->result->n_written[OUTPUT_OTF2][domain]++;
	return output_otf2_enter(o, location, ev->start_ns, end_ns, region,
				 output_domain_infos[domain].category);
}

static enum ws_status put_events(struct output_otf2 *o, uint32_t domains)
{
	struct trc_event_query query = { .domains = domains,
					 .order = TRC_ORDER_START,
					 .process = o->process };
	const struct trc_event *ev;
	struct trc_events *events;
	enum ws_status st = trc_events_open(o->run->trace, &query, &events, o->err), closing;

	if (st)
		return st;
	while (!st && (ev = trc_events_next(events)))
		if (output_event_is_sound(ev))
			st = 1u << ev->domain & OUTPUT_OTF2_HOST_DOMAINS
				     ? output_otf2_put_host(o, ev)
				     : put_event(o, ev);
	closing = trc_events_close(events, st ? NULL : o->err);
	return st ? st : closing;
}

static enum ws_status put_process(struct output_otf2 *o, const struct trc_process *process)
{
	uint32_t domains = TRC_DOMAIN_BIT(HSA_API) | TRC_DOMAIN_BIT(HIP_API) |
			   TRC_DOMAIN_BIT(MARKER_API) | TRC_DOMAIN_BIT(KERNEL_DISPATCH) |
			   TRC_DOMAIN_BIT(MEMORY_COPY) | TRC_DOMAIN_BIT(RCCL_API) |
			   TRC_DOMAIN_BIT(MEMORY_ALLOCATION) | TRC_DOMAIN_BIT(ROCDECODE_API) |
			   TRC_DOMAIN_BIT(ROCJPEG_API) | OUTPUT_OTF2_HOST_DOMAINS;
	size_t first = o->locations.n;
	const char *name = process->n_argv ? process->argv[0] : "process";
	enum ws_status st;

	o->process = process;
	o->process_group = (uint32_t)o->groups.n;
	ws_map_init(&o->located, WS_MAP_U64, 1u << 24);
	st = ws_vec_push(&o->groups,
			 ((struct output_otf2_group){ output_otf2_string(o, name),
						      OTF2_LOCATION_GROUP_TYPE_PROCESS,
						      OTF2_UNDEFINED_LOCATION_GROUP }),
			 o->err);
	for (size_t i = 0; !st && i < process->agents.n; i++)
		st = ws_vec_push(&o->groups,
				 ((struct output_otf2_group){
					 output_otf2_string(o, agent_name(process->agents.at[i])),
					 OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, o->process_group }),
				 o->err);
	if (!st)
		st = output_otf2_begin_host(o);
	if (!st)
		st = put_events(o, domains);
	for (size_t i = first; i < o->locations.n; i++) {
		struct output_otf2_location *location = o->locations.at[i];

		if (!st)
			st = output_otf2_leave_until(o, location, UINT64_MAX);
		if (location->writer)
			OTF2_Archive_CloseEvtWriter(o->archive, location->writer);
		location->writer = NULL;
		free(location->open);
		location->open = NULL;
	}
	output_otf2_end_host(o);
	ws_map_fini(&o->located);
	return st;
}

/* ---- the archive ---- */

static OTF2_FlushType pre_flush(void *ctx, OTF2_FileType type, OTF2_LocationRef location,
				void *caller, bool final)
{
	return OTF2_FLUSH;
}

/*
 * One chunk per file: when there is no second, the library flushes the first. Left to
 * itself it takes 128 MB per location before it writes.
 */
static void *take_chunk(void *ctx, OTF2_FileType type, OTF2_LocationRef location, void **per_buffer,
			uint64_t chunk_bytes)
{
	if (*per_buffer)
		return NULL;
	*per_buffer = malloc(chunk_bytes);
	return *per_buffer;
}

static void free_chunks(void *ctx, OTF2_FileType type, OTF2_LocationRef location, void **per_buffer,
			bool final)
{
	free(*per_buffer);
	*per_buffer = NULL;
}

static enum ws_status put_definitions(struct output_otf2 *o)
{
	const struct trc_process *process = o->run->processes[0];
	const char *host = process->facts[CAP_FACT_HOSTNAME];
	uint64_t start_ns = o->run->first_ns, end_ns = o->run->last_ns;
	OTF2_StringRef empty = output_otf2_string(o, ""),
		       category = output_otf2_string(o, "category");
	OTF2_StringRef about = output_otf2_string(o, "tracing category");
	OTF2_StringRef exe = output_otf2_string(o, process->n_argv ? process->argv[0] : "");
	OTF2_StringRef node = output_otf2_string(o, host ? host : "");
	OTF2_GlobalDefWriter *w = OTF2_Archive_GetGlobalDefWriter(o->archive);
	enum ws_status st = w ? WS_OK : output_otf2_check(o, OTF2_ERROR_FILE_CAN_NOT_OPEN);

	for (size_t i = 0; i < o->run->n_processes; i++) {
		start_ns = WS_MIN(start_ns, o->run->processes[i]->init_ns);
		end_ns = WS_MAX(end_ns, o->run->processes[i]->fini_ns);
	}
	if (!st)
		st = output_otf2_check(o,
				       OTF2_GlobalDefWriter_WriteClockProperties(
					       w, 1000000000, start_ns, end_ns - start_ns,
					       start_ns + (uint64_t)process->realtime_offset_ns));
	for (size_t i = 0; !st && i < o->string_list.n; i++)
		st = output_otf2_check(o, OTF2_GlobalDefWriter_WriteString(w, (OTF2_StringRef)i,
									   o->string_list.at[i]));
	if (!st)
		st = output_otf2_check(o, OTF2_GlobalDefWriter_WriteAttribute(w, 0, category, about,
									      OTF2_TYPE_STRING));
	if (!st)
		st = output_otf2_check(o,
				       OTF2_GlobalDefWriter_WriteSystemTreeNode(
					       w, 0, exe, node, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	for (size_t i = 0; !st && i < o->groups.n; i++)
		st = output_otf2_check(o,
				       OTF2_GlobalDefWriter_WriteLocationGroup(
					       w, (OTF2_LocationGroupRef)i, o->groups.at[i].name,
					       o->groups.at[i].type, 0, o->groups.at[i].creator));
	for (size_t i = 0; !st && i < o->locations.n; i++) {
		const struct output_otf2_location *location = o->locations.at[i];

		st = output_otf2_check(o, OTF2_GlobalDefWriter_WriteLocation(
						  w, location->id, location->name, location->type,
						  location->n_events, location->group));
	}
	for (size_t i = 0; !st && i < o->region_list.n; i++) {
		const struct output_otf2_region *region = &o->region_list.at[i];

		st = output_otf2_check(o, OTF2_GlobalDefWriter_WriteRegion(
						  w, (OTF2_RegionRef)i, region->name, region->name,
						  empty, region->role, region->paradigm,
						  OTF2_REGION_FLAG_NONE, empty, 0, 0));
	}
	return st ? st : output_otf2_define_metrics(o, w);
}

static enum ws_status put_archive(struct output_otf2 *o, const char *dir, const char *name)
{
	static const OTF2_FlushCallbacks flush = { .otf2_pre_flush = pre_flush };
	static const OTF2_MemoryCallbacks memory = { take_chunk, free_chunks };
	size_t n_threads = 0;
	enum ws_status st;

	for (size_t i = 0; i < o->run->n_processes; i++)
		n_threads += o->run->processes[i]->threads.n;
	o->archive = OTF2_Archive_Open(dir, name, OTF2_FILEMODE_WRITE,
				       n_threads > THREADS_MANY ? CHUNK_EVENTS_SMALL : CHUNK_EVENTS,
				       CHUNK_DEFS, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!o->archive)
		return output_otf2_check(o, OTF2_ERROR_FILE_CAN_NOT_OPEN);
	st = output_otf2_check(o, OTF2_Archive_SetFlushCallbacks(o->archive, &flush, NULL));
	for (size_t i = 0; !st && i < o->run->n_processes; i++) {
		enum trc_gpu_times times = trc_process_gpu_times(o->run->processes[i]);

		if (times != TRC_GPU_TIMES_HARDWARE)
			st = output_otf2_check(
				o, OTF2_Archive_SetProperty(o->archive, "WAVESCOPE::GPU_TIMES",
							    trc_gpu_times_word(times), true));
	}
	if (!st)
		st = output_otf2_check(o,
				       OTF2_Archive_SetMemoryCallbacks(o->archive, &memory, NULL));
	if (!st)
		st = output_otf2_check(o, OTF2_Archive_SetSerialCollectiveCallbacks(o->archive));
	if (!st)
		st = output_otf2_check(o, OTF2_Archive_OpenEvtFiles(o->archive));
	for (size_t i = 0; !st && i < o->run->n_processes; i++)
		st = put_process(o, o->run->processes[i]);
	if (!st)
		st = output_otf2_check(o, OTF2_Archive_CloseEvtFiles(o->archive));
	if (!st)
		st = output_otf2_check(o, OTF2_Archive_OpenDefFiles(o->archive));
	for (size_t i = 0; !st && i < o->locations.n; i++) {
		OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(o->archive, o->locations.at[i]->id);

		st = w ? output_otf2_check(o, OTF2_Archive_CloseDefWriter(o->archive, w))
		       : output_otf2_check(o, OTF2_ERROR_FILE_CAN_NOT_OPEN);
	}
	if (!st)
		st = output_otf2_check(o, OTF2_Archive_CloseDefFiles(o->archive));
	if (!st)
		st = put_definitions(o);
	/* the anchor file is written here; after a failure this only frees */
	if (OTF2_Archive_Close(o->archive) != OTF2_SUCCESS && !st)
		st = output_otf2_check(o, OTF2_ERROR_FILE_INTERACTION);
	return st;
}

static enum ws_status write_otf2(struct output_run *run, struct ws_err *err)
{
	struct output_otf2 *o = calloc(1, sizeof(*o));
	char base[PATH_MAX], path[PATH_MAX + 8], partial[PATH_MAX + 16];
	const char *name;
	OTF2_ErrorCallback before;
	uint64_t n_bytes = 0;
	enum ws_status st;

	if (!o)
		return ws_fail(err, WS_E_NOMEM, "no memory to write an OTF2 archive");
	o->run = run;
	o->err = err;
	st = output_run_path(run, "results", base, err);
	if (!st)
		st = output_make_parents(base, err);
	if (st) {
		free(o);
		return st;
	}
	name = strrchr(base, '/') ? strrchr(base, '/') + 1 : base;
	snprintf(path, sizeof(path), "%s.otf2", base);
	snprintf(partial, sizeof(partial), "%s.partial", path);
	if (run->cfg->opened)
		run->cfg->opened(run->cfg->opened_ctx, path, NULL);
	ws_arena_init(&o->arena, (size_t)1 << 30);
	ws_map_init(&o->strings, WS_MAP_STR, 1u << 26);
	ws_map_init(&o->regions, WS_MAP_STR, 1u << 26);
	ws_vec_init(&o->string_list, 1u << 26);
	ws_vec_init(&o->region_list, 1u << 26);
	ws_vec_init(&o->locations, 1u << 24);
	ws_vec_init(&o->groups, 1u << 24);
	ws_vec_init(&o->metrics, 1u << 24);
	o->attributes = OTF2_AttributeList_New();
	before = OTF2_Error_RegisterCallback(take_error, o);
	output_otf2_string(o, "");
	st = output_otf2_make_partial(partial, name, err);
	if (!st)
		st = put_archive(o, partial, name);
	OTF2_Error_RegisterCallback(before, NULL);
	OTF2_AttributeList_Delete(o->attributes);
	if (!st)
		st = output_otf2_place(partial, name, base, &n_bytes, err);
	output_otf2_remove_partial(partial, name);
	if (st)
		memset(run->result->n_written[OUTPUT_OTF2], 0,
		       sizeof(run->result->n_written[OUTPUT_OTF2]));
	output_run_file(run, OUTPUT_OTF2, path, o->n_rows, n_bytes, st ? err : NULL);
	ws_vec_fini(&o->string_list);
	ws_vec_fini(&o->region_list);
	ws_vec_fini(&o->locations);
	ws_vec_fini(&o->groups);
	ws_vec_fini(&o->metrics);
	ws_map_fini(&o->strings);
	ws_map_fini(&o->regions);
	ws_arena_fini(&o->arena);
	free(o);
	return st;
}

static bool is_built(void)
{
	return true;
}

#else

static bool is_built(void)
{
	return false;
}

static enum ws_status write_otf2(struct output_run *run, struct ws_err *err)
{
	return ws_fail(err, WS_E_UNSUPPORTED, "not in this build");
}

#endif

const struct output_ops output_otf2 = {
	.word = "otf2",
	.what = "OTF2 archive",
	.built = is_built,
	.how = "install libopen-trace-format2-dev and build again, or choose another format",
	.write = write_otf2,
};
