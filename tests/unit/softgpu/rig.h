/* rig: a machine without a runtime, for tests: memory, events, a command processor, one GPU. */
#ifndef WS_TESTS_SOFTGPU_RIG_H
#define WS_TESTS_SOFTGPU_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softgpu/core/device.h"
#include "softgpu/cp/abi.h"
#include "softgpu/device/event.h"
#include "softgpu/device/vm.h"
#include "tests/unit/softgpu/fake_exec.h"

struct rig {
	struct sg_vm *vm;
	struct sg_mem_map mem;
	struct sg_events *events;
	struct sg_cp *cp;
	struct sg_device *device;
	_Atomic uint32_t n_faults;
	struct sg_cp_fault fault; /* the last one */
};

/* An AQL queue and what belongs to it, as ROCr would set it up. */
struct rig_aql {
	struct sg_queue *queue;
	union sg_aql_packet *ring;
	uint32_t n_packets;
	struct sg_amd_queue *amd;
	struct sg_amd_signal *inactive;
	_Atomic uint64_t doorbell;
};

struct rig_sdma {
	struct sg_queue *queue;
	uint32_t *ring;
	uint64_t size_bytes;
	_Atomic uint64_t *pointers; /* write, read, doorbell */
};

struct rig *rig_create(uint32_t n_workers);
void rig_destroy(struct rig *rig);
uint64_t rig_alloc(struct rig *rig, uint64_t size);
struct sg_amd_signal *rig_signal(struct rig *rig,
				 int64_t value); /* from device memory, leaked to it */

void rig_aql_open(struct rig *rig, struct rig_aql *aql, uint32_t n_packets);
void rig_aql_close(struct rig *rig, struct rig_aql *aql);
/* The body of a packet is copied, then the header is published and the doorbell rung. */
void rig_aql_submit(struct rig_aql *aql, const union sg_aql_packet *packet, uint16_t header);
union sg_aql_packet rig_kernel_packet(const struct fake_kernel *kernel, uint32_t n_wgs,
				      const struct sg_amd_signal *completion);

void rig_sdma_open(struct rig *rig, struct rig_sdma *sdma);
void rig_sdma_close(struct rig *rig, struct rig_sdma *sdma);
void rig_sdma_submit(struct rig_sdma *sdma, const uint32_t *dwords, uint32_t n);

/* Wait until the condition holds, at most ten seconds. */
#define rig_eventually(condition)                                                                  \
	do {                                                                                       \
		uint64_t rig_until = rig_now_ms() + 10000;                                         \
		while (!(condition) && rig_now_ms() < rig_until)                                   \
			rig_pause();                                                               \
		assert_true(condition);                                                            \
	} while (0)
uint64_t rig_now_ms(void);
void rig_pause(void);

#endif
