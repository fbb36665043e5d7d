/*
 * sample_priv: declarations shared by the files of the sampler.
 *
 *	provider.c  start, stop, fork; what the capture is told
 *	threads.c   the threads that are sampled, and their numbers
 *	timers.c    what makes a thread take a sample
 *	events.c    CPU events that are counted meanwhile
 *	handler.c   takes one
 *	unwind.c    the stack of an interrupted thread; cfi.c, expression.c: by which rules
 *	modules.c   executables and libraries
 *	stacks.c    distinct stacks and their ids
 *	memory.c    reading memory that may not be there
 *	python*.c   the frames of Python code
 */
#ifndef WS_COLLECTOR_SAMPLE_PRIV_H
#define WS_COLLECTOR_SAMPLE_PRIV_H

#include "collector/collector_priv.h"
#include "collector/sample/cfi.h"
#include "collector/sample/sample.h"

#define COL_SAMPLE_DEPTH 256u      /* frames of a stack, unless configured */
#define COL_SAMPLE_DEPTH_MAX 1024u /* Python frames are recorded besides */
#define COL_SAMPLE_THREADS_MAX 65536u
#define COL_SAMPLE_WINDOW 1024u

/* Memory of one thread's handler: its stack may be small. */
struct col_sample_work {
	uint64_t frames[2 * COL_SAMPLE_DEPTH_MAX]; /* native, then Python */
	struct col_cfi_work cfi;
	struct col_cfi_regs regs;
	uintptr_t stack_low, stack_high; /* may be read directly */
	uintptr_t window_at;             /* address of what `window` holds; 0: nothing */
	uint32_t n_window;
	uint8_t window[COL_SAMPLE_WINDOW];
	uint8_t text[4096];
	struct col_python_work *python; /* NULL until there is an interpreter */
};

/* A CPU event of a thread. */
struct col_event_fd {
	uint64_t id; /* the kernel's: its descriptor may be another file's by now */
	int fd;
};

/* A thread that is sampled. */
struct col_sampled {
	uint32_t tid;    /* release; 0: it has not begun, or has ended */
	uint32_t number; /* in the order of creation; main is 0. COL_SAMPLE_OURS: of the profiler */
	struct col_thread *thread; /* NULL: found by searching, so nothing is known of its TLS */
	struct cap_lane *lane;     /* of its own, where `thread` is NULL */
	uint32_t *interrupted;     /* its col_sample_interrupted; NULL: it has none */
	uint64_t first_blocked;    /* its col_sample_blocked at first */
	struct col_sample_work *work;
	uintptr_t stack_low, stack_high; /* equal: not known */
	uint64_t stack_bytes;            /* as requested at creation */
	int timers[CAP_SAMPLER_COUNT];   /* kernel's ids, or a file descriptor; -1: none */
	uint32_t n_events;               /* release; 0: nothing is counted */
	struct col_event_fd events[COL_CPU_EVENTS_MAX]; /* the first leads the group */
	void *(*main)(void *);
	void *arg;
	uint32_t next_free;     /* index + 1 */
	uint32_t seen;          /* in which search */
	uintptr_t python_state; /* its PyThreadState, when it was looked up last */
};
#define COL_SAMPLE_OURS UINT32_MAX

/* ---- provider.c ---- */

/* Are samples taken at all? No: before start, after stop, and when none are requested. */
bool col_sample_active(void);

/* ---- threads.c ---- */

bool col_sampled_start(void); /* memory; from now on threads are counted */
/* The calling thread is number 0, and is sampled. @ours: it is of the profiler. */
void col_sampled_first(bool ours);
void col_sampled_forked(void); /* only the calling thread exists, and has not begun */
void col_sampled_stop(void);   /* no timer runs afterwards */
void col_sampled_rest(void);   /* the calling thread takes no more samples */
struct col_sampled *col_sampled_at(const void *address); /* NULL: that is none of ours */
struct col_sampled *col_sampled_of(uint32_t index);
uint32_t col_sampled_index(const struct col_sampled *thread);
/* First NULL, then each thread that has begun and has not ended, under the lock of all. */
void col_sampled_each(void (*use)(struct col_sampled *thread, void *arg), void *arg);
/* What a helper does every now and then: threads that appeared or ended unseen. */
void col_sampled_search(void);

/* ---- timers.c ---- */

/* Signals and notes; before any thread. False: no sampler is requested. */
bool col_timers_start(void);
uint64_t col_timers_period(enum cap_sampler sampler); /* as it is used; 0: not requested */
void col_timers_forked(void);
void col_timers_release(void);                      /* signals are the program's again */
void col_timers_add(struct col_sampled *thread);    /* and start those that are due */
void col_timers_remove(struct col_sampled *thread); /* of an ending thread */
/* Begin and end samplers whose time has come; returns when the next is due (CLOCK_BOOTTIME). */
uint64_t col_timers_due(uint64_t now_ns);
/* False: a signal is not from a timer of ours. out_thread: whose; NULL: it came too late. */
bool col_timers_of(int number, const siginfo_t *info, struct col_sampled **out_thread,
		   enum cap_sampler *out_sampler);
