/*
 * fidelity: where a number of a workload comes from, and how far it can be trusted.
 *
 * A metric is as good as the worst of what its formulas are made of. On the software GPU, classes
 * of counters are those of the counter catalogue, and times are modelled. docs/fidelity.md
 *
 *	rpt_fidelity_init(&fid, load, metrics, norm);
 *	word = rpt_fidelity_words[rpt_fidelity_of(&fid, metric)];
 *	rpt_fidelity_fini(&fid);
 */
#ifndef WS_REPORT_FIDELITY_H
#define WS_REPORT_FIDELITY_H

#include "analysis/eval.h"
#include "analysis/metric.h"
#include "workload/workload.h"

struct cnt_catalogue;

/* clang-format off */
#define RPT_FIDELITY_TABLE(X)  /* word, explanation; the worst last */                                     \
	X(RPT_FIDELITY_CONSTANT,    "constant",    "from the specification of the GPU")                    \
	X(RPT_FIDELITY_MEASURED,    "measured",    "counted by the hardware")                              \
	X(RPT_FIDELITY_EXACT,       "exact",       "software GPU: follows from the executed instructions") \
	X(RPT_FIDELITY_MODELLED,    "modelled",    "software GPU: from models of caches, memory or time")  \
	X(RPT_FIDELITY_SAMPLED,     "sampled",     "software GPU: a part of the workgroups, scaled")       \
	X(RPT_FIDELITY_MULTIPLEXED, "multiplexed", "partly taken from neighbouring dispatches")
/* clang-format on */

enum rpt_fidelity {
#define RPT_FIDELITY_ROW(name, word, text) name,
	RPT_FIDELITY_TABLE(RPT_FIDELITY_ROW)
#undef RPT_FIDELITY_ROW
		RPT_FIDELITY_COUNT
};
extern const char *const rpt_fidelity_words[];
extern const char *const rpt_fidelity_texts[];

struct rpt_fidelity_source {
	const struct wl_workload *load;
	const struct ana_metrics *metrics;
	enum ana_norm norm;
	struct cnt_catalogue *catalogue; /* NULL: not needed, or the architecture is not known */
};

void rpt_fidelity_init(struct rpt_fidelity_source *source, const struct wl_workload *load,
		       const struct ana_metrics *metrics, enum ana_norm norm);
void rpt_fidelity_fini(struct rpt_fidelity_source *source);

/* Of all cells of @metric. */
enum rpt_fidelity rpt_fidelity_of(const struct rpt_fidelity_source *source,
				  const struct ana_metric *metric);
/* Of a counter or another column of a dispatch; durations are those of "End_Timestamp". */
enum rpt_fidelity rpt_fidelity_of_counter(const struct rpt_fidelity_source *source,
					  const char *name);
/* What a counter counts, from the catalogue; NULL: not known. */
const char *rpt_counter_text(const struct rpt_fidelity_source *source, const char *counter);

#endif
