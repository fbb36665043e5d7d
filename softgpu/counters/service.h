/*
 * service: counting on the software GPU, for a profiler in the same process.
 *
 * The software GPU's library exports these functions under the version WAVESCOPE_1; a profiler opens the
 * one of SOFTGPU_LIBRARIES that is loaded and finds them with dlsym(). A GPU is named by its node number in
 * the topology.
 *
 *   available counters       softgpu_counters()
 *   select for all           softgpu_count()          within the limits of the hardware blocks
 *   select per dispatch      softgpu_count_sets()     filters, multiplexing, kernel replay
 *   results                  softgpu_result()         per dispatch, by queue and packet
 *   sums over time           softgpu_total_open()     of all dispatches of the GPU, read at any time
 *   PC samples               softgpu_pc_sampling(), softgpu_pc_samples()
 *
 * While counters or samples are selected, every dispatch of the GPU is counted, and the time stamps of
 * its signal are simulated: the end is the completion, the start is earlier by the simulated duration. While
 * counters are selected, the GPU runs one kernel at a time, counted or not: its queues take turns.
 *
 * Names: NAME (one value per instance of the block), NAME_sum (their sum), NAME[n] (that instance), and
 * for level counters NAME_ACCUM, or SQ_ACCUM_PREV_HIRES directly behind the level counter: the level
 * added up over all cycles.
 *
 * Selecting a counter with fidelity "unsupported" is an error.
 *
 * Threads  any. A result is available before the completion signal of its dispatch.
 * Errors   0, or an errno value; `error` receives a message, without a newline.
 */
#ifndef WS_SOFTGPU_COUNTERS_SERVICE_H
#define WS_SOFTGPU_COUNTERS_SERVICE_H

#include <stddef.h>
#include <stdint.h>

/* The kernel driver's interface first: AMD's own libhsakmt.so.1 may be loaded beside it. */
#define SOFTGPU_LIBRARIES                                                                          \
	{                                                                                          \
		"libwavescope-kfd.so", "libhsakmt.so.1"                                            \
	}

enum softgpu_fidelity {
	SOFTGPU_EXACT,       /* follows from the instruction stream */
	SOFTGPU_MODELLED,    /* follows from models of caches, addresses or time */
	SOFTGPU_UNSUPPORTED, /* no value; the text says why */
};

/* strings live as long as the library */
struct softgpu_counter {
	const char *name, *block, *text;
	enum softgpu_fidelity fidelity;
	uint32_t n_instances;
	const char *instance; /* what an instance is: device, shader engine, CU, L2 channel */
	uint32_t block_limit; /* counters of this block at once */
	int is_level;         /* has NAME_ACCUM */
};

/* Fills at most `room`; returns how many there are, 0 if there is no such GPU. */
size_t softgpu_counters(uint32_t node, struct softgpu_counter *out, size_t room);

/* From the next dispatch on. n 0: no counting. EINVAL: unknown name, E2BIG: too many of a block. */
int softgpu_count(uint32_t node, const char *const *names, size_t n, char *error,
		  size_t error_bytes);

/*
 * Several sets, one of which is chosen per dispatch. @choose is called on the thread of the queue's packet processor
 * before a dispatch starts, one call at a time per GPU; it returns the number of the set to count,
 * SOFTGPU_PLAIN (not counted, at plain speed) or SOFTGPU_REPLAY: the kernel runs once for every
 * set from the same memory and the same caches. Memory is restored between the runs, so that finally it
 * holds the result of one run, and the values are those of separate runs of the program.
 * @choose must not call into the runtime or this service; any other number is PLAIN. NULL counts set 0
 * always. n 0: no counting. When the call returns, no thread is or will be in the former @choose.
 *
 * Replay saves every byte before its first write, and restores exactly those bytes. A kernel that cannot
 * be repeated runs once, and that run counts all sets (n_runs 1): one that interrupts the host (printf,
 * device-side malloc); one whose second run does not end because the host answered only once (it is stopped
 * after 16 times the instructions of the first run, and memory gets the result of the first); one that writes
 * more than there is memory to save. PC samples are those of the first run.
 */
