/*
 * ROCr on the software GPU: agents, pools, queues, signals, copies, without a kernel.
 *
 *	basics mi210,mi100      the machine is expected to look like that
 *	basics --refused        hsa_init() is expected to fail
 */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_AGENTS 32
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "FAIL %s:%d: %s\n", __FILE__, __LINE__, #condition);       \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
#define HSA(call) CHECK((call) == HSA_STATUS_SUCCESS)

static const struct expectation {
	const char *name, *isa, *marketing;
	uint32_t n_gpus, n_cus;
} expectations[] = {
	{ "mi210", "gfx90a", "AMD Instinct MI210", 1, 104 },
	{ "mi250x", "gfx90a", "AMD Instinct MI250X", 2, 110 },
	{ "mi100", "gfx908", "AMD Instinct MI100", 1, 120 },
};

struct agent {
	hsa_agent_t handle;
	hsa_amd_memory_pool_t pool; /* coarse-grained, the first one */
};

static struct agent cpu, gpus[MAX_AGENTS];
static uint32_t n_gpus;
static hsa_amd_memory_pool_t host_pool;

static hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void *out)
{
	hsa_amd_segment_t segment;
	uint32_t flags;

	HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	if (segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_STATUS_SUCCESS;
	HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
	if (!(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED))
		return HSA_STATUS_SUCCESS;
	*(hsa_amd_memory_pool_t *)out = pool;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t see_agent(hsa_agent_t handle, void *arg)
{
	hsa_device_type_t type;
	struct agent *agent;

	HSA(hsa_agent_get_info(handle, HSA_AGENT_INFO_DEVICE, &type));
	agent = type == HSA_DEVICE_TYPE_GPU ? &gpus[n_gpus++] : &cpu;
	agent->handle = handle;
	CHECK(hsa_amd_agent_iterate_memory_pools(handle, find_pool, &agent->pool) ==
	      HSA_STATUS_INFO_BREAK);
	return HSA_STATUS_SUCCESS;
}

static void check_agents(char *list)
{
	uint32_t seen = 0;

	for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		const struct expectation *e = expectations;

		while (strcmp(e->name, name))
			e++;
		for (uint32_t i = 0; i < e->n_gpus; i++, seen++) {
			char text[64];
			uint32_t number;

			CHECK(seen < n_gpus);
			HSA(hsa_agent_get_info(gpus[seen].handle, HSA_AGENT_INFO_NAME, text));
			CHECK(!strcmp(text, e->isa));
			HSA(hsa_agent_get_info(gpus[seen].handle,
					       (hsa_agent_info_t)HSA_AMD_AGENT_INFO_PRODUCT_NAME,
					       text));
			CHECK(!strcmp(text, e->marketing));
			HSA(hsa_agent_get_info(
				gpus[seen].handle,
				(hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &number));
			CHECK(number == e->n_cus);
		}
	}
	CHECK(seen == n_gpus);
}

static void copy(void *to, hsa_agent_t to_agent, void *from, hsa_agent_t from_agent, size_t n)
{
	hsa_signal_t done;

	HSA(hsa_signal_create(1, 0, NULL, &done));
	HSA(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, n, 0, NULL, done));
	CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 10000000000ull,
					HSA_WAIT_STATE_BLOCKED) == 0);
	HSA(hsa_signal_destroy(done));
}

/* Host to every GPU in turn, GPU to GPU, and back. */
static void check_copies(void)
{
	enum { N = 9 << 20 };
	uint8_t *host, *back, *there[MAX_AGENTS];

	HSA(hsa_amd_memory_pool_allocate(host_pool, N, 0, (void **)&host));
	HSA(hsa_amd_memory_pool_allocate(host_pool, N, 0, (void **)&back));
	for (uint32_t g = 0; g < n_gpus; g++) {
		hsa_agent_t all[MAX_AGENTS];

		for (uint32_t i = 0; i < n_gpus; i++)
			all[i] = gpus[i].handle;
		HSA(hsa_amd_memory_pool_allocate(gpus[g].pool, N, 0, (void **)&there[g]));
		HSA(hsa_amd_agents_allow_access(n_gpus, all, NULL, there[g]));
		HSA(hsa_amd_agents_allow_access(n_gpus, all, NULL, host));
		HSA(hsa_amd_agents_allow_access(n_gpus, all, NULL, back));
	}
	for (int i = 0; i < N; i++)
		host[i] = (uint8_t)(i * 31 + (i >> 9));
	copy(there[0], gpus[0].handle, host, cpu.handle, N);
	for (uint32_t g = 1; g < n_gpus; g++)
		copy(there[g], gpus[g].handle, there[g - 1], gpus[g - 1].handle, N);
	copy(back, cpu.handle, there[n_gpus - 1], gpus[n_gpus - 1].handle, N);
	CHECK(!memcmp(host, back, N));
	for (uint32_t g = 0; g < n_gpus; g++)
		HSA(hsa_amd_memory_pool_free(there[g]));
	HSA(hsa_amd_memory_pool_free(host));
	HSA(hsa_amd_memory_pool_free(back));
}

