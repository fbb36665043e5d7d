/* The kernel driver's requests: right answers, and the driver's errno for wrong ones. */
#include "tests/kfd/kfd_rig.h"

#include <pthread.h>

#include "softgpu/device/clock.h"

#define VANISHING_NS 200000000ull
#define PATIENCE_NS 10000000000ull /* on a busy machine, until each outcome was seen */

/* --- the process --- */

static void version_and_apertures_are_those_of_gfx9(void **state)
{
	struct kfd_ioctl_get_version_args version = { 0 };
	struct kfd_process_device_apertures entry = { 0 };
	struct kfd_ioctl_get_process_apertures_new_args one = { .kfd_process_device_apertures_ptr =
									(uint64_t)&entry,
								.num_of_nodes = 1 };
	struct kfd_ioctl_get_process_apertures_new_args count = { 0 };

	assert_int_equal(CALL(0x01, &version), 0);
	assert_int_equal(version.major_version, 1);
	assert_in_range(version.minor_version, 15, 18);
	assert_int_equal(CALL(0x14, &count), 0);
	assert_int_equal(count.num_of_nodes, 2);
	assert_int_equal(CALL(0x14, &one), 0);
	assert_int_equal(one.num_of_nodes, 1);
	assert_int_equal(entry.gpuvm_limit, (1ull << 47) - 1);
	assert_int_equal(entry.lds_base, 1ull << 48);
	assert_int_equal(entry.scratch_limit - entry.scratch_base, (4ull << 30) - 1);
	assert_int_not_equal(gpu_ids[0], gpu_ids[1]);
}

static void arguments_of_other_sizes_are_cut_or_filled(void **state)
{
	struct {
		struct kfd_ioctl_get_clock_counters_args known;
		uint64_t later[4];
	} longer = { .known.gpu_id = gpu_ids[0], .later = { 1, 2, 3, 4 } };
	uint64_t shorter[2] = { 0, 77 };

	assert_int_equal(CALL(0x05, &longer), 0);
	assert_int_equal(longer.known.system_clock_freq, 1000000000);
	assert_in_range(longer.known.gpu_clock_counter, 1, longer.known.system_clock_counter / 10);
	assert_int_equal(longer.later[3], 4);
	/* Only the first field fits: what is behind it is not written. */
	assert_int_equal(sg_kfd_ioctl(kfd, _IOC(_IOC_READ | _IOC_WRITE, AMDKFD_IOCTL_BASE, 0x05, 8),
				      shorter),
			 0);
	assert_int_equal(shorter[1], 77);
}

static void bad_memory_and_unknown_requests_are_refused(void **state)
{
	struct kfd_ioctl_get_process_apertures_new_args args = { .kfd_process_device_apertures_ptr =
									 8,
								 .num_of_nodes = 2 };

	assert_int_equal(CALL(0x01, (struct kfd_ioctl_get_version_args *)8), EFAULT);
	assert_int_equal(CALL(0x14, &args), EFAULT);
	assert_int_equal(CALL(0x3f, &args), ENOTTY);
	assert_int_equal(CALL(0x82, &args), ENOTTY);
	assert_int_equal(CALL(0x00, &args), ENOTTY);
	assert_int_equal(sg_kfd_ioctl(kfd, _IOR('X', 1, int), &args), ENOTTY);
}

