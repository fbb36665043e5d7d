/*
 * modules: executables and shared libraries, as handlers meet them.
 *
 * _dl_find_object() finds the module of an address without locks. C libraries before glibc
 * 2.35 have no such function; there a helper thread notes the loaded modules every 100 ms.
 * What else is needed (where the parts of the file are mapped, the build id) is read from
 * the ELF header in memory, once per module and generation.
 *
 * dlclose() begins a new generation if something was unloaded. While it runs, handlers read
 * nothing of modules: they use what is cached.
 */
#include "collector/sample/sample_priv.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENTRIES (1u << 14)
#define KNOWN 4096u /* modules whose headers need not be read again */
#define SCANNED 2048u
#define PAGE_BYTES 4096u
#define LEAVING_TURNS 10000u

/* struct dl_find_object of <dlfcn.h>, which older C libraries do not have. */
struct found_object {
	unsigned long long flags;
	void *start, *end;
	struct link_map *link_map;
	void *eh_frame;
	unsigned long long reserved[7];
};

struct object {
	uintptr_t start, end, header, bias, name;
	uintptr_t map; /* which it is: a module with holes is found in parts */
};

struct build_id {
	uint32_t n;
	uint8_t bytes[CAP_BUILD_ID_MAX];
};

static struct {
	int (*find_object)(void *address, struct found_object *out);
	struct col_id_entry
		*table; /* hash of the start -> generation << 32 | number in known + 1 */
	struct known {
		uint64_t stamp; /* as in the table; 0: being written */
		struct col_module module;
	} * known;
	uint32_t n_known, next_id, generation;
	uint32_t n_reading, n_unloading;
	unsigned long long n_loads, n_unloads; /* objects ever loaded, and unloaded */
	uintptr_t program_elf;                 /* the executable's header */
	char program[4096], cwd[4096];         /* its path, which the loader does not keep */
	struct object scanned[2][SCANNED];
	uint32_t n_scanned[2], scan;
} modules;

/* ---- generations ---- */

uint32_t col_modules_generation(void)
{
	return __atomic_load_n(&modules.generation, __ATOMIC_ACQUIRE);
}

bool col_modules_enter(void)
{
	__atomic_add_fetch(&modules.n_reading, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&modules.n_unloading, __ATOMIC_SEQ_CST) == 0)
		return true;
	col_modules_leave();
	return false;
}

void col_modules_leave(void)
{
	__atomic_sub_fetch(&modules.n_reading, 1, __ATOMIC_SEQ_CST);
}

/* How many were ever loaded, and unloaded. */
static int count_changes(struct dl_phdr_info *info, size_t n_bytes, void *arg)
{
	((unsigned long long *)arg)[0] = info->dlpi_adds;
	((unsigned long long *)arg)[1] = info->dlpi_subs;
	return 1;
}

/* A new generation, if something was unloaded; also by libc itself, which no wrapper sees. */
static void check_unloads(unsigned long long n_unloads)
{
	if (__atomic_exchange_n(&modules.n_unloads, n_unloads, __ATOMIC_RELAXED) == n_unloads)
		return;
	__atomic_add_fetch(&modules.generation, 1, __ATOMIC_RELEASE);
	if (!modules.find_object)
		col_modules_scan();
}

bool col_modules_check(void)
{
	unsigned long long n[2] = { 0, 0 };

	dl_iterate_phdr(count_changes, n);
	check_unloads(n[1]);
	if (__atomic_exchange_n(&modules.n_loads, n[0], __ATOMIC_RELAXED) == n[0])
		return false;
	if (!modules.find_object)
		col_modules_scan();
	return true;
}

