#include "softgpu/kfd/sysfs.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "softgpu/device/board.h"
#include "softgpu/device/model.h"
#include "softgpu/kfd/kfd_priv.h"
#include "softgpu/kfd/live.h"

#define PCI_DEVICES "sys/bus/pci/devices"
#define PCI_NAME "0000:%02x:00.0" /* with the number of the bus */
#define TOPOLOGY "sys/devices/virtual/kfd/kfd/topology"
#define DRM_MAJOR_NUMBER 226
#define FIRST_SIMD 0x80001000u
#define N_GWS 64u
#define DRIVER_VERSION "6.12.12" /* of AMD's driver package with this interface */

/* --- the list of files --- */

static void append(struct sg_sysfs *tree, const char *bytes, size_t n)
{
	if (tree->n + n > tree->max) {
		size_t max = tree->max ? tree->max : 16384;
		char *grown;

		while (max < tree->n + n)
			max *= 2;
		grown = realloc(tree->bytes, max);
		if (!grown) {
			tree->failed = true;
			return;
		}
		tree->bytes = grown;
		tree->max = max;
	}
	memcpy(tree->bytes + tree->n, bytes, n);
	tree->n += n;
}

struct place {
	struct sg_sysfs *tree;
	char folder[256];
};

__attribute__((format(printf, 4, 5))) static void add(const struct place *at, char type,
						      const char *name, const char *format, ...)
{
	char path[512], text[4096], kind[2] = { type, '\0' };
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(path, sizeof(path), "%s/%s", at->folder, name);
	append(at->tree, path, strlen(path) + 1);
	append(at->tree, kind, sizeof(kind));
	append(at->tree, text, strlen(text) + 1);
}

__attribute__((format(printf, 2, 3))) static struct place place(struct sg_sysfs *tree,
								const char *format, ...)
{
	struct place at = { .tree = tree };
	va_list args;

	va_start(args, format);
	vsnprintf(at.folder, sizeof(at.folder), format, args);
	va_end(args);
	return at;
}

/* A file of "name value" lines. */
struct property {
	const char *name;
	uint64_t value;
};

static void add_properties(const struct place *at, const struct property *list, size_t n)
{
	char text[4096];
	size_t length = 0;

	for (size_t i = 0; i < n; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s %llu\n",
					   list[i].name, (unsigned long long)list[i].value);
	add(at, 'f', "properties", "%s", text);
}

#define ADD_PROPERTIES(at, ...)                                                                    \
	do {                                                                                       \
		const struct property list_[] = { __VA_ARGS__ };                                   \
		add_properties(at, list_, sizeof(list_) / sizeof(list_[0]));                       \
	} while (0)

/* --- the topology: nodes, and what belongs to one --- */

/* The bits of a node's capability word. */
enum {
	CAP_QUEUE_SIZE_POWER_OF_TWO = 1 << 3,
	CAP_WATCH_POINTS = 1 << 7,
	CAP_WATCH_POINT_BITS_SHIFT = 8,
	CAP_DOORBELL_TYPE_SHIFT = 12,
	CAP_MEMORY_ECC = 1 << 20,
	CAP_ASIC_REVISION_SHIFT = 22,
	CAP_SRAM_ECC = 1 << 26, /* target id sramecc+ */
	CAP_SVM = 1 << 27,
	CAP_COHERENT_HOST_ACCESS = 1 << 28,
	/* Only with it does ROCr disable the reports when it is shut down, and close the device. */
	CAP_EXCEPTIONS = 1 << 29,
};

static uint64_t capability_of(const struct sg_gpu_model *m)
{
	return CAP_QUEUE_SIZE_POWER_OF_TWO | CAP_WATCH_POINTS | 2u << CAP_WATCH_POINT_BITS_SHIFT |
	       2u << CAP_DOORBELL_TYPE_SHIFT /* 64 bits, the write index itself */ |
	       CAP_MEMORY_ECC | (uint64_t)m->asic_revision << CAP_ASIC_REVISION_SHIFT |
	       CAP_SRAM_ECC | CAP_SVM | CAP_EXCEPTIONS | (m->is_apu ? CAP_COHERENT_HOST_ACCESS : 0);
}

static bool is_peer(const struct sg_link *link)
{
	return link->from && link->to && link->type == SG_LINK_PCIE;
}

