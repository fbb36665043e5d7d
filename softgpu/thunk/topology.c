/* The machine as hsakmt describes it: nodes, memory banks, caches, links. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "softgpu/device/clock.h"
#include "softgpu/thunk/thunk_priv.h"

#define FIRST_SIMD 0x80001000u
#define N_GPU_BANKS 3u
#define N_GWS 64

/* Checks a query about a node: the library is open, the output pointer is set, the node exists. */
#define NODE_OR_RETURN(name, node, answer)                                                         \
	THUNK_OR_RETURN(name);                                                                     \
	if (!(answer))                                                                             \
		return HSAKMT_STATUS_INVALID_PARAMETER;                                            \
	if (!thunk_is_node(name, node))                                                            \
	return HSAKMT_STATUS_INVALID_NODE_UNIT

EXPORT HSAKMT_STATUS hsaKmtAcquireSystemProperties(HsaSystemProperties *SystemProperties)
{
	THUNK_OR_RETURN(thunk);
	if (!SystemProperties)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	memset(SystemProperties, 0, sizeof(*SystemProperties));
	SystemProperties->NumNodes = thunk->machine.topology.n_gpus + 1;
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtReleaseSystemProperties(void)
{
	return HSAKMT_STATUS_SUCCESS;
}

static void put_name(HSAuint16 *out, const char *name)
{
	for (size_t i = 0; name[i] && i < HSA_PUBLIC_NAME_SIZE - 1; i++)
		out[i] = (HSAuint8)name[i];
}

static void host_name(HsaNodeProperties *p)
{
	char line[256], *name;
	FILE *file = fopen("/proc/cpuinfo", "re");

	put_name(p->MarketingName, "CPU");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "model name", 10) || !(name = strchr(line, ':')))
			continue;
		line[strcspn(line, "\n")] = '\0';
		put_name(p->MarketingName, name + 1 + strspn(name + 1, " "));
		break;
	}
	fclose(file);
}

static void fill_host(const struct thunk *thunk, HsaNodeProperties *p)
{
	p->NumCPUCores = (HSAuint32)sysconf(_SC_NPROCESSORS_ONLN);
	p->NumMemoryBanks = 1;
	p->NumCaches = 1;
	p->NumIOLinks = thunk->machine.topology.n_gpus;
	p->DrmRenderMinor = -1;
	host_name(p);
}

static void fill_capability(HSA_CAPABILITY *c, const struct sg_gpu_model *m)
{
	c->ui32.QueueSizePowerOfTwo = 1;
	c->ui32.WatchPointsSupported = 1;
	c->ui32.WatchPointsTotalBits = 2;
	c->ui32.DoorbellType = 2; /* 64 bits, the write index itself */
	c->ui32.Mem_EDCSupport = 1;
	c->ui32.SRAM_EDCSupport = 1; /* target id sramecc+ */
	c->ui32.SVMAPISupported = 1;
	c->ui32.ASICRevision = m->asic_revision;
}

