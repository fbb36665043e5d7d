/*
 * A run whose files could not be written.
 *
 * When a disk is full the captures of a run are still there, and it is them that take the
 * room. They are put aside by renaming, which needs none; --resume makes the files of them
 * without running the program again.
 */
#include "cmd/compute/profile_collect.h"

#include "base/path.h"
#include "cmd/compute/profile_log.h"
#include "workload/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool find(const struct pf *pf, struct launch_rundir *out_dir)
{
	return !ws_path_join(pf->dir, WL_DIR_RECORDED, out_dir->path, NULL) &&
	       ws_path_exists(out_dir->path);
}

bool pf_recorded_is_there(const struct pf *pf)
{
	struct launch_rundir dir;

	return find(pf, &dir);
}

void pf_recorded_remove(const struct pf *pf)
{
	struct launch_rundir dir;

	if (find(pf, &dir))
		launch_rundir_remove(&dir);
}

bool pf_recorded_keep(const struct pf_collect *c, struct launch_passes_result *result)
{
	struct launch_rundir aside;
	char parent[PATH_MAX];

	if (!result->n_done || ws_path_join(c->pf->dir, WL_DIR_RECORDED, aside.path, NULL) ||
	    rename(result->dirs[0].path, aside.path) != 0)
		return false;
	strcpy(parent, result->dirs[0].path);
	ws_path_parent(parent);
	remove(parent); /* unless other runs are in it */
	result->dirs[0] = aside;
	return true;
}

enum ws_status pf_recorded_open(const struct pf_collect *c, struct launch_passes_result *out_result,
				struct ws_err *err)
{
	*out_result = (struct launch_passes_result){
		.n_runs = 1,
		.n_done = 1,
		.dirs = calloc(1, sizeof(*out_result->dirs)),
	};
	if (!out_result->dirs)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	pf_log(PF_LOG_INFO, "The run is recorded in the folder: its files are written now");
	find(c->pf, &out_result->dirs[0]);
	return WS_OK;
}