/* xGMI and the way to the host are io_links; through the host to another GPU is a p2p_link. */
static uint32_t add_links(struct sg_sysfs *tree, const struct sg_topology *topology, uint32_t node,
			  bool peers)
{
	static const uint32_t types[] = { [SG_LINK_PCIE] = 2, [SG_LINK_XGMI] = 11 };
	struct sg_link links[SG_MAX_GPUS];
	uint32_t n_links = sg_topology_links(topology, node, links), n = 0;

	for (uint32_t i = 0; i < n_links; i++) {
		struct place at = place(tree, TOPOLOGY "/nodes/%u/%s/%u", node,
					peers ? "p2p_links" : "io_links", n);

		if (is_peer(&links[i]) != peers)
			continue;
		n++;
		ADD_PROPERTIES(&at, { "type", types[links[i].type] }, { "version_major", 0 },
			       { "version_minor", 0 }, { "node_from", links[i].from },
			       { "node_to", links[i].to }, { "weight", links[i].weight },
			       { "min_latency", 0 }, { "max_latency", 0 },
			       { "min_bandwidth", links[i].min_bandwidth_mbs },
			       { "max_bandwidth", links[i].max_bandwidth_mbs },
			       { "recommended_transfer_size", 0 },
			       { "recommended_sdma_engine_id_mask", 0 }, { "flags", 1 });
	}
	return n;
}

static void add_bank(struct sg_sysfs *tree, uint32_t node, uint32_t heap, uint64_t bytes,
		     uint32_t width, uint32_t clock_mhz)
{
	struct place at = place(tree, TOPOLOGY "/nodes/%u/mem_banks/0", node);

	ADD_PROPERTIES(&at, { "heap_type", heap }, { "size_in_bytes", bytes }, { "flags", 0 },
		       { "width", width }, { "mem_clk_max", clock_mhz });
}

static void add_cache(struct sg_sysfs *tree, uint32_t node, uint32_t index,
		      const struct sg_cache_level *cache)
{
	enum { TYPE_DATA = 1, TYPE_INSTRUCTION = 2, TYPE_GPU = 8 };
	struct place at = place(tree, TOPOLOGY "/nodes/%u/caches/%u", node, index);

	add(&at, 'f', "properties",
	    "processor_id_low %u\nlevel %u\nsize %u\ncache_line_size %u\ncache_lines_per_tag 1\n"
	    "association 16\nlatency 0\ntype %u\nsibling_map 1\n",
	    FIRST_SIMD, cache->level, cache->size_kib, cache->line_bytes,
	    TYPE_GPU | (cache->instruction ? TYPE_INSTRUCTION : TYPE_DATA));
}

static void add_host(struct sg_sysfs *tree, const struct sg_topology *topology)
{
	struct place at = place(tree, TOPOLOGY "/nodes/0");
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint32_t n_links = add_links(tree, topology, 0, false);

	add(&at, 'f', "gpu_id", "0\n");
	add(&at, 'f', "name", "\n");
	ADD_PROPERTIES(
		&at, { "cpu_cores_count", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) },
		{ "simd_count", 0 }, { "mem_banks_count", 1 }, { "caches_count", 0 },
		{ "io_links_count", n_links }, { "p2p_links_count", 0 }, { "cpu_core_id_base", 0 },
		{ "simd_id_base", 0 }, { "max_waves_per_simd", 0 }, { "lds_size_in_kb", 0 },
		{ "gds_size_in_kb", 0 }, { "num_gws", 0 }, { "wave_front_size", 0 },
		{ "array_count", 0 }, { "simd_arrays_per_engine", 0 }, { "cu_per_simd_array", 0 },
		{ "simd_per_cu", 0 }, { "max_slots_scratch_cu", 0 }, { "gfx_target_version", 0 },
		{ "vendor_id", 0 }, { "device_id", 0 }, { "location_id", 0 }, { "domain", 0 },
		{ "drm_render_minor", 0 }, { "hive_id", 0 }, { "num_sdma_engines", 0 },
		{ "num_sdma_xgmi_engines", 0 }, { "num_sdma_queues_per_engine", 0 },
		{ "num_cp_queues", 0 }, { "max_engine_clk_ccompute", 0 });
	add_bank(tree, 0, 0, bytes, 64, 3200);
}

