/*
 * output_priv: what the writers of the formats share.
 *
 * A run is one call of ws_output_write(): the writers read the trace through it and
 * report their files to it.
 */
#ifndef WS_OUTPUT_OUTPUT_PRIV_H
#define WS_OUTPUT_OUTPUT_PRIV_H

#include "output/fmt.h"
#include "output/output.h"
#include "output/sink.h"
#include "output/stats.h"

/* ---- domains ---- */

/* What a domain's records look like, which decides columns, keys, tracks and tables. */
enum ws_record_shape {
	WS_SHAPE_NONE,
	WS_SHAPE_CALL,
	WS_SHAPE_MARKER,
	WS_SHAPE_DISPATCH,
	WS_SHAPE_COUNTERS,
	WS_SHAPE_COPY,
	WS_SHAPE_ALLOC,
	WS_SHAPE_SCRATCH,
	WS_SHAPE_SAMPLE,
};

struct ws_domain_info {
	enum ws_record_shape shape;
	const char *csv_stem;   /* NULL: no file */
	const char *stats_stem; /* NULL: no statistics */
	const char *category;   /* of Perfetto and OTF2 */
};
extern const struct ws_domain_info ws_domain_infos[WS_DOMAIN_COUNT];

/* ---- the run ---- */

struct ws_output_run {
	const struct ws_trace *trace;
	const struct ws_process *const *processes;
	size_t n_processes;
	const struct ws_output_config *cfg;
	struct ws_output_result *result;
	struct ws_stats stats;
	uint64_t first_ns, last_ns; /* of all events */
	char guid[37];
};

typedef enum ws_status ws_event_fn(void *ctx, const struct ws_event *ev);

/*
 * Call @fn for the events of @process; it ends the walk by returning a failure, which
 * is not a sentence yet: the writer's sink has that.
 */
enum ws_status ws_run_each(const struct ws_output_run *run, const struct ws_process *process,
			   uint32_t domains, enum ws_event_order order, ws_event_fn *fn, void *ctx,
			   struct ws_err *err);

/* "<prefix>_<name>" */
enum ws_status ws_run_path(const struct ws_output_run *run, const char *name,
			   char out_path[PATH_MAX], struct ws_err *err);
enum ws_status ws_run_open(struct ws_output_run *run, struct ws_sink *sink, const char *name,
			   struct ws_err *err);
/* Finish @sink and enter it into the result; returns its status. */
enum ws_status ws_run_finish(struct ws_output_run *run, enum ws_output_format format,
			     struct ws_sink *sink, struct ws_err *err);
/* Enter a file that was not made by a sink, or the failure of one (@err with a status). */
void ws_run_file(struct ws_output_run *run, enum ws_output_format format, const char *path,
		 uint64_t n_rows, uint64_t n_bytes, const struct ws_err *err);

/* Whether a domain has enough data for a file of its own. */
bool ws_run_has(const struct ws_output_run *run, enum ws_domain domain);

/* Whether any of the text tables is asked for. */
bool ws_run_wants_summary(const struct ws_output_run *run);

/* ---- events, as the options want them ---- */

/* Dispatches serve two domains. */
static inline bool ws_event_is_dispatch(const struct ws_event *ev)
{
	return ev->kind == WS_KIND_KERNEL_DISPATCH;
}
static inline bool ws_event_traced(const struct ws_event *ev)
{
	return !(ev->dispatch.info->flags & WS_DISPATCH_UNASKED);
}

static inline const char *ws_run_name(const struct ws_output_run *run, const struct ws_event *ev)
{
	if (ws_event_is_dispatch(ev) && !run->cfg->kernel_rename)
		return ev->dispatch.kernel->formatted;
	return ev->name;
}

static inline uint32_t ws_run_stream(const struct ws_output_run *run, const struct ws_event *ev)
{
	return run->cfg->group_by_queue || !ev->stream ? 0 : ev->stream->id;
}

/* The values of one counter of a dispatch lie together after this. @ids: room for n_values. */
struct ws_counter_sum {
	uint32_t counter;
	double value;
};
/* Sums over instances, by counter id; returns how many. @to has room for n_values. */
size_t ws_counter_sums(const struct ws_event *ev, struct ws_counter_sum *to, size_t room);

static inline const char *ws_agent_type_text(const struct ws_agent *agent)
{
	uint32_t type = agent ? agent->info->type : 0;

	return type == WS_AGENT_CPU ? "CPU" : type == WS_AGENT_GPU ? "GPU" : "UNK";
}
/* The label and number of the chosen index mode: "Agent" 2, "GPU" 0. */
static inline const char *ws_agent_label(const struct ws_agent *agent, enum ws_agent_index mode,
					 uint32_t *out_number)
{
	if (!agent) {
		*out_number = 0;
		return "UNK";
	}
	*out_number = mode == WS_AGENT_INDEX_ABSOLUTE ? agent->info->node_id
		      : mode == WS_AGENT_INDEX_TYPE   ? agent->info->logical_node_type_id
						      : agent->info->logical_node_id;
	return mode == WS_AGENT_INDEX_TYPE ? ws_agent_type_text(agent) : "Agent";
}

/* "ROCPROFILER_PC_SAMPLING_...": unknown numbers are NONE. */
const char *ws_pc_inst_type(unsigned type);
const char *ws_pc_stall_reason(unsigned reason);

/* ---- the writers ---- */

#define WS_OUTPUT_ROW(name, word, ops) extern const struct ws_output_ops ops;
WS_OUTPUT_TABLE(WS_OUTPUT_ROW)
#undef WS_OUTPUT_ROW

enum ws_status ws_summary_write(struct ws_output_run *run, struct ws_err *err);

/* csv.c: a quoted cell. csv_counters.c: what may be said of the counters, where anything is. */
struct ws_sink;
void ws_csv_text(struct ws_sink *sink, const char *text);
enum ws_status ws_csv_counter_info(struct ws_output_run *run, struct ws_err *err);

/* otf2_folder.c: an archive @name is made in folder @partial, then moved to @to. */
enum ws_status ws_otf2_make_partial(const char *partial, const char *name, struct ws_err *err);
void ws_otf2_remove_partial(const char *partial, const char *name);
enum ws_status ws_otf2_place(const char *from_dir, const char *name, const char *to,
			     uint64_t *out_bytes, struct ws_err *err);

#endif
