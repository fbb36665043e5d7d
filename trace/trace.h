/*
 * trace: the model of one or more captures, for front ends.
 *
 * Facts (processes, threads, agents, queues, kernels, names) are held in memory and
 * joined; events are streamed, so that memory depends on the program and not on how
 * long it ran. Times are CLOCK_BOOTTIME nanoseconds; where captures of several machines
 * are opened together, of the machine that began first.
 *
 *	trc_open(paths, n_paths, &opts, &trace, err);
 *	trc_events_open(trace, &(struct trc_event_query){ .domains = TRC_DOMAIN_BIT(HIP_API) },
 *		       &events, err);
 *	while ((ev = trc_events_next(events)))
 *		write_row(ev);
 *	st = trc_events_close(events, err);
 *
 * What an event refers to is never NULL where a comment does not say so: an id that
 * no record defines leads to the placeholder with id 0, and is counted.
 *
 * Threads  after open the trace is constant; each thread may stream with its own
 *          struct trc_events.
 * Memory   everything but events lives as long as the trace.
 */
#ifndef WS_TRACE_TRACE_H
#define WS_TRACE_TRACE_H

#include "base/error.h"
#include "capture/reader.h"
#include "capture/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- facts ---- */

struct trc_process;

struct trc_thread {
	uint32_t tid;
	uint32_t index;                    /* 0: main; then 1.. in ascending order of tid */
	const char *name;                  /* "" unknown */
	uint64_t start_ns, end_ns;         /* first seen, ended; 0 unknown */
	const struct cap_rec_usage *usage; /* at its end; NULL: not recorded */
	const struct trc_process *process;
};

struct trc_agent {
	const struct cap_rec_agent *info; /* numbers as recorded; id is info->h.what */
	const char *name, *vendor_name, *product_name, *model_name;
	const char *given_name; /* by the program; "": none */
	const struct cap_rec_agent_bank **banks;
	const struct cap_rec_agent_cache **caches;
	const struct cap_rec_agent_link **links;
	size_t n_banks, n_caches, n_links;
};

struct trc_queue {
	uint32_t id;
	uint32_t index_on_agent; /* 0.. in order of creation */
	const struct trc_agent *agent;
	const struct cap_rec_queue *info; /* NULL: placeholder */
};

struct trc_stream {
	uint32_t id;
	const char *name;
	const struct cap_rec_stream *info; /* NULL: default stream or placeholder */
};

struct trc_code_object {
	uint32_t id;
	const char *uri;
	const struct trc_agent *agent;
	uint64_t load_ns, unload_ns;            /* 0: never seen */
	uint32_t image;                         /* id of the one whose bytes are kept for it */
	const struct cap_rec_code_object *info; /* NULL: placeholder */
};

/* All forms of a kernel's name; `formatted` is what the user's options choose. */
struct trc_kernel {
	uint32_t id;
	const char *symbol;    /* "_Z3addPfi.kd" */
	const char *mangled;   /* "_Z3addPfi" */
	const char *demangled; /* "add(float*, int)" */
	const char *truncated; /* "add" */
	const char *formatted;
	const struct trc_code_object *code_object;
	const struct cap_rec_kernel *info; /* NULL: placeholder */
};

struct trc_host_function {
	uint32_t id;
	const char *name, *demangled, *truncated, *formatted;
	const struct trc_kernel *kernel;
	const struct cap_rec_host_function *info;
};

struct trc_counter {
	uint32_t id;
	const char *name, *description, *block, *expression;
	const char *fidelity; /* how good its values are, in words; "" unknown */
	const struct trc_agent *agent;
	const struct cap_rec_counter *info;
	const struct cap_counter_dim *dims; /* info->n_dims of them */
};

struct trc_operation {
	uint32_t op;
	enum cap_kind kind;
	enum cap_domain domain;
	uint32_t id; /* AMD's number within the kind */
	const char *name;
	uint32_t n_args;
	const struct cap_op_arg *args;
	uint32_t ret_kind;
};

/* What made threads take samples of their call stacks. */
struct trc_sampler {
	bool used;
	uint64_t period;         /* nanoseconds; OVERFLOW: events */
	const char *event;       /* OVERFLOW: what was counted; "" */
	const char *count_names; /* of the CPU events of each sample, separated by ','; "": none */
};

/* A quantity that was read repeatedly. */
struct trc_metric {
	uint32_t id;
	enum cap_metric_category category;
	const char *name, *unit; /* "CPU Frequency [0] (S)", "MHz" */
	const char *counter;     /* DEVICE_COUNTER: its name alone; else "" */
	int32_t device;          /* -1: of the process */
	uint32_t instance;       /* DEVICE_COUNTER, as recorded: of its block */
	bool simulated;
};

