#include "collector/hsa/replay.h"

#include "collector/count/aqlprofile.h"
#include "collector/count/request.h"
#include "collector/count/source.h"
#include "collector/hsa/copier.h"
#include "collector/hsa/own_queue.h"
#include "collector/hsa/queue_priv.h"
#include "collector/hsa/ranges.h"
#include "collector/hsa/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <hsa/amd_hsa_signal.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CANCEL_NS 10000000000ull
#define KERNELS_TOLD 65536u
#define ARGUMENTS_MAX 4096u   /* bytes of a kernel's that are looked at */
#define ARGUMENTS_UNKNOWN 64u /* of one that no code object describes */

static struct {
	struct col_lock lock; /* the list and the states */
	struct col_replay *first, **last;
	struct col_replay *now; /* runs */
	uint32_t wake;          /* futex: grows with every submission */
	bool has_thread;
	struct col_own_queue *queues[COL_AGENT_IDS]; /* made when first needed */
	uint8_t told[KERNELS_TOLD / 8];
} replays;

/* ---- what the user is told ---- */

static const char *text_of(enum col_obstacle obstacle)
{
	static const char *const texts[COL_OBSTACLES] = {
#define COL_OBSTACLE_TEXT(id, text) [id] = text,
		COL_OBSTACLE_TABLE(COL_OBSTACLE_TEXT)
#undef COL_OBSTACLE_TEXT
	};

	return texts[obstacle];
}

/* For the launcher: a line with the name and the reason. */
static void write_line(const char *name, const char *why)
{
	char path[PATH_MAX], line[1024];
	int n = snprintf(path, sizeof(path), "%s/%s", col_config()->dir, COL_COUNT_ONCE_NAME);
	int fd = n > 0 && (size_t)n < sizeof(path)
			 ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666)
			 : -1;

	if (fd < 0)
		return;
	n = snprintf(line, sizeof(line), "%s\t%s\n", name, why);
	if (n > 0 && write(fd, line, (size_t)n) != n)
		col_note("counters: cannot write the list of kernels that were not repeated");
	close(fd);
}

void col_replay_ran_once(uint32_t kernel, enum col_obstacle obstacle)
{
	uint32_t at = kernel % KERNELS_TOLD, n_kernarg;
	uint8_t bit = (uint8_t)(1u << at % 8);
	char name[600] = "unknown kernel", note[1024];
	const char *symbol;

	if (__atomic_fetch_or(&replays.told[at / 8], bit, __ATOMIC_RELAXED) & bit)
		return;
	symbol = col_kernel_symbol(kernel, &n_kernarg);
	if (*symbol)
		col_count_shown_name(symbol, name, sizeof(name));
	snprintf(note, sizeof(note), "counters: kernel '%s' was not repeated: %s%s", name,
		 text_of(obstacle),
		 col_hsa_attached() ? ". It has values of the first pass only" : "");
	col_note(note);
	write_line(name, text_of(obstacle));
}

/* ---- queues ---- */

/* On ROCr's thread: an error of the kernel's, most likely. */
static void on_queue_error(uint32_t agent, int status)
{
	struct col_replay *now = __atomic_load_n(&replays.now, __ATOMIC_ACQUIRE);

	if (now && now->agent == agent)
		now->failed(now, (hsa_status_t)status);
}

/* The queue of ours there; made when it is first needed, and after the program has called hsa_shut_down(). NULL: none. */
static struct col_own_queue *queue_on(uint32_t agent)
{
	struct col_own_queue *queue;

	col_lock(&replays.lock);
	if (!replays.queues[agent])
		replays.queues[agent] = col_own_queue_create(agent, on_queue_error);
	queue = replays.queues[agent];
	col_unlock(&replays.lock);
	return queue;
}

/* ---- a pass ---- */

