#include "ranks/ranks.h"

#include "base/str.h"
#include "base/util.h"
#include "launch/rank.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTES_MAX 4096
#define LISTED_MAX 8 /* missing ranks that a note lists */

enum ws_status rnk_job_note(struct rnk_job *job, struct ws_err *err, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	enum ws_status st;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return ws_fail(err, WS_E_NOMEM, "a note");
	st = ws_vec_push(&job->notes, text, err);
	if (st)
		free(text);
	return st;
}

void rnk_job_close(struct rnk_job *job)
{
	if (!job)
		return;
	for (size_t i = 0; i < job->notes.n; i++)
		free((char *)job->notes.at[i]);
	ws_vec_fini(&job->notes);
	free(job->members);
	free(job->nodes);
	free(job);
}

/* ---- members ---- */

/* torchrun sets both; other programs may have a RANK of their own. */
static void find_torch_rank(struct launch_lookup env, struct launch_rank *rank)
{
	const char *number = env.get(env.ctx, "RANK"), *size = env.get(env.ctx, "WORLD_SIZE");

	if (!number || !size || !ws_str_u64(ws_str_from(number), &rank->rank) ||
	    !ws_str_u64(ws_str_from(size), &rank->size))
		return;
	rank->known = rank->size_known = true;
}

static size_t node_of(struct rnk_job *job, const struct trc_process *process)
{
	size_t i = 0;

	while (i < job->n_nodes &&
	       memcmp(job->nodes[i].boot_id, process->boot_id, sizeof(process->boot_id)) != 0)
		i++;
	if (i == job->n_nodes) {
		memcpy(job->nodes[i].boot_id, process->boot_id, sizeof(process->boot_id));
		job->nodes[i].host = process->facts[CAP_FACT_HOSTNAME];
		job->n_nodes++;
	}
	return i;
}

static int by_rank(const void *a, const void *b)
{
	const struct rnk_member *x = a, *y = b;

	if (x->ranked != y->ranked)
		return x->ranked ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->process->init_ns != y->process->init_ns)
		return x->process->init_ns < y->process->init_ns ? -1 : 1;
	return x->process->pid < y->process->pid ? -1 : x->process->pid > y->process->pid;
}

static enum ws_status find_ranks(struct rnk_job *job, struct ws_err *err)
{
	const struct rnk_member *sized = NULL;
	size_t n_ranked = 0;

	for (size_t i = 0; i < job->n_members; i++) {
		struct rnk_member *member = &job->members[i];
		struct launch_lookup env;
		struct launch_rank rank;

		member->process = trc_process_at(job->trace, i);
		member->process_at = i;
		env = launch_lookup_list(member->process->env);
		launch_rank_find_first(env, &rank, NULL);
		if (!rank.known)
			find_torch_rank(env, &rank);
		member->ranked = rank.known;
		member->rank = rank.rank;
		n_ranked += rank.known;
		if (!rank.known || !rank.size_known)
			continue;
		if (job->size && job->size != rank.size)
			return ws_fail(err, WS_E_STATE,
				       "'%s' is of a job of %" PRIu64 " ranks and '%s' of one of "
				       "%" PRIu64 ": merge the ranks of one run",
				       sized->process->path, job->size, member->process->path,
				       rank.size);
		job->size = rank.size;
		sized = member;
	}
	if (n_ranked)
		return WS_OK;
	for (size_t i = 0; i < job->n_members; i++) { /* the trace is in order of start */
		job->members[i].ranked = true;
		job->members[i].rank = i;
	}
	return job->n_members > 1 ? rnk_job_note(job, err,
						 "no process has the rank of a launcher in its "
						 "environment: they are numbered in order of start")
				  : WS_OK;
}

/* Processes of one rank are of one machine and one time: it, and what it started. */
static enum ws_status check_twice(struct rnk_job *job, struct ws_err *err)
{
	const struct rnk_member *first = NULL;

	for (size_t i = 0; i < job->n_members; i++) {
		struct rnk_member *member = &job->members[i];

		if (!member->ranked)
			break;
		member->first = !first || first->rank != member->rank;
		if (member->first) {
			first = member;
			job->n_ranks++;
			job->nodes[member->node].n_ranks++;
			continue;
		}
		if (member->node != first->node ||
		    member->process->init_ns > first->process->fini_ns ||
		    (member->process->pid == first->process->pid &&
		     member->process->init_ns == first->process->init_ns))
			return ws_fail(err, WS_E_STATE,
				       "rank %" PRIu64 " is there twice, in '%s' and '%s': merge "
				       "the ranks of one run",
				       first->rank, first->process->path, member->process->path);
	}
	return WS_OK;
}

/* ---- notes ---- */

static enum ws_status note_missing(struct rnk_job *job, struct ws_err *err)
{
	struct ws_buf list;
	uint64_t rank = 0, n_missing = 0;
	enum ws_status st = WS_OK;

