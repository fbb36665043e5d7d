#include "serve/profile.h"

#include "base/map.h"
#include "base/util.h"
#include "report/json.h"
#include "report/report.h"
#include "serve/profile_filter.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS_MAX (1u << 24)

struct srv_profile {
	const struct rpt_report *rpt;
	struct ana_eval_how how;
	uint32_t **kernel_numbers;    /* by run and kernel: its number in the list of filters */
	WS_VEC(const char *) kernels; /* that list: names for people */
	struct ws_arena arena;
	pthread_mutex_t mutex; /* analysis/ and report/ are for one thread */
};

/* ---- opening ---- */

/* Kernels of all runs, each name once: by time in the first run, then what others add. */
static enum ws_status number_kernels(struct srv_profile *p, struct ws_err *err)
{
	enum ws_status st = WS_OK;
	struct ws_map numbers;

	ws_map_init(&numbers, WS_MAP_STR, KERNELS_MAX);
	for (size_t r = 0; !st && r < p->rpt->n_runs; r++) {
		const struct rpt_run *run = &p->rpt->runs[r];

		p->kernel_numbers[r] =
			ws_arena_array(&p->arena, run->load->n_kernels + 1, sizeof(uint32_t));
		if (!p->kernel_numbers[r])
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
		for (size_t i = 0; !st && i < run->n_top; i++) {
			uint32_t kernel = run->top[i].kernel;
			const struct wl_kernel_name *name = &run->load->kernels[kernel];
			struct ws_map_entry *entry = ws_map_find(&numbers, ws_str_from(name->name));
			uint32_t number =
				entry ? (uint32_t)(uintptr_t)entry->value : (uint32_t)p->kernels.n;

			p->kernel_numbers[r][kernel] = number;
			if (entry)
				continue;
			st = ws_vec_push(&p->kernels, name->shown, err);
			if (!st)
				st = ws_map_put(&numbers, ws_str_from(name->name),
						(void *)(uintptr_t)number, err);
		}
	}
	ws_map_fini(&numbers);
	return st;
}

enum ws_status srv_profile_create(const struct rpt_report *rpt, const struct ana_eval_how *how,
				  struct srv_profile **out_profile, struct ws_err *err)
{
	struct srv_profile *p = calloc(1, sizeof(*p));
	enum ws_status st;

	if (!p)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	p->rpt = rpt;
	p->how = *how;
	pthread_mutex_init(&p->mutex, NULL);
	ws_vec_init(&p->kernels, KERNELS_MAX);
	ws_arena_init(&p->arena, SIZE_MAX);
	p->kernel_numbers = ws_arena_array(&p->arena, rpt->n_runs, sizeof(*p->kernel_numbers));
	st = p->kernel_numbers ? number_kernels(p, err) : ws_fail(err, WS_E_NOMEM, "out of memory");
	if (st) {
		srv_profile_destroy(p);
		return st;
	}
	*out_profile = p;
	return WS_OK;
}

void srv_profile_destroy(struct srv_profile *p)
{
	if (!p)
		return;
	ws_vec_fini(&p->kernels);
	ws_arena_fini(&p->arena);
	pthread_mutex_destroy(&p->mutex);
	free(p);
}

/* ---- what a request selects ---- */

/* A report of that; its runs are copies that share what they were read from. */
struct narrowed {
	struct rpt_report rpt;
	struct rpt_options how;
	struct ana_eval_how eval_how;
};

/* Ids of files: what is no number is in no list. */
static bool is_in(const struct srv_number_set *set, double id)
{
	return !set->n || (id >= 0 && id <= UINT32_MAX && srv_number_set_has(set, (uint64_t)id));
}