/* Something that begins and ends on a thread. */
struct trc_region {
	uint32_t id;
	enum cap_region_category category;
	const char *name; /* "": the function at `address` */
	const char *file; /* "" unknown */
	uint32_t line;
	uint64_t address; /* 0: no function */
};

struct trc_ledger_sum {
	bool asked;
	uint64_t written, dropped, paused, failed; /* seen = written + dropped + failed */
	uint64_t left_out;                         /* not recorded on purpose; not in `seen` */
	uint64_t record_bytes;                     /* what the written ones take in the capture */
	uint64_t first_ns, last_ns; /* earliest start, latest end; 0 without events */
};

/* Lists are indexed by id, with the placeholder at 0 and in holes, where `by id` is said. */
#define TRC_LIST(T)                                                                                \
	struct {                                                                                   \
		T *at;                                                                             \
		size_t n;                                                                          \
	}

/*
 * Where a machine's clock is on the clock of the trace: what its clock calls t is
 * t + shift_ns + drift * (t - at_ns).
 */
struct trc_clock_line {
	int64_t shift_ns;
	uint64_t at_ns;
	double drift; /* 1e-6: 1 ppm slower than the clock of the trace */
};

struct trc_process {
	uint32_t index;                           /* in the trace, 0.. in order of start */
	uint32_t pid, ppid, main_tid, uid, flags; /* CAP_PROCESS_* */
	uint64_t init_ns, fini_ns;   /* collector's start; END, or the last event when killed */
	struct trc_clock_line clock; /* of its own times: captures of other machines */
	int64_t realtime_offset_ns;  /* CLOCK_REALTIME - CLOCK_BOOTTIME at start */
	bool ended;                  /* false: killed, or still running */
	uint8_t boot_id[16];         /* of the machine that it ran on */
	enum cap_end_cause end_cause;
	bool hip_used;     /* CAP_RUNTIME_HIP was seen */
	uint32_t runtimes; /* bit per enum cap_runtime */
	const char *const *argv, *const *env, *const *config, *const *notes; /* each NULL-ended */
	size_t n_argv, n_env, n_config, n_notes;
	const char *facts[CAP_FACT_COUNT]; /* single ones; "" unknown */
	const struct cap_rec_usage *usage; /* at its end; NULL: not recorded */
	const struct trc_thread *main_thread;
	TRC_LIST(struct trc_thread) threads; /* ascending tid */
	TRC_LIST(struct trc_agent *) agents; /* in order of node id; no placeholder */
	TRC_LIST(struct trc_queue) queues;   /* by id, as all that follow */
	TRC_LIST(struct trc_stream) streams;
	TRC_LIST(struct trc_code_object) code_objects;
	TRC_LIST(struct trc_kernel) kernels;
	TRC_LIST(struct trc_host_function) host_functions;
	TRC_LIST(struct trc_counter) counters;
	TRC_LIST(struct trc_operation) operations;
	TRC_LIST(struct trc_metric) metrics;
	TRC_LIST(struct trc_region) regions;
	struct trc_sampler samplers[CAP_SAMPLER_COUNT];
	struct trc_ledger_sum ledger[CAP_DOMAIN_COUNT];
	struct cap_damage damage;
	uint64_t
		n_unended; /* kernels that were submitted and are in no account: not ended, or too late */
	uint64_t n_dangling; /* references to facts that are not there */
	const char *path;    /* of the capture */
};

struct trc_opts {
	bool mangled_names;           /* formatted = symbol */
	bool truncated_names;         /* formatted = truncated; wins over mangled */
	size_t max_bytes;             /* ceiling for facts; 0: 256 MiB per capture */
	const struct trc_mark *since; /* only events that were recorded after it; NULL: all */
};

/*
 * How far the captures of a trace were read, for a later trace that goes on from there while
 * programs run. Facts are read again, they are few; events and their ledger are those after the mark.
 */
struct trc_mark;

struct trc_trace;

/* Captures that cannot be read at all fail the open; damaged ones do not. */
enum ws_status trc_open(const char *const *paths, size_t n_paths, const struct trc_opts *opts,
			struct trc_trace **out_trace, struct ws_err *err);
void trc_close(struct trc_trace *trace);

enum ws_status trc_mark_take(const struct trc_trace *trace, struct trc_mark **out_mark,
			     struct ws_err *err);
void trc_mark_free(struct trc_mark *mark); /* NULL is fine */
/* From now on, all events of the trace are read, also those before the mark. The ledger stays. */
void trc_unmark(struct trc_trace *trace);

/*
 * Place the clock of a process, where more is known than trc_open() does: it joins machines by
 * their CLOCK_REALTIME. All of its times change. Before any events are opened.
 */
void trc_set_clock(struct trc_trace *trace, size_t process, const struct trc_clock_line *clock);

size_t trc_n_processes(const struct trc_trace *trace);
const struct trc_process *trc_process_at(const struct trc_trace *trace, size_t i);

