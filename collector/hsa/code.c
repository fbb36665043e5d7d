/*
 * code: code objects and kernels, known from when an executable is frozen.
 *
 * They are metadata of the capture, written for every request, because all services need
 * the names. A copy is kept, because the child of a fork has to write it again.
 */
#include "collector/hsa/hsa_priv.h"
#include "collector/hsa/ranges.h"

#include <errno.h>
#include <hsa/hsa_ven_amd_loader.h>
#include <string.h>

#define TEXT_BLOCK (256u << 10)
#define BLOCK_ENTRIES 512u
#define MAP_FIRST 1024u
#define NAME_MAX_BYTES 65536u

struct code_object {
	struct cap_rec_code_object rec;
	const char *uri;
	uint64_t executable; /* 0: unloaded */
};

struct kernel {
	struct cap_rec_kernel rec;
	const char *name;
};

/* Lists of blocks: entries do not move, and a forked child finds whole ones. */
struct code_block {
	struct code_block *next;
	uint32_t n;
	struct code_object all[BLOCK_ENTRIES];
};
struct kernel_block {
	struct kernel_block *next;
	uint32_t n;
	struct kernel all[BLOCK_ENTRIES];
};

/* Kernel ids by address of their descriptor; replaced by a larger one, never changed in size. */
struct map {
	uint32_t n_slots, n_used;
	struct slot {
		uint64_t object;
		uint32_t kernel;
	} slots[];
};

static struct {
	struct col_lock lock;
	hsa_ven_amd_loader_1_03_pfn_t loader; /* the last of it is NULL in older runtimes */
	bool has_loader;
	struct code_block *codes, *last_code;
	struct kernel_block *kernels, *last_kernel;
	uint32_t n_codes, n_kernels;
	struct map *map; /* acquire/release */
	char *text;
	size_t text_left;
} code;

/* ---- small storage, under the lock ---- */

static const char *keep_text(const char *text, size_t n)
{
	char *at;

	if (n + 1 > code.text_left) {
		size_t room = WS_MAX(n + 1, TEXT_BLOCK);

		code.text = col_pages(room);
		code.text_left = code.text ? room : 0;
		if (!code.text)
			return "";
	}
	at = code.text;
	memcpy(at, text, n);
	at[n] = 0;
	code.text += n + 1;
	code.text_left -= n + 1;
	return at;
}

static struct code_object *new_code(void)
{
	struct code_block *block = code.last_code;

	if (!block || block->n == BLOCK_ENTRIES) {
		block = col_pages(sizeof(*block));
		if (!block)
			return NULL;
		if (code.last_code)
			code.last_code->next = block;
		else
			code.codes = block;
		code.last_code = block;
	}
	return &block->all[block->n]; /* counted when it is filled */
}

static struct kernel *new_kernel(void)
{
	struct kernel_block *block = code.last_kernel;

	if (!block || block->n == BLOCK_ENTRIES) {
		block = col_pages(sizeof(*block));
		if (!block)
			return NULL;
		if (code.last_kernel)
			code.last_kernel->next = block;
		else
			code.kernels = block;
		code.last_kernel = block;
	}
	return &block->all[block->n];
}

/* ---- kernels by address ---- */

static struct slot *probe(struct map *map, uint64_t object)
{
	uint32_t at = (uint32_t)((object >> 6) * 0x9e3779b97f4a7c15ull >> 32);

	for (;; at++) {
		struct slot *slot = &map->slots[at & (map->n_slots - 1)];
		uint64_t there = __atomic_load_n(&slot->object, __ATOMIC_ACQUIRE);

		if (there == object || there == 0)
			return slot;
	}
}

static void put_in_map(struct map *map, uint64_t object, uint32_t kernel)
{
	struct slot *slot = probe(map, object);

	/* An address that comes again belongs to what was loaded last. */
	__atomic_store_n(&slot->kernel, kernel, __ATOMIC_RELAXED);
	if (!slot->object) {
		map->n_used++;
		__atomic_store_n(&slot->object, object, __ATOMIC_RELEASE);
	}
}