static enum ws_status narrow_run(struct srv_profile *p, const struct srv_profile_filter *filter,
				 size_t number, struct narrowed *to, struct ws_err *err)
{
	const struct rpt_run *from = &p->rpt->runs[number];
	const struct wl_workload *load = from->load;
	struct rpt_run *run = &to->rpt.runs[to->rpt.n_runs];
	uint32_t *rows = ws_arena_array(&to->rpt.arena, from->rows.n + 1, sizeof(*rows));
	size_t n = 0;

	if (!rows)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < from->rows.n; i++) {
		uint32_t row = from->rows.rows[i];

		if (is_in(&filter->gpus, load->gpu_id[row]) &&
		    is_in(&filter->dispatches, load->dispatch_id[row]) &&
		    srv_number_set_has(&filter->kernels,
				       p->kernel_numbers[number][load->kernel_of[row]]))
			rows[n++] = row;
	}
	if (!n)
		return ws_fail(err, WS_E_NOTFOUND,
			       "no dispatch of '%s' is selected: choose other kernels, GPUs or "
			       "dispatches",
			       from->path);
	*run = (struct rpt_run){ .path = from->path, .load = from->load, .metrics = from->metrics };
	run->rows = run->listed =
		(struct ana_selection){ .rows = rows, .n = n, .all = n == load->n_rows };
	to->rpt.n_runs++;
	return WS_OK;
}

static void narrowed_fini(struct narrowed *of)
{
	for (size_t i = 0; i < of->rpt.n_runs; i++)
		ana_eval_destroy(of->rpt.runs[i].eval);
	ws_buf_fini(&of->rpt.out);
	ws_arena_fini(&of->rpt.arena);
}

/* To be released in any case. */
static enum ws_status narrow(struct srv_profile *p, const struct srv_profile_filter *filter,
			     struct narrowed *to, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	*to = (struct narrowed){ .how = *p->rpt->how, .eval_how = p->how };
	ws_arena_init(&to->rpt.arena, SIZE_MAX);
	ws_buf_init(&to->rpt.out, SIZE_MAX);
	to->rpt.how = &to->how;
	to->rpt.quiet = true;
	if (filter->norm >= 0)
		to->how.norm = filter->norm;
	if (filter->n_in_top >= 0)
		to->how.max_stat_num = filter->n_in_top;
	to->eval_how.norm = (enum ana_norm)to->how.norm;
	to->rpt.runs = ws_arena_array(&to->rpt.arena, p->rpt->n_runs, sizeof(*to->rpt.runs));
	if (!to->rpt.runs)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t r = 0; !st && r < p->rpt->n_runs; r++)
		if (srv_number_set_has(&filter->runs, r))
			st = narrow_run(p, filter, r, to, err);
	if (!st && !to->rpt.n_runs)
		st = ws_fail(err, WS_E_NOTFOUND, "no workload is selected: choose one");
	if (!st)
		to->rpt.metrics = to->rpt.runs[0].metrics;
	return st;
}

static enum ws_status evaluate(struct narrowed *of, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t r = 0; !st && r < of->rpt.n_runs; r++) {
		struct rpt_run *run = &of->rpt.runs[r];

		st = ana_top_kernels(run->load, &run->listed, &of->rpt.arena, &run->top,
				     &run->n_top, err);
		if (!st)
			st = ana_eval_create(run->load, &run->rows, run->metrics, &of->eval_how,
					     &run->eval, err);
	}
	return st;
}

/* ---- what can be selected ---- */

