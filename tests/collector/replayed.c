/*
 * replayed: kernels that read what they write, x = 3 x + 1, four times, and whether the result is that of one
 * execution of each. For kernel replay, which executes them several times.
 *
 *	replayed device    in memory of the GPU
 *	replayed pointer   the same, and the kernel finds the address in memory
 *	replayed host      in memory of the host
 *	replayed signal    an argument is a signal
 *	replayed mask      in a queue of a few compute units
 *	replayed large     the program has a few megabytes
 *	replayed full      all memory of the GPU is in use, by somebody whom the runtime does not know
 *	replayed copy [N]  while a kernel runs, another buffer is copied to the GPU, and a third one is freed; the kernel
 *	                   loops N times
 *	replayed waits     while a kernel waits in its queue, a copy to the GPU waits for it
 *	replayed behind    more kernels than fit into the queue, all behind a packet that waits for a second and a half
 *	replayed never     a queue is destroyed while its kernel runs for ever
 */
#include <dlfcn.h>
#include <hsakmt.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/collector/hsa_program.h"

#define N 4096u /* numbers, a work-item each */
#define N_LAUNCHES 4u
#define N_BEHIND 150u
#define MORE_THAN_BLOCK (3u << 20) /* ROCr has blocks of 2 MB, of which it gives parts */
#define SECOND_NS 1000000000ull

// clang-format off
static const uint32_t code[] = {
	0xc0060100, 0x00000000, /* s_load_dwordx2 s[4:5], s[0:1], 0x0     address */
	0xc0020200, 0x00000008, /* s_load_dword s8, s[0:1], 0x8           turns of a loop */
	0xc0020240, 0x0000000c, /* s_load_dword s9, s[0:1], 0xc           1: address of the address */
	0x8e028602,             /* s_lshl_b32 s2, s2, 6 */
	0x68000002,             /* v_add_u32_e32 v0, s2, v0 */
	0x24000082,             /* v_lshlrev_b32_e32 v0, 2, v0 */
	0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
	0xbf068009,             /* s_cmp_eq_u32 s9, 0 */
	0xbf850003,             /* s_cbranch_scc1 3 */
	0xc0060102, 0x00000000, /* s_load_dwordx2 s[4:5], s[4:5], 0x0 */
	0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
	0x80888108,             /* s_sub_u32 s8, s8, 1 */
	0xbf078008,             /* s_cmp_lg_u32 s8, 0 */
	0xbf85fffd,             /* s_cbranch_scc1 -3 */
	0xdc508000, 0x01040000, /* global_load_dword v1, v0, s[4:5] */
	0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
	0xd2850001, 0x00010701, /* v_mul_lo_u32 v1, v1, 3 */
	0x68020281,             /* v_add_u32_e32 v1, 1, v1 */
	0xdc708000, 0x00040100, /* global_store_dword v0, v1, s[4:5] */
	0xbf810000,             /* s_endpgm */
};
// clang-format on

struct arguments {
	uint64_t address;
	uint32_t n_turns, is_pointer;
	uint64_t signal;
};

static hsa_queue_t *queue;
static hsa_amd_memory_pool_t local; /* of the GPU, coarse-grained */
static struct arguments *arguments; /* where only kernels look */
static uint64_t kernel;
static hsa_signal_t done;

