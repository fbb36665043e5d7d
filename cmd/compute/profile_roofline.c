/*
 * The GPU's peaks, measured once per folder.
 *
 * Ranks of one launch on one machine would measure the same GPUs at the same time, and each
 * other: the first of them measures, the others wait and take its result.
 */
#include "cmd/compute/profile.h"

#include "base/file.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/compute/say.h"
#include "launch/lines.h"
#include "launch/roofline.h"
#include "workload/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool pf_roofline_wanted(const struct pf *pf)
{
	const struct pf_args *args = pf->args;
	bool chosen = !pf->n_sections || args->roof_only || args->bench_only;

	/* A choice of blocks without the roofline has no use for peaks. */
	for (size_t i = 0; i < pf->n_sections; i++)
		chosen |= strcmp(pf->sections[i], "4") == 0 ||
			  strncmp(pf->sections[i], "4.", 2) == 0 ||
			  strncmp(pf->sections[i], "roof", 4) == 0;
	return chosen && !args->no_roof && strcmp(pf->gpu->arch, "gfx908") != 0;
}

/* The benchmark's own progress stands on the terminal where this line goes. */
static void peak_line(void *ctx, const char *text)
{
	(void)ctx;
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	say(SAY_INFO, "%s", text);
}

static enum ws_status measure(const struct pf *pf, struct pf_peaks *out_peaks, struct ws_err *err)
{
	const struct ws_roofline roofline = {
		.dir = pf->dir,
		.device = (int)pf->args->device,
		.quiet = pf->args->general.quiet,
	};
	struct ws_proc_end end = { .signal = 0 };
	struct ws_lines lines;
	enum ws_status st;

	say(SAY_INFO, "[roofline] No roofline data found. Generating...");
	st = ws_lines_start(&lines, WS_LINES_STDOUT, peak_line, NULL, err);
	if (st)
		return st;
	st = ws_roofline_run(&roofline, &end, err);
	ws_lines_stop(&lines);
	out_peaks->measured = !st;
	out_peaks->stop_signal = st ? end.interrupted : 0;
	if (end.interrupted)
		return ws_fail(err, WS_E_STATE, "roofline: interrupted (%s)",
			       strsignal(end.interrupted));
	return st ? ws_fail_in(err, st, "roofline") : WS_OK;
}

/* ---- ranks ---- */

static enum ws_status copy(const char *from, const char *dir, const char *name, struct ws_err *err)
{
	struct ws_outfile file = { .to = NULL };
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, 16 << 20);
	st = ws_file_read(from, &text, err);
	if (!st)
		st = ws_outfile_open(&file, dir, name, err);
	if (!st) {
		fwrite(text.at, 1, text.n, file.to);
		st = ws_outfile_commit(&file, err);
	}
	ws_outfile_abandon(&file);
	ws_buf_fini(&text);
	return st;
}

/* Ranks of one launch have one parent; its start tells it from an earlier one of its number. */
static void name_launch(const struct pf *pf, char *out, size_t room)
{
	char path[64], line[1024];
	const char *at;
	unsigned long long start = 0;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)getppid());
	if (ws_file_line(path, line, sizeof(line)) && (at = strrchr(line, ')')))
		/* The 22nd field; the name in brackets is the second. */
		sscanf(at + 1,
		       " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
		       "%*d %*d %llu",
		       &start);
	snprintf(out, room, "%ld-%llu-%lld", (long)getppid(), start, (long long)pf->args->device);
}

static enum ws_status lock(char dir[PATH_MAX], const char *name, int *out_fd, struct ws_err *err)
{
	const char *tmp = getenv("TMPDIR");
	char path[2 * PATH_MAX];

	snprintf(dir, PATH_MAX, "%s/rocprof-compute-benchmark-%ld", tmp && *tmp ? tmp : "/tmp",
		 (long)getuid());
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return ws_fail_errno(err, errno, "cannot make the folder '%s'", dir);
	snprintf(path, sizeof(path), "%s/%s.lock", dir, name);
	*out_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*out_fd < 0)
		return ws_fail_errno(err, errno, "cannot open '%s'", path);
	if (flock(*out_fd, LOCK_EX) != 0) {
		close(*out_fd);
		return ws_fail_errno(err, errno, "cannot wait for the other ranks");
	}
	return WS_OK;
}

static enum ws_status measure_in_turn(const struct pf *pf, struct pf_peaks *out_peaks,
				      struct ws_err *err)
{
	char dir[PATH_MAX], name[96], file[128], path[PATH_MAX], own[PATH_MAX];
	int fd = -1;
	enum ws_status st;

	name_launch(pf, name, sizeof(name));
	snprintf(file, sizeof(file), "%s.csv", name);
	st = lock(dir, name, &fd, err);
	if (st)
		return st;
	st = ws_path_join(dir, file, path, err);
	if (!st)
		st = ws_path_join(pf->dir, WS_ROOFLINE_FILE, own, err);
	if (!st && ws_path_exists(path)) {
		say(SAY_INFO, "[roofline] Another rank on this machine has measured the GPU");
		st = copy(path, pf->dir, WS_ROOFLINE_FILE, err);
	} else if (!st) {
		st = measure(pf, out_peaks, err);
		if (!st)
			st = copy(own, dir, file, err);
	}
	close(fd);
	return st;
}

enum ws_status pf_roofline_measure(const struct pf *pf, struct pf_peaks *out_peaks,
				   struct ws_err *err)
{
	char path[PATH_MAX];
	enum ws_status st = ws_path_join(pf->dir, WS_ROOFLINE_FILE, path, err);

	if (st)
		return st;
	say(SAY_INFO, "[roofline] Checking for roofline.csv in %s", pf->dir);
	if (ws_path_exists(path) && !pf->args->bench_only) {
		say(SAY_INFO, "[roofline] Found: the GPU is not measured again");
		return WS_OK;
	}
	return pf->rank.known ? measure_in_turn(pf, out_peaks, err) : measure(pf, out_peaks, err);
}