static void remember(uint64_t object, uint32_t kernel)
{
	struct map *map = code.map;

	if (!map || map->n_used >= map->n_slots / 2) {
		uint32_t n = map ? map->n_slots * 2 : MAP_FIRST;
		struct map *larger = col_pages(sizeof(*larger) + n * sizeof(larger->slots[0]));

		if (!larger)
			return;
		larger->n_slots = n;
		for (uint32_t i = 0; map && i < map->n_slots; i++) {
			if (map->slots[i].object)
				put_in_map(larger, map->slots[i].object, map->slots[i].kernel);
		}
		/* The old one stays: another thread may be reading it. Together they are as large. */
		__atomic_store_n(&code.map, larger, __ATOMIC_RELEASE);
		map = larger;
	}
	put_in_map(map, object, kernel);
}

uint32_t col_kernel_by_object(uint64_t kernel_object)
{
	struct map *map = __atomic_load_n(&code.map, __ATOMIC_ACQUIRE);
	struct slot *slot = map ? probe(map, kernel_object) : NULL;

	return slot && __atomic_load_n(&slot->object, __ATOMIC_RELAXED)
		       ? __atomic_load_n(&slot->kernel, __ATOMIC_RELAXED)
		       : 0;
}

bool col_code_of_kernel(uint32_t kernel, struct cap_rec_code_object *out_code)
{
	uint32_t wanted = 0;

	col_lock(&code.lock);
	for (struct kernel_block *b = code.kernels; b && !wanted; b = b->next) {
		for (uint32_t i = 0; i < b->n && !wanted; i++)
			wanted = b->all[i].rec.h.what == kernel ? b->all[i].rec.code_object : 0;
	}
	for (struct code_block *b = wanted ? code.codes : NULL; b && wanted; b = b->next) {
		for (uint32_t i = 0; i < b->n; i++) {
			if (b->all[i].rec.h.what != wanted)
				continue;
			*out_code = b->all[i].rec;
			col_unlock(&code.lock);
			return true;
		}
	}
	col_unlock(&code.lock);
	return false;
}

const char *col_kernel_symbol(uint32_t kernel, uint32_t *out_kernarg_bytes)
{
	const char *symbol = "";

	*out_kernarg_bytes = 0;
	col_lock(&code.lock);
	/* Ids are given in the order of the list, from 1. */
	for (struct kernel_block *b = code.kernels; b && kernel--; b = b->next) {
		if (kernel < b->n) {
			symbol = b->all[kernel].name;
			*out_kernarg_bytes = b->all[kernel].rec.kernarg_bytes;
		}
		if (kernel < BLOCK_ENTRIES)
			break;
		kernel -= BLOCK_ENTRIES - 1;
	}
	col_unlock(&code.lock);
	return symbol;
}

/* ---- the kernel descriptor: LLVM's AMDGPU usage guide, "Kernel Descriptor" ---- */

struct descriptor {
	uint32_t group_bytes, private_bytes, kernarg_bytes;
	uint32_t reserved0;
	int64_t entry_byte_offset;
	uint8_t reserved1[20];
	uint32_t rsrc3, rsrc1, rsrc2;
	uint16_t properties;
	uint8_t reserved2[6];
};
_Static_assert(sizeof(struct descriptor) == 64, "kernel descriptors have 64 bytes");

static void registers(struct cap_rec_kernel *rec, const struct descriptor *d, const char *isa)
{
	bool unified = strcmp(isa, "gfx90a") == 0 || strncmp(isa, "gfx94", 5) == 0 ||
		       strncmp(isa, "gfx95", 5) == 0;
	bool wave32 = d->properties >> 10 & 1;
	uint32_t vgprs = (d->rsrc1 & 0x3f) + 1; /* granulated count */
	uint32_t sgprs = d->rsrc1 >> 6 & 0xf;

	/* One file of registers in units of 8, its first part for VGPRs, the rest for AccVGPRs. */
	if (unified) {
		rec->arch_vgpr_count = ((d->rsrc3 & 0x3f) + 1) * 4;
		rec->accum_vgpr_count =
			vgprs * 8 > rec->arch_vgpr_count ? vgprs * 8 - rec->arch_vgpr_count : 0;
	} else {
		rec->arch_vgpr_count = vgprs * (wave32 ? 8 : 4);
		rec->accum_vgpr_count = strcmp(isa, "gfx908") == 0 ? rec->arch_vgpr_count : 0;
	}
	/* From gfx10 on every wave has all of them. */
	rec->sgpr_count = strncmp(isa, "gfx1", 4) == 0 ? 128 : (sgprs / 2 + 1) * 16;
}

