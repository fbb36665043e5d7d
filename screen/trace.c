/* The screens of captures, also of a program that runs. */
#include "screen/screen.h"

#include "analysis/findings.h"
#include "base/util.h"
#include "report/explain.h"
#include "report/findings.h"
#include "screen/activity.h"
#include "screen/browser.h"
#include "screen/words.h"
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COST_MAX 10 /* a reading may take this part of the time between two */

struct trace {
	const struct scr_captures *captures;
	const struct ana_metrics *metrics;
	int interval_ms;
	struct trc_trace *open;
	struct trc_mark *read; /* what is in `now`; NULL: nothing yet */
	struct scr_activity now;
	size_t *order;     /* kernels as they are listed */
	bool gone;         /* the captures are not there any more; this is what they had */
	uint64_t spent_ns; /* by the last reading */
	size_t sort;
	bool reversed;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- reading ---- */

/* What is new. If that fails, all is read the next time. */
static enum ws_status add_new(struct trace *t, struct trc_trace *trace, struct ws_err *err)
{
	struct trc_mark *mark = NULL;
	size_t *order;
	enum ws_status st;

	if (!t->read) {
		scr_activity_fini(&t->now);
		scr_activity_init(&t->now);
	}
	st = scr_activity_add(&t->now, trace, clock_ns(CLOCK_BOOTTIME), err);
	order = realloc(t->order, (t->now.kernels.n + 1) * sizeof(*order));
	if (order)
		t->order = order;
	else if (!st)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	if (!st)
		st = trc_mark_take(trace, &mark, err);
	trc_mark_free(t->read);
	t->read = mark;
	return st;
}

static enum ws_status read_again(struct trace *t, struct ws_err *err)
{
	uint64_t before_ns = clock_ns(CLOCK_MONOTONIC);
	const struct ws_strv *paths;
	struct trc_opts opts = { .since = t->read };
	struct trc_trace *trace = NULL;
	enum ws_status st = t->captures->find(t->captures->of, &paths, err);

	if (!st && !t->open) /* before the first reading, which may take long */
		st = scr_check(SCR_WITHOUT_TRACE, err);
	if (!st)
		st = trc_open(paths->at, paths->n, &opts, &trace, err);
	if (st) /* what was read before stays */
		return st;
	st = add_new(t, trace, err);
	trc_close(t->open);
	t->open = trace;
	t->spent_ns = clock_ns(CLOCK_MONOTONIC) - before_ns;
	return st;
}

static int next_wait_ms(const struct trace *t)
{
	uint64_t rest_ms = t->spent_ns / 1000000u * COST_MAX;

	if (!t->now.n_running || t->gone)
		return -1;
	return WS_MAX(t->interval_ms, (int)WS_MIN(rest_ms, (uint64_t)600000));
}

/* The front end removes the captures when it has converted them: what was seen last stays. */
static enum scr_change idle(void *of, int *wait_ms)
{
	struct trace *t = of;
	struct ws_err ignored;

	t->gone = read_again(t, &ignored) != WS_OK;
	*wait_ms = next_wait_ms(t);
	return SCR_PAGES_CHANGED;
}

/* ---- GPUs ---- */

static double seconds(const struct scr_activity *a)
{
	return (double)(a->to_ns - a->from_ns) / 1e9;
}

static double rate(double n, const struct scr_activity *a)
{
	return a->to_ns > a->from_ns ? n / seconds(a) : NAN;
}

static void add_history(const struct scr_activity *a, const struct scr_gpu_activity *gpu,
			struct ws_buf *out)
{
	static const char *const bars[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	const size_t full = WS_ARRAY_LEN(bars) - 1;

	for (size_t i = 0; i < SCR_SLOTS; i++) {
		size_t level =
			(size_t)((double)gpu->slots[i] / (double)a->slot_ns * (double)full + 0.5);

		/* What is busy at all is seen. */
		level = WS_MIN(WS_MAX(level, (size_t)(gpu->slots[i] > 0)), full);
		ws_buf_add(out, bars[level]);
	}
}

static void add_gpu(const struct scr_activity *a, const struct scr_gpu_activity *gpu,
		    struct ws_buf *out)
{
	char copied[SCR_TIME_BYTES], memory[SCR_TIME_BYTES], peak[SCR_TIME_BYTES];

