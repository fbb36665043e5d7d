/*
 * source: who counts, as one interface with two implementations.
 *
 *	source_service.c   the software GPU's service, in this process: it asks which counters to collect
 *	                   before a dispatch starts, and keeps the results
 *	source_packets.c   AMD's aqlprofile: packets before and behind a dispatch program the counters and
 *	                   read them, one dispatch at a time. hsa/turns.c puts them into the queue
 *
 *	source_compare.c   both at once, for tests
 *	source_samples.c   nothing: PC sampling alone, by the runtime (hsa/pcs.h)
 *
 * The first is used where the software GPU is, unless WAVESCOPE_COUNTERS=aqlprofile; on hardware the second, or for PC
 * samples the last.
 * Results have the form of softgpu/counters/service.h.
 *
 * Threads  find, start, stop: one at a time.  take: under a lock of count.c's.
 */
#ifndef WS_COLLECTOR_COUNT_SOURCE_H
#define WS_COLLECTOR_COUNT_SOURCE_H

#include "collector/count/count.h"
#include "collector/count/request.h"
#include "softgpu/counters/service.h"

/* A GPU that is counted on; lives as long as its plan. */
struct col_count_target {
	uint32_t gpu; /* from 0, of ours */
	uint32_t node;
	uint32_t agent; /* our id of it; 0: no counting */
	uint32_t epoch; /* of its plan */
	const struct col_count_gpu *asked;
};

enum col_count_reading {
	COL_COUNT_READ,
	COL_COUNT_UNREAD, /* no values this time */
	COL_COUNT_STUCK,  /* nor later */
};

struct col_count_source {
	bool by_packets;
	bool by_runtime; /* PC samples come from the runtime, not with results */
	/* False: not in this process; @out_why is a sentence. */
	bool (*find)(const char **out_why);
	/* At most @room counters; returns how many there are. */
	size_t (*counters)(const struct col_count_target *target, struct softgpu_counter *out,
			   size_t room);
	/* Dispatches from now on. False: @error says why. */
	bool (*start)(const struct col_count_target *target, char *error, size_t n_error);
	void (*stop)(const struct col_count_target *target);
	/* The values of a dispatch that has ended, until the next call. False: there are none. */
	bool (*take)(const struct col_count_target *target, const struct col_count_ticket *ticket,
		     struct softgpu_result *out_result);
	/*
	 * Packets only. A pass of a dispatch with several sets has ended: reads the values of ticket->set. Around all
	 * passes: forget what was read before (NULL), and how it went. take() then has what was read.
	 */
	void (*pass)(const struct col_count_target *target, const struct col_count_ticket *ticket);
	void (*replay)(const struct col_count_target *target, const struct col_count_replay *how);
	/* They were written; the source may forget them. NULL: it need not. */
	void (*taken)(const struct col_count_target *target, const struct softgpu_result *result);
	void (*report)(void); /* the process ends: what it has to say; NULL: nothing */
	/*
	 * The whole GPU over time, instead of all that is above: begin counting set 0; what a reading looks like;
	 * the sums since then, until the next call; the end. open NULL: this source cannot.
	 */
	bool (*open)(const struct col_count_target *target, char *error, size_t n_error);
	bool (*shape)(const struct col_count_target *target, struct softgpu_result *out_result);
	enum col_count_reading (*read)(const struct col_count_target *target,
				       struct softgpu_result *out_result);
	void (*close)(const struct col_count_target *target);
};

extern const struct col_count_source col_count_service, col_count_packets, col_count_compare,
	col_count_samples;
/* WAVESCOPE_COUNTERS; the launcher has checked it. NULL: it is not set. */
const struct col_count_source *col_count_wanted_source(void);

/* The packets around a dispatch of a set; NULL: this source has none. Any thread, no lock. */
struct col_aql_program;
struct col_aql_program *col_count_program(uint32_t gpu, uint32_t set);

#endif
