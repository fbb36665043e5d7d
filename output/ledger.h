/*
 * ledger: the accounts of a run: what was observed, written and dropped, per service and process.
 *
 *	struct output_ledger ledger = { 0 };
 *
 *	output_ledger_process(&ledger, process, &result, &how, stderr);   after each process
 *	complete = output_ledger_end(&ledger, requests, n, stderr);
 *
 * A profiler that records nothing and says nothing is useless: whatever was requested and is
 * not in the output is named.
 */
#ifndef WS_OUTPUT_LEDGER_H
#define WS_OUTPUT_LEDGER_H

#include "output/output.h"

#include <stdio.h>

struct output_ledger {
	const char *tool; /* in front of lines; NULL: rocprofv3 */
	uint64_t seen[CAP_DOMAIN_COUNT];
	uint64_t n_lost;      /* records observed and not written, for whatever reason */
	uint64_t n_unended;   /* kernels that were submitted and whose end was not observed */
	unsigned n_processes; /* with something in their capture */
	unsigned n_idle;      /* that used no GPU at all */
	unsigned n_cut;       /* whose capture was truncated while they ran */
};

struct output_ledger_how {
	uint32_t formats;     /* OUTPUT_BIT()s that were written */
	uint32_t elsewhere;   /* TRC_DOMAIN_BIT()s that were shown whole in another way */
	const char *no_files; /* why nothing was to be written; NULL: files were */
	bool is_running;      /* the process has not ended yet */
	bool replaced;        /* by another program, through exec */
	bool silent;          /* count only: these accounts were printed before */
};

/* Add a process and print its lines. */
void output_ledger_process(struct output_ledger *ledger, const struct trc_process *process,
			   const struct output_result *result, const struct output_ledger_how *how,
			   FILE *to);

/* One thing that was requested. */
struct output_ledger_request {
	enum cap_domain domain;
	const char *unsupported; /* what it is, when this version does not record it; else NULL */
	bool named;              /* by the user, and not only as part of a group */
};

/*
 * Print what is missing. True when everything is there: what was named was observed, of
 * groups something, and nothing was lost. @to NULL: print nothing.
 */
bool output_ledger_end(const struct output_ledger *ledger,
		       const struct output_ledger_request *requests, size_t n, FILE *to);

#endif
