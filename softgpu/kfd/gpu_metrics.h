/*
 * gpu_metrics: the table that the driver copies from the firmware of an MI100 or MI200 into the
 * file gpu_metrics: format 1, content 3.
 *
 * The names are the kernel's (kgd_pp_interface.h, struct gpu_metrics_v1_3). A field of all ones has
 * no value. Temperatures are in degrees, power in watts, clocks in MHz.
 */
#ifndef WS_SOFTGPU_KFD_GPU_METRICS_H
#define WS_SOFTGPU_KFD_GPU_METRICS_H

#include <stdint.h>

struct sg_gpu_metrics {
	uint16_t structure_size;
	uint8_t format_revision, content_revision;
	uint16_t temperature_edge, temperature_hotspot, temperature_mem;
	uint16_t temperature_vrgfx, temperature_vrsoc, temperature_vrmem;
	uint16_t average_gfx_activity, average_umc_activity, average_mm_activity; /* percent */
	uint16_t average_socket_power;
	uint64_t energy_accumulator;
	uint64_t system_clock_counter; /* ns */
	uint16_t average_gfxclk_frequency, average_socclk_frequency, average_uclk_frequency;
	uint16_t average_vclk0_frequency, average_dclk0_frequency;
	uint16_t average_vclk1_frequency, average_dclk1_frequency;
	uint16_t current_gfxclk, current_socclk, current_uclk;
	uint16_t current_vclk0, current_dclk0, current_vclk1, current_dclk1;
	uint32_t throttle_status;
	uint16_t current_fan_speed;
	uint16_t pcie_link_width, pcie_link_speed; /* speed in 0.1 GT/s */
	uint16_t padding;
	uint32_t gfx_activity_acc, mem_activity_acc;
	uint16_t temperature_hbm[4];
	uint64_t firmware_timestamp; /* 10 ns */
	uint16_t voltage_soc, voltage_gfx, voltage_mem;
	uint16_t padding1;
	uint64_t indep_throttle_status;
};

_Static_assert(sizeof(struct sg_gpu_metrics) == 120, "as the kernel lays it out");

/* Everything that is not set afterwards has no value, or does not change. */
#define SG_GPU_METRICS_UNKNOWN                                                                     \
	{                                                                                          \
		.structure_size = sizeof(struct sg_gpu_metrics), .format_revision = 1,             \
		.content_revision = 3, .temperature_vrgfx = UINT16_MAX,                            \
		.temperature_vrsoc = UINT16_MAX, .temperature_vrmem = UINT16_MAX,                  \
		.average_umc_activity = UINT16_MAX, .average_mm_activity = UINT16_MAX,             \
		.energy_accumulator = UINT64_MAX, .average_socclk_frequency = UINT16_MAX,          \
		.average_vclk0_frequency = UINT16_MAX, .average_dclk0_frequency = UINT16_MAX,      \
		.average_vclk1_frequency = UINT16_MAX, .average_dclk1_frequency = UINT16_MAX,      \
		.current_socclk = UINT16_MAX, .current_vclk0 = UINT16_MAX,                         \
		.current_dclk0 = UINT16_MAX, .current_vclk1 = UINT16_MAX,                          \
		.current_dclk1 = UINT16_MAX, .current_fan_speed = UINT16_MAX,                      \
		.padding = UINT16_MAX, .gfx_activity_acc = UINT32_MAX,                             \
		.mem_activity_acc = UINT32_MAX, .voltage_soc = UINT16_MAX,                         \
		.voltage_gfx = UINT16_MAX, .voltage_mem = UINT16_MAX, .padding1 = UINT16_MAX,      \
	}

#endif
