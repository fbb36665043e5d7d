#include "cmd/wavescope/wavescope.h"

#include "cmd/cmd.h"

/* clang-format off */
static const struct ws_cmd *const subs[] = {
	&wavescope_run_cmd,
	&wavescope_info_cmd,
	&wavescope_doctor_cmd,
	&wavescope_fidelity_cmd,
	&wavescope_gpu_info_cmd,
	&wavescope_library_trace_cmd,
	&wavescope_merge_cmd,
	&wavescope_advise_cmd,
	&wavescope_top_cmd,
	&wavescope_view_cmd,
	&wavescope_agents_cmd,
	NULL,
};
/* clang-format on */

const struct ws_cmd cmd_wavescope = {
	.name = "wavescope",
	.summary = "run HIP programs on a software GPU, and check this machine",
	.usage = "COMMAND [options]",
	.about = "Runs HIP programs on a software AMD Instinct GPU, under AMD's unmodified "
		 "runtime, on a machine without a GPU. Checks which features work on this machine.",
	.notes = "Environment:\n"
		 "  WAVESCOPE_GPU           software GPUs if --gpu is not given: mi210,mi100\n"
		 "  WAVESCOPE_WORKERS       host threads that execute kernels; default: all cores\n"
		 "  WAVESCOPE_SIMD          plain, avx2 or avx512; default: the best that\n"
		 "                          the CPU supports. All give the same results\n"
		 "  WAVESCOPE_SAMPLE_WAVES  when counting, model about this number of waves\n"
		 "                          of a dispatch and scale; results are labelled\n"
		 "                          sampled. Default: all\n"
		 "  WAVESCOPE_SAMPLE_ONLY   1: execute only these waves; the program's\n"
		 "                          results are then wrong\n"
		 "  WAVESCOPE_GPU_TIME      host or simulated: times of kernels and copies;\n"
		 "                          counted kernels always have simulated times.\n"
		 "                          Default: host\n"
		 "  WAVESCOPE_MODEL         always: run the timing model also for a counted\n"
		 "                          dispatch that repeats an earlier one. full: so,\n"
		 "                          and simulate every shader engine, also where all\n"
		 "                          do the same. Slower\n"
		 "  WAVESCOPE_CODE_CACHE    off, or the folder for results of AMD's compiler\n"
		 "                          library. Default: ~/.cache/wavescope/code\n"
		 "  WAVESCOPE_WAIT          sleep or spin: HIP's threads that wait for kernels.\n"
		 "                          Default: sleep\n"
		 "  WAVESCOPE_LOG           error, warn, info, debug or trace\n"
		 "  NO_COLOR                no colours\n"
		 "\n"
		 "'wavescope COMMAND --help' describes a command.",
	.subs = subs,
};
