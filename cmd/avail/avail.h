/*
 * avail: rocprofv3-avail: which GPUs there are, what can be counted on them, and together.
 *
 * The GPUs are those a program would see: a small one is run under the collector, and what
 * its capture says of the agents is what every output file would say.
 */
#ifndef WS_CMD_AVAIL_AVAIL_H
#define WS_CMD_AVAIL_AVAIL_H

#include "counters/catalogue.h"
#include "trace/trace.h"

#define AV_GPUS_MAX 64

struct av_gpu {
	const struct trc_agent *agent;
	unsigned number;           /* among GPUs: AMD's logical_node_type_id */
	struct cnt_catalogue *cat; /* NULL: no counters are known of its architecture */
};

struct av_machine {
	struct trc_trace *trace;
	struct av_gpu gpus[AV_GPUS_MAX]; /* by number */
	size_t n;
};

/* @extra_counters: a definition file, or NULL. */
enum ws_status av_machine_look(const char *extra_counters, struct av_machine *out_machine,
			       struct ws_err *err);
void av_machine_fini(struct av_machine *machine);

/* What `list` and `info` show. */
struct av_wanted {
	int64_t device; /* -1: all GPUs */
	bool agents, counters, samplers;
	bool details;             /* info, not list */
	bool fidelity;            /* what the software GPU makes of each counter */
	const char *const *names; /* of counters, for details; n_names 0: all */
	size_t n_names;
};

/* For people. */
enum ws_status av_show(const struct av_machine *machine, const struct av_wanted *wanted,
		       struct ws_err *err);

/* For programs: agents, counters and samplers as one JSON object (json.c). */
enum ws_status av_json(const struct av_machine *machine, const struct av_wanted *wanted,
		       struct ws_err *err);

/* ---- what both show ---- */

/* Whether this GPU has values for the counter. */
bool av_is_had(const struct cnt_catalogue *cat, const struct cnt_counter_def *def);
/* WS_E_NOTFOUND names the nearest. */
enum ws_status av_find(const struct av_gpu *gpu, const char *name,
		       const struct cnt_counter_def **out_def, struct ws_err *err);

struct gpu_pc_sampler;
/* The GPU's first (@before NULL) or next one; NULL: no more. */
const struct gpu_pc_sampler *av_next_sampler(const struct av_gpu *gpu,
					     const struct gpu_pc_sampler *before);
const char *av_sampler_flags(const struct gpu_pc_sampler *sampler);

/* Whether the words ("NAME", "NAME:device=0,device=1") can be counted at once; says why not. */
enum ws_status av_check(const struct av_machine *machine, int64_t device, char *const *words,
			size_t n_words, int *exit_code, struct ws_err *err);

/* "Fatal error: ..." on stderr, as AMD's tool has it; the exit code. */
int av_fatal(const char *fmt, ...) WS_PRINTF(1, 2);

#endif
