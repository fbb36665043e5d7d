/* A stand-in for librocm_smi64 with one GPU; FAKE_SMI as in fake_amd_smi.c. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

static int says(const char *word)
{
	const char *words = getenv("FAKE_SMI");

	return words && strstr(words, word) != NULL;
}

PUBLIC int rsmi_init(uint64_t flags);
PUBLIC int rsmi_init(uint64_t flags)
{
	return flags != 0;
}

PUBLIC int rsmi_num_monitor_devices(uint32_t *n);
PUBLIC int rsmi_num_monitor_devices(uint32_t *n)
{
	*n = 1;
	return 0;
}

PUBLIC int rsmi_dev_busy_percent_get(uint32_t gpu, uint32_t *percent);
PUBLIC int rsmi_dev_busy_percent_get(uint32_t gpu, uint32_t *percent)
{
	*percent = 93;
	return gpu != 0;
}

PUBLIC int rsmi_dev_temp_metric_get(uint32_t gpu, uint32_t sensor, uint32_t metric, int64_t *out);
PUBLIC int rsmi_dev_temp_metric_get(uint32_t gpu, uint32_t sensor, uint32_t metric, int64_t *out)
{
	*out = 51500;
	return sensor != 1 || metric != 0;
}

PUBLIC int rsmi_dev_current_socket_power_get(uint32_t gpu, uint64_t *power);
PUBLIC int rsmi_dev_current_socket_power_get(uint32_t gpu, uint64_t *power)
{
	*power = 0;
	return 2; /* of newer cards only */
}

PUBLIC int rsmi_dev_power_ave_get(uint32_t gpu, uint32_t sensor, uint64_t *power);
PUBLIC int rsmi_dev_power_ave_get(uint32_t gpu, uint32_t sensor, uint64_t *power)
{
	*power = 87000000;
	return sensor != 0 || says("no-power");
}

PUBLIC int rsmi_dev_memory_total_get(uint32_t gpu, uint32_t kind, uint64_t *total);
PUBLIC int rsmi_dev_memory_total_get(uint32_t gpu, uint32_t kind, uint64_t *total)
{
	*total = 1000000000;
	return kind != 0;
}

PUBLIC int rsmi_dev_memory_usage_get(uint32_t gpu, uint32_t kind, uint64_t *used);
PUBLIC int rsmi_dev_memory_usage_get(uint32_t gpu, uint32_t kind, uint64_t *used)
{
	*used = 123000000;
	return kind != 0;
}