static void submit_pass(struct col_own_queue *queue, struct col_aql_program *program,
			const struct col_replay *replay)
{
	const struct col_aql_packets *packets = program ? col_aql_packets(program) : NULL;
	union col_packet kernel = { .dispatch = replay->packet };

	kernel.header = COL_PACKET_HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH);
	if (packets)
		col_own_queue_put_step(queue, packets, COL_AQL_START, 0);
	col_own_queue_put(queue, &kernel);
	if (packets && packets->has_read)
		col_own_queue_put_step(queue, packets, COL_AQL_READ, 0);
	if (packets)
		col_own_queue_put_step(queue, packets, COL_AQL_STOP, col_own_queue_end(queue));
	else /* counting was stopped meanwhile: the kernel has to run all the same */
		col_own_queue_put_end(queue);
}

static bool run_pass(struct col_own_queue *queue, struct col_replay *replay, uint32_t set)
{
	struct col_aql_program *program = col_count_program(replay->ticket->gpu, set);
	bool ended;

	col_hsa.hsa_signal_store_screlease(replay->packet.completion_signal, 1);
	if (program)
		col_aql_clear(program);
	col_count_pass_begin(replay->ticket, set);
	submit_pass(queue, program, replay);
	ended = col_own_queue_wait(queue, &replay->cancelled, COL_OWN_FOREVER) == COL_OWN_ENDED;
	if (!ended)
		col_own_queue_renew(queue);
	else if (program)
		col_count_pass_end(replay->ticket);
	return ended;
}

/* ---- arguments ---- */

/* Whether @word, if it is a pointer, is to memory that is saved or compared. */
static enum col_obstacle look_at_word(uint64_t word)
{
	hsa_amd_pointer_info_t info = { .size = sizeof(info) };
	enum col_obstacle obstacle = COL_OBSTACLE_NONE;
	const struct col_range *range;

	if (!word ||
	    col_hsa.hsa_amd_pointer_info((const void *)(uintptr_t)word, &info, NULL, NULL, NULL) !=
		    HSA_STATUS_SUCCESS ||
	    info.type == HSA_EXT_POINTER_TYPE_UNKNOWN)
		return COL_OBSTACLE_NONE;
	col_ranges_hold();
	range = col_ranges_at(word);
	if (!range)
		range = col_ranges_at((uint64_t)(uintptr_t)info.hostBaseAddress);
	if (!range && !col_ranges_at(word - 1)) /* not the end of an allocation either */
		obstacle = COL_OBSTACLE_POINTER;
	else if (range && range->kind == COL_RANGE_CONSTANT)
		obstacle = COL_OBSTACLE_ARGUMENTS;
	col_ranges_release();
	return obstacle;
}

static enum col_obstacle look_at_arguments(const struct col_replay *replay)
{
	uint64_t words[ARGUMENTS_MAX / sizeof(uint64_t)];
	enum col_obstacle obstacle = COL_OBSTACLE_NONE;
	uint32_t n_bytes = 0;

	if (!*col_kernel_symbol(replay->kernel, &n_bytes))
		n_bytes = ARGUMENTS_UNKNOWN;
	n_bytes = WS_MIN(n_bytes, ARGUMENTS_MAX) / sizeof(uint64_t) * sizeof(uint64_t);
	/* Where the host cannot read what it has written there is nothing to look at. */
	if (!n_bytes || !replay->packet.kernarg_address || !col_hsa.hsa_amd_pointer_info ||
	    !col_image_copy(words, (uint64_t)(uintptr_t)replay->packet.kernarg_address, n_bytes))
		return COL_OBSTACLE_NONE;
	for (uint32_t i = 0; i < n_bytes / sizeof(uint64_t) && !obstacle; i++)
		obstacle = look_at_word(words[i]);
	return obstacle;
}

/* ---- passes ---- */

struct times {
	uint64_t start, end;
};

/* The times of the first pass are those of the kernel. */
static struct times times_of(const struct col_replay *replay)
{
	const amd_signal_t *signal =
		(const amd_signal_t *)(uintptr_t)replay->packet.completion_signal.handle;

