#include "report/fidelity.h"

#include "counters/catalogue.h"

#include <string.h>

const char *const rpt_fidelity_words[] = {
#define RPT_FIDELITY_ROW(name, word, text) word,
	RPT_FIDELITY_TABLE(RPT_FIDELITY_ROW)
#undef RPT_FIDELITY_ROW
};
const char *const rpt_fidelity_texts[] = {
#define RPT_FIDELITY_ROW(name, word, text) text,
	RPT_FIDELITY_TABLE(RPT_FIDELITY_ROW)
#undef RPT_FIDELITY_ROW
};

void rpt_fidelity_init(struct rpt_fidelity_source *source, const struct wl_workload *load,
		       const struct ana_metrics *metrics, enum ana_norm norm)
{
	*source = (struct rpt_fidelity_source){ .load = load, .metrics = metrics, .norm = norm };
	/* Without one, counters of the software GPU count as modelled. */
	if (cnt_catalogue_create_typical(load->arch, &source->catalogue, NULL))
		source->catalogue = NULL;
}

void rpt_fidelity_fini(struct rpt_fidelity_source *source)
{
	cnt_catalogue_destroy(source->catalogue);
	source->catalogue = NULL;
}

/* The class of everything that was recorded in the workload; EXACT: it depends on the counter. */
static enum rpt_fidelity least(const struct wl_workload *load)
{
	if (load->multiplexed)
		return RPT_FIDELITY_MULTIPLEXED;
	if (wl_workload_is_sampled(load))
		return RPT_FIDELITY_SAMPLED;
	return wl_workload_is_modelled(load) ? RPT_FIDELITY_EXACT : RPT_FIDELITY_MEASURED;
}

/* "TCC_HIT" of "TCC_HIT_sum", "TCC_HIT[3]", "SQ_LEVEL_WAVES_ACCUM". */
static const struct cnt_counter_def *definition(const struct rpt_fidelity_source *source,
						const char *counter)
{
	static const char *const ends[] = { "_sum", "_ACCUM", "_avr", "_max", "_min" };
	struct ws_str name = { counter, strcspn(counter, "[") };
	const struct cnt_counter_def *def;

	if (!source->catalogue)
		return NULL;
	def = cnt_catalogue_find_n(source->catalogue, name);
	for (size_t i = 0; !def && i < WS_ARRAY_LEN(ends); i++)
		if (ws_str_ends(name, ends[i]))
			def = cnt_catalogue_find_n(source->catalogue,
						   (struct ws_str){ name.at,
								    name.n - strlen(ends[i]) });
	return def;
}

const char *rpt_counter_text(const struct rpt_fidelity_source *source, const char *counter)
{
	const struct cnt_counter_def *def = definition(source, counter);

	return def ? def->text : NULL;
}

/* Columns of a dispatch that are no counters: those are what the program requested. */
static bool is_launch_fact(const char *name)
{
	static const char *const facts[] = { "Grid_Size", "Workgroup_Size", "LDS_Per_Workgroup",
					     "Arch_VGPR", "Accum_VGPR",     "Scratch_Per_Workitem",
					     "Wave_Size", "Dispatch_ID",    "GPU_ID",
					     "SGPR" };

	for (size_t i = 0; i < WS_ARRAY_LEN(facts); i++)
		if (strcmp(facts[i], name) == 0)
			return true;
	return false;
}

enum rpt_fidelity rpt_fidelity_of_counter(const struct rpt_fidelity_source *source,
					  const char *name)
{
	enum rpt_fidelity whole = least(source->load);
	const struct cnt_counter_def *def;

	if (whole != RPT_FIDELITY_EXACT || is_launch_fact(name))
		return whole;
	def = definition(source, name);
	return def && def->fidelity == CNT_FIDELITY_EXACT ? RPT_FIDELITY_EXACT
							  : RPT_FIDELITY_MODELLED;
}

struct worst {
	const struct rpt_fidelity_source *source;
	enum rpt_fidelity class;
	unsigned depth;
};

static void see_expr(struct worst *worst, const struct ana_expr *expr);

static void see_name(void *of, const struct ana_expr *expr)
{
	struct worst *worst = of;
	enum rpt_fidelity class = RPT_FIDELITY_CONSTANT;
	const struct ana_expr *var;

	if (expr->kind == ANA_EXPR_COUNTER) {
		class = rpt_fidelity_of_counter(worst->source, expr->text);
	} else if (strcmp(expr->text, "denom") == 0) {
		if (worst->source->norm == ANA_PER_WAVE)
			class = rpt_fidelity_of_counter(worst->source, "SQ_WAVES");
		else if (worst->source->norm != ANA_PER_KERNEL)
			class = rpt_fidelity_of_counter(worst->source, "End_Timestamp");
	} else if (worst->depth < 16) { /* variables are made of others */
		var = ana_metrics_variable(worst->source->metrics, expr->text);
		worst->depth++;
		if (var)
			see_expr(worst, var);
		worst->depth--;
	}
	worst->class = WS_MAX(worst->class, class);
}

static void see_expr(struct worst *worst, const struct ana_expr *expr)
{
	ana_expr_each_name(expr, see_name, worst);
}

enum rpt_fidelity rpt_fidelity_of(const struct rpt_fidelity_source *source,
				  const struct ana_metric *metric)
{
	struct worst worst = { .source = source };

	for (size_t h = 0; h < metric->table->n_headers; h++)
		if (metric->table->headers[h].kind == ANA_HEADER_VALUE && metric->cells[h].expr)
			see_expr(&worst, metric->cells[h].expr);
	return worst.class;
}
