#include "code/objects.h"

#include <stdlib.h>

/* Stands for a code object that could not be read, so that it is tried once. */
static char missing;

void code_objects_init(struct code_objects *objects)
{
	ws_map_init(&objects->loaded, WS_MAP_U64, 1 << 20);
	objects->first_error = (struct ws_err){ WS_OK, "" };
	objects->n_missing = 0;
}

void code_objects_fini(struct code_objects *objects)
{
	ws_map_each(entry, &objects->loaded)
		if (entry->value != &missing)
			code_unload(entry->value);
	ws_map_fini(&objects->loaded);
}

struct code_code *code_objects_get(struct code_objects *objects, const struct trc_process *process,
				   uint32_t code_object)
{
	uint64_t key = (uint64_t)process->index << 32 | code_object;
	void *known = ws_map_get_u64(&objects->loaded, key);
	struct code_code *code = NULL;
	struct ws_err err = { WS_OK, "" };
	uint64_t kept_bytes = 0;
	enum ws_status st;
	void *kept;

	if (known)
		return known == &missing ? NULL : known;
	if (code_object >= process->code_objects.n)
		return NULL;
	kept = trc_process_code_bytes(process, code_object, &kept_bytes);
	st = code_load(process->code_objects.at[code_object].uri, kept, kept_bytes, &code, &err);
	free(kept);
	if (st && !objects->n_missing++)
		objects->first_error = err;
	if (ws_map_put_u64(&objects->loaded, key, st ? (void *)&missing : code, &err)) {
		code_unload(code);
		return NULL;
	}
	return code;
}
