/*
 * tool: OpenMP constructs as regions of category ompt.
 *
 * A runtime with the tools interface of OpenMP 5 (LLVM's, AMD's) calls ompt_start_tool(), which
 * this library defines; it is preloaded on request. GNU's runtime has no such interface. Names,
 * types and numbers are those of the OpenMP specification, chapter 4 (5.0) and 19 (5.2).
 *
 * Beginnings and ends that belong together are reported on the same thread. An explicit task
 * may be suspended inside and resumed on another thread, so tasks are not regions.
 */
#include "base/util.h"
#include "collector/interpose/slots.h"
#include "collector/regions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

union ompt_data {
	uint64_t value;
	void *ptr;
};

typedef void (*callback_fn)(void);
typedef callback_fn (*lookup_fn)(const char *name);
typedef int (*set_callback_fn)(int event, callback_fn callback);

struct start_tool_result {
	int (*initialize)(lookup_fn lookup, int initial_device, union ompt_data *tool_data);
	void (*finalize)(union ompt_data *tool_data);
	union ompt_data tool_data;
};

enum endpoint { SCOPE_BEGIN = 1, SCOPE_END = 2, SCOPE_BEGIN_END = 3 };
#define TASK_INITIAL 1 /* flag of the implicit task around the whole program */
#define PARALLELISM_MAX 1024u

/* ---- names, by the numbers of the specification ---- */

struct names {
	const char *const *at;
	uint32_t n;
	uint32_t *ids;
};

