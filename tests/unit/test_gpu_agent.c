/* The description of an agent, and how it gets here from the process that asked the runtime. */
#include "base/file.h"
#include "gpu/hsa_agents.h"
#include "tests/unit/unit.h"
#include "trace/agent.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAD_BYTES offsetof(struct gpu_hsa_agents, agents)

/* A host with a CPU and an MI210, as the runtime reports them. */
static struct gpu_hsa_agents *answer(void)
{
	static struct gpu_hsa_agents agents;
	struct gpu_hsa_agent *cpu = &agents.agents[0], *gpu = &agents.agents[1];

	memset(&agents, 0, sizeof(agents));
	agents.n_agents = 2;
	agents.soft = 1;
	agents.version_major = 1;
	snprintf(agents.library, sizeof(agents.library), "/lib/libhsa.so, 1 bytes, 2");
	snprintf(cpu->name, sizeof(cpu->name), "EPYC");
	snprintf(cpu->product, sizeof(cpu->product), "EPYC 7V13");
	cpu->n_cus = 64;
	cpu->device_type = HSA_DEVICE_TYPE_CPU;
	snprintf(gpu->name, sizeof(gpu->name), "gfx90a");
	snprintf(gpu->product, sizeof(gpu->product), "AMD Instinct MI210");
	gpu->device_type = HSA_DEVICE_TYPE_GPU;
	gpu->node = gpu->driver_node = 1;
	gpu->chip_id = 29711;
	gpu->bdfid = 768;
	gpu->freq_mhz = 1700;
	gpu->cache_bytes[0] = 16 << 10;
	gpu->cache_bytes[1] = 8 << 20;
	gpu->n_cus = 104;
	gpu->simds_per_cu = 4;
	gpu->n_ses = 8;
	gpu->arrays_per_se = 1;
	gpu->wave_size = 64;
	gpu->workgroup_max = 1024;
	gpu->waves_per_cu = 32;
	gpu->n_pools = 2;
	gpu->pools[0] = (struct gpu_hsa_pool){ .segment = HSA_AMD_SEGMENT_GLOBAL,
					       .size_bytes = 67092480ull << 10 };
	gpu->pools[1] =
		(struct gpu_hsa_pool){ .segment = HSA_AMD_SEGMENT_GROUP, .size_bytes = 1ull << 50 };
	return &agents;
}

static void the_runtimes_answer_becomes_a_description(void **state)
{
	static struct gpu_agents agents;
	const struct gpu_agent *gpu = &agents.at[0];

	gpu_agents_of_hsa(answer(), &agents);
	assert_int_equal(agents.n, 1); /* the CPU is no GPU */
	assert_true(agents.soft && gpu->soft && gpu->is_gpu);
	assert_string_equal(agents.runtime, "/lib/libhsa.so, 1 bytes, 2");
	assert_string_equal(gpu->arch, "gfx90a");
	assert_string_equal(gpu->product, "AMD Instinct MI210");
	assert_int_equal(gpu->device_id, 29711);
	assert_int_equal(gpu->location_id, 768);
	assert_int_equal(gpu->l1_kib, 16);
	assert_int_equal(gpu->l2_kib, 8192);
	assert_int_equal(gpu_agent_n_cus(gpu), 104);
	assert_int_equal(gpu_agent_n_ses(gpu), 8);
	assert_int_equal(gpu_agent_waves_per_cu(gpu), 32);
	assert_int_equal(gpu->simd_per_cu, 4);
	assert_int_equal(gpu->workgroup_max, 1024);
	assert_int_equal(gpu->freq_mhz, 1700);
	assert_int_equal(gpu->mem_kib, 67092480); /* global pools only */
	assert_string_equal(gpu->model->name, "mi210");
}

static void a_line_names_cores_and_compute_units(void **state)
{
	struct gpu_agent agent;
	char line[128];

	gpu_agent_of_hsa(&answer()->agents[0], true, &agent);
	assert_false(agent.soft);
	gpu_agent_line(&agent, 1, line, sizeof(line));
	assert_string_equal(line, "agent 1   CPU           EPYC 7V13, 64 cores, 0 MHz, 0 GiB");
	gpu_agent_of_hsa(&answer()->agents[1], true, &agent);
	gpu_agent_line(&agent, 2, line, sizeof(line));
	assert_string_equal(
		line, "agent 2   GPU  gfx90a   AMD Instinct MI210, 104 CUs, 1700 MHz, 64 GiB");
}