static void profiler_locks_a_gpu_for_a_capable_process(void **state)
{
	struct sg_kfd_profiler_args version = { .op = SG_KFD_PROFILER_VERSION };
	struct sg_kfd_profiler_args lock = { .op = SG_KFD_PROFILER_PMC,
					     .pmc = { gpu_ids[0], 1, 1 } };
	struct sg_kfd_profiler_args other = { .op = 1 };
	bool is_capable = geteuid() == 0;

	assert_int_equal(CALL(SG_KFD_NR_PROFILER, &version), 0);
	assert_int_equal(version.version, 1);
	assert_int_equal(CALL(SG_KFD_NR_PROFILER, &other), EINVAL);
	assert_int_equal(CALL(SG_KFD_NR_PROFILER, &lock), is_capable ? 0 : EPERM);
	if (!is_capable)
		return;
	assert_int_equal(CALL(SG_KFD_NR_PROFILER, &lock), EALREADY);
	lock.pmc.lock = 0;
	assert_int_equal(CALL(SG_KFD_NR_PROFILER, &lock), 0);
	assert_int_equal(CALL(SG_KFD_NR_PROFILER, &lock), EINVAL); /* not locked */
	lock.pmc.gpu_id = 12345;
	assert_int_equal(CALL(SG_KFD_NR_PROFILER, &lock), EINVAL);
}

/* Whether the caller's memory can be used is found out without a signal. */
static void structures_across_pages_are_read_and_written_or_refused(void **state)
{
	char *pages =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kfd_ioctl_get_version_args *across, *out;

	assert_ptr_not_equal(pages, MAP_FAILED);
	across = (void *)(pages + PAGE - 4); /* a field in each page */
	out = (void *)(pages + 2 * PAGE - 4);
	assert_int_equal(munmap(pages + 2 * PAGE, PAGE), 0);
	assert_int_equal(CALL(0x01, across), 0);
	assert_int_equal(across->major_version, 1);
	assert_int_not_equal(across->minor_version, 0);
	assert_int_equal(pages[PAGE + 4], 0); /* nothing behind it was touched */
	assert_int_equal(CALL(0x01, out), EFAULT);
	assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_READ), 0);
	assert_int_equal(CALL(0x01, across), EFAULT);
	munmap(pages, 2 * PAGE);
}

struct vanishing {
	char *page;
	_Atomic bool stop;
};

