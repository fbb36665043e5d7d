/*
 * output_priv: what the writers of the formats share.
 *
 * A run is one call of output_write(): the writers read the trace through it and
 * report their files to it.
 */
#ifndef WS_OUTPUT_PRIV_H
#define WS_OUTPUT_PRIV_H

#include "output/fmt.h"
#include "output/output.h"
#include "output/sink.h"
#include "output/stats.h"

/* ---- domains ---- */

/* What a domain's records look like, which decides columns, keys, tracks and tables. */
enum output_record_shape {
	OUTPUT_SHAPE_NONE,
	OUTPUT_SHAPE_CALL,
	OUTPUT_SHAPE_MARKER,
	OUTPUT_SHAPE_DISPATCH,
	OUTPUT_SHAPE_COUNTERS,
	OUTPUT_SHAPE_COPY,
	OUTPUT_SHAPE_ALLOC,
	OUTPUT_SHAPE_SCRATCH,
	OUTPUT_SHAPE_SAMPLE,
};

struct output_domain_info {
	enum output_record_shape shape;
	const char *csv_stem;   /* NULL: no file */
	const char *stats_stem; /* NULL: no statistics */
	const char *category;   /* of Perfetto and OTF2 */
};
extern const struct output_domain_info output_domain_infos[CAP_DOMAIN_COUNT];

/* ---- the run ---- */

struct output_run {
	const struct trc_trace *trace;
	const struct trc_process *const *processes;
	size_t n_processes;
	const struct output_config *cfg;
	struct output_result *result;
	struct output_stats stats;
	uint64_t first_ns, last_ns; /* of all events */
	char guid[37];
};

typedef enum ws_status output_event_fn(void *ctx, const struct trc_event *ev);

/*
 * Call @fn for the events of @process; it ends the walk by returning a failure, which
 * is not a sentence yet: the writer's sink has that.
 */
enum ws_status output_run_each(const struct output_run *run, const struct trc_process *process,
			       uint32_t domains, enum trc_event_order order, output_event_fn *fn,
			       void *ctx, struct ws_err *err);

/* "<prefix>_<name>" */
enum ws_status output_run_path(const struct output_run *run, const char *name,
			       char out_path[PATH_MAX], struct ws_err *err);
enum ws_status output_run_open(struct output_run *run, struct output_sink *sink, const char *name,
			       struct ws_err *err);
enum ws_status output_run_open_at(struct output_run *run, struct output_sink *sink,
				  const char *path, struct ws_err *err);
/* Finish @sink and enter it into the result; returns its status. */
enum ws_status output_run_finish(struct output_run *run, enum output_format format,
				 struct output_sink *sink, struct ws_err *err);
/* Enter a file that was not made by a sink, or the failure of one (@err with a status). */
void output_run_file(struct output_run *run, enum output_format format, const char *path,
		     uint64_t n_rows, uint64_t n_bytes, const struct ws_err *err);

/* Whether a domain has enough data for a file of its own. */
bool output_run_has(const struct output_run *run, enum cap_domain domain);

/* Whether any of the text tables is requested. */
bool output_run_wants_summary(const struct output_run *run);

/* ---- events, as the options want them ---- */

/* Whether the record is of the kind that its domain says; damaged captures have others. */
bool output_event_is_sound(const struct trc_event *ev);

/* Dispatches serve two domains. */
static inline bool output_event_is_dispatch(const struct trc_event *ev)
{
	return ev->kind == CAP_KIND_KERNEL_DISPATCH;
}
static inline bool output_event_traced(const struct trc_event *ev)
{
	return !(ev->dispatch.info->flags & CAP_DISPATCH_UNASKED);
}

static inline const char *output_run_name(const struct output_run *run, const struct trc_event *ev)
{
	if (output_event_is_dispatch(ev) && !run->cfg->kernel_rename)
		return ev->dispatch.kernel->formatted;
	return ev->name;
}

