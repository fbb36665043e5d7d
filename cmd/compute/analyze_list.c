/* What analyze prints instead of a report: --list-stats, --list-nodes, --specs. */
#include "cmd/compute/analyze.h"

#include <string.h>

static const char rule[] =
	"--------------------------------------------------------------------------------";

enum ws_status an_list_stats(struct an *an, struct ws_err *err)
{
	static const char *const headers[] = { "", "Kernel_Name" };
	struct an_run *run = &an->runs[0];
	const struct ana_table *table = ana_table_find(an->metrics, 0, 2);
	struct rpt_grid grid;
	enum ws_status st = rpt_grid_init(&grid, &an->arena, headers, 2, err);

	for (size_t i = 0; !st && i < run->n_top; i++) {
		struct rpt_cell *row = rpt_grid_row(&grid);

		if (!row)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		row[0] = rpt_cell_int((int64_t)i);
		row[1] = rpt_cell_text(run->load->kernels[run->top[i].kernel].shown);
	}
	ws_buf_printf(&an->out, "\n%s\nDetected Kernels (sorted descending by duration)\n", rule);
	if (!st)
		st = rpt_grid_draw(&grid, &an->out, err);
	ws_buf_printf(&an->out, "\n%s\nDispatch list\n", rule);
	if (!st && table)
		st = an_grid(an, run, table, true, &grid, err);
	if (!st && table)
		st = rpt_grid_draw(&grid, &an->out, err);
	return st;
}

enum ws_status an_list_nodes(const struct an_args *args, struct ws_err *err)
{
	struct ws_arena arena;
	const char **names;
	enum ws_status st = WS_OK;
	size_t n;

	ws_arena_init(&arena, 16u << 20);
	for (size_t i = 0; !st && i + 1 < args->paths.n; i++) {
		if (args->paths.at[i])
			continue;
		st = wl_workload_nodes(args->paths.at[i + 1], &arena, &names, &n, err);
		if (st)
			break;
		printf("Node list:\n");
		for (size_t k = 0; k < n; k++)
			printf("%s%s", k ? "  " : "", names[k]);
		printf("\n");
	}
	ws_arena_fini(&arena);
	return st;
}

/* clang-format off */
static const struct {
	const char *field, *name, *unit, *text;
} specs[] = {
	{ "workload_name",          "Workload Name",          "",     "what the profile was called" },
	{ "command",                "Command",                "",     "the program that was profiled, with its arguments" },
	{ "ip_blocks",              "IP Blocks",              "",     "hardware blocks whose counters were collected" },
	{ "timestamp",              "Timestamp",              "",     "when it was profiled, local time" },
	{ "hostname",               "Hostname",               "",     "the machine" },
	{ "cpu_model",              "CPU Model",              "",     "its processor" },
	{ "sbios",                  "SBIOS",                  "",     "its firmware" },
	{ "linux_distro",           "Linux Distribution",     "",     "its operating system" },
	{ "linux_kernel_version",   "Linux Kernel Version",   "",     "the kernel it ran" },
	{ "amd_gpu_kernel_version", "AMD GPU Kernel Version", "",     "the GPU driver in the kernel" },
	{ "cpu_memory",             "CPU Memory",             "KB",   "memory of the host" },
	{ "gpu_memory",             "GPU Memory",             "KB",   "memory of the GPU" },
	{ "rocm_version",           "ROCm Version",           "",     "the runtime the program used" },
	{ "vbios",                  "VBIOS",                  "",     "firmware of the GPU" },
	{ "compute_partition",      "Compute Partition",      "",     "how the GPU's dies are split into devices" },
	{ "memory_partition",       "Memory Partition",       "",     "how its memory is split" },
	{ "gpu_series",             "GPU Series",             "",     "product line" },
	{ "gpu_model",              "GPU Model",              "",     "product" },
	{ "gpu_arch",               "GPU Arch",               "",     "instruction set; it decides the formulas" },
	{ "gpu_chip_id",            "Chip ID",                "",     "the PCI device id" },
	{ "gpu_l1",                 "GPU L1",                 "KiB",  "vector L1 data cache of one compute unit" },
	{ "gpu_l2",                 "GPU L2",                 "KiB",  "L2 cache of one die" },
	{ "cu_per_gpu",             "CU per GPU",             "",     "compute units of the device" },
	{ "simd_per_cu",            "SIMD per CU",            "",     "vector units of one compute unit" },
	{ "se_per_gpu",             "SE per GPU",             "",     "shader engines of the device" },
	{ "wave_size",              "Wave Size",              "",     "work-items of a wave" },
	{ "workgroup_max_size",     "Workgroup Max Size",     "",     "most work-items of a workgroup" },
	{ "max_waves_per_cu",       "Max Waves per CU",       "",     "most waves that are resident on a compute unit" },
	{ "max_sclk",               "Max SCLK",               "MHz",  "highest clock of the compute units" },
	{ "max_mclk",               "Max MCLK",               "MHz",  "highest clock of the memory" },
	{ "cur_sclk",               "Cur SCLK",               "MHz",  "clock of the compute units when profiled" },
	{ "cur_mclk",               "Cur MCLK",               "MHz",  "clock of the memory when profiled" },
	{ "total_l2_chan",          "Total L2 Channels",      "",     "channels of the L2 caches of the device" },
	{ "lds_banks_per_cu",       "LDS Banks per CU",       "",     "banks of the local data share" },
	{ "sqc_per_gpu",            "SQC per GPU",            "",     "instruction and scalar caches of the device" },
	{ "pipes_per_gpu",          "Pipes per GPU",          "",     "scheduler pipes of a shader engine" },
	{ "num_xcd",                "Num XCDs",               "XCDs", "accelerator dies of the device" },
	{ "num_hbm_channels",       "HBM channels",           "",     "channels of the device's memory" },
};
/* clang-format on */

enum ws_status an_print_specs(const struct wl_workload *load, struct ws_err *err)
{
	static const char *const headers[] = { "Spec", "Value", "Description", "Unit" };
	const char *version = wl_workload_fact(load, "version");
	struct ws_arena arena;
	struct rpt_grid grid;
	struct ws_buf out;
	enum ws_status st;

	ws_arena_init(&arena, 64u << 20);
	ws_buf_init(&out, 16u << 20);
	st = rpt_grid_init(&grid, &arena, headers, 4, err);
	for (size_t i = 0; !st && i < WS_ARRAY_LEN(specs); i++) {
		const char *text = wl_workload_fact(load, specs[i].field);
		struct rpt_cell *row = rpt_grid_row(&grid);

		if (!row) {
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
			break;
		}
		row[0] = rpt_cell_text(specs[i].name);
		row[1] = rpt_cell_text(text ? text : "");
		row[2] = rpt_cell_text(an_wrap_words(&arena, specs[i].text, 40));
		row[3] = rpt_cell_text(specs[i].unit);
	}
	if (!st)
		st = rpt_grid_draw(&grid, &out, err);
	if (!st)
		printf("Machine Specifications: describing the state of the machine that ROCm "
		       "Compute "
		       "Profiler data was collected on.\nOutput version: %s\n%s",
		       version ? version : "", out.at);
	ws_buf_fini(&out);
	ws_arena_fini(&arena);
	return st;
}
