#include "collector/interpose/got.h"

#include "collector/collector_priv.h"
#include "collector/interpose/preload.h"
#include "collector/interpose/wrapped.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OBJECTS_MAX 1024u

static struct {
	void *wrappers[COL_PRELOAD_COUNT]; /* handles; NULL: not wanted */
	char dir[PATH_MAX];                /* ours, with '/' */
	unsigned long long n_loads;        /* objects ever loaded, when we looked last */
	struct loaded {
		char path[256];             /* "" is the program */
		uintptr_t relro, relro_end; /* what the loader made read-only */
	} objects[OBJECTS_MAX];             /* too large for a stack that is not ours */
	uint32_t n_objects;
} got;

static bool begins(const char *text, const char *beginning)
{
	return !strncmp(text, beginning, strlen(beginning));
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- the wrappers ---- */

static bool find_ourselves(void)
{
	Dl_info info;
	size_t n;

	if (got.dir[0])
		return true;
	if (!dladdr((void *)&col_got_want, &info) || !info.dli_fname)
		return false;
	n = (size_t)(file_name(info.dli_fname) - info.dli_fname);
	if (n == 0 || n >= sizeof(got.dir) - 64)
		return false;
	memcpy(got.dir, info.dli_fname, n);
	got.dir[n] = '\0';
	return true;
}

void col_got_want(uint32_t services, uint32_t flags)
{
	char path[PATH_MAX];

	if (!find_ourselves()) {
		col_note("attach: the wrapper libraries are not next to the collector");
		return;
	}
	for (size_t i = 1; i < COL_PRELOAD_COUNT; i++) { /* 0 is the collector */
		/* The one for dlsym() needs the others in front of everything, where nothing is
		 * now. */
		if (!col_preload_wanted(i, services, flags) || got.wrappers[i] ||
		    strstr(col_preload[i].library, "dlsym"))
			continue;
		strcpy(path, got.dir);
		strcat(path, col_preload[i].library);
		got.wrappers[i] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!got.wrappers[i])
			col_note("attach: cannot load a wrapper library, its calls are not "
				 "recorded");
	}
	got.n_loads = 0;
}

static const struct col_wrapped *wrapped_name(const char *name)
{
	for (const struct col_wrapped *w = col_wrapped; w->library; w++)
		for (size_t i = 0; w->prefixes[i]; i++)
			if (begins(name, w->prefixes[i]))
				return w;
	return NULL;
}

/* The wrapper of @name, from a library of wrappers that is in use. */
static void *wrapper_of(const char *name, void *arg)
{
	const struct col_wrapped *w = wrapped_name(name);

	for (size_t i = 1; w && i < COL_PRELOAD_COUNT; i++) {
		Dl_info info;
		void *fn;

		if (!got.wrappers[i] || !begins(col_preload[i].library, w->wrappers))
			continue;
		fn = dlsym(got.wrappers[i], name);
		/* A handle also finds what its library depends on. */
		if (fn && dladdr(fn, &info) && info.dli_fname &&
		    begins(file_name(info.dli_fname), w->wrappers))
			return fn;
	}
	return NULL;
}

/* Our roctx, linked by the program itself, asks for the collector by weak references. */
static void *collector_function(const char *name, void *arg)
{
	Dl_info info;
	void *fn;

	if (!begins(name, "col_marker_") && !begins(name, "col_agent_name_") &&
	    strcmp(name, "col_thread_name") != 0 && strcmp(name, "col_hip_stream_name") != 0)
		return NULL;
	fn = dladdr((void *)&col_got_want, &info) ? dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_NOW)
						  : NULL;
	return fn ? dlsym(fn, name) : NULL; /* one reference more to what is never unloaded */
}

/* ---- one object ---- */

/* What to call instead of the function of that name; NULL: leave it. */
typedef void *(*replacement_fn)(const char *name, void *arg);

struct object {
	ElfW(Addr) base;
	const ElfW(Sym) * symbols;
	const char *strings;
	size_t n_strings;
	const struct loaded *loaded;
	replacement_fn replacement;
	void *arg;
};

static void store(const struct object *object, void **slot, void *value)
{
	uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE), where = (uintptr_t)slot;
	void *page = (void *)(where & ~(page_bytes - 1));
	bool sealed = where >= object->loaded->relro && where < object->loaded->relro_end;

	if (__atomic_load_n(slot, __ATOMIC_RELAXED) == value ||
	    (sealed && mprotect(page, page_bytes, PROT_READ | PROT_WRITE)))
		return;
	__atomic_store_n(slot, value, __ATOMIC_RELEASE);
	if (sealed)
		mprotect(page, page_bytes, PROT_READ);
}

static void patch_table(const struct object *object, const ElfW(Rela) * table, size_t n_bytes)
{
	for (size_t i = 0; table && i < n_bytes / sizeof(*table); i++) {
		const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(table[i].r_info)];
		uint32_t type = (uint32_t)ELF64_R_TYPE(table[i].r_info);
		void *fn;

		if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
		    symbol->st_name >= object->n_strings)
			continue;
		fn = object->replacement(object->strings + symbol->st_name, object->arg);
		if (fn)
			store(object, (void **)(object->base + table[i].r_offset), fn);
	}
}

/* glibc relocates these pointers where it can write to them; elsewhere they are offsets. */
static const void *at(const struct link_map *map, ElfW(Addr) value)
{
	return (const void *)(value < map->l_addr ? map->l_addr + value : value);
}

