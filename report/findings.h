/*
 * findings: what to look at, as text for a terminal of 80 columns and as JSON.
 *
 * Kernel names are foreign text: nothing in them reaches a terminal as a command.
 */
#ifndef WS_REPORT_FINDINGS_H
#define WS_REPORT_FINDINGS_H

#include "analysis/findings.h"
#include "base/arena.h"
#include "base/str.h"

/* At most @max of them, as @option says; what is left out is counted. Scratch memory from @arena. */
void rpt_findings_text(const struct ana_findings *found, size_t max, const char *option,
		       struct ws_arena *arena, struct ws_buf *out);
/* Subject by subject, why one rule fires or does not. */
void rpt_findings_check(const struct ana_findings *found, struct ws_arena *arena,
			struct ws_buf *out);
/* docs/findings.md has the fields. @path: what was analysed. */
void rpt_findings_json(const struct ana_findings *found, const char *path, struct ws_buf *out);
/* All rules: id, subject and title. */
void rpt_rules_text(const struct ana_metrics *metrics, struct ws_buf *out);

#endif
