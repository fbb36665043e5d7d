#include "collector/count/aqlprofile.h"

#include "base/util.h"
#include "collector/provider.h"

#include <dlfcn.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ven_amd_aqlprofile.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- the second interface, of which ROCr 5 has no header ---- */

struct v2_handle {
	uint64_t handle;
};

struct v2_agent_info {
	const char *name;
	uint32_t n_dies, n_engines, n_cus, n_arrays, domain, location;
};
#define V2_AGENT_INFO_VERSION 2 /* with the PCI address */

struct v2_event {
	uint32_t instance, number, flags, block;
};

struct v2_profile {
	struct v2_handle agent;
	const struct v2_event *events;
	uint32_t n_events;
};

struct v2_packets {
	union col_aql_packet start, stop, read;
};

struct v2_functions {
	hsa_status_t (*register_agent)(struct v2_handle *out, const void *info, int version);
	hsa_status_t (*validate)(struct v2_handle agent, const struct v2_event *event, bool *out);
	hsa_status_t (*create)(
		struct v2_handle *out, struct v2_packets *packets, struct v2_profile profile,
		hsa_status_t (*allocate)(void **out, uint64_t n_bytes, uint32_t flags, void *ctx),
		void (*release)(void *memory, void *ctx),
		hsa_status_t (*copy)(void *to, const void *from, size_t n_bytes, void *ctx),
		void *ctx);
	void (*destroy)(struct v2_handle program);
	hsa_status_t (*iterate)(struct v2_handle program,
				hsa_status_t (*each)(struct v2_event event, uint64_t id,
						     uint64_t value, void *ctx),
				void *ctx);
};

/* ---- the library ---- */

struct v1_functions {
	hsa_status_t (*validate)(hsa_agent_t agent, const hsa_ven_amd_aqlprofile_event_t *event,
				 bool *out);
	hsa_status_t (*start)(hsa_ven_amd_aqlprofile_profile_t *profile, void *packet);
	hsa_status_t (*stop)(const hsa_ven_amd_aqlprofile_profile_t *profile, void *packet);
	hsa_status_t (*read)(const hsa_ven_amd_aqlprofile_profile_t *profile, void *packet);
	hsa_status_t (*iterate)(const hsa_ven_amd_aqlprofile_profile_t *profile,
				hsa_ven_amd_aqlprofile_data_callback_t each, void *ctx);
};

static struct {
	bool searched, found, has_v2;
	struct v1_functions v1;
	struct v2_functions v2;
} library;

static bool find_v2(void *handle)
{
	struct v2_functions *f = &library.v2;

	*(void **)&f->register_agent = dlsym(handle, "aqlprofile_register_agent_info");
	*(void **)&f->validate = dlsym(handle, "aqlprofile_validate_pmc_event");
	*(void **)&f->create = dlsym(handle, "aqlprofile_pmc_create_packets");
	*(void **)&f->destroy = dlsym(handle, "aqlprofile_pmc_delete_packets");
	*(void **)&f->iterate = dlsym(handle, "aqlprofile_pmc_iterate_data");
	return f->register_agent && f->validate && f->create && f->destroy && f->iterate;
}

static bool find_v1(void *handle)
{
	struct v1_functions *f = &library.v1;

	*(void **)&f->validate = dlsym(handle, "hsa_ven_amd_aqlprofile_validate_event");
	*(void **)&f->start = dlsym(handle, "hsa_ven_amd_aqlprofile_start");
	*(void **)&f->stop = dlsym(handle, "hsa_ven_amd_aqlprofile_stop");
	*(void **)&f->read = dlsym(handle, "hsa_ven_amd_aqlprofile_read");
	*(void **)&f->iterate = dlsym(handle, "hsa_ven_amd_aqlprofile_iterate_data");
	return f->validate && f->start && f->stop && f->iterate;
}

