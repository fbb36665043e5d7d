/*
 * load: ROCr's tools interface.
 *
 * HSA_TOOLS_LIB names this library; ROCr calls OnLoad at the end of its first
 * hsa_init() with tables of its functions, through which every public call goes.
 * We keep the functions and install wrappers in the tables: all of a table if its
 * calls are traced, else only those that another service needs, so that services
 * that were not requested cost nothing.
 *
 * HIP never shuts HSA down, so OnUnload may not be called. An exit handler waits for
 * work in flight; it is registered late enough to run before HIP's own.
 */
#include "collector/count/intervals.h"
#include "collector/hsa/hsa_priv.h"
#include "collector/hsa/pcs.h"
#include "collector/hsa/ranges.h"
#include "collector/hsa/replay.h"
#include "collector/hsa/turns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AMD_52_FUNCTIONS 48u
/* From ROCr 5.5 or so on, tables grow at their ends only. Between, only the beginning is known. */
#define AMD_LATER_FUNCTIONS 55u
#define AMD_COMMON_FUNCTIONS 16u
#define DETACH_NS 2000000000ull

static struct {
	bool loaded;
	bool has_exit_handler;
	uint64_t version;
} hsa;

bool col_hsa_loaded(void)
{
	return __atomic_load_n(&hsa.loaded, __ATOMIC_ACQUIRE);
}

uint32_t col_hsa_table_functions(const struct col_hsa_table *table)
{
	return table && table->minor > sizeof(*table)
		       ? (uint32_t)((table->minor - sizeof(*table)) / sizeof(table->functions[0]))
		       : 0;
}

/* Where a function is in the table that ROCr gave us; NULL: it has none. */
static void (**place_of(const struct col_hsa_function *f,
			struct col_hsa_table *const tables[]))(void)
{
	struct col_hsa_table *table = tables[f->table];
	uint32_t n = col_hsa_table_functions(table);
	int at = f->at;

	if (f->table == COL_HSA_AMD) {
		if (n == AMD_52_FUNCTIONS)
			at = f->at_52;
		else if (n < AMD_LATER_FUNCTIONS && (uint32_t)at >= AMD_COMMON_FUNCTIONS)
			return NULL;
	}
	return at >= 0 && (uint32_t)at < n ? &table->functions[at] : NULL;
}

static bool is_asked(const struct col_hsa_function *f)
{
	static const uint8_t service_of[COL_HSA_TABLES] = {
		[COL_HSA_CORE] = COL_SERVICE_HSA_CORE,
		[COL_HSA_AMD] = COL_SERVICE_HSA_AMD,
		[COL_HSA_IMAGE] = COL_SERVICE_HSA_IMAGE,
		[COL_HSA_FINALIZER] = COL_SERVICE_HSA_FINALIZER,
	};
	bool dispatches = col_dispatches_asked(), intercepted = dispatches && !col_gpu_reports();
	bool copies = col_asked(COL_SERVICE_MEMORY_COPY);
	bool scratch = col_asked(COL_SERVICE_SCRATCH_MEMORY);

	if (col_asked(service_of[f->table]))
		return true;
	switch ((enum col_hsa_hook)f->hook) {
	case COL_HSA_HOOK_NONE:
	case COL_HSA_HOOK_LIST:
	case COL_HSA_HOOK_LISTED:
		return false;
	case COL_HSA_HOOK_ALWAYS:
		return true;
	case COL_HSA_HOOK_DISPATCH:
		return dispatches || scratch || col_asked(COL_SERVICE_GPU_COUNTERS);
	case COL_HSA_HOOK_COPY:
		return intercepted || copies; /* a copy may use a signal that a dispatch had */
	case COL_HSA_HOOK_SIGNAL:
		return intercepted || copies;
	case COL_HSA_HOOK_DOORBELL:
		return dispatches && col_hsa_attached() && !col_gpu_reports();
	case COL_HSA_HOOK_RESERVE:
		return col_gpu_reports();
	case COL_HSA_HOOK_ALLOC:
		return col_asked(COL_SERVICE_MEMORY_ALLOCATION) || col_ranges_kept();
	case COL_HSA_HOOK_REACH:
		return col_ranges_kept();
	}
	return false;
}

static void take_functions(struct col_hsa_table *const tables[])
{
	memset(&col_hsa, 0, sizeof(col_hsa));
	for (size_t i = 0; i < COL_HSA_FUNCTIONS; i++) {
		void (**place)(void) = place_of(&col_hsa_functions[i], tables);

		if (place)
			memcpy((char *)&col_hsa + col_hsa_functions[i].real, place, sizeof(*place));
	}
}

static void install_wrappers(struct col_hsa_table *const tables[])
{
	for (size_t i = 0; i < COL_HSA_FUNCTIONS; i++) {
		const struct col_hsa_function *f = &col_hsa_functions[i];
		void (**place)(void) = place_of(f, tables);

		/* An extension that is not there has NULLs, and programs test for them. */
		if (place && *place && is_asked(f))
			*place = f->wrapper;
	}
}

static void at_exit(void)
{
	col_leaving();
}

WS_PUBLIC bool OnLoad(struct col_hsa_root *root, uint64_t runtime_version, uint64_t n_failed,
		      const char *const *failed);
WS_PUBLIC void OnUnload(void);