static void fill_gpu(const struct thunk *thunk, const struct sg_gpu *gpu, HsaNodeProperties *p)
{
	const struct sg_gpu_model *m = gpu->model;

	p->NumFComputeCores = m->n_cus * m->n_simds_per_cu;
	p->NumMemoryBanks = N_GPU_BANKS;
	p->NumCaches = sg_gpu_n_caches(m);
	p->NumIOLinks = thunk->machine.topology.n_gpus; /* the host, and every other GPU */
	p->FComputeIdLo = FIRST_SIMD;
	fill_capability(&p->Capability, m);
	p->MaxWavesPerSIMD = m->n_waves_per_simd;
	p->LDSSizeInKB = m->lds_kib;
	p->WaveFrontSize = 64;
	p->NumShaderBanks = m->n_shader_engines;
	p->NumArrays = 1;
	p->NumCUPerArray = m->n_cus_per_engine;
	p->NumSIMDPerCU = m->n_simds_per_cu;
	p->MaxSlotsScratchCU = m->n_scratch_slots_per_cu;
	p->EngineId.ui32.uCode = m->cp_ucode;
	p->EngineId.ui32.Major = m->gfx_major;
	p->EngineId.ui32.Minor = m->gfx_minor;
	p->EngineId.ui32.Stepping = m->gfx_stepping;
	p->VendorId = 0x1002;
	p->DeviceId = m->device_id;
	p->LocationId = gpu->location;
	p->LocalMemSize = m->vram_bytes;
	p->MaxEngineClockMhzFCompute = m->engine_clock_mhz;
	p->DrmRenderMinor = gpu->render_minor;
	put_name(p->MarketingName, m->marketing_name);
	snprintf((char *)p->AMDName, sizeof(p->AMDName), "gfx%u%u%x", m->gfx_major, m->gfx_minor,
		 m->gfx_stepping);
	p->uCodeEngineVersions.uCodeSDMA = m->sdma_ucode;
	p->HiveID = gpu->hive_id;
	p->NumSdmaEngines = m->n_sdma_engines;
	p->NumSdmaXgmiEngines = m->n_sdma_xgmi_engines;
	p->NumSdmaQueuesPerEngine = m->n_sdma_queues_per_engine;
	p->NumCpQueues = m->n_cp_queues;
	p->NumGws = N_GWS;
	p->UniqueID = gpu->unique_id;
	p->VGPRSizePerCU = m->vgpr_bytes_per_cu;
	p->SGPRSizePerCU = m->sgpr_bytes_per_cu;
}

EXPORT HSAKMT_STATUS hsaKmtGetNodeProperties(HSAuint32 NodeId, HsaNodeProperties *NodeProperties)
{
	NODE_OR_RETURN(thunk, NodeId, NodeProperties);
	memset(NodeProperties, 0, sizeof(*NodeProperties));
	if (NodeId)
		fill_gpu(thunk, thunk_gpu(thunk, NodeId), NodeProperties);
	else
		fill_host(thunk, NodeProperties);
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtGetNodeMemoryProperties(HSAuint32 NodeId, HSAuint32 NumBanks,
						   HsaMemoryProperties *MemoryProperties)
{
	HsaMemoryProperties banks[N_GPU_BANKS] = { 0 };
	HSAuint32 n = NodeId ? N_GPU_BANKS : 1;

	NODE_OR_RETURN(thunk, NodeId, MemoryProperties);
	if (NodeId) {
		const struct sg_gpu_model *m = thunk_gpu(thunk, NodeId)->model;

		/* Public: the host reaches all of it, as with a large BAR. */
		banks[0].HeapType = HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC;
		banks[0].SizeInBytes = m->vram_bytes;
		banks[0].Width = m->hbm_width_bits;
		banks[0].MemoryClockMax = m->hbm_clock_mhz;
		banks[1].HeapType = HSA_HEAPTYPE_GPU_LDS;
		banks[1].SizeInBytes = (HSAuint64)m->lds_kib << 10;
		banks[1].VirtualBaseAddress = SG_LDS_APERTURE;
		banks[2].HeapType = HSA_HEAPTYPE_GPU_SCRATCH;
		banks[2].SizeInBytes = SG_FLAT_APERTURE_BYTES;
		banks[2].VirtualBaseAddress = SG_SCRATCH_APERTURE;
	} else {
		banks[0].HeapType = HSA_HEAPTYPE_SYSTEM;
		banks[0].SizeInBytes = thunk->machine.host_bytes;
		banks[0].Width = 64;
		banks[0].MemoryClockMax = 3200;
	}
	memcpy(MemoryProperties, banks, (NumBanks < n ? NumBanks : n) * sizeof(banks[0]));
	return HSAKMT_STATUS_SUCCESS;
}

static HsaCacheProperties host_cache(void)
{
	long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE), line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);

	return (HsaCacheProperties){
		.CacheLevel = 1,
		.CacheSize =
			bytes > 0 ? (HSAuint32)bytes : 32768, /* bytes, as AMD's thunk has it */
		.CacheLineSize = line > 0 ? (HSAuint32)line : 64,
		.CacheType.ui32 = { .Data = 1, .CPU = 1 },
	};
}

