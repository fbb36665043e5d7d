/*
 * fake_exec: an executor whose kernels are C functions, so that the device core can be tested alone.
 *
 * A kernel descriptor holds the function and its argument where the real one has reserved bytes. The
 * function is called for each turn of a workgroup and says what became of it.
 */
#ifndef WS_TESTS_FAKE_EXEC_H
#define WS_TESTS_FAKE_EXEC_H

#include "softgpu/exec/launch.h"

struct fake_wg {
	struct sg_launch *launch;
	uint32_t slot;
	uint64_t index;   /* of the workgroup in the grid */
	uint64_t n_turns; /* before this one */
	struct sg_fault fault;
};

struct fake_kernel {
	enum sg_wg_state (*run)(struct fake_wg *wg, void *arg);
	void *arg;
	int64_t entry_offset;
	uint8_t reserved[32];
	uint16_t properties, preload;
	uint8_t reserved2[4];
};

#endif
