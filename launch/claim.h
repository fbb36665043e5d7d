/*
 * claim: keeps concurrent runs from writing files of the same name.
 *
 * Ranks of a job that were all given "-o run" end at about the same time. A name belongs to
 * the process that is writing under it. Files written since the run began belong to another
 * rank of the job; older files may be replaced. No process waits.
 */
#ifndef WS_LAUNCH_CLAIM_H
#define WS_LAUNCH_CLAIM_H

#include <limits.h>
#include <stdbool.h>
#include <time.h>

struct launch_claim {
	int fd; /* of the lock beside the files, or -1 */
	char path[PATH_MAX];
};

/* The clock that files are stamped with: for @since. */
struct timespec launch_claim_now(void);

/*
 * False: @prefix is in use by another run. Where nothing can be locked (a folder that cannot be
 * written to, a file system without locks) it is given: who writes will hear of it.
 */
bool launch_claim_take(struct launch_claim *claim, const char *prefix, struct timespec since);
void launch_claim_release(struct launch_claim *claim); /* also of one that was not taken */

#endif
