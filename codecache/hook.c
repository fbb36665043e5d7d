#include "codecache/hook.h"

#include "base/got.h"
#include "base/util.h"
#include "codecache/action.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INFOS_MAX 256

static struct {
	struct cc_cache cache;
	atomic_bool ready; /* everything above is set, and does not change any more */
	void (*log)(const char *text);
} hook;

/* ---- infos ---- */

enum { HAS_ISA = 1, IS_SPECIAL = 2 };

static pthread_mutex_t infos_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint64_t handle; /* 0: free */
	unsigned flags;
} infos[INFOS_MAX];

/* Index of it, or -1. */
static int find_info(uint64_t handle)
{
	for (int i = 0; i < INFOS_MAX; i++)
		if (infos[i].handle == handle)
			return i;
	return -1;
}

static void set_info(uint64_t handle, unsigned flags)
{
	int i;

	pthread_mutex_lock(&infos_lock);
	i = find_info(handle);
	if (i >= 0)
		infos[i].flags |= flags;
	pthread_mutex_unlock(&infos_lock);
}

static void replace_info(uint64_t from, uint64_t to)
{
	int i;

	pthread_mutex_lock(&infos_lock);
	i = find_info(from);
	if (i >= 0) {
		infos[i].handle = to;
		infos[i].flags = 0;
	}
	pthread_mutex_unlock(&infos_lock);
}

static bool is_covered(uint64_t handle)
{
	bool covered;
	int i;

	pthread_mutex_lock(&infos_lock);
	i = handle ? find_info(handle) : -1;
	covered = i >= 0 && infos[i].flags == HAS_ISA;
	pthread_mutex_unlock(&infos_lock);
	return covered;
}

/* ---- wrappers ---- */

/* What the arguments behind the handle are does not matter: registers are passed on. */
typedef int setter(struct cc_handle info, uintptr_t a, uintptr_t b);

static struct {
	int (*do_action)(int kind, struct cc_handle info, struct cc_handle input,
			 struct cc_handle result);
	int (*create_info)(struct cc_handle *out);
	int (*destroy_info)(struct cc_handle info);
	setter *isa_name, *options, *directory, *bundle_ids, *device_libs, *vfs;
} real;

static int run_action(int kind, struct cc_handle info, struct cc_handle input,
		      struct cc_handle result)
{
	if (atomic_load(&hook.cache.off) || !atomic_load(&hook.ready) || !is_covered(info.handle))
		return real.do_action(kind, info, input, result);
	return cc_action_run(&hook.cache, kind, info, input, result);
}

static int create_info(struct cc_handle *out)
{
	int status = real.create_info(out);

	if (!status) {
		replace_info(out->handle, 0); /* of one whose end was not seen */
		replace_info(0, out->handle);
	}
	return status;
}

static int destroy_info(struct cc_handle info)
{
	replace_info(info.handle, 0);
	return real.destroy_info(info);
}

static int set_isa_name(struct cc_handle info, uintptr_t name, uintptr_t unused)
{
	int status = real.isa_name(info, name, unused);

	/* An empty one is as none. */
	set_info(info.handle, status || !name || !*(const char *)name ? IS_SPECIAL : HAS_ISA);
	return status;
}

#define SPECIAL_SETTER(name)                                                                       \
	static int set_##name(struct cc_handle info, uintptr_t a, uintptr_t b)                     \
	{                                                                                          \
		set_info(info.handle, IS_SPECIAL);                                                 \
		return real.name(info, a, b);                                                      \
	}
SPECIAL_SETTER(options)
SPECIAL_SETTER(directory)
SPECIAL_SETTER(bundle_ids)
SPECIAL_SETTER(device_libs)
SPECIAL_SETTER(vfs)

/* clang-format off */
static const struct {
	const char *name; /* behind the prefix */
	void *wrapper;    /* NULL: nothing to remember, the key covers it */
	void **real;
} functions[] = {
	{ "do_action",                              (void *)run_action,      (void **)&real.do_action },
	{ "create_action_info",                     (void *)create_info,     (void **)&real.create_info },
	{ "destroy_action_info",                    (void *)destroy_info,    (void **)&real.destroy_info },
	{ "action_info_set_isa_name",               (void *)set_isa_name,    (void **)&real.isa_name },
	{ "action_info_set_options",                (void *)set_options,     (void **)&real.options },
	{ "action_info_set_working_directory_path", (void *)set_directory,   (void **)&real.directory },
	{ "action_info_set_bundle_entry_ids",       (void *)set_bundle_ids,  (void **)&real.bundle_ids },
	{ "action_info_set_device_lib_linking",     (void *)set_device_libs, (void **)&real.device_libs },
	{ "action_info_set_vfs",                    (void *)set_vfs,         (void **)&real.vfs },
	{ "action_info_set_language",               NULL, NULL },
	{ "action_info_set_logging",                NULL, NULL },
	{ "action_info_set_option_list",            NULL, NULL },
};
/* clang-format on */

