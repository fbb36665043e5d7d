#include "models/gpu_info.h"

#include "base/file.h"
#include "base/str.h"
#include "collector/monitor/gpu_source.h"
#include "launch/inject.h"
#include "models/child.h"
#include "models/gpu_board.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_MIN_S 0.001
#define PERIOD_MAX_S 86400.0
#define CELL_BYTES 32

const char *const mdl_gpu_info_modes[] = {
#define MDL_GPU_INFO_ROW(name, word, column) word,
	MDL_GPU_INFO_TABLE(MDL_GPU_INFO_ROW) NULL
#undef MDL_GPU_INFO_ROW
};

static const char *const columns[] = {
#define MDL_GPU_INFO_ROW(name, word, column) column,
	MDL_GPU_INFO_TABLE(MDL_GPU_INFO_ROW)
#undef MDL_GPU_INFO_ROW
};

struct mdl_gpu_info {
	struct mdl_gpu_info_config config;
	const struct col_monitor_gpu_source *source; /* NULL: the software GPU */
	size_t n_present;
	uint32_t at[COL_MONITOR_GPUS_MAX]; /* indices of the columns */
	size_t n;
	uint64_t memory_bytes[COL_MONITOR_GPUS_MAX]; /* by index; 0: unknown */
	struct {
		double idle_watts, max_watts; /* 0: unknown */
		struct mdl_gpu_use use;
		double share; /* of the time since the last reading: a kernel was running */
	} soft[GPU_SOFT_MAX];
	double soft_read_s;
	int fd;
	uint64_t n_rows, n_missed;
	char note[240];
};

/* ---- the GPUs ---- */

/* A process that ends takes its time with it, so the share of that reading is too low, never below 0. */
static void read_soft(struct mdl_gpu_info *info)
{
	struct mdl_gpu_use uses[GPU_SOFT_MAX];
	double now_s, passed_ns;

	mdl_gpu_board_read(uses, info->n_present);
	now_s = mdl_now_s();
	passed_ns = (now_s - info->soft_read_s) * 1e9;
	for (size_t i = 0; i < info->n_present; i++) {
		double busy_ns = (double)uses[i].busy_ns - (double)info->soft[i].use.busy_ns;

		info->soft[i].share = info->soft_read_s > 0 && passed_ns > 0
					      ? fmin(fmax(busy_ns / passed_ns, 0), 1)
					      : 0;
		info->soft[i].use = uses[i];
	}
	info->soft_read_s = now_s;
}

/* The software GPU where programs would run on it, else what this machine has. */
static enum ws_status find_source(struct mdl_gpu_info *info, struct ws_err *err)
{
	static const struct col_monitor_gpu_source *const real[] = { &col_monitor_amd_smi,
								     &col_monitor_rocm_smi,
								     &col_monitor_sysfs };
	static struct gpu_agents gpus; /* too large for the stack */
	enum ws_status st = launch_inject_gpus(&gpus, err);

	if (st)
		return st;
	if (gpus.soft) {
		info->n_present = gpus.n < GPU_SOFT_MAX ? gpus.n : GPU_SOFT_MAX;
		for (size_t i = 0; i < info->n_present; i++) {
			const struct gpu_model *model = gpus.at[i].model;

			info->memory_bytes[i] = gpus.at[i].mem_kib * 1024;
			info->soft[i].idle_watts = model ? model->idle_watts / model->n_agents : 0;
			info->soft[i].max_watts = model ? model->max_watts / model->n_agents : 0;
		}
		read_soft(info);
		return WS_OK;
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(real) && !info->n_present; i++) {
		info->source = real[i];
		info->n_present = real[i]->open();
	}
	if (info->n_present > COL_MONITOR_GPUS_MAX)
		info->n_present = COL_MONITOR_GPUS_MAX;
	for (uint32_t i = 0; i < info->n_present; i++)
		if (!info->source->memory_bytes(i, &info->memory_bytes[i]))
			info->memory_bytes[i] = 0;
	return info->n_present ? WS_OK
			       : ws_fail(err, WS_E_NOTFOUND,
					 "no GPU found by libamd_smi, librocm_smi64 or in "
					 "/sys/class/drm: install amd-smi, or unset WAVESCOPE_GPU "
					 "for the software GPU");
}

static enum ws_status add_device(struct mdl_gpu_info *info, uint64_t index, struct ws_err *err)
{
	if (index >= info->n_present)
		return ws_fail(err, WS_E_USAGE, "no GPU %llu: there %s %zu, numbered from 0",
			       (unsigned long long)index, info->n_present == 1 ? "is" : "are",
			       info->n_present);
	for (size_t i = 0; i < info->n; i++)
		if (info->at[i] == index)
			return ws_fail(err, WS_E_USAGE, "GPU %llu is named twice",
				       (unsigned long long)index);
	info->at[info->n++] = (uint32_t)index;
	return WS_OK;
}

/* "0,2-3" */
static enum ws_status parse_devices(struct mdl_gpu_info *info, const char *text, struct ws_err *err)
{
	struct ws_str rest = ws_str_from(text), part, low;
	enum ws_status st = WS_OK;

