#include "softgpu/cp/progress.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "softgpu/cp/stall.h"
#include "softgpu/device/log.h"
#include "softgpu/device/symbols.h"

#define PREFIX "wavescope gpu: "
#define SHORT_PREFIX "gpu: "
#define SECOND 1000000000ull
#define TERMINAL_AFTER_NS (5 * SECOND)
#define PIPE_AFTER_NS (30 * SECOND)
#define TICK_MOST_NS (SECOND / 4)
#define TICK_LEAST_NS (SECOND / 50)
#define MAX_AFTER_S 1000000
#define MAX_KERNELS 16
#define MAX_ROWS 6
#define TEXT_BYTES 1200

/* A kernel that is known to run. */
struct kernel {
	const struct sg_dispatch *dispatch; /* NULL: free */
	uint64_t id, n_done;
	uint64_t since_ns;       /* it was first seen */
	uint64_t waits_since_ns; /* 0: it gets on */
	struct sg_wg_wait wait;  /* what it was last seen to wait for */
	bool reported, reported_wait;
	char name[SG_SYMBOL_CHARS]; /* empty: not looked up yet */
};

struct sg_progress {
	bool terminal, colour;
	pid_t pid;
	uint64_t after_ns, tick_ns, next_ns;
	struct kernel kernels[MAX_KERNELS];
	struct sg_dispatch_view views[MAX_KERNELS];
	uint32_t n_views;

	pthread_mutex_t lock; /* what is on the terminal */
	_Atomic bool shown;
	_Atomic bool over; /* the process ends */
};

static struct sg_progress *_Atomic at_exit; /* whose line goes when the process ends */

/* --- writing --- */

static bool can_write(void)
{
	struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };

	/* a terminal that was stopped, or a pipe that nobody reads, must not stop the GPU */
	return poll(&out, 1, 0) == 1 && out.revents & POLLOUT;
}

/* A full-screen program, or one in the background, has no use for a line of ours. */
static bool may_draw(void)
{
	struct termios mode;

	return !tcgetattr(STDERR_FILENO, &mode) && mode.c_lflag & ICANON &&
	       tcgetpgrp(STDERR_FILENO) == getpgrp() && can_write();
}

static void write_out(const char *text, size_t n)
{
	if (write(STDERR_FILENO, text, n) < 0)
		return;
}

#define ERASE_BELOW                                                                                \
	"\033[J" /* from the cursor on: the line, wherever the program has moved since */

static void erase(struct sg_progress *p)
{
	pthread_mutex_lock(&p->lock);
	if (atomic_load(&p->shown) && can_write())
		write_out(ERASE_BELOW, strlen(ERASE_BELOW));
	atomic_store(&p->shown, false);
	pthread_mutex_unlock(&p->lock);
}

static int columns_of_terminal(void)
{
	struct winsize window;

	return !ioctl(STDERR_FILENO, TIOCGWINSZ, &window) && window.ws_col > 20 ? window.ws_col
										: 80;
}

static size_t put_times(char *line, size_t n, size_t size, const char *what, int times)
{
	while (times-- && n + strlen(what) < size)
		n += (size_t)snprintf(line + n, size - n, "%s", what);
	return n;
}

/*
 * Below the cursor, which then is where it was: what the program prints comes where it would have come, also
 * when it has begun a line. At the bottom of the screen, going down and up again makes space.
 */
static void draw(struct sg_progress *p, const char *text)
{
	int width = columns_of_terminal() - 1, rows = ((int)strlen(text) + width - 1) / width;
	char line[TEXT_BYTES + 128];
	size_t n = 0;

	rows = rows < 1 ? 1 : rows > MAX_ROWS ? MAX_ROWS : rows;
	n = put_times(line, n, sizeof(line), ERASE_BELOW, 1);
	n = put_times(line, n, sizeof(line), "\033D", rows);
	n = put_times(line, n, sizeof(line), "\033[A", rows);
	n = put_times(line, n, sizeof(line), p->colour ? "\0337\033[2m" : "\0337", 1);
	for (int row = 0; row < rows && n < sizeof(line); row++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, "\033[B\r%.*s", width,
				      text + row * width);
	n = put_times(line, n, sizeof(line), p->colour ? "\033[0m\0338" : "\0338", 1);
	pthread_mutex_lock(&p->lock);
	if (!atomic_load(&p->over) && may_draw()) {
		write_out(line, n < sizeof(line) ? n : sizeof(line) - 1);
		atomic_store(&p->shown, true);
	}
	pthread_mutex_unlock(&p->lock);
}