/* ROCm's own packages: the folder of the runtime, which the loader need not know. */
static void *open_beside_runtime(void)
{
	void *runtime = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
	char origin[PATH_MAX] = "", path[PATH_MAX + 64];

	if (!runtime)
		return NULL;
	dlinfo(runtime, RTLD_DI_ORIGIN, origin);
	dlclose(runtime);
	snprintf(path, sizeof(path), "%s/libhsa-amd-aqlprofile64.so.1", origin);
	return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

/*
 * The first interface loads the library again by its name without a number, and ends the process if that is
 * missing: ask before it does.
 */
static bool loads_itself(const char **out_why)
{
	void *again = dlopen("libhsa-amd-aqlprofile64.so", RTLD_LAZY | RTLD_LOCAL);

	*out_why = "libhsa-amd-aqlprofile64.so is missing beside libhsa-amd-aqlprofile64.so.1: "
		   "install its development package, or make that link";
	return again != NULL; /* and stays */
}

bool col_aql_find(bool first_only, const char **out_why)
{
	static const char *const names[] = COL_AQL_LIBRARIES;
	void *handle = NULL;

	*out_why = "AMD's libhsa-amd-aqlprofile64.so.1 is not installed: install ROCm's "
		   "hsa-amd-aqlprofile or Debian's libhsa-amd-aqlprofile64-1";
	if (library.searched)
		return library.found;
	library.searched = true;
	for (size_t i = 0; !handle && i < WS_ARRAY_LEN(names); i++)
		handle = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
	if (!handle)
		handle = open_beside_runtime();
	if (!handle)
		return false;
	*out_why = "libhsa-amd-aqlprofile64.so.1 has neither of its known interfaces";
	library.has_v2 = !first_only && find_v2(handle);
	library.found = library.has_v2 || (find_v1(handle) && loads_itself(out_why));
	if (!library.found)
		dlclose(handle);
	return library.found;
}

/* ---- programs ---- */

struct col_aql_program {
	struct col_aql_agent agent;
	struct col_aql_packets packets;
	struct v2_handle handle;                  /* second interface */
	hsa_ven_amd_aqlprofile_profile_t profile; /* first interface */
	uint64_t *values;                         /* what the packets write */
	size_t n_value_bytes;
	uint32_t n_events;
	struct col_aql_event events[]; /* then those of the first interface */
};

#define NOT_WRITTEN UINT64_MAX
#define V2_HINT_UNCACHED 2u /* asked for where the results are */

static const char *invalid(const struct col_aql_event *event)
{
	static char text[160];

	snprintf(text, sizeof(text),
		 "aqlprofile does not have event %u on instance %u of block %u for this GPU",
		 event->number, event->instance, event->block);
	return text;
}

static hsa_status_t allocate(void **out, uint64_t n_bytes, uint32_t flags, void *ctx)
{
	struct col_aql_program *program = ctx;

	*out = program->agent.allocate(&program->agent, n_bytes);
	if (!*out)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if ((flags >> 2 & 0x3f) == V2_HINT_UNCACHED) {
		program->values = *out;
		program->n_value_bytes = n_bytes;
	}
	return HSA_STATUS_SUCCESS;
}

static void keep(void *memory, void *ctx)
{
}

static hsa_status_t copy(void *to, const void *from, size_t n_bytes, void *ctx)
{
	memcpy(to, from, n_bytes);
	return HSA_STATUS_SUCCESS;
}

static bool create_v2(struct col_aql_program *program, const char **out_why)
{
	const struct col_aql_agent *agent = &program->agent;
	struct v2_agent_info info = { agent->name,    agent->n_dies,   agent->n_engines,
				      agent->n_cus,   agent->n_arrays, agent->domain,
				      agent->location };
	struct v2_profile profile = { .n_events = program->n_events };
	struct v2_event *events = col_pages(program->n_events * sizeof(*events));
	struct v2_packets packets;
	bool valid = events != NULL;

	memset(&packets, 0, sizeof(packets));
	*out_why = "aqlprofile does not know this GPU";
	if (!events || library.v2.register_agent(&profile.agent, &info, V2_AGENT_INFO_VERSION) !=
			       HSA_STATUS_SUCCESS)
		valid = false;
	for (uint32_t i = 0; i < program->n_events && valid; i++) {
		const struct col_aql_event *event = &program->events[i];

		events[i] = (struct v2_event){ event->instance, event->number, 0, event->block };
		if (library.v2.validate(profile.agent, &events[i], &valid) != HSA_STATUS_SUCCESS ||
		    !valid) {
			valid = false;
			*out_why = invalid(event);
		}
	}
	profile.events = events;
	if (valid) {
		*out_why = "aqlprofile refuses these counters together: they need more counters "
			   "of a block than it has, or there is no memory for the packets";
		valid = library.v2.create(&program->handle, &packets, profile, allocate, keep, copy,
					  program) == HSA_STATUS_SUCCESS &&
			program->values;
	}
	program->packets.at[COL_AQL_START] = packets.start;
	program->packets.at[COL_AQL_READ] = packets.read;
	program->packets.at[COL_AQL_STOP] = packets.stop;
	program->packets.has_read = true;
	col_pages_free(events, program->n_events * sizeof(*events)); /* the library copied them */
	return valid;
}

static bool create_v1(struct col_aql_program *program, const char **out_why)
{
	hsa_ven_amd_aqlprofile_event_t *events = (void *)(program->events + program->n_events);
	hsa_ven_amd_aqlprofile_profile_t *profile = &program->profile;
	union col_aql_packet *packets = program->packets.at;

	*profile = (hsa_ven_amd_aqlprofile_profile_t){
		.agent = { program->agent.handle },
		.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC,
		.events = events,
		.event_count = program->n_events,
	};
	for (uint32_t i = 0; i < program->n_events; i++) {
		const struct col_aql_event *event = &program->events[i];
		bool valid = false;

		events[i] = (hsa_ven_amd_aqlprofile_event_t){ event->block, event->instance,
							      event->number };
		if (library.v1.validate(profile->agent, &events[i], &valid) != HSA_STATUS_SUCCESS ||
		    !valid) {
			*out_why = invalid(event);
			return false;
		}
	}
	*out_why = "aqlprofile refuses these counters together: they need more counters of a block "
		   "than it has";
	if (library.v1.start(profile, NULL) != HSA_STATUS_SUCCESS) /* only the sizes */
		return false;
	*out_why = "no memory for the packets of aqlprofile";
	program->n_value_bytes = profile->output_buffer.size;
	profile->output_buffer.ptr =
		program->agent.allocate(&program->agent, profile->output_buffer.size);
	profile->command_buffer.ptr =
		program->agent.allocate(&program->agent, profile->command_buffer.size);
	program->values = profile->output_buffer.ptr;
	if (!profile->output_buffer.ptr || !profile->command_buffer.ptr)
		return false;
	*out_why = "aqlprofile makes no packets for these counters";
	if (library.v1.start(profile, &packets[COL_AQL_START]) != HSA_STATUS_SUCCESS ||
	    library.v1.stop(profile, &packets[COL_AQL_STOP]) != HSA_STATUS_SUCCESS)
		return false;
	program->packets.has_read =
		library.v1.read &&
		library.v1.read(profile, &packets[COL_AQL_READ]) == HSA_STATUS_SUCCESS;
	return true;
}

struct col_aql_program *col_aql_create(const struct col_aql_agent *agent,
				       const struct col_aql_event *events, uint32_t n_events,
				       const char **out_why)
{
	size_t n_bytes = sizeof(struct col_aql_program) +
			 n_events * (sizeof(*events) + sizeof(hsa_ven_amd_aqlprofile_event_t));
	struct col_aql_program *program = col_pages(n_bytes);

	*out_why = "no memory";
	if (!program)
		return NULL;
	program->agent = *agent;
	program->n_events = n_events;
	memcpy(program->events, events, n_events * sizeof(*events));
	if (library.has_v2 ? create_v2(program, out_why) : create_v1(program, out_why)) {
		col_aql_clear(program);
		return program;
	}
	col_pages_free(program, n_bytes);
	return NULL;
}

const struct col_aql_packets *col_aql_packets(const struct col_aql_program *program)
{
	return &program->packets;
}

/* ---- values ---- */

/* Both interfaces go through dies, events and engines, in this order. */
struct reading {
	const struct col_aql_program *program;
	col_aql_each *each;
	void *ctx;
	uint32_t die, event, engine;
	bool wrong;
};

static hsa_status_t take_value(struct reading *r, uint32_t block, uint32_t instance,
			       uint32_t number, uint64_t value)
{
	const struct col_aql_event *event = &r->program->events[r->event];

	if (r->die >= r->program->agent.n_dies || event->block != block ||
	    event->instance != instance || event->number != number || value == NOT_WRITTEN) {
		r->wrong = true;
		return HSA_STATUS_ERROR;
	}
	r->each(r->ctx, r->event, r->die, r->engine, value);
	if (++r->engine < event->n_engines)
		return HSA_STATUS_SUCCESS;
	r->engine = 0;
	if (++r->event == r->program->n_events) {
		r->event = 0;
		r->die++;
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t each_v2(struct v2_event event, uint64_t id, uint64_t value, void *ctx)
{
	return take_value(ctx, event.block, event.instance, event.number, value);
}

static hsa_status_t each_v1(hsa_ven_amd_aqlprofile_info_type_t type,
			    hsa_ven_amd_aqlprofile_info_data_t *info, void *ctx)
{
	const hsa_ven_amd_aqlprofile_event_t *event = &info->pmc_data.event;

	return type == HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA
		       ? take_value(ctx, event->block_name, event->block_index, event->counter_id,
				    info->pmc_data.result)
		       : HSA_STATUS_SUCCESS;
}

void col_aql_clear(struct col_aql_program *program)
{
	memset(program->values, 0xff, program->n_value_bytes);
}

bool col_aql_values(struct col_aql_program *program, col_aql_each *each, void *ctx)
{
	struct reading r = { .program = program, .each = each, .ctx = ctx };
	hsa_status_t status = library.has_v2 ? library.v2.iterate(program->handle, each_v2, &r)
					     : library.v1.iterate(&program->profile, each_v1, &r);

	return status == HSA_STATUS_SUCCESS && !r.wrong && r.die == program->agent.n_dies;
}
