/*
 * derived: the requested counters of every dispatch, from those that were counted.
 *
 * A provider counted some counters in some passes. Every request of the plan is computed
 * from them, dispatch by dispatch, and replaces them in the trace: the writers of formats
 * then see what was requested and nothing else. What has no value has none, and a reason.
 */
#ifndef WS_COUNTERS_DERIVED_H
#define WS_COUNTERS_DERIVED_H

#include "counters/plan_words.h"
#include "trace/counted.h"

#include <stdio.h>

struct cnt_derived;

/* The trace of @table shows the result as long as both live. */
enum ws_status cnt_derive(struct trc_counted *table, const struct cnt_plan_words *words,
			  struct cnt_derived **out_derived, struct ws_err *err);
void cnt_derived_destroy(struct cnt_derived *derived); /* NULL is fine */

/*
 * How good the values of a process are, which are missing and why. @folder: of the job, where
 * there are several; else "".
 */
void cnt_derived_report(const struct cnt_derived *derived, const struct trc_process *process,
			const char *folder, FILE *to);
/*
 * How runs differ, and what replay cost; @to NULL: not printed. True: runs differ, or a
 * requested counter has no value.
 */
bool cnt_derived_report_runs(const struct cnt_derived *derived, FILE *to);

#endif