static void add_gpu(struct sg_sysfs *tree, const struct sg_topology *topology, uint32_t node)
{
	struct place at = place(tree, TOPOLOGY "/nodes/%u", node);
	const struct sg_gpu *gpu = &topology->gpus[node - 1];
	const struct sg_gpu_model *m = gpu->model;
	uint32_t n_caches = sg_gpu_n_caches(m);
	uint32_t n_links = add_links(tree, topology, node, false);
	uint32_t n_peers = add_links(tree, topology, node, true);

	add(&at, 'f', "gpu_id", "%u\n", sg_kfd_gpu_id(topology, node));
	add(&at, 'f', "name", "%s\n", m->name);
	ADD_PROPERTIES(
		&at, { "cpu_cores_count", 0 }, { "simd_count", m->n_cus * m->n_simds_per_cu },
		{ "mem_banks_count", 1 }, { "caches_count", n_caches },
		{ "io_links_count", n_links }, { "p2p_links_count", n_peers },
		{ "cpu_core_id_base", 0 }, { "simd_id_base", FIRST_SIMD },
		{ "max_waves_per_simd", m->n_waves_per_simd }, { "lds_size_in_kb", m->lds_kib },
		{ "gds_size_in_kb", 0 }, { "num_gws", N_GWS }, { "wave_front_size", 64 },
		{ "array_count", m->n_shader_engines }, { "simd_arrays_per_engine", 1 },
		{ "cu_per_simd_array", m->n_cus_per_engine }, { "simd_per_cu", m->n_simds_per_cu },
		{ "max_slots_scratch_cu", m->n_scratch_slots_per_cu },
		{ "gfx_target_version",
		  m->gfx_major * 10000u + m->gfx_minor * 100u + m->gfx_stepping },
		{ "vendor_id", 0x1002 }, { "device_id", m->device_id },
		{ "location_id", gpu->location }, { "domain", 0 },
		{ "drm_render_minor", (uint64_t)gpu->render_minor }, { "hive_id", gpu->hive_id },
		{ "num_sdma_engines", m->n_sdma_engines },
		{ "num_sdma_xgmi_engines", m->n_sdma_xgmi_engines },
		{ "num_sdma_queues_per_engine", m->n_sdma_queues_per_engine },
		{ "num_cp_queues", m->n_cp_queues },
		{ "max_engine_clk_fcompute", m->engine_clock_mhz }, { "local_mem_size", 0 },
		{ "fw_version", m->cp_ucode }, { "capability", capability_of(m) },
		{ "capability2", 0 }, { "debug_prop", 0 }, { "sdma_fw_version", m->sdma_ucode },
		{ "unique_id", gpu->unique_id }, { "num_xcc", m->n_xccs },
		{ "max_engine_clk_ccompute", m->engine_clock_mhz });
	/* Public: the host reaches all of it, as with a large BAR. */
	add_bank(tree, node, 1, m->vram_bytes, m->hbm_width_bits, m->hbm_clock_mhz);
	for (uint32_t i = 0; i < n_caches; i++)
		add_cache(tree, node, i, &m->caches[i]);
}

/* --- the device as PCI and DRM show it --- */

