/*
 * madengine: models selected by tag, run with profiling tools around them.
 */
#ifndef WS_CMD_MADENGINE_MADENGINE_H
#define WS_CMD_MADENGINE_MADENGINE_H

#include "base/arena.h"
#include "base/cmd.h"
#include "base/doc.h"
#include "models/lint.h"
#include "models/model.h"

#define MAD_EXIT_BUILD 2 /* an image could not be built */
#define MAD_EXIT_RUN 3   /* at least one model failed */
#define MAD_EXIT_ARGS 4  /* options, tags or context */

#define MAD_ARENA_BYTES (1024u << 20)

extern const struct ws_cmd mad_build_cmd;
extern const struct ws_cmd mad_database_cmd;
extern const struct ws_cmd mad_discover_cmd;
extern const struct ws_cmd mad_lint_profile_cmd;
extern const struct ws_cmd mad_report_cmd;
extern const struct ws_cmd mad_run_cmd;

/* ---- select.c: definitions and tags ---- */

/*
 * The folder of the definitions: MODEL_DIR, the working folder ("."), or the installed sample
 * models, which is said.
 */
enum ws_status mad_find_root(char out_root[PATH_MAX], struct ws_err *err);
/* The words of --tags, commas resolved. */
enum ws_status mad_tags(const struct ws_strv *typed, struct ws_arena *arena,
			struct ws_strv *out_tags, struct ws_err *err);
/* No tags: all models. */
enum ws_status mad_select(const char *root, const struct ws_strv *typed, struct ws_arena *arena,
			  struct mdl_models *out_chosen, struct ws_err *err);

/* ---- lint_profile.c ---- */

/* mdl_lint() with rocprofv3's own checks, from the working folder. */
enum ws_status mad_lint(const struct ws_doc *context, const struct ws_doc *tools,
			struct ws_arena *arena, struct mdl_findings *out_findings,
			struct ws_err *err);

/* ---- build.c ---- */

struct mad_build {
	const char *root;
	const char *registry;
	const char *use_image;
	const char *target_archs;
	bool no_cache;
	bool live_output;
};

/*
 * The manifest of @models: images built where there is a container engine and a dockerfile, and
 * entries without an image for all others. *@exit_code is MAD_EXIT_BUILD after a failed build.
 */
enum ws_status mad_make_manifest(const struct mdl_models *models, const struct ws_doc *context,
				 const struct mad_build *how, struct ws_arena *arena,
				 struct ws_doc **out_manifest, int *exit_code, struct ws_err *err);

#endif
