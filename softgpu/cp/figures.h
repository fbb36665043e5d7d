/*
 * figures: what the software GPU can report of itself over time, for a profiler in the same process.
 *
 * The software GPU's library exports softgpu_figures() under the version WAVESCOPE_1; a
 * profiler finds it with dlsym(). It takes the place of the sensors of a real GPU. Only what
 * the software GPU has is here: it has no temperature or video engines, and its clocks do
 * not change. Its power is modelled: idle, and from there to the limit with the share of time that it is busy.
 *
 * Threads  any.
 * Errors   ENODEV: no such GPU, or the GPU was not opened, or this is a forked child.
 */
#ifndef WS_SOFTGPU_CP_FIGURES_H
#define WS_SOFTGPU_CP_FIGURES_H

#include <stdint.h>

struct softgpu_figures {
	/*
	 * Time in which at least one kernel was running, up to now: host time, or simulated
	 * time while counters are selected. Measured from the first call on.
	 */
	uint64_t busy_ns;
	uint64_t memory_used_bytes, memory_bytes; /* of the GPU: allocated, and all */
	uint32_t clock_mhz, memory_clock_mhz;     /* of the model */
	uint32_t idle_watts, max_watts;           /* of the model, per GPU of a board */
};

int softgpu_figures(uint32_t node, struct softgpu_figures *out); /* node: in the topology */

#endif