/* Signals that only samplers use, and not the program (share). Bit n - 1: signal n. */
uint64_t col_timers_signals(void);
void col_timers_share(uint64_t signals);

/* ---- events.c ---- */

struct perf_event_attr;

/* Decide which of the requested events are counted. Returns their names, separated by ','. */
const char *col_events_choose(void);
void col_events_note(void);                      /* which are not, and why */
void col_events_add(struct col_sampled *thread); /* they do not count yet */
void col_events_run(struct col_sampled *thread); /* from now on */
void col_events_remove(struct col_sampled *thread);
/* In handlers: the counts of the calling thread, COL_CPU_EVENTS_MAX at most; returns how many. */
uint32_t col_events_read(const struct col_sampled *thread, uint64_t *counts);

/* A perf event of a thread, as a descriptor from col_perf_floor() on; -1: none, see errno. */
int col_perf_open(struct perf_event_attr *attr, uint32_t tid, int group);
int col_perf_floor(void);

/* ---- handler.c ---- */

void col_sample_on_signal(int number, siginfo_t *info, void *context);

/* ---- unwind.c ---- */

/*
 * The stack of the code that @context interrupted, into work->frames, at most @depth frames.
 * Returns their number; out_flags: CAP_STACK_*.
 */
uint32_t col_unwind(struct col_sampled *thread, const void *context, uint32_t depth,
		    struct cap_lane *lane, uint32_t *out_flags);
bool col_unwind_start(void); /* memory of the cache; false: there is none */

/* ---- modules.c ---- */

struct col_module {
	uintptr_t start, end; /* of its mapping */
	uintptr_t header;     /* .eh_frame_hdr; 0: none */
	struct col_cfi_ranges ranges;
	uint32_t code; /* bit per range: it can be executed */
};

bool col_modules_start(void *find); /* _dl_find_object(); NULL: there is none */
void col_modules_forked(void);      /* everything is to be written again, to another capture */
/* The module at @pc, its record written to @lane first; false: there is none. */
bool col_module_find(struct col_sample_work *work, uintptr_t pc, struct cap_lane *lane,
		     struct col_module *out);
/* Whether the code at @pc is of the profiler: its library is in the folder of ours. */
bool col_module_is_ours(uintptr_t pc);
uint32_t col_modules_generation(void);
/* CFI of modules may be read now; end with col_modules_leave(). False: a module may be going. */
bool col_modules_enter(void);
void col_modules_leave(void);
/* Has something been loaded since the last call? Not from handlers. */
bool col_modules_check(void);
/* For C libraries without _dl_find_object(): take note of what is loaded. */
void col_modules_scan(void);

/* ---- stacks.c ---- */

bool col_stacks_start(void);
void col_stacks_forked(void);
/* The id of a stack, its record written to @lane first; 0: it could not be. */
uint32_t col_stack_id(struct cap_lane *lane, const uint64_t *frames, uint32_t n_frames,
		      uint32_t n_native, uint32_t flags, uint32_t generation);

/* A table of 64-bit hashes and ids that any number of handlers may add to. */
struct col_id_entry {
	uint64_t hash; /* 0: free */
	uint64_t id;   /* 0: not written yet */
};
/* The entry of @hash, taken if need be; NULL: the table is full. @n_entries: a power of 2. */
struct col_id_entry *col_id_entry(struct col_id_entry *table, uint32_t n_entries, uint64_t hash);
uint64_t col_id_hash(uint64_t hash, uint64_t word);

/* ---- memory.c ---- */

/* @n_bytes at @at, at most COL_SAMPLE_WINDOW; false: they cannot be read. */
bool col_sample_read(struct col_sample_work *work, uintptr_t at, void *to, uint32_t n_bytes);
bool col_sample_may_read(void); /* else only the thread's own stack can be read */
/* The same where what is before it is read next. */
bool col_sample_read_down(struct col_sample_work *work, uintptr_t at, void *to, uint32_t n_bytes);
/* @n_bytes at each of @n addresses, one after the other into @to; returns at how many. */
uint32_t col_sample_read_all(const uint64_t *at, uint32_t n, void *to, uint32_t n_bytes);
#define COL_SAMPLE_READS 32u /* the highest @n */

/* ---- python.c ---- */

void col_python_search(void); /* is there an interpreter by now? Not from handlers */
void col_python_forked(void);
void col_python_prepare(struct col_sampled *thread); /* its memory; not from handlers */
/* The thread's Python frames behind its native ones; returns how many there are. */
uint32_t col_python_frames(struct col_sampled *thread, uint32_t n_native, uint32_t depth,
			   struct cap_lane *lane, uint32_t *flags);

#endif
