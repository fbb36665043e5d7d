/*
 * attach: finds the API tables of a running HSA runtime.
 *
 * ROCr passes its tables to tools only while it starts. But nearly every function
 * it exports (not hsa_init() of 6.0 and later, which registers the tables first) is two
 * instructions, a load of the table's address and a jump through an entry:
 *
 *	48 8b 05 <disp32>     mov  disp(%rip), %rax
 *	ff 60 <disp8>         jmp  *disp(%rax)         or ff a0 <disp32>
 *
 * so the address of the table is in the function's code. It is used only if all checks pass: the
 * function jumps through the entry that functions.tab has for it, the table contains its own
 * size, and another function has the same table. If not, nothing is installed and a note says so.
 *
 * The other tables are named by ROCr's root table, which tools are given when ROCr starts. It lies
 * directly before the core table, contains its own size, and names the two tables found above.
 *
 * Queues created before the attach are not intercepted but observed (queue_attached.c); later
 * queues are treated as usual.
 */
#include "collector/hsa/hsa_priv.h"

#include <dlfcn.h>
#include <string.h>

#define CORE_FUNCTIONS_MIN 100u
#define TABLE_BYTES_MAX 4096u
#define ROOT_BYTES_MAX 256u
#define PAGE_BYTES 4096u

static struct {
	struct col_hsa_table *tables[COL_HSA_TABLES];
	uint32_t epoch; /* of the attach that was done last */
	bool refused;
} attached;

/* The table that @name jumps through, if it is @offset into it where it jumps to. */
static struct col_hsa_table *table_of(void *library, const char *name, uint32_t offset)
{
	static const uint8_t landing[] = { 0xf3, 0x0f, 0x1e, 0xfa }, load[] = { 0x48, 0x8b, 0x05 };
	const uint8_t *code = dlsym(library, name);
	struct col_hsa_table *table;
	int32_t rip_offset, jump;

	if (!code)
		return NULL;
	if (memcmp(code, landing, sizeof(landing)) == 0)
		code += sizeof(landing);
	if (memcmp(code, load, sizeof(load)) != 0 || code[7] != 0xff)
		return NULL;
	memcpy(&rip_offset, code + 3, sizeof(rip_offset));
	if (code[8] == 0x60)
		jump = (int8_t)code[9];
	else if (code[8] == 0xa0)
		memcpy(&jump, code + 9, sizeof(jump));
	else
		return NULL;
	memcpy(&table, code + 7 + rip_offset, sizeof(table));
	return jump == (int32_t)offset && table && table->major > 0 && table->minor > offset &&
			       table->minor <= TABLE_BYTES_MAX
		       ? table
		       : NULL;
}

static struct col_hsa_table *agreed(void *library, const char *one, uint32_t one_at,
				    const char *other, uint32_t other_at)
{
	const uint32_t head = sizeof(struct col_hsa_table), each = sizeof(void (*)(void));
	struct col_hsa_table *table = table_of(library, one, head + one_at * each);

	return table && table == table_of(library, other, head + other_at * each) ? table : NULL;
}

/* Reads what is before the core table only on its own page, which is mapped. */
static const struct col_hsa_root *root_before(const struct col_hsa_table *core,
					      const struct col_hsa_table *amd)
{
	const size_t smallest = offsetof(struct col_hsa_root, tools);
	const size_t before = (uintptr_t)core % PAGE_BYTES;

	for (size_t n = smallest; n <= before && n <= ROOT_BYTES_MAX; n += sizeof(void *)) {
		const struct col_hsa_root *root =
			(const struct col_hsa_root *)((const char *)core - n);

		if (root->minor == n && root->core == core && root->amd == amd)
			return root;
	}
	return NULL;
}

static bool is_up(void)
{
	uint16_t major;
	hsa_status_t (*info)(hsa_system_info_t, void *);

	memcpy(&info, &attached.tables[COL_HSA_CORE]->functions[2], sizeof(info));
	return info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) == HSA_STATUS_SUCCESS;
}

static bool find_tables(void)
{
	void *library = dlopen("libhsa-runtime64.so.1", RTLD_NOLOAD | RTLD_LAZY);

	if (!library)
		return false; /* not yet; it is asked again */
	if (!attached.tables[COL_HSA_CORE]) {
		attached.tables[COL_HSA_CORE] =
			agreed(library, "hsa_system_get_info", 2, "hsa_queue_create", 7);
		attached.tables[COL_HSA_AMD] =
			agreed(library, "hsa_amd_profiling_set_profiler_enabled", 2,
			       "hsa_amd_memory_pool_allocate", 13);
		if (attached.tables[COL_HSA_CORE])
			col_hsa_root_tables(root_before(attached.tables[COL_HSA_CORE],
							attached.tables[COL_HSA_AMD]),
					    attached.tables);
		else if (!attached.refused) {
			attached.refused = true;
			col_note("attach: unknown build of the HSA runtime: HSA calls and GPU work "
				 "are not recorded");
		}
	}
	dlclose(library);
	return attached.tables[COL_HSA_CORE] != NULL;
}

bool col_hsa_attached(void)
{
	return attached.epoch != 0;
}

void col_hsa_attach(void)
{
	bool again = attached.epoch != 0 || col_hsa_loaded();

	if (attached.epoch == col_epoch() || !find_tables() || !is_up())
		return;
	attached.epoch = col_epoch();
	if (again) {
		col_hsa_reinstall(attached.tables);
	} else {
		col_hsa_install(attached.tables, 0);
		col_code_attach();
	}
	if (col_dispatches_asked())
		col_queues_attach();
}
