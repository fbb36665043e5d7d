#include "ranks/report.h"

#include "base/util.h"
#include "output/jsonw.h"
#include "output/sink.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---- */

/* Four digits and a unit: "1.234 ms". */
static const char *duration(double ns, char to[32])
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	size_t i = 0;

	while (i + 1 < WS_ARRAY_LEN(units) && fabs(ns) < units[i].ns)
		i++;
	ns /= units[i].ns;
	snprintf(to, 32, "%.*f %s",
		 units[i].ns == 1 || fabs(ns) >= 1000 ? 0
		 : fabs(ns) >= 100                    ? 1
		 : fabs(ns) >= 10                     ? 2
						      : 3,
		 ns, units[i].unit);
	return to;
}

void rnk_clock_text(const struct rnk_node *node, char *to, size_t room)
{
	char text[32];

	*to = 0;
	if (node->from == RNK_CLOCK_ASSUMED)
		snprintf(to, room, "clock: assumed to be aligned");
	else if (rnk_clock_is_estimated(node->from))
		snprintf(to, room, "clock: +- %s", duration(node->offset.uncertainty_ns, text));
}

static void put_clocks(const struct rnk_job *job, struct ws_buf *to)
{
	ws_buf_printf(to, "Clocks\n  %-14s %-8s %20s %10s  %s\n", "Node", "Ranks", "Offset", "+-",
		      "Drift");
	for (size_t i = 0; i < job->n_nodes; i++) {
		const struct rnk_node *node = &job->nodes[i];
		const struct rnk_offset *offset = &node->offset;
		char ranks[64], text[32], drift[64] = "";

		rnk_node_ranks_text(job, i, ranks, sizeof(ranks));
		if (strlen(ranks) > 8) /* "0,8,16,24": the files have them all */
			strcpy(ranks + 5, "...");
		ws_buf_printf(to, "  %-14.14s %-8s", *node->host ? node->host : "?", ranks);
		if (node->from == RNK_CLOCK_REFERENCE) {
			ws_buf_printf(to, " %20s\n", "reference");
			continue;
		}
		ws_buf_printf(to, " %18.9f s", (double)offset->line.shift_ns / 1e9);
		if (node->from == RNK_CLOCK_ASSUMED) {
			ws_buf_add(to, "    unknown  assumed\n");
			continue;
		}
		snprintf(drift, sizeof(drift), "%.2f +- %.2f ppm", offset->line.drift * 1e6,
			 offset->drift_uncertainty * 1e6);
		ws_buf_printf(to, " %10s  %s\n", duration(offset->uncertainty_ns, text), drift);
	}
	for (size_t i = 0; i < job->n_nodes; i++)
		if (rnk_clock_is_estimated(job->nodes[i].from))
			ws_buf_printf(to, "  %s: from %zu %s in common with %s%s\n",
				      job->nodes[i].host,
				      job->nodes[i].n_common ? job->nodes[i].n_common
							     : job->nodes[i].n_stamps,
				      job->nodes[i].n_common ? "collectives"
							     : "stamps in the output folder",
				      job->nodes[job->nodes[i].compared_with].host,
				      job->nodes[i].offset.n_outliers
					      ? "; some contradict and were left out"
					      : "");
}

static void put_name(struct ws_buf *to, const char *name, unsigned used, unsigned n_columns)
{
	size_t n = strlen(name), room = n_columns > used + 8 ? n_columns - used : 8;

	if (n <= room)
		ws_buf_printf(to, "%s\n", name);
	else
		ws_buf_printf(to, "%.*s...\n", (int)room - 3, name);
}

/* By how much two clocks of the job may be apart; infinite: not known. */
static double worst_clocks(const struct rnk_job *job)
{
	double worst = 0;

	for (size_t i = 0; i < job->n_nodes; i++) {
		if (job->nodes[i].from == RNK_CLOCK_ASSUMED && job->nodes[i].n_ranks)
			return INFINITY;
		worst = WS_MAX(worst, job->nodes[i].offset.uncertainty_ns);
	}
	return worst;
}

