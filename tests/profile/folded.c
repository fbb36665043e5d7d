/*
 * Prints the sampled call stacks of captures as folded stacks, for tests and for looking at what
 * the sampler recorded:
 *
 *	folded [-t] [-i] [-p] [-s SAMPLER] CAPTURE...
 *
 *	-t  threads are the first frames     -i  with inlined functions
 *	-p  with wavescope's own frames      -s  0: CPU time (the default), 1: real time, 2: overflow
 */
#include "profile/folded.h"

#include "base/log.h"

#include <stdlib.h>
#include <unistd.h>

static enum ws_status print_process(const struct trc_trace *trace,
				    const struct trc_process *process,
				    const struct prof_frames_opts *frame_opts,
				    const struct prof_folded_opts *opts, struct ws_err *err)
{
	struct prof_frames *frames;
	enum ws_status st = prof_frames_open(process, frame_opts, &frames, err);

	if (st)
		return st;
	st = prof_folded_write(trace, process, frames, opts, stdout, err);
	prof_frames_close(frames);
	return st;
}

int main(int argc, char **argv)
{
	struct prof_frames_opts frame_opts = { .drop_internal = true };
	struct prof_folded_opts opts = { .sampler = CAP_SAMPLER_CPU_TIME };
	struct trc_trace *trace;
	struct ws_err err = { 0 };
	enum ws_status st;
	int option;

	ws_log_init("folded");
	while ((option = getopt(argc, argv, "tips:")) != -1) {
		opts.threads |= option == 't';
		frame_opts.inlines |= option == 'i';
		frame_opts.drop_internal &= option != 'p';
		if (option == 's')
			opts.sampler = (enum cap_sampler)atoi(optarg);
		if (option == '?')
			return 2;
	}
	st = trc_open((const char *const *)argv + optind, (size_t)(argc - optind), NULL, &trace,
		      &err);
	for (size_t i = 0; !st && i < trc_n_processes(trace); i++)
		st = print_process(trace, trc_process_at(trace, i), &frame_opts, &opts, &err);
	if (st) {
		ws_log_error("%s", err.text);
		return 1;
	}
	trc_close(trace);
	return 0;
}