/* "" for 0 and unknown ids. */
const char *trc_process_string(const struct trc_process *process, uint32_t str);
const struct trc_thread *trc_process_thread(const struct trc_process *process, uint32_t tid);
const struct trc_agent *trc_process_agent(const struct trc_process *process, uint32_t id);

/* The source of the times of a process's kernels and copies. */
enum trc_gpu_times {
	TRC_GPU_TIMES_HARDWARE,
	TRC_GPU_TIMES_HOST,    /* software GPU: how long the host took to execute them */
	TRC_GPU_TIMES_COUNTED, /* software GPU: simulated for what was counted or sampled, else host */
	TRC_GPU_TIMES_SIMULATED, /* software GPU: from its timing model */
};
enum trc_gpu_times trc_process_gpu_times(const struct trc_process *process);
const char *trc_process_program(const struct trc_process *process); /* "app" of "./bin/app" */
const char *trc_gpu_times_word(enum trc_gpu_times times);           /* for files: "simulated" */

/* How the agents of a process are numbered in files: among all, among those in use, per type. */
enum trc_agent_index {
	TRC_AGENT_INDEX_RELATIVE, /* AMD's default */
	TRC_AGENT_INDEX_ABSOLUTE,
	TRC_AGENT_INDEX_TYPE
};
extern const char *const trc_agent_index_words[]; /* by enum; NULL at the end */

/* What an external id stands for, or NULL. Messages are walked in order of first use. */
const char *trc_process_external(const struct trc_process *process, uint64_t external_id);
size_t trc_process_n_externals(const struct trc_process *process);
const char *trc_process_external_at(const struct trc_process *process, size_t i, uint64_t *out_id);

/* The name of an enumerator of an argument's type, or NULL. */
const char *trc_process_enum_name(const struct trc_process *process, uint32_t type_str,
				  int64_t value);

/* An image that was kept with the capture, or NULL; free() it. */
void *trc_process_code_bytes(const struct trc_process *process, uint32_t code_object,
			     uint64_t *out_bytes);

/*
 * Other counters than those that were recorded: derived ones, those of several runs. From
 * then on they are the process's counters, and its dispatches have the values given here.
 * Before any events are opened.
 */
struct trc_recount {
	const struct trc_counter *counters; /* by id, the placeholder at 0 */
	size_t n_counters;
	/*
	 * The values of a dispatch, at most @room to @to; returns how many there are. Several
	 * threads may ask at once.
	 */
	size_t (*values)(void *ctx, const struct trc_process *process,
			 const struct cap_rec_dispatch *dispatch, struct cap_counter_value *to,
			 size_t room);
	void *ctx;
};
/* @recount and what it points to live as long as the trace. */
void trc_set_recount(struct trc_trace *trace, size_t process, const struct trc_recount *recount);

/* The same for metrics: from then on these are the process's, and its readings have the values given here. */
struct trc_remetric {
	const struct trc_metric *metrics; /* by id, the placeholder at 0 */
	size_t n_metrics;
	/* At most @room to @to; returns how many there are. Several threads may ask at once. */
	size_t (*values)(void *ctx, const struct cap_metric_value *recorded, size_t n_recorded,
			 struct cap_metric_value *to, size_t room);
	void *ctx;
};
/* @remetric and what it points to live as long as the trace. */
void trc_set_remetric(struct trc_trace *trace, size_t process, const struct trc_remetric *remetric);
/* The agents of @from, of another trace that is closed later, for a process that has none. */
void trc_borrow_agents(struct trc_trace *trace, size_t process, const struct trc_process *from);
/* Id of a text for trc_process_string(); 0 when there is no memory. */
uint32_t trc_add_string(struct trc_trace *trace, size_t process, const char *text);

/* Names of AMD's enumerations: "HIP_RUNTIME_API_EXT", "MEMORY_COPY_HOST_TO_DEVICE". */
const char *trc_domain_name(enum cap_domain domain);
/* For people. AMD's tests take AMD's own names in what a tool prints for errors. */
const char *trc_domain_label(enum cap_domain domain);
const char *trc_kind_name(enum cap_kind kind);
/* Names of AMD's system profiler: "process_page_fault", "user". */
const char *trc_metric_category_name(enum cap_metric_category category);
const char *trc_region_category_name(enum cap_region_category category);
const char *trc_kind_op_name(enum cap_kind kind, uint32_t id); /* fixed kinds only; else NULL */

/* ---- names ---- */

/* As AMD's tool does it; malloc'ed, never NULL unless there is no memory. */
char *trc_demangle(const char *mangled);
char *trc_truncate_name(const char *demangled);

/* ---- events ---- */

