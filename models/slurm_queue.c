#include "base/log.h"
#include "models/slurm_priv.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SUBMIT_TIMEOUT_MS 30000
#define QUERY_TIMEOUT_MS 30000
#define QUERY_BYTES_MAX (256u << 10)
#define LIVE_PAUSE_S 1.0
#define QUEUE_FAILURES_MAX 10
#define RECORD_TRIES 3
#define RECORD_PAUSE_S 5.0

enum ws_status mdl_slurm_submit(const char *script, uint64_t *out_job, struct ws_err *err)
{
	char *argv[] = { "sbatch", (char *)script, NULL };
	struct ws_str line, word, id = { 0 };
	struct ws_buf out;
	enum ws_status st;

	ws_buf_init(&out, QUERY_BYTES_MAX);
	st = mdl_deploy_ask(argv, SUBMIT_TIMEOUT_MS, &out, err);
	/* "Submitted batch job 12", maybe after lines of the site's filters */
	line = ws_str_last_line(ws_buf_view(&out));
	while (!st && line.n && ws_str_next(&line, ' ', &word))
		id = word;
	if (!st && (!ws_str_u64(ws_str_trim(id), out_job) || !*out_job))
		st = ws_fail(err, WS_E_FORMAT, "sbatch printed no job number but '%.*s'",
			     WS_STR_ARGS(ws_str_last_line(ws_buf_view(&out))));
	ws_buf_fini(&out);
	return st;
}

/* ---- states ---- */

/* clang-format off */
static const struct state_row {
	const char *name;
	enum mdl_slurm_phase phase;
	const char *advice;
} states[] = {
	{ "PENDING",       MDL_SLURM_GOING,     NULL },
	{ "CONFIGURING",   MDL_SLURM_GOING,     NULL },
	{ "RUNNING",       MDL_SLURM_GOING,     NULL },
	{ "COMPLETING",    MDL_SLURM_GOING,     NULL },
	{ "SUSPENDED",     MDL_SLURM_GOING,     NULL },
	{ "STOPPED",       MDL_SLURM_GOING,     NULL },
	{ "SIGNALING",     MDL_SLURM_GOING,     NULL },
	{ "STAGE_OUT",     MDL_SLURM_GOING,     NULL },
	{ "RESIZING",      MDL_SLURM_GOING,     NULL },
	{ "REQUEUED",      MDL_SLURM_GOING,     NULL },
	{ "REQUEUE_FED",   MDL_SLURM_GOING,     NULL },
	{ "REQUEUE_HOLD",  MDL_SLURM_GOING,     NULL },
	{ "SPECIAL_EXIT",  MDL_SLURM_GOING,     NULL },
	{ "RESV_DEL_HOLD", MDL_SLURM_GOING,     NULL },
	{ "COMPLETED",     MDL_SLURM_COMPLETED, NULL },
	{ "FAILED",        MDL_SLURM_FAILED,    "see the logs of the nodes" },
	{ "CANCELLED",     MDL_SLURM_FAILED,    "somebody cancelled it" },
	{ "TIMEOUT",       MDL_SLURM_FAILED,    "it reached its time limit: raise slurm.time" },
	{ "DEADLINE",      MDL_SLURM_FAILED,    "it reached its deadline" },
	{ "NODE_FAIL",     MDL_SLURM_FAILED,    "a node failed: sinfo -R says why" },
	{ "BOOT_FAIL",     MDL_SLURM_FAILED,    "a node did not boot: sinfo -R says why" },
	{ "OUT_OF_MEMORY", MDL_SLURM_FAILED,    "it used more memory than it was given" },
	{ "PREEMPTED",     MDL_SLURM_FAILED,    "another job took its nodes: submit it again" },
	{ "REVOKED",       MDL_SLURM_FAILED,    "another cluster took it" },
};
/* clang-format on */

static void copy_text(struct ws_str from, char *to, size_t room)
{
	snprintf(to, room, "%.*s", WS_STR_ARGS(from));
}

/* "RUNNING 0:12 node[1-2]"; "CANCELLED by 0"; the second and third word may be missing. */
void mdl_slurm_read_state(struct ws_str text, struct mdl_slurm_state *out_state)
{
	struct mdl_slurm_state state = { .phase = MDL_SLURM_FAILED };
	struct ws_str rest = ws_str_trim(text), word;
	size_t n_name;

	if (rest.n && ws_str_next(&rest, ' ', &word)) {
		/* sacct marks a name that did not fit by '+' */
		n_name = word.n && word.at[word.n - 1] == '+' ? word.n - 1 : word.n;
		copy_text((struct ws_str){ word.at, n_name }, state.name, sizeof(state.name));
	}
	rest = ws_str_trim(rest);
	if (rest.n && ws_str_next(&rest, ' ', &word))
		copy_text(word, state.elapsed, sizeof(state.elapsed));
	copy_text(ws_str_trim(rest), state.where, sizeof(state.where));
	n_name = strlen(state.name);
	for (size_t i = 0; n_name && i < WS_ARRAY_LEN(states); i++) {
		if (!strncmp(states[i].name, state.name, n_name)) {
			snprintf(state.name, sizeof(state.name), "%s", states[i].name);
			state.phase = states[i].phase;
			state.advice = states[i].advice;
			*out_state = state;
			return;
		}
	}
	if (!n_name)
		snprintf(state.name, sizeof(state.name), "UNKNOWN");
	*out_state = state;
}

/* ---- waiting ---- */

