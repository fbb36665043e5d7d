/*
 * load: ROCr's tools interface.
 *
 * HSA_TOOLS_LIB names this library; ROCr calls OnLoad at the end of its first
 * hsa_init() with tables of its functions, through which every public call goes.
 * We keep the functions and put wrappers in their places: all of a table when its
 * calls are traced, else only those that some other service hangs on, so that what
 * was not asked for costs nothing.
 *
 * HIP never shuts HSA down, so OnUnload is not to be relied on: work in the air is
 * waited for in an exit handler, registered late enough to run before HIP's own.
 */
#include "collector/hsa/hsa_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AMD_52_FUNCTIONS 48u
/* From ROCr 5.5 or so on, tables grow at their ends only. Between, only the beginning is known. */
#define AMD_LATER_FUNCTIONS 55u
#define AMD_COMMON_FUNCTIONS 16u

static struct {
	bool loaded;
	bool told; /* the exit handler is registered */
	uint64_t version;
} hsa;

bool ws_hsa_loaded(void)
{
	return __atomic_load_n(&hsa.loaded, __ATOMIC_ACQUIRE);
}

uint32_t ws_hsa_table_functions(const struct ws_hsa_table *table)
{
	return table && table->minor > sizeof(*table)
		       ? (uint32_t)((table->minor - sizeof(*table)) / sizeof(table->functions[0]))
		       : 0;
}

/* Where a function is in the table that ROCr gave us; NULL: it has none. */
static void (**place_of(const struct ws_hsa_function *f, struct ws_hsa_table *const tables[]))(void)
{
	struct ws_hsa_table *table = tables[f->table];
	uint32_t n = ws_hsa_table_functions(table);
	int at = f->at;

	if (f->table == WS_HSA_AMD) {
		if (n == AMD_52_FUNCTIONS)
			at = f->at_52;
		else if (n < AMD_LATER_FUNCTIONS && (uint32_t)at >= AMD_COMMON_FUNCTIONS)
			return NULL;
	}
	return at >= 0 && (uint32_t)at < n ? &table->functions[at] : NULL;
}

static bool is_asked(const struct ws_hsa_function *f)
{
	static const uint8_t service_of[WS_HSA_TABLES] = {
		[WS_HSA_CORE] = WS_SERVICE_HSA_CORE,
		[WS_HSA_AMD] = WS_SERVICE_HSA_AMD,
		[WS_HSA_IMAGE] = WS_SERVICE_HSA_IMAGE,
		[WS_HSA_FINALIZER] = WS_SERVICE_HSA_FINALIZER,
	};
	bool dispatches = ws_dispatches_asked(), intercepted = dispatches && !ws_told();
	bool copies = ws_asked(WS_SERVICE_MEMORY_COPY);
	bool scratch = ws_asked(WS_SERVICE_SCRATCH_MEMORY);

	if (ws_asked(service_of[f->table]))
		return true;
	switch ((enum ws_hsa_hook)f->hook) {
	case WS_HSA_HOOK_NONE:
		return false;
	case WS_HSA_HOOK_ALWAYS:
		return true;
	case WS_HSA_HOOK_DISPATCH:
		return dispatches || scratch;
	case WS_HSA_HOOK_COPY:
		return intercepted || copies; /* a copy may use a signal that a dispatch had */
	case WS_HSA_HOOK_SIGNAL:
		return intercepted || copies;
	case WS_HSA_HOOK_DOORBELL:
		return dispatches && ws_hsa_attached() && !ws_told();
	case WS_HSA_HOOK_RESERVE:
		return ws_told();
	case WS_HSA_HOOK_ALLOC:
		return ws_asked(WS_SERVICE_MEMORY_ALLOCATION);
	}
	return false;
}

static void take_functions(struct ws_hsa_table *const tables[])
{
	memset(&ws_hsa, 0, sizeof(ws_hsa));
	for (size_t i = 0; i < WS_HSA_FUNCTIONS; i++) {
		void (**place)(void) = place_of(&ws_hsa_functions[i], tables);

		if (place)
			memcpy((char *)&ws_hsa + ws_hsa_functions[i].real, place, sizeof(*place));
	}
}

static void install_wrappers(struct ws_hsa_table *const tables[])
{
	for (size_t i = 0; i < WS_HSA_FUNCTIONS; i++) {
		const struct ws_hsa_function *f = &ws_hsa_functions[i];
		void (**place)(void) = place_of(f, tables);

		/* An extension that is not there has NULLs, and programs test for them. */
		if (place && *place && is_asked(f))
			*place = f->wrapper;
	}
}