struct trc_event {
	enum cap_domain domain;
	enum cap_kind kind;
	uint32_t op_id;   /* AMD's number within the kind */
	const char *name; /* function or operation; markers: message or, without one, operation;
			     dispatches: rename message or formatted kernel name */
	uint64_t start_ns, end_ns;
	uint64_t corr_id, ancestor_id, external_id;
	const struct trc_process *process;
	const struct trc_thread *thread;
	const struct trc_stream *stream;
	const struct cap_rec *rec; /* as recorded; ticks are not converted in here */
	union {
		struct {
			const struct trc_operation *op;
			const uint64_t *slots; /* NULL: no arguments were taken */
			uint32_t n_slots;
			bool has_retval;
			uint64_t retval;
		} call;
		struct {
			const char *op_name; /* roctxThreadRangeA, ... */
			bool has_message;
		} marker;
		struct {
			const struct trc_kernel *kernel;
			const struct trc_agent *agent; /* NULL: unknown; so for the others */
			const struct trc_queue *queue;
			const struct cap_rec_dispatch *info;
			const struct cap_counter_value *values; /* info->n_values of them */
			const char *renamed;                    /* NULL: not renamed */
		} dispatch;
		struct {
			const struct trc_agent *dst, *src;
			const struct cap_rec_copy *info;
		} copy;
		struct {
			const struct trc_agent *agent; /* NULL for frees */
			const struct cap_rec_alloc *info;
		} alloc;
		struct {
			const struct trc_agent *agent;
			const struct trc_queue *queue;
			const struct cap_rec_scratch *info;
		} scratch;
		struct {
			const struct trc_agent *agent;
			const struct trc_code_object *code_object;
			const struct cap_rec_pc_sample *info;
		} sample;
		struct {
			const struct cap_rec_counted *info;
		} counted;
		struct { /* the stack is trace/host.h's trc_host_stack(info->h.what) */
			const struct cap_rec_sample *info;
			const uint64_t *counts; /* info->n_counts of them */
		} stack;
		struct {
			const struct cap_metric_value *values;
			uint32_t n_values;
		} metrics;
		struct { /* its beginning or its end; start_ns and end_ns are equal */
			const struct trc_region *region;
			const struct cap_rec_annotation *annotation; /* NULL: it is none */
			bool enters;
		} region;
	};
};

#define TRC_DOMAIN_BIT(NAME) (1u << CAP_DOMAIN_##NAME)
/* What a query gets that does not ask for anything else. */
#define TRC_DOMAINS_USUAL                                                                          \
	(~(TRC_DOMAIN_BIT(COUNTER_VALUES) | TRC_DOMAIN_BIT(CALL_STACK_SAMPLING) |                  \
	   TRC_DOMAIN_BIT(METRICS) | TRC_DOMAIN_BIT(REGIONS)))

enum trc_event_order {
	/*
	 * As recorded, lane by lane: calls of a thread by their ends. Fastest.
	 */
	TRC_ORDER_RECORDED,
	/*
	 * By start over all requested events; at equal starts the longer first, so
	 * that an enclosing event precedes the enclosed ones. Needs a first pass that
	 * finds the records which begin before their chunk (ranges around long work);
	 * memory is those plus an index of one chunk per lane.
	 */
	TRC_ORDER_START,
};

struct trc_event_query {
	/*
	 * TRC_DOMAIN_BIT()s; 0: TRC_DOMAINS_USUAL. COUNTER_COLLECTION: dispatches with values,
	 * COUNTER_VALUES: how those came about.
	 */
	uint32_t domains;
	enum trc_event_order order;
	const struct trc_process *process; /* NULL: all */
};

struct trc_events;

enum ws_status trc_events_open(const struct trc_trace *trace, const struct trc_event_query *query,
			       struct trc_events **out_events, struct ws_err *err);
const struct trc_event *trc_events_next(struct trc_events *events); /* valid until the next call */
enum ws_status trc_events_close(struct trc_events *events,
				struct ws_err *err); /* what went wrong on the way */

/* Walks the arguments of a call: fills one, returns false after the last or at damage. */
struct trc_arg {
	const char *name, *type;
	enum cap_arg_kind kind;
	uint32_t type_str;
	union {
		uint64_t u;
		int64_t i;
		double f;
		uint32_t dim3[3];
		struct {
			const char *at; /* not terminated; NULL for NULL */
			uint32_t n_bytes;
		} str;
	};
	uint32_t stream; /* STREAM: our id; u is the handle */
};
struct trc_arg_walk {
	uint32_t arg, slot;
};
bool trc_event_arg(const struct trc_event *event, struct trc_arg_walk *walk,
		   struct trc_arg *out_arg);
/* Its value as text, as AMD prints it: decimal, 0x..., {z=3, y=2, x=1}, the string itself. */
int trc_arg_print(const struct trc_process *process, const struct trc_arg *arg, char *to,
		  size_t room);

#endif