/* What management tools read. */
static void add_sensors(struct sg_sysfs *tree, const struct place *device, const struct sg_gpu *gpu,
			uint32_t card)
{
	const struct sg_gpu_model *m = gpu->model;
	struct place hwmon = place(tree, "%s/hwmon/hwmon%u", device->folder, card);
	const struct sg_board_use idle = { 0 };
	char name[32], text[SG_LIVE_BYTES];

	add(&hwmon, 'f', "name", "amdgpu\n");
	add(&hwmon, 'f', "in0_label",
	    "vddgfx\n"); /* rocm-smi 5 gives up without; there is no value */
	add(&hwmon, 'f', "power1_cap", "%u\n", m->max_watts * 1000000);
	add(&hwmon, 'f', "power1_cap_default", "%u\n", m->max_watts * 1000000);
	add(&hwmon, 'f', "power1_cap_max", "%u\n", m->max_watts * 1000000);
	add(&hwmon, 'f', "power1_cap_min", "0\n");
	/* As they are of a board that nobody has used. A binary table has no text: it is there
	 * once it is read. */
	for (uint32_t i = 0; i < sg_live_n_files; i++) {
		const struct sg_live_file *file = &sg_live_files[i];
		size_t n;

		if (!sg_live_has(file, gpu))
			continue;
		n = file->write(gpu, &idle, file->which, text);
		add(file->label ? &hwmon : device, 'f', file->name, "%.*s",
		    memchr(text, '\0', n) ? 0 : (int)n, text);
		if (file->label) { /* temp2_label of temp2_input */
			snprintf(name, sizeof(name), "%.*s_label", (int)strcspn(file->name, "_"),
				 file->name);
			add(&hwmon, 'f', name, "%s\n", file->label);
		}
	}
	add(device, 'f', "power_dpm_force_performance_level", "auto\n");
	add(device, 'f', "mem_info_vram_vendor", "unknown\n");
	add(device, 'f', "pcie_replay_count", "0\n");
	add(device, 'f', "current_link_speed", "%u.0 GT/s PCIe\n", m->pcie_gts);
	add(device, 'f', "current_link_width", "%u\n", SG_PCIE_LANES);
	add(device, 'f', "max_link_speed", "%u.0 GT/s PCIe\n", m->pcie_gts);
	add(device, 'f', "max_link_width", "%u\n", SG_PCIE_LANES);
}

/* What a board has printed on it; that this one is none can be read there, too. */
static void add_board(const struct place *device, const struct sg_gpu *gpu)
{
	const struct sg_gpu_model *m = gpu->model;
	struct place firmware = place(device->tree, "%s/fw_version", device->folder);

	add(device, 'f', "product_name", "%s\n", m->marketing_name);
	add(device, 'f', "product_number", "software-%s\n", m->name);
	add(device, 'f', "serial_number", "%016llx\n", (unsigned long long)gpu->unique_id);
	add(device, 'f', "vbios_version", "113-SOFTWARE-%s\n", m->name);
	add(&firmware, 'f', "mec_fw_version", "0x%08x\n", m->cp_ucode);
	add(&firmware, 'f', "sdma_fw_version", "0x%08x\n", m->sdma_ucode);
}

/* The modes of this board: what is set, and what it could be set to. */
static void add_partitions(const struct place *device, const struct sg_gpu *gpu)
{
	const struct sg_gpu_model *m = gpu->model;
	char modes[64] = "", nps[64] = "";
	size_t n_modes = 0, n_nps = 0;
	uint32_t nps_modes = 0;

	if (!m->partition)
		return;
	for (size_t i = 0; i < sg_gpu_n_models; i++) {
		const struct sg_gpu_model *other = &sg_gpu_models[i];

		if (other->device_id != m->device_id)
			continue;
		n_modes += (size_t)snprintf(modes + n_modes, sizeof(modes) - n_modes, "%s%s",
					    n_modes ? ", " : "", other->partition);
		nps_modes |= other->nps_modes;
	}
	for (uint32_t n = 1; n <= 8; n++)
		if (nps_modes >> (n - 1) & 1)
			n_nps += (size_t)snprintf(nps + n_nps, sizeof(nps) - n_nps, "%sNPS%u",
						  n_nps ? ", " : "", n);
	add(device, 'f', "current_compute_partition", "%s\n", m->partition);
	add(device, 'f', "available_compute_partition", "%s\n", modes);
	add(device, 'f', "current_memory_partition", "NPS%u\n", gpu->nps);
	add(device, 'f', "available_memory_partition", "%s\n", nps);
}

