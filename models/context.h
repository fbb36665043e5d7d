/*
 * context: the additional context of a run.
 *
 * It is a tree (base/doc.h): ws_doc_get() and the typed readers of base/doc_edit.h are how
 * members are read. Keys that begin with '_' are comments; they are removed when it is read, at
 * all levels.
 *
 *	mdl_context_load(file, text, arena, &context, err);   file < text, defaults, checked
 *	tools = ws_doc_get(context, "tools");
 *
 * Memory   everything lives in the arena that was given.
 * Failure  WS_E_USAGE or WS_E_FORMAT: exit code 4. The text names the file or option, and the key.
 */
#ifndef WS_MODELS_CONTEXT_H
#define WS_MODELS_CONTEXT_H

#include "base/arena.h"
#include "base/doc.h"
#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Types that a key may have, as bits: 1 << enum ws_doc_kind. */
struct mdl_context_key {
	const char *name;
	unsigned kinds;
};

/* Every key that is known: for the check, and for the linter's unknown keys. NULL after the last. */
const struct mdl_context_key *mdl_context_key(size_t i);

/*
 * Reads @file (NULL: none) and @text (NULL: none); members of @text replace those of @file, whole.
 * @file is looked up as typed, then among the installed presets. Fills gpu_vendor and guest_os.
 */
enum ws_status mdl_context_load(const char *file, const char *text, struct ws_arena *arena,
				struct ws_doc **out_context, struct ws_err *err);
/* Types of all known keys, and the values of gpu_vendor and guest_os. */
enum ws_status mdl_context_check(const struct ws_doc *context, struct ws_err *err);

/*
 * The path of a context file: as typed, else the installed preset of that name, whatever folder
 * stands before it ("examples/profiling-configs/rocprofv3_compute_bound.json").
 */
enum ws_status mdl_context_find(const char *file, char out_path[PATH_MAX], struct ws_err *err);

/* JSON, or a literal of a Python dict: 'text', True, None, trailing commas. @name is for messages. */
enum ws_status mdl_context_parse(const char *name, struct ws_str text, struct ws_arena *arena,
				 struct ws_doc **out_doc, struct ws_err *err);

/* ---- where it runs, and on which GPUs ---- */

/* clang-format off */
#define MDL_TARGET_TABLE(X)          \
	X(MDL_TARGET_LOCAL, "local") \
	X(MDL_TARGET_SLURM, "slurm") \
	X(MDL_TARGET_K8S,   "k8s")
/* clang-format on */

enum mdl_target {
#define MDL_TARGET_ROW(name, text) name,
	MDL_TARGET_TABLE(MDL_TARGET_ROW)
#undef MDL_TARGET_ROW
};

const char *mdl_target_name(enum mdl_target target);
/* By the presence of slurm, k8s or kubernetes; both kinds are WS_E_USAGE. */
enum ws_status mdl_context_target(const struct ws_doc *context, enum mdl_target *out_target,
				  struct ws_err *err);

#define MDL_GPUS_MAX 64

struct mdl_gpus {
	unsigned at[MDL_GPUS_MAX]; /* indices, in the order given */
	size_t n;                  /* chosen */
};

/*
 * The GPUs of a run. The count is the first of gpus_per_node, gpu_count, n_gpus, num_gpus and ngpus
 * in the context, slurm.gpus_per_node, k8s.gpu_count, @model_n_gpus (NULL: 1); -1 is all. They are
 * taken from docker_gpus ("0,2-5" or "all"; default all of @n_present). More than there are:
 * WS_E_USAGE.
 */
enum ws_status mdl_context_gpus(const struct ws_doc *context, const char *model_n_gpus,
				size_t n_present, struct mdl_gpus *out_gpus, struct ws_err *err);

#endif
