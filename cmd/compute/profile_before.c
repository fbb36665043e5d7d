#include "cmd/compute/profile_before.h"

#include "base/file.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/compute/profile_collect.h"
#include "cmd/compute/profile_log.h"
#include "launch/rundir.h"
#include "workload/folder.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum ws_status clear_profile(const struct pf *pf, struct ws_err *err)
{
	pf_recorded_remove(pf);
	return wl_folder_clear(pf->dir, err);
}

static enum ws_status move_aside(const struct pf *pf, bool same_gpu, struct ws_err *err)
{
	char aside[PATH_MAX];
	enum ws_status st = wl_folder_move_aside(pf->dir, same_gpu, aside, err);

	if (!st)
		pf_log(PF_LOG_INFO, "The earlier profile in this folder is kept as %s", aside);
	return st;
}

/* What is there of a profile that did not come to its end, and how to go on. */
static enum ws_status refuse_unfinished(const struct pf *pf, struct wl_state *old,
					struct ws_err *err)
{
	size_t n = wl_state_n_done(old);

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
	struct wl_folder_content content;
	const char *why;
	bool empty;
	enum ws_status st = wl_folder_look(pf->dir, &content, err);

	*out_before = PF_FRESH;
	wl_state_init(out_old);
	if (!st && !content.there && args->resume)
		return ws_fail(err, WS_E_STATE, "--resume: there is no profile in '%s'", pf->dir);
	if (!st && !content.there)
		st = ws_mkdirs(pf->dir, err);
	pf->made_dir = !st && !content.there;
	if (!st)
		st = wl_folder_lock(pf->dir, err);
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
	why = wl_state_difference(out_old, now);
	if (args->resume)
		return resume(pf, out_old, why, out_before, err);
	/* One that failed before anything was counted is replaced. */
	empty = !out_old->complete && !wl_state_n_done(out_old) && !content.counted &&
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