/* In parentheses: a wait that the clocks of the job cannot tell from none. */
static const char *wait_text(const struct rnk_job *job, const struct rnk_figures *f, char to[40],
			     bool *out_unsure)
{
	double per_call = (double)f->mean_wait_ns * (double)f->n_ranks / (double)f->n_calls;
	char text[32];

	duration((double)f->mean_wait_ns, text);
	*out_unsure = per_call < worst_clocks(job);
	snprintf(to, 40, *out_unsure ? "(%s)" : "%s", text);
	return to;
}

/* Whether its wait is in parentheses. */
static bool put_collective(const struct rnk_job *job, const struct rnk_row *row,
			   const struct rnk_figures *f, struct ws_buf *to, unsigned n_columns)
{
	char mean[32], wait[40], last[32];
	bool unsure = false;

	ws_buf_printf(to, "  %5zu %8" PRIu64 " %10s",
		      row->comm_ranks ? (size_t)row->comm_ranks : f->n_ranks, f->n_calls,
		      duration((double)f->mean_ns, mean));
	if (row->waits) {
		snprintf(last, sizeof(last), "%" PRIu64 " (%.0f %%)", f->slowest,
			 100.0 * (double)f->n_slowest_last / (double)f->n_slowest_calls);
		ws_buf_printf(to, " %11s %10" PRIu64 " %13s  ", wait_text(job, f, wait, &unsure),
			      f->wait_rank, last);
	} else {
		ws_buf_printf(to, " %11s %10s %13s  ", "-", "-", "-");
	}
	put_name(to, row->name, 67, n_columns);
	return unsure;
}

static void put_kernel(const struct rnk_row *row, const struct rnk_figures *f, struct ws_buf *to,
		       unsigned n_columns)
{
	char mean[32], slowest[32];

	ws_buf_printf(to, "  %5zu %8" PRIu64 " %10s %7.1f %% %8" PRIu64 " %10s  ", f->n_ranks,
		      f->n_calls, duration((double)f->mean_ns, mean), 100 * f->spread, f->slowest,
		      duration((double)f->slowest_ns, slowest));
	put_name(to, row->name, 58, n_columns);
}

/* Of a software GPU they are not measured. NULL: all are. */
static const char *gpu_times(const struct rnk_job *job)
{
	for (size_t i = 0; i < job->n_members; i++) {
		enum trc_gpu_times times = trc_process_gpu_times(job->members[i].process);

		if (times != TRC_GPU_TIMES_HARDWARE)
			return trc_gpu_times_word(times);
	}
	return NULL;
}

static void put_rows(const struct rnk_job *job, const struct rnk_imbalance *imbalance,
		     bool collective, unsigned n_columns, size_t n_rows, struct ws_buf *to)
{
	size_t n_put = 0, n_left = 0;
	bool unsure = false;

	for (size_t i = 0; i < imbalance->n_rows; i++) {
		const struct rnk_row *row = &imbalance->rows[i];
		struct rnk_figures figures;

		if (row->collective != collective)
			continue;
		if (n_rows && n_put == n_rows) {
			n_left++;
			continue;
		}
		if (!n_put++)
			ws_buf_printf(to,
				      collective ? "\nCollectives, time per rank\n  %5s %8s %10s "
						   "%11s %10s %13s  %s\n"
						 : "\nKernels, time per rank\n  %5s %8s %10s "
						   "%9s %8s %10s  %s\n",
				      "Ranks", "Calls", "Mean", collective ? "Wait" : "Spread",
				      collective ? "Waits most" : "Slowest",
				      collective ? "Enters last" : "Its total", "Name");
		rnk_row_figures(imbalance, row, &figures);
		if (collective)
			unsure |= put_collective(job, row, &figures, to, n_columns);
		else
			put_kernel(row, &figures, to, n_columns);
	}
	if (!collective && n_put && gpu_times(job))
		ws_buf_printf(to, "  software GPU, times: %s\n", gpu_times(job));
	if (unsure)
		ws_buf_add(to, "  (wait): shorter per call than the uncertainty of the clocks\n");
	if (n_left)
		ws_buf_printf(to, "  %zu more are in the files\n", n_left);
}

