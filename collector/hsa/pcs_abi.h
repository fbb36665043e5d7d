/*
 * pcs_abi: ROCr's PC sampling (hsa_ven_amd_pc_sampling.h of ROCm 6.2 and later), under names of our own: the headers of
 * earlier releases do not have it.
 *
 * That of ROCm 6.4 (version 1.7 of AMD's extensions) is of no use: it clears four times the size of its buffer, and for
 * stochastic sampling it makes none.
 */
#ifndef WS_COLLECTOR_HSA_PCS_ABI_H
#define WS_COLLECTOR_HSA_PCS_ABI_H

#include <hsa/hsa.h>
#include <stddef.h>
#include <stdint.h>

#define COL_PCS_INFO_MINOR 0x208 /* of hsa_system_get_info(): of AMD's extensions */
#define COL_PCS_LEAST_MINOR 8u

enum col_pcs_method { COL_PCS_HOST_TRAP, COL_PCS_STOCHASTIC };
enum col_pcs_unit { COL_PCS_MICROSECONDS, COL_PCS_CYCLES };
#define COL_PCS_POWER_OF_2 1u

struct col_pcs_offer {
	uint32_t method, unit;
	size_t min_interval, max_interval;
	uint64_t flags;
};

/* One sample of either method; of host traps the snapshot is 0. Its time is the system's, in ns. */
struct col_pcs_sample {
	uint64_t pc, exec;
	uint32_t workgroup[3];
	uint32_t wave_and_xcc; /* wave in the workgroup: 6 bits; die: from bit 8 on */
	uint32_t hw_id;
	uint32_t snapshot, snapshot1, snapshot2;
	uint64_t time_ns;
	uint64_t correlation; /* doorbell << 32 | packet in the ring: 10 bits, 25 bits */
};
_Static_assert(sizeof(struct col_pcs_sample) == 64, "as the trap handler writes it");

typedef hsa_status_t col_pcs_copy(void *runtime_data, size_t n_bytes, void *to);
typedef void col_pcs_ready(void *data, size_t n_bytes, size_t n_lost, col_pcs_copy *copy,
			   void *runtime_data);
typedef hsa_status_t col_pcs_each_offer(const struct col_pcs_offer *offer, void *data);

struct col_pcs_functions {
	hsa_status_t (*iterate)(hsa_agent_t agent, col_pcs_each_offer *each, void *data);
	hsa_status_t (*create)(hsa_agent_t agent, uint32_t method, uint32_t unit, size_t interval,
			       size_t latency_us, size_t n_buffer, col_pcs_ready *ready, void *data,
			       uint64_t *out_session);
	hsa_status_t (*start)(uint64_t session);
	hsa_status_t (*stop)(uint64_t session);
	hsa_status_t (*flush)(uint64_t session);
	hsa_status_t (*destroy)(uint64_t session);
};

/*
 * A packet for the interception of queues: it is not put into the queue. Its function gets the place at which the next
 * packet will be, in the queue that the GPU reads.
 */
#define COL_PCS_MARKER_FORMAT 0xfeu
struct col_pcs_marker {
	uint16_t header; /* vendor-specific */
	uint8_t format;
	uint8_t reserved[5];
	void (*placed)(const struct col_pcs_marker *marker, hsa_queue_t *queue, uint64_t packet);
	uint64_t data[6];
};
_Static_assert(sizeof(struct col_pcs_marker) == 64, "AQL packets have 64 bytes");

#define COL_PCS_QUEUE_DOORBELL 1u /* of hsa_amd_queue_get_info(): address of the doorbell */

#endif
