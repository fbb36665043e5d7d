/* What findings of profiles (findings.c) and of traces (finding_trace.c) share. */
#ifndef WS_ANALYSIS_FINDING_PRIV_H
#define WS_ANALYSIS_FINDING_PRIV_H

#include "analysis/findings.h"
#include "base/vec.h"

#define ANA_FINDINGS_MAX 10000u

WS_VEC_TYPE(ana_finding_cases, struct ana_finding_case);

struct ana_finding_search {
	const char *path; /* for commands */
	const struct ana_metrics *metrics;
	struct ana_findings_how how;
	struct ws_arena *arena;
	struct ana_finding_cases cases;
	bool *counted; /* by rule: it had all of its numbers for one subject at least */
	size_t n_subjects;
	double span_ns; /* trace: the time in which all subjects lie; 0: their times add up */
};

enum ws_status ana_finding_begin(struct ana_finding_search *search, const char *path,
				 const struct ana_metrics *metrics,
				 const struct ana_findings_how *how, struct ws_arena *arena,
				 struct ws_err *err);
/*
 * Checks all rules about @kind with one subject, whose fields are filled in. @made is called for
 * each case, to add records to it; NULL: there are none.
 */
enum ws_status ana_finding_check(struct ana_finding_search *search, enum ana_finding_subject kind,
				 const struct ana_finding_case *subject, struct ana_eval *eval,
				 void (*made)(void *of, struct ana_finding_case *one), void *of,
				 struct ws_err *err);
enum ws_status ana_finding_end(struct ana_finding_search *search, const char *times,
			       enum ana_finding_subject first, enum ana_finding_subject last,
			       struct ana_findings **out_findings, struct ws_err *err);
void ana_finding_search_fini(struct ana_finding_search *search);

#endif
