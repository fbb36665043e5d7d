#include "base/got.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- one object ---- */

struct object {
	ElfW(Addr) base;
	const ElfW(Sym) * symbols;
	const char *strings;
	size_t n_strings;
	const struct ws_got_object *loaded;
	ws_got_choice *choose;
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
		fn = object->choose(object->strings + symbol->st_name, object->arg);
		if (fn)
			store(object, (void **)(object->base + table[i].r_offset), fn);
	}
}

/* glibc relocates these pointers where it can write to them; elsewhere they are offsets. */
static const void *at(const struct link_map *map, ElfW(Addr) value)
{
	return (const void *)(value < map->l_addr ? map->l_addr + value : value);
}

static void patch_object(const struct link_map *map, const struct ws_got_object *loaded,
			 ws_got_choice *choose, void *arg)
{
	struct object object = {
		.base = map->l_addr, .loaded = loaded, .choose = choose, .arg = arg
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

bool ws_got_describe(const struct dl_phdr_info *info, struct ws_got_object *loaded)
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

void ws_got_patch(const struct ws_got_object *loaded, ws_got_choice *choose, void *arg)
{
	void *handle = dlopen(loaded->path[0] ? loaded->path : NULL, RTLD_NOLOAD | RTLD_LAZY);
	struct link_map *map;

	if (!handle)
		return; /* unloaded meanwhile */
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
		patch_object(map, loaded, choose, arg);
	dlclose(handle);
}

/* ---- one library ---- */

static bool begins(const char *text, const char *beginning)
{
	return !strncmp(text, beginning, strlen(beginning));
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct one_library {
	const char *beginning;
	struct ws_got_object loaded;
	const struct ws_got_row *rows;
	size_t n_rows;
	uint64_t found; /* bit per row */
};

static int find_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct one_library *one = arg;

	return begins(file_name(info->dlpi_name), one->beginning) &&
	       ws_got_describe(info, &one->loaded);
}

bool ws_got_patch_library(const char *library, ws_got_choice *choose, void *arg)
{
	struct one_library one = { .beginning = library };

	if (!dl_iterate_phdr(find_library, &one))
		return false;
	ws_got_patch(&one.loaded, choose, arg);
	return true;
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

uint32_t ws_got_replace(const char *library, const struct ws_got_row *rows, size_t n_rows)
{
	struct one_library one = { .beginning = library, .rows = rows, .n_rows = n_rows };
	void *handle;

	if (!dl_iterate_phdr(find_library, &one))
		return 0;
	handle = dlopen(one.loaded.path, RTLD_NOLOAD | RTLD_LAZY);
	if (!handle)
		return 0;
	/* Looked up, not read off the table: there may still be the loader's own stub. None is written before all are
	 * there: another library may call the replacements already. */
	for (size_t i = 0; i < n_rows; i++)
		if (!dlsym(handle, rows[i].name)) {
			dlclose(handle);
			return 0;
		}
	for (size_t i = 0; i < n_rows; i++)
		*rows[i].real = dlsym(handle, rows[i].name);
	ws_got_patch(&one.loaded, row_of, &one);
	dlclose(handle);
	return (uint32_t)__builtin_popcountll(one.found);
}
