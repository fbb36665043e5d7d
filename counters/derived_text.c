/*
 * How good the values are: each is exact, modelled, sampled, multiplexed or absent. The
 * descriptions of counters in files say so, and so does the report.
 */
#include "counters/derived_priv.h"

#include "base/log.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* ---- in the files ---- */

static const char *why_absent(const struct cnt_derived_gpu *gpu,
			      const struct cnt_derived_request *wanted)
{
	const struct cnt_plan_request *r = wanted->request;

	if (r->state != CNT_PLAN_AVAILABLE)
		return r->why;
	for (size_t i = 0; i < r->n_reads; i++)
		if (!gpu->columns[r->reads[i]])
			return "the run for this counter did not take place";
	return gpu->n_rows ? "no dispatch has all of its inputs"
			   : "no dispatch was counted on this GPU";
}

static const char *words_for(struct cnt_derived *d, const struct cnt_derived_gpu *gpu,
			     const struct cnt_derived_request *wanted)
{
	struct ws_buf text;
	char *kept;

	ws_buf_init(&text, 1024);
	if (!wanted->n_seen) {
		ws_buf_printf(&text, "absent: %s", why_absent(gpu, wanted));
	} else {
		ws_buf_add(&text, gpu->agent->info->flags & CAP_AGENT_SOFT
					  ? cnt_fidelity_word(wanted->request->fidelity)
					  : "hardware");
		if (wanted->least_sampled < 1)
			ws_buf_printf(&text, ", sampled: %.1f%% of the workgroups",
				      wanted->least_sampled * 100);
		if (wanted->n_seen < gpu->n_rows)
			ws_buf_printf(&text, ", multiplexed: in %llu of %llu dispatches",
				      (unsigned long long)wanted->n_seen,
				      (unsigned long long)gpu->n_rows);
	}
	kept = ws_arena_strdup(&d->arena, text.at ? text.at : "");
	ws_buf_fini(&text);
	return kept ? kept : "";
}

static enum ws_status describe(struct cnt_derived *d, struct trc_trace *trace, size_t process,
			       const struct cnt_derived_gpu *gpu,
			       const struct cnt_derived_request *wanted, struct trc_counter *out)
{
	const struct cnt_plan_request *r = wanted->request;
	struct {
		struct cap_rec_counter rec;
		struct cap_counter_dim dims[CNT_SHAPE_MAX];
	} *fact = ws_arena_alloc(&d->arena, sizeof(*fact));
	uint32_t shift = 0;

	if (!fact)
		return WS_E_NOMEM;
	memset(fact, 0, sizeof(*fact));
	fact->rec.h.what = wanted->id;
	fact->rec.agent = gpu->agent->info->h.what;
	if (r->counter && r->counter->kind == CNT_COUNTER_CONSTANT)
		fact->rec.flags |= CAP_COUNTER_IS_CONSTANT;
	if (r->counter && r->counter->kind == CNT_COUNTER_DERIVED)
		fact->rec.flags |= CAP_COUNTER_IS_DERIVED;
	if (r->fidelity != CNT_FIDELITY_EXACT)
		fact->rec.flags |= CAP_COUNTER_IS_MODELLED;
	fact->rec.n_dims = wanted->shape.n_dims;
	for (unsigned i = wanted->shape.n_dims; i-- > 0;) {
		fact->dims[i] = (struct cap_counter_dim){
			.name_str = trc_add_string(trace, process,
						   cnt_dim_name(wanted->shape.at[i].dim)),
			.id = wanted->shape.at[i].dim,
			.n = wanted->shape.at[i].n,
			.shift = shift,
		};
		while (shift < 31 && 1u << (shift - fact->dims[i].shift) < wanted->shape.at[i].n)
			shift++;
	}
	*out = (struct trc_counter){
		.id = wanted->id,
		.name = r->name,
		.description = r->counter ? r->counter->text : "",
		.block = r->counter && r->counter->block ? r->counter->block->name : "",
		.expression = r->counter && r->counter->expression ? r->counter->expression
			      : r->expression                      ? r->expression
								   : "",
		.fidelity = words_for(d, gpu, wanted),
		.agent = gpu->agent,
		.info = &fact->rec,
		.dims = fact->dims,
	};
	return WS_OK;
}

enum ws_status cnt_derived_show(struct cnt_derived *d, struct trc_trace *trace, size_t process,
				size_t (*values)(void *, const struct trc_process *,
						 const struct cap_rec_dispatch *,
						 struct cap_counter_value *, size_t),
				struct ws_err *err)
{
	const struct trc_process *p = trc_process_at(trace, process);
	struct trc_counter *counters;
	size_t n = 1;

	for (size_t g = 0; g < d->n_gpus; g++)
		n += d->gpus[g].process == p ? d->gpus[g].n_requests : 0;
	counters = ws_arena_array(&d->arena, n, sizeof(*counters));
	if (!counters)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	counters[0] = (struct trc_counter){
		.name = "", .description = "", .block = "", .expression = "", .fidelity = ""
	};
	n = 1;
	for (size_t g = 0; g < d->n_gpus; g++)
		for (size_t i = 0; d->gpus[g].process == p && i < d->gpus[g].n_requests; i++, n++) {
			d->gpus[g].requests[i].id = (uint32_t)n;
			if (describe(d, trace, process, &d->gpus[g], &d->gpus[g].requests[i],
				     &counters[n]))
				return ws_fail(err, WS_E_NOMEM, "out of memory");
		}
	d->shown[process] = (struct trc_recount){ counters, n, values, d };
	trc_set_recount(trace, process, &d->shown[process]);
	return WS_OK;
}