void col_sample_unloading(bool begin)
{
	unsigned long long n[2] = { 0, 0 };

	if (!modules.table)
		return;
	if (begin) {
		int saved_errno = errno;

		__atomic_add_fetch(&modules.n_unloading, 1, __ATOMIC_SEQ_CST);
		/* A handler takes microseconds; one that does not run at all is not waited for. */
		for (uint32_t i = 0;
		     i < LEAVING_TURNS && __atomic_load_n(&modules.n_reading, __ATOMIC_SEQ_CST);
		     i++)
			sched_yield();
		errno = saved_errno;
		return;
	}
	dl_iterate_phdr(count_changes, n);
	check_unloads(n[1]);
	__atomic_sub_fetch(&modules.n_unloading, 1, __ATOMIC_SEQ_CST);
}

/* ---- which module ---- */

static int scan_module(struct dl_phdr_info *info, size_t n_bytes, void *arg)
{
	uint32_t to = *(uint32_t *)arg;
	struct object *object;

	if (modules.n_scanned[to] == SCANNED)
		return 1;
	object = &modules.scanned[to][modules.n_scanned[to]];
	*object = (struct object){ UINTPTR_MAX,
				   0,
				   0,
				   info->dlpi_addr,
				   (uintptr_t)info->dlpi_name,
				   (uintptr_t)info->dlpi_phdr };
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_GNU_EH_FRAME)
			object->header = at;
		if (part->p_type != PT_LOAD)
			continue;
		object->start = WS_MIN(object->start, at & ~(uintptr_t)(PAGE_BYTES - 1));
		object->end = WS_MAX(object->end, at + part->p_memsz);
	}
	modules.n_scanned[to]++;
	return 0;
}

void col_modules_scan(void)
{
	uint32_t to = !__atomic_load_n(&modules.scan, __ATOMIC_RELAXED);

	modules.n_scanned[to] = 0;
	dl_iterate_phdr(scan_module, &to);
	__atomic_store_n(&modules.scan, to, __ATOMIC_RELEASE);
}

static bool find_scanned(uintptr_t pc, struct object *out)
{
	uint32_t from = __atomic_load_n(&modules.scan, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < modules.n_scanned[from]; i++) {
		const struct object *object = &modules.scanned[from][i];

		if (pc >= object->start && pc < object->end) {
			*out = *object;
			return true;
		}
	}
	return false;
}

static bool find_object(uintptr_t pc, struct object *out)
{
	struct found_object found;

	if (!modules.find_object)
		return find_scanned(pc, out);
	if (modules.find_object((void *)pc, &found) != 0)
		return false;
	*out = (struct object){ (uintptr_t)found.start,
				(uintptr_t)found.end,
				(uintptr_t)found.eh_frame,
				found.link_map->l_addr,
				(uintptr_t)found.link_map->l_name,
				(uintptr_t)found.link_map };
	return true;
}

/* ---- its headers ---- */

/* At @at, where @n_bytes of the file are mapped; NULL: they are not. */
static const void *mapped(const struct col_cfi_ranges *ranges, uintptr_t at, uint64_t n_bytes)
{
	for (uint32_t i = 0; i < ranges->n; i++) {
		if (at >= ranges->range[i].start && at <= ranges->range[i].end &&
		    n_bytes <= ranges->range[i].end - at)
			return (const void *)at;
	}
	return NULL;
}

static void find_build_id(const struct col_cfi_ranges *ranges, uintptr_t at, uint64_t n_bytes,
			  struct build_id *out)
{
	const char *note = mapped(ranges, at, n_bytes);
	ElfW(Nhdr) head;

	while (note && n_bytes >= sizeof(head)) {
		uint64_t n_name, n_data;

		memcpy(&head, note, sizeof(head));
		n_name = (head.n_namesz + 3ull) / 4 * 4;
		n_data = (head.n_descsz + 3ull) / 4 * 4;
		if (n_name + n_data > n_bytes - sizeof(head))
			return;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
		    !memcmp(note + sizeof(head), "GNU", 4) && head.n_descsz <= CAP_BUILD_ID_MAX) {
			out->n = head.n_descsz;
			memcpy(out->bytes, note + sizeof(head) + n_name, out->n);
			return;
		}
		note += sizeof(head) + n_name + n_data;
		n_bytes -= sizeof(head) + n_name + n_data;
	}
}