void rnk_report_text(const struct rnk_job *job, const struct rnk_imbalance *imbalance,
		     unsigned n_columns, size_t n_rows, struct ws_buf *to)
{
	put_clocks(job, to);
	put_rows(job, imbalance, true, n_columns, n_rows, to);
	put_rows(job, imbalance, false, n_columns, n_rows, to);
	if (imbalance->n_unmatched)
		ws_buf_printf(to,
			      "  %" PRIu64 " calls of collectives have no counterpart on another "
			      "rank: their waits are not known\n",
			      imbalance->n_unmatched);
}

/* ---- CSV ---- */

static void put_cell_u64(struct output_sink *sink, uint64_t v)
{
	char *p = output_sink_room(sink, 32);

	*p++ = ',';
	output_sink_at(sink, output_fmt_u64(p, v));
}

static void put_cell_f64(struct output_sink *sink, double v)
{
	char text[48];

	snprintf(text, sizeof(text), ",%.9g", v);
	output_sink_str(sink, text);
}

/* An empty cell is what is not known. */
static void put_comm(struct output_sink *sink, const struct rnk_row *row)
{
	if (row->comm_ranks)
		put_cell_u64(sink, row->comm_ranks);
	else
		output_sink_lit(sink, ",");
}

static void put_clocks_csv(const struct rnk_job *job, const struct rnk_imbalance *imbalance,
			   struct output_sink *sink)
{
	(void)imbalance;
	output_sink_lit(sink, "\"Node\",\"Ranks\",\"Clock\",\"OffsetNs\",\"UncertaintyNs\","
			      "\"DriftPpm\",\"DriftUncertaintyPpm\",\"AtNs\",\"Collectives\","
			      "\"Outliers\",\"Stamps\"\n");
	for (size_t i = 0; i < job->n_nodes; i++) {
		const struct rnk_node *node = &job->nodes[i];
		bool estimated = rnk_clock_is_estimated(node->from);
		char text[64];

		output_csv_text(sink, node->host);
		output_sink_lit(sink, ",");
		rnk_node_ranks_text(job, i, text, sizeof(text));
		output_csv_text(sink, text);
		output_sink_lit(sink, ",");
		output_csv_text(sink, rnk_clock_from_word(node->from));
		snprintf(text, sizeof(text), ",%" PRId64, node->offset.line.shift_ns);
		output_sink_str(sink, text);
		if (estimated) {
			put_cell_f64(sink, node->offset.uncertainty_ns);
			put_cell_f64(sink, node->offset.line.drift * 1e6);
			put_cell_f64(sink, node->offset.drift_uncertainty * 1e6);
			put_cell_u64(sink, node->offset.line.at_ns);
			put_cell_u64(sink, node->n_common);
			put_cell_u64(sink, node->offset.n_outliers);
			put_cell_u64(sink, node->n_stamps);
			output_sink_lit(sink, "\n");
		} else {
			output_sink_lit(sink, ",,,,,,,\n");
		}
	}
}

static void put_imbalance_csv(const struct rnk_job *job, const struct rnk_imbalance *imbalance,
			      struct output_sink *sink)
{
	(void)job;
	output_sink_lit(
		sink, "\"Kind\",\"Name\",\"CommRanks\",\"Ranks\",\"Calls\",\"MeanNs\",\"LeastNs\","
		      "\"MostNs\",\"Spread\",\"SlowestRank\",\"SlowestNs\",\"TimesLast\","
		      "\"MeanWaitNs\",\"MostWaitNs\",\"MostWaitRank\"\n");
	for (size_t i = 0; i < imbalance->n_rows; i++) {
		const struct rnk_row *row = &imbalance->rows[i];
		struct rnk_figures f;

		rnk_row_figures(imbalance, row, &f);
		output_csv_text(sink, row->collective ? "collective" : "kernel");
		output_sink_lit(sink, ",");
		output_csv_text(sink, row->name);
		put_comm(sink, row);
		put_cell_u64(sink, f.n_ranks);
		put_cell_u64(sink, f.n_calls);
		put_cell_u64(sink, f.mean_ns);
		put_cell_u64(sink, f.least_ns);
		put_cell_u64(sink, f.most_ns);
		put_cell_f64(sink, f.spread);
		put_cell_u64(sink, f.slowest);
		put_cell_u64(sink, f.slowest_ns);
		if (row->waits) {
			put_cell_u64(sink, f.n_slowest_last);
			put_cell_u64(sink, f.mean_wait_ns);
			put_cell_u64(sink, f.most_wait_ns);
			put_cell_u64(sink, f.wait_rank);
			output_sink_lit(sink, "\n");
		} else {
			output_sink_lit(sink, ",,,,\n");
		}
	}
}