/* ---- on the terminal ---- */

void cnt_derived_report(const struct cnt_derived *d, const struct trc_process *process,
			const char *folder, FILE *to)
{
	for (size_t g = 0; g < d->n_gpus; g++) {
		const struct cnt_derived_gpu *gpu = &d->gpus[g];
		unsigned n_exact = 0, n_modelled = 0, n_some = 0, n_absent = 0;
		double sampled = 1;

		if (gpu->process != process || !gpu->n_rows)
			continue;
		for (size_t i = 0; i < gpu->n_requests; i++) {
			const struct cnt_derived_request *a = &gpu->requests[i];

			n_absent += !a->n_seen;
			if (!a->n_seen)
				continue;
			n_exact += a->request->fidelity == CNT_FIDELITY_EXACT;
			n_modelled += a->request->fidelity != CNT_FIDELITY_EXACT;
			n_some += a->n_seen < gpu->n_rows;
			sampled = WS_MIN(sampled, a->least_sampled);
		}
		fprintf(to, "    counters of GPU %u%s%s: %u exact, %u modelled",
			gpu->agent->info->node_id - 1, *folder ? ", " : "", folder, n_exact,
			n_modelled);
		if (n_absent)
			fprintf(to, ", %u absent", n_absent);
		fputc('\n', to);
		if (sampled < 1)
			fprintf(to,
				"    sampled: as few as %.1f%% of a dispatch's workgroups "
				"were modelled, and scaled\n",
				sampled * 100);
		if (n_some)
			fprintf(to,
				"    multiplexed: %u counters have values in some of %llu "
				"dispatches only\n",
				n_some, (unsigned long long)gpu->n_rows);
		for (size_t i = 0; i < gpu->n_requests; i++)
			if (!gpu->requests[i].n_seen)
				fprintf(to, "    absent: %s: %s\n", gpu->requests[i].request->name,
					why_absent(gpu, &gpu->requests[i]));
	}
}

static void report_replay(const struct cnt_derived *d, FILE *to)
{
	uint64_t n_replayed = 0, n_runs = 0, n_bytes = 0, ns = 0;

	for (size_t i = 0; i < trc_counted_n_rows(d->table); i++) {
		const struct trc_counted_row *row = trc_counted_row(d->table, i);

		n_replayed += row->n_executed > 1;
		n_runs += row->n_executed > 1 ? row->n_executed : 0;
		n_bytes += row->saved_bytes;
		ns += row->replay_ns;
	}
	if (n_replayed)
		fprintf(to,
			"rocprofv3: kernel replay: %llu %s ran %.1f times each: %.1f MB saved and "
			"restored, %.3f s more\n",
			(unsigned long long)n_replayed, n_replayed == 1 ? "dispatch" : "dispatches",
			(double)n_runs / (double)n_replayed, (double)n_bytes / 1e6,
			(double)ns / 1e9);
}

/* Whether a process of runs 0 to @n_runs - 1 has this note. */
static bool was_noted(const struct trc_counted *table, size_t n_runs, const char *note)
{
	for (size_t r = 0; r < n_runs; r++) {
		struct trc_trace *run = trc_counted_run(table, r);

		for (size_t p = 0; p < trc_n_processes(run); p++) {
			const struct trc_process *process = trc_process_at(run, p);

			for (size_t i = 0; i < process->n_notes; i++)
				if (strcmp(process->notes[i], note) == 0)
					return true;
		}
	}
	return false;
}

/* Notes of the first run are printed with its processes; those of later runs here, each once. */
static void report_notes(const struct trc_counted *table)
{
	for (size_t r = 1; r < trc_counted_n_runs(table); r++) {
		struct trc_trace *run = trc_counted_run(table, r);

		for (size_t p = 0; p < trc_n_processes(run); p++) {
			const struct trc_process *process = trc_process_at(run, p);

			for (size_t i = 0; i < process->n_notes; i++)
				if (!was_noted(table, r, process->notes[i]))
					ws_log_warn("run %zu, process %u: %s", r + 1, process->pid,
						    process->notes[i]);
		}
	}
}

bool cnt_derived_report_runs(const struct cnt_derived *d, FILE *to)
{
	size_t n = trc_counted_n_differences(d->table);
	bool short_of = n > 0;

	if (to) {
		report_replay(d, to);
		report_notes(d->table);
	}
	for (size_t i = 0; to && i < n; i++) {
		const struct trc_counted_difference *diff = trc_counted_difference(d->table, i);

		ws_log_warn(
			"run %u differs from the first: kernel '%s': %llu dispatches missing, %llu "
			"additional: its values are reported only for dispatches that match",
			diff->run + 1, diff->kernel, (unsigned long long)diff->n_missing,
			(unsigned long long)diff->n_more);
	}
	for (size_t g = 0; g < d->n_gpus; g++)
		for (size_t i = 0; d->gpus[g].n_rows && i < d->gpus[g].n_requests; i++)
			short_of |= !d->gpus[g].requests[i].n_seen;
	return short_of;
}