	while (!st && ws_str_next(&rest, ',', &part)) {
		uint64_t first, last;

		part = ws_str_trim(part);
		ws_str_next(&part, '-', &low);
		if (!ws_str_u64(low, &first) || (part.at && !ws_str_u64(part, &last)))
			return ws_fail(err, WS_E_USAGE,
				       "'%s' is not a list of GPUs: give all, or numbers as in "
				       "0,2-3",
				       text);
		if (!part.at)
			last = first;
		for (uint64_t i = first; i <= last && !st; i++)
			st = add_device(info, i, err);
	}
	return st;
}

/* Of the software GPU: idle, and from there to the limit with its load. */
static bool read_soft_figure(const struct mdl_gpu_info *info, uint32_t gpu, double *out)
{
	double idle = info->soft[gpu].idle_watts, max = info->soft[gpu].max_watts;

	if (info->config.mode == MDL_GPU_INFO_VRAM) {
		*out = (double)info->soft[gpu].use.used_bytes;
		return true;
	}
	*out = idle + info->soft[gpu].share * (max - idle);
	return max > 0;
}

static bool read_figure(struct mdl_gpu_info *info, uint32_t gpu, double *out)
{
	bool power = info->config.mode == MDL_GPU_INFO_POWER;
	unsigned which = power ? COL_FIGURE_POWER : COL_FIGURE_MEMORY;
	struct col_monitor_figures figures = { 0 };

	info->source->read(gpu, power ? COL_MONITOR_BIT(GPU_POWER) : COL_MONITOR_BIT(GPU_MEMORY), 0,
			   &figures);
	*out = figures.at[which];
	return figures.has >> which & 1;
}

/* A board with two dies has one sensor: the second die reports no power, or none at all. */
static enum ws_status leave_out_second_dies(struct mdl_gpu_info *info, bool all, struct ws_err *err)
{
	struct ws_buf left_out;
	size_t n = 0;

	ws_buf_init(&left_out, sizeof(info->note) / 2);
	for (size_t i = 0; i < info->n; i++) {
		double watts;

		if (read_figure(info, info->at[i], &watts) && watts > 0) {
			info->at[n++] = info->at[i];
			continue;
		}
		if (!all) {
			ws_buf_fini(&left_out);
			return ws_fail(err, WS_E_UNSUPPORTED,
				       "GPU %u reports no power: it is the second die of a board, "
				       "or has no sensor; omit it, or use all",
				       info->at[i]);
		}
		ws_buf_printf(&left_out, "%s%u", left_out.n ? ", " : "", info->at[i]);
	}
	info->n = n;
	if (left_out.n)
		snprintf(info->note, sizeof(info->note),
			 "left out, because they report no power: %s", left_out.at);
	ws_buf_fini(&left_out);
	return n ? WS_OK
		 : ws_fail(err, WS_E_UNSUPPORTED, "no GPU reports its power through %s",
			   info->source->name);
}

static enum ws_status choose_gpus(struct mdl_gpu_info *info, struct ws_err *err)
{
	bool all = strcmp(info->config.devices, "all") == 0;
	enum ws_status st = WS_OK;

	if (all)
		for (uint64_t i = 0; i < info->n_present && !st; i++)
			st = add_device(info, i, err);
	else
		st = parse_devices(info, info->config.devices, err);
	if (st)
		return st;
	if (info->source && info->config.mode == MDL_GPU_INFO_POWER)
		return leave_out_second_dies(info, all, err);
	if (!info->source)
		snprintf(info->note, sizeof(info->note), "%s",
			 info->config.mode == MDL_GPU_INFO_POWER
				 ? "power of the software GPU, from idle to the limit with the "
				   "time that kernels run: simulated"
				 : "memory in use of the software GPU, by all processes of this "
				   "user: simulated");
	return WS_OK;
}

/* ---- the file ---- */

static enum ws_status put(struct mdl_gpu_info *info, const struct ws_buf *line, struct ws_err *err)
{
	enum ws_status st = ws_buf_status(line, err);
	size_t done = 0;

	while (!st && done < line->n) {
		ssize_t n = write(info->fd, line->at + done, line->n - done);

		if (n < 0 && errno != EINTR)
			st = ws_fail_errno(err, errno, "cannot write to '%s'", info->config.path);
		done += n > 0 ? (size_t)n : 0;
	}
	return st;
}

static void line_init(struct ws_buf *line)
{
	ws_buf_init(line, 64 + COL_MONITOR_GPUS_MAX * CELL_BYTES);
}

static enum ws_status put_header(struct mdl_gpu_info *info, struct ws_err *err)
{
	struct ws_buf line;
	enum ws_status st;

	line_init(&line);
	ws_buf_add(&line, "time");
	for (size_t i = 0; i < info->n; i++)
		ws_buf_printf(&line, ",%s%u", columns[info->config.mode], info->at[i]);
	ws_buf_add(&line, "\r\n");
	st = put(info, &line, err);
	ws_buf_fini(&line);
	return st;
}