	ws_buf_printf(out, "GPU %u %s, %s (%u): %llu kernels, %llu copies\n", gpu->node, gpu->name,
		      gpu->program, gpu->pid, (unsigned long long)gpu->n_kernels,
		      (unsigned long long)gpu->n_copies);
	ws_buf_printf(out, "  busy %5.1f %% ", 100 * rate((double)gpu->recent_busy_ns / 1e9, a));
	add_history(a, gpu, out);
	ws_buf_printf(out, "\n  %.1f kernels/s  %s/s copied", rate((double)gpu->n_recent, a),
		      scr_bytes_text(copied, rate((double)gpu->recent_copied_bytes, a)));
	if (gpu->memory_known)
		ws_buf_printf(out, "  memory %s, at most %s\n",
			      scr_bytes_text(memory, (double)gpu->memory_bytes),
			      scr_bytes_text(peak, (double)gpu->memory_peak_bytes));
	else
		ws_buf_add(out, "  memory: not recorded (--memory-allocation-trace)\n");
}

/* ---- kernels ---- */

/* clang-format off */
#define COLUMN_TABLE(X)  /* heading, width, value to sort by, descending */ \
	X("total",    9, (double)k->sum_ns)                                 \
	X("calls",    8, (double)k->n)                                      \
	X("calls/s",  8, (double)k->n_recent)                               \
	X("mean",     9, (double)k->sum_ns / (double)k->n)                  \
	X("max",      9, (double)k->max_ns)
/* clang-format on */

static const struct {
	const char *name;
	int width;
} columns[] = {
#define COLUMN_ROW(name, width, value) { name, width },
	COLUMN_TABLE(COLUMN_ROW)
#undef COLUMN_ROW
};

static double column_value(const struct scr_kernel_activity *k, size_t column)
{
	const double values[] = {
#define COLUMN_ROW(name, width, value) value,
		COLUMN_TABLE(COLUMN_ROW)
#undef COLUMN_ROW
	};

	return values[column];
}

static int by_column(const void *x, const void *y, void *of)
{
	const struct trace *t = of;
	size_t a = *(const size_t *)x, b = *(const size_t *)y;
	double va = column_value(&t->now.kernels.at[a], t->sort);
	double vb = column_value(&t->now.kernels.at[b], t->sort);
	int order = va < vb ? 1 : va > vb ? -1 : (a > b) - (a < b);

	return t->reversed ? -order : order;
}

static void add_kernel(const struct trace *t, size_t number, struct ws_buf *out)
{
	const struct scr_activity *a = &t->now;
	const struct scr_kernel_activity *k = &a->kernels.at[number];
	char total[SCR_TIME_BYTES], mean[SCR_TIME_BYTES], max[SCR_TIME_BYTES];

	ws_buf_printf(out, "%4zu  %6.1f %9s  %8llu  %8.1f  %9s  %9s  %s\n", number,
		      a->kernels_ns ? 100 * (double)k->sum_ns / (double)a->kernels_ns : 0.0,
		      scr_time_text(total, (double)k->sum_ns), (unsigned long long)k->n,
		      rate((double)k->n_recent, a),
		      scr_time_text(mean, (double)k->sum_ns / (double)k->n),
		      scr_time_text(max, (double)k->max_ns), k->name);
}

static enum ws_status fill_activity(void *of, const char *arg, struct scr_area area,
				    struct scr_pane *pane, struct ws_err *err)
{
	struct trace *t = of;
	const struct scr_activity *a = &t->now;
	size_t n_head = 3 * a->gpus.n + 1;

	(void)arg;
	if (!a->kernels.n && !a->gpus.n)
		return ws_fail(err, WS_E_NOTFOUND,
			       a->n_running ? "no kernel or copy has ended yet"
					    : "there are no kernels or copies: record them with "
					      "'rocprofv3 --sys-trace'");
	for (size_t i = 0; i < a->kernels.n; i++)
		t->order[i] = i;
	qsort_r(t->order, a->kernels.n, sizeof(*t->order), by_column, t);
	for (size_t i = 0; i < a->gpus.n; i++)
		add_gpu(a, &a->gpus.at[i], &pane->text);
	ws_buf_add(&pane->text, "   #  time %");
	for (size_t i = 0; i < WS_ARRAY_LEN(columns); i++)
		ws_buf_printf(&pane->text, " %*s%s", columns[i].width, columns[i].name,
			      i != t->sort  ? " "
			      : t->reversed ? "▲"
					    : "▼");
	ws_buf_add(&pane->text, " kernel\n");
	for (size_t i = 0; i < a->kernels.n; i++)
		add_kernel(t, t->order[i], &pane->text);
	pane->n_head = n_head <= area.n_rows / 2 ? n_head : 0; /* many GPUs are scrolled */
	return WS_OK;
}

static const struct scr_page_kind kernel_page;

static const struct scr_page_kind *open_kernel(void *of, struct ws_str line,
					       char out_arg[SCR_ARG_BYTES])
{
	struct trace *t = of;
	uint64_t number;

	return scr_first_word(line, out_arg, SCR_ARG_BYTES) &&
			       ws_str_u64(ws_str_from(out_arg), &number) &&
			       number < t->now.kernels.n
		       ? &kernel_page
		       : NULL;
}

static const struct scr_page_kind activity_page = {
	.name = "Activity",
	.has_cursor = true,
	.fill = fill_activity,
	.open = open_kernel,
	.keys = "s sort  r reverse",
};

static enum ws_status fill_kernel(void *of, const char *arg, struct scr_area area,
				  struct scr_pane *pane, struct ws_err *err)
{
	struct trace *t = of;
	const struct scr_activity *a = &t->now;
	const struct scr_kernel_activity *k;
	char room[SCR_TIME_BYTES];
	uint64_t number;

