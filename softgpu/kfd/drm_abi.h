/*
 * drm_abi: the requests of a render node that libdrm and ROCr make, as the kernel's drm.h and
 * amdgpu_drm.h lay them out. Those headers come with libdrm's, which nothing else here needs.
 */
#ifndef WS_SOFTGPU_KFD_DRM_ABI_H
#define WS_SOFTGPU_KFD_DRM_ABI_H

#include <stddef.h>
#include <stdint.h>

#define SG_DRM_TYPE 'd'

enum sg_drm_nr {
	SG_DRM_VERSION = 0x00,
	SG_DRM_GET_CLIENT = 0x05,
	SG_DRM_GEM_CLOSE = 0x09,
	SG_DRM_GET_CAP = 0x0c,
	SG_DRM_SET_CLIENT_CAP = 0x0d,
	SG_DRM_PRIME_HANDLE_TO_FD = 0x2d,
	SG_DRM_PRIME_FD_TO_HANDLE = 0x2e,
	SG_DRM_AMDGPU_GEM_MMAP = 0x41,
	SG_DRM_AMDGPU_INFO = 0x45,
	SG_DRM_AMDGPU_GEM_METADATA = 0x46,
	SG_DRM_AMDGPU_GEM_VA = 0x48,
	SG_DRM_AMDGPU_GEM_OP = 0x50,
};

struct sg_drm_version {
	int32_t major, minor, patch;
	uint64_t name_bytes, name;
	uint64_t date_bytes, date;
	uint64_t desc_bytes, desc;
};

struct sg_drm_client {
	int32_t index, authenticated;
	uint64_t pid, uid, magic, iocs;
};

struct sg_drm_cap {
	uint64_t capability, value;
};

struct sg_drm_gem_close {
	uint32_t handle, pad;
};

struct sg_drm_prime {
	uint32_t handle, flags;
	int32_t fd;
};

struct sg_drm_gem_mmap {
	uint64_t handle_or_offset;
};

struct sg_drm_gem_metadata {
	uint32_t handle, op; /* 1 set, 2 get */
	uint64_t flags, tiling_info;
	uint32_t n_bytes, data[64];
};

struct sg_drm_gem_op {
	uint32_t handle, op; /* 0: how it was created */
	uint64_t value;
};

struct sg_drm_gem_create_info {
	uint64_t size, alignment, domains, flags;
};

#define SG_DRM_DOMAIN_GTT 2u
#define SG_DRM_DOMAIN_VRAM 4u

enum sg_drm_va_op { SG_DRM_VA_MAP = 1, SG_DRM_VA_UNMAP, SG_DRM_VA_CLEAR, SG_DRM_VA_REPLACE };

struct sg_drm_gem_va {
	uint32_t handle, pad;
	uint32_t operation, flags;
	uint64_t va, offset, size;
};

enum sg_drm_query {
	SG_DRM_ACCEL_WORKING = 0x00,
	SG_DRM_HW_IP_INFO = 0x02,
	SG_DRM_HW_IP_COUNT = 0x03,
	SG_DRM_TIMESTAMP = 0x05,
	SG_DRM_FW_VERSION = 0x0e,
	SG_DRM_VRAM_USAGE = 0x10,
	SG_DRM_GTT_USAGE = 0x11,
	SG_DRM_VRAM_GTT = 0x14,
	SG_DRM_READ_MMR_REG = 0x15,
	SG_DRM_DEV_INFO = 0x16,
	SG_DRM_VIS_VRAM_USAGE = 0x17,
	SG_DRM_MEMORY = 0x19,
	SG_DRM_SENSOR = 0x1d, /* the first operand is an enum sg_drm_sensor */
};

enum sg_drm_sensor {
	SG_DRM_SENSOR_SCLK_MHZ = 1,
	SG_DRM_SENSOR_MCLK_MHZ = 2,
	SG_DRM_SENSOR_MILLI_CELSIUS = 3,
	SG_DRM_SENSOR_LOAD_PERCENT = 4,
	SG_DRM_SENSOR_WATTS = 5,
};

struct sg_drm_info {
	uint64_t answer;
	uint32_t answer_bytes, query;
	uint32_t operands[4];
};

struct sg_drm_heap {
	uint64_t total_bytes, usable_bytes, used_bytes, largest_bytes;
};

struct sg_drm_memory {
	struct sg_drm_heap vram, visible_vram, gtt;
};

struct sg_drm_vram_gtt {
	uint64_t vram_bytes, visible_vram_bytes, gtt_bytes;
};

struct sg_drm_device {
	uint32_t device_id, chip_rev, external_rev, pci_rev, family;
	uint32_t n_shader_engines, n_shader_arrays_per_engine, counter_khz;
	uint64_t max_engine_khz, max_memory_khz;
	uint32_t n_cus, cu_ao_mask, cu_bitmap[4][4];
	uint32_t rb_pipes_mask, n_rb_pipes, n_gfx_contexts, pad;
	uint64_t ids_flags, va_start, va_end;
	uint32_t va_alignment, pte_fragment_bytes, gart_page_bytes, ce_ram_bytes;
	uint32_t vram_type, vram_width_bits, vce_harvest, double_offchip_lds;
	uint64_t ngg_addresses[4];
	uint32_t ngg_sizes[4];
	uint32_t wave_front_size, n_vgprs, n_cus_per_array, n_tcc_blocks;
	uint32_t gs_vgt_table_depth, gs_prim_buffer_depth, max_gs_waves_per_vgt, pad1;
	uint32_t cu_ao_bitmap[4][4];
	uint64_t high_va_start, high_va_end;
	uint32_t pa_sc_tile_steering, pad2;
	uint64_t tcc_disabled_mask;
	uint64_t min_engine_khz, min_memory_khz;
};
_Static_assert(offsetof(struct sg_drm_device, tcc_disabled_mask) == 360, "as the kernel has it");

#define SG_DRM_FAMILY_AI 141u /* Vega, and all Instinct GPUs up to the MI300 */
#define SG_DRM_VRAM_HBM 6u
#define SG_DRM_IDS_FUSION 1u /* an APU */

#endif
