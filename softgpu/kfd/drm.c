/* Requests on a render node: what the GPU is, and objects under their GEM handles. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "softgpu/device/board.h"
#include "softgpu/device/clock.h"
#include "softgpu/device/log.h"
#include "softgpu/kfd/drm_abi.h"
#include "softgpu/kfd/kfd_priv.h"
#include "softgpu/kfd/live.h"

#define FLAG(name) KFD_IOC_ALLOC_MEM_FLAGS_##name
#define MAX_ARGS 512u

/* Interface 3.57, which ROCr's virtual memory asks for. */
#define DRM_MAJOR 3
#define DRM_MINOR 57

/* --- what the GPU is --- */

static bool put_text(const char *text, uint64_t to, uint64_t *n_bytes)
{
	size_t n = strlen(text), room = *n_bytes;

	*n_bytes = n;
	return !to || sg_kfd_write(to, text, n < room ? n : room);
}

static int version(struct sg_kfd *kfd, uint32_t node, void *args_)
{
	struct sg_drm_version *args = args_;

	args->major = DRM_MAJOR;
	args->minor = DRM_MINOR;
	args->patch = 0;
	return put_text("amdgpu", args->name, &args->name_bytes) &&
			       put_text("20150101", args->date, &args->date_bytes) &&
			       put_text("AMD GPU", args->desc, &args->desc_bytes)
		       ? 0
		       : EFAULT;
}

static int client(struct sg_kfd *kfd, uint32_t node, void *args_)
{
	struct sg_drm_client *args = args_;

	if (args->index)
		return EINVAL;
	*args = (struct sg_drm_client){ .authenticated = 1,
					.pid = (uint64_t)getpid(),
					.uid = getuid() };
	return 0;
}

/* No display: the capabilities are those of buffer sharing, the rest is 0. */
static int get_cap(struct sg_kfd *kfd, uint32_t node, void *args_)
{
	enum { CAP_PRIME = 5, PRIME_BOTH_WAYS = 3, N_CAPS = 0x16 };
	struct sg_drm_cap *args = args_;

	if (args->capability >= N_CAPS)
		return EINVAL;
	args->value = args->capability == CAP_PRIME ? PRIME_BOTH_WAYS : 0;
	return 0;
}

static int set_client_cap(struct sg_kfd *kfd, uint32_t node, void *args)
{
	return EOPNOTSUPP; /* all of them are about displays */
}

static void fill_device(const struct sg_gpu *gpu, struct sg_drm_device *out)
{
	const struct sg_gpu_model *m = gpu->model;
	uint32_t n_engines = m->n_shader_engines / m->n_xccs; /* of a die, and so is the bitmap */
	uint32_t left = m->n_cus / m->n_xccs;

	*out = (struct sg_drm_device){
		.device_id = m->device_id,
		.chip_rev = m->asic_revision,
		.external_rev = m->asic_revision,
		.pci_rev = m->pci_revision,
		.family = SG_DRM_FAMILY_AI,
		.n_shader_engines = n_engines,
		.n_shader_arrays_per_engine = 1,
		.counter_khz = 1000000 / SG_DEVICE_TICK_NS,
		.max_engine_khz = m->engine_clock_mhz * 1000ull,
		.max_memory_khz = m->hbm_clock_mhz * 1000ull,
		.n_cus = m->n_cus,
		.n_gfx_contexts = 8,
		.ids_flags = m->is_apu ? SG_DRM_IDS_FUSION : 0,
		.va_start = 2ull << 20,
		.va_end = 1ull << 47,
		.va_alignment = 4096,
		.pte_fragment_bytes = 2u << 20,
		.gart_page_bytes = 4096,
		.vram_type = SG_DRM_VRAM_HBM,
		.vram_width_bits = m->hbm_width_bits,
		.wave_front_size = 64,
		.n_vgprs = 512,
		.n_cus_per_array = m->n_cus_per_engine,
		.n_tcc_blocks = m->partition ? 16 : 32, /* of a die */
	};
	/* Eight engines in a table of four by four: the second four are in the second column. */
	for (uint32_t se = 0; se < n_engines && se < 8; se++) {
		uint32_t n = (left + n_engines - se - 1) / (n_engines - se);

		out->cu_bitmap[se % 4][se / 4] = (1u << n) - 1;
		left -= n;
	}
}

/* By all processes; by this one only, where they cannot see each other. */
static struct sg_board_use use_of(const struct sg_kfd *kfd, uint32_t node)
{
	uint64_t own = sg_machine_gpu(&kfd->machine, node)->model->vram_bytes -
		       sg_vm_available(kfd->machine.vm, node);
	struct sg_board_use uses[SG_MAX_GPUS], *use = &uses[node - 1];

	sg_board_sum(uses, kfd->machine.topology.n_gpus);
	use->used_bytes = use->used_bytes > own ? use->used_bytes : own;
	return *use;
}

static uint64_t gtt_used(struct sg_kfd *kfd)
{
	return kfd->machine.host_bytes - sg_vm_available(kfd->machine.vm, 0);
}

static struct sg_drm_heap heap(uint64_t total, uint64_t used)
{
	return (struct sg_drm_heap){ .total_bytes = total,
				     .usable_bytes = total,
				     .used_bytes = used,
				     .largest_bytes = total / 4 * 3 };
}

