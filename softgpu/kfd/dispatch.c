/* The table of requests, and what they have in common: finding the row, copying arguments in
 * and out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "softgpu/device/log.h"
#include "softgpu/device/peek.h"
#include "softgpu/kfd/kfd_priv.h"

#define FEW_BYTES 256u

struct row {
	const char *name;
	sg_kfd_handler *handler;
	size_t size; /* of the structure known here */
};

/* clang-format off */
#define ROW(nr, args, handler) [nr] = { #handler, sg_kfd_##handler, sizeof(struct args) }

static const struct row rows[] = {
	ROW(0x01, kfd_ioctl_get_version_args,               get_version),
	ROW(0x02, kfd_ioctl_create_queue_args,              create_queue),
	ROW(0x03, kfd_ioctl_destroy_queue_args,             destroy_queue),
	ROW(0x04, kfd_ioctl_set_memory_policy_args,         set_memory_policy),
	ROW(0x05, kfd_ioctl_get_clock_counters_args,        get_clocks),
	ROW(0x06, kfd_ioctl_get_process_apertures_args,     get_apertures),
	ROW(0x07, kfd_ioctl_update_queue_args,              update_queue),
	ROW(0x08, kfd_ioctl_create_event_args,              create_event),
	ROW(0x09, kfd_ioctl_destroy_event_args,             destroy_event),
	ROW(0x0a, kfd_ioctl_set_event_args,                 set_event),
	ROW(0x0b, kfd_ioctl_reset_event_args,               reset_event),
	ROW(0x0c, kfd_ioctl_wait_events_args,               wait_events),
	ROW(0x11, kfd_ioctl_set_scratch_backing_va_args,    set_scratch_va),
	ROW(0x12, kfd_ioctl_get_tile_config_args,           get_tile_config),
	ROW(0x13, kfd_ioctl_set_trap_handler_args,          set_trap_handler),
	ROW(0x14, kfd_ioctl_get_process_apertures_new_args, get_apertures_new),
	ROW(0x15, kfd_ioctl_acquire_vm_args,                acquire_vm),
	ROW(0x16, kfd_ioctl_alloc_memory_of_gpu_args,       alloc_memory),
	ROW(0x17, kfd_ioctl_free_memory_of_gpu_args,        free_memory),
	ROW(0x18, kfd_ioctl_map_memory_to_gpu_args,         map_memory),
	ROW(0x19, kfd_ioctl_unmap_memory_from_gpu_args,     unmap_memory),
	ROW(0x1a, kfd_ioctl_set_cu_mask_args,               set_cu_mask),
	ROW(0x1b, kfd_ioctl_get_queue_wave_state_args,      queue_wave_state),
	ROW(0x1c, kfd_ioctl_get_dmabuf_info_args,           dmabuf_info),
	ROW(0x1d, kfd_ioctl_import_dmabuf_args,             import_dmabuf),
	ROW(0x1e, kfd_ioctl_alloc_queue_gws_args,           alloc_gws),
	ROW(0x1f, kfd_ioctl_smi_events_args,                smi_events),
	ROW(0x20, kfd_ioctl_svm_args,                       svm),
	ROW(0x21, kfd_ioctl_set_xnack_mode_args,            set_xnack),
	ROW(0x22, kfd_ioctl_criu_args,                      criu),
	ROW(0x23, kfd_ioctl_get_available_memory_args,      available_memory),
	ROW(SG_KFD_NR_EXPORT_DMABUF,  sg_kfd_export_dmabuf_args,  export_dmabuf),
	ROW(SG_KFD_NR_RUNTIME_ENABLE, sg_kfd_runtime_enable_args, runtime_enable),
	ROW(SG_KFD_NR_DBG_TRAP,       sg_kfd_dbg_trap_args,       dbg_trap),
	ROW(SG_KFD_NR_IPC_IMPORT,     sg_kfd_ipc_import_args,     ipc_import),
	ROW(SG_KFD_NR_IPC_EXPORT,     sg_kfd_ipc_export_args,     ipc_export),
	ROW(SG_KFD_NR_PC_SAMPLE,      sg_kfd_pcs_args,            pc_sample),
	ROW(SG_KFD_NR_PROFILER,       sg_kfd_profiler_args,       profiler),
};
/* clang-format on */

/* The debugger's requests before DBG_TRAP: the driver still has their numbers, and refuses them. */
static const struct {
	uint8_t nr;
	int error;
	const char *name;
} refused[] = {
	{ 0x0d, EPERM, "DBG_REGISTER" },
	{ 0x0e, EPERM, "DBG_UNREGISTER" },
	{ 0x0f, EPERM, "DBG_ADDRESS_WATCH" },
	{ 0x10, EPERM, "DBG_WAVE_CONTROL" },
};

bool sg_kfd_read(uint64_t from, void *to, size_t size)
{
	return !size || sg_peek_bytes((const void *)from, to, size);
}

bool sg_kfd_write(uint64_t to, const void *from, size_t size)
{
	return !size || sg_poke_bytes((void *)to, from, size);
}

static int refuse(unsigned nr)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (refused[i].nr != nr)
			continue;
		sg_gpu_log(SG_GPU_LOG_DEBUG, "kfd: %s is not supported", refused[i].name);
		return refused[i].error;
	}
	sg_gpu_log(SG_GPU_LOG_INFO, "kfd: unknown request 0x%02x", nr);
	return ENOTTY;
}

static int call(struct sg_kfd *kfd, const struct row *row, unsigned long request, void *arg,
		void *args, size_t size)
{
	int error;

	if (size && !sg_kfd_read((uintptr_t)arg, args, size))
		return EFAULT;
	error = row->handler(kfd, args, size);
	/* Also after an error: some answers are in the structure. */
	if (size && _IOC_DIR(request) & _IOC_READ && !sg_kfd_write((uintptr_t)arg, args, size))
		return EFAULT;
	sg_gpu_log(SG_GPU_LOG_DEBUG, "kfd: %s, %zu bytes: %s", row->name, size,
		   error ? strerror(error) : "done");
	return error;
}

int sg_kfd_ioctl(struct sg_kfd *kfd, unsigned long request, void *arg)
{
	unsigned nr = _IOC_NR(request);
	size_t size = _IOC_SIZE(request), known;
	uint64_t few[FEW_BYTES / 8] = { 0 };
	void *args = few;
	int error;

	if (_IOC_TYPE(request) != AMDKFD_IOCTL_BASE)
		return ENOTTY;
	if (nr >= sizeof(rows) / sizeof(rows[0]) || !rows[nr].handler)
		return refuse(nr);
	known = rows[nr].size > size ? rows[nr].size : size;
	if (known > FEW_BYTES && !(args = calloc(1, known)))
		return ENOMEM;
	error = call(kfd, &rows[nr], request, arg, args, size);
	if (args != few)
		free(args);
	return error;
}