/* The card and the render node of a GPU, below its device. */
static void add_nodes(struct sg_sysfs *tree, const struct place *device, const struct sg_gpu *gpu,
		      uint32_t card)
{
	struct place class_at = place(tree, "sys/class/drm"), numbers = place(tree, "sys/dev/char");
	struct place dev = place(tree, "dev/dri");
	const char *below = device->folder + strlen("sys/");
	const struct {
		const char *format;
		int number, minor;
	} nodes[] = { { "card%d", (int)card, (int)card },
		      { "renderD%d", gpu->render_minor, gpu->render_minor } };

	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		char node[32], number[32];
		struct place drm;

		snprintf(node, sizeof(node), nodes[i].format, nodes[i].number);
		snprintf(number, sizeof(number), "%d:%d", DRM_MAJOR_NUMBER, nodes[i].minor);
		drm = place(tree, "%s/drm/%s", device->folder, node);
		add(&drm, 'f', "dev", "%s\n", number);
		add(&drm, 'f', "uevent", "MAJOR=%d\nMINOR=%d\nDEVNAME=dri/%s\nDEVTYPE=drm_minor\n",
		    DRM_MAJOR_NUMBER, nodes[i].minor, node);
		add(&drm, 'l', "device", "../..");
		add(&class_at, 'l', node, "../../%s/drm/%s", below, node);
		add(&numbers, 'l', number, "../../%s/drm/%s", below, node);
		add(&dev, 'f', node, "%s",
		    ""); /* stands for the device, which is never opened as a file */
	}
}

/* In words of 32 processors, the highest first. */
static void add_cpu_mask(const struct place *device, long n_cpus)
{
	char text[1024];
	size_t length = 0;

	for (long word = (n_cpus + 31) / 32 - 1; word >= 0 && length < sizeof(text) - 16; word--) {
		long n = n_cpus - 32 * word < 32 ? n_cpus - 32 * word : 32;

		length += (size_t)snprintf(text + length, sizeof(text) - length, "%08llx%c",
					   (1ull << n) - 1, word ? ',' : '\n');
	}
	add(device, 'f', "local_cpus", "%s", text);
}

#define RANGE                                                                                      \
	"0x0000000000000000 0x0000000000000000 0x0000000000000000\n" /* unused: start, end, flags */

/* What lspci reads: the header of a device of type 0 without base addresses or capabilities. */
static void add_config_space(const struct place *device, const struct sg_gpu_model *m)
{
	enum { CONFIG_BYTES = 256, COMMAND = 0x406 /* memory, bus master, no legacy interrupt */ };
	const struct {
		uint8_t at;
		uint16_t value;
	} words[] = {
		{ 0x00, 0x1002 },  { 0x02, (uint16_t)m->device_id },
		{ 0x04, COMMAND }, { 0x08, m->pci_revision },
		{ 0x0a, 0x0380 },  { 0x2c, 0x1002 },
		{ 0x2e, 0x0c34 },
	};
	char digits[2 * CONFIG_BYTES + 1], byte[3];

	memset(digits, '0', sizeof(digits) - 1);
	digits[sizeof(digits) - 1] = '\0';
	for (size_t i = 0; i < 2 * sizeof(words) / sizeof(words[0]); i++) {
		uint32_t value = words[i / 2].value >> 8 * (i % 2) & 0xff;

		snprintf(byte, sizeof(byte), "%02x", value);
		memcpy(digits + 2 * (words[i / 2].at + i % 2), byte, 2);
	}
	add(device, 'x', "config", "%s", digits);
	add(device, 'f', "irq", "0\n");
	add(device, 'f', "resource", "%s", RANGE RANGE RANGE RANGE RANGE RANGE RANGE);
}

static void add_device(struct sg_sysfs *tree, const struct sg_gpu *gpu, uint32_t card)
{
	uint32_t bus = gpu->location >> 8;
	const struct sg_gpu_model *m = gpu->model;
	struct place device = place(tree, "sys/devices/pci0000:00/0000:%02x:00.0", bus);
	struct place bus_at = place(tree, PCI_DEVICES);
	char name[64];

	if (gpu->partition) { /* the first one has the PCI device */
		device = place(tree, "sys/devices/platform/amdgpu_xcp_%u", card);
		add_nodes(tree, &device, gpu, card);
		return;
	}
	add(&device, 'f', "vendor", "0x1002\n");
	add(&device, 'f', "device", "0x%04x\n", m->device_id);
	add(&device, 'f', "revision", "0x%02x\n", m->pci_revision);
	add(&device, 'f', "subsystem_vendor", "0x1002\n");
	add(&device, 'f', "subsystem_device", "0x0c34\n");
	add(&device, 'f', "class", "0x038000\n");
	add_config_space(&device, m);
	add(&device, 'f', "unique_id", "%016llx\n", (unsigned long long)gpu->unique_id);
	add(&device, 'f', "mem_info_vram_total", "%llu\n", (unsigned long long)m->vram_bytes);
	add(&device, 'f', "mem_info_vis_vram_total", "%llu\n", (unsigned long long)m->vram_bytes);
	add(&device, 'f', "uevent",
	    "DRIVER=amdgpu\nPCI_CLASS=38000\nPCI_ID=1002:%04X\nPCI_SUBSYS_ID=1002:0C34\n"
	    "PCI_SLOT_NAME=0000:%02x:00.0\n",
	    m->device_id, bus);
	add(&device, 'f', "numa_node", "0\n");
	add(&device, 'f', "local_cpulist", "0-%ld\n", sysconf(_SC_NPROCESSORS_CONF) - 1);
	add_cpu_mask(&device, sysconf(_SC_NPROCESSORS_CONF));
	add_board(&device, gpu);
	add_partitions(&device, gpu);
	add_sensors(tree, &device, gpu, card);
	add(&device, 'l', "subsystem", "../../../bus/pci");
	add(&device, 'l', "driver", "../../../bus/pci/drivers/amdgpu");
	snprintf(name, sizeof(name), PCI_NAME, bus);
	add(&bus_at, 'l', name, "../../../devices/pci0000:00/%s", name);
	add_nodes(tree, &device, gpu, card);
}

