#include "cmd/compute/profile_before.h"

#include "base/file.h"
#include "base/path.h"
#include "base/str.h"
#include "base/utf8.h"
#include "cmd/compute/profile_collect.h"
#include "cmd/compute/say.h"
#include "launch/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define ASIDE_MAX 100000u

/* Names in a workload folder: what --replace removes, and what may be in a folder of ours. */
static const char *const own_names[] = {
	"sysinfo.csv",
	"timestamps.csv",
	"log.txt",
	"profiling_config.yaml",
	"pmc_perf*.csv",
	"results_*.csv",
	"SQ_*.csv",
	"SQC_*.csv",
	"*.db",
	"roofline.csv",
	"ps_file_*",
	"*_hip_api_trace.csv",
	"torch_trace*",
	"pmc_kernel_top.csv",
	"pmc_dispatch_info.csv",
	"*_counter_collection.csv",
	"empirRoof_*",
	"*.part",
	WL_STATE_NAME,
	PF_RECORDED_NAME,
	".rocprofv3*",
};
/* Of these, what was measured by running a program. */
static const char *const counted_names[] = { "pmc_perf*.csv", "results_*.csv", "SQ_*.csv",
					     "SQC_*.csv",     "ps_file_*",     "torch_trace*" };
static const char *const own_folders[] = { "perfmon", "torch_trace" };

static bool matches(const char *name, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(patterns[i], name, FNM_PERIOD) == 0)
			return true;
	return false;
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

struct content {
	bool there, any, counted;
	char foreign[256]; /* the first name that no profile leaves */
};

static enum ws_status look(const char *dir, struct content *out, struct ws_err *err)
{
	DIR *folder = opendir(dir);
	struct dirent *entry;

	*out = (struct content){ .there = folder != NULL };
	if (!folder)
		/* A file on the way: making the folder says which. */
		return errno == ENOENT || errno == ENOTDIR ? WS_OK
							   : ws_fail_errno(err, errno, "'%s'", dir);
	while ((entry = readdir(folder))) {
		const char *name = entry->d_name;

		if (is_dot(name))
			continue;
		out->any = true;
		out->counted |= matches(name, counted_names, WS_ARRAY_LEN(counted_names));
		if (!*out->foreign && strcmp(name, "perfmon") != 0 &&
		    !matches(name, own_names, WS_ARRAY_LEN(own_names)))
			snprintf(out->foreign, sizeof(out->foreign), "%s", name);
	}
	closedir(folder);
	return WS_OK;
}

/* ---- one at a time ---- */

/* Held until we end. A file system that cannot lock leaves it to the user, as before. */
static enum ws_status lock_folder(const struct pf *pf, struct ws_err *err)
{
	static int held = -1;
	int fd = open(pf->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return ws_fail_errno(err, errno, "'%s'", pf->dir);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		close(fd);
		return ws_fail(err, WS_E_STATE,
			       "'%s' is in use by another rocprof-compute: wait, or use separate "
			       "folders, for example with %%env{NAME}%%",
			       pf->dir);
	}
	if (held >= 0)
		close(held); /* of the one that was moved aside */
	held = fd;
	return WS_OK;
}

/* ---- removing and moving ---- */

/* Files of ours in @dir; all of them in a folder that is ours as a whole. */
static void remove_files(const char *dir, bool all)
{
	DIR *folder = opendir(dir);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (!is_dot(entry->d_name) &&
		    (all || matches(entry->d_name, own_names, WS_ARRAY_LEN(own_names))))
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
}

static enum ws_status clear(const char *dir, struct ws_err *err)
{
	char path[PATH_MAX];
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < WS_ARRAY_LEN(own_folders) && !st; i++) {
		st = ws_path_join(dir, own_folders[i], path, err);
		if (!st) {
			remove_files(path, true);
			rmdir(path);
		}
	}
	remove_files(dir, false);
	return st;
}

static enum ws_status clear_profile(const struct pf *pf, struct ws_err *err)
{
	pf_recorded_remove(pf);
	return clear(pf->dir, err);
}