static bool has_number(const double *numbers, size_t n, double number)
{
	for (size_t i = 0; i < n; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/* Their ids in all runs, a dozen at most. */
static void put_gpus(const struct srv_profile *p, struct ws_buf *out)
{
	double seen[64];
	size_t n = 0;

	ws_buf_add(out, "\"gpus\":[");
	for (size_t r = 0; r < p->rpt->n_runs; r++) {
		const struct rpt_run *run = &p->rpt->runs[r];

		for (size_t i = 0; i < run->rows.n && n < WS_ARRAY_LEN(seen); i++) {
			double id = run->load->gpu_id[run->rows.rows[i]];

			if (!(id >= 0) || has_number(seen, n, id))
				continue;
			seen[n++] = id;
			ws_buf_printf(out, "%.0f,", id);
		}
	}
	rpt_json_close(out, "],");
}

static void put_choices(const struct srv_profile *p, struct ws_buf *out)
{
	double last = 0;

	for (size_t r = 0; r < p->rpt->n_runs; r++) {
		const struct rpt_run *run = &p->rpt->runs[r];

		for (size_t i = 0; i < run->rows.n; i++)
			last = fmax(last, run->load->dispatch_id[run->rows.rows[i]]);
	}
	ws_buf_add(out, "{\"norms\":[");
	for (size_t i = 0; ana_norm_words[i]; i++)
		ws_buf_printf(out, "\"%s\",", ana_norm_words[i]);
	rpt_json_close(out, "],");
	ws_buf_printf(out, "\"norm\":\"%s\",\"inTop\":%" PRId64 ",\"lastDispatch\":%.0f,",
		      ana_norm_words[p->rpt->how->norm], p->rpt->how->max_stat_num, last);
	put_gpus(p, out);
	ws_buf_add(out, "\"runs\":[");
	for (size_t r = 0; r < p->rpt->n_runs; r++) {
		rpt_json_text(out, p->rpt->runs[r].path);
		ws_buf_add(out, ",");
	}
	rpt_json_close(out, "],\"kernels\":[");
	for (size_t i = 0; i < p->kernels.n; i++) {
		rpt_json_text(out, p->kernels.at[i]);
		ws_buf_add(out, ",");
	}
	rpt_json_close(out, "]}");
}

/* ---- requests ---- */

static enum ws_status answer_page(struct srv_profile *p, struct narrowed *of,
				  const struct srv_request *request, struct srv_answer *answer,
				  struct ws_err *err)
{
	struct rpt_page_live live = { .nonce = request->nonce };
	struct ws_buf choices;
	enum ws_status st = evaluate(of, err);

	ws_buf_init(&choices, SIZE_MAX);
	put_choices(p, &choices);
	live.choices = choices.at;
	if (!st)
		st = ws_buf_status(&choices, err);
	if (!st)
		st = rpt_page_html(&of->rpt, &live, &answer->body, err);
	ws_buf_fini(&choices);
	return st;
}

/* Whether something is selected: the number of dispatches of each workload. */
static enum ws_status answer_check(struct srv_profile *p, struct narrowed *of,
				   const struct srv_request *request, struct srv_answer *answer,
				   struct ws_err *err)
{
	(void)p;
	(void)request;
	(void)err;
	answer->type = SRV_TYPE_JSON;
	for (size_t r = 0; r < of->rpt.n_runs; r++)
		ws_buf_printf(&answer->body, "%s%zu", r ? "," : "[", of->rpt.runs[r].rows.n);
	ws_buf_add(&answer->body, "]");
	return WS_OK;
}

static const struct {
	const char *path;
	enum ws_status (*answer)(struct srv_profile *p, struct narrowed *of,
				 const struct srv_request *request, struct srv_answer *answer,
				 struct ws_err *err);
} resources[] = {
	{ "", answer_page },
	{ "check", answer_check },
};

enum ws_status srv_profile_answer(void *of, const struct srv_request *request,
				  struct srv_answer *answer, struct ws_err *err)
{
	struct srv_profile *p = of;
	struct srv_profile_filter filter;
	struct narrowed narrowed;
	enum ws_status st;

	for (size_t i = 0; i < WS_ARRAY_LEN(resources); i++) {
		if (strcmp(resources[i].path, request->path) != 0)
			continue;
		st = srv_profile_filter_read(request, &filter, err);
		if (st)
			return st;
		pthread_mutex_lock(&p->mutex);
		st = narrow(p, &filter, &narrowed, err);
		if (!st)
			st = resources[i].answer(p, &narrowed, request, answer, err);
		narrowed_fini(&narrowed);
		pthread_mutex_unlock(&p->mutex);
		return st;
	}
	return ws_fail(err, WS_E_NOTFOUND, "there is no such page");
}