/* Writes once, until *reported is set; on a terminal every time. True: it was written. */
static bool write_line(struct sg_progress *p, const char *text, bool *reported)
{
	char line[TEXT_BYTES];
	int n;

	if (p->terminal) {
		draw(p, text);
		return true;
	}
	if (*reported || !can_write())
		return false;
	n = snprintf(line, sizeof(line), "%s\n", text);
	write_out(line, n < (int)sizeof(line) ? (size_t)n : sizeof(line) - 1);
	*reported = true;
	return true;
}

/* --- kernels --- */

static struct kernel *kernel_of(struct sg_progress *p, const struct sg_dispatch_view *v,
				uint64_t now_ns)
{
	struct kernel *unused = NULL;

	for (unsigned i = 0; i < MAX_KERNELS; i++) {
		struct kernel *k = &p->kernels[i];

		/* counting runs a dispatch several times: then it begins again */
		if (k->dispatch == v->dispatch && k->id == v->id && v->n_done >= k->n_done)
			return k;
		if (!k->dispatch || k->dispatch == v->dispatch)
			unused = k;
	}
	if (!unused)
		return NULL;
	*unused = (struct kernel){ .dispatch = v->dispatch, .id = v->id, .since_ns = now_ns };
	return unused;
}

static void forget_ended(struct sg_progress *p)
{
	for (unsigned i = 0; i < MAX_KERNELS; i++) {
		bool runs = false;

		for (uint32_t n = 0; n < p->n_views; n++)
			runs |= p->views[n].dispatch == p->kernels[i].dispatch;
		if (!runs)
			p->kernels[i].dispatch = NULL;
	}
}

static void put_duration(double seconds, char *text, size_t size)
{
	if (seconds < 120)
		snprintf(text, size, "%.*f s", seconds < 10 ? 1 : 0, seconds);
	else if (seconds < 2 * 3600)
		snprintf(text, size, "%.0f min", seconds / 60);
	else
		snprintf(text, size, "%.1f h", seconds / 3600);
}

static void put_rate(double rate, char *text, size_t size)
{
	if (rate >= 1e6)
		snprintf(text, size, "%.1f M", rate / 1e6);
	else
		snprintf(text, size, "%.0f", rate);
}

/* On a terminal one line, in which the facts matter more than the end of a name. */
static void put_progress(const struct sg_progress *p, const struct kernel *k,
			 const struct sg_dispatch_view *v, double seconds, char *text, size_t size)
{
	char rate[32], time[32], facts[160];
	int space;

	put_rate((double)v->n_instructions / seconds, rate, sizeof(rate));
	put_duration(v->n_done ? (double)(v->n_wgs - v->n_done) * seconds / (double)v->n_done
			       : seconds,
		     time, sizeof(time));
	snprintf(facts, sizeof(facts), ": %llu of %llu workgroups, %s wave-%s/s, %s %s%s",
		 (unsigned long long)v->n_done, (unsigned long long)v->n_wgs, rate,
		 p->terminal ? "inst" : "instructions", v->n_done ? "about" : "for", time,
		 v->n_done ? " left" : " now");
	space = p->terminal
			? columns_of_terminal() - 1 - (int)strlen(SHORT_PREFIX) - (int)strlen(facts)
			: (int)size;
	space = space < 12 ? 12 : space;
	if ((int)strlen(k->name) <= space)
		snprintf(text, size, "%s%s%s", p->terminal ? SHORT_PREFIX : PREFIX, k->name, facts);
	else
		snprintf(text, size, "%s%.*s...%s", p->terminal ? SHORT_PREFIX : PREFIX, space - 3,
			 k->name, facts);
}

