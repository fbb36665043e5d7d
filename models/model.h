/*
 * model: model definitions, and the selection of models by tag.
 *
 * A root folder holds models.json and, per scope, scripts/<scope>/models.json or
 * scripts/<scope>/get_models_json.py. The latter is run by the user's python3 and must define
 * list_models() or a list named models. Models of a scope are named <scope>/<name>; their
 * paths are made relative to the root when they are read.
 *
 *	mdl_models_read(root, arena, &models, err);
 *	mdl_models_select(&models, tags, n_tags, arena, &chosen, err);
 *
 * Memory   everything lives in the arena that was given.
 * Failure  the text names the file, and the model where it is known.
 */
#ifndef WS_MODELS_MODEL_H
#define WS_MODELS_MODEL_H

#include "base/arena.h"
#include "base/doc.h"
#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The fields that are texts, as models.json names them. */
/* clang-format off */
#define MDL_MODEL_TEXTS(X)                                                                         \
	X(dockerfile)         /* path, or the part before ".ubuntu.amd.Dockerfile" */              \
	X(dockercontext)                                                                           \
	X(scripts)            /* a file, or a folder with run.sh */                                \
	X(args)               /* of the script, as a shell reads them */                           \
	X(n_gpus)             /* "-1": all */                                                      \
	X(url)                /* repository to clone */                                            \
	X(cred)                                                                                    \
	X(owner)                                                                                   \
	X(data)                                                                                    \
	X(training_precision)                                                                      \
	X(multiple_results)   /* CSV file that the model writes */                                 \
	X(additional_docker_run_options)
/* clang-format on */

struct mdl_model {
	const char *name;                         /* "dummy", "scope/dummy" */
	const char *scope;                        /* "" for models of the root */
#define MDL_MODEL_FIELD(field) const char *field; /* "": not given */
	MDL_MODEL_TEXTS(MDL_MODEL_FIELD)
#undef MDL_MODEL_FIELD
	double timeout_s; /* < 0: not given */
	bool deprecated;
	const struct ws_doc *doc; /* the whole object, with name, paths and args as above */
};

struct mdl_models {
	struct mdl_model *at;
	size_t n;
};

/* A root without definitions gives WS_E_NOTFOUND. */
enum ws_status mdl_models_read(const char *root, struct ws_arena *arena,
			       struct mdl_models *out_models, struct ws_err *err);
/* Whether @root has definitions of any form. */
bool mdl_models_exist(const char *root);

/* One object: from models.json, or from a manifest. @file is for messages. */
enum ws_status mdl_model_from_doc(const char *file, const char *scope, const struct ws_doc *doc,
				  struct ws_arena *arena, struct mdl_model *out_model,
				  struct ws_err *err);

/*
 * The models that the tags select, in order of definition, each once. A tag is a name, one of a
 * model's tags, "all", or scope/tag; ":key=value" after it appends " --key value" to the
 * arguments. A tag without a model is WS_E_NOTFOUND, with the nearest name.
 */
enum ws_status mdl_models_select(const struct mdl_models *models, const char *const *tags,
				 size_t n_tags, struct ws_arena *arena,
				 struct mdl_models *out_chosen, struct ws_err *err);

/* Whether a list or comma list of texts (tags, skip_gpu_arch) contains @word. */
bool mdl_model_lists(const struct mdl_model *model, const char *key, const char *word);

#endif
