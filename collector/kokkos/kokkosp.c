/*
 * kokkosp: Kokkos tool callbacks, recorded as regions, or as roctx ranges and marks.
 *
 * Where the collector records regions (rocprof-sys), patterns, fences, copies and regions are
 * regions of category kokkos, with AMD's names. Elsewhere (rocprofv3) all are markers.
 *
 * Kokkos opens the libraries of KOKKOS_TOOLS_LIBS and calls the functions below, where a
 * library has them. Parallel patterns, fences, copies and regions nest on a thread, so they are
 * pushed and popped; kernels that are launched inside take their names with --kernel-rename.
 * Sections may overlap and end on another thread: they are started and stopped.
 *
 * Names are Kokkos's; so are the types, which its C interface fixes.
 */
#include "base/util.h"
#include "collector/regions.h"
#include "collector/roctx/include/roctx.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 512u

/* Kokkos_Profiling_SpaceHandle, passed by value */
struct space_handle {
	char name[64];
};

/* Kokkos_Tools_ToolSettings */
struct tool_settings {
	bool requires_global_fencing;
	bool padding[255];
};

#pragma weak col_asked
#pragma weak col_region_intern
#pragma weak col_region_enter_call
#pragma weak col_region_leave_call

static uint64_t last_id;

static bool as_regions(void)
{
	return col_asked && col_region_intern && col_asked(COL_SERVICE_REGIONS);
}

/* What the thread has pushed, because a pop does not name it. */
#define PUSHED_MAX 256u
static __thread struct {
	uint32_t n; /* also counts those that found no place */
	uint32_t ids[PUSHED_MAX];
} pushed;

/* ---- the library ---- */

WS_PUBLIC void kokkosp_init_library(int load_sequence, uint64_t interface_version,
				    uint32_t n_devices, void *devices);
void kokkosp_init_library(int load_sequence, uint64_t interface_version, uint32_t n_devices,
			  void *devices)
{
}

WS_PUBLIC void kokkosp_finalize_library(void);
void kokkosp_finalize_library(void)
{
}

/* A fence around every kernel would measure something else than the program. */
WS_PUBLIC void kokkosp_request_tool_settings(uint32_t n_settings, struct tool_settings *settings);
void kokkosp_request_tool_settings(uint32_t n_settings, struct tool_settings *settings)
{
	if (settings)
		settings->requires_global_fencing = false;
}

/* ---- patterns and fences: begin gives an id, end has it back ---- */

/* Larger numbers are not those of a device. */
#define DEVICE_MAX 0xffffu

static uint64_t begin_pattern(const char *name, const char *pattern, uint32_t device)
{
	uint64_t id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED) << 32;
	char text[TEXT_MAX], number[32] = "";
	uint32_t region;

	if (!as_regions()) {
		roctxRangePushA(name ? name : "");
		return id;
	}
	if (device <= DEVICE_MAX)
		snprintf(number, sizeof(number), "[dev%u]", device);
	snprintf(text, sizeof(text), "%s [%s]%s", name ? name : "", pattern, number);
	region = col_region_intern(CAP_REGION_KOKKOS, text, NULL, 0);
	col_region_enter_call(region);
	return id | region;
}

static void end_pattern(uint64_t id)
{
	if (as_regions())
		col_region_leave_call((uint32_t)id);
	else
		roctxRangePop();
}

#define PATTERN(function, pattern)                                                                 \
	WS_PUBLIC void kokkosp_begin_##function(const char *name, uint32_t device, uint64_t *id);  \
	void kokkosp_begin_##function(const char *name, uint32_t device, uint64_t *id)             \
	{                                                                                          \
		*id = begin_pattern(name, pattern, device);                                        \
	}                                                                                          \
	WS_PUBLIC void kokkosp_end_##function(uint64_t id);                                        \
	void kokkosp_end_##function(uint64_t id)                                                   \
	{                                                                                          \
		end_pattern(id);                                                                   \
	}
PATTERN(parallel_for, "for")
PATTERN(parallel_reduce, "reduce")
PATTERN(parallel_scan, "scan")
PATTERN(fence, "fence")
#undef PATTERN

/* ---- regions, copies, events ---- */

