/*
 * quantities: numbers of a trace that rules of findings compute with.
 *
 * A row is a GPU that a process used, from the start of its first kernel or copy there to the end of
 * its last. A second table has a row per process with kernels. The columns are the table below;
 * docs/findings.md explains them. What was not recorded has no value.
 *
 * Idle time is time of a row without a kernel or copy. It is divided by what the host did meanwhile:
 * a moment counts for a kind of call when any thread of the process was in one.
 *
 *	st = ana_quantities_create(trace, &quantities, err);
 *	ana_eval_create(&quantities->gpus, &row, metrics, NULL, &eval, err);
 *
 * Memory   does not grow with the number of events. Names are borrowed from the trace.
 */
#ifndef WS_ANALYSIS_QUANTITIES_H
#define WS_ANALYSIS_QUANTITIES_H

#include "analysis/findings.h"
#include "workload/workload.h"

/* clang-format off */
#define ANA_CALL_TABLE(X)  /* kinds of HIP calls: enumerator, word in names and after 'records =' */ \
	X(ANA_CALL_SYNC,   "Sync")                                                                 \
	X(ANA_CALL_COPY,   "Blocking_Copy")                                                        \
	X(ANA_CALL_ALLOC,  "Alloc")                                                                \
	X(ANA_CALL_LAUNCH, "Launch")                                                               \
	X(ANA_CALL_LOAD,   "Load")  /* code is loaded in it, after ANA_FIRST_KERNELS of the row */ \
	X(ANA_CALL_ANY,    "Hip")  /* all, also those that are of no kind above */

#define ANA_QUANTITY_TABLE(X)                                                                      \
	X(SPAN,            "Span_Ns")          /* first start to last end */                       \
	X(KERNELS,         "Kernels")                                                              \
	X(KERNEL_SUM,      "Kernel_Sum_Ns")    /* of all kernels */                                \
	X(KERNEL_BUSY,     "Kernel_Busy_Ns")   /* at least one kernel runs */                      \
	X(SMALL_KERNELS,   "Small_Kernels")    /* fewer workgroups than half of the CUs */         \
	X(SMALL_SUM,       "Small_Kernel_Ns")                                                      \
	X(SMALL_GROUPS,    "Small_Kernel_Workgroups")                                              \
	X(COPIES,          "Copies")                                                               \
	X(COPY_BYTES,      "Copy_Bytes")                                                           \
	X(COPY_SUM,        "Copy_Sum_Ns")                                                          \
	X(COPY_ALONE,      "Copy_Alone_Ns")    /* copies run, and no kernel */                     \
	X(BUSY,            "Busy_Ns")                                                              \
	X(IDLE,            "Idle_Ns")                                                              \
	X(GAPS,            "Gaps")             /* idle times */                                    \
	X(SHORT_GAPS,      "Short_Gap_Ns")     /* of those up to ANA_SHORT_GAP_NS */               \
	X(COLLECTIVES,     "Collectives")      /* collective_waits.h */                            \
	X(COLLECTIVE_SUM,  "Collective_Ns")                                                        \
	X(COLLECTIVE_WAIT, "Collective_Wait_Ns")                                                   \
	X(CUS,             "Compute_Units")                                                        \
	X(PYTHON,          "Is_Python")        /* 1: the program is Python; 0 */                   \
	X(GPUS,            "Gpus")             /* process: that it used */                         \
	X(SIBLINGS,        "Siblings")         /* process: with the same program name, and kernels */
/* clang-format on */

#define ANA_SHORT_GAP_NS 200000u
#define ANA_FIRST_KERNELS 8u /* what they load is the start of the program */

enum ana_call {
#define ANA_CALL_ROW(name, word) name,
	ANA_CALL_TABLE(ANA_CALL_ROW)
#undef ANA_CALL_ROW
		ANA_CALL_COUNT
};
extern const char *const ana_call_words[]; /* by enum; NULL at the end */

/* Then come, for each kind of call, its _Calls and _Ns in the row's time, and its Idle_..._Ns. */
enum ana_quantity {
#define ANA_QUANTITY_ROW(name, word) ANA_QUANTITY_##name,
	ANA_QUANTITY_TABLE(ANA_QUANTITY_ROW)
#undef ANA_QUANTITY_ROW
		ANA_QUANTITY_CALLS,
	ANA_QUANTITY_COUNT = ANA_QUANTITY_CALLS + 3 * ANA_CALL_COUNT
};

/* The longest of one sort. */
struct ana_longest {
	struct ana_finding_record at[ANA_FINDING_RECORDS_MAX];
	size_t n;
};

struct ana_quantity_row {
	const struct trc_process *process;
	const struct trc_agent *agent; /* NULL: row of a process */
	uint64_t first_ns, last_ns;
	struct ana_longest idle, copies, calls[ANA_CALL_COUNT];
};

struct ana_quantities {
	struct wl_workload gpus, processes; /* one frame each; no facts */
	struct ana_quantity_row *gpu_rows, *process_rows;
	uint64_t first_ns, last_ns; /* of all rows */
	struct ws_arena arena;
};

enum ws_status ana_quantities_create(const struct trc_trace *trace,
				     struct ana_quantities **out_quantities, struct ws_err *err);
void ana_quantities_destroy(struct ana_quantities *quantities); /* NULL is fine */

#endif