static void put_ranks_csv(const struct rnk_job *job, const struct rnk_imbalance *imbalance,
			  struct output_sink *sink)
{
	(void)job;
	output_sink_lit(sink,
			"\"Kind\",\"Name\",\"CommRanks\",\"Rank\",\"Calls\",\"TotalNs\",\"WaitNs\","
			"\"TimesLast\"\n");
	for (size_t i = 0; i < imbalance->n_rows; i++) {
		const struct rnk_row *row = &imbalance->rows[i];

		for (size_t k = 0; k < imbalance->n_ranks; k++) {
			const struct rnk_share *share = &row->shares[k];

			if (!share->n_calls)
				continue;
			output_csv_text(sink, row->collective ? "collective" : "kernel");
			output_sink_lit(sink, ",");
			output_csv_text(sink, row->name);
			put_comm(sink, row);
			put_cell_u64(sink, imbalance->ranks[k]);
			put_cell_u64(sink, share->n_calls);
			put_cell_u64(sink, share->total_ns);
			if (row->waits) {
				put_cell_u64(sink, share->wait_ns);
				put_cell_u64(sink, share->n_last);
				output_sink_lit(sink, "\n");
			} else {
				output_sink_lit(sink, ",,\n");
			}
		}
	}
}

/* ---- JSON ---- */

static void put_node_json(struct output_jsonw *w, const struct rnk_job *job, size_t i)
{
	const struct rnk_node *node = &job->nodes[i];

	output_json_open(w, NULL, '{');
	output_json_str(w, "host", node->host);
	output_json_str(w, "clock", rnk_clock_from_word(node->from));
	output_json_i64(w, "offset_ns", node->offset.line.shift_ns);
	if (rnk_clock_is_estimated(node->from)) {
		output_json_f64(w, "uncertainty_ns", node->offset.uncertainty_ns);
		output_json_f64(w, "drift_ppm", node->offset.line.drift * 1e6);
		output_json_f64(w, "drift_uncertainty_ppm", node->offset.drift_uncertainty * 1e6);
		output_json_u64(w, "at_ns", node->offset.line.at_ns);
		output_json_u64(w, "collectives", node->n_common);
		output_json_u64(w, "stamps", node->n_stamps);
		output_json_u64(w, "outliers", node->offset.n_outliers);
		output_json_str(w, "compared_with", job->nodes[node->compared_with].host);
	}
	output_json_open(w, "ranks", '[');
	for (size_t k = 0; k < job->n_members; k++)
		if (job->members[k].first && job->members[k].node == i)
			output_json_u64(w, NULL, job->members[k].rank);
	output_json_close(w, ']');
	output_json_close(w, '}');
}

