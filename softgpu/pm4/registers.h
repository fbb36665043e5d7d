/*
 * registers: the registers of one GPU that PM4 packets reach.
 *
 * Numbers are AMD's dword offsets, as in COPY_DATA; SET_UCONFIG_REG and SET_SH_REG count from a base. A few
 * registers do something (enum sg_pm4_register); those of the counters are in a table, counter_rows in
 * registers.c. The rest only keep what is written.
 *
 * Each die of a GPU has registers of its own. The registers of a counter block exist once per instance.
 * GRBM_GFX_INDEX selects the instances of its die that a write goes to. A read comes from the first of them.
 *
 * What the counters count is one window for all dies: CP_PERFMON_CNTL of the first die opens and closes it.
 *
 * Threads  the caller's lock.
 */
#ifndef WS_SOFTGPU_PM4_REGISTERS_H
#define WS_SOFTGPU_PM4_REGISTERS_H

#include "softgpu/pm4/pm4.h"

#define SG_PM4_UCONFIG_BASE 0xc000u
#define SG_PM4_SH_BASE 0x2c00u
#define SG_PM4_REGISTERS 0x10000u

enum sg_pm4_register {
	SG_PM4_COMPUTE_PERFCOUNT_ENABLE = 0x2e0b,
	SG_PM4_GRBM_GFX_INDEX = 0xc200,
	SG_PM4_CP_PERFMON_CNTL = 0xd808,
	SG_PM4_SQ_PERFCOUNTER_CTRL = 0xd9e0,
	SG_PM4_SQ_PERFCOUNTER_MASK = 0xd9e1,
	SG_PM4_RLC_PERFMON_CLK_CNTL = 0xdcbf,
};

/* The hardware event of a counter; one table per target, made from data/counters. */
struct sg_pm4_event {
	uint16_t counter; /* index of sg_counters */
	uint16_t event;
};
struct sg_pm4_events {
	enum sg_isa_target target;
	uint16_t accumulate; /* event that adds up the counter before it, every cycle */
	size_t n;
	const struct sg_pm4_event *events;
};
extern const struct sg_pm4_events sg_pm4_events[];
extern const size_t sg_pm4_n_events;

struct sg_pm4_registers;

struct sg_pm4_registers *sg_pm4_registers_create(const struct sg_hw *hw,
						 const struct sg_pm4_counts *counts);
void sg_pm4_registers_destroy(struct sg_pm4_registers *registers);

/* @dies: bits; those that the GPU does not have are ignored. */
void sg_pm4_write(struct sg_pm4_registers *registers, const struct sg_pm4_world *world,
		  uint32_t dies, uint64_t number, uint32_t value);
uint32_t sg_pm4_read(struct sg_pm4_registers *registers, const struct sg_pm4_world *world,
		     uint32_t die, uint64_t number);

#endif
