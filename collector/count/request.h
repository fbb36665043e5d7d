/*
 * request: the launcher's request to the collector: which counters of which dispatches.
 *
 * A text file in the folder of the captures, COL_COUNT_REQUEST_NAME; lines are
 * a key, a blank and a value:
 *
 *	wavescope-counting 1
 *	mode replay                  or: set (the first one, always), rotate, over-time
 *	interval 2                   rotate: dispatches per set; over-time: microseconds
 *	per launch                   rotate: sets follow each other per launch of a kernel with
 *	                             the same sizes; or: kernel, gpu (all dispatches of a GPU)
 *	names demangled              what the patterns are about: or mangled, truncated
 *	include ^gemm                regular expressions as in base/pattern.h
 *	exclude _init
 *	range 1 3                    launches of a kernel, from 1; may come again
 *	number 1 3                   dispatches of the process, from 1; may come again
 *	gpu 0                        the next lines are for GPU 0; gpu * is for all others
 *	set SQ_WAVES SQ_INSTS_VALU   may come again: set 0, set 1, ...
 *	event SQ_WAVES SQ 4 1 8 1    a hardware counter of the sets: block, number of its event, and how
 *	                             many dies, shader engines of each and instances of each there are
 *
 * It is a file and not part of the environment because the counters of an architecture,
 * in passes, are longer than some kernels allow a variable to be.
 *
 * Memory   parse: works inside @text, which it changes and points into. No malloc.
 * Failure  parse: false, out_request->wrong says why.  print: false: buffer too small.
 */
#ifndef WS_COLLECTOR_COUNT_REQUEST_H
#define WS_COLLECTOR_COUNT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COL_COUNT_REQUEST_NAME "counting"
/*
 * Beside it, from the collector: kernels that could not be repeated and have values of the first set only. A line
 * for each: name, tab, reason.
 */
#define COL_COUNT_ONCE_NAME "counted-once"
#define COL_COUNT_GPUS_MAX 64u
#define COL_COUNT_SETS_MAX 4096u   /* of all GPUs together */
#define COL_COUNT_NAMES_MAX 65536u /* of all sets together */
#define COL_COUNT_RANGES_MAX 1024u
#define COL_COUNT_EVENTS_MAX 16384u /* of all GPUs together */
#define COL_COUNT_TEXT_MAX (4u << 20)
#define COL_COUNT_EVERY_GPU UINT32_MAX
#define COL_COUNT_WITNESS "GRBM_COUNT" /* 0 after a kernel: nothing was counted at all */
#define COL_COUNT_ACCUMULATE "SQ_ACCUM_PREV_HIRES" /* adds up the event selected before it */

enum col_count_mode {
	COL_COUNT_SET,       /* the first set, of every dispatch */
	COL_COUNT_ROTATE,    /* one set after the other, `interval` dispatches each, per GPU */
	COL_COUNT_REPLAY,    /* all sets of every dispatch: the GPU repeats it */
	COL_COUNT_OVER_TIME, /* the first set, of the whole GPU, every `interval` microseconds */
};

enum col_count_per { COL_COUNT_PER_GPU, COL_COUNT_PER_KERNEL, COL_COUNT_PER_LAUNCH };
enum col_count_names { COL_COUNT_DEMANGLED, COL_COUNT_MANGLED, COL_COUNT_TRUNCATED };

struct col_count_set {
	const char *const *names; /* as softgpu/counters/service.h spells them */
	size_t n;
};

/* How hardware names a counter. NAME_sum, NAME[n] and NAME_ACCUM of the sets are of the event NAME. */
struct col_count_event {
	const char *name, *block;
	uint32_t number;
	uint32_t n_dies, n_engines, n_instances; /* values: their product, the last fastest */
};

struct col_count_gpu {
	uint32_t gpu; /* in the order of the driver's topology, from 0, also those that a program
			 cannot see (ROCR_VISIBLE_DEVICES); or COL_COUNT_EVERY_GPU */
	const struct col_count_set *sets;
	size_t n_sets;
	const struct col_count_event *events; /* where counters are programmed by their numbers */
	size_t n_events;
};

struct col_count_range {
	uint64_t first, last; /* inclusive */
};

struct col_count_request {
	enum col_count_mode mode;
	uint64_t interval; /* 0 is 1 */
	enum col_count_per per;
	enum col_count_names names;
	const char *include, *exclude; /* NULL: all, none */
	const struct col_count_range *ranges;
	size_t n_ranges; /* 0: every launch */
	const struct col_count_range *numbers;
	size_t n_numbers; /* 0: every dispatch */
	const struct col_count_gpu *gpus;
	size_t n_gpus;
	const char *wrong; /* after parse: NULL, or a constant text */
};

/* Where the lists of a parsed request are; the caller's storage, some hundred kilobytes. */
struct col_count_room {
	struct col_count_gpu gpus[COL_COUNT_GPUS_MAX];
	struct col_count_set sets[COL_COUNT_SETS_MAX];
	const char *names[COL_COUNT_NAMES_MAX];
	struct col_count_range ranges[COL_COUNT_RANGES_MAX], numbers[COL_COUNT_RANGES_MAX];
	struct col_count_event events[COL_COUNT_EVENTS_MAX];
};

bool col_count_request_parse(char *text, struct col_count_room *room,
			     struct col_count_request *out_request);
/* Returns the length of the text, 0 when it does not fit. Values hold no line ends. */
size_t col_count_request_print(const struct col_count_request *request, char *to, size_t room);

#endif
