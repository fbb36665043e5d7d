#include "counters/plan_priv.h"

#include "base/cmd.h"

#include <string.h>

#define WIDTH 100u

/* "pass 1", or "passes 1, 3" where a counter's inputs did not fit together. */
static void print_passes(FILE *to, const struct cnt_plan *plan, const struct cnt_plan_request *q)
{
	unsigned last = UINT32_MAX, n = 0;

	if (!q->n_reads) {
		fprintf(to, "known without a run");
		return;
	}
	fprintf(to, q->one_pass ? "pass " : "passes ");
	for (size_t i = 0; i < q->n_reads; i++) {
		unsigned pass = plan->reads[q->reads[i]].pass;

		if (pass != last)
			fprintf(to, "%s%u", n++ ? ", " : "", pass + 1);
		last = pass;
	}
}

static void print_request(FILE *to, const struct cnt_plan *plan, const struct cnt_plan_request *q,
			  int width)
{
	if (q->state) {
		fprintf(to, "  %-*s  not available\n      ", width, q->name);
		ws_help_fill(to, q->why, 6, WIDTH);
		return;
	}
	fprintf(to, "  %-*s  available", width, q->name);
	if (cnt_catalogue_is_soft(plan->cat))
		fprintf(to, "  %-8s", cnt_fidelity_word(q->fidelity));
	fprintf(to, "  ");
	print_passes(to, plan, q);
	fprintf(to, "\n");
	if (q->expression) {
		fprintf(to, "      = ");
		ws_help_fill(to, q->expression, 8, WIDTH);
	}
}

/* What each block has to do in this pass: "SQ 8 of 8, TCC 2 of 4". */
static void add_blocks(struct ws_buf *out, const struct cnt_plan *plan,
		       const struct cnt_plan_pass *pass)
{
	const struct cnt_counter_block *block = NULL;
	unsigned n = 0;

	for (uint32_t i = 0; i <= pass->n_reads; i++) {
		const struct cnt_plan_read *read = &plan->reads[pass->first_read + i];
		bool ends = i == pass->n_reads || read->counter->block != block;

		if (ends && block)
			ws_buf_printf(out, "%s %u of %u%s", block->name, n, block->limit,
				      i < pass->n_reads ? ", " : "");
		if (i == pass->n_reads)
			break;
		if (ends)
			n = 0;
		block = read->counter->block;
		n++;
	}
}

static void print_pass(FILE *to, const struct cnt_plan *plan, size_t number)
{
	const struct cnt_plan_pass *pass = &plan->passes[number];
	struct ws_buf line;

	ws_buf_init(&line, 1u << 20);
	fprintf(to, "  pass %zu: ", number + 1);
	add_blocks(&line, plan, pass);
	fprintf(to, "%s\n      ", line.at);
	ws_buf_clear(&line);
	for (uint32_t i = 0; i < pass->n_reads; i++)
		ws_buf_printf(&line, "%s%s", i ? " " : "",
			      plan->reads[pass->first_read + i].spelling);
	ws_help_fill(to, line.at, 6, WIDTH);
	ws_buf_fini(&line);
}

static void print_time(FILE *to, double seconds)
{
	if (seconds < 120)
		fprintf(to, "%.*f s", seconds < 10 ? 2 : 1, seconds);
	else if (seconds < 7200)
		fprintf(to, "%.0f min %.0f s", (double)((long)seconds / 60),
			seconds - (long)seconds / 60 * 60);
	else
		fprintf(to, "%.1f h", seconds / 3600);
}

static void print_cost(FILE *to, const struct cnt_plan *plan, const struct cnt_plan_cost *cost)
{
	size_t n_runs = cost->kernel_replay && plan->n_passes ? 1 : plan->n_passes;
	double slowdown = cost->slowdown > 0 ? cost->slowdown : 1;

	fprintf(to, "%zu %s, %zu %s of the application%s\n", plan->n_passes,
		plan->n_passes == 1 ? "pass" : "passes", n_runs, n_runs == 1 ? "run" : "runs",
		cost->kernel_replay ? ": kernels are replayed" : "");
	if (cost->baseline_s <= 0 || !plan->n_passes)
		return;
	fprintf(to, "expected time: ");
	print_time(to, cost->baseline_s * slowdown * (double)plan->n_passes);
	if (cost->kernel_replay)
		fprintf(to, " at most (%zu passes of ", plan->n_passes);
	else
		fprintf(to, " (%zu %s of ", n_runs, n_runs == 1 ? "run" : "runs");
	print_time(to, cost->baseline_s * slowdown);
	if (cost->slowdown > 0)
		fprintf(to, ", counting slows down %.2g times)\n", slowdown);
	else
		fprintf(to, ", without the overhead of counting)\n");
}

void cnt_plan_print(FILE *to, const struct cnt_plan *plan, const struct cnt_plan_cost *cost)
{
	size_t n_missing = 0;
	int width = 0;

	for (size_t i = 0; i < plan->n_requests; i++) {
		int n = (int)strlen(plan->requests[i].name);

		if (n > width && n < 48)
			width = n;
		n_missing += plan->requests[i].state != CNT_PLAN_AVAILABLE;
	}
	fprintf(to, "counters on %s%s:\n", cnt_catalogue_arch(plan->cat),
		cnt_catalogue_is_soft(plan->cat) ? " (software GPU)" : "");
	for (size_t i = 0; i < plan->n_requests; i++)
		print_request(to, plan, &plan->requests[i], width);
	if (plan->n_passes)
		fprintf(to, "passes:\n");
	for (size_t i = 0; i < plan->n_passes; i++)
		print_pass(to, plan, i);
	print_cost(to, plan, cost);
	if (n_missing)
		fprintf(to, "%zu of %zu counters not available\n", n_missing, plan->n_requests);
}