	if (!job->size || job->n_ranks >= job->size)
		return WS_OK;
	ws_buf_init(&list, 1024);
	for (size_t i = 0; i <= job->n_members; i++) {
		bool end = i == job->n_members || !job->members[i].ranked;
		uint64_t next = end ? job->size : job->members[i].rank;

		for (; rank < next && n_missing < LISTED_MAX; rank++, n_missing++)
			ws_buf_printf(&list, "%s%" PRIu64, n_missing ? ", " : "", rank);
		rank = next + 1;
		if (end)
			break;
	}
	n_missing = job->size - job->n_ranks;
	st = rnk_job_note(job, err,
			  "%s %s%s %s missing: %zu of %" PRIu64
			  " ranks are there, and waits are those for the ranks that are",
			  n_missing == 1 ? "rank" : "ranks", list.at,
			  n_missing > LISTED_MAX ? ", ..." : "", n_missing == 1 ? "is" : "are",
			  job->n_ranks, job->size);
	ws_buf_fini(&list);
	return st;
}

static enum ws_status note_damage(struct rnk_job *job, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < job->n_members; i++) {
		const struct trc_process *process = job->members[i].process;
		const struct cap_damage *damage = &process->damage;

		if (cap_damage_any(damage))
			st = rnk_job_note(job, err,
					  "'%s' is damaged or truncated: %" PRIu64
					  " bytes and %" PRIu64
					  " chunks could not be read; the rest is merged",
					  process->path, damage->n_skipped_bytes,
					  damage->n_cut + damage->n_heads + damage->n_pages_cut);
		else if (!process->ended)
			st = rnk_job_note(job, err,
					  "'%s' has no end: the process was killed, or still runs",
					  process->path);
	}
	return st;
}

/* Domains in which some ranks recorded events and others did not. */
static enum ws_status note_kinds(struct rnk_job *job, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (unsigned d = 0; !st && d < CAP_DOMAIN_COUNT; d++) {
		const struct rnk_member *without = NULL;
		size_t n_with = 0, n_without = 0;

		for (size_t i = 0; i < job->n_members && job->members[i].ranked;) {
			const struct rnk_member *first = &job->members[i];
			bool any = false;

			for (; i < job->n_members && job->members[i].ranked &&
			       job->members[i].rank == first->rank;
			     i++)
				any |= job->members[i].process->ledger[d].written != 0;
			n_with += any;
			n_without += !any;
			without = any || without ? without : first;
		}
		if (n_with && n_without)
			st = rnk_job_note(job, err,
					  "%s: recorded by %zu ranks, not by %zu others such as "
					  "rank %" PRIu64,
					  trc_domain_label(d), n_with, n_without, without->rank);
	}
	return st;
}

/* ---- the job ---- */

static void sort_nodes(struct rnk_job *job)
{
	for (size_t i = 0; i < job->n_members; i++)
		job->members[i].node = node_of(job, job->members[i].process);
}

enum ws_status rnk_job_open(struct trc_trace *trace, struct rnk_job **out_job, struct ws_err *err)
{
	struct rnk_job *job = calloc(1, sizeof(*job));
	size_t n = trc_n_processes(trace);
	enum ws_status st = WS_OK;

	if (!job)
		return ws_fail(err, WS_E_NOMEM, "%zu processes", n);
	job->trace = trace;
	ws_vec_init(&job->notes, NOTES_MAX);
	job->members = calloc(n + 1, sizeof(*job->members));
	job->nodes = calloc(n + 1, sizeof(*job->nodes));
	job->n_members = n;
	if (!job->members || !job->nodes)
		st = ws_fail(err, WS_E_NOMEM, "%zu processes", n);
	else if (!n)
		st = ws_fail(err, WS_E_NOTFOUND, "no process to merge");
	if (!st)
		st = find_ranks(job, err);
	if (!st) {
		qsort(job->members, n, sizeof(*job->members), by_rank);
		sort_nodes(job);
		st = check_twice(job, err);
	}
	if (!st)
		st = note_missing(job, err);
	if (!st)
		st = note_damage(job, err);
	if (!st)
		st = note_kinds(job, err);
	if (st) {
		rnk_job_close(job);
		return st;
	}
	*out_job = job;
	return WS_OK;
}

void rnk_node_ranks_text(const struct rnk_job *job, size_t node, char *to, size_t room)
{
	uint64_t first = 0, last = 0;
	bool open = false;
	size_t n = 0;

	*to = 0;
	for (size_t i = 0; i <= job->n_members; i++) {
		const struct rnk_member *member = i < job->n_members ? &job->members[i] : NULL;

		if (member && (!member->first || member->node != node))
			continue;
		if (member && open && member->rank == last + 1) {
			last = member->rank;
			continue;
		}
		if (open && n + 48 > room) {
			snprintf(to + n, room - n, "...");
			return;
		}
		if (open)
			n += (size_t)snprintf(to + n, room - n,
					      first == last ? "%s%" PRIu64
							    : "%s%" PRIu64 "-%" PRIu64,
					      n ? "," : "", first, last);
		if (member)
			first = last = member->rank;
		open = member != NULL;
	}
}