static const void *host_copy(uint64_t device_address)
{
	const void *host = NULL;

	if (code.loader.hsa_ven_amd_loader_query_host_address(
		    (const void *)(uintptr_t)device_address, &host) != HSA_STATUS_SUCCESS)
		return NULL;
	return host;
}

/* ---- what an executable holds ---- */

struct visit {
	uint64_t executable;
	struct cap_writer *writer;
	char *buffer; /* NAME_MAX_BYTES */
	uint64_t agents[64];
	uint32_t n_agents;
	const struct cap_rec_code_object *codes[256]; /* of this executable: one per GPU, mostly */
	uint32_t n_codes;
};

static void write_code(struct cap_writer *writer, const struct code_object *c)
{
	struct cap_rec_code_object rec = c->rec;

	rec.uri_str = cap_writer_intern(writer, c->uri, strlen(c->uri));
	cap_writer_meta(writer, &rec.h);
}

static void write_kernel(struct cap_writer *writer, const struct kernel *k)
{
	struct cap_rec_kernel rec = k->rec;

	rec.name_str = cap_writer_intern(writer, k->name, strlen(k->name));
	cap_writer_meta(writer, &rec.h);
}

static uint32_t code_at(const struct visit *visit, uint64_t address)
{
	for (uint32_t i = 0; i < visit->n_codes; i++) {
		const struct cap_rec_code_object *rec = visit->codes[i];

		if (address >= rec->load_base && address - rec->load_base < rec->load_size)
			return rec->h.what;
	}
	return 0;
}

static void see_agent(struct visit *visit, uint64_t agent)
{
	for (uint32_t i = 0; i < visit->n_agents; i++) {
		if (visit->agents[i] == agent)
			return;
	}
	if (visit->n_agents < WS_ARRAY_LEN(visit->agents))
		visit->agents[visit->n_agents++] = agent;
}

