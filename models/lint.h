/*
 * lint: mistakes in an additional context, found before a run.
 *
 * Unknown keys, unknown tools, a missing "--", counters that the GPU lacks, options that
 * rocprofv3 does not have, the number of application runs.
 */
#ifndef WS_MODELS_LINT_H
#define WS_MODELS_LINT_H

#include "base/arena.h"
#include "base/doc.h"
#include "base/error.h"

#include <stddef.h>

enum mdl_lint_level { MDL_LINT_NOTE, MDL_LINT_WARNING, MDL_LINT_ERROR };

struct mdl_finding {
	enum mdl_lint_level level;
	const char *rule;  /* "unknown-key": a word for --json and for the docs */
	const char *where; /* "tools[0].cmd" */
	const char *text;  /* what is wrong: what to do */
};

struct mdl_findings {
	struct mdl_finding *at;
	size_t n, n_errors;
};

/* @tools: definitions of mdl_tools_read(). Files are looked up from @dir, the working folder. */
enum ws_status mdl_lint(const struct ws_doc *context, const struct ws_doc *tools, const char *dir,
			struct ws_arena *arena, struct mdl_findings *out_findings,
			struct ws_err *err);

#endif
