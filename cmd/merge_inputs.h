/*
 * merge_inputs: the captures and databases that 'wavescope merge' and 'rocpd merge' read.
 *
 * Inputs are files or folders. Folders are searched for captures (.wcap) and for databases (.db);
 * where a folder has both, the captures are taken, because they have everything that the
 * databases were made from. Files with readings of clocks (.wclk) belong to the captures. Databases are turned into captures in a temporary folder.
 */
#ifndef WS_CMD_MERGE_INPUTS_H
#define WS_CMD_MERGE_INPUTS_H

#include "base/error.h"
#include "base/vec.h"

#include <limits.h>
#include <stddef.h>

struct merge_inputs {
	struct ws_strv captures; /* owned */
	struct ws_strv clocks;   /* what front ends read of each other's clocks; owned */
	size_t n_databases;      /* that some of them were made from */
	size_t n_left_out;       /* files that cannot be read: each was reported */
	char folder[PATH_MAX];   /* temporary; "" none */
	size_t n_temporary;      /* the last captures are in it */
};

/*
 * @except: a file that is not searched for, because it is about to be written; NULL: none. An error:
 * nothing to merge.
 */
enum ws_status merge_inputs_find(char *const *operands, size_t n, const char *except,
				 struct merge_inputs *out, struct ws_err *err);
/* Removes what is temporary; also after a failure. */
void merge_inputs_release(struct merge_inputs *inputs);

#endif
