/*
 * folded: sampled call stacks as text, one line per distinct stack and how often it was met.
 *
 *	main;train;Model.forward;at::native::conv2d 37
 *
 * This is what flame graph tools read. Stacks that differ only in addresses are one
 * line. Lines are sorted, so that two recordings can be compared with diff.
 */
#ifndef WS_PROFILE_FOLDED_H
#define WS_PROFILE_FOLDED_H

#include "profile/frames.h"

#include <stdio.h>

struct prof_folded_opts {
	bool threads;             /* the first frame is the thread: "worker (1234)" */
	enum cap_sampler sampler; /* whose samples */
};

/* The samples of one process. A period in which the signal was still pending counts, too. */
enum ws_status prof_folded_write(const struct trc_trace *trace, const struct trc_process *process,
				 struct prof_frames *frames, const struct prof_folded_opts *opts,
				 FILE *to, struct ws_err *err);

#endif