/* clang-format off */
#define NAMES(table, ...)                                                  \
	static const char *const table##_texts[] = { __VA_ARGS__ };        \
	static uint32_t table##_ids[WS_ARRAY_LEN(table##_texts)];          \
	static const struct names table = { table##_texts, WS_ARRAY_LEN(table##_texts), table##_ids }

NAMES(threads, "ompt_thread_unknown", "ompt_thread_initial", "ompt_thread_worker", "ompt_thread_other");
NAMES(works, "ompt_work_other", "ompt_work_loop", "ompt_work_sections", "ompt_work_single_executor",
	"ompt_work_single_other", "ompt_work_workshare", "ompt_work_distribute", "ompt_work_taskloop",
	"ompt_work_scope", "ompt_work_workdistribute", "ompt_work_loop_static", "ompt_work_loop_dynamic",
	"ompt_work_loop_guided", "ompt_work_loop_other"); /* loops by schedule since LLVM 18 */
NAMES(syncs, "ompt_sync_region_other", "ompt_sync_region_barrier", "ompt_sync_region_barrier_implicit",
	"ompt_sync_region_barrier_explicit", "ompt_sync_region_barrier_implementation",
	"ompt_sync_region_taskwait", "ompt_sync_region_taskgroup", "ompt_sync_region_reduction",
	"ompt_sync_region_barrier_implicit_workshare", "ompt_sync_region_barrier_implicit_parallel",
	"ompt_sync_region_barrier_teams");
NAMES(mutexes, "ompt_mutex_other", "ompt_mutex_lock", "ompt_mutex_test_lock", "ompt_mutex_nest_lock",
	"ompt_mutex_test_nest_lock", "ompt_mutex_critical", "ompt_mutex_atomic", "ompt_mutex_ordered");
NAMES(targets, "ompt_target_other", "ompt_target", "ompt_target_enter_data", "ompt_target_exit_data",
	"ompt_target_update");
NAMES(others, "ompt_implicit_task", "ompt_master");
/* clang-format on */

enum { OTHER_IMPLICIT_TASK, OTHER_MASTER };

static uint32_t id_of(const struct names *names, uint32_t number)
{
	uint32_t at = number < names->n ? number : 0;
	uint32_t id = __atomic_load_n(&names->ids[at], __ATOMIC_RELAXED);

	if (!id) {
		id = col_region_intern(CAP_REGION_OMPT, names->at[at], NULL, 0);
		__atomic_store_n(&names->ids[at], id, __ATOMIC_RELAXED);
	}
	return id;
}

static void scope(const struct names *names, int number, int endpoint)
{
	uint32_t id = id_of(names, (uint32_t)number);

	if (endpoint & SCOPE_BEGIN)
		col_region_enter(id);
	if (endpoint & SCOPE_END)
		col_region_leave(id);
}

static uint32_t parallel_id(uint32_t parallelism)
{
	static uint32_t ids[PARALLELISM_MAX];
	char name[64], *end;
	uint32_t id = parallelism < PARALLELISM_MAX
			      ? __atomic_load_n(&ids[parallelism], __ATOMIC_RELAXED)
			      : 0;

	if (id)
		return id;
	end = col_text_u64(name, "ompt_parallel [parallelism=", parallelism);
	*end++ = ']';
	*end = '\0';
	id = col_region_intern(CAP_REGION_OMPT, name, NULL, 0);
	if (parallelism < PARALLELISM_MAX)
		__atomic_store_n(&ids[parallelism], id, __ATOMIC_RELAXED);
	return id;
}

/* ---- callbacks ---- */

static void thread_begin(int type, union ompt_data *thread)
{
	uint32_t id = id_of(&threads, (uint32_t)type);

	thread->value = id;
	col_region_enter(id);
}

static void thread_end(union ompt_data *thread)
{
	col_region_leave((uint32_t)thread->value);
}

static void parallel_begin(union ompt_data *task, const void *frame, union ompt_data *parallel,
			   unsigned requested, int flags, const void *code)
{
	uint32_t id = parallel_id(requested);

	parallel->value = id;
	col_region_enter(id);
}

static void parallel_end(union ompt_data *parallel, union ompt_data *task, int flags,
			 const void *code)
{
	col_region_leave((uint32_t)parallel->value);
}

static void implicit_task(int endpoint, union ompt_data *parallel, union ompt_data *task,
			  unsigned actual, unsigned index, int flags)
{
	if (!(flags & TASK_INITIAL))
		scope(&others, OTHER_IMPLICIT_TASK, endpoint);
}

static void master(int endpoint, union ompt_data *parallel, union ompt_data *task, const void *code)
{
	scope(&others, OTHER_MASTER, endpoint);
}

static void work(int type, int endpoint, union ompt_data *parallel, union ompt_data *task,
		 uint64_t count, const void *code)
{
	scope(&works, type, endpoint);
}

static void sync_region(int kind, int endpoint, union ompt_data *parallel, union ompt_data *task,
			const void *code)
{
	scope(&syncs, kind, endpoint);
}

/* The wait for a mutex, not the time that it is held. */
static void mutex_acquire(int kind, unsigned hint, unsigned impl, uint64_t wait_id,
			  const void *code)
{
	scope(&mutexes, kind, SCOPE_BEGIN);
}

static void mutex_acquired(int kind, uint64_t wait_id, const void *code)
{
	scope(&mutexes, kind, SCOPE_END);
}

static void target(int kind, int endpoint, int device, union ompt_data *task, uint64_t target_id,
		   const void *code)
{
	scope(&targets, kind, endpoint);
}

/* ---- the tool ---- */

static const struct {
	int event;
	callback_fn callback;
} callbacks[] = {
	{ 1, (callback_fn)thread_begin },    { 2, (callback_fn)thread_end },
	{ 3, (callback_fn)parallel_begin },  { 4, (callback_fn)parallel_end },
	{ 7, (callback_fn)implicit_task },   { 8, (callback_fn)target },
	{ 20, (callback_fn)work },           { 21, (callback_fn)master },
	{ 23, (callback_fn)sync_region },    { 26, (callback_fn)mutex_acquire },
	{ 27, (callback_fn)mutex_acquired },
};

static int initialize(lookup_fn lookup, int initial_device, union ompt_data *tool_data)
{
	set_callback_fn set_callback = (set_callback_fn)lookup("ompt_set_callback");

	for (size_t i = 0; set_callback && i < WS_ARRAY_LEN(callbacks); i++)
		set_callback(callbacks[i].event, callbacks[i].callback);
	return set_callback != NULL;
}

static void finalize(union ompt_data *tool_data)
{
}

WS_PUBLIC struct start_tool_result *ompt_start_tool(unsigned omp_version,
						    const char *runtime_version);
struct start_tool_result *ompt_start_tool(unsigned omp_version, const char *runtime_version)
{
	static struct start_tool_result result = { initialize, finalize, { 0 } };

	return col_region_wanted() ? &result : NULL;
}