/* A barrier packet waits for a signal of the host and completes another one. */
static void check_queue(hsa_agent_t agent)
{
	hsa_barrier_and_packet_t *packet;
	hsa_signal_t go, done;
	hsa_queue_t *queue;
	uint64_t index;

	HSA(hsa_queue_create(agent, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
			     &queue));
	HSA(hsa_signal_create(1, 0, NULL, &go));
	HSA(hsa_signal_create(1, 0, NULL, &done));
	for (int i = 0; i < 200; i++) {
		hsa_signal_store_screlease(go, 1);
		hsa_signal_store_screlease(done, 1);
		index = hsa_queue_add_write_index_screlease(queue, 1);
		packet = (hsa_barrier_and_packet_t *)queue->base_address +
			 (index & (queue->size - 1));
		memset((char *)packet + 2, 0, sizeof(*packet) - 2);
		packet->dep_signal[0] = go;
		packet->completion_signal = done;
		__atomic_store_n(&packet->header, HSA_PACKET_TYPE_BARRIER_AND, __ATOMIC_RELEASE);
		hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
		if (i == 0) {
			usleep(2000);
			CHECK(hsa_signal_load_scacquire(done) == 1);
		}
		hsa_signal_store_screlease(go, 0);
		CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 10000000000ull,
						HSA_WAIT_STATE_BLOCKED) == 0);
	}
	HSA(hsa_queue_destroy(queue));
	HSA(hsa_signal_destroy(go));
	HSA(hsa_signal_destroy(done));
}

static void check_many_queues(hsa_agent_t agent)
{
	enum { N = 200 };
	hsa_queue_t *queues[N];

	for (int i = 0; i < N; i++)
		HSA(hsa_queue_create(agent, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
				     UINT32_MAX, &queues[i]));
	for (int i = 0; i < N; i++)
		HSA(hsa_queue_destroy(queues[i]));
}

/* More than there is fails, and leaves everything as it was. */
static void check_out_of_memory(struct agent *gpu)
{
	void *block, *more;
	size_t size;

	HSA(hsa_amd_memory_pool_get_info(gpu->pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
	HSA(hsa_amd_memory_pool_allocate(gpu->pool, size / 2, 0, &block));
	CHECK(hsa_amd_memory_pool_allocate(gpu->pool, size / 2 + (64 << 20), 0, &more) !=
	      HSA_STATUS_SUCCESS);
	HSA(hsa_amd_memory_pool_free(block));
	HSA(hsa_amd_memory_pool_allocate(gpu->pool, size / 2, 0, &block));
	HSA(hsa_amd_memory_pool_free(block));
}

static void check_fork(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	pid = fork();
	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	if (!strcmp(argv[1], "--refused")) {
		CHECK(hsa_init() != HSA_STATUS_SUCCESS);
		return 0;
	}
	HSA(hsa_init());
	HSA(hsa_iterate_agents(see_agent, NULL));
	host_pool = cpu.pool;
	check_agents(argv[1]);
	check_copies();
	for (uint32_t g = 0; g < n_gpus; g++)
		check_queue(gpus[g].handle);
	check_many_queues(gpus[0].handle);
	check_out_of_memory(&gpus[0]);
	check_fork();
	check_copies(); /* the device survived the forks */
	HSA(hsa_shut_down());
	printf("PASS\n");
	return 0;
}