static size_t answer(struct sg_kfd *kfd, uint32_t node, const struct sg_drm_info *args, void *out)
{
	const struct sg_gpu *gpu = sg_machine_gpu(&kfd->machine, node);
	uint64_t vram = gpu->model->vram_bytes, gtt = kfd->machine.host_bytes;
	struct sg_board_use use;
	uint64_t *word = out;

	switch (args->query) {
	case SG_DRM_ACCEL_WORKING:
		*(uint32_t *)out = 1;
		return sizeof(uint32_t);
	case SG_DRM_TIMESTAMP:
		*word = sg_clock_device_ticks();
		return sizeof(*word);
	case SG_DRM_VRAM_USAGE:
	case SG_DRM_VIS_VRAM_USAGE:
		*word = use_of(kfd, node).used_bytes;
		return sizeof(*word);
	case SG_DRM_GTT_USAGE:
		*word = gtt_used(kfd);
		return sizeof(*word);
	case SG_DRM_VRAM_GTT:
		*(struct sg_drm_vram_gtt *)out = (struct sg_drm_vram_gtt){ vram, vram, gtt };
		return sizeof(struct sg_drm_vram_gtt);
	case SG_DRM_MEMORY:
		use = use_of(kfd, node);
		*(struct sg_drm_memory *)out = (struct sg_drm_memory){ heap(vram, use.used_bytes),
								       heap(vram, use.used_bytes),
								       heap(gtt, gtt_used(kfd)) };
		return sizeof(struct sg_drm_memory);
	case SG_DRM_SENSOR:
		use = use_of(kfd, node);
		return sg_live_sensor(gpu, &use, args->operands[0], out) ? sizeof(uint32_t) : 0;
	case SG_DRM_DEV_INFO:
		fill_device(gpu, out);
		return sizeof(struct sg_drm_device);
	case SG_DRM_HW_IP_COUNT: /* no ring takes graphics submissions */
	case SG_DRM_HW_IP_INFO:
	case SG_DRM_FW_VERSION:
	case SG_DRM_READ_MMR_REG:
		return 64;
	default:
		return 0;
	}
}

static int info(struct sg_kfd *kfd, uint32_t node, void *args_)
{
	struct sg_drm_info *args = args_;
	uint64_t out[MAX_ARGS / 8] = { 0 };
	size_t n = answer(kfd, node, args, out);

	if (!n || !args->answer_bytes || !args->answer)
		return EINVAL;
	n = n < args->answer_bytes ? n : args->answer_bytes;
	return sg_kfd_write(args->answer, out, n) ? 0 : EFAULT;
}

/* --- the table --- */

typedef int drm_handler(struct sg_kfd *kfd, uint32_t node, void *args);

/* clang-format off */
#define ROW(nr, type, handler) [SG_DRM_##nr] = { handler, sizeof(struct sg_drm_##type), #nr }

static const struct {
	drm_handler *handler;
	size_t size; /* of the structure known here */
	const char *name;
} rows[] = {
	ROW(VERSION,             version,      version),
	ROW(GET_CLIENT,          client,       client),
	ROW(GEM_CLOSE,           gem_close,    sg_kfd_gem_close),
	ROW(GET_CAP,             cap,          get_cap),
	ROW(SET_CLIENT_CAP,      cap,          set_client_cap),
	ROW(PRIME_HANDLE_TO_FD,  prime,        sg_kfd_gem_export),
	ROW(PRIME_FD_TO_HANDLE,  prime,        sg_kfd_gem_import),
	ROW(AMDGPU_GEM_MMAP,     gem_mmap,     sg_kfd_gem_mmap),
	ROW(AMDGPU_INFO,         info,         info),
	ROW(AMDGPU_GEM_METADATA, gem_metadata, sg_kfd_gem_metadata),
	ROW(AMDGPU_GEM_VA,       gem_va,       sg_kfd_gem_va),
	ROW(AMDGPU_GEM_OP,       gem_op,       sg_kfd_gem_op),
};
/* clang-format on */

int sg_kfd_drm_ioctl(struct sg_kfd *kfd, uint32_t node, unsigned long request, void *arg)
{
	uint64_t args[MAX_ARGS / 8] = { 0 };
	unsigned nr = _IOC_NR(request);
	size_t size = _IOC_SIZE(request);
	int error;

	if (_IOC_TYPE(request) != SG_DRM_TYPE)
		return ENOTTY;
	if (nr >= sizeof(rows) / sizeof(rows[0]) || !rows[nr].handler) {
		sg_gpu_log(SG_GPU_LOG_INFO, "drm: unknown request 0x%02x", nr);
		return EINVAL;
	}
	if (size > sizeof(args))
		return EINVAL;
	_Static_assert(sizeof(struct sg_drm_gem_metadata) <= sizeof(args), "the largest");
	if (!sg_kfd_read((uintptr_t)arg, args, size))
		return EFAULT;
	error = rows[nr].handler(kfd, node, args);
	if (_IOC_DIR(request) & _IOC_READ && !sg_kfd_write((uintptr_t)arg, args, size))
		return EFAULT;
	sg_gpu_log(SG_GPU_LOG_DEBUG, "drm: %s, %zu of %zu bytes: %s", rows[nr].name, size,
		   rows[nr].size, error ? strerror(error) : "done");
	return error;
}