static hsa_status_t see_code(hsa_executable_t executable, hsa_loaded_code_object_t loaded,
			     void *arg)
{
	struct visit *visit = arg;
	struct code_object *c = new_code();
	struct cap_rec_code_object *rec;
	hsa_agent_t agent = { 0 };
	uint32_t storage = 0, n_uri = 0;

	if (!c)
		return HSA_STATUS_INFO_BREAK;
	memset(c, 0, sizeof(*c));
	rec = &c->rec;
#define INFO(what, to)                                                                             \
	code.loader.hsa_ven_amd_loader_loaded_code_object_get_info(                                \
		loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_##what, to)
	INFO(AGENT, &agent);
	INFO(LOAD_BASE, &rec->load_base);
	INFO(LOAD_SIZE, &rec->load_size);
	INFO(LOAD_DELTA, &rec->load_delta);
	INFO(CODE_OBJECT_STORAGE_TYPE, &storage);
	if (storage == HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY) {
		INFO(CODE_OBJECT_STORAGE_MEMORY_BASE, &rec->memory_base);
		INFO(CODE_OBJECT_STORAGE_MEMORY_SIZE, &rec->memory_size);
	}
	c->uri = "";
	if (INFO(URI_LENGTH, &n_uri) == HSA_STATUS_SUCCESS && n_uri < NAME_MAX_BYTES &&
	    INFO(URI, visit->buffer) == HSA_STATUS_SUCCESS)
		c->uri = keep_text(visit->buffer, n_uri);
#undef INFO
	rec->h.tag = CAP_REC_FIXED_TAG(CODE_OBJECT, struct cap_rec_code_object);
	rec->h.what = ++code.n_codes;
	rec->h.time = cap_ticks();
	rec->agent = col_agent_by_handle(agent.handle);
	rec->storage = storage; /* the numbers are the same */
	c->executable = visit->executable;
	col_image_variables(rec);
	code.last_code->n++;
	see_agent(visit, agent.handle);
	if (visit->n_codes < WS_ARRAY_LEN(visit->codes))
		visit->codes[visit->n_codes++] = rec;
	if (visit->writer) {
		write_code(visit->writer, c);
		col_image_keep(visit->writer, rec, c->uri);
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t see_symbol(hsa_executable_t executable, hsa_agent_t agent,
			       hsa_executable_symbol_t symbol, void *arg)
{
	struct visit *visit = arg;
	hsa_symbol_kind_t kind = HSA_SYMBOL_KIND_VARIABLE;
	const struct descriptor *d;
	struct cap_rec_kernel *rec;
	struct kernel *k;
	uint32_t n_name = 0;

#define INFO(what, to)                                                                             \
	col_hsa.hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_##what, to)
	INFO(TYPE, &kind);
	if (kind != HSA_SYMBOL_KIND_KERNEL)
		return HSA_STATUS_SUCCESS;
	k = new_kernel();
	if (!k)
		return HSA_STATUS_INFO_BREAK;
	memset(k, 0, sizeof(*k));
	rec = &k->rec;
	INFO(KERNEL_OBJECT, &rec->kernel_object);
	INFO(KERNEL_KERNARG_SEGMENT_SIZE, &rec->kernarg_bytes);
	INFO(KERNEL_KERNARG_SEGMENT_ALIGNMENT, &rec->kernarg_alignment);
	INFO(KERNEL_GROUP_SEGMENT_SIZE, &rec->group_bytes);
	INFO(KERNEL_PRIVATE_SEGMENT_SIZE, &rec->private_bytes);
	k->name = "";
	if (INFO(NAME_LENGTH, &n_name) == HSA_STATUS_SUCCESS && n_name < NAME_MAX_BYTES &&
	    INFO(NAME, visit->buffer) == HSA_STATUS_SUCCESS)
		k->name = keep_text(visit->buffer, n_name);
#undef INFO
	rec->h.tag = CAP_REC_FIXED_TAG(KERNEL, struct cap_rec_kernel);
	rec->h.what = ++code.n_kernels;
	rec->h.time = cap_ticks();
	rec->code_object = code_at(visit, rec->kernel_object);
	d = host_copy(rec->kernel_object);
	if (d) {
		rec->entry_byte_offset = d->entry_byte_offset;
		rec->kernel_address = rec->kernel_object + (uint64_t)d->entry_byte_offset;
		registers(rec, d, col_agent_isa(col_agent_by_handle(agent.handle)));
	}
	code.last_kernel->n++;
	col_count_kernel(rec->h.what, k->name); /* before a launch can find it */
	remember(rec->kernel_object, rec->h.what);
	if (visit->writer)
		write_kernel(visit->writer, k);
	return HSA_STATUS_SUCCESS;
}

static void see_executable(hsa_executable_t executable)
{
	int saved_errno = errno;
	struct visit visit = { .executable = executable.handle };

	visit.writer = col_capture(); /* before the lock: it asks for what is there */
	visit.buffer = col_pages(NAME_MAX_BYTES);
	if (visit.buffer) {
		col_lock(&code.lock);
		code.loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(
			executable, see_code, &visit);
		for (uint32_t i = 0; i < visit.n_agents; i++)
			col_hsa.hsa_executable_iterate_agent_symbols(
				executable, (hsa_agent_t){ visit.agents[i] }, see_symbol, &visit);
		col_unlock(&code.lock);
		col_pages_free(visit.buffer, NAME_MAX_BYTES);
	}
	errno = saved_errno;
}

hsa_status_t col_hsa_hook_hsa_executable_freeze(hsa_executable_t executable, const char *options)
{
	hsa_status_t status = col_hsa.hsa_executable_freeze(executable, options);

	if (status == HSA_STATUS_SUCCESS && code.has_loader)
		see_executable(executable);
	return status;
}

struct found {
	hsa_executable_t all[1024];
	uint32_t n;
};

/* The loader is held meanwhile, and looking into an executable asks it. */
static hsa_status_t find_executable(hsa_executable_t executable, void *arg)
{
	struct found *found = arg;
	hsa_executable_state_t state = HSA_EXECUTABLE_STATE_UNFROZEN;

	col_hsa.hsa_executable_get_info(executable, HSA_EXECUTABLE_INFO_STATE, &state);
	if (state == HSA_EXECUTABLE_STATE_FROZEN &&
	    found->n < sizeof(found->all) / sizeof(found->all[0]))
		found->all[found->n++] = executable;
	return HSA_STATUS_SUCCESS;
}

void col_code_attach(void)
{
	struct found *found = col_pages(sizeof(*found));

	if (!found || !code.has_loader || !code.loader.hsa_ven_amd_loader_iterate_executables)
		col_note("attach: this HSA runtime does not list loaded code objects: kernels have "
			 "no names");
	else
		code.loader.hsa_ven_amd_loader_iterate_executables(find_executable, found);
	for (uint32_t i = 0; found && i < found->n; i++)
		see_executable(found->all[i]);
	col_pages_free(found, sizeof(*found));
}

hsa_status_t col_hsa_hook_hsa_executable_destroy(hsa_executable_t executable)
{
	struct cap_writer *writer = col_capture();
	struct cap_rec_code_unload rec = {
		.h = { CAP_REC_FIXED_TAG(CODE_UNLOAD, struct cap_rec_code_unload), 0, cap_ticks() },
	};

	col_lock(&code.lock);
	for (struct code_block *block = code.codes; block; block = block->next) {
		for (uint32_t i = 0; i < block->n; i++) {
			struct code_object *c = &block->all[i];

			if (c->executable != executable.handle)
				continue;
			c->executable = 0;
			col_ranges_remove_in(c->rec.load_base, c->rec.load_size);
			rec.h.what = c->rec.h.what;
			if (writer)
				cap_writer_meta(writer, &rec.h);
		}
	}
	col_unlock(&code.lock);
	return col_hsa.hsa_executable_destroy(executable);
}

/* ---- facts and ends ---- */

void col_code_load(void)
{
	code.has_loader =
		col_hsa.hsa_system_get_major_extension_table &&
		col_hsa.hsa_executable_iterate_agent_symbols &&
		col_hsa.hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1,
							     sizeof(code.loader),
							     &code.loader) == HSA_STATUS_SUCCESS &&
		code.loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects;
	if (!code.has_loader)
		col_note("HSA: no loader extension: kernels have no names");
}

void col_code_state(struct cap_writer *writer)
{
	col_lock(&code.lock);
	col_image_fresh();
	for (struct code_block *block = code.codes; block; block = block->next) {
		for (uint32_t i = 0; i < block->n; i++) {
			const struct code_object *c = &block->all[i];

			write_code(writer, c);
			if (c->executable)
				col_image_keep(writer, &c->rec, c->uri);
		}
	}
	for (struct kernel_block *block = code.kernels; block; block = block->next) {
		for (uint32_t i = 0; i < block->n; i++)
			write_kernel(writer, &block->all[i]);
	}
	col_unlock(&code.lock);
}

/* A later attach, which may count other kernels. */
void col_code_match(void)
{
	col_lock(&code.lock);
	for (struct kernel_block *block = code.kernels; block; block = block->next) {
		for (uint32_t i = 0; i < block->n; i++)
			col_count_kernel(block->all[i].rec.h.what, block->all[i].name);
	}
	col_unlock(&code.lock);
}

void col_code_forked(void)
{
	code.lock = (struct col_lock){ 0 };
}