/* Counters are planned from any of them, so they must agree on the geometry. */
static void model_runtime_and_recording_agree(void **state)
{
	const struct cap_rec_agent info = {
		.type = CAP_AGENT_GPU,
		.flags = CAP_AGENT_SOFT,
		.node_id = 1,
		.device_id = 29711,
		.simd_count = 416,
		.simd_per_cu = 4,
		.max_waves_per_simd = 8,
		.array_count = 8,
		.simd_arrays_per_engine = 1,
		.wave_front_size = 64,
		.max_engine_clk_fcompute = 1700,
		.hive_id = 0x123456789abcdefull,
		.num_xcc = 1,
	};
	const struct trc_agent recorded = { .info = &info,
					    .name = "gfx90a",
					    .product_name = "AMD Instinct MI210" };
	struct gpu_agent from[3];

	gpu_agent_of_model(gpu_model_find("mi210"), true, &from[0]);
	gpu_agent_of_hsa(&answer()->agents[1], true, &from[1]);
	trc_agent_describe(&recorded, &from[2]);
	for (size_t i = 0; i < WS_ARRAY_LEN(from); i++) {
		assert_true(from[i].is_gpu && from[i].soft);
		assert_string_equal(from[i].arch, "gfx90a");
		assert_ptr_equal(from[i].model, gpu_model_find("mi210"));
		assert_int_equal(gpu_agent_n_cus(&from[i]), 104);
		assert_int_equal(gpu_agent_n_ses(&from[i]), 8);
		assert_int_equal(gpu_agent_waves_per_cu(&from[i]), 32);
		assert_int_equal(from[i].wave_front_size, 64);
		assert_int_equal(from[i].freq_mhz, 1700);
		assert_int_equal(from[i].device_id, 29711);
	}
	assert_string_equal(from[2].product, "AMD Instinct MI210");
	assert_true(from[2].hive_id == 0x123456789abcdefull);
}

/* ---- from process to process ---- */

static size_t message(char **out_bytes)
{
	int fd = memfd_create("message", 0);
	size_t n;

	assert_int_equal(gpu_hsa_agents_send(fd, answer(), NULL), WS_OK);
	n = (size_t)lseek(fd, 0, SEEK_END);
	assert_int_equal(n, HEAD_BYTES + 2 * sizeof(struct gpu_hsa_agent));
	*out_bytes = malloc(n);
	assert_int_equal(pread(fd, *out_bytes, n, 0), n);
	close(fd);
	return n;
}

static void what_is_sent_is_received(void **state)
{
	static struct gpu_hsa_agents got;
	char *bytes;
	size_t n = message(&bytes);

	assert_int_equal(gpu_hsa_agents_receive(bytes, n, &got, NULL), WS_OK);
	assert_int_equal(got.n_agents, 2);
	assert_memory_equal(got.agents, answer()->agents, 2 * sizeof(got.agents[0]));
	assert_string_equal(got.library, "/lib/libhsa.so, 1 bytes, 2");
	free(bytes);
}

static void anything_else_is_refused(void **state)
{
	static struct gpu_hsa_agents got, bad;
	char *bytes;
	size_t n = message(&bytes);
	struct ws_err err;
	const struct {
		uint32_t *at, value;
	} wrong[] = {
		{ &bad.version, GPU_HSA_AGENTS_VERSION + 1 },
		{ &bad.n_bytes_head, HEAD_BYTES - 8 },
		{ &bad.n_bytes_agent, sizeof(struct gpu_hsa_agent) + 8 },
		{ &bad.n_agents, 3 },
		{ &bad.n_agents, UINT32_MAX },
		{ &bad.status, WS_STATUS_COUNT },
		{ &bad.agents[1].n_pools, GPU_HSA_POOLS_MAX + 1 },
		{ &bad.agents[0].n_isas, GPU_HSA_ISAS_MAX + 1 },
	};

	for (size_t cut = 0; cut < n; cut += cut < HEAD_BYTES ? 1 : 97)
		assert_fails_with(gpu_hsa_agents_receive(bytes, cut, &got, &err), WS_E_FORMAT, &err,
				  "are not a description");
	for (size_t i = 0; i < WS_ARRAY_LEN(wrong); i++) {
		memcpy(&bad, bytes, n);
		*wrong[i].at = wrong[i].value;
		assert_int_equal(gpu_hsa_agents_receive(&bad, n, &got, NULL), WS_E_FORMAT);
		assert_int_equal(got.n_agents, 0);
	}
	memcpy(&bad, bytes, n);
	bad.magic[0] ^= 1;
	assert_int_equal(gpu_hsa_agents_receive(&bad, n, &got, NULL), WS_E_FORMAT);
	/* A text without an end gets one. */
	memcpy(&bad, bytes, n);
	memset(bad.agents[1].name, 'x', sizeof(bad.agents[1].name));
	assert_int_equal(gpu_hsa_agents_receive(&bad, n, &got, NULL), WS_OK);
	assert_int_equal(strlen(got.agents[1].name), sizeof(bad.agents[1].name) - 1);
	free(bytes);
}