static void add_time(struct ws_buf *line)
{
	struct timespec now;
	struct tm local;
	char text[32];

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &local);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
	ws_buf_printf(line, "%s.%06ld", text, now.tv_nsec / 1000);
}

static void add_cell(struct ws_buf *line, struct mdl_gpu_info *info, uint32_t gpu)
{
	bool power = info->config.mode == MDL_GPU_INFO_POWER;
	double value = 0;
	bool has =
		info->source ? read_figure(info, gpu, &value) : read_soft_figure(info, gpu, &value);

	if (has && !power && info->memory_bytes[gpu])
		value = 100 * value / (double)info->memory_bytes[gpu];
	else if (!power)
		has = false;
	if (has)
		ws_buf_printf(line, power ? ",%.1f" : ",%.2f", value);
	else
		ws_buf_add(line, ",N/A");
}

enum ws_status mdl_gpu_info_row(struct mdl_gpu_info *info, struct ws_err *err)
{
	struct ws_buf line;
	enum ws_status st;

	line_init(&line);
	add_time(&line);
	if (!info->source)
		read_soft(info);
	for (size_t i = 0; i < info->n; i++)
		add_cell(&line, info, info->at[i]);
	ws_buf_add(&line, "\r\n");
	st = put(info, &line, err);
	ws_buf_fini(&line);
	info->n_rows += !st;
	return st;
}

static bool is_over(const struct mdl_gpu_info *info, pid_t while_pid)
{
	struct stat st;

	if (while_pid && kill(while_pid, 0) != 0 && errno == ESRCH)
		return true;
	return fstat(info->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0;
}

enum ws_status mdl_gpu_info_rows(struct mdl_gpu_info *info, int stop_fd, pid_t while_pid,
				 struct ws_err *err)
{
	double whole = floor(info->config.period_s);
	struct timespec period = {
		.tv_sec = (time_t)whole,
		.tv_nsec = (long)((info->config.period_s - whole) * 1e9),
	};
	struct itimerspec times = { .it_interval = period, .it_value = period };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	enum ws_status st = WS_OK;

	if (timer < 0 || timerfd_settime(timer, 0, &times, NULL) != 0)
		st = ws_fail_errno(err, errno, "cannot set a timer");
	while (!st) {
		struct pollfd fds[] = { { .fd = timer, .events = POLLIN },
					{ .fd = stop_fd, .events = POLLIN } };
		uint64_t n_expired;

		if (poll(fds, WS_ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
			st = ws_fail_errno(err, errno, "cannot wait");
		if (st || fds[1].revents || is_over(info, while_pid))
			break;
		if (!(fds[0].revents & POLLIN) ||
		    read(timer, &n_expired, sizeof(n_expired)) != sizeof(n_expired))
			continue;
		info->n_missed += n_expired - 1;
		st = mdl_gpu_info_row(info, err);
	}
	if (timer >= 0)
		close(timer);
	return st;
}

/* ---- life ---- */

static enum ws_status check_period(double period_s, struct ws_err *err)
{
	if (period_s >= PERIOD_MIN_S && period_s <= PERIOD_MAX_S)
		return WS_OK;
	return ws_fail(err, WS_E_USAGE,
		       "%g is not a period: give seconds between samples, %g to %g", period_s,
		       PERIOD_MIN_S, PERIOD_MAX_S);
}

enum ws_status mdl_gpu_info_open(const struct mdl_gpu_info_config *config,
				 struct mdl_gpu_info **out_info, struct ws_err *err)
{
	struct mdl_gpu_info *info = calloc(1, sizeof(*info));
	enum ws_status st;

	if (!info)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	info->config = *config;
	info->fd = -1;
	st = check_period(config->period_s, err);
	if (!st)
		st = find_source(info, err);
	if (!st)
		st = choose_gpus(info, err);
	if (!st)
		st = ws_file_create(config->path, &info->fd, err);
	if (!st)
		st = put_header(info, err);
	if (st) {
		mdl_gpu_info_close(info);
		return st;
	}
	*out_info = info;
	return WS_OK;
}

void mdl_gpu_info_close(struct mdl_gpu_info *info)
{
	if (!info)
		return;
	if (info->fd >= 0)
		close(info->fd);
	free(info);
}

size_t mdl_gpu_info_n_gpus(const struct mdl_gpu_info *info)
{
	return info->n;
}

uint64_t mdl_gpu_info_n_rows(const struct mdl_gpu_info *info)
{
	return info->n_rows;
}

uint64_t mdl_gpu_info_n_missed(const struct mdl_gpu_info *info)
{
	return info->n_missed;
}

const char *mdl_gpu_info_note(const struct mdl_gpu_info *info)
{
	return info->note;
}

enum ws_status mdl_gpu_info_source(const char **out_name, size_t *out_n_gpus, struct ws_err *err)
{
	struct mdl_gpu_info info = { .fd = -1 };
	enum ws_status st = find_source(&info, err);

	if (st)
		return st;
	*out_name = info.source ? info.source->name : "the software GPU";
	*out_n_gpus = info.n_present;
	return WS_OK;
}
