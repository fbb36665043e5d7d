/* frames_native: from addresses to functions, each file and each address once. */
#include "profile/frames_priv.h"

#include "base/log.h"
#include "base/util.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX (1u << 16)
#define MODULES_MAX (1u << 20)
#define ADDRESSES_MAX (1u << 26)
#define REPORTED_MAX 4u /* files */

/* Our own libraries begin so; those that replace others' libraries have the others' names. */
static const char internal_prefix[] = "libwavescope-";

/* Stands for a file that cannot be read, so that it is tried once. */
static char unreadable;

void prof_native_init(struct prof_native *native, const struct trc_host *host,
		      const struct prof_frames_opts *opts, struct ws_arena *arena)
{
	*native = (struct prof_native){ .host = host, .opts = *opts, .arena = arena };
	ws_map_init(&native->files, WS_MAP_STR, FILES_MAX);
	ws_map_init(&native->modules, WS_MAP_U64, MODULES_MAX);
	ws_map_init(&native->strays, WS_MAP_U64, ADDRESSES_MAX);
}

void prof_native_fini(struct prof_native *native)
{
	ws_map_each(entry, &native->modules)
		ws_map_fini(&((struct prof_module *)entry->value)->known);
	ws_map_each(entry, &native->files)
		if (entry->value != &unreadable)
			code_host_close(entry->value);
	ws_map_fini(&native->files);
	ws_map_fini(&native->modules);
	ws_map_fini(&native->strays);
}

/* ---- modules ---- */

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Each file once, though several reports of a process look its names up, and not all of them:
 * a recording of another machine may have hundreds.
 */
static void report_unreadable(const char *path, const struct ws_err *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static uint64_t reported[REPORTED_MAX];
	static unsigned n_reported;
	uint64_t hash = ws_hash_bytes(path, strlen(path));
	bool known = false;
	unsigned n;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < WS_MIN(n_reported, REPORTED_MAX); i++)
		known |= reported[i] == hash;
	n = known ? 0 : ++n_reported;
	if (n && n <= REPORTED_MAX)
		reported[n - 1] = hash;
	pthread_mutex_unlock(&lock);
	if (known)
		return;
	if (n > REPORTED_MAX)
		ws_log_info("%s: its functions are shown as offsets", err->text);
	else
		ws_log_warn("%s: its functions are shown as offsets%s", err->text,
			    n == REPORTED_MAX ? "; WAVESCOPE_LOG=info lists further files" : "");
}

/* NULL: it cannot be read. */
static struct code_host *file_of(struct prof_native *native, const struct trc_module *mapped)
{
	struct ws_err err = { WS_OK, "" };
	struct code_host *code = NULL;
	char *key = ws_arena_alloc(native->arena,
				   strlen(mapped->path) + 1 + mapped->n_build_id * 2u + 1);
	char *to = key;
	void *known;
	enum ws_status st;

	if (!key)
		return NULL;
	to += sprintf(to, "%s\n", mapped->path);
	for (uint32_t i = 0; i < mapped->n_build_id; i++)
		to += sprintf(to, "%02x", mapped->build_id[i]);
	known = ws_map_get(&native->files, key);
	if (known)
		return known == &unreadable ? NULL : known;
	st = code_host_open(mapped->path, mapped->build_id, mapped->n_build_id, &code, &err);
	if (st && mapped->path[0] == '/')
		report_unreadable(mapped->path, &err);
	if (ws_map_put(&native->files, ws_str_from(key), st ? (void *)&unreadable : code, NULL)) {
		code_host_close(code);
		return NULL;
	}
	return code;
}