static hsa_status_t find_flag(hsa_amd_memory_pool_t candidate, void *arg)
{
	hsa_amd_memory_pool_t *out = arg;
	uint32_t flags = 0, wanted = (uint32_t)out->handle;
	hsa_amd_segment_t segment;

	OK(hsa_amd_memory_pool_get_info(candidate, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	if (segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_STATUS_SUCCESS;
	OK(hsa_amd_memory_pool_get_info(candidate, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
	if (!(flags & wanted))
		return HSA_STATUS_SUCCESS;
	*out = candidate;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_amd_memory_pool_t pool_of(hsa_agent_t agent, uint32_t flag)
{
	hsa_amd_memory_pool_t found = { flag };

	hsa_amd_agent_iterate_memory_pools(agent, find_flag, &found);
	return found;
}

static void *allocate(hsa_amd_memory_pool_t from, size_t n_bytes)
{
	void *at;

	OK(hsa_amd_memory_pool_allocate(from, n_bytes, 0, &at));
	if (from.handle != local.handle)
		OK(hsa_amd_agents_allow_access(1, &gpu, NULL, at));
	return at;
}

static void make_kernel(void)
{
	uint8_t *at = (uint8_t *)(uintptr_t)hsa_program_kernel(S_ENDPGM);

	*(uint32_t *)(at + 44) = 3;          /* accumulation registers from 16 on */
	*(uint32_t *)(at + 48) = 0x00ac0083; /* registers */
	*(uint32_t *)(at + 52) = 2u << 1 | 1u << 7;
	*(uint16_t *)(at + 56) = 1u << 3; /* the address of the arguments in s[0:1] */
	memcpy(at + 256, code, sizeof(code));
	kernel = (uint64_t)(uintptr_t)at;
}

static void start(void)
{
	hsa_program_start();
	local = pool_of(gpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
	arguments = allocate(pool_of(cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT), 4096);
	make_kernel();
	OK(hsa_signal_create(0, 0, NULL, &done));
	OK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX,
			    &queue));
}

static void launch(struct arguments of)
{
	static uint32_t n;
	uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
	hsa_kernel_dispatch_packet_t *packet =
		(hsa_kernel_dispatch_packet_t *)queue->base_address + (index & (queue->size - 1));

	arguments[n] = of;
	memset((char *)packet + 4, 0, sizeof(*packet) - 4);
	packet->workgroup_size_x = 64;
	packet->grid_size_x = N;
	packet->workgroup_size_y = packet->workgroup_size_z = 1;
	packet->grid_size_y = packet->grid_size_z = 1;
	packet->kernel_object = kernel;
	packet->kernarg_address = &arguments[n++];
	packet->completion_signal = done;
	hsa_signal_add_relaxed(done, 1);
	__atomic_store_n((uint32_t *)packet,
			 HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
				 1u << HSA_PACKET_HEADER_BARRIER | 1u << 16,
			 __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void finish(void)
{
	if (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 20 * SECOND_NS,
				      HSA_WAIT_STATE_BLOCKED) == 0)
		return;
	puts("blocked");
	exit(1);
}

static void copy_in(uint32_t *to, uint32_t first)
{
	uint32_t numbers[N];

	for (uint32_t i = 0; i < N; i++)
		numbers[i] = first + i;
	OK(hsa_memory_copy(to, numbers, sizeof(numbers)));
}

static int wrong(const char *what, const uint32_t *at, uint32_t first, uint32_t n_times)
{
	uint32_t numbers[N], n_wrong = 0;

	OK(hsa_memory_copy(numbers, at, sizeof(numbers)));
	for (uint32_t i = 0; i < N; i++) {
		uint32_t x = first + i;

		for (uint32_t k = 0; k < n_times; k++)
			x = 3 * x + 1;
		n_wrong += numbers[i] != x;
	}
	printf("%s: %u of %u wrong\n", what, n_wrong, N);
	return n_wrong != 0;
}

/* By the driver's library, as another process would: the runtime does not see it. */
static void fill_memory(void)
{
	void *thunk = dlopen("libhsakmt.so.1", RTLD_NOW | RTLD_NOLOAD);
	HSAKMT_STATUS (*take)(HSAuint32, HSAuint64, HsaMemFlags, void **) = NULL;
	HsaMemFlags flags = { .ui32 = { .NonPaged = 1, .NoSubstitute = 1, .CoarseGrain = 1 } };
	uint32_t node;
	void *at;

	if (thunk)
		*(void **)&take = dlsym(thunk, "hsaKmtAllocMemory");
	if (!take) {
		puts("this runtime has no library of the driver");
		exit(77);
	}
	OK(hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &node));
	for (uint64_t n_bytes = 1ull << 38; n_bytes >= 4096; n_bytes /= 2)
		while (take(node, n_bytes, flags, &at) == HSAKMT_STATUS_SUCCESS)
			;
	if (hsa_amd_memory_pool_allocate(local, MORE_THAN_BLOCK, 0, &at) != HSA_STATUS_SUCCESS)
		return;
	puts("the GPU still has memory");
	exit(1);
}

static int plain(const char *how)
{
	bool in_host = strcmp(how, "host") == 0, by_pointer = strcmp(how, "pointer") == 0;
	uint32_t *data = allocate(in_host ? pool : local, N * sizeof(*data));
	uint64_t *pointer = allocate(local, 4096), address = (uint64_t)(uintptr_t)data;
	struct arguments of = { .address = address, .n_turns = 1 };

	OK(hsa_memory_copy(pointer, &address, sizeof(address)));
	if (by_pointer)
		of = (struct arguments){ (uint64_t)(uintptr_t)pointer, 1, 1, 0 };
	if (strcmp(how, "signal") == 0)
		of.signal = done.handle;
	if (strcmp(how, "large") == 0)
		allocate(local, 4u << 20);
	if (strcmp(how, "full") == 0) {
		allocate(local, MORE_THAN_BLOCK);
		fill_memory();
	}
	if (strcmp(how, "mask") == 0)
		OK(hsa_amd_queue_cu_set_mask(queue, 32, (const uint32_t[]){ 0xff }));
	copy_in(data, 7);
	for (uint32_t i = 0; i < N_LAUNCHES; i++)
		launch(of);
	finish();
	return wrong(how, data, 7, N_LAUNCHES);
}

/* What is copied or freed while a kernel is repeated must not be undone. */
static int beside(uint32_t n_turns)
{
	uint32_t *data = allocate(local, N * sizeof(*data));
	uint32_t *other = allocate(local, N * sizeof(*data));
	uint32_t *third = allocate(local, N * sizeof(*data));
	uint32_t *staged = allocate(pool, N * sizeof(*data));
	hsa_signal_t copied;

	OK(hsa_signal_create(1, 0, NULL, &copied));
	for (uint32_t i = 0; i < N; i++)
		staged[i] = 99 + i;
	copy_in(data, 7);
	copy_in(other, 1000);
	launch((struct arguments){ (uint64_t)(uintptr_t)data, n_turns, 0, 0 });
	usleep(20000); /* it is being repeated */
	OK(hsa_amd_memory_async_copy(other, gpu, staged, cpu, N * sizeof(*data), 0, NULL, copied));
	OK(hsa_amd_memory_pool_free(third));
	finish();
	hsa_signal_wait_scacquire(copied, HSA_SIGNAL_CONDITION_LT, 1, 20 * SECOND_NS,
				  HSA_WAIT_STATE_BLOCKED);
	return wrong("kernel", data, 7, 1) | wrong("copy", other, 99, 0);
}

static int waits(void)
{
	uint32_t *data = allocate(local, N * sizeof(*data));
	uint32_t *staged = allocate(pool, N * sizeof(*data));
	hsa_signal_t copied;

	OK(hsa_signal_create(1, 0, NULL, &copied));
	for (uint32_t i = 0; i < N; i++)
		staged[i] = 99 + i;
	copy_in(data, 7);
	launch((struct arguments){ (uint64_t)(uintptr_t)data, 1000, 0, 0 });
	OK(hsa_amd_memory_async_copy(data, gpu, staged, cpu, N * sizeof(*data), 1, &done, copied));
	finish();
	hsa_signal_wait_scacquire(copied, HSA_SIGNAL_CONDITION_LT, 1, 20 * SECOND_NS,
				  HSA_WAIT_STATE_BLOCKED);
	return wrong("copy after the kernel", data, 99, 0);
}

static int never(void)
{
	uint32_t *data = allocate(local, N * sizeof(*data));
	hsa_queue_t *lost = queue;

	OK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX,
			    &queue));
	copy_in(data, 7);
	*(uint32_t *)(uintptr_t)(kernel + 256) = 0xbf82ffff; /* s_branch -1 */
	{
		hsa_queue_t *second = queue;

		queue = lost;
		launch((struct arguments){ (uint64_t)(uintptr_t)data, 1, 0, 0 });
		usleep(100000);
		OK(hsa_queue_destroy(lost));
		queue = second;
	}
	make_kernel();
	OK(hsa_signal_create(0, 0, NULL, &done));
	launch((struct arguments){ (uint64_t)(uintptr_t)data, 1, 0, 0 });
	finish();
	return wrong("second queue", data, 7, 1);
}

static void *release(void *arg)
{
	usleep(1500000);
	hsa_signal_store_screlease(*(const hsa_signal_t *)arg, 0);
	return NULL;
}

static int behind(void)
{
	uint32_t *data = allocate(local, N * sizeof(*data));
	hsa_barrier_and_packet_t *barrier;
	hsa_signal_t held;
	pthread_t thread;

	OK(hsa_signal_create(1, 0, NULL, &held));
	OK(hsa_queue_create(gpu, 512, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX,
			    &queue));
	copy_in(data, 7);
	barrier = (hsa_barrier_and_packet_t *)queue->base_address +
		  hsa_queue_add_write_index_relaxed(queue, 1);
	memset((char *)barrier + 2, 0, sizeof(*barrier) - 2);
	barrier->dep_signal[0] = held;
	__atomic_store_n(&barrier->header,
			 HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE |
				 1u << HSA_PACKET_HEADER_BARRIER,
			 __ATOMIC_RELEASE);
	if (pthread_create(&thread, NULL, release, &held) != 0)
		return 1;
	for (uint32_t i = 0; i < N_BEHIND; i++)
		launch((struct arguments){ (uint64_t)(uintptr_t)data, 1, 0, 0 });
	finish();
	return wrong("behind", data, 7, N_BEHIND);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "device";

	start();
	if (strcmp(how, "copy") == 0)
		return beside(argc > 2 ? (uint32_t)atoi(argv[2]) : 3000);
	if (strcmp(how, "waits") == 0)
		return waits();
	if (strcmp(how, "behind") == 0)
		return behind();
	if (strcmp(how, "never") == 0)
		return never();
	return plain(how);
}