static void at_exit(void)
{
	ws_collector_leaving();
}

WS_PUBLIC bool OnLoad(struct ws_hsa_root *root, uint64_t runtime_version, uint64_t n_failed,
		      const char *const *failed);
WS_PUBLIC void OnUnload(void);

/* The wrappers that are asked for are in the tables afterwards. */
void ws_hsa_take(struct ws_hsa_table *const tables[], uint64_t runtime_version)
{
	take_functions(tables);
	if (!ws_hsa.hsa_iterate_agents || !ws_hsa.hsa_agent_get_info) {
		ws_note("HSA: this runtime's tables are not known, nothing of it is recorded");
		return;
	}
	hsa.version = runtime_version;
	ws_agents_load();
	ws_code_load();
	ws_memory_load();
	ws_count_load();
	ws_told_load();
	__atomic_store_n(&hsa.loaded, true, __ATOMIC_RELEASE);
	ws_runtime_used(WS_RUNTIME_HSA, (uint32_t)runtime_version);
	if (!hsa.told) {
		hsa.told = true;
		atexit(at_exit);
	}
	ws_scratch_take(tables[WS_HSA_TOOLS]);
	install_wrappers(tables);
}

/* Somebody attached again, and may have asked for more. */
void ws_hsa_take_again(struct ws_hsa_table *const tables[])
{
	ws_runtime_used(WS_RUNTIME_HSA, (uint32_t)hsa.version);
	ws_count_load();
	ws_told_load();
	if (ws_counting())
		ws_code_match();
	ws_scratch_take(tables[WS_HSA_TOOLS]);
	install_wrappers(tables);
}

WS_PUBLIC bool OnLoad(struct ws_hsa_root *root, uint64_t runtime_version, uint64_t n_failed,
		      const char *const *failed)
{
	int saved_errno = errno;
	struct ws_hsa_table *tables[WS_HSA_TABLES] = { NULL };

	if (!ws_config()->services || !ws_capture())
		return true; /* nothing asked, or nowhere to write: stay out of the way */
	if (root->minor >= offsetof(struct ws_hsa_root, tools)) {
		tables[WS_HSA_CORE] = root->core;
		tables[WS_HSA_AMD] = root->amd;
		tables[WS_HSA_IMAGE] = root->image;
		tables[WS_HSA_FINALIZER] = root->finalizer;
		if (root->minor >= offsetof(struct ws_hsa_root, tools) + sizeof(root->tools))
			tables[WS_HSA_TOOLS] = root->tools;
	}
	ws_hsa_take(tables, runtime_version);
	errno = saved_errno;
	return true;
}

WS_PUBLIC void OnUnload(void)
{
	int saved_errno = errno;

	if (!ws_hsa_loaded())
		return;
	ws_collector_settle();
	ws_queues_unload();
	ws_pending_unload();
	__atomic_store_n(&hsa.loaded, false, __ATOMIC_RELEASE);
	errno = saved_errno;
}

/* ---- the provider ---- */

static void state(struct ws_writer *writer)
{
	bool traced = ws_asked(WS_SERVICE_HSA_CORE) || ws_asked(WS_SERVICE_HSA_AMD) ||
		      ws_asked(WS_SERVICE_HSA_IMAGE) || ws_asked(WS_SERVICE_HSA_FINALIZER);

	if (traced)
		ws_ops_state(writer, WS_OP_HSA, ws_hsa_ops, WS_HSA_FUNCTIONS);
	ws_agents_state(writer);
	ws_agent_names_state(writer);
	ws_code_state(writer);
	ws_queues_state(writer);
	ws_count_state(writer);
}

static void forked(void)
{
	ws_count_forked();
	ws_pending_forked();
	ws_queues_forked();
	ws_told_forked();
	ws_code_forked();
	ws_scratch_forked();
	ws_agent_names_forked();
}

static void finish(uint64_t deadline_ns)
{
	if (!ws_hsa_loaded())
		return;
	ws_pending_drain(deadline_ns);
	ws_told_drain(deadline_ns);
	ws_scratch_drain(deadline_ns);
}

/* The GPU is as it was before; what it was counting when we were told to go is waited for. */
static void detach(void)
{
	if (!ws_count_on())
		return;
	ws_count_drain();
	ws_pending_drain(ws_now_ns());
	ws_count_stop();
}

const struct ws_provider ws_provider_hsa = {
	.name = "hsa",
	.state = state,
	.forked = forked,
	.finish = finish,
	.attach = ws_hsa_attach,
	.detach = detach,
	.dying = ws_pending_hurry,
};