#define SETTERS "action_info_set_"

/* ---- looking them up ---- */

static void say(const char *what, const char *detail)
{
	char text[400];

	if (!hook.log)
		return;
	snprintf(text, sizeof(text), "code cache: %s%.300s", what, detail);
	hook.log(text);
}

/* The rest of the library, from the same place; false: it is another version. */
static bool find_comgr(void *library, struct cc_comgr *out)
{
	size_t major = 0, minor = 0;

#define FIND(type, name, parameters)                                                               \
	out->name = (__typeof__(out->name))dlsym(library, CC_COMGR_PREFIX #name);                  \
	if (!out->name)                                                                            \
		return false;
	CC_COMGR_FUNCTIONS(FIND)
#undef FIND
	out->get_version(&major, &minor);
	return major >= CC_COMGR_MAJOR_MIN && major <= CC_COMGR_MAJOR_MAX;
}

/* Called by whoever looks do_action up first: HIP does it once. */
static bool prepare(void *library, void *do_action)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const char *folder = getenv(CC_STORE_VARIABLE);
	struct ws_err err = { 0 };
	bool ready;

	pthread_mutex_lock(&lock);
	if (!atomic_load(&hook.ready)) {
		if (cc_store_open(&hook.cache.store, folder && *folder ? folder : NULL, &err))
			say("not used: ", err.text);
		else if (!find_comgr(library, &hook.cache.comgr) ||
			 !cc_compiler_digest(do_action, hook.cache.compiler))
			say("not used: ", "the compiler library is of an unknown version");
		else
			atomic_store(&hook.ready, true);
		hook.cache.log = hook.log;
	}
	ready = atomic_load(&hook.ready);
	pthread_mutex_unlock(&lock);
	return ready;
}

static void *wrap(void *library, const char *name, void *found)
{
	const char *rest = name + strlen(CC_COMGR_PREFIX);

	for (size_t i = 0; i < WS_ARRAY_LEN(functions); i++) {
		void *before = NULL;

		if (strcmp(rest, functions[i].name) != 0)
			continue;
		if (!functions[i].wrapper || (i == 0 && !prepare(library, found)))
			return found;
		/* A second library of that name in one process: only the first is cached. */
		if (!__atomic_compare_exchange_n(functions[i].real, &before, found, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
		    before != found)
			return found;
		return functions[i].wrapper;
	}
	if (strncmp(rest, SETTERS, strlen(SETTERS)) == 0) {
		say("not used: the key does not cover ", name);
		atomic_store(&hook.cache.off, true);
	}
	return found;
}

/* The last call is a jump, as the library is optimised: RTLD_NEXT means "after the caller". */
void *cc_hook_look_up(void *restrict library, const char *restrict name)
{
	if (name && strncmp(name, CC_COMGR_PREFIX, strlen(CC_COMGR_PREFIX)) == 0) {
		void *found = dlsym(library, name);

		return found ? wrap(library, name, found) : NULL;
	}
	return dlsym(library, name);
}

/* ---- calling them directly ---- */

struct linked {
	void *comgr;
	bool creates; /* which functions are replaced now: those that make infos and use them, or the others */
	uint32_t n;
};

static void *choose(const char *name, void *arg)
{
	struct linked *linked = arg;
	const char *rest = name + strlen(CC_COMGR_PREFIX);
	void *found, *wrapper;

	if (strncmp(name, CC_COMGR_PREFIX, strlen(CC_COMGR_PREFIX)) != 0 ||
	    linked->creates !=
		    (!strcmp(rest, functions[0].name) || !strcmp(rest, functions[1].name)))
		return NULL;
	found = dlsym(linked->comgr, name);
	wrapper = found ? wrap(linked->comgr, name, found) : NULL;
	if (!wrapper || wrapper == found)
		return NULL;
	linked->n++;
	return wrapper;
}

uint32_t cc_hook_link(const char *client)
{
	struct linked linked = { .comgr = NULL };

	for (int major = CC_COMGR_MAJOR_MIN; !linked.comgr && major <= CC_COMGR_MAJOR_MAX;
	     major++) {
		char name[32];

		snprintf(name, sizeof(name), "libamd_comgr.so.%d", major);
		linked.comgr = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
	}
	if (!linked.comgr)
		return 0;
	/* Setters first: an info that is made from now on has all its settings seen. */
	ws_got_patch_library(client, choose, &linked);
	linked.creates = true;
	ws_got_patch_library(client, choose, &linked);
	dlclose(linked.comgr);
	return linked.n;
}

bool cc_hook_wanted(void)
{
	const char *choice = getenv(CC_STORE_VARIABLE);

	return !choice || strcmp(choice, "off") != 0;
}

void cc_hook_set_log(void (*log)(const char *text))
{
	hook.log = log;
}