/*
 * The ELF header, which the loader has mapped with the beginning of the file; NULL: it is not
 * where it should be. That is at the start of the module, or of its first part.
 */
static const ElfW(Ehdr) * find_elf(const struct object *object)
{
	const uintptr_t places[] = { object->start, object->bias, modules.program_elf };

	for (size_t i = 0; i < WS_ARRAY_LEN(places); i++) {
		const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)places[i];
		struct object part;

		if (!places[i] || places[i] % PAGE_BYTES || !find_object(places[i], &part) ||
		    part.map != object->map || part.end - places[i] < PAGE_BYTES)
			continue;
		if (!memcmp(elf->e_ident, ELFMAG, SELFMAG))
			return elf;
	}
	return NULL;
}

/* Program headers that are not in the first page are not looked for. */
static void read_headers(const struct object *object, struct col_module *out, struct build_id *id)
{
	const ElfW(Ehdr) *elf = find_elf(object);
	const ElfW(Phdr) * parts;

	*out = (struct col_module){ object->start, object->end, object->header, { .n = 0 }, 0 };
	id->n = 0;
	if (!elf || elf->e_phentsize != sizeof(*parts) || elf->e_phoff > PAGE_BYTES ||
	    elf->e_phnum > (PAGE_BYTES - elf->e_phoff) / sizeof(*parts))
		return;
	parts = (const ElfW(Phdr) *)((uintptr_t)elf + elf->e_phoff);
	for (unsigned i = 0; i < elf->e_phnum; i++) {
		uintptr_t at = object->bias + parts[i].p_vaddr;

		if (parts[i].p_type != PT_LOAD || !(parts[i].p_flags & PF_R) ||
		    out->ranges.n == COL_CFI_RANGES)
			continue;
		if (parts[i].p_flags & PF_X)
			out->code |= 1u << out->ranges.n;
		out->ranges.range[out->ranges.n].start = at;
		out->ranges.range[out->ranges.n++].end = at + parts[i].p_filesz;
	}
	for (unsigned i = 0; i < elf->e_phnum && !id->n; i++) {
		if (parts[i].p_type == PT_NOTE)
			find_build_id(&out->ranges, object->bias + parts[i].p_vaddr,
				      parts[i].p_filesz, id);
	}
}

/* Its file, into work->text; returns the length. */
static uint32_t read_path(struct col_sample_work *work, const struct object *object)
{
	const char *name = (const char *)object->name, *before = "";
	size_t n_before = 0, n;

	if (!name || !name[0])
		name = modules.program;
	else if (!strncmp(name, "linux-vdso", 10) || !strncmp(name, "linux-gate", 10))
		name = "[vdso]";
	else if (name[0] != '/')
		before = modules.cwd;
	n_before = strlen(before);
	memcpy(work->text, before, n_before);
	if (n_before)
		work->text[n_before++] = '/';
	n = strnlen(name, sizeof(work->text) - n_before);
	memcpy(work->text + n_before, name, n);
	return (uint32_t)(n_before + n);
}

static bool write_module(struct col_sample_work *work, const struct object *object,
			 const struct build_id *id, uint32_t generation, struct cap_lane *lane)
{
	uint32_t n_path = read_path(work, object);
	uint32_t n_bytes = CAP_REC_ROUND((uint32_t)sizeof(struct cap_rec_module) + n_path);
	struct cap_rec_module *rec = cap_lane_reserve(&lane, n_bytes);

	if (!rec)
		return false;
	rec->h.what = __atomic_fetch_add(&modules.next_id, 1, __ATOMIC_RELAXED);
	rec->h.time = cap_ticks();
	rec->start = object->start;
	rec->end = object->end;
	rec->bias = object->bias;
	rec->generation = generation;
	rec->n_build_id = id->n;
	memcpy(rec->build_id, id->bytes, id->n);
	rec->n_bytes = n_path;
	rec->zero = 0;
	memcpy(rec + 1, work->text, n_path);
	cap_lane_commit(lane, &rec->h, CAP_REC_TAG(CAP_REC_MODULE, n_bytes));
	return true;
}