static void *take_away_and_give_back(void *ctx)
{
	struct vanishing *v = ctx;

	while (!v->stop) {
		mprotect(v->page, PAGE, PROT_NONE);
		mprotect(v->page, PAGE, PROT_READ);
		mprotect(v->page, PAGE, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

/* A program that unmaps its arguments while the request reads them gets an error, not a signal. */
static void memory_that_vanishes_during_a_request_is_refused(void **state)
{
	struct vanishing v = { .page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) };
	unsigned n_done = 0, n_refused = 0;
	uint64_t start_ns = sg_clock_system_ns(), ns = 0;
	pthread_t thread;

	assert_ptr_not_equal(v.page, MAP_FAILED);
	assert_int_equal(pthread_create(&thread, NULL, take_away_and_give_back, &v), 0);
	for (; ns < VANISHING_NS || (ns < PATIENCE_NS && !(n_done && n_refused));
	     ns = sg_clock_system_ns() - start_ns) {
		struct kfd_ioctl_get_version_args *args = (void *)v.page;
		int error = CALL(0x01, args);

		assert_true(error == 0 || error == EFAULT);
		n_done += !error;
		n_refused += error == EFAULT;
	}
	v.stop = true;
	pthread_join(thread, NULL);
	assert_true(n_done && n_refused);
	munmap(v.page, PAGE);
}

static void requests_for_gpus_that_do_not_exist_fail(void **state)
{
	struct kfd_ioctl_set_memory_policy_args policy = { .gpu_id = 3 };
	struct kfd_ioctl_get_tile_config_args tiles = { .gpu_id = 3 };
	struct kfd_ioctl_set_trap_handler_args trap = { .gpu_id = 3 };
	struct kfd_ioctl_set_scratch_backing_va_args scratch = { .gpu_id = 3 };
	struct kfd_ioctl_get_available_memory_args memory = { .gpu_id = 3 };
	struct kfd_ioctl_alloc_memory_of_gpu_args alloc = { .gpu_id = 3,
							    .size = PAGE,
							    .flags = VRAM_FLAGS };
	struct kfd_ioctl_acquire_vm_args vm = { .gpu_id = 3, .drm_fd = RENDER_FD };

	assert_int_equal(CALL(0x04, &policy), EINVAL);
	assert_int_equal(CALL(0x12, &tiles), EINVAL);
	assert_int_equal(CALL(0x13, &trap), EINVAL);
	assert_int_equal(CALL(0x11, &scratch), EINVAL);
	assert_int_equal(CALL(0x23, &memory), EINVAL);
	assert_int_equal(CALL(0x16, &alloc), EINVAL);
	assert_int_equal(CALL(0x15, &vm), EINVAL);
}

static void a_gpu_is_acquired_once(void **state)
{
	struct kfd_ioctl_acquire_vm_args wrong = { .gpu_id = gpu_ids[0], .drm_fd = RENDER_FD + 1 };
	struct kfd_ioctl_acquire_vm_args right = { .gpu_id = gpu_ids[0], .drm_fd = RENDER_FD };

	assert_int_equal(CALL(0x15, &wrong), EINVAL); /* the other GPU's render node */
	assert_int_equal(CALL(0x15, &right), 0);
	assert_int_equal(CALL(0x15, &right), 0);
}

static void xnack_is_not_for_gfx908(void **state)
{
	struct kfd_ioctl_set_xnack_mode_args ask = { .xnack_enabled = -1 };
	struct kfd_ioctl_set_xnack_mode_args on = { .xnack_enabled = 1 };

	assert_int_equal(CALL(0x21, &ask), 0);
	assert_int_equal(ask.xnack_enabled, 0);
	assert_int_equal(CALL(0x21, &on), EPERM); /* the second GPU is an mi100 */
}

/* The last test: it leaves other GPUs behind. */
static void xnack_is_for_a_process_to_choose_from_gfx90a_on(void **state)
{
	static const char *const pairs[] = { "mi210,mi210", "mi300x,mi300a", "mi350x,mi355x" };

	for (size_t n = 0; n < sizeof(pairs) / sizeof(pairs[0]); n++) {
		struct kfd_ioctl_set_xnack_mode_args ask = { .xnack_enabled = -1 };
		struct kfd_ioctl_set_xnack_mode_args on = { .xnack_enabled = 1 };

		kfd_rig_close(state);
		assert_int_equal(kfd_rig_open_gpus(pairs[n]), 0);
		assert_int_equal(CALL(0x21, &on), 0);
		assert_int_equal(CALL(0x21, &ask), 0);
		assert_int_equal(ask.xnack_enabled, 1);
	}
}

/* --- memory --- */

static void memory_appears_at_the_address_that_was_reserved(void **state)
{
	uint64_t va = sg_kfd_reserve(kfd, 8 * PAGE, false), before = available();
	struct kfd_ioctl_alloc_memory_of_gpu_args vram = alloc_at(va + PAGE, 4 * PAGE, VRAM_FLAGS);
	uint64_t *there = (uint64_t *)(va + PAGE), *view;

	assert_int_equal(available(), before - 4 * PAGE);
	assert_true(is_accessible(va + PAGE));
	assert_false(is_accessible(va));
	assert_false(is_accessible(va + 5 * PAGE));
	there[3] = 42;
	view = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, sg_kfd_file(kfd),
		    (off_t)vram.mmap_offset);
	assert_ptr_not_equal(view, MAP_FAILED);
	assert_int_equal(view[3], 42);
	munmap(view, 4 * PAGE);
	release(vram.handle);
	assert_int_equal(available(), before);
	assert_false(is_accessible(va + PAGE));
	/* The address is reserved still, and the next memory there is zero. */
	vram = alloc_at(va + PAGE, 6 * PAGE, VRAM_FLAGS);
	assert_int_equal(there[3], 0);
	release(vram.handle);
	sg_kfd_release(kfd, va, 8 * PAGE);
}

static void memory_outside_of_reservations_is_refused(void **state)
{
	uint64_t va = sg_kfd_reserve(kfd, 2 * PAGE, false);
	struct kfd_ioctl_alloc_memory_of_gpu_args args = {
		.va_addr = va, .size = 4 * PAGE, .gpu_id = gpu_ids[0], .flags = VRAM_FLAGS
	};

	assert_int_equal(CALL(0x16, &args), EINVAL);
	args.va_addr = 64 * PAGE;
	assert_int_equal(CALL(0x16, &args), EINVAL);
	args.va_addr = va;
	args.size = 0;
	assert_int_equal(CALL(0x16, &args), EINVAL);
	args.size = PAGE;
	args.flags = 0;
	assert_int_equal(CALL(0x16, &args), EINVAL);
	args.flags = KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP;
	assert_int_equal(CALL(0x16, &args), ENOMEM);
	args.flags = KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL; /* of the wrong size */
	assert_int_equal(CALL(0x16, &args), EINVAL);
	sg_kfd_release(kfd, va, 2 * PAGE);
}

static void more_than_the_gpu_has_is_refused(void **state)
{
	struct kfd_ioctl_alloc_memory_of_gpu_args args = { .size = available() + PAGE,
							   .gpu_id = gpu_ids[0],
							   .flags = VRAM_FLAGS };

	assert_int_equal(CALL(0x16, &args), ENOMEM);
}

static void released_address_space_is_reused(void **state)
{
	uint64_t first = sg_kfd_reserve(kfd, 64 * PAGE, false), second, again;

	sg_kfd_release(kfd, first, 16 * PAGE);
	second = sg_kfd_reserve(kfd, 16 * PAGE, false);
	assert_int_equal(second, first);
	sg_kfd_release(kfd, first + 16 * PAGE, 48 * PAGE);
	sg_kfd_release(kfd, second, 16 * PAGE);
	again = sg_kfd_reserve(kfd, 64 * PAGE, false);
	assert_int_equal(again, first);
	sg_kfd_release(kfd, again, 64 * PAGE);
}

static void user_pointers_are_two_names_of_one_memory(void **state)
{
	uint64_t alias = sg_kfd_reserve(kfd, 4 * PAGE, true);
	char *program =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kfd_ioctl_alloc_memory_of_gpu_args args = { .va_addr = alias + PAGE,
							   .size = 2 * PAGE,
							   .mmap_offset = (uint64_t)program,
							   .gpu_id = gpu_ids[0],
							   .flags = USER_FLAGS };
	struct sg_vm *vm = sg_kfd_machine(kfd)->vm;

	assert_int_equal(CALL(0x16, &args), 0);
	assert_true(is_accessible(alias + PAGE + 100));
	assert_int_equal(sg_vm_host_of(vm, alias + PAGE + 100), (uint64_t)program + 100);
	release(args.handle);
	assert_false(is_accessible(alias + PAGE + 100));
	sg_kfd_release(kfd, alias, 4 * PAGE);
	munmap(program, 2 * PAGE);
}

static void mapping_counts_the_gpus(void **state)
{
	uint64_t va = sg_kfd_reserve(kfd, PAGE, false);
	struct kfd_ioctl_alloc_memory_of_gpu_args gtt = alloc_at(va, PAGE, GTT_FLAGS);
	uint32_t ids[] = { gpu_ids[0], gpu_ids[1], 9 };
	struct kfd_ioctl_map_memory_to_gpu_args args = { .handle = gtt.handle,
							 .device_ids_array_ptr = (uint64_t)ids,
							 .n_devices = 2 };

	assert_int_equal(CALL(0x18, &args), 0);
	assert_int_equal(args.n_success, 2);
	args.n_success = 0;
	args.n_devices = 3;
	assert_int_equal(CALL(0x18, &args), EINVAL);
	args.n_devices = 0;
	assert_int_equal(CALL(0x18, &args), EINVAL);
	args.n_devices = 2;
	args.n_success = 3;
	assert_int_equal(CALL(0x19, &args), EINVAL);
	args.n_success = 0;
	args.device_ids_array_ptr = 8;
	assert_int_equal(CALL(0x19, &args), EFAULT);
	args.device_ids_array_ptr = (uint64_t)ids;
	args.handle ^= 1ull << 40;
	assert_int_equal(CALL(0x19, &args), EINVAL);
	args.handle = gtt.handle;
	assert_int_equal(CALL(0x19, &args), 0);
	release(gtt.handle);
	assert_int_equal(CALL(0x17, &gtt.handle), EINVAL);
	sg_kfd_release(kfd, va, PAGE);
}

/* --- shared virtual memory --- */

static void attributes_name_gpus_by_their_ids(void **state)
{
	void *pages =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct {
		struct kfd_ioctl_svm_args head;
		struct kfd_ioctl_svm_attribute attrs[2];
	} set = { .head = { .start_addr = (uint64_t)pages,
			    .size = 4 * PAGE,
			    .op = KFD_IOCTL_SVM_OP_SET_ATTR,
			    .nattr = 2 },
		  .attrs = { { KFD_IOCTL_SVM_ATTR_PREFERRED_LOC, gpu_ids[1] },
			     { KFD_IOCTL_SVM_ATTR_ACCESS, gpu_ids[0] } } },
	  get = set;

	assert_int_equal(CALL(0x20, &set), 0);
	assert_true(sg_vm_reachable(sg_kfd_machine(kfd)->vm, (uint64_t)pages, 4 * PAGE));
	get.head.op = KFD_IOCTL_SVM_OP_GET_ATTR;
	get.attrs[0].value = 0;
	assert_int_equal(CALL(0x20, &get), 0);
	assert_int_equal(get.attrs[0].value, gpu_ids[1]);
	assert_int_equal(get.attrs[1].type, KFD_IOCTL_SVM_ATTR_ACCESS);
	assert_int_equal(get.attrs[1].value, gpu_ids[0]);
	set.head.nattr = 3; /* more than the request has space for */
	assert_int_equal(CALL(0x20, &set), EINVAL);
	set.head.nattr = 2;
	set.attrs[0].value = 5;
	assert_int_equal(CALL(0x20, &set), EINVAL);
	set.attrs[0].value = gpu_ids[0];
	set.head.start_addr = 64 * PAGE;
	assert_int_equal(CALL(0x20, &set), EFAULT);
	munmap(pages, 4 * PAGE);
}

/* --- sysfs --- */

static uint64_t property(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	assert_non_null(line);
	return strtoull(line + strlen(name), NULL, 10);
}

static int pc_sampling(uint32_t op, uint32_t gpu, uint32_t *id, struct sg_kfd_pcs_info *info,
		       uint32_t *n)
{
	struct sg_kfd_pcs_args args = { .sample_info_ptr = (uintptr_t)info,
					.num_sample_info = *n,
					.op = op,
					.gpu_id = gpu_ids[gpu],
					.trace_id = *id };
	int error = CALL(SG_KFD_NR_PC_SAMPLE, &args);

	*id = args.trace_id;
	*n = args.num_sample_info;
	return error;
}

static void pc_sampling_is_one_session_of_a_gpu(void **state)
{
	struct sg_kfd_pcs_info infos[2] = { 0 }, stochastic = { .interval = 1024,
								.method = SG_KFD_PCS_STOCHASTIC,
								.type = SG_KFD_PCS_CYCLES };
	uint32_t id = 0, none = 0, other = 99, n = 0, one = 1;

	/* how many, then which; MI100 has none, and MI210 no stochastic sampling */
	assert_int_equal(pc_sampling(SG_KFD_PCS_QUERY, 0, &id, NULL, &n), 0);
	assert_int_equal(n, 1);
	n = 2;
	assert_int_equal(pc_sampling(SG_KFD_PCS_QUERY, 0, &id, infos, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(infos[0].method, SG_KFD_PCS_HOST_TRAP);
	assert_int_equal(infos[0].type, SG_KFD_PCS_TIME_US);
	assert_int_equal(infos[0].interval_min, 1);
	assert_int_equal(pc_sampling(SG_KFD_PCS_QUERY, 1, &id, infos, &n), EOPNOTSUPP);
	assert_int_equal(pc_sampling(SG_KFD_PCS_CREATE, 0, &id, &stochastic, &one), EINVAL);
	infos[0].interval = 0;
	assert_int_equal(pc_sampling(SG_KFD_PCS_CREATE, 0, &id, infos, &one), EINVAL);
	infos[0].interval = 10;
	assert_int_equal(pc_sampling(SG_KFD_PCS_CREATE, 1, &id, infos, &one), EINVAL);
	assert_int_equal(pc_sampling(SG_KFD_PCS_CREATE, 0, &id, infos, &one), 0);
	assert_int_not_equal(id, 0);
	assert_int_equal(pc_sampling(SG_KFD_PCS_CREATE, 0, &other, infos, &one), EBUSY);
	assert_int_equal(pc_sampling(SG_KFD_PCS_START, 0, &other, NULL, &none), EINVAL);
	assert_int_equal(pc_sampling(SG_KFD_PCS_STOP, 0, &id, NULL, &none), EALREADY);
	assert_int_equal(pc_sampling(SG_KFD_PCS_START, 0, &id, NULL, &none), 0);
	assert_int_equal(pc_sampling(SG_KFD_PCS_START, 0, &id, NULL, &none), EALREADY);
	assert_int_equal(pc_sampling(SG_KFD_PCS_STOP, 0, &id, NULL, &none), 0);
	assert_int_equal(pc_sampling(SG_KFD_PCS_DESTROY, 0, &id, NULL, &none), 0);
	assert_int_equal(pc_sampling(SG_KFD_PCS_DESTROY, 0, &id, NULL, &none), EINVAL);
	assert_int_equal(pc_sampling(7, 0, &id, NULL, &none), EINVAL);
}

static void files_describe_dies_and_partitions(void **state)
{
	static const char nodes[] = "sys/devices/virtual/kfd/kfd/topology/nodes";
	static const char device[] = "sys/devices/pci0000:00/0000:03:00.0";
	static const struct {
		const char *list, *name, *text;
	} files[] = {
		{ "mi300x", "current_compute_partition", "SPX\n" },
		{ "mi300x", "available_compute_partition", "SPX, DPX, QPX, CPX\n" },
		{ "mi300x", "current_memory_partition", "NPS1\n" },
		{ "mi300x", "available_memory_partition", "NPS1, NPS4\n" },
		{ "mi300x:cpx/nps4", "current_compute_partition", "CPX\n" },
		{ "mi300x:cpx/nps4", "current_memory_partition", "NPS4\n" },
		{ "mi300a", "available_compute_partition", "SPX, TPX, CPX\n" },
		{ "mi300a", "available_memory_partition", "NPS1\n" },
		{ "mi210", "current_compute_partition", NULL },
	};
	struct sg_sysfs tree = { 0 };
	struct sg_topology topology;
	char error[240], path[160];
	const char *gpu, *text;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		assert_true(sg_topology_parse(&topology, files[i].list, error, sizeof(error)));
		sg_sysfs_describe(&tree, &topology);
		snprintf(path, sizeof(path), "%s/%s", device, files[i].name);
		text = sg_sysfs_text(&tree, path);
		if (files[i].text)
			assert_string_equal(text, files[i].text);
		else
			assert_null(text);
		sg_sysfs_fini(&tree);
	}
	assert_true(sg_topology_parse(&topology, "mi300x:qpx", error, sizeof(error)));
	sg_sysfs_describe(&tree, &topology);
	snprintf(path, sizeof(path), "%s/4/properties", nodes);
	gpu = sg_sysfs_text(&tree, path);
	assert_int_equal(property(gpu, "num_xcc "), 2);
	assert_int_equal(property(gpu, "simd_count "), 2 * 38 * 4);
	assert_int_equal(property(gpu, "array_count "), 8);
	assert_int_equal(property(gpu, "location_id "), 0x303);
	assert_int_equal(property(gpu, "drm_render_minor "), 131);
	assert_int_equal(property(gpu, "caches_count "), 4);
	/* The board is one PCI device; its other partitions have a card each, and no sensors. */
	assert_null(sg_sysfs_text(&tree, "sys/devices/pci0000:00/0000:06:00.0/vendor"));
	assert_string_equal(sg_sysfs_text(&tree,
					  "sys/devices/platform/amdgpu_xcp_3/drm/renderD131/dev"),
			    "226:131\n");
	sg_sysfs_fini(&tree);
}

static void files_describe_the_machine(void **state)
{
	struct sg_sysfs tree = { 0 };
	struct sg_topology topology;
	char error[240], folder[SG_SYSFS_PATH], path[SG_SYSFS_PATH + 128], bytes[64] = "";
	const char *gpu, *link;
	struct stat st;
	int fd;

	assert_true(sg_topology_parse(&topology, "mi210,mi210", error, sizeof(error)));
	sg_sysfs_describe(&tree, &topology);
	gpu = sg_sysfs_text(&tree, "sys/devices/virtual/kfd/kfd/topology/nodes/2/properties");
	link = sg_sysfs_text(&tree,
			     "sys/devices/virtual/kfd/kfd/topology/nodes/2/io_links/1/properties");
	assert_non_null(gpu);
	assert_non_null(link);
	assert_int_equal(property(gpu, "simd_count "), 104 * 4);
	assert_int_equal(property(gpu, "gfx_target_version "), 90010);
	assert_int_equal(property(gpu, "capability "), 0x2c502288);
	assert_int_equal(property(gpu, "io_links_count "), 2);
	assert_int_equal(property(link, "type "), 11); /* xGMI */
	assert_int_equal(property(link, "node_to "), 1);
	assert_null(
		sg_sysfs_text(&tree, "sys/devices/virtual/kfd/kfd/topology/nodes/3/properties"));
	assert_string_equal(
		sg_sysfs_text(&tree, "sys/devices/pci0000:00/0000:06:00.0/hwmon/hwmon1/power1_cap"),
		"300000000\n");
	assert_true(sg_sysfs_folder(&tree, folder));
	assert_int_equal(lstat(folder, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	snprintf(path, sizeof(path), "%s/sys/class/drm/card1/device/device", folder);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes) - 1), 7);
	assert_string_equal(bytes, "0x740f\n");
	close(fd);
	sg_sysfs_fini(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_and_apertures_are_those_of_gfx9),
		cmocka_unit_test(profiler_locks_a_gpu_for_a_capable_process),
		cmocka_unit_test(arguments_of_other_sizes_are_cut_or_filled),
		cmocka_unit_test(bad_memory_and_unknown_requests_are_refused),
		cmocka_unit_test(structures_across_pages_are_read_and_written_or_refused),
		cmocka_unit_test(memory_that_vanishes_during_a_request_is_refused),
		cmocka_unit_test(requests_for_gpus_that_do_not_exist_fail),
		cmocka_unit_test(a_gpu_is_acquired_once),
		cmocka_unit_test(xnack_is_not_for_gfx908),
		cmocka_unit_test(memory_appears_at_the_address_that_was_reserved),
		cmocka_unit_test(memory_outside_of_reservations_is_refused),
		cmocka_unit_test(more_than_the_gpu_has_is_refused),
		cmocka_unit_test(released_address_space_is_reused),
		cmocka_unit_test(user_pointers_are_two_names_of_one_memory),
		cmocka_unit_test(mapping_counts_the_gpus),
		cmocka_unit_test(attributes_name_gpus_by_their_ids),
		cmocka_unit_test(pc_sampling_is_one_session_of_a_gpu),
		cmocka_unit_test(files_describe_the_machine),
		cmocka_unit_test(files_describe_dies_and_partitions),
		cmocka_unit_test(xnack_is_for_a_process_to_choose_from_gfx90a_on),
	};

	return cmocka_run_group_tests(tests, kfd_rig_open, kfd_rig_close);
}