void col_hsa_root_tables(const struct col_hsa_root *root, struct col_hsa_table *tables[])
{
	if (!root || root->minor < offsetof(struct col_hsa_root, tools))
		return;
	tables[COL_HSA_CORE] = root->core;
	tables[COL_HSA_AMD] = root->amd;
	tables[COL_HSA_IMAGE] = root->image;
	tables[COL_HSA_FINALIZER] = root->finalizer;
	if (root->minor >= offsetof(struct col_hsa_root, tools) + sizeof(root->tools))
		tables[COL_HSA_TOOLS] = root->tools;
}

/* Installs the requested wrappers in the tables. */
void col_hsa_install(struct col_hsa_table *const tables[], uint64_t runtime_version)
{
	take_functions(tables);
	if (!col_hsa.hsa_iterate_agents || !col_hsa.hsa_agent_get_info) {
		col_note("HSA: unknown layout of this runtime's API tables, nothing is recorded");
		return;
	}
	hsa.version = runtime_version;
	col_agents_load();
	col_code_load();
	col_memory_load();
	col_count_load();
	col_ranges_load();
	col_intervals_load();
	col_reported_load();
	__atomic_store_n(&hsa.loaded, true, __ATOMIC_RELEASE);
	col_runtime_used(CAP_RUNTIME_HSA, (uint32_t)runtime_version);
	if (!hsa.has_exit_handler) {
		hsa.has_exit_handler = true;
		atexit(at_exit);
	}
	col_scratch_install(tables[COL_HSA_TOOLS]);
	install_wrappers(tables);
}

/* A later attach, which may request more services. */
void col_hsa_reinstall(struct col_hsa_table *const tables[])
{
	col_runtime_used(CAP_RUNTIME_HSA, (uint32_t)hsa.version);
	col_count_load();
	col_ranges_load();
	col_reported_load();
	if (col_counting())
		col_code_match();
	col_scratch_install(tables[COL_HSA_TOOLS]);
	install_wrappers(tables);
}

/* ROCr offered these tables before: by register.c, and now by OnLoad. */
static bool has_wrappers(struct col_hsa_table *const tables[])
{
	for (size_t i = 0; i < COL_HSA_FUNCTIONS; i++) {
		void (**place)(void) = place_of(&col_hsa_functions[i], tables);

		if (place && *place == col_hsa_functions[i].wrapper)
			return true;
	}
	return false;
}

void col_hsa_take(const struct col_hsa_root *root, uint64_t runtime_version)
{
	struct col_hsa_table *tables[COL_HSA_TABLES] = { NULL };

	if (!col_config()->services || !col_capture())
		return; /* nothing asked, or nowhere to write: stay out of the way */
	col_hsa_root_tables(root, tables);
	if (!has_wrappers(tables))
		col_hsa_install(tables, runtime_version);
}

WS_PUBLIC bool OnLoad(struct col_hsa_root *root, uint64_t runtime_version, uint64_t n_failed,
		      const char *const *failed)
{
	int saved_errno = errno;

	col_hsa_take(root, runtime_version);
	errno = saved_errno;
	return true;
}

WS_PUBLIC void OnUnload(void)
{
	int saved_errno = errno;

	if (!col_hsa_loaded())
		return;
	col_settle();
	col_queues_unload();
	col_pending_unload();
	col_turns_unload();
	col_replay_unload();
	col_ranges_unload();
	__atomic_store_n(&hsa.loaded, false, __ATOMIC_RELEASE);
	errno = saved_errno;
}

/* ---- the provider ---- */

static void choose(void)
{
	col_ops_choose(COL_OP_HSA, col_hsa_ops, COL_HSA_FUNCTIONS);
}

static void state(struct cap_writer *writer)
{
	bool traced = col_asked(COL_SERVICE_HSA_CORE) || col_asked(COL_SERVICE_HSA_AMD) ||
		      col_asked(COL_SERVICE_HSA_IMAGE) || col_asked(COL_SERVICE_HSA_FINALIZER);

	if (traced)
		col_ops_state(writer, COL_OP_HSA, col_hsa_ops, COL_HSA_FUNCTIONS);
	col_agents_state(writer);
	col_agent_names_state(writer);
	col_code_state(writer);
	col_queues_state(writer);
	col_count_state(writer);
}

static void forked(void)
{
	col_count_forked();
	col_intervals_forked();
	col_pending_forked();
	col_turns_forked();
	col_pcs_forked();
	col_replay_forked();
	col_ranges_forked();
	col_queues_forked();
	col_reported_forked();
	col_code_forked();
	col_scratch_forked();
	col_agent_names_forked();
}

static void finish(uint64_t deadline_ns)
{
	if (!col_hsa_loaded())
		return;
	col_pending_drain(deadline_ns);
	col_intervals_finish(deadline_ns);
	col_pcs_stop(
		deadline_ns); /* before the runtime goes, which does not expect a session then */
	col_count_report();
	col_reported_drain(deadline_ns);
	col_scratch_drain(deadline_ns);
}

/* Restores the GPU's state; waits for dispatches that it is counting. */
static void detach(void)
{
	if (!col_count_on())
		return;
	col_count_drain();
	col_pending_drain(col_now_ns());
	col_reported_drain(col_now_ns());
	col_pcs_stop(col_now_ns() + DETACH_NS);
	col_count_stop();
}

const struct col_provider col_provider_hsa = {
	.name = "hsa",
	.choose = choose,
	.state = state,
	.forked = forked,
	.finish = finish,
	.attach = col_hsa_attach,
	.detach = detach,
	.dying = col_pending_hurry,
};
