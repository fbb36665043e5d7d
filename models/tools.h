/*
 * tools: what is put around a model: a command prefix, environment variables, scripts before and
 * after it.
 *
 * Definitions are in scripts/common/tools.json. The context names tools and may replace their
 * cmd and add to their env_vars. The chain of [A, B] is
 *
 *	pre scripts of B, of A, of the user; environment collector
 *	cmdB cmdA <encapsulate_script> MODEL COMMAND
 *	post scripts of the user, of A, of B
 *
 * A prefix that occurs twice is put once.
 *
 * A definition of ours may have `outputs`, patterns of files that the tool writes, with variables of
 * its environment as ${NAME}. Where the context replaces a cmd by one with -d DIR, it is DIR.
 *
 * Memory   everything lives in the arena that was given.
 * Failure  an unknown tool is WS_E_NOTFOUND, with the nearest name.
 */
#ifndef WS_MODELS_TOOLS_H
#define WS_MODELS_TOOLS_H

#include "base/arena.h"
#include "base/doc.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct mdl_script {
	const char
		*path; /* relative to the working folder; the file is copied into the run folder */
	const char *args; /* as a shell reads them; "" none */
};

struct mdl_scripts {
	struct mdl_script *at;
	size_t n;
};

/* What a tool is to have written when the model has ended. */
struct mdl_output {
	const char *tool;
	const char *pattern; /* of glob(), relative to the run folder: "rocprof_output" */
};

struct mdl_chain {
	const char *prefix;       /* "" or the prefixes, with a blank after the last */
	const struct ws_doc *env; /* map of texts; later tools win */
	struct mdl_scripts pre, post;
	const char *const *names; /* of the tools, in the order of the context */
	size_t n_tools;
	struct mdl_output *outputs; /* a run without one of these recorded nothing, and failed */
	size_t n_outputs;
};

/* Definitions: NULL is the installed tools.json. Checked: each cmd, env_vars, pre and post. */
enum ws_status mdl_tools_read(const char *path, struct ws_arena *arena, struct ws_doc **out_tools,
			      struct ws_err *err);

/*
 * The chain of context.tools, pre_scripts, post_scripts and encapsulate_script.
 * The environment collector is not part of it.
 */
enum ws_status mdl_chain_build(const struct ws_doc *tools, const struct ws_doc *context,
			       struct ws_arena *arena, struct mdl_chain *out_chain,
			       struct ws_err *err);

/* Names of the definitions in order, NULL after the last. */
const char *mdl_tool_name(const struct ws_doc *tools, size_t i);
/* The words of a command as a shell splits them: blanks, quotes, backslashes. NULL after the last. */
enum ws_status mdl_command_words(const char *command, struct ws_arena *arena, char ***out_words,
				 struct ws_err *err);
/* Whether @name belongs to the rocprof family (rocprof*, rocprofv3*). */
bool mdl_tool_is_rocprof(const char *name);

#endif
