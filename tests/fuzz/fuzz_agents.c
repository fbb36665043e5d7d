/*
 * The message of the process that asked AMD's runtime, of any bytes: as they are, and behind a
 * valid head, where they become agents. What is received can be described, printed and sent again.
 */
#include "gpu/hsa_agents.h"
#include "report/rocminfo.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAD_BYTES offsetof(struct gpu_hsa_agents, agents)

static void use(const struct gpu_hsa_agents *agents)
{
	static struct gpu_hsa_agents again;
	static struct gpu_agents gpus;
	static FILE *nowhere;
	size_t n = HEAD_BYTES + agents->n_agents * sizeof(agents->agents[0]);
	int fd = memfd_create("agents", 0);
	char line[64], *bytes = malloc(n);

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	CHECK(agents->n_agents <= GPU_AGENTS_MAX && bytes && nowhere && fd >= 0);
	gpu_agents_of_hsa(agents, &gpus);
	CHECK(gpus.n <= agents->n_agents);
	for (size_t i = 0; i < gpus.n; i++)
		gpu_agent_line(&gpus.at[i], i, line, sizeof(line));
	rpt_rocminfo(nowhere, agents);
	CHECK(gpu_hsa_agents_send(fd, agents, NULL) == WS_OK);
	CHECK(pread(fd, bytes, n, 0) == (ssize_t)n);
	CHECK(gpu_hsa_agents_receive(bytes, n, &again, NULL) == WS_OK);
	CHECK(memcmp(again.agents, agents->agents, n - HEAD_BYTES) == 0);
	free(bytes);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gpu_hsa_agents message, got;
	size_t n_agents = size / sizeof(message.agents[0]) + 1, n;

	if (gpu_hsa_agents_receive(data, size, &got, NULL) == WS_OK)
		use(&got);
	if (n_agents > GPU_AGENTS_MAX)
		n_agents = GPU_AGENTS_MAX;
	memset(&message, 0, sizeof(message));
	memcpy(message.magic, "wsagents", 8);
	message.version = GPU_HSA_AGENTS_VERSION;
	message.n_bytes_head = HEAD_BYTES;
	message.n_bytes_agent = sizeof(message.agents[0]);
	message.n_agents = (uint32_t)n_agents;
	n = HEAD_BYTES + n_agents * sizeof(message.agents[0]);
	memcpy(message.agents, data, size < n - HEAD_BYTES ? size : n - HEAD_BYTES);
	for (size_t i = 0; i < n_agents; i++) {
		message.agents[i].n_pools %= GPU_HSA_POOLS_MAX + 1;
		message.agents[i].n_isas %= GPU_HSA_ISAS_MAX + 1;
	}
	CHECK(gpu_hsa_agents_receive(&message, n, &got, NULL) == WS_OK);
	use(&got);
	return 0;
}
