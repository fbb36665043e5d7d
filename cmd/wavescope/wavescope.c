#include "cmd/wavescope/wavescope.h"

#include "cmd/cmd.h"

static const struct ws_cmd *const subs[] = {
	&wavescope_run_cmd,      &wavescope_info_cmd,   &wavescope_doctor_cmd,
	&wavescope_fidelity_cmd, &wavescope_agents_cmd, NULL,
};

const struct ws_cmd cmd_wavescope = {
	.name = "wavescope",
	.summary = "run HIP programs on a software GPU, and look at this machine",
	.usage = "COMMAND [options]",
	.about = "Runs HIP programs on a software AMD Instinct GPU, under AMD's own unmodified "
		 "runtime, on a machine that has no GPU; and tells what this machine can do.",
	.notes = "Environment:\n"
		 "  WAVESCOPE_GPU           software GPUs when --gpu is not given: mi210,mi100\n"
		 "  WAVESCOPE_WORKERS       host threads that execute kernels; default: all cores\n"
		 "  WAVESCOPE_SIMD          plain, avx2 or avx512; default: the best this\n"
		 "                          processor has. All compute the same bits\n"
		 "  WAVESCOPE_SAMPLE_WAVES  when counting, model about so many waves of a\n"
		 "                          dispatch and scale; results are labelled sampled.\n"
		 "                          Default: all\n"
		 "  WAVESCOPE_SAMPLE_ONLY   1: and execute no more than these; the program's own\n"
		 "                          results are not right then\n"
		 "  WAVESCOPE_GPU_TIME      host or simulated: times of kernels and copies;\n"
		 "                          counted kernels always have the latter. Default: host\n"
		 "  WAVESCOPE_MODEL         always: model also a counted dispatch that is like an\n"
		 "                          earlier one and has the same counters. Slower\n"
		 "  WAVESCOPE_LOG           error, warn, info, debug or trace\n"
		 "  NO_COLOR                no colours\n"
		 "\n"
		 "'wavescope COMMAND --help' tells more about a command.",
	.subs = subs,
};
