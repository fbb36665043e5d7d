/*
 * findings: what to look at in a profile or a trace, with the numbers that say so.
 *
 * A rule (data/findings/, docs/findings.md) is about one subject: a kernel of a profile, or a GPU or
 * process of a trace. It has requirements, evidence and an estimate of the gain, all of them formulas
 * of the metric language. A rule fires when every requirement holds. A formula without a value, too
 * few dispatches, less time than the rule asks for, or a gain that is too small: there is no finding.
 * Time and gain are those of all subjects of the finding together.
 *
 * A finding is a rule with all subjects that it fires on, so that twenty kernels with the same
 * problem are one thing to look at.
 *
 *	st = ana_findings_of_profile(&profile, &how, &arena, &found, err);
 *	for (size_t i = 0; i < found->n; i++)
 *		show(&found->at[i]);                            the largest gain first
 *
 * Memory   findings live in the arena that was given. They borrow from the metrics, and from the
 *          workload or the trace.
 */
#ifndef WS_ANALYSIS_FINDINGS_H
#define WS_ANALYSIS_FINDINGS_H

#include "analysis/eval.h"
#include "analysis/metric.h"
#include "analysis/select.h"
#include "base/arena.h"
#include "base/error.h"
#include "workload/workload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trc_trace;
struct trc_process;
struct trc_agent;

/* clang-format off */
#define ANA_FINDING_SUBJECT_TABLE(X)  /* word after 'per =' */                               \
	X(ANA_FINDING_PER_KERNEL,   "kernel")    /* profile: the dispatches of a kernel */   \
	X(ANA_FINDING_PER_GPU,      "gpu")       /* trace: a GPU that a process used */      \
	X(ANA_FINDING_PER_PROCESS,  "process")   /* trace: a process */                      \
	X(ANA_FINDING_ALL_GPUS,     "gpus")      /* trace: all GPUs, compared */             \
	X(ANA_FINDING_ALL_PROCESSES, "processes") /* trace: all processes, compared */
#define ANA_FINDING_SEVERITY_TABLE(X)  /* least gain, in percent of the time of all */       \
	X(ANA_FINDING_LOW,    "low",     0)                                                  \
	X(ANA_FINDING_MEDIUM, "medium",  5)                                                  \
	X(ANA_FINDING_HIGH,   "high",   20)
/* clang-format on */

enum ana_finding_subject {
#define ANA_FINDING_ROW(name, word) name,
	ANA_FINDING_SUBJECT_TABLE(ANA_FINDING_ROW)
#undef ANA_FINDING_ROW
};
enum ana_finding_severity {
#define ANA_FINDING_ROW(name, word, gain) name,
	ANA_FINDING_SEVERITY_TABLE(ANA_FINDING_ROW)
#undef ANA_FINDING_ROW
};
extern const char *const ana_finding_subjects[];   /* by enum; NULL at the end */
extern const char *const ana_finding_severities[]; /* the same */

/* ---- a finding ---- */

/* A number that the finding rests on. */
struct ana_finding_value {
	const char *metric; /* "12.2.3", as -b takes it; NULL: no metric of a table */
	const char *name;   /* "Bank Conflict Rate" */
	const char *unit;   /* "pct"; "": none */
	double value;       /* always a number */
};

/* A stretch of a trace where it is to be seen, for a page to jump to. */
struct ana_finding_record {
	const char *what; /* "idle", "hipDeviceSynchronize", name of a kernel or copy */
	const struct trc_process *process;
	uint64_t start_ns, end_ns; /* on the clock of the trace */
};

#define ANA_FINDING_DISPATCHES_MAX 5u
#define ANA_FINDING_RECORDS_MAX 5u

/* A subject that a rule fires on. */
struct ana_finding_case {
	const struct ana_rule *rule;
	/* Upper bounds, in percent: of the subject's time, and of the time of all subjects. */
	double gain_pct, total_gain_pct;

