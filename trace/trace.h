/*
 * trace: one or more captures as a front end wants to see them.
 *
 * Facts (processes, threads, agents, queues, kernels, names) are held in memory and
 * joined; events are streamed, so that memory depends on the program and not on how
 * long it ran. Times are CLOCK_BOOTTIME nanoseconds; where captures of several machines
 * are opened together, of the machine that began first.
 *
 *	ws_trace_open(paths, n_paths, &opts, &trace, err);
 *	ws_events_open(trace, &(struct ws_event_query){ .domains = WS_DOMAIN_BIT(HIP_API) },
 *		       &events, err);
 *	while ((ev = ws_events_next(events)))
 *		write_row(ev);
 *	st = ws_events_close(events, err);
 *
 * What an event refers to is never NULL where a comment does not say so: an id that
 * no record defines leads to the placeholder with id 0, and is counted.
 *
 * Threads  after open the trace is constant; each thread may stream with its own
 *          struct ws_events.
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

struct ws_process;

struct ws_thread {
	uint32_t tid;
	uint32_t index;            /* 0: main; then 1.. in ascending order of tid */
	const char *name;          /* "" unknown */
	uint64_t start_ns, end_ns; /* first seen, ended; 0 unknown */
	const struct ws_process *process;
};

struct ws_agent {
	const struct ws_rec_agent *info; /* numbers as recorded; id is info->h.what */
	const char *name, *vendor_name, *product_name, *model_name;
	const char *given_name; /* by the program; "": none */
	const struct ws_rec_agent_bank **banks;
	const struct ws_rec_agent_cache **caches;
	const struct ws_rec_agent_link **links;
	size_t n_banks, n_caches, n_links;
};

struct ws_queue {
	uint32_t id;
	uint32_t index_on_agent; /* 0.. in order of creation */
	const struct ws_agent *agent;
	const struct ws_rec_queue *info; /* NULL: placeholder */
};

struct ws_stream {
	uint32_t id;
	const char *name;
	const struct ws_rec_stream *info; /* NULL: default stream or placeholder */
};

struct ws_code_object {
	uint32_t id;
	const char *uri;
	const struct ws_agent *agent;
	uint64_t load_ns, unload_ns;           /* 0: never seen */
	uint32_t image;                        /* id of the one whose bytes are kept for it */
	const struct ws_rec_code_object *info; /* NULL: placeholder */
};

/* All forms of a kernel's name; `formatted` is what the user's options choose. */
struct ws_kernel {
	uint32_t id;
	const char *symbol;    /* "_Z3addPfi.kd" */
	const char *mangled;   /* "_Z3addPfi" */
	const char *demangled; /* "add(float*, int)" */
	const char *truncated; /* "add" */
	const char *formatted;
	const struct ws_code_object *code_object;
	const struct ws_rec_kernel *info; /* NULL: placeholder */
};

struct ws_host_function {
	uint32_t id;
	const char *name, *demangled, *truncated, *formatted;
	const struct ws_kernel *kernel;
	const struct ws_rec_host_function *info;
};

struct ws_counter {
	uint32_t id;
	const char *name, *description, *block, *expression;
	const char *fidelity; /* how good its values are, in words; "" unknown */
	const struct ws_agent *agent;
	const struct ws_rec_counter *info;
	const struct ws_counter_dim *dims; /* info->n_dims of them */
};

struct ws_operation {
	uint32_t op;
	enum ws_kind kind;
	enum ws_domain domain;
	uint32_t id; /* AMD's number within the kind */
	const char *name;
	uint32_t n_args;
	const struct ws_op_arg *args;
	uint32_t ret_kind;
};

struct ws_ledger_sum {
	bool asked;
	uint64_t written, dropped, paused, failed; /* seen = written + dropped + failed */
	uint64_t record_bytes;                     /* what the written ones take in the capture */
	uint64_t first_ns, last_ns; /* earliest start, latest end; 0 without events */
};

/* Lists are indexed by id, with the placeholder at 0 and in holes, where `by id` is said. */
#define WS_LIST(T)                                                                                 \
	struct {                                                                                   \
		T *at;                                                                             \
		size_t n;                                                                          \
	}

