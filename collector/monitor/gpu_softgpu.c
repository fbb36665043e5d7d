/* The software GPU's own figures (softgpu/cp/figures.h). */
#include "collector/monitor/monitor_priv.h"
#include "collector/softgpu.h"

#include "softgpu/cp/figures.h"

#include <dlfcn.h>

static struct {
	int (*figures)(uint32_t, struct softgpu_figures *);
	struct {
		uint64_t busy_ns, at_ns;
		bool known;
	} before[COL_MONITOR_GPUS_MAX];
} soft;

/* Nodes of GPUs follow that of the CPU, which is 0. */
static uint32_t node_of(uint32_t gpu)
{
	return gpu + 1;
}

static uint32_t open_softgpu(void)
{
	struct softgpu_figures out;
	uint32_t n = 0;

	if (!soft.figures) {
		void *library = col_softgpu_open();

		if (library)
			*(void **)&soft.figures = dlsym(library, "softgpu_figures");
		/* the program keeps it loaded; our reference is never given back */
	}
	while (soft.figures && n < COL_MONITOR_GPUS_MAX && soft.figures(node_of(n), &out) == 0)
		n++;
	return n;
}

static void read_softgpu(uint32_t gpu, uint32_t what, uint64_t now_ns,
			 struct col_monitor_figures *to)
{
	struct softgpu_figures out;

	if (soft.figures(node_of(gpu), &out) != 0)
		return;
	if (soft.before[gpu].known && now_ns > soft.before[gpu].at_ns) {
		double share = (double)(out.busy_ns - soft.before[gpu].busy_ns) /
			       (double)(now_ns - soft.before[gpu].at_ns);

		/* the clock was read a moment before the GPU was */
		if (share > 1)
			share = 1;
		col_monitor_figure(to, COL_FIGURE_GFX_BUSY, share * 100);
		col_monitor_figure(to, COL_FIGURE_POWER,
				   out.idle_watts + share * (out.max_watts - out.idle_watts));
	}
	soft.before[gpu].busy_ns = out.busy_ns;
	soft.before[gpu].at_ns = now_ns;
	soft.before[gpu].known = true;
	col_monitor_figure(to, COL_FIGURE_MEMORY, (double)out.memory_used_bytes);
	col_monitor_figure(to, COL_FIGURE_GFX_CLOCK, out.clock_mhz);
	col_monitor_figure(to, COL_FIGURE_MEMORY_CLOCK, out.memory_clock_mhz);
}

const struct col_monitor_gpu_source col_monitor_softgpu = {
	.name = "the software GPU",
	.flags = CAP_METRIC_SIMULATED,
	.open = open_softgpu,
	.read = read_softgpu,
};
