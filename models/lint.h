/*
 * lint: mistakes in an additional context, found before a run.
 *
 * Unknown keys, unknown tools and their variables, a missing "--", counters that the GPU lacks,
 * options that rocprofv3 does not have, the number of application runs. What a rule means and what to
 * do is in docs/madengine-profiling.md.
 *
 * Memory   everything lives in the arena that was given.
 */
#ifndef WS_MODELS_LINT_H
#define WS_MODELS_LINT_H

#include "base/arena.h"
#include "base/doc.h"
#include "base/error.h"

#include <stddef.h>

/* clang-format off */
#define MDL_LINT_LEVEL_TABLE(X)         \
	X(MDL_LINT_NOTE,    "note")     \
	X(MDL_LINT_WARNING, "warning")  \
	X(MDL_LINT_ERROR,   "error")

/* rule, its word, how bad it is */
#define MDL_LINT_RULE_TABLE(X)                                                     \
	X(UNKNOWN_KEY,       "unknown-key",       MDL_LINT_WARNING)                \
	X(UNKNOWN_LAUNCHER,  "unknown-launcher",  MDL_LINT_WARNING)                \
	X(UNKNOWN_TOOL,      "unknown-tool",      MDL_LINT_ERROR)                  \
	X(BAD_TOOL,          "bad-tool",          MDL_LINT_ERROR)                  \
	X(REPEATED_TOOL,     "repeated-tool",     MDL_LINT_WARNING)                \
	X(NESTED_PROFILERS,  "nested-profilers",  MDL_LINT_WARNING)                \
	X(UNKNOWN_TOOL_KEY,  "unknown-tool-key",  MDL_LINT_WARNING)                \
	X(UNKNOWN_VARIABLE,  "unknown-variable",  MDL_LINT_WARNING)                \
	X(BAD_VARIABLE,      "bad-variable",      MDL_LINT_ERROR)                  \
	X(MISSING_SEPARATOR, "missing-separator", MDL_LINT_ERROR)                  \
	X(REJECTED_OPTION,   "rejected-option",   MDL_LINT_ERROR)                  \
	X(MISSING_FILE,      "missing-file",      MDL_LINT_ERROR)                  \
	X(UNCHECKED_FILE,    "unchecked-file",    MDL_LINT_NOTE)                   \
	X(MISSING_COUNTER,   "missing-counter",   MDL_LINT_WARNING)                \
	X(UNKNOWN_COUNTER,   "unknown-counter",   MDL_LINT_ERROR)                  \
	X(APPLICATION_RUNS,  "application-runs",  MDL_LINT_NOTE)                   \
	X(BATCH_JOB,         "batch-job",         MDL_LINT_NOTE)
/* clang-format on */

enum mdl_lint_level {
#define MDL_LINT_LEVEL_ROW(id, word) id,
	MDL_LINT_LEVEL_TABLE(MDL_LINT_LEVEL_ROW)
#undef MDL_LINT_LEVEL_ROW
};
const char *mdl_lint_level_word(enum mdl_lint_level level);

enum mdl_lint_rule {
#define MDL_LINT_RULE_ROW(id, word, level) MDL_LINT_##id,
	MDL_LINT_RULE_TABLE(MDL_LINT_RULE_ROW)
#undef MDL_LINT_RULE_ROW
};

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

/* What a check adds findings to. Without memory they are dropped, and mdl_lint() fails. */
struct mdl_lint_report;
void mdl_lint_add(struct mdl_lint_report *report, enum mdl_lint_rule rule, const char *fmt, ...)
	WS_PRINTF(3, 4);

/*
 * What the profiler says of its own options: @words as main() gets them, without "--" and program. The
 * profilers are commands, which this module does not know: who calls mdl_lint() gives it.
 */
typedef void mdl_lint_profiler(char **words, size_t n_words, struct mdl_lint_report *report);

/*
 * @tools: definitions of mdl_tools_read(). Files are looked up from @dir, the working folder. @profiler
 * may be NULL: options are not checked.
 */
enum ws_status mdl_lint(const struct ws_doc *context, const struct ws_doc *tools, const char *dir,
			mdl_lint_profiler *profiler, struct ws_arena *arena,
			struct mdl_findings *out_findings, struct ws_err *err);

#endif
