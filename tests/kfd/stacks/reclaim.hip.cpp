/*
 * Scratch of two queues, by ROCr alone: small scratch stays with its queue, large scratch is for one dispatch, and
 * on GPUs whose firmware supports it (gfx94x and later) a runtime reclaims the former from idle queues.
 */
#include <hip/hip_version.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#if HIP_VERSION_MAJOR < 6
int main()
{
	printf("hsa_amd_agent_set_async_scratch_limit is not in this ROCr\n");
	return 77;
}
#else

#define OK(call)                                                                                   \
	do {                                                                                       \
		hsa_status_t s_ = (call);                                                          \
		if (s_ != HSA_STATUS_SUCCESS) {                                                    \
			printf("%s: 0x%x\n", #call, s_);                                           \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum {
	SMALL_LANE_BYTES = 256,       /* 54 MB for all waves of an MI210 */
	LARGE_LANE_BYTES = 16 * 1024, /* 3.4 GB; the limit for small scratch is 140 MB */
	N_LARGE_WAVES = 1500,         /* 1.5 GB; of the pool of 4 GB two queues get a part each */
	LANES = 64,
};

static hsa_agent_t gpu;
static hsa_amd_memory_pool_t pool;

static hsa_status_t take_gpu(hsa_agent_t agent, void *)
{
	hsa_device_type_t type;

	OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_GPU && !gpu.handle)
		gpu = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_pool(hsa_amd_memory_pool_t p, void *)
{
	bool can = false;

	OK(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &can));
	if (can && !pool.handle)
		pool = p;
	return HSA_STATUS_SUCCESS;
}

/* A kernel that does nothing: what counts is the scratch that its packet asks for. */
static uint64_t make_kernel()
{
	static const uint32_t END = 0xbf810000; /* s_endpgm */
	uint32_t code[128] = { 0 };
	void *object;

	for (unsigned i = 64; i < 128; i++)
		code[i] = END;
	code[4] = 256; /* from the descriptor to the first instruction */
	code[13] = 1;  /* compute_pgm_rsrc2: private segment */
	OK(hsa_amd_memory_pool_allocate(pool, 4096, HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG, &object));
	OK(hsa_memory_copy(object, code, sizeof(code)));
	return (uint64_t)object;
}

static void dispatch(hsa_queue_t *queue, uint64_t kernel, uint32_t n_waves, uint32_t lane_bytes,
		     hsa_signal_t done)
{
	uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
	hsa_kernel_dispatch_packet_t *packet =
		(hsa_kernel_dispatch_packet_t *)queue->base_address + index % queue->size;
	uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER;

	memset((char *)packet + 4, 0, sizeof(*packet) - 4);
	packet->workgroup_size_x = LANES;
	packet->workgroup_size_y = packet->workgroup_size_z = 1;
	packet->grid_size_x = n_waves * LANES;
	packet->grid_size_y = packet->grid_size_z = 1;
	packet->private_segment_size = lane_bytes;
	packet->kernel_object = kernel;
	packet->completion_signal = done;
	__atomic_store_n((uint32_t *)packet, header | 1 << 16, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void on_both(hsa_queue_t **queues, uint64_t kernel, uint32_t n_waves, uint32_t lane_bytes)
{
	hsa_signal_t done;

	OK(hsa_signal_create(2, 0, nullptr, &done));
	dispatch(queues[0], kernel, n_waves, lane_bytes, done);
	dispatch(queues[1], kernel, n_waves, lane_bytes, done);
	hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX,
				  HSA_WAIT_STATE_BLOCKED);
	OK(hsa_signal_destroy(done));
}

static uint64_t available()
{
	uint64_t bytes;

	OK(hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MEMORY_AVAIL, &bytes));
	return bytes;
}

static void expect(const char *what, bool holds)
{
	printf("%s: %s\n", what, holds ? "ok" : "WRONG");
	if (!holds)
		exit(1);
}

static void run()
{
	hsa_queue_t *queues[2];
	uint64_t kernel, before, bound, limited;
	char name[64];
	bool reclaims;
	hsa_status_t status;

	gpu.handle = pool.handle = 0;
	OK(hsa_init());
	OK(hsa_iterate_agents(take_gpu, nullptr));
	OK(hsa_amd_agent_iterate_memory_pools(gpu, take_pool, nullptr));
	OK(hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, name));
	reclaims = !strncmp(name, "gfx94", 5) || !strncmp(name, "gfx95", 5);
	kernel = make_kernel();
	for (hsa_queue_t *&queue : queues)
		OK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX,
				    UINT32_MAX, &queue));
	before = available();
	on_both(queues, kernel, 8, SMALL_LANE_BYTES);
	bound = available();
	expect("small scratch stays with its queue", bound < before);

	status = hsa_amd_agent_set_async_scratch_limit(gpu, 0);
	limited = available();
	printf("%s: limit for reclaimed scratch: 0x%x, %llu bytes free, then %llu\n", name, status,
	       (unsigned long long)bound, (unsigned long long)limited);
	if (reclaims) {
		expect("the limit is accepted", status == HSA_STATUS_SUCCESS);
		expect("scratch of idle queues is reclaimed", limited > bound);
	} else {
		expect("the limit is refused", status == HSA_STATUS_ERROR_INVALID_ARGUMENT);
		expect("scratch stays with its queue", limited == bound);
	}
	on_both(queues, kernel, 8, SMALL_LANE_BYTES);
	expect("both queues get scratch again", true);
	on_both(queues, kernel, N_LARGE_WAVES, LARGE_LANE_BYTES);
	on_both(queues, kernel, 8, SMALL_LANE_BYTES);
	expect("two queues with large scratch", true);
	for (hsa_queue_t *queue : queues)
		OK(hsa_queue_destroy(queue));
	OK(hsa_amd_memory_pool_free((void *)kernel));
	OK(hsa_shut_down());
}

int main()
{
	/* twice: a runtime that was shut down can be initialized again */
	run();
	run();
	printf("PASS\n");
	return 0;
}
#endif