	return (struct times){ signal->start_ts, signal->end_ts };
}

static void set_times(const struct col_replay *replay, struct times times)
{
	amd_signal_t *signal = (amd_signal_t *)(uintptr_t)replay->packet.completion_signal.handle;

	signal->start_ts = times.start;
	signal->end_ts = times.end;
}

/*
 * HIP's own kernels for copies and fills. They write the same whenever they are repeated, so what they write to the
 * host need not be restored, and their arguments are known.
 */
static bool writes_the_same(const struct col_replay *replay)
{
	static const char *const known[] = { "__amd_rocclr_copyBuffer", "__amd_rocclr_fillBuffer" };
	uint32_t n_kernarg;
	const char *symbol = col_kernel_symbol(replay->kernel, &n_kernarg);

	for (size_t i = 0; i < WS_ARRAY_LEN(known); i++) {
		if (strncmp(symbol, known[i], strlen(known[i])) == 0)
			return true;
	}
	return false;
}

static enum col_obstacle prepare(struct col_own_queue *queue, const struct col_replay *replay,
				 uint64_t *out_bytes)
{
	enum col_obstacle obstacle = col_ranges_begin(replay->agent);

	if (obstacle)
		return obstacle;
	if (!writes_the_same(replay))
		obstacle = look_at_arguments(replay);
	if (!obstacle)
		obstacle = col_saved_save(queue, out_bytes);
	if (obstacle)
		col_ranges_end();
	return obstacle;
}

static void note_restore(enum col_obstacle obstacle)
{
	if (obstacle == COL_OBSTACLE_FAILED)
		col_note("counters: memory could not be restored after a pass: the results of the "
			 "program may be wrong: use --replay application");
}

static bool host_changed(const struct col_replay *replay)
{
	return !writes_the_same(replay) && col_saved_host_changed();
}

/* Returns why it ended before the last set. */
static enum col_obstacle run_passes(struct col_own_queue *queue, struct col_replay *replay,
				    struct col_count_replay *stats)
{
	enum col_obstacle obstacle = prepare(queue, replay, &stats->saved_bytes);
	uint32_t n_sets = obstacle ? 1 : col_count_n_sets(replay->ticket);
	bool saved = !obstacle;
	struct times times = { 0 };
	uint64_t begin_ns = 0;

	for (uint32_t set = 0; set < n_sets; set++) {
		enum col_obstacle why = saved ? col_saved_restore() : COL_OBSTACLE_NONE;

		note_restore(why);
		if (why && set) {
			obstacle = why;
			break;
		}
		if (saved && set + 1 == n_sets) {
			col_ranges_end(); /* restored for the last time: copies may go on */
			col_saved_done();
		}
		if (!run_pass(queue, replay, set)) {
			obstacle = COL_OBSTACLE_FAILED;
			break;
		}
		stats->n_runs++;
		if (set == 0) {
			times = times_of(replay);
			begin_ns = col_now_ns();
		}
		if (set == 0 && n_sets > 1 && (why || host_changed(replay))) {
			obstacle = why ? why : COL_OBSTACLE_HOST;
			break;
		}
	}
	if (saved)
		col_ranges_end();
	col_saved_done();
	if (stats->n_runs) {
		set_times(replay, times);
		stats->replay_ns = col_now_ns() - begin_ns;
	}
	return obstacle;
}