static void put_wait(const struct kernel *k, const struct sg_dispatch_view *v, double seconds,
		     char *text, size_t size)
{
	const struct sg_wg_wait *w = &k->wait;
	const struct {
		uint32_t n;
		const char *what;
	} kinds[] = { { w->n_asleep, "sleeping and polling" },
		      { w->n_at_gws, "at a global wave sync" },
		      { w->n_halted, "halted" },
		      { w->n_at_barrier, "at a barrier" } };
	const char *before = "";
	struct sg_symbol symbol;
	char how_long[32];
	size_t n;

	put_duration(seconds, how_long, sizeof(how_long));
	snprintf(text, size,
		 PREFIX "%s: no progress for %s, %llu of %llu workgroups done; in workgroup (%u, "
			"%u, %u) ",
		 k->name, how_long, (unsigned long long)v->n_done, (unsigned long long)v->n_wgs,
		 w->id[0], w->id[1], w->id[2]);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		n = strlen(text);
		if (kinds[i].n)
			snprintf(text + n, size - n, "%s%u %s %s", before, kinds[i].n,
				 kinds[i].n == 1 ? "wave" : "waves", kinds[i].what);
		before = kinds[i].n ? ", " : before;
	}
	n = strlen(text);
	sg_symbols_code(w->pc, &symbol);
	if (*symbol.source)
		snprintf(text + n, size - n, ", at %s", symbol.source);
}

/* True: its line is on the screen. */
static bool report_kernel(struct sg_progress *p, struct kernel *k, const struct sg_dispatch_view *v,
			  uint64_t now_ns)
{
	bool waits =
		k->waits_since_ns && now_ns - k->waits_since_ns >= p->after_ns && k->wait.n_waves;
	char text[TEXT_BYTES];

	if (now_ns - k->since_ns < p->after_ns)
		return false;
	/* what seems to wait is given the time to show whether it does: one line is all there is */
	if (!p->terminal && (waits ? k->reported_wait : k->reported || k->waits_since_ns))
		return false;
	if (!*k->name)
		sg_symbols_kernel(v->kernel_object, k->name, sizeof(k->name));
	if (waits)
		put_wait(k, v, (double)(now_ns - k->waits_since_ns) / SECOND, text, sizeof(text));
	else
		put_progress(p, k, v, (double)(now_ns - k->since_ns) / SECOND, text, sizeof(text));
	/* what waits needs no line about how fast it is */
	return write_line(p, text, waits ? (k->reported = true, &k->reported_wait) : &k->reported);
}

/* *out_moves: a kernel gets on. True: there is a line on the screen. */
static bool report_kernels(struct sg_progress *p, struct sg_cp *cp, uint64_t now_ns,
			   bool *out_moves)
{
	bool shown = false;

	p->n_views = sg_pool_busy(cp->pool) ? sg_pool_view(cp->pool, p->views, MAX_KERNELS) : 0;
	forget_ended(p);
	*out_moves = false;
	for (uint32_t n = 0; n < p->n_views; n++) {
		const struct sg_dispatch_view *v = &p->views[n];
		struct kernel *k = kernel_of(p, v, now_ns);

		if (!k) {
			*out_moves = true;
			continue;
		}
		if (!v->waits || v->n_done != k->n_done)
			k->waits_since_ns = 0;
		else if (!k->waits_since_ns)
			k->waits_since_ns = now_ns;
		k->n_done = v->n_done;
		if (v->wait.n_waves)
			k->wait = v->wait;
		*out_moves |= !k->waits_since_ns;
		/* on a terminal there is one line: the first that has something to say */
		if (!(shown && p->terminal))
			shown |= report_kernel(p, k, v, now_ns);
	}
	return shown;
}

/* --- queues --- */

