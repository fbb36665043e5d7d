/*
 * watch: finds the modules of the plan among those that are loaded.
 *
 * The dynamic loader calls an empty function for debuggers whenever its list of modules
 * has changed, before the constructors of new modules run. That function gets a jump to our own,
 * so that a library is patched before any of its code runs, and dlopen() needs no wrapper. (A wrapper
 * would be the caller that dlopen() searches libraries for.)
 */
#include "collector/instrument/instrument_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHADOW_STACK_STATUS 0x5005 /* ARCH_SHSTK_STATUS of arch_prctl() */
#define SEEN_MAX 4096u
#define OWN_EXE "/proc/self/exe"

struct file_id {
	dev_t dev;
	ino_t ino;
};

static struct {
	struct col_plan plan;
	struct file_id *files;      /* of the plan's modules */
	const void *seen[SEEN_MAX]; /* dynamic sections of modules that were looked at */
	uint32_t n_seen;
	struct col_patch_counts counts;
	bool watching;
} watch;

/* ---- modules ---- */

static struct file_id id_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (struct file_id){ st.st_dev, st.st_ino }
				    : (struct file_id){ 0 };
}

static void look_at(const struct link_map *map)
{
	struct file_id id = id_of(*map->l_name ? map->l_name : OWN_EXE);

	for (uint32_t i = 0; i < watch.plan.n_modules && id.ino; i++) {
		if (watch.files[i].dev != id.dev || watch.files[i].ino != id.ino)
			continue;
		col_patch_module(&watch.plan, &watch.plan.modules[i], map->l_addr, &watch.counts);
		col_calls_forget();
	}
}

static bool is_loaded(const void *dynamic)
{
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
		if (map->l_ld == dynamic)
			return true;
	return false;
}

static bool is_seen(const void *dynamic)
{
	for (uint32_t i = 0; i < watch.n_seen; i++)
		if (watch.seen[i] == dynamic)
			return true;
	return false;
}

/* Called by the loader, which holds its lock. */
static void modules_changed(void)
{
	int saved_errno = errno;
	uint32_t n = 0;

	if (_r_debug.r_state != RT_CONSISTENT)
		return;
	for (uint32_t i = 0; i < watch.n_seen; i++)
		if (is_loaded(watch.seen[i]))
			watch.seen[n++] = watch.seen[i];
	watch.n_seen = n;
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		if (is_seen(map->l_ld))
			continue;
		if (watch.n_seen < SEEN_MAX)
			watch.seen[watch.n_seen++] = map->l_ld;
		look_at(map);
	}
	errno = saved_errno;
}

/* "ret", with endbr64 before it or not, and padding after it: or there is no telling what it is. */
static bool is_empty_function(const uint8_t *code, uint32_t *out_at)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint32_t at = memcmp(code, endbr64, 4) == 0 ? 4 : 0;

	*out_at = at;
	if (code[at] == 0xf3 && code[at + 1] == 0xc3) /* rep ret */
		at++;
	if (code[at] != 0xc3)
		return false;
	/* The prefixes and the first byte of the no-operations that assemblers pad with. */
	for (at++; at < *out_at + 2; at++)
		if (code[at] != 0x66 && code[at] != 0x90 && code[at] != 0x0f && code[at] != 0x2e &&
		    code[at] != 0xcc)
			return false;
	return true;
}

static bool start_watching(void)
{
	uint64_t at = (uint64_t)_r_debug.r_brk, way_in = (uint64_t)modules_changed;
	uint8_t code[16], jump[5] = { 0xe9 };
	uint32_t skip;
	uint8_t *page;
	int32_t distance;

	/* Functions are aligned to 16 bytes, so the next one begins there at the earliest. */
	if (!at || at % 16 || !col_patch_read(at, code, sizeof(code)) ||
	    !is_empty_function(code, &skip))
		return false;
	page = col_patch_near(at, at + 16, 4096);
	if (!page)
		return false;
	memcpy(page, "\xff\x25\x02\x00\x00\x00\x00\x00", 8); /* jmp *page+8 */
	memcpy(page + 8, &way_in, 8);
	at += skip;
	distance = (int32_t)((uint64_t)page - (at + 5));
	memcpy(jump + 1, &distance, 4);
	return col_patch_seal(page, 4096) && col_patch_write(at, jump, sizeof(jump));
}

/* ---- start ---- */

static bool read_plan(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *file = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && st.st_size > 0)
		file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return false;
	if (col_plan_check(file, (size_t)st.st_size, &watch.plan))
		return true;
	munmap(file, (size_t)st.st_size);
	col_note("functions are not instrumented: the plan is damaged or of another version");
	return false;
}

static bool find_plan(void)
{
	const char *path = getenv(COL_PLAN_VARIABLE);
	char own[PATH_MAX + sizeof(COL_PLAN_SUFFIX)];
	ssize_t n;

	if (path && *path)
		return read_plan(path);
	n = readlink(OWN_EXE, own, PATH_MAX - 1);
	if (n <= 0)
		return false;
	memcpy(own + n, COL_PLAN_SUFFIX, sizeof(COL_PLAN_SUFFIX));
	return read_plan(own);
}

static bool reserve(void)
{
	void *mirror = (void *)(COL_CALLS_LOWEST - COL_CALLS_MIRROR);
	uint64_t status = 0;

	if (syscall(SYS_arch_prctl, SHADOW_STACK_STATUS, &status) == 0 && status & 1) {
		col_note("functions are not instrumented: the processor checks return addresses "
			 "(shadow stack): start the program with "
			 "GLIBC_TUNABLES=glibc.cpu.x86_shstk=off");
		return false;
	}
	if (mmap(mirror, COL_CALLS_HIGHEST - COL_CALLS_LOWEST, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
		 0) != mirror) {
		col_note("functions are not instrumented: 43 TiB of address space cannot be "
			 "reserved: raise the limit of virtual memory (ulimit -v)");
		return false;
	}
	col_calls_blocks = col_pages(COL_CALLS_BLOCKS);
	return col_calls_blocks && col_instrumented_start();
}

static bool has_xsave(void)
{
	uint32_t a = 1, b, c = 0, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return c >> 27 & 1; /* OSXSAVE */
}

static void report(void)
{
	char text[160];

	if (!watch.counts.n_other && !watch.counts.n_failed)
		return;
	snprintf(text, sizeof(text),
		 "%u functions are instrumented, %u were changed since the analysis, %u cannot be "
		 "patched",
		 watch.counts.n_done, watch.counts.n_other, watch.counts.n_failed);
	col_note(text);
}

void col_instrument_start(void)
{
	int saved_errno = errno;

	if (watch.watching || !col_asked(COL_SERVICE_REGIONS) || !find_plan())
		return;
	watch.watching = true;
	watch.files = col_pages(watch.plan.n_modules * sizeof(*watch.files) + 1);
	col_instrument_has_xsave = has_xsave();
	if (watch.files && reserve()) {
		for (uint32_t i = 0; i < watch.plan.n_modules; i++)
			watch.files[i] = id_of(watch.plan.bytes + watch.plan.modules[i].path_at);
		modules_changed();
		report();
		if (!start_watching())
			col_note("functions of libraries that the program opens later are not "
				 "instrumented: this dynamic loader is not known");
	}
	errno = saved_errno;
}

extern const struct col_provider col_provider_instrument;
const struct col_provider col_provider_instrument = {
	.name = "instrument",
	.forked = col_calls_forked,
};
