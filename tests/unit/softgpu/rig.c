#include "tests/unit/softgpu/rig.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "softgpu/device/log.h"

#define VRAM (1ull << 30)
#define HOST (4ull << 30)

static bool accessible(void *ctx, uint64_t addr, uint64_t size)
{
	return sg_vm_accessible(((struct rig *)ctx)->vm, addr, size);
}

static void enter(void *ctx)
{
	sg_vm_enter(((struct rig *)ctx)->vm);
}

static void leave(void *ctx)
{
	sg_vm_leave(((struct rig *)ctx)->vm);
}

static void interrupt(void *ctx, uint32_t event_id)
{
	sg_event_set(((struct rig *)ctx)->events, event_id);
}

static void memory_fault(void *ctx, const struct sg_cp_fault *fault)
{
	struct rig *rig = ctx;

	rig->fault = *fault;
	atomic_fetch_add(&rig->n_faults, 1);
}

struct rig *rig_create(uint32_t n_workers)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	uint64_t capacities[2] = { HOST, VRAM };
	struct sg_topology topology;
	struct sg_cp_host host;
	char error[240];

	assert_non_null(rig);
	sg_gpu_log_set("none");
	assert_true(sg_topology_parse(&topology, "mi210", error, sizeof(error)));
	rig->vm = sg_vm_create(capacities, 2);
	assert_non_null(rig->vm);
	rig->mem = (struct sg_mem_map){ .start = sg_vm_start(rig->vm),
					.end = sg_vm_end(rig->vm),
					.reachable = sg_vm_reachable,
					.ctx = rig->vm };
	rig->events = sg_events_create(rig->vm);
	host = (struct sg_cp_host){ .mem = &rig->mem,
				    .accessible = accessible,
				    .enter = enter,
				    .leave = leave,
				    .interrupt = interrupt,
				    .memory_fault = memory_fault,
				    .ctx = rig };
	rig->cp = sg_cp_create(&host, n_workers);
	assert_non_null(rig->cp);
	rig->device = sg_device_create(rig->cp, &rig->mem, &topology.gpus[0], 1);
	assert_non_null(rig->device);
	return rig;
}

void rig_destroy(struct rig *rig)
{
	sg_cp_destroy(rig->cp);
	sg_device_destroy(rig->device);
	sg_events_destroy(rig->events);
	sg_vm_destroy(rig->vm);
	free(rig);
}

uint64_t rig_alloc(struct rig *rig, uint64_t size)
{
	uint64_t addr = 0;

	assert_int_equal(sg_vm_alloc(rig->vm, SG_VM_HOST, 0, (size + 4095) & ~4095ull, 0, false,
				     &addr),
			 SG_VM_OK);
	return addr;
}

struct sg_amd_signal *rig_signal(struct rig *rig, int64_t value)
{
	struct sg_amd_signal *signal = (void *)rig_alloc(rig, sizeof(*signal));

	signal->kind = 1;
	atomic_store(&signal->value, value);
	return signal;
}

void rig_aql_open(struct rig *rig, struct rig_aql *aql, uint32_t n_packets)
{
	struct sg_queue_desc desc = { .type = SG_QUEUE_AQL };

	memset(aql, 0, sizeof(*aql));
	aql->n_packets = n_packets;
	aql->ring = (void *)rig_alloc(rig, n_packets * sizeof(*aql->ring));
	for (uint32_t i = 0; i < n_packets; i++)
		atomic_store(&aql->ring[i].dispatch.header, SG_AQL_INVALID);
	aql->amd = (void *)rig_alloc(rig, sizeof(struct sg_amd_queue_v2));
	aql->inactive = rig_signal(rig, 0);
	aql->amd->inactive_signal = (uint64_t)aql->inactive;
	desc.ring = aql->ring;
	desc.size_bytes = n_packets * sizeof(*aql->ring);
	desc.write_ptr = &aql->amd->write_dispatch_id;
	desc.read_ptr = &aql->amd->read_dispatch_id;
	desc.doorbell = &aql->doorbell;
	aql->queue = sg_device_register_queue(rig->device, &desc);
	assert_non_null(aql->queue);
}