static void run(struct col_replay *replay)
{
	struct col_own_queue *queue = queue_on(replay->agent);
	struct col_count_replay stats = { 0 };
	enum col_obstacle obstacle = COL_OBSTACLE_FAILED;

	col_count_replay_begin(replay->ticket);
	if (queue)
		obstacle = run_passes(queue, replay, &stats);
	else /* the kernel does not run: an error of its queue, not a wrong result */
		replay->failed(replay, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	col_count_replay_end(replay->ticket, &stats);
	if (obstacle && !__atomic_load_n(&replay->cancelled, __ATOMIC_ACQUIRE))
		col_replay_ran_once(replay->kernel, obstacle);
}

/* ---- the thread ---- */

static void wait_for_work(uint32_t seen)
{
	syscall(SYS_futex, &replays.wake, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static struct col_replay *take_next(void)
{
	struct col_replay *replay;

	col_lock(&replays.lock);
	replay = replays.first;
	if (replay) {
		replays.first = replay->next;
		if (!replay->next)
			replays.last = NULL;
		replay->waits = false;
		__atomic_store_n(&replays.now, replay, __ATOMIC_RELEASE);
	}
	col_unlock(&replays.lock);
	return replay;
}

static void *work(void *arg)
{
	for (;;) {
		uint32_t seen = __atomic_load_n(&replays.wake, __ATOMIC_ACQUIRE);
		struct col_replay *replay = take_next();
		bool cancelled;

		if (!replay) {
			wait_for_work(seen);
			continue;
		}
		run(replay);
		col_lock(&replays.lock);
		cancelled = replay->cancelled;
		col_unlock(&replays.lock);
		/* Its place may be in use again when this returns. */
		if (!cancelled)
			replay->done(replay);
		__atomic_store_n(&replays.now, NULL, __ATOMIC_RELEASE);
	}
	return NULL;
}

bool col_replay_ready(uint32_t agent)
{
	bool ready;

	col_lock(&replays.lock);
	if (!replays.has_thread)
		replays.has_thread = col_spawn(work, NULL, "wavescope-replay");
	ready = replays.has_thread;
	col_unlock(&replays.lock);
	return ready && queue_on(agent) && col_copier_ready(agent);
}

void col_replay_submit(struct col_replay *replay)
{
	col_lock(&replays.lock);
	replay->next = NULL;
	replay->cancelled = 0;
	replay->waits = true;
	*(replays.last ? replays.last : &replays.first) = replay;
	replays.last = &replay->next;
	__atomic_fetch_add(&replays.wake, 1, __ATOMIC_RELEASE);
	col_unlock(&replays.lock);
	syscall(SYS_futex, &replays.wake, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void unlist(const struct col_replay *replay)
{
	struct col_replay **from = &replays.first;

	while (*from && *from != replay)
		from = &(*from)->next;
	if (!*from)
		return;
	*from = replay->next;
	replays.last = NULL;
	for (struct col_replay **at = &replays.first; *at; at = &(*at)->next)
		replays.last = &(*at)->next;
}

void col_replay_cancel(struct col_replay *replay)
{
	uint64_t deadline_ns = col_now_ns() + CANCEL_NS;

	col_lock(&replays.lock);
	replay->cancelled = 1;
	if (replay->waits)
		unlist(replay);
	replay->waits = false;
	col_unlock(&replays.lock);
	while (__atomic_load_n(&replays.now, __ATOMIC_ACQUIRE) == replay &&
	       col_now_ns() < deadline_ns)
		nanosleep(&(struct timespec){ 0, 200000 }, NULL);
}

/* ---- ends ---- */

static void release_queues(void (*release)(struct col_own_queue *queue))
{
	for (uint32_t i = 0; i < COL_AGENT_IDS; i++) {
		release(replays.queues[i]);
		replays.queues[i] = NULL;
	}
}

/*
 * The program may be about to end the runtime. ROCr 7 aborts if a queue with scratch memory is left then, and
 * OnUnload is too late for it.
 */
hsa_status_t col_hsa_hook_hsa_shut_down(void)
{
	col_lock(&replays.lock);
	if (!__atomic_load_n(&replays.now, __ATOMIC_ACQUIRE))
		release_queues(col_own_queue_destroy);
	col_unlock(&replays.lock);
	return col_hsa.hsa_shut_down();
}

void col_replay_unload(void)
{
	release_queues(col_own_queue_forget);
	col_copier_unload();
	col_saved_unload();
}

void col_replay_forked(void)
{
	col_replay_unload();
	memset(&replays, 0, sizeof(replays));
}
