/*
 * A stand-in for libamd_smi with two GPUs. FAKE_SMI has words: "none": no GPUs; "old": structures as
 * before ROCm 6.4; "no-power", "no-temp", ...: that call fails; "late": calls fail from the third on;
 * "second-die": the second has no power of its own.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

static int handles[2];

static int says(const char *word)
{
	const char *words = getenv("FAKE_SMI");

	return words && strstr(words, word) != NULL;
}

static unsigned gpu_of(void *handle)
{
	return handle == &handles[1];
}

PUBLIC int amdsmi_init(uint64_t flags);
PUBLIC int amdsmi_init(uint64_t flags)
{
	return flags != 2 || says("no-init");
}

PUBLIC int amdsmi_get_socket_handles(uint32_t *n, void **sockets);
PUBLIC int amdsmi_get_socket_handles(uint32_t *n, void **sockets)
{
	if (*n < 2)
		return 1;
	*n = says("none") ? 0 : 2;
	sockets[0] = &handles[0];
	sockets[1] = &handles[1];
	return 0;
}

PUBLIC int amdsmi_get_processor_handles(void *socket, uint32_t *n, void **processors);
PUBLIC int amdsmi_get_processor_handles(void *socket, uint32_t *n, void **processors)
{
	*n = 1;
	processors[0] = socket;
	return 0;
}

PUBLIC int amdsmi_get_gpu_activity(void *gpu, uint32_t *usage);
PUBLIC int amdsmi_get_gpu_activity(void *gpu, uint32_t *usage)
{
	static unsigned n;

	if (says("no-busy") || (says("late") && ++n > 4))
		return 2;
	memset(usage, 0, 64);
	usage[0] = 41 + gpu_of(gpu);
	usage[1] = 7;
	usage[2] = 0xffff; /* it has none */
	return 0;
}

PUBLIC int amdsmi_get_temp_metric(void *gpu, uint32_t sensor, uint32_t metric, int64_t *out);
PUBLIC int amdsmi_get_temp_metric(void *gpu, uint32_t sensor, uint32_t metric, int64_t *out)
{
	*out = 65;
	return sensor != 1 || metric != 0 || says("no-temp");
}

PUBLIC int amdsmi_get_power_info(void *gpu, uint32_t *info);
PUBLIC int amdsmi_get_power_info(void *gpu, uint32_t *info)
{
	static const uint32_t new_layout[] = { 155, 0, 155, 0xffffffff, 0, 0, 0, 0 };
	static const uint32_t old_layout[] = { 0xffff, 148, 900, 901 };

	if (says("no-power") || (says("second-die") && gpu_of(gpu)))
		return 2;
	memcpy(info, says("old") ? old_layout : new_layout,
	       says("old") ? sizeof(old_layout) : sizeof(new_layout));
	return 0;
}

PUBLIC int amdsmi_get_gpu_memory_usage(void *gpu, uint32_t kind, uint64_t *used);
PUBLIC int amdsmi_get_gpu_memory_usage(void *gpu, uint32_t kind, uint64_t *used)
{
	*used = 2500000000u + gpu_of(gpu) * 1000000u;
	return kind != 0 || says("no-mem");
}

PUBLIC int amdsmi_get_gpu_memory_total(void *gpu, uint32_t kind, uint64_t *total);
PUBLIC int amdsmi_get_gpu_memory_total(void *gpu, uint32_t kind, uint64_t *total)
{
	*total = 10000000000u;
	return kind != 0 || says("no-mem");
}

PUBLIC int amdsmi_get_clock_info(void *gpu, uint32_t kind, uint32_t *info);
PUBLIC int amdsmi_get_clock_info(void *gpu, uint32_t kind, uint32_t *info)
{
	info[0] = kind == 0 ? 1700 : kind == 4 ? 1600 : 0;
	return kind != 0 && kind != 4;
}

PUBLIC int amdsmi_get_gpu_metrics_info(void *gpu, uint8_t *metrics);
PUBLIC int amdsmi_get_gpu_metrics_info(void *gpu, uint8_t *metrics)
{
	uint16_t vcn[4] = { 11, 0xffff, 13, 0xffff }, jpeg[32];

	/* as large as the structure is */
	memset(metrics, 0, 5000);
	memset(jpeg, 0xff, sizeof(jpeg));
	jpeg[5] = 15;
	memcpy(metrics + 122, vcn, sizeof(vcn));
	memcpy(metrics + 352, jpeg, sizeof(jpeg));
	return 0;
}