static void put_row_json(struct output_jsonw *w, const struct rnk_imbalance *imbalance,
			 const struct rnk_row *row)
{
	struct rnk_figures f;

	rnk_row_figures(imbalance, row, &f);
	output_json_open(w, NULL, '{');
	output_json_str(w, "kind", row->collective ? "collective" : "kernel");
	output_json_str(w, "name", row->name);
	if (row->comm_ranks)
		output_json_u64(w, "comm_ranks", row->comm_ranks);
	output_json_u64(w, "ranks", f.n_ranks);
	output_json_u64(w, "calls", f.n_calls);
	output_json_u64(w, "mean_ns", f.mean_ns);
	output_json_u64(w, "least_ns", f.least_ns);
	output_json_u64(w, "most_ns", f.most_ns);
	output_json_f64(w, "spread", f.spread);
	output_json_u64(w, "slowest_rank", f.slowest);
	if (row->waits) {
		output_json_u64(w, "times_last", f.n_slowest_last);
		output_json_u64(w, "mean_wait_ns", f.mean_wait_ns);
		output_json_u64(w, "most_wait_ns", f.most_wait_ns);
		output_json_u64(w, "most_wait_rank", f.wait_rank);
	}
	output_json_open(w, "by_rank", '[');
	for (size_t i = 0; i < imbalance->n_ranks; i++) {
		const struct rnk_share *share = &row->shares[i];

		if (!share->n_calls)
			continue;
		output_json_open(w, NULL, '{');
		output_json_u64(w, "rank", imbalance->ranks[i]);
		output_json_u64(w, "calls", share->n_calls);
		output_json_u64(w, "total_ns", share->total_ns);
		if (row->waits) {
			output_json_u64(w, "wait_ns", share->wait_ns);
			output_json_u64(w, "times_last", share->n_last);
		}
		output_json_close(w, '}');
	}
	output_json_close(w, ']');
	output_json_close(w, '}');
}

static void put_json(const struct rnk_job *job, const struct rnk_imbalance *imbalance,
		     struct output_sink *sink)
{
	struct output_jsonw w = { .sink = sink };

	output_json_open(&w, NULL, '{');
	output_json_u64(&w, "version", 1);
	output_json_u64(&w, "ranks", job->n_ranks);
	output_json_u64(&w, "ranks_expected", job->size ? job->size : job->n_ranks);
	output_json_open(&w, "notes", '[');
	for (size_t i = 0; i < job->notes.n; i++)
		output_json_str(&w, NULL, job->notes.at[i]);
	output_json_close(&w, ']');
	output_json_open(&w, "nodes", '[');
	for (size_t i = 0; i < job->n_nodes; i++)
		put_node_json(&w, job, i);
	output_json_close(&w, ']');
	output_json_str(&w, "gpu_times",
			gpu_times(job) ? gpu_times(job)
				       : trc_gpu_times_word(TRC_GPU_TIMES_HARDWARE));
	if (isfinite(worst_clocks(job)))
		output_json_f64(&w, "wait_uncertainty_ns", worst_clocks(job));
	output_json_u64(&w, "matched_collectives", imbalance->n_matched);
	output_json_u64(&w, "unmatched_calls", imbalance->n_unmatched);
	output_json_open(&w, "imbalance", '[');
	for (size_t i = 0; i < imbalance->n_rows; i++)
		put_row_json(&w, imbalance, &imbalance->rows[i]);
	output_json_close(&w, ']');
	output_json_close(&w, '}');
	output_sink_lit(sink, "\n");
}

/* ---- files ---- */

const char *const rnk_file_suffixes[RNK_FILE_COUNT] = {
	[RNK_FILE_CLOCKS] = "_clocks.csv",
	[RNK_FILE_IMBALANCE] = "_imbalance.csv",
	[RNK_FILE_RANKS] = "_ranks.csv",
	[RNK_FILE_JSON] = "_ranks.json",
};

enum ws_status rnk_report_write(const struct rnk_job *job, const struct rnk_imbalance *imbalance,
				enum rnk_file file, const char *path, struct ws_err *err)
{
	static void (*const writers[])(const struct rnk_job *, const struct rnk_imbalance *,
				       struct output_sink *) = {
		[RNK_FILE_CLOCKS] = put_clocks_csv,
		[RNK_FILE_IMBALANCE] = put_imbalance_csv,
		[RNK_FILE_RANKS] = put_ranks_csv,
		[RNK_FILE_JSON] = put_json,
	};
	struct output_sink sink;
	enum ws_status st = output_sink_open(&sink, path, -1, err);

	if (st)
		return st;
	writers[file](job, imbalance, &sink);
	return output_sink_finish(&sink, err);
}
