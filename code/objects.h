/*
 * objects: the code objects of a trace's processes, loaded when they are first needed.
 *
 * Threads  one at a time.
 * Memory   what is returned lives as long as the struct.
 */
#ifndef WS_CODE_OBJECTS_H
#define WS_CODE_OBJECTS_H

#include "base/map.h"
#include "code/code.h"
#include "trace/trace.h"

struct code_objects {
	struct ws_map loaded;      /* by process and id */
	struct ws_err first_error; /* why the first one that could not be read could not */
	unsigned n_missing;
};

void code_objects_init(struct code_objects *objects);
void code_objects_fini(struct code_objects *objects);

/* NULL: it cannot be read; first_error and n_missing say more. */
struct code_code *code_objects_get(struct code_objects *objects, const struct trc_process *process,
				   uint32_t code_object);

#endif