static void patch_object(const struct link_map *map, const struct loaded *loaded,
			 replacement_fn replacement, void *arg)
{
	struct object object = {
		.base = map->l_addr, .loaded = loaded, .replacement = replacement, .arg = arg
	};
	const ElfW(Rela) *plt = NULL, *rela = NULL;
	size_t n_plt = 0, n_rela = 0;
	bool is_rela = true;

	for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB:
			object.symbols = at(map, d->d_un.d_ptr);
			break;
		case DT_STRTAB:
			object.strings = at(map, d->d_un.d_ptr);
			break;
		case DT_STRSZ:
			object.n_strings = d->d_un.d_val;
			break;
		case DT_JMPREL:
			plt = at(map, d->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			n_plt = d->d_un.d_val;
			break;
		case DT_RELA:
			rela = at(map, d->d_un.d_ptr);
			break;
		case DT_RELASZ:
			n_rela = d->d_un.d_val;
			break;
		case DT_PLTREL:
			is_rela = d->d_un.d_val == DT_RELA;
			break;
		default:
			break;
		}
	}
	if (!object.symbols || !object.strings || !is_rela)
		return;
	patch_table(&object, plt, n_plt);
	patch_table(&object, rela, n_rela);
}

/* ---- all objects ---- */

static bool is_roctx_of_ours(const char *path)
{
	return begins(file_name(path), "libroctx64.so") ||
	       begins(file_name(path), "librocprofiler-sdk-roctx.so");
}

static bool is_left_alone(const char *path)
{
	const char *name = file_name(path);

	for (const struct col_wrapped *w = col_wrapped; w->library; w++)
		if (begins(name, w->library) || (w->library2 && begins(name, w->library2)))
			return true;
	return begins(name, "libwavescope-") || begins(name, "ld-linux") ||
	       begins(name, "linux-vdso");
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *arg)
{
	*(unsigned long long *)arg = info->dlpi_adds;
	return 1;
}

/* Only this is taken while the loader is held: what follows calls the loader. */
static bool describe(struct loaded *loaded, const struct dl_phdr_info *info)
{
	uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);

	if (strlen(info->dlpi_name) >= sizeof(loaded->path))
		return false;
	strcpy(loaded->path, info->dlpi_name);
	loaded->relro = loaded->relro_end = 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_GNU_RELRO)
			continue;
		/* As the loader rounds it: pages that are sealed whole. */
		loaded->relro = (info->dlpi_addr + part->p_vaddr) & ~(page_bytes - 1);
		loaded->relro_end =
			(info->dlpi_addr + part->p_vaddr + part->p_memsz) & ~(page_bytes - 1);
	}
	return true;
}

static int take_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	if (describe(&got.objects[got.n_objects], info))
		got.n_objects++;
	return got.n_objects == OBJECTS_MAX;
}

static void patch_loaded(const struct loaded *loaded, replacement_fn replacement, void *arg)
{
	void *handle = dlopen(loaded->path[0] ? loaded->path : NULL, RTLD_NOLOAD | RTLD_LAZY);
	struct link_map *map;

	if (!handle)
		return; /* unloaded meanwhile */
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
		patch_object(map, loaded, replacement, arg);
	dlclose(handle);
}

void col_got_patch(void)
{
	unsigned long long n_loads = 0;

	dl_iterate_phdr(count_loads, &n_loads);
	if (n_loads == got.n_loads)
		return;
	got.n_loads = n_loads;
	got.n_objects = 0;
	dl_iterate_phdr(take_object, NULL);
	for (uint32_t i = 0; i < got.n_objects; i++) {
		if (is_roctx_of_ours(got.objects[i].path))
			patch_loaded(&got.objects[i], collector_function, NULL);
		else if (!is_left_alone(got.objects[i].path))
			patch_loaded(&got.objects[i], wrapper_of, NULL);
	}
}

/* ---- one library ---- */

struct one_library {
	const char *beginning;
	struct loaded loaded;
	const struct col_got_row *rows;
	size_t n_rows;
	uint64_t found; /* bit per row */
};

static int find_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct one_library *one = arg;

	return begins(file_name(info->dlpi_name), one->beginning) && describe(&one->loaded, info);
}

static void *row_of(const char *name, void *arg)
{
	struct one_library *one = arg;

	for (size_t i = 0; i < one->n_rows; i++)
		if (strcmp(one->rows[i].name, name) == 0) {
			one->found |= 1ull << i;
			return one->rows[i].replacement;
		}
	return NULL;
}

uint32_t col_got_replace(const char *library, const struct col_got_row *rows, size_t n_rows)
{
	struct one_library one = { .beginning = library, .rows = rows, .n_rows = n_rows };
	void *handle;

	if (!dl_iterate_phdr(find_library, &one))
		return 0;
	handle = dlopen(one.loaded.path, RTLD_NOLOAD | RTLD_LAZY);
	if (!handle)
		return 0;
	/* Looked up, not read off the table: there may still be the loader's own stub. */
	for (size_t i = 0; i < n_rows; i++) {
		*rows[i].real = dlsym(handle, rows[i].name);
		if (!*rows[i].real) {
			dlclose(handle);
			return 0;
		}
	}
	patch_loaded(&one.loaded, row_of, &one);
	dlclose(handle);
	return (uint32_t)__builtin_popcountll(one.found);
}