/* The peaks of the GPU are still what they were: they come along. */
static void keep_roofline(const char *from, const char *to)
{
	char old[PATH_MAX], new[PATH_MAX];

	if (!ws_path_join(from, "roofline.csv", old, NULL) &&
	    !ws_path_join(to, "roofline.csv", new, NULL) && ws_path_exists(old) &&
	    link(old, new) != 0)
		say(SAY_DEBUG, "cannot link %s: %s", old, strerror(errno));
}

static enum ws_status move_aside(const struct pf *pf, bool same_gpu, struct ws_err *err)
{
	const char *dir = pf->dir;
	char aside[PATH_MAX];
	enum ws_status st;

	for (unsigned i = 1;; i++) {
		if (i > ASIDE_MAX ||
		    (size_t)snprintf(aside, sizeof(aside), "%s.%u", dir, i) >= sizeof(aside))
			return ws_fail(
				err, WS_E_LIMIT,
				"'%s': no free name for the earlier profile: remove old ones", dir);
		if (!ws_path_exists(aside))
			break;
	}
	if (rename(dir, aside) != 0)
		return ws_fail_errno(err, errno, "cannot move '%s' to '%s'", dir, aside);
	st = ws_mkdirs(dir, err);
	if (!st)
		st = lock_folder(pf, err);
	if (!st && same_gpu)
		keep_roofline(aside, dir);
	say(SAY_INFO, "The earlier profile in this folder is kept as %s", aside);
	return st;
}

/* ---- deciding ---- */

/* As a file of text keeps it. */
static bool same_word(const char *kept, const char *word)
{
	struct ws_buf utf8;
	bool same;

	ws_buf_init(&utf8, SIZE_MAX);
	ws_buf_add_utf8(&utf8, word, strlen(word));
	same = strcmp(kept, utf8.at) == 0;
	ws_buf_fini(&utf8);
	return same;
}

static bool same_words(const struct ws_strv *kept, const struct ws_strv *words)
{
	if (kept->n != words->n)
		return false;
	for (size_t i = 0; i < kept->n; i++)
		if (!same_word(kept->at[i], words->at[i]))
			return false;
	return true;
}

/* NULL: results of the two belong together. Else why not. */
static const char *difference(const struct wl_state *old, const struct wl_state *now)
{
	if (!same_words(&old->argv, &now->argv))
		return "it belongs to another command";
	if (strcmp(old->program, now->program) != 0 || old->program_bytes != now->program_bytes ||
	    old->program_mtime_ns != now->program_mtime_ns)
		return "the program has changed since";
	if (strcmp(old->arch, now->arch) != 0)
		return "it was recorded on another GPU";
	if (strcmp(old->how, now->how) != 0)
		return "it was recorded with other filters or modes";
	return NULL;
}

static size_t n_done(struct wl_state *state)
{
	size_t n = 0;

	ws_vec_each(pass, &state->passes)
		n += pass->done;
	return n;
}

/* What is there of a profile that did not come to its end, and how to go on. */
static enum ws_status refuse_unfinished(const struct pf *pf, struct wl_state *old,
					struct ws_err *err)
{
	size_t n = n_done(old);

	if (pf_recorded_is_there(pf))
		return ws_fail(err, WS_E_EXISTS,
			       "'%s' has a run whose files could not be written: --resume writes "
			       "them, --replace starts again",
			       pf->dir);
	if (n && n == old->passes.n)
		return ws_fail(err, WS_E_EXISTS,
			       "'%s' has a profile that was stopped after its last pass: --resume "
			       "completes it, --replace starts again",
			       pf->dir);
	if (!n)
		return ws_fail(err, WS_E_EXISTS,
			       "'%s' has the dispatches of a run that was stopped: --resume runs "
			       "the program again, --replace starts again",
			       pf->dir);
	return ws_fail(err, WS_E_EXISTS,
		       "'%s' has an unfinished profile, %zu of %zu passes: --resume continues it, "
		       "--replace starts again",
		       pf->dir, n, old->passes.n);
}

