/*
 * folder: what madengine puts into the working folder, and takes away again.
 *
 * scripts/common is laid there for the time of a run: commands of tools name files in it. A file
 * that is there already is the user's: it is neither replaced nor removed. A list of what was laid,
 * scripts/common/.madengine, lets the next run clean up after one that was killed.
 *
 * Only one run at a time can use a working folder: the lock is on the folder itself, and no file.
 */
#ifndef WS_MODELS_FOLDER_H
#define WS_MODELS_FOLDER_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>

#define MDL_MARK ".madengine" /* a run folder with this file in it was made by us */

/* WS_E_STATE when another run holds it. Released by closing the descriptor. */
enum ws_status mdl_folder_lock(const char *dir, int *out_fd, struct ws_err *err);

struct mdl_common {
	const char *dir; /* the working folder */
	struct ws_strv
		paths; /* laid by us, relative to it; folders end in '/' and come before files */
	struct ws_strv sources; /* what each is a copy of */
};

/*
 * @from: folders with contents for scripts/common, NULL-ended; of a file that several have, the
 * first counts. One that does not exist is skipped; none is the target. Texts live in @arena.
 */
enum ws_status mdl_common_lay(const char *dir, const char *const *from, struct ws_arena *arena,
			      struct mdl_common *out_common, struct ws_err *err);
void mdl_common_remove(struct mdl_common *common); /* a zeroed one is fine */

/* A file, or the contents of a folder, links followed. Files that are there are replaced. */
enum ws_status mdl_copy(const char *from, const char *to, struct ws_err *err);

#endif