/* Older versions of rocminfo look for the driver in the list of modules. The others stay in it. */
static void add_modules(struct sg_sysfs *tree)
{
	char text[32768] = "amdgpu 19742720 0 - Live 0x0000000000000000\n";
	size_t n = strlen(text);
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/modules", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	while (fd >= 0 && n < sizeof(text) - 1 &&
	       (got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	if (fd >= 0)
		close(fd);
	text[n] = '\0';
	append(tree, "proc/modules\0f", sizeof("proc/modules\0f"));
	append(tree, text, n + 1);
}

void sg_sysfs_describe(struct sg_sysfs *tree, const struct sg_topology *topology)
{
	struct place top = place(tree, TOPOLOGY), kfd = place(tree, "sys/devices/virtual/kfd/kfd");
	struct place module = place(tree, "sys/module/amdgpu"),
		     class_kfd = place(tree, "sys/class/kfd");
	struct place class_drm = place(tree, "sys/class/drm");

	add(&top, 'f', "generation_id", "2\n");
	add(&top, 'f', "system_properties", "platform_oem 0\nplatform_id 0\nplatform_rev 1\n");
	add(&kfd, 'f', "dev", "238:0\n");
	add(&kfd, 'd', "proc", "%s", "");
	add(&kfd, 'f', "uevent", "MAJOR=238\nMINOR=0\nDEVNAME=kfd\n");
	add(&module, 'd', "holders", "%s", ""); /* lsmod complains without */
	add(&module, 'f', "initstate", "live\n");
	add(&module, 'f', "refcnt", "0\n");
	add(&module, 'f', "version", "%s\n", DRIVER_VERSION);
	add(&class_kfd, 'l', "kfd", "../../devices/virtual/kfd/kfd");
	add(&class_drm, 'f', "version", "drm 1.1.0 20060810\n");
	add_modules(tree);
	add_host(tree, topology);
	for (uint32_t g = 0; g < topology->n_gpus; g++) {
		add_gpu(tree, topology, g + 1);
		add_device(tree, &topology->gpus[g], g);
	}
}

void sg_sysfs_add_pci(struct sg_sysfs *tree, const struct sg_topology *topology, const char *name)
{
	struct place bus_at = place(tree, PCI_DEVICES);
	char own[64];

	for (uint32_t g = 0; g < topology->n_gpus; g++) {
		snprintf(own, sizeof(own), PCI_NAME, topology->gpus[g].location >> 8);
		if (!strcmp(name, own))
			return;
	}
	add(&bus_at, 'l', name, "/" PCI_DEVICES "/%s", name);
}

void sg_sysfs_fini(struct sg_sysfs *tree)
{
	free(tree->bytes);
	*tree = (struct sg_sysfs){ 0 };
}

const char *sg_sysfs_text(const struct sg_sysfs *tree, const char *path)
{
	for (const char *at = tree->bytes; at && at < tree->bytes + tree->n;) {
		const char *text = at + strlen(at) + 1 + 2;

		if (!strcmp(at, path))
			return text;
		at = text + strlen(text) + 1;
	}
	return NULL;
}