static enum ws_status resume(struct pf *pf, struct wl_state *old, const char *why,
			     enum pf_before *out_before, struct ws_err *err)
{
	if (why)
		return ws_fail(err, WS_E_STATE,
			       "--resume: '%s' cannot be continued, %s: --replace profiles again",
			       pf->dir, why);
	*out_before = old->complete ? PF_ADD : PF_RESUME;
	return WS_OK;
}

enum ws_status pf_prepare_dir(struct pf *pf, const struct wl_state *now, struct wl_state *out_old,
			      enum pf_before *out_before, struct ws_err *err)
{
	const struct pf_args *args = pf->args;
	struct content content;
	const char *why;
	bool empty;
	enum ws_status st = look(pf->dir, &content, err);

	*out_before = PF_FRESH;
	wl_state_init(out_old);
	if (!st && !content.there && args->resume)
		return ws_fail(err, WS_E_STATE, "--resume: there is no profile in '%s'", pf->dir);
	if (!st && !content.there)
		st = ws_mkdirs(pf->dir, err);
	pf->made_dir = !st && !content.there;
	if (!st)
		st = lock_folder(pf, err);
	if (st)
		return st;
	st = wl_state_read(pf->dir, &pf->arena, out_old, err);
	if (st == WS_E_NOTFOUND) {
		if (args->resume)
			return ws_fail(err, WS_E_STATE,
				       "--resume: there is no profile in '%s': remove the option",
				       pf->dir);
		if (*content.foreign)
			return ws_fail(err, WS_E_EXISTS,
				       "'%s' is not empty (%s) and not a workload: choose another "
				       "folder",
				       pf->dir, content.foreign);
		return content.counted ? move_aside(pf, false, err) : WS_OK;
	}
	if (st == WS_E_FORMAT && args->replace)
		return clear_profile(pf, err);
	if (st)
		return st;
	launch_rundir_remove_left(pf->dir); /* by one that was killed */
	why = difference(out_old, now);
	if (args->resume)
		return resume(pf, out_old, why, out_before, err);
	/* One that failed before anything was counted is in nobody's way. */
	empty = !out_old->complete && !n_done(out_old) && !content.counted &&
		!pf_recorded_is_there(pf);
	if (!args->replace && !out_old->complete && !empty)
		return refuse_unfinished(pf, out_old, err);
	if (!args->replace && !empty && !why && pf->n_sections) {
		*out_before = PF_ADD;
		return WS_OK;
	}
	st = args->replace || empty ? clear_profile(pf, err)
				    : move_aside(pf, strcmp(out_old->arch, now->arch) == 0, err);
	wl_state_fini(out_old);
	wl_state_init(out_old);
	return st;
}

void pf_unmake_dir(const struct pf *pf)
{
	bool ours = !pf->args->output_directory && !pf->args->path; /* workloads/NAME, too */
	char path[PATH_MAX];

	if (!pf->made_dir)
		return;
	strcpy(path, pf->dir);
	for (int i = 0; i < (ours ? 3 : 1) && rmdir(path) == 0; i++)
		ws_path_parent(path);
}

const char *pf_how(struct pf *pf)
{
	static const char *const policies[] = { "off", "kernel", "launch" };
	const struct pf_args *args = pf->args;
	struct ws_buf text;
	char *how;

	ws_buf_init(&text, 1 << 20);
	ws_buf_printf(&text, "format %s, join %s, multiplex %s", pf_format_names[args->format],
		      pf_join_names[args->join_type], policies[pf_multiplex_of(args)]);
	for (size_t i = 0; i < args->spatial.n; i++)
		ws_buf_printf(&text, ", spatial %s", args->spatial.at[i]);
	for (size_t i = 0; i < args->kernels.n; i++)
		ws_buf_printf(&text, ", kernel %s", args->kernels.at[i]);
	for (size_t i = 0; i < args->dispatches.n; i++)
		ws_buf_printf(&text, ", dispatch %s", args->dispatches.at[i]);
	how = ws_arena_strndup(&pf->arena, text.at, text.n);
	ws_buf_fini(&text);
	return how ? how : "";
}