/* A child that is a shell script: "$2" is the descriptor to send to. */
static enum ws_status ask(const char *script, int timeout_ms, struct gpu_hsa_agents *out,
			  struct ws_err *err)
{
	char *argv[] = { "sh", "-c", (char *)script, "child", NULL };
	struct gpu_hsa_ask child = { "sh", argv, environ, timeout_ms };

	return gpu_hsa_agents_ask(&child, out, err);
}

static void a_child_sends_while_its_runtime_prints(void **state)
{
	static struct gpu_hsa_agents got;
	char path[PATH_MAX], script[PATH_MAX + 100], *bytes;
	size_t n = message(&bytes);
	struct ws_err err;
	int fd;

	assert_int_equal(ws_file_temp("ws-agents", path, &fd, &err), WS_OK);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
	snprintf(script, sizeof(script), "echo noise; echo more >&2; cat '%s' >/proc/self/fd/$2",
		 path);
	assert_int_equal(ask(script, 20000, &got, &err), WS_OK);
	assert_string_equal(got.agents[1].product, "AMD Instinct MI210");
	unlink(path);
	free(bytes);
}

static void a_failed_runtime_is_reported_with_its_status(void **state)
{
	static struct gpu_hsa_agents sent, got;
	char path[PATH_MAX], script[PATH_MAX + 100];
	struct ws_err err;
	int fd;

	sent.status = WS_E_UNSUPPORTED;
	snprintf(sent.error, sizeof(sent.error), "the runtime is too old");
	assert_int_equal(ws_file_temp("ws-agents", path, &fd, &err), WS_OK);
	assert_int_equal(gpu_hsa_agents_send(fd, &sent, &err), WS_OK);
	close(fd);
	snprintf(script, sizeof(script), "cat '%s' >/proc/self/fd/$2", path);
	assert_fails_with(ask(script, 20000, &got, &err), WS_E_UNSUPPORTED, &err,
			  "the runtime is too old");
	unlink(path);
}

static void a_runtime_that_aborts_takes_only_the_child_along(void **state)
{
	static struct gpu_hsa_agents got;
	struct ws_err err;

	assert_fails_with(ask("echo first; echo the driver is broken >&2; kill -ABRT $$", 20000,
			      &got, &err),
			  WS_E_STATE, &err, "killed by signal 6 (Aborted): the driver is broken");
	assert_fails_with(ask("kill -SEGV $$", 0, &got, &err), WS_E_STATE, &err,
			  "killed by signal 11");
	assert_fails_with(ask("exit 3", 20000, &got, &err), WS_E_STATE, &err, "ended the process");
	assert_fails_with(ask("echo nonsense >/proc/self/fd/$2", 20000, &got, &err), WS_E_FORMAT,
			  &err, "9 bytes");
	assert_fails_with(ask("sleep 20", 100, &got, &err), WS_E_TIMEOUT, &err, "100 ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_runtimes_answer_becomes_a_description),
		cmocka_unit_test(a_line_names_cores_and_compute_units),
		cmocka_unit_test(model_runtime_and_recording_agree),
		cmocka_unit_test(what_is_sent_is_received),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(a_child_sends_while_its_runtime_prints),
		cmocka_unit_test(a_failed_runtime_is_reported_with_its_status),
		cmocka_unit_test(a_runtime_that_aborts_takes_only_the_child_along),
	};

	return RUN(tests);
}