struct ws_process {
	uint32_t index;                           /* in the trace, 0.. in order of start */
	uint32_t pid, ppid, main_tid, uid, flags; /* WS_PROCESS_* */
	uint64_t init_ns, fini_ns;  /* collector's start; END, or the last event when killed */
	int64_t clock_shift_ns;     /* added to its own times: captures of other machines */
	int64_t realtime_offset_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME at start */
	bool ended;                 /* false: killed, or still running */
	uint8_t boot_id[16];        /* of the machine that it ran on */
	enum ws_end_cause end_cause;
	bool hip_used;     /* WS_RUNTIME_HIP was seen */
	uint32_t runtimes; /* bit per enum ws_runtime */
	const char *const *argv, *const *env, *const *config, *const *notes; /* each NULL-ended */
	size_t n_argv, n_env, n_config, n_notes;
	const char *facts[WS_FACT_COUNT]; /* single ones; "" unknown */
	const struct ws_thread *main_thread;
	WS_LIST(struct ws_thread) threads; /* ascending tid */
	WS_LIST(struct ws_agent *) agents; /* in order of node id; no placeholder */
	WS_LIST(struct ws_queue) queues;   /* by id, as all that follow */
	WS_LIST(struct ws_stream) streams;
	WS_LIST(struct ws_code_object) code_objects;
	WS_LIST(struct ws_kernel) kernels;
	WS_LIST(struct ws_host_function) host_functions;
	WS_LIST(struct ws_counter) counters;
	WS_LIST(struct ws_operation) operations;
	struct ws_ledger_sum ledger[WS_DOMAIN_COUNT];
	struct ws_damage damage;
	uint64_t
		n_unended; /* kernels that were submitted and are in no account: not ended, or too late */
	uint64_t n_dangling; /* references to facts that are not there */
	const char *path;    /* of the capture */
};

struct ws_trace_opts {
	bool mangled_names;   /* formatted = symbol */
	bool truncated_names; /* formatted = truncated; wins over mangled */
	size_t max_bytes;     /* ceiling for facts; 0: 256 MiB per capture */
};

struct ws_trace;

/* Captures that cannot be read at all fail the open; damaged ones do not. */
enum ws_status ws_trace_open(const char *const *paths, size_t n_paths,
			     const struct ws_trace_opts *opts, struct ws_trace **out_trace,
			     struct ws_err *err);
void ws_trace_close(struct ws_trace *trace);

size_t ws_trace_n_processes(const struct ws_trace *trace);
const struct ws_process *ws_trace_process(const struct ws_trace *trace, size_t i);

/* "" for 0 and unknown ids. */
const char *ws_process_string(const struct ws_process *process, uint32_t str);
const struct ws_thread *ws_process_thread(const struct ws_process *process, uint32_t tid);
const struct ws_agent *ws_process_agent(const struct ws_process *process, uint32_t id);

/* Whose clock the times of a process's kernels and copies are from. */
enum ws_gpu_times {
	WS_GPU_TIMES_HARDWARE,
	WS_GPU_TIMES_HOST,    /* software GPU: how long the host took to execute them */
	WS_GPU_TIMES_COUNTED, /* software GPU: simulated for what was counted or sampled, else host */
	WS_GPU_TIMES_SIMULATED, /* software GPU: from its timing model */
};
enum ws_gpu_times ws_process_gpu_times(const struct ws_process *process);
const char *ws_gpu_times_word(enum ws_gpu_times times); /* for files: "simulated" */

/* What an external id stands for, or NULL. Messages are walked in order of first use. */
const char *ws_process_external(const struct ws_process *process, uint64_t external_id);
size_t ws_process_n_externals(const struct ws_process *process);
const char *ws_process_external_at(const struct ws_process *process, size_t i, uint64_t *out_id);

/* The name of an enumerator of an argument's type, or NULL. */
const char *ws_process_enum_name(const struct ws_process *process, uint32_t type_str,
				 int64_t value);

/* An image that was kept with the capture, or NULL; free() it. */
void *ws_process_code_bytes(const struct ws_process *process, uint32_t code_object,
			    uint64_t *out_bytes);

/*
 * Other counters than those that were recorded: derived ones, those of several runs. From
 * then on they are the process's counters, and its dispatches have the values given here.
 * Before any events are opened.
 */
struct ws_recount {
	const struct ws_counter *counters; /* by id, the placeholder at 0 */
	size_t n_counters;
	/*
	 * The values of a dispatch, at most @room to @to; returns how many there are. Several
	 * threads may ask at once.
	 */
	size_t (*values)(void *ctx, const struct ws_process *process,
			 const struct ws_rec_dispatch *dispatch, struct ws_counter_value *to,
			 size_t room);
	void *ctx;
};
/* @recount and what it points to live as long as the trace. */
void ws_trace_recount(struct ws_trace *trace, size_t process, const struct ws_recount *recount);
/* The agents of @from, of another trace that is closed later, for a process that has none. */
void ws_trace_borrow_agents(struct ws_trace *trace, size_t process, const struct ws_process *from);
/* Id of a text for ws_process_string(); 0 when there is no memory. */
uint32_t ws_trace_add_string(struct ws_trace *trace, size_t process, const char *text);

