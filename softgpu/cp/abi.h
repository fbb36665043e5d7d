/*
 * abi: the layouts that ROCr and the device share in memory, as far as the device uses them.
 *
 * From AMD's published HSA runtime interface (amd_hsa_signal.h, amd_hsa_queue.h). Offsets are part
 * of the contract and asserted.
 */
#ifndef WS_SOFTGPU_CP_ABI_H
#define WS_SOFTGPU_CP_ABI_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct sg_amd_signal {
	int64_t kind;
	_Atomic int64_t value;
	uint64_t event_mailbox; /* 0: nobody sleeps on it */
	uint32_t event_id;
	uint32_t reserved1;
	/* device clock; two queues may complete one signal at the same time */
	_Atomic uint64_t start_ts, end_ts;
	uint64_t queue;
	uint64_t reserved2;
};
static_assert(sizeof(struct sg_amd_signal) == 64, "part of the interface");
static_assert(offsetof(struct sg_amd_signal, start_ts) == 32, "part of the interface");

#define SG_AMD_QUEUE_READ_OFFSET 128
#define SG_AMD_QUEUE_SCRATCH_ONCE (1u << 4)
/* In caps: the command processor and the runtime support that scratch is reclaimed. */
#define SG_AMD_QUEUE_CP_RECLAIM (1u << 0)
#define SG_AMD_QUEUE_SW_RECLAIM (1u << 1)
#define SG_AMD_QUEUE_MAX_XCCS 128

struct sg_amd_queue {
	uint8_t hsa_queue[40];
	_Atomic uint32_t caps;
	uint8_t reserved0[12];
	_Atomic uint64_t write_dispatch_id;
	uint32_t group_aperture_hi;
	uint32_t private_aperture_hi;
	uint32_t max_cu_id, max_wave_id;
	uint8_t reserved1[48];
	_Atomic uint64_t read_dispatch_id;
	uint32_t reserved2;
	uint32_t tmpring_size; /* bits 0-11 waves, 12-24 KiB per wave */
	uint32_t scratch_descriptor[4];
	uint64_t scratch_base;
	uint64_t scratch_bytes;
	uint32_t scratch_lane_bytes;
	uint32_t properties;
	_Atomic uint64_t scratch_max_use; /* reclaim: the last packet that may use scratch */
	uint64_t inactive_signal;
	uint8_t reserved4[56];
};
static_assert(sizeof(struct sg_amd_queue) == 256, "part of the interface");
static_assert(offsetof(struct sg_amd_queue, read_dispatch_id) == SG_AMD_QUEUE_READ_OFFSET, "");
static_assert(offsetof(struct sg_amd_queue, group_aperture_hi) == 64, "");
static_assert(offsetof(struct sg_amd_queue, tmpring_size) == 140, "");
static_assert(offsetof(struct sg_amd_queue, scratch_base) == 160, "");
static_assert(offsetof(struct sg_amd_queue, properties) == 180, "");
static_assert(offsetof(struct sg_amd_queue, inactive_signal) == 192, "");

/* With SG_AMD_QUEUE_SW_RECLAIM. The alternative scratch that it also has is not used by ROCr. */
struct sg_amd_queue_v2 {
	struct sg_amd_queue v1;
	struct {
		_Atomic uint64_t main, alternative; /* the last packets that used scratch */
	} last_used[SG_AMD_QUEUE_MAX_XCCS];
};

/* Codes for the queue's inactive signal. */
enum sg_queue_error {
	SG_QUEUE_NEED_SCRATCH = 1,
	SG_QUEUE_BAD_DIMENSIONS = 2,
	SG_QUEUE_BAD_GROUP_MEMORY = 4,
	SG_QUEUE_BAD_CODE = 8,
	SG_QUEUE_BAD_PACKET = 32,
	SG_QUEUE_BAD_GROUP_SIZE = 64,
	SG_QUEUE_BAD_REGISTERS = 128,
	SG_QUEUE_BAD_VENDOR_PACKET = 256,
	SG_QUEUE_SCRATCH_UNUSED = 512,
	SG_QUEUE_APERTURE = 0x20000000,
	SG_QUEUE_ILLEGAL = 0x40000000,
	SG_QUEUE_TRAP = (int)0x80000000,
};

/* The same as exceptions of the driver: kfd_ioctl.h, EC_QUEUE_*. Exception n is bit n - 1 of the error word. */
enum sg_queue_exception {
	SG_EXCEPTION_WAVE_ABORT = 1,
	SG_EXCEPTION_WAVE_ILLEGAL_INSTRUCTION = 4,
	SG_EXCEPTION_WAVE_APERTURE_VIOLATION = 6,
	SG_EXCEPTION_DISPATCH_DIM_INVALID = 16,
	SG_EXCEPTION_DISPATCH_GROUP_SEGMENT_SIZE_INVALID = 17,
	SG_EXCEPTION_DISPATCH_CODE_INVALID = 18,
	SG_EXCEPTION_PACKET_UNSUPPORTED = 20,
	SG_EXCEPTION_DISPATCH_WORK_GROUP_SIZE_INVALID = 21,
	SG_EXCEPTION_DISPATCH_REGISTER_INVALID = 22,
	SG_EXCEPTION_PACKET_VENDOR_UNSUPPORTED = 23,
};

/* AQL packets: 64 bytes each; the header is written last and read first. */
enum sg_aql_type {
	SG_AQL_VENDOR,
	SG_AQL_INVALID,
	SG_AQL_DISPATCH,
	SG_AQL_BARRIER_AND,
	SG_AQL_AGENT,
	SG_AQL_BARRIER_OR,
};

#define SG_AQL_SETUP_DIMENSIONS 3u /* in setup: 1 to 3 */

union sg_aql_packet {
	struct {
		_Atomic uint16_t header;
		uint16_t setup;
		uint16_t wg_size[3];
		uint16_t reserved0;
		uint32_t grid_size[3];
		uint32_t private_bytes;
		uint32_t group_bytes;
		uint64_t kernel_object;
		uint64_t kernarg;
		uint64_t reserved2;
		uint64_t completion;
	} dispatch;
	struct {
		uint16_t header, reserved0;
		uint32_t reserved1;
		uint64_t signals[5];
		uint64_t reserved2;
		uint64_t completion;
	} barrier;
	struct {
		uint16_t header, format;
		uint32_t reserved1;
		uint64_t signal;
		int64_t value;
		int64_t mask;
		uint32_t condition;
		uint32_t reserved2;
		uint64_t reserved3[2];
		uint64_t completion;
	} vendor;
	struct {
		uint16_t header, format;
		uint32_t words[4]; /* one PM4 packet, mostly INDIRECT_BUFFER */
		uint32_t n_rest;
		uint32_t reserved[8];
		uint64_t completion;
	} pm4;
};
static_assert(sizeof(union sg_aql_packet) == 64, "part of the interface");

#endif