	const char *subject;       /* kernel name, "GPU 0 of app (4711)", "all GPUs" */
	double time_ns;            /* of the kernel; of the process or its GPU: the span */
	double share_pct;          /* of the time of all subjects */
	uint64_t start_ns, end_ns; /* trace: of the span */
	uint32_t kernel_row;       /* kernel: row of the top-kernel table, as -k takes it */
	size_t n_dispatches;       /* kernel, GPU */
	uint64_t dispatches[ANA_FINDING_DISPATCHES_MAX]; /* kernel: ids of the longest ones */
	size_t n_listed;
	const struct trc_process *process; /* trace; NULL: profile, or all */
	const struct trc_agent *agent;     /* trace, of a GPU; else NULL */

	struct ana_finding_value *values; /* at least one */
	size_t n_values;
	struct ana_finding_record records[ANA_FINDING_RECORDS_MAX]; /* trace: the longest ones */
	size_t n_records;
	const char *next; /* a command to type */
	/* With `only_rule`: the first requirement that does not hold; NULL: the rule fires. */
	const char *unmet;
};

struct ana_finding {
	const struct ana_rule *rule;
	enum ana_finding_severity severity;
	/*
	 * Of the time of all subjects. Kernels are added. GPUs and processes work at the same time:
	 * each moment counts once, with the largest gain of those that are at work.
	 */
	double total_gain_pct, share_pct;
	double time_ns; /* of all cases, added */
	size_t n_dispatches;
	struct ana_finding_case *cases; /* by total gain, descending; at least one */
	size_t n_cases;
};

struct ana_findings {
	struct ana_finding *at; /* by total gain, descending */
	size_t n;
	size_t n_rules;     /* that were checked */
	size_t n_subjects;  /* that were looked at; 0: no kernel has a duration */
	size_t n_uncounted; /* rules for which something was not collected, on every subject */
	/* "hardware", "simulated", ...: where the times come from; never NULL */
	const char *times;
};

/* ---- rules ---- */

struct ana_rule_value {
	const char *metric; /* "12.2.3"; NULL: a formula of its own */
	const char *name, *unit;
	const struct ana_expr *expr;
};

struct ana_rule_need {
	const char *text; /* as written */
	const struct ana_expr *expr;
};

struct ana_rule {
	const char *id, *title; /* "lds_bank_conflicts", "LDS bank conflicts" */
	const char *file;       /* where it was read from */
	enum ana_finding_subject subject;
	const char *means;           /* what is wrong, and why it costs time */
	const char *advice;          /* what to change */
	const char *basis;           /* what the gain was computed from */
	const char *next;            /* with {path}, {kernel} and {metric} to fill in */
	const struct ana_expr *gain; /* percent of the subject's time, at most */
	double min_share;            /* percent of the time of all subjects */
	double min_dispatches;
	const struct ana_rule_need *needs; /* all of them */
	size_t n_needs;
	const struct ana_rule_value *values;
	size_t n_values;
	const char *records; /* trace: which stretches to list; NULL: none */
};

/* ---- asking ---- */

struct ana_findings_how {
	double min_share_pct; /* below 0: as each rule says */
	/* Of the time of all; below 0: ANA_FINDING_GAIN_MIN. A case needs a tenth of it. */
	double min_gain_pct;
	/* The id of one rule: every subject is listed, also where the rule does not fire. */
	const char *only_rule;
};
#define ANA_FINDING_GAIN_MIN 1.0

struct ana_finding_profile {
	const struct wl_workload *load;
	const struct ana_selection *rows;
	const struct ana_metrics *metrics; /* of its architecture; has the rules */
	const struct ana_kernel_stat *top; /* of the whole workload, for numbers of kernels */
	size_t n_top;
	struct ana_eval_how how;
};

enum ws_status ana_findings_of_profile(const struct ana_finding_profile *profile,
				       const struct ana_findings_how *how, struct ws_arena *arena,
				       struct ana_findings **out_findings, struct ws_err *err);

/* @path: as the user gave it, for commands. Streams the events of @trace twice. */
enum ws_status ana_findings_of_trace(const struct trc_trace *trace, const char *path,
				     const struct ana_metrics *metrics,
				     const struct ana_findings_how *how, struct ws_arena *arena,
				     struct ana_findings **out_findings, struct ws_err *err);

#endif