/* Names of AMD's enumerations: "HIP_RUNTIME_API_EXT", "MEMORY_COPY_HOST_TO_DEVICE". */
const char *ws_domain_name(enum ws_domain domain);
/* For people. AMD's tests take AMD's own names in what a tool prints for errors. */
const char *ws_domain_label(enum ws_domain domain);
const char *ws_kind_name(enum ws_kind kind);
const char *ws_kind_op_name(enum ws_kind kind, uint32_t id); /* fixed kinds only; else NULL */

/* ---- names ---- */

/* As AMD's tool does it; malloc'ed, never NULL unless there is no memory. */
char *ws_demangle(const char *mangled);
char *ws_truncate_name(const char *demangled);

/* ---- events ---- */

struct ws_event {
	enum ws_domain domain;
	enum ws_kind kind;
	uint32_t op_id;   /* AMD's number within the kind */
	const char *name; /* function or operation; markers: message or, without one, operation;
			     dispatches: rename message or formatted kernel name */
	uint64_t start_ns, end_ns;
	uint64_t corr_id, ancestor_id, external_id;
	const struct ws_process *process;
	const struct ws_thread *thread;
	const struct ws_stream *stream;
	const struct ws_rec *rec; /* as recorded; ticks are not converted in here */
	union {
		struct {
			const struct ws_operation *op;
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
			const struct ws_kernel *kernel;
			const struct ws_agent *agent; /* NULL: unknown; so for the others */
			const struct ws_queue *queue;
			const struct ws_rec_dispatch *info;
			const struct ws_counter_value *values; /* info->n_values of them */
			const char *renamed;                   /* NULL: not renamed */
		} dispatch;
		struct {
			const struct ws_agent *dst, *src;
			const struct ws_rec_copy *info;
		} copy;
		struct {
			const struct ws_agent *agent; /* NULL for frees */
			const struct ws_rec_alloc *info;
		} alloc;
		struct {
			const struct ws_agent *agent;
			const struct ws_queue *queue;
			const struct ws_rec_scratch *info;
		} scratch;
		struct {
			const struct ws_agent *agent;
			const struct ws_code_object *code_object;
			const struct ws_rec_pc_sample *info;
		} sample;
		struct {
			const struct ws_rec_counted *info;
		} counted;
	};
};

#define WS_DOMAIN_BIT(NAME) (1u << WS_DOMAIN_##NAME)

enum ws_event_order {
	/*
	 * As recorded, lane by lane: calls of a thread by their ends. Fastest.
	 */
	WS_ORDER_RECORDED,
	/*
	 * By start over everything asked for; at the same start the longer first, so
	 * that what encloses comes before what is enclosed. Costs a first reading that
	 * finds the records which begin before their chunk (ranges around long work);
	 * memory is those plus an index of one chunk per lane.
	 */
	WS_ORDER_START,
};

struct ws_event_query {
	/*
	 * WS_DOMAIN_BIT()s; 0: all but COUNTER_VALUES. COUNTER_COLLECTION: dispatches with values,
	 * COUNTER_VALUES: how those came about.
	 */
	uint32_t domains;
	enum ws_event_order order;
	const struct ws_process *process; /* NULL: all */
};

struct ws_events;

enum ws_status ws_events_open(const struct ws_trace *trace, const struct ws_event_query *query,
			      struct ws_events **out_events, struct ws_err *err);
const struct ws_event *ws_events_next(struct ws_events *events); /* valid until the next call */
enum ws_status ws_events_close(struct ws_events *events,
			       struct ws_err *err); /* what went wrong on the way */

/* Walks the arguments of a call: fills one, returns false after the last or at damage. */
struct ws_arg {
	const char *name, *type;
	enum ws_arg_kind kind;
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
struct ws_arg_walk {
	uint32_t arg, slot;
};
bool ws_event_arg(const struct ws_event *event, struct ws_arg_walk *walk, struct ws_arg *out_arg);
/* Its value as text, as AMD prints it: decimal, 0x..., {z=3, y=2, x=1}, the string itself. */
int ws_arg_print(const struct ws_process *process, const struct ws_arg *arg, char *to, size_t room);

#endif