/* JobState=... of scontrol, which knows a job for some minutes after its end. */
static bool ask_controller(const char *job, struct ws_buf *buf, struct mdl_slurm_state *out_state)
{
	char *argv[] = { "scontrol", "-o", "show", "job", (char *)job, NULL };
	struct ws_err err = { .status = WS_OK };
	struct ws_str line, word;

	if (!mdl_deploy_ask_line(argv, QUERY_TIMEOUT_MS, buf, &line, &err))
		return false;
	while (ws_str_next(&line, ' ', &word)) {
		if (!ws_str_starts(word, "JobState="))
			continue;
		mdl_slurm_read_state((struct ws_str){ word.at + 9, word.n - 9 }, out_state);
		return true;
	}
	return false;
}

/*
 * How a job ended that is no longer in the queue. Its record reaches the accounting database a
 * moment later; a site without one has only the controller's memory. Neither: UNKNOWN, and
 * what the nodes handed back decides.
 */
static void find_end(const char *job, struct ws_buf *buf, struct mdl_slurm_state *out_state)
{
	char *argv[] = { "sacct", "-j", (char *)job, "-n", "-X", "-o", "State%20", NULL };
	struct ws_err err = { .status = WS_OK };
	struct ws_str line;

	for (int i = 0; i < RECORD_TRIES && !mdl_wait_interrupted(); i++) {
		bool recorded = mdl_deploy_ask_line(argv, QUERY_TIMEOUT_MS, buf, &line, &err);

		if (recorded) {
			mdl_slurm_read_state(line, out_state);
			if (out_state->phase != MDL_SLURM_GOING)
				return;
		}
		if (ask_controller(job, buf, out_state) && out_state->phase != MDL_SLURM_GOING)
			return;
		if (!recorded && err.status)
			break; /* no accounting here */
		mdl_wait_pause_s(RECORD_PAUSE_S);
	}
	mdl_slurm_read_state(WS_STR(""), out_state);
}

struct progress {
	char shown[300];
	bool terminal;
};

static void show_progress(struct progress *p, const char *job, const struct mdl_slurm_state *state)
{
	char line[300];

	if (p->terminal)
		snprintf(line, sizeof(line), "job %s: %s %s %s", job, state->name, state->elapsed,
			 state->where);
	else /* without the time, so that a log has one line per state */
		snprintf(line, sizeof(line), "job %s: %s %s", job, state->name, state->where);
	if (!strcmp(line, p->shown))
		return;
	ws_print(stderr, p->terminal ? "\r\033[Kmadengine: %s" : "madengine: %s\n", line);
	fflush(stderr);
	snprintf(p->shown, sizeof(p->shown), "%s", line);
}

static void say_how_to_continue(const struct mdl_slurm_plan *plan, const char *job)
{
	ws_print(stderr,
		 "madengine: job %s goes on.\n"
		 "  look at it       squeue -j %s\n"
		 "  cancel it        scancel %s\n"
		 "  collect results  madengine run --manifest-file %s \\\n"
		 "                     -c '{\"slurm\": {\"job_id\": %s, \"nodes\": %zu, "
		 "\"gpus_per_node\": %zu, \"output_dir\": \"%s\"}}'\n",
		 job, job, job,
		 plan->options->manifest_path ? plan->options->manifest_path : "FILE", job,
		 plan->n_nodes, plan->n_gpus, plan->output_dir);
}

/* Polls until squeue does not list the job any more. */
static void poll_queue(const char *job, const struct mdl_wait *wait, struct ws_buf *buf,
		       struct progress *progress, struct mdl_slurm_live *live)
{
	char *argv[] = { "squeue", "-j", (char *)job, "-h", "-o", "%T %M %R", NULL };
	int n_failures = 0;

	while (!mdl_wait_interrupted()) {
		struct ws_err err = { .status = WS_OK };
		struct mdl_slurm_state state;
		struct ws_str line;

		if (mdl_deploy_ask_line(argv, QUERY_TIMEOUT_MS, buf, &line, &err)) {
			n_failures = 0;
			mdl_slurm_read_state(line, &state);
			show_progress(progress, job, &state);
			if (state.phase != MDL_SLURM_GOING)
				return;
		} else if (!err.status || strstr(err.text, "Invalid job id")) {
			return;
		} else if (++n_failures >= QUEUE_FAILURES_MAX) {
			ws_log_warn("%s: no longer waiting for job %s", err.text, job);
			return;
		} else if (n_failures == 1) {
			ws_log_warn("%s: trying again", err.text);
		}
		mdl_slurm_live_turn(live);
		if (live->shown_bytes)
			mdl_wait_pause_s(LIVE_PAUSE_S);
		else
			mdl_wait_pause(wait);
	}
}

bool mdl_slurm_wait(const struct mdl_slurm_plan *plan, uint64_t job, struct ws_arena *arena,
		    struct mdl_slurm_state *out_state)
{
	struct progress progress = { .terminal = isatty(STDERR_FILENO) };
	struct mdl_slurm_live live;
	struct mdl_wait wait;
	char id[24];
	struct ws_buf buf;

	snprintf(id, sizeof(id), "%llu", (unsigned long long)job);
	ws_buf_init(&buf, QUERY_BYTES_MAX);
	mdl_slurm_live_begin(plan, id, arena, &live);
	mdl_wait_begin(&wait);
	poll_queue(id, &wait, &buf, &progress, &live);
	mdl_slurm_live_turn(&live);
	if (!mdl_wait_interrupted())
		find_end(id, &buf, out_state);
	if (progress.terminal)
		fputs("\r\033[K", stderr);
	mdl_wait_end(&wait);
	ws_buf_fini(&buf);
	if (mdl_wait_interrupted()) {
		say_how_to_continue(plan, id);
		return false;
	}
	ws_print(stderr, "madengine: job %s: %s\n", id, out_state->name);
	return true;
}