struct softgpu_set {
	const char *const *names;
	size_t n;
};

struct softgpu_dispatch {
	uint64_t queue, packet, kernel_object, completion_signal; /* as in the result */
	uint32_t grid[3], workgroup[3];                           /* in work-items */
};

#define SOFTGPU_PLAIN UINT32_MAX
#define SOFTGPU_REPLAY (UINT32_MAX - 1)

typedef uint32_t softgpu_choose(void *user, const struct softgpu_dispatch *dispatch);

int softgpu_count_sets(uint32_t node, const struct softgpu_set *sets, size_t n,
		       softgpu_choose *choose, void *user, char *error, size_t error_bytes);

struct softgpu_value {
	const char *name;  /* as requested; lives until the result is dropped */
	uint32_t n_values; /* 1, or the number of instances */
	const uint64_t *values;
	enum softgpu_fidelity fidelity;
};

struct softgpu_result {
	uint64_t sequence; /* from 1, over all dispatches counted on this GPU */
	uint64_t queue;    /* address of the queue's ring (hsa_queue_t.base_address) */
	uint64_t packet;   /* index of the packet in the queue */
	uint64_t kernel_object;
	uint64_t completion_signal; /* handle */
	uint64_t duration_ns;       /* simulated */
	uint64_t cycles;
	uint32_t clock_mhz;
	double sampled; /* fraction of the workgroups that was modelled: 1, or less */
	uint64_t n_pc_samples;
	uint32_t set;         /* the counted one, or SOFTGPU_REPLAY */
	uint32_t n_runs;      /* 1, or the number of sets when replayed; replay with 1: see above */
	uint64_t saved_bytes; /* written by the kernel, restored between runs */
	uint64_t replay_host_ns; /* host time of the runs after the first, with restoring memory */
	uint32_t n_values;
	/* in the order of the request, set by set */
	const struct softgpu_value *values;
};

/* ENOENT: no result yet, or dropped because there were too many. Valid until softgpu_drop(). */
int softgpu_result(uint32_t node, uint64_t queue, uint64_t packet, struct softgpu_result *out);
/* The oldest result with a greater sequence number. */
int softgpu_next_result(uint32_t node, uint64_t after, struct softgpu_result *out);
/* Drops all results up to this sequence number. */
void softgpu_drop(uint32_t node, uint64_t sequence);

/*
 * The GPU as a whole: sums over all dispatches that began since then and have ended, of all queues. Apart from
 * what is selected above. Packets that program the counters use the same sums, so it is one or the other. Kernels do not
 * take turns for it. A second open begins again.
 */
int softgpu_total_open(uint32_t node, const char *const *names, size_t n, char *error,
		       size_t error_bytes);
/* Only the values of *out are filled; they are valid until the next call for this GPU. ENOENT: not open. */
int softgpu_total_read(uint32_t node, struct softgpu_result *out);
void softgpu_total_close(uint32_t node);

/*
 * The last four fields are the contents of hardware's registers: HW_ID and XCC_ID, where the wave is; and
 * SQ_PERF_SNAPSHOT_DATA and DATA1 of gfx942: whether it issued an instruction and of which type, or why not, what
 * the arbiter did, and how many waves the CU has.
 */
struct softgpu_pc_sample {
	uint64_t cycle;     /* since the start of the dispatch */
	uint64_t workgroup; /* index in the grid, x fastest */
	uint64_t pc;        /* GPU address; the reader finds the code object */
	uint64_t exec;
	uint32_t wave; /* in the workgroup */
	uint32_t hw_id, xcc_id, snapshot, snapshot1;
};

/* One wave of every CU each `cycles` cycles; 0: no samples. */
int softgpu_pc_sampling(uint32_t node, uint64_t cycles);
/* Copies at most `room` samples of a result from the `first` on; returns how many. */
size_t softgpu_pc_samples(uint32_t node, uint64_t sequence, uint64_t first,
			  struct softgpu_pc_sample *out, size_t room);

#endif
