/*
 * stamps: what front ends read of each other's clocks while a job ran (launch/clock_stamps.h).
 *
 * Files are foreign bytes: lines that are none, and clocks that are not of the job, are skipped.
 */
#ifndef WS_RANKS_STAMPS_H
#define WS_RANKS_STAMPS_H

#include "base/vec.h"
#include "ranks/ranks.h"

/* On node @reader, at @read_ns, a stamp was there that node @writer had made at @written_ns. */
struct rnk_stamp {
	size_t reader, writer;
	uint64_t read_ns, written_ns;
};
WS_VEC_TYPE(rnk_stamp_list, struct rnk_stamp);

/* Of all files; a file that cannot be read is a note. The list is the caller's. */
enum ws_status rnk_stamps_read(struct rnk_job *job, const struct ws_strv *files,
			       struct rnk_stamp_list *out_stamps, struct ws_err *err);

#endif