static inline uint32_t output_run_stream(const struct output_run *run, const struct trc_event *ev)
{
	return run->cfg->group_by_queue || !ev->stream ? 0 : ev->stream->id;
}

/* The values of one counter of a dispatch lie together after this. @ids: room for n_values. */
struct output_counter_sum {
	uint32_t counter;
	double value;
};
/* Sums over instances, by counter id; returns how many. @to has room for n_values. */
size_t output_counter_sums(const struct trc_event *ev, struct output_counter_sum *to, size_t room);

static inline const char *output_agent_type_text(const struct trc_agent *agent)
{
	uint32_t type = agent ? agent->info->type : 0;

	return type == CAP_AGENT_CPU ? "CPU" : type == CAP_AGENT_GPU ? "GPU" : "UNK";
}
/* The label and number of the chosen index mode: "Agent" 2, "GPU" 0. */
static inline const char *output_agent_label(const struct trc_agent *agent,
					     enum trc_agent_index mode, uint32_t *out_number)
{
	if (!agent) {
		*out_number = 0;
		return "UNK";
	}
	*out_number = mode == TRC_AGENT_INDEX_ABSOLUTE ? agent->info->node_id
		      : mode == TRC_AGENT_INDEX_TYPE   ? agent->info->logical_node_type_id
						       : agent->info->logical_node_id;
	return mode == TRC_AGENT_INDEX_TYPE ? output_agent_type_text(agent) : "Agent";
}

/* Whether a metric is of a GPU, and not of the process or a CPU. */
static inline bool output_metric_on_gpu(const struct trc_metric *metric)
{
	return metric->device >= 0 && ((metric->category >= CAP_METRIC_DEVICE_BUSY_GFX &&
					metric->category <= CAP_METRIC_DEVICE_CLOCK) ||
				       metric->category == CAP_METRIC_DEVICE_COUNTER);
}

/* intervals.c: counters of whole GPUs over time. */

/* What a counter added between two readings of its GPU. */
struct output_interval {
	const struct trc_process *process;
	const struct trc_metric *metric;
	const struct trc_agent *agent; /* NULL: the capture does not describe it */
	double value;
	uint64_t start_ns, end_ns;
};
typedef enum ws_status output_interval_fn(void *ctx, const struct output_interval *interval);

bool output_has_intervals(const struct trc_process *process);
/* All of a process, by their ends, for a format. @each ends the walk by returning a failure. */
enum ws_status output_each_interval(struct output_run *run, const struct trc_process *process,
				    enum output_format format, output_interval_fn *each, void *ctx,
				    struct ws_err *err);
/* counter_intervals.csv */
enum ws_status output_csv_intervals(struct output_run *run, struct ws_err *err);

/* "ROCPROFILER_PC_SAMPLING_...": unknown numbers are NONE. */
const char *output_pc_inst_type(unsigned type);
const char *output_pc_stall_reason(unsigned reason);

/* ---- the writers ---- */

#define OUTPUT_ROW(name, word, ops) extern const struct output_ops ops;
OUTPUT_TABLE(OUTPUT_ROW)
#undef OUTPUT_ROW

enum ws_status output_summary_write(struct output_run *run, struct ws_err *err);

/* csv.c: a quoted cell. csv_counters.c: what may be said of the counters, where anything is. */
struct output_sink;
void output_csv_text(struct output_sink *sink, const char *text);
enum ws_status output_csv_counter_info(struct output_run *run, struct ws_err *err);

/* otf2_folder.c: an archive @name is made in folder @partial, then moved to @to. */
enum ws_status output_otf2_make_partial(const char *partial, const char *name, struct ws_err *err);
void output_otf2_remove_partial(const char *partial, const char *name);
enum ws_status output_otf2_place(const char *from_dir, const char *name, const char *to,
				 uint64_t *out_bytes, struct ws_err *err);

#endif
