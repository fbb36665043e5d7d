#include "cmd/compute/profile_log.h"

#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "workload/names.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define EARLY_MAX (1u << 20) /* lines before log.txt is open */
#define LINE_MAX_BYTES (1u << 20)

/* clang-format off */
static const struct {
	const char *name, *colour;
} levels[] = {
	[PF_LOG_TRACE]   = { "TRACE",   "90" },
	[PF_LOG_DEBUG]   = { "DEBUG",   "36" },
	[PF_LOG_INFO]    = { "INFO",    "32" },
	[PF_LOG_WARNING] = { "WARNING", "33" },
	[PF_LOG_ERROR]   = { "ERROR",   "31" },
};
/* clang-format on */

static struct {
	pthread_mutex_t lock;
	enum pf_log_level lowest;
	int style; /* ROCPROFCOMPUTE_COLOR */
	int out;
	bool colour;
	char rank[32]; /* "[rank 2] ", or "" */
	FILE *log;
	struct ws_buf early;
} state = { .lock = PTHREAD_MUTEX_INITIALIZER, .lowest = PF_LOG_INFO, .style = 1, .out = -1 };

static enum ws_status read_level(bool verbose, bool quiet, struct ws_err *err)
{
	const char *word = getenv("ROCPROFCOMPUTE_LOGLEVEL");

	state.lowest = quiet ? PF_LOG_ERROR : verbose ? PF_LOG_DEBUG : PF_LOG_INFO;
	if (!word || !*word)
		return WS_OK;
	for (size_t i = 0; i < WS_ARRAY_LEN(levels); i++)
		if (i != PF_LOG_WARNING && strcasecmp(word, levels[i].name) == 0) {
			state.lowest = (enum pf_log_level)i;
			return WS_OK;
		}
	return ws_fail(err, WS_E_USAGE,
		       "ROCPROFCOMPUTE_LOGLEVEL is '%s': use debug, trace, info or error", word);
}

enum ws_status pf_log_init(bool verbose, bool quiet, struct ws_err *err)
{
	const char *style = getenv("ROCPROFCOMPUTE_COLOR");
	enum ws_status st = read_level(verbose, quiet, err);

	if (st)
		return st;
	if (style && *style) {
		if (strlen(style) != 1 || *style < '0' || *style > '3')
			return ws_fail(err, WS_E_USAGE,
				       "ROCPROFCOMPUTE_COLOR is '%s': use 0, 1, 2 or 3", style);
		state.style = *style - '0';
	}
	fflush(stdout);
	state.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
	state.colour = ws_colour_ok(STDOUT_FILENO);
	ws_buf_init(&state.early, EARLY_MAX);
	return WS_OK;
}

void pf_log_name_rank(uint64_t rank)
{
	snprintf(state.rank, sizeof(state.rank), "[rank %llu] ", (unsigned long long)rank);
}

void pf_log_fini(void)
{
	if (state.log)
		fclose(state.log);
	state.log = NULL;
	ws_buf_fini(&state.early);
	if (state.out >= 0)
		close(state.out);
	state.out = -1;
}

enum ws_status pf_log_open(const char *dir, bool append, struct ws_err *err)
{
	char path[PATH_MAX];
	enum ws_status st = ws_path_join(dir, WL_FILE_LOG, path, err);

	if (st)
		return st;
	st = append ? ws_file_append_stream(path, &state.log, err)
		    : ws_file_create_stream(path, &state.log, err);
	if (st)
		return st;
	setlinebuf(state.log);
	fputs(state.early.at, state.log);
	ws_buf_clear(&state.early);
	return WS_OK;
}

void pf_log_to_file(const char *text)
{
	pthread_mutex_lock(&state.lock);
	if (state.log)
		fprintf(state.log, "%s\n", text);
	pthread_mutex_unlock(&state.lock);
}

int pf_log_stdout(void)
{
	return state.out >= 0 ? state.out : STDOUT_FILENO;
}

bool pf_log_shows(enum pf_log_level level)
{
	return level >= state.lowest;
}

static void add_mark(struct ws_buf *line, enum pf_log_level level)
{
	bool bare = (state.style == 0 && level != PF_LOG_ERROR) ||
		    (state.style == 3 && level == PF_LOG_INFO);
	bool colour = state.colour && (state.style == 1 || state.style == 3);

	if (bare)
		return;
	if (colour)
		ws_buf_printf(line, "\033[%sm%7s\033[0m ", levels[level].colour,
			      levels[level].name);
	else
		ws_buf_printf(line, state.style == 0 ? "%s: " : "%5s ", levels[level].name);
}

static void write_all(int fd, const char *at, size_t n)
{
	while (n) {
		ssize_t done = write(fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return; /* a closed pipe: the log still has it */
		at += done;
		n -= (size_t)done;
	}
}

void pf_log(enum pf_log_level level, const char *fmt, ...)
{
	struct ws_buf text, line;
	va_list args;

	ws_buf_init(&text, LINE_MAX_BYTES);
	ws_buf_init(&line, 2 * LINE_MAX_BYTES);
	va_start(args, fmt);
	ws_buf_vprintf(&text, fmt, args);
	va_end(args);
	add_mark(&line, level);
	ws_buf_add(&line, state.rank);
	ws_buf_add(&line, text.at);
	ws_buf_add_c(&line, '\n', 1);
	pthread_mutex_lock(&state.lock);
	if (level >= PF_LOG_INFO && state.log)
		fprintf(state.log, "%s\n", text.at);
	else if (level >= PF_LOG_INFO)
		ws_buf_printf(&state.early, "%s\n", text.at);
	if (pf_log_shows(level))
		write_all(pf_log_stdout(), line.at, line.n);
	pthread_mutex_unlock(&state.lock);
	ws_buf_fini(&text);
	ws_buf_fini(&line);
}