static void push(const char *name)
{
	uint32_t region;

	if (!as_regions()) {
		roctxRangePushA(name ? name : "");
		return;
	}
	region = col_region_intern(CAP_REGION_KOKKOS, name, NULL, 0);
	if (pushed.n < PUSHED_MAX)
		pushed.ids[pushed.n] = region;
	pushed.n++;
	col_region_enter_call(region);
}

static void pop(void)
{
	if (!as_regions())
		roctxRangePop();
	else if (pushed.n && --pushed.n < PUSHED_MAX)
		col_region_leave_call(pushed.ids[pushed.n]);
}

WS_PUBLIC void kokkosp_push_profile_region(const char *name);
void kokkosp_push_profile_region(const char *name)
{
	push(name);
}

WS_PUBLIC void kokkosp_pop_profile_region(void);
void kokkosp_pop_profile_region(void)
{
	pop();
}

WS_PUBLIC void kokkosp_begin_deep_copy(struct space_handle to_space, const char *to_name,
				       const void *to, struct space_handle from_space,
				       const char *from_name, const void *from, uint64_t n_bytes);
void kokkosp_begin_deep_copy(struct space_handle to_space, const char *to_name, const void *to,
			     struct space_handle from_space, const char *from_name,
			     const void *from, uint64_t n_bytes)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "Kokkos::deep_copy: %.*s %s <- %.*s %s",
		 (int)sizeof(to_space.name), to_space.name, to_name ? to_name : "",
		 (int)sizeof(from_space.name), from_space.name, from_name ? from_name : "");
	push(text);
}

WS_PUBLIC void kokkosp_end_deep_copy(void);
void kokkosp_end_deep_copy(void)
{
	pop();
}

WS_PUBLIC void kokkosp_profile_event(const char *name);
void kokkosp_profile_event(const char *name)
{
	if (as_regions()) {
		push(name);
		pop();
	} else {
		roctxMarkA(name ? name : "");
	}
}

/* ---- sections ---- */

#define SECTIONS_MAX (1u << 16)

static struct section {
	char *name;
	roctx_range_id_t range;
	bool runs;
} * sections;
static uint32_t n_sections;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. Ids count from 0, as Kokkos's own tools do. */
static struct section *section_of(uint32_t id)
{
	return id < n_sections ? &sections[id] : NULL;
}

WS_PUBLIC void kokkosp_create_profile_section(const char *name, uint32_t *out_id);
void kokkosp_create_profile_section(const char *name, uint32_t *out_id)
{
	struct section *more;

	pthread_mutex_lock(&lock);
	*out_id = UINT32_MAX; /* what the others then ignore */
	more = n_sections < SECTIONS_MAX ? realloc(sections, (n_sections + 1) * sizeof(*sections))
					 : NULL;
	if (more) {
		sections = more;
		more[n_sections] = (struct section){ .name = strdup(name ? name : "") };
		if (more[n_sections].name)
			*out_id = n_sections++;
	}
	pthread_mutex_unlock(&lock);
}

WS_PUBLIC void kokkosp_start_profile_section(uint32_t id);
void kokkosp_start_profile_section(uint32_t id)
{
	struct section *section;

	pthread_mutex_lock(&lock);
	section = section_of(id);
	if (section && section->name && !section->runs) {
		section->range = roctxRangeStartA(section->name);
		section->runs = true;
	}
	pthread_mutex_unlock(&lock);
}

WS_PUBLIC void kokkosp_stop_profile_section(uint32_t id);
void kokkosp_stop_profile_section(uint32_t id)
{
	struct section *section;

	pthread_mutex_lock(&lock);
	section = section_of(id);
	if (section && section->runs) {
		roctxRangeStop(section->range);
		section->runs = false;
	}
	pthread_mutex_unlock(&lock);
}

WS_PUBLIC void kokkosp_destroy_profile_section(uint32_t id);
void kokkosp_destroy_profile_section(uint32_t id)
{
	struct section *section;

	kokkosp_stop_profile_section(id);
	pthread_mutex_lock(&lock);
	section = section_of(id);
	if (section) {
		free(section->name);
		section->name = NULL;
	}
	pthread_mutex_unlock(&lock);
}