	if (!ws_str_u64(ws_str_from(arg), &number) || number >= a->kernels.n)
		return ws_fail(err, WS_E_NOTFOUND, "there is no kernel %s", arg);
	k = &a->kernels.at[number];
	rpt_text_fill(k->name, 0, 2, area.n_columns, &pane->text);
	ws_buf_printf(&pane->text, "\n  calls    %llu, %.1f per second\n", (unsigned long long)k->n,
		      rate((double)k->n_recent, a));
	ws_buf_printf(&pane->text, "  total    %s, %.1f %% of all kernels\n",
		      scr_time_text(room, (double)k->sum_ns),
		      a->kernels_ns ? 100 * (double)k->sum_ns / (double)a->kernels_ns : 0.0);
	ws_buf_printf(&pane->text, "  mean     %s\n",
		      scr_time_text(room, (double)k->sum_ns / (double)k->n));
	ws_buf_printf(&pane->text, "  shortest %s\n", scr_time_text(room, (double)k->min_ns));
	ws_buf_printf(&pane->text, "  longest  %s\n", scr_time_text(room, (double)k->max_ns));
	return WS_OK;
}

static const struct scr_page_kind kernel_page = { .name = "Kernel", .fill = fill_kernel };

/* ---- findings ---- */

static enum ws_status fill_findings(void *of, const char *arg, struct scr_area area,
				    struct scr_pane *pane, struct ws_err *err)
{
	struct trace *t = of;
	struct ana_findings_how how = { .min_share_pct = -1, .min_gain_pct = -1 };
	struct ana_findings *found;
	struct ws_arena arena;
	enum ws_status st;

	(void)arg;
	(void)area;
	ws_arena_init(&arena, SIZE_MAX);
	trc_unmark(t->open); /* findings are about all of it */
	st = ana_findings_of_trace(t->open, t->captures->path, t->metrics, &how, &arena, &found,
				   err);
	if (!st)
		rpt_findings_text(found, found->n, "", &arena, &pane->text);
	ws_arena_fini(&arena);
	return st;
}

static const struct scr_page_kind findings_page = { .name = "Findings",
						    .has_cursor = true,
						    .fill = fill_findings };

/* ---- all of it ---- */

static enum scr_change press(void *of, int key, struct ws_str line)
{
	struct trace *t = of;

	(void)line;
	switch (key) {
	case 's':
		t->sort = (t->sort + 1) % WS_ARRAY_LEN(columns);
		return SCR_PAGE_CHANGED;
	case 'r':
		t->reversed = !t->reversed;
		return SCR_PAGE_CHANGED;
	default:
		return SCR_UNCHANGED;
	}
}

static void write_title(void *of, struct ws_buf *out)
{
	struct trace *t = of;
	const struct scr_activity *a = &t->now;
	char room[SCR_TIME_BYTES];

	if (a->n_processes == 1)
		ws_buf_printf(out, " %s (%u)", a->program, a->pid);
	else
		ws_buf_printf(out, " %zu processes", a->n_processes);
	if (t->gone)
		ws_buf_add(out, "  ended, and its captures were converted");
	else if (a->n_running)
		ws_buf_printf(out, "  %zu running", a->n_running);
	else
		ws_buf_add(out, "  ended");
	ws_buf_printf(out, "  %s of events",
		      scr_time_text(room, (double)(a->last_ns - a->first_ns)));
	if (a->n_running && !t->gone)
		ws_buf_printf(out, ", rates of the last %.0f s", seconds(a));
	if (strcmp(a->times, "hardware") != 0)
		ws_buf_printf(out, "  GPU times: %s", a->times);
	if (a->n_dropped)
		ws_buf_printf(out, "  %llu records dropped", (unsigned long long)a->n_dropped);
	ws_buf_printf(out, "  %s", t->captures->path);
}

static const struct scr_page_kind *const tabs[] = { &activity_page, &findings_page, NULL };

static const char help[] =
	"  s r            sort kernels by the next column; reverse\n"
	"  Activity: a row of bars is the time from the first event to now, in 60 parts;\n"
	"  a full bar is a part in which a kernel or a copy ran all the time. While the\n"
	"  program runs, rates are of the last 5 seconds. Enter on a kernel shows more.\n";

enum ws_status scr_trace(const struct scr_captures *captures, const struct ana_metrics *metrics,
			 int interval_ms, struct ws_err *err)
{
	struct trace t = { .captures = captures, .metrics = metrics, .interval_ms = interval_ms };
	struct scr_subject subject = {
		.of = &t,
		.tabs = tabs,
		.title = write_title,
		.key = press,
		.idle = idle,
		.help = help,
		.instead = SCR_WITHOUT_TRACE,
	};
	enum ws_status st = read_again(&t, err);

	subject.wait_ms = next_wait_ms(&t);
	if (!st)
		st = scr_browse(&subject, err);
	scr_activity_fini(&t.now);
	trc_mark_free(t.read);
	trc_close(t.open);
	free(t.order);
	return st;
}
