/*
 * The JSON form of a table: its rows as a list ("ranks") and as a tree ("graph"), with the keys
 * of AMD's files.
 */
#include "base/utf8.h"
#include "profile/report_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void prof_json_text_n(FILE *to, const char *text, size_t n)
{
	char piece[8];

	fputc('"', to);
	while (n) {
		size_t written = ws_json_next(&text, &n, piece);

		fwrite(piece, 1, written, to);
	}
	fputc('"', to);
}

void prof_json_text(FILE *to, const char *text)
{
	prof_json_text_n(to, text, strlen(text));
}

void prof_json_number(FILE *to, double value)
{
	char text[40];

	if (!isfinite(value)) {
		fputs("null", to);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (!strpbrk(text, ".e"))
		strcat(text, ".0");
	fputs(text, to);
}

/* Values are counted in whole units where they are times. */
static void put_value(const struct prof_sheet *sheet, double value, FILE *to)
{
	if (value == floor(value) && fabs(value) < 9e15)
		fprintf(to, "%.0f", value);
	else
		prof_json_number(to, value);
}

static void put_entry(const struct prof_sheet *sheet, uint64_t laps, double sum, FILE *to)
{
	fprintf(to, "\"entry\":{\"laps\":%llu,\"value\":", (unsigned long long)laps);
	put_value(sheet, sum, to);
	fputs(",\"accum\":", to);
	put_value(sheet, sum, to);
	fputs(",\"repr_data\":", to);
	prof_json_number(to, sum / sheet->unit);
	fputs(",\"repr_display\":", to);
	prof_json_number(to, sum / sheet->unit);
	fputs("}", to);
}

static void put_stats(const struct prof_sheet *sheet, const struct prof_stat *stat, FILE *to)
{
	const double unit = sheet->unit;
	const struct {
		const char *key;
		double value;
	} members[] = {
		{ "min", stat->min / unit },
		{ "max", stat->max / unit },
		{ "sqr", stat->sqr / unit / unit },
		{ "mean", prof_stat_mean(stat) / unit },
		{ "stddev", sqrt(prof_stat_variance(stat)) / unit },
	};

	fputs("\"stats\":{\"sum\":", to);
	prof_json_number(to, stat->sum / unit);
	fprintf(to, ",\"count\":%llu", (unsigned long long)stat->n);
	for (size_t i = 0; i < WS_ARRAY_LEN(members); i++) {
		fprintf(to, ",\"%s\":", members[i].key);
		prof_json_number(to, members[i].value);
	}
	fputs("}", to);
}

/* ---- the list ---- */

/* The hash of a path: of its names, from the outermost on. */
static uint64_t path_hash(const struct prof_node *node)
{
	uint64_t hash = 0;

	for (; node->parent; node = node->parent)
		hash = hash * 31 + prof_name_hash(node->name);
	return hash;
}

static void put_row(const struct prof_row_walk *walk, FILE *to)
{
	fprintf(to,
		"\n{\"hash\":%llu,\"prefix\":", (unsigned long long)prof_name_hash(walk->row.name));
	prof_json_text(to, walk->label.at);
	fprintf(to, ",\"depth\":%u,", walk->row.depth);
	put_entry(walk->sheet, walk->row.stat.n, walk->row.stat.sum, to);
	fputc(',', to);
	put_stats(walk->sheet, &walk->row.stat, to);
	fprintf(to, ",\"rolling_hash\":%llu", (unsigned long long)path_hash(walk->node));
	/* For those who make a table of several files: report_read.c. */
	if (prof_kind_on_gpu(walk->node->kind))
		fprintf(to, ",\"kind\":\"%s\"", prof_kind_word(walk->node->kind));
	if (walk->sheet->value == PROF_VALUE_PERCENT)
		fprintf(to, ",\"periods\":%llu,\"inside\":%llu",
			(unsigned long long)walk->node->n_periods,
			(unsigned long long)walk->node->n_inside);
	fputc('}', to);
}

/* Counts the rows of a rank, or prints them to @to. */
static uint64_t rows_of_rank(const struct prof_sheet *sheet, int rank, FILE *to, bool *failed)
{
	struct prof_row_walk walk;
	uint64_t n = 0;

	prof_rows_begin(&walk, sheet);
	while (prof_rows_next(&walk)) {
		if (walk.at->rank != rank)
			continue;
		if (to) {
			fputs(n ? "," : "", to);
			put_row(&walk, to);
		}
		n++;
	}
	*failed |= walk.failed;
	prof_rows_end(&walk);
	return n;
}

/* Ranks in the order of their first rows, each once. */
static bool next_rank(const struct prof_sheet *sheet, int after, bool first, int *out_rank)
{
	bool found = false;

	for (size_t tree = 0; tree < sheet->n_trees; tree++) {
		for (size_t i = 0; i < sheet->trees[tree]->n_threads; i++) {
			int rank = sheet->trees[tree]->threads[i].rank;

			if ((first || rank > after) && (!found || rank < *out_rank)) {
				*out_rank = rank;
				found = true;
			}
		}
	}
	return found;
}

static void put_ranks(const struct prof_sheet *sheet, FILE *to, bool *failed)
{
	int rank = 0;
	bool first = true;

	fputs(",\"ranks\":[", to);
	for (; next_rank(sheet, rank, first, &rank); first = false) {
		fprintf(to, "%s{\"rank\":%d,\"graph_size\":%llu,\"graph\":[", first ? "" : ",",
			rank, (unsigned long long)rows_of_rank(sheet, rank, NULL, failed));
		rows_of_rank(sheet, rank, to, failed);
		fputs("\n]}", to);
	}
	fputs("]", to);
}

/* ---- the tree ---- */

static enum prof_clock clock_of(const struct prof_sheet *sheet)
{
	return sheet->value == PROF_VALUE_CPU ? PROF_CLOCK_CPU : PROF_CLOCK_WALL;
}

static struct prof_stat node_stat(const struct prof_sheet *sheet, const struct prof_node *node)
{
	double n = (double)node->n_trips;

	if (sheet->value == PROF_VALUE_TRIPS)
		return (struct prof_stat){ node->n_trips, n, n, 1, 1 };
	return node->stat[clock_of(sheet)];
}

/* What is left of a node's values without its children. */
static struct prof_stat exclusive_stat(const struct prof_sheet *sheet, const struct prof_node *node)
{
	struct prof_stat stat = node_stat(sheet, node);

	if (sheet->value == PROF_VALUE_TRIPS)
		return stat;
	stat.sum -= prof_node_children(node, clock_of(sheet));
	for (const struct prof_node *child = node->first; child; child = child->next)
		if (!prof_kind_on_gpu(child->kind))
			stat.sqr -= child->stat[clock_of(sheet)].sqr;
	return stat;
}

static void put_node(const struct prof_sheet *sheet, const struct prof_tree_thread *thread,
		     const struct prof_node *node, FILE *to)
{
	struct prof_stat inclusive = node_stat(sheet, node),
			 exclusive = exclusive_stat(sheet, node);

	fprintf(to, "\n{\"node\":{\"hash\":%llu,\"prefix\":",
		(unsigned long long)prof_name_hash(node->name));
	prof_json_text(to, node->name);
	fprintf(to, ",\"tid\":[%u],\"pid\":[%u],\"depth\":%u,\"is_dummy\":false,\"inclusive\":{",
		thread->thread ? thread->thread->index : 0, thread->pid, node->depth + 1);
	put_entry(sheet, inclusive.n, inclusive.sum, to);
	fputc(',', to);
	put_stats(sheet, &inclusive, to);
	fputs("},\"exclusive\":{", to);
	put_entry(sheet, exclusive.n, exclusive.sum, to);
	fputc(',', to);
	put_stats(sheet, &exclusive, to);
	fputs("}},\"children\":[", to);
}

static void put_thread(const struct prof_sheet *sheet, const struct prof_tree_thread *thread,
		       bool *first, FILE *to)
{
	const struct prof_node *node = thread->root->first;

	while (node) {
		fputs(*first ? "" : ",", to);
		put_node(sheet, thread, node, to);
		*first = true;
		if (node->first) {
			node = node->first;
			continue;
		}
		while (node->parent && !node->next) {
			fputs("]}", to);
			node = node->parent;
		}
		if (!node->parent)
			break;
		fputs("]}", to);
		node = node->next;
		*first = false;
	}
	*first &= !thread->root->first;
}

static void put_graph(const struct prof_sheet *sheet, FILE *to)
{
	const struct prof_stat none = { 0 };
	bool first = true;

	fputs(",\"graph\":[[{\"node\":{\"hash\":0,\"prefix\":\"unknown-hash=0\",\"tid\":[0],"
	      "\"pid\":[0],\"depth\":0,\"is_dummy\":true,\"inclusive\":{",
	      to);
	put_entry(sheet, 0, 0, to);
	fputc(',', to);
	put_stats(sheet, &none, to);
	fputs("},\"exclusive\":{", to);
	put_entry(sheet, 0, 0, to);
	fputc(',', to);
	put_stats(sheet, &none, to);
	fputs("}},\"children\":[", to);
	for (size_t tree = 0; tree < sheet->n_trees; tree++)
		for (size_t i = 0; i < sheet->trees[tree]->n_threads; i++)
			put_thread(sheet, &sheet->trees[tree]->threads[i], &first, to);
	fputs("]}]]", to);
}

/* ---- the file ---- */

static void put_properties(const struct prof_sheet *sheet, FILE *to)
{
	fprintf(to, "\"properties\":{\"value\":%u,\"enum\":\"", sheet->value);
	for (const char *at = sheet->label; *at; at++) {
		bool word = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
			    (*at >= '0' && *at <= '9');

		fputc(!word ? '_' : *at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at, to);
	}
	fputs("\",\"id\":", to);
	prof_json_text(to, sheet->label);
	fputs(",\"ids\":[", to);
	prof_json_text(to, sheet->label);
	fputs("]}", to);
}

bool prof_sheet_json(const struct prof_sheet *sheet, FILE *to)
{
	bool failed = false;

	fputs("{\"timemory\":{", to);
	prof_json_text(to, sheet->label);
	fputs(":{", to);
	put_properties(sheet, to);
	fputs(",\"type\":", to);
	prof_json_text(to, sheet->label);
	fputs(",\"description\":", to);
	prof_json_text(to, sheet->description);
	fputs(",\"unit_value\":", to);
	put_value(sheet, sheet->unit, to);
	fputs(",\"unit_repr\":", to);
	prof_json_text(to, sheet->unit_text);
	fprintf(to, ",\"precision\":%d", sheet->precision);
	fprintf(to,
		",\"thread_scope_only\":false,\"thread_count\":%u,\"mpi_size\":%zu,"
		"\"upcxx_size\":1,\"process_count\":%zu,\"num_ranks\":%zu,\"concurrency\":%u",
		sheet->n_threads, sheet->n_ranks, sheet->n_ranks, sheet->n_ranks, sheet->n_threads);
	if (sheet->note) {
		fputs(",\"note\":", to);
		prof_json_text(to, sheet->note);
	}
	put_ranks(sheet, to, &failed);
	if (sheet->tree)
		put_graph(sheet, to);
	fputs("}}}\n", to);
	return !failed;
}