/* ---- what is known ---- */

static bool recall(const struct col_id_entry *entry, uint32_t generation, struct col_module *out)
{
	uint64_t stamp = __atomic_load_n(&entry->id, __ATOMIC_ACQUIRE);
	const struct known *known;

	if (!(uint32_t)stamp || stamp >> 32 != generation)
		return false;
	known = &modules.known[((uint32_t)stamp - 1) % KNOWN];
	if (__atomic_load_n(&known->stamp, __ATOMIC_ACQUIRE) != stamp)
		return false;
	*out = known->module;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&known->stamp, __ATOMIC_RELAXED) == stamp;
}

static void keep(struct col_id_entry *entry, uint32_t generation, const struct col_module *module)
{
	uint32_t number = __atomic_fetch_add(&modules.n_known, 1, __ATOMIC_RELAXED);
	uint64_t stamp = (uint64_t)generation << 32 | (number + 1);
	struct known *known = &modules.known[number % KNOWN];

	__atomic_store_n(&known->stamp, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	known->module = *module;
	__atomic_store_n(&known->stamp, stamp, __ATOMIC_RELEASE);
	__atomic_store_n(&entry->id, stamp, __ATOMIC_RELEASE);
}

bool col_module_find(struct col_sample_work *work, uintptr_t pc, struct cap_lane *lane,
		     struct col_module *out)
{
	uint32_t generation = col_modules_generation();
	struct col_id_entry *entry;
	struct build_id id;
	struct object object;

	if (!find_object(pc, &object))
		return false;
	entry = col_id_entry(modules.table, ENTRIES, col_id_hash(object.start, object.end));
	if (!entry)
		return false;
	if (recall(entry, generation, out))
		return true;
	read_headers(&object, out, &id);
	if (lane && !write_module(work, &object, &id, generation, lane))
		return false;
	keep(entry, generation, out);
	return true;
}

/* The folder of the module at @pc; false: it has none, or there is no such module. */
static bool folder_of(uintptr_t pc, const char **out_path, size_t *out_n)
{
	struct object object;
	const char *slash;

	if (!find_object(pc, &object) || !object.name)
		return false;
	*out_path = (const char *)object.name;
	slash = strrchr(*out_path, '/');
	*out_n = slash ? (size_t)(slash - *out_path) : 0;
	return slash != NULL;
}

bool col_module_is_ours(uintptr_t pc)
{
	const char *ours, *theirs;
	size_t n_ours, n_theirs;
	bool same;

	if (!col_modules_enter())
		return false;
	same = folder_of((uintptr_t)&col_module_is_ours, &ours, &n_ours) &&
	       folder_of(pc, &theirs, &n_theirs) && n_ours == n_theirs &&
	       !memcmp(ours, theirs, n_ours);
	col_modules_leave();
	return same;
}

bool col_modules_start(void *find)
{
	ssize_t n;

	if (modules.table)
		return true;
	*(void **)&modules.find_object = find;
	n = readlink("/proc/self/exe", modules.program, sizeof(modules.program) - 1);
	modules.program[n > 0 ? n : 0] = '\0';
	modules.program_elf = getauxval(AT_PHDR) & ~(uintptr_t)(PAGE_BYTES - 1);
	if (!getcwd(modules.cwd, sizeof(modules.cwd)))
		modules.cwd[0] = '\0';
	col_modules_check();
	__atomic_store_n(&modules.generation, 1, __ATOMIC_RELEASE);
	modules.next_id = 1;
	modules.known = col_pages(KNOWN * sizeof(*modules.known));
	modules.table = modules.known ? col_pages(ENTRIES * sizeof(*modules.table)) : NULL;
	return modules.table != NULL;
}

void col_modules_forked(void)
{
	if (modules.table)
		madvise(modules.table, ENTRIES * sizeof(*modules.table), MADV_DONTNEED);
	modules.n_reading = modules.n_unloading = 0;
	modules.next_id = 1;
	modules.generation++; /* what is cached refers to modules that are not in the new capture */
}
