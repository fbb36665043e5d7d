/*
 * The GPU's peaks: those in the folder, those that were measured before (launch/roofcache.h), or
 * measured now.
 *
 * Ranks of one launch on one machine would measure the same GPUs at the same time, and each
 * other: the first of them measures, the others wait and take its result from the cache.
 */
#include "cmd/compute/profile.h"

#include "analysis/roofline.h"
#include "base/file.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/compute/profile_log.h"
#include "launch/lines.h"
#include "launch/roofcache.h"
#include "launch/roofline.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
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
	return chosen && !args->no_roof && ana_roof_arch_known(pf->gpu->arch);
}

/* The benchmark's own progress stands on the terminal where this line goes. */
static void peak_line(void *ctx, const char *text)
{
	(void)ctx;
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	pf_log(PF_LOG_INFO, "%s", text);
}

static enum ws_status measure(const struct pf *pf, struct pf_peaks *out_peaks, struct ws_err *err)
{
	const struct launch_roofline roofline = {
		.dir = pf->dir,
		.device = (int)pf->args->device,
		.quiet = pf->args->general.quiet,
	};
	struct ws_proc_end end = { .signal = 0 };
	struct launch_lines lines;
	enum ws_status st;

	pf_log(PF_LOG_INFO, pf->args->roof_again
				    ? "[roofline] Generating..."
				    : "[roofline] No roofline data found. Generating...");
	st = launch_lines_start(&lines, LAUNCH_LINES_STDOUT, peak_line, NULL, err);
	if (st)
		return st;
	st = launch_roofline_run(&roofline, &end, err);
	launch_lines_stop(&lines);
	out_peaks->measured = !st;
	out_peaks->stop_signal = st ? end.interrupted : 0;
	if (end.interrupted)
		return ws_fail(err, WS_E_STATE, "roofline: interrupted (%s)",
			       strsignal(end.interrupted));
	return st ? ws_fail_in(err, st, "roofline") : WS_OK;
}

/* ---- what was measured before ---- */

/* On stderr, because the numbers of the report depend on it; not with --quiet. */
static void log_cached(const struct pf *pf, time_t when)
{
	char day[64] = "", text[200];
	struct tm tm;

	if (localtime_r(&when, &tm))
		strftime(day, sizeof(day), "%Y-%m-%d %H:%M", &tm);
	snprintf(text, sizeof(text),
		 "roofline: peaks of this GPU as measured on %s: --roof-again measures them again",
		 day);
	pf_log_to_file(text);
	if (!pf->args->general.quiet)
		fprintf(stderr, "rocprof-compute: %s\n", text);
}

static enum ws_status write_peaks(const struct pf *pf, const struct ws_buf *text,
				  struct ws_err *err)
{
	char path[PATH_MAX];
	enum ws_status st = ws_path_join(pf->dir, LAUNCH_ROOFLINE_FILE, path, err);

	return st ? st : ws_file_replace(path, text->at, text->n, err);
}

static void keep_peaks(const struct pf *pf, const struct launch_roofcache *cache,
		       struct ws_buf *text)
{
	char path[PATH_MAX];

	ws_buf_clear(text);
	if (!ws_path_join(pf->dir, LAUNCH_ROOFLINE_FILE, path, NULL) &&
	    !ws_file_read(path, text, NULL))
		launch_roofcache_put(cache, text);
}

static enum ws_status take_or_measure(const struct pf *pf, struct pf_peaks *out_peaks,
				      struct ws_err *err)
{
	const struct launch_roofcache_key key = {
		.version = WS_VERSION,
		.agents = &pf->agents,
		.device = (int)pf->args->device,
	};
	struct timespec since = { 0 };
	struct launch_roofcache cache;
	struct ws_buf text;
	struct ws_err why;
	time_t when;
	enum ws_status st;

	/* Another rank of this job may have measured since it started: that is recent enough. */
	if (pf->args->roof_again || pf->args->bench_only)
		since = launch_roofcache_start();
	ws_buf_init(&text, 16 << 20);
	if (launch_roofcache_open(&cache, &key, &why))
		pf_log(PF_LOG_DEBUG, "[roofline] Peaks are not cached: %s", why.text);
	if (launch_roofcache_take(&cache, since, &text, &when)) {
		st = write_peaks(pf, &text, err);
		out_peaks->measured = !st;
		if (!st)
			log_cached(pf, when);
	} else {
		st = measure(pf, out_peaks, err);
		if (!st)
			keep_peaks(pf, &cache, &text);
	}
	launch_roofcache_close(&cache);
	ws_buf_fini(&text);
	return st;
}

enum ws_status pf_roofline_measure(const struct pf *pf, struct pf_peaks *out_peaks,
				   struct ws_err *err)
{
	char path[PATH_MAX];
	enum ws_status st = ws_path_join(pf->dir, LAUNCH_ROOFLINE_FILE, path, err);

	if (st)
		return st;
	pf_log(PF_LOG_INFO, "[roofline] Checking for roofline.csv in %s", pf->dir);
	if (ws_path_exists(path) && !pf->args->bench_only && !pf->args->roof_again) {
		pf_log(PF_LOG_INFO, "[roofline] Found: the GPU is not measured again");
		return WS_OK;
	}
	return take_or_measure(pf, out_peaks, err);
}