void rig_aql_close(struct rig *rig, struct rig_aql *aql)
{
	sg_device_destroy_queue(aql->queue);
	/* If anything still touched these, the sanitizers or the guard pages would tell. */
	assert_int_equal(sg_vm_free(rig->vm, (uint64_t)aql->inactive), SG_VM_OK);
	assert_int_equal(sg_vm_free(rig->vm, (uint64_t)aql->amd), SG_VM_OK);
	assert_int_equal(sg_vm_free(rig->vm, (uint64_t)aql->ring), SG_VM_OK);
}

void rig_aql_submit(struct rig_aql *aql, const union sg_aql_packet *packet, uint16_t header)
{
	uint64_t index = atomic_fetch_add(&aql->amd->write_dispatch_id, 1);
	union sg_aql_packet *slot = &aql->ring[index % aql->n_packets];

	while (index - atomic_load(&aql->amd->read_dispatch_id) >= aql->n_packets)
		rig_pause();
	memcpy((uint8_t *)slot + 2, (const uint8_t *)packet + 2, sizeof(*slot) - 2);
	atomic_store_explicit(&slot->dispatch.header, header, memory_order_release);
	atomic_store(&aql->doorbell, index);
}

union sg_aql_packet rig_kernel_packet(const struct fake_kernel *kernel, uint32_t n_wgs,
				      const struct sg_amd_signal *completion)
{
	return (union sg_aql_packet){ .dispatch = {
					      .setup = 1,
					      .wg_size = { 64, 1, 1 },
					      .grid_size = { 64 * n_wgs, 1, 1 },
					      .kernel_object = (uint64_t)kernel,
					      .completion = (uint64_t)completion,
				      } };
}

void rig_sdma_open(struct rig *rig, struct rig_sdma *sdma)
{
	struct sg_queue_desc desc = { .type = SG_QUEUE_SDMA };

	sdma->size_bytes = 1 << 16;
	sdma->ring = (void *)rig_alloc(rig, sdma->size_bytes);
	sdma->pointers = (void *)rig_alloc(rig, 4096);
	desc.ring = sdma->ring;
	desc.size_bytes = sdma->size_bytes;
	desc.write_ptr = &sdma->pointers[0];
	desc.read_ptr = &sdma->pointers[1];
	desc.doorbell = &sdma->pointers[2];
	sdma->queue = sg_device_register_queue(rig->device, &desc);
	assert_non_null(sdma->queue);
}

void rig_sdma_close(struct rig *rig, struct rig_sdma *sdma)
{
	sg_device_destroy_queue(sdma->queue);
	assert_int_equal(sg_vm_free(rig->vm, (uint64_t)sdma->ring), SG_VM_OK);
	assert_int_equal(sg_vm_free(rig->vm, (uint64_t)sdma->pointers), SG_VM_OK);
}

void rig_sdma_submit(struct rig_sdma *sdma, const uint32_t *dwords, uint32_t n)
{
	uint64_t write = atomic_load(&sdma->pointers[0]);
	uint64_t to_end = sdma->size_bytes - write % sdma->size_bytes;

	if (to_end < n * 4) {
		while (write + to_end + n * 4 - atomic_load(&sdma->pointers[1]) > sdma->size_bytes)
			rig_pause();
		memset((uint8_t *)sdma->ring + write % sdma->size_bytes, 0, to_end);
		write += to_end;
	}
	while (write + n * 4 - atomic_load(&sdma->pointers[1]) > sdma->size_bytes)
		rig_pause();
	memcpy((uint8_t *)sdma->ring + write % sdma->size_bytes, dwords, n * 4);
	atomic_store(&sdma->pointers[0], write + n * 4);
	atomic_store(&sdma->pointers[2], write + n * 4);
}

uint64_t rig_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

void rig_pause(void)
{
	usleep(20);
}
