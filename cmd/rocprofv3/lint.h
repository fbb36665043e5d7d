/* lint: what rocprofv3 would say of options before it runs anything, for madengine's linter. */
#ifndef WS_CMD_ROCPROFV3_LINT_H
#define WS_CMD_ROCPROFV3_LINT_H

#include "models/lint.h"

/* A mdl_lint_profiler. Nothing is run, printed or written. */
void rp_lint(char **words, size_t n_words, struct mdl_lint_report *report);

#endif