static HsaCacheProperties gpu_cache(const struct sg_cache_level *level)
{
	return (HsaCacheProperties){
		.ProcessorIdLow = FIRST_SIMD,
		.CacheLevel = level->level,
		.CacheSize = level->size_kib,
		.CacheLineSize = level->line_bytes,
		.CacheLinesPerTag = 1,
		.CacheType.ui32 = { .Data = !level->instruction,
				    .Instruction = level->instruction,
				    .HSACU = 1 },
	};
}

EXPORT HSAKMT_STATUS hsaKmtGetNodeCacheProperties(HSAuint32 NodeId, HSAuint32 ProcessorId,
						  HSAuint32 NumCaches,
						  HsaCacheProperties *CacheProperties)
{
	const struct sg_gpu_model *m;

	NODE_OR_RETURN(thunk, NodeId, CacheProperties);
	m = NodeId ? thunk_gpu(thunk, NodeId)->model : NULL;
	for (HSAuint32 i = 0; i < NumCaches && i < (m ? sg_gpu_n_caches(m) : 1); i++)
		CacheProperties[i] = m ? gpu_cache(&m->caches[i]) : host_cache();
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtGetNodeIoLinkProperties(HSAuint32 NodeId, HSAuint32 NumIoLinks,
						   HsaIoLinkProperties *IoLinkProperties)
{
	static const HSA_IOLINKTYPE types[] = {
		[SG_LINK_PCIE] = HSA_IOLINKTYPE_PCIEXPRESS,
		[SG_LINK_XGMI] = HSA_IOLINK_TYPE_XGMI,
	};
	struct sg_link links[SG_MAX_GPUS];
	uint32_t n;

	NODE_OR_RETURN(thunk, NodeId, IoLinkProperties);
	n = sg_topology_links(&thunk->machine.topology, NodeId, links);
	for (uint32_t i = 0; i < n && i < NumIoLinks; i++)
		IoLinkProperties[i] = (HsaIoLinkProperties){
			.IoLinkType = types[links[i].type],
			.NodeFrom = links[i].from,
			.NodeTo = links[i].to,
			.Weight = links[i].weight,
			.MinimumBandwidth = links[i].min_bandwidth_mbs,
			.MaximumBandwidth = links[i].max_bandwidth_mbs,
		};
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32 NodeId, HsaClockCounters *Counters)
{
	NODE_OR_RETURN(thunk, NodeId, Counters);
	memset(Counters, 0, sizeof(*Counters));
	/* Read next to each other: ROCr derives the relation of the clocks from such pairs. */
	Counters->SystemClockCounter = sg_clock_system_ns();
	if (NodeId)
		Counters->GPUClockCounter = Counters->SystemClockCounter / 10;
	Counters->CPUClockCounter = sg_clock_of(CLOCK_MONOTONIC_RAW);
	Counters->SystemClockFrequencyHz = SG_SYSTEM_CLOCK_HZ;
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtGetTileConfig(HSAuint32 NodeId, HsaGpuTileConfig *config)
{
	THUNK_OR_RETURN(thunk);
	if (!config)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (!thunk_is_gpu(thunk, NodeId))
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	/* No tables on this generation; ROCr's image code insists on success all the same. */
	config->NumTileConfigs = 0;
	config->NumMacroTileConfigs = 0;
	config->GbAddrConfig = thunk_gpu(thunk, NodeId)->model->gb_addr_config;
	config->NumBanks = 16;
	config->NumRanks = 1;
	return HSAKMT_STATUS_SUCCESS;
}
