#include "codecache/action.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

/* Parts of file names: what an action executes. */
static const char *const parts[] = { "amd_comgr", "LLVM", "clang", "lld" };

struct search {
	uintptr_t function;
	struct cc_digest digest;
	bool found; /* the one with the function */
	bool failed;
};

static bool contains(const struct dl_phdr_info *info, uintptr_t address)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && address >= info->dlpi_addr + part->p_vaddr &&
		    address < info->dlpi_addr + part->p_vaddr + part->p_memsz)
			return true;
	}
	return false;
}

static bool is_compiler(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

/* All notes, whatever they say: the build ID is among them. */
static void add_notes(struct cc_digest *digest, const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			cc_digest_field(digest,
					(const void *)(info->dlpi_addr +
						       info->dlpi_phdr[i].p_vaddr),
					info->dlpi_phdr[i].p_memsz);
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;
	bool here = contains(info, search->function);
	struct stat file;

	if (!here && !is_compiler(info->dlpi_name))
		return 0;
	search->found |= here;
	if (stat(info->dlpi_name, &file)) {
		search->failed = true;
		return 1;
	}
	cc_digest_text(&search->digest, info->dlpi_name);
	cc_digest_u64(&search->digest, (uint64_t)file.st_size);
	cc_digest_u64(&search->digest, (uint64_t)file.st_mtim.tv_sec);
	cc_digest_u64(&search->digest, (uint64_t)file.st_mtim.tv_nsec);
	add_notes(&search->digest, info);
	return 0;
}

bool cc_compiler_digest(const void *function, uint8_t out[CC_DIGEST_BYTES])
{
	struct search search = { .function = (uintptr_t)function };

	cc_digest_init(&search.digest);
	dl_iterate_phdr(visit, &search);
	cc_digest_end(&search.digest, out);
	return search.found && !search.failed;
}