static bool tell_queues(struct sg_progress *p, struct sg_cp *cp, uint64_t now_ns, bool quietly)
{
	char text[TEXT_BYTES], what[TEXT_BYTES / 2], how_long[32];
	bool shown = false;

	pthread_mutex_lock(&cp->lock);
	for (struct sg_queue *q = cp->queues; q; q = q->next) {
		uint64_t index;

		if (!sg_stall_at(q, &index)) {
			q->seen_ns = 0;
			continue;
		}
		if (!q->seen_ns || index != q->seen_index) {
			q->seen_index = index;
			q->seen_ns = now_ns;
			q->reported = false;
		}
		if (quietly || (shown && p->terminal) || now_ns - q->seen_ns < p->after_ns ||
		    (!p->terminal && q->reported))
			continue;
		sg_stall_describe(q, what, sizeof(what));
		put_duration((double)(now_ns - q->seen_ns) / SECOND, how_long, sizeof(how_long));
		snprintf(text, sizeof(text),
			 PREFIX "no progress for %s on a queue of node %u at packet %llu: %s",
			 how_long, q->gpu->node, (unsigned long long)index, what);
		shown |= write_line(p, text, &q->reported);
	}
	pthread_mutex_unlock(&cp->lock);
	return shown;
}

void sg_progress_tick(struct sg_cp *cp, uint64_t now_ns)
{
	struct sg_progress *p = cp->progress;
	bool moves, shown;

	if (!p || now_ns < p->next_ns)
		return;
	p->next_ns = now_ns + p->tick_ns;
	shown = report_kernels(p, cp, now_ns, &moves);
	/* what waits for a kernel that gets on is not stuck */
	shown |= tell_queues(p, cp, now_ns, moves || (shown && p->terminal));
	if (!shown && p->terminal && atomic_load(&p->shown))
		erase(p);
}

void sg_progress_hide(struct sg_cp *cp)
{
	struct sg_progress *p = cp->progress;

	if (p && atomic_load_explicit(&p->shown, memory_order_relaxed))
		erase(p);
}

/* --- settings --- */

/* False: off. */
static bool read_settings(struct sg_progress *p)
{
	const char *text = getenv("WAVESCOPE_PROGRESS"), *term = getenv("TERM"),
		   *no_colour = getenv("NO_COLOR");
	char *end;
	double after;

	if (!sg_gpu_log_on(SG_GPU_LOG_ERROR))
		return false;
	p->terminal = isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
	p->colour = !no_colour || !*no_colour;
	p->after_ns = p->terminal ? TERMINAL_AFTER_NS : PIPE_AFTER_NS;
	if (text && *text) {
		if (!strcmp(text, "off"))
			return false;
		after = strtod(text, &end);
		if (*end || !(after > 0 && after <= MAX_AFTER_S))
			sg_gpu_log(SG_GPU_LOG_ERROR,
				   "WAVESCOPE_PROGRESS: '%s' is neither 'off' nor a number of "
				   "seconds: ignored",
				   text);
		else
			p->after_ns = (uint64_t)(after * SECOND);
	}
	p->tick_ns = p->after_ns / 4;
	p->tick_ns = p->tick_ns > TICK_MOST_NS    ? TICK_MOST_NS
		     : p->tick_ns < TICK_LEAST_NS ? TICK_LEAST_NS
						  : p->tick_ns;
	return true;
}

struct sg_progress *sg_progress_create(void)
{
	struct sg_progress *p = calloc(1, sizeof(*p));

	if (!p || !read_settings(p)) {
		free(p);
		return NULL;
	}
	p->pid = getpid();
	pthread_mutex_init(&p->lock, NULL);
	atomic_store(&at_exit, p);
	return p;
}

void sg_progress_destroy(struct sg_progress *progress)
{
	struct sg_progress *expected = progress;

	if (!progress)
		return;
	atomic_compare_exchange_strong(&at_exit, &expected, NULL);
	erase(progress);
	pthread_mutex_destroy(&progress->lock);
	free(progress);
}

/* A program that ends while a kernel runs leaves no line behind. A child that was forked has shown none. */
__attribute__((destructor)) static void leave_terminal(void)
{
	struct sg_progress *p = atomic_load(&at_exit);

	if (!p || p->pid != getpid())
		return;
	atomic_store(&p->over, true);
	if (atomic_load(&p->shown))
		erase(p);
}
