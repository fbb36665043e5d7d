#include "collector/hsa/copier.h"

#include "collector/hsa/own_queue.h"
#include "collector/hsa/packet_memory.h"
#include "collector/hsa/queue_priv.h"

#include <string.h>

#define WORKGROUP 256u
#define CHUNK_BYTES 16u /* of a work-item */
#define AT_ONCE (COL_OWN_PACKETS / 2)
#define LAUNCH_CHUNKS (1u << 31)

/* Arguments, as the kernel reads them. */
struct arguments {
	uint64_t from, to;
	uint32_t n_chunks;
	uint32_t unused[11];
};
_Static_assert(sizeof(struct arguments) == 64, "each in its cache line");

// clang-format off
static const uint32_t code[] = {
	0xc00a0100, 0x00000000, /* s_load_dwordx4 s[4:7], s[0:1], 0x0       from, to */
	0xc0020200, 0x00000010, /* s_load_dword s8, s[0:1], 0x10            n_chunks */
	0x8e028802,             /* s_lshl_b32 s2, s2, 8                     number of the workgroup */
	0x68000002,             /* v_add_u32_e32 v0, s2, v0                 number of the chunk */
	0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
	0x7d980008,             /* v_cmp_gt_u32_e32 vcc, s8, v0 */
	0x86fe6a7e,             /* s_and_b64 exec, exec, vcc */
	0xbf88000e,             /* s_cbranch_execz 14 */
	0x7e020280,             /* v_mov_b32_e32 v1, 0 */
	0xd28f0000, 0x00020084, /* v_lshlrev_b64 v[0:1], 4, v[0:1] */
	0x7e060205,             /* v_mov_b32_e32 v3, s5 */
	0x32040004,             /* v_add_co_u32_e32 v2, vcc, s4, v0 */
	0x38060303,             /* v_addc_co_u32_e32 v3, vcc, v3, v1, vcc */
	0xdc5c8000, 0x047f0002, /* global_load_dwordx4 v[4:7], v[2:3], off */
	0x7e120207,             /* v_mov_b32_e32 v9, s7 */
	0x32100006,             /* v_add_co_u32_e32 v8, vcc, s6, v0 */
	0x38120309,             /* v_addc_co_u32_e32 v9, vcc, v9, v1, vcc */
	0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
	0xdc7c8000, 0x007f0408, /* global_store_dwordx4 v[8:9], v[4:7], off */
	0xbf810000,             /* s_endpgm */
};
// clang-format on

/* The kernel descriptor: LLVM's AMDGPU usage guide, "Kernel Descriptor". */
struct program {
	uint32_t group_bytes, private_bytes, kernarg_bytes, reserved0;
	int64_t entry_byte_offset;
	uint32_t reserved1[5];
	uint32_t rsrc3, rsrc1, rsrc2;
	uint16_t properties, reserved2[3];
	uint8_t gap[192];
	uint32_t code[64]; /* instructions are fetched ahead of the last one */
};
_Static_assert(offsetof(struct program, gap) == 64, "kernel descriptors have 64 bytes");
_Static_assert(offsetof(struct program, code) == 256, "code is aligned to 256 bytes");
_Static_assert(sizeof(code) <= sizeof(((struct program *)0)->code) / 2, "there is room behind it");

struct copier {
	struct program *program;
	struct arguments *arguments; /* AT_ONCE */
};

static struct {
	struct col_lock lock;
	struct copier agents[COL_AGENT_IDS];
} copiers;

/* Registers of both kinds are one file there, and the descriptor says where the second begins. */
static bool unified(const char *isa)
{
	return strcmp(isa, "gfx90a") == 0 || strncmp(isa, "gfx94", 5) == 0 ||
	       strncmp(isa, "gfx95", 5) == 0;
}

static void fill_program(struct program *program, const char *isa)
{
	*program = (struct program){
		.kernarg_bytes = sizeof(struct arguments),
		.entry_byte_offset = offsetof(struct program, code),
		.rsrc3 = unified(isa) ? 3 : 0, /* accumulation registers from 16 on */
		.rsrc1 = 0x00ac0083,           /* 16 or 32 VGPRs, denormals, IEEE, DX10 clamp */
		.rsrc2 = 2u << 1 | 1u << 7,    /* two user SGPRs, number of the workgroup */
		.properties = 1u << 3,         /* which are the address of the arguments */
	};
	memcpy(program->code, code, sizeof(code));
}

bool col_copier_ready(uint32_t agent)
{
	struct copier *copier = &copiers.agents[agent];
	struct col_aql_agent memory;

	col_lock(&copiers.lock);
	if (!copier->program && strncmp(col_agent_isa(agent), "gfx9", 4) == 0 &&
	    col_packet_agent(agent, &memory)) {
		struct program *program = memory.allocate(&memory, sizeof(*program));

		copier->arguments = memory.allocate(&memory, AT_ONCE * sizeof(struct arguments));
		if (program)
			fill_program(program, col_agent_isa(agent));
		copier->program = copier->arguments ? program : NULL;
	}
	col_unlock(&copiers.lock);
	return copier->program != NULL;
}

static void launch(struct col_own_queue *queue, uint32_t place, uint64_t to, uint64_t from,
		   uint32_t n_chunks)
{
	const struct copier *copier = &copiers.agents[col_own_queue_agent(queue)];
	union col_packet packet = {
		.dispatch = { .header = COL_PACKET_HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH),
			      .setup = 1,
			      .workgroup_size_x = WORKGROUP,
			      .workgroup_size_y = 1,
			      .workgroup_size_z = 1,
			      .grid_size_x = (n_chunks + WORKGROUP - 1) / WORKGROUP * WORKGROUP,
			      .grid_size_y = 1,
			      .grid_size_z = 1,
			      .kernel_object = (uint64_t)(uintptr_t)copier->program,
			      .kernarg_address = &copier->arguments[place] }
	};

	copier->arguments[place] =
		(struct arguments){ .from = from, .to = to, .n_chunks = n_chunks };
	col_own_queue_put(queue, &packet);
}

bool col_copier_copy(struct col_own_queue *queue, const struct col_copy *copies, size_t n)
{
	uint32_t n_used = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t n_left = (copies[i].n_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES, done = 0;

		while (n_left) {
			uint32_t now = (uint32_t)WS_MIN(n_left, (uint64_t)LAUNCH_CHUNKS);

			launch(queue, n_used++, copies[i].to + done * CHUNK_BYTES,
			       copies[i].from + done * CHUNK_BYTES, now);
			done += now;
			n_left -= now;
			if (n_used < AT_ONCE - 1 && (n_left || i + 1 < n))
				continue;
			col_own_queue_put_end(queue);
			if (col_own_queue_wait(queue, NULL, COL_OWN_FOREVER) != COL_OWN_ENDED)
				return false;
			n_used = 0;
		}
	}
	if (!n_used)
		return true;
	col_own_queue_put_end(queue); /* the last ones were of no bytes */
	return col_own_queue_wait(queue, NULL, COL_OWN_FOREVER) == COL_OWN_ENDED;
}

/* The memory goes with the runtime. */
void col_copier_unload(void)
{
	memset(&copiers, 0, sizeof(copiers));
}