/* NULL: in none, or no memory. */
static struct prof_module *module_of(struct prof_native *native, uint32_t generation,
				     uint64_t address)
{
	const struct trc_module *mapped = trc_host_module(native->host, generation, address);
	struct prof_module *module;

	if (!mapped)
		return NULL;
	module = ws_map_get_u64(&native->modules, (uintptr_t)mapped);
	if (module)
		return module;
	module = ws_arena_new(native->arena, struct prof_module);
	if (!module)
		return NULL;
	module->mapped = mapped;
	module->path = mapped->path;
	module->internal =
		strncmp(file_name(mapped->path), internal_prefix, strlen(internal_prefix)) == 0;
	module->interpreter = prof_is_interpreter(mapped->path);
	ws_map_init(&module->known, WS_MAP_U64, ADDRESSES_MAX);
	if (ws_map_put_u64(&native->modules, (uintptr_t)mapped, module, NULL))
		return NULL;
	module->code = file_of(native, mapped);
	return module;
}

/* ---- addresses ---- */

/* Relative to the file: the same in every run. @start: of the function; 0: unknown. */
static const char *name_without_symbol(struct prof_native *native, const struct prof_module *module,
				       uint64_t address, uint64_t start)
{
	uint64_t offset = module ? address - module->mapped->bias : 0;

	if (!module)
		return ws_arena_printf(native->arena, "0x%llx", (unsigned long long)address);
	if (module->path[0] == '[')
		return module->path;
	if (module->code && code_host_is_signal_return(module->code, offset))
		return "<signal handler called>";
	return ws_arena_printf(native->arena, "%s+0x%llx", file_name(module->path),
			       (unsigned long long)(start ? start : offset));
}

static struct prof_chain *look_up(struct prof_native *native, struct prof_module *module,
				  uint64_t address, bool returns)
{
	struct code_host_frame found[CODE_HOST_FRAMES_MAX] = { { .name = NULL } };
	uint64_t offset = module ? address - module->mapped->bias : 0;
	size_t n = module && module->code ? code_host_at(module->code, offset - returns, found,
							 WS_ARRAY_LEN(found))
					  : 1;
	size_t first = native->opts.inlines ? 0 : n - 1;
	struct prof_chain *chain =
		ws_arena_alloc(native->arena, sizeof(*chain) + (n - first) * sizeof(*chain->at));

	if (!chain)
		return NULL;
	chain->module = module;
	chain->eval = found[n - 1].name && prof_is_eval(found[n - 1].name);
	for (size_t i = first; i < n; i++) {
		struct prof_frame *frame = &chain->at[chain->n];

		*frame = (struct prof_frame){
			.name = found[i].name,
			.file = found[i].file ? found[i].file : "",
			.module = module ? module->path : "",
			.line = found[i].line,
			.address = address,
			.offset = offset,
			.inlined = found[i].inlined,
			.internal = module && module->internal,
		};
		if (!frame->name)
			frame->name = name_without_symbol(native, module, address, found[i].start);
		if (!frame->name)
			return NULL;
		chain->plumbing |= (uint64_t)prof_is_plumbing(frame->name) << chain->n;
		chain->n++;
	}
	if (module && chain->eval)
		module->interpreter = true;
	return chain;
}

const struct prof_chain *prof_native_at(struct prof_native *native, uint32_t generation,
					uint64_t address, bool returns)
{
	/* The call before a return address may be the last instruction of a module's code. */
	struct prof_module *module = module_of(native, generation, address - returns);
	struct ws_map *known = module ? &module->known : &native->strays;
	uint64_t key = module ? (address - module->mapped->start) << 1 | returns : address;
	struct prof_chain *chain = ws_map_get_u64(known, key);

	if (chain)
		return chain;
	chain = look_up(native, module, address, returns);
	if (!chain || ws_map_put_u64(known, key, chain, NULL))
		return NULL;
	return chain;
}

bool prof_native_is_signal_return(struct prof_native *native, uint32_t generation, uint64_t address)
{
	struct prof_module *module = module_of(native, generation, address);

	return module && module->code &&
	       code_host_is_signal_return(module->code, address - module->mapped->bias);
}
