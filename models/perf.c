/* What a log says of a run: its performance, and lines that mean failure. */
#include "models/perf.h"

#include "base/doc_edit.h"

#include <ctype.h>
#include <string.h>

const char *mdl_status_name(enum mdl_run_status status)
{
	static const char *const names[] = {
#define MDL_STATUS_NAME(name, text) text,
		MDL_STATUS_TABLE(MDL_STATUS_NAME)
#undef MDL_STATUS_NAME
	};

	return names[status];
}

/* ---- performance ---- */

/* Sign, digits with a point, exponent; at least one digit. Returns its length. */
static size_t number_length(struct ws_str s)
{
	size_t i = 0, n_digits = 0, end;

	if (i < s.n && strchr("+-", s.at[i]))
		i++;
	for (; i < s.n && (isdigit((unsigned char)s.at[i]) || s.at[i] == '.'); i++)
		n_digits += s.at[i] != '.';
	if (!n_digits)
		return 0;
	end = i;
	if (i < s.n && tolower((unsigned char)s.at[i]) == 'e') {
		i++;
		if (i < s.n && strchr("+-", s.at[i]))
			i++;
		if (i < s.n && isdigit((unsigned char)s.at[i])) {
			while (i < s.n && isdigit((unsigned char)s.at[i]))
				i++;
			end = i;
		}
	}
	return end;
}

static struct ws_str after(struct ws_str s, size_t n)
{
	return (struct ws_str){ s.at + n, s.n - n };
}

static size_t blanks(struct ws_str s, const char *which)
{
	size_t n = 0;

	while (n < s.n && s.at[n] && strchr(which, s.at[n]))
		n++;
	return n;
}

static size_t word_length(struct ws_str s)
{
	size_t n = 0;

	while (n < s.n && !isspace((unsigned char)s.at[n]) && s.at[n] != ',')
		n++;
	return n;
}

/* The text after @word in @line, or an empty view. */
static struct ws_str behind(struct ws_str line, const char *word)
{
	const char *at = memmem(line.at, line.n, word, strlen(word));

	return at ? after(line, (size_t)(at - line.at) + strlen(word)) : (struct ws_str){ "", 0 };
}

/* "performance: 12.5 /s, samples_per_second" */
static bool read_performance(struct ws_str line, struct ws_str *out_number,
			     struct ws_str *out_metric)
{
	struct ws_str rest = behind(line, "performance:");
	size_t n;

	rest = after(rest, blanks(rest, " \t"));
	n = number_length(rest);
	if (!n)
		return false;
	*out_number = (struct ws_str){ rest.at, n };
	rest = after(rest, n);
	n = blanks(rest, " \t");
	if (n < rest.n && rest.at[n] == '/') {
		rest = after(rest, n);
		rest = after(rest, word_length(rest));
	}
	n = blanks(rest, " \t,");
	rest = after(rest, n);
	*out_metric = (struct ws_str){ rest.at, word_length(rest) };
	return n && out_metric->n;
}

/* 'train_samples_per_second': 12.5, as trainers print their dictionaries. */
static bool read_samples(struct ws_str line, struct ws_str *out_number, struct ws_str *out_metric)
{
	struct ws_str rest = behind(line, "train_samples_per_second");
	size_t n;

	rest = after(rest, blanks(rest, "'\" \t:="));
	n = number_length(rest);
	if (!n)
		return false;
	*out_number = (struct ws_str){ rest.at, n };
	*out_metric = WS_STR("samples_per_second");
	return true;
}

bool mdl_performance_find(struct ws_str log, struct ws_arena *arena,
			  struct mdl_performance *out_performance)
{
	struct ws_str number = { 0 }, metric = { 0 }, line;
	struct ws_str samples = { 0 }, samples_metric = { 0 };

	while (ws_str_next(&log, '\n', &line)) {
		struct ws_str a, b;

		if (read_performance(line, &a, &b)) {
			number = a;
			metric = b;
		} else if (read_samples(line, &a, &b)) {
			samples = a;
			samples_metric = b;
		}
	}
	if (!number.n) {
		number = samples;
		metric = samples_metric;
	}
	if (!number.n)
		return false;
	out_performance->number = ws_arena_strndup(arena, number.at, number.n);
	out_performance->metric = ws_arena_strndup(arena, metric.at, metric.n);
	return out_performance->number && out_performance->metric;
}

/* ---- errors ---- */

static const char *const error_words[] = {
	"OutOfMemoryError",
	"HIP out of memory",
	"CUDA out of memory",
	"RuntimeError:",
	"AssertionError:",
	"ValueError:",
	"SystemExit",
	"failed (exitcode:",
	"Traceback (most recent call last)",
	"FAILED",
	"Exception:",
	"ImportError:",
	"ModuleNotFoundError:",
};

static const char *const benign_words[] = {
	"metrics exporter agent", /* Ray, on machines without its exporter */
	"metrics-exporter",
	"FutureWarning",
	"Opened result file:",
	"SQLite3 generation ::",
	"rocpd_op:",
	"rpd_tracer:",
	"[rocprofv3]",
};

/* Lines of glog in these files of AMD's profiler: "E20260102 10:11:12.3 42 tool.cpp:81] ..." */
static const char *const benign_sources[] = { "generateRocpd.cpp", "simple_timer.cpp", "tool.cpp" };

static bool has(struct ws_str line, const char *word)
{
	return *word && memmem(line.at, line.n, word, strlen(word));
}

static bool is_glog(struct ws_str line)
{
	bool source = false;

	for (size_t i = 0; i < WS_ARRAY_LEN(benign_sources); i++)
		source |= has(line, benign_sources[i]);
	for (size_t i = 0; source && i + 9 <= line.n; i++) {
		size_t n = 0;

		if (line.at[i] != 'E' && line.at[i] != 'W')
			continue;
		while (n < 8 && isdigit((unsigned char)line.at[i + 1 + n]))
			n++;
		if (n == 8)
			return true;
	}
	return false;
}

static bool is_benign(const struct mdl_scan *scan, struct ws_str line)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(benign_words); i++)
		if (has(line, benign_words[i]))
			return true;
	for (size_t i = 0; scan->benign && i < scan->benign->n; i++)
		if (has(line, scan->benign->at[i]->text))
			return true;
	return is_glog(line);
}

/* false, 0, "no": off. */
static bool is_off(const struct ws_doc *value)
{
	bool on;

	switch (value->kind) {
	case WS_DOC_BOOL:
		return !value->on;
	case WS_DOC_INT:
	case WS_DOC_REAL:
		return value->real == 0;
	case WS_DOC_TEXT:
		return ws_str_bool(ws_str_from(value->text), &on) && !on;
	default:
		return false;
	}
}

void mdl_scan_from(const struct ws_doc *context, const struct ws_doc *model,
		   struct mdl_scan *out_scan)
{
	const struct ws_doc *docs[] = { model, context }; /* the later one counts */

	*out_scan = (struct mdl_scan){ .off = false };
	for (size_t i = 0; i < WS_ARRAY_LEN(docs); i++) {
		const struct ws_doc *on = ws_doc_get(docs[i], "log_error_pattern_scan");
		const struct ws_doc *patterns = ws_doc_get(docs[i], "log_error_patterns");
		const struct ws_doc *benign = ws_doc_get(docs[i], "log_error_benign_patterns");

		if (on)
			out_scan->off = is_off(on);
		if (patterns && patterns->kind == WS_DOC_LIST && patterns->n)
			out_scan->patterns = patterns;
		if (benign && benign->kind == WS_DOC_LIST)
			out_scan->benign = benign;
	}
}

bool mdl_scan_log(const struct mdl_scan *scan, struct ws_str log, struct ws_str *out_line,
		  const char **out_pattern)
{
	size_t n = scan->patterns ? scan->patterns->n : WS_ARRAY_LEN(error_words);
	struct ws_str line;

	while (!scan->off && ws_str_next(&log, '\n', &line))
		for (size_t i = 0; i < n; i++) {
			const char *word =
				scan->patterns ? scan->patterns->at[i]->text : error_words[i];

			if (!has(line, word) || is_benign(scan, line))
				continue;
			*out_line = line;
			*out_pattern = word;
			return true;
		}
	return false;
}

/* ---- several nodes ---- */

enum mdl_combine mdl_metric_combine(const char *metric)
{
	static const struct {
		const char *word;
		enum mdl_combine how;
	} words[] = {
		{ "throughput", MDL_COMBINE_SUM },
		{ "samples_per_second", MDL_COMBINE_SUM },
		{ "tokens_per_second", MDL_COMBINE_SUM },
		{ "images_per_second", MDL_COMBINE_SUM },
		{ "requests_per_second", MDL_COMBINE_SUM },
		{ "qps", MDL_COMBINE_SUM },
		{ "bandwidth", MDL_COMBINE_SUM },
		{ "ops_per_second", MDL_COMBINE_SUM },
		{ "samples/sec", MDL_COMBINE_SUM },
		{ "tokens/sec", MDL_COMBINE_SUM },
		{ "latency", MDL_COMBINE_MEAN },
		{ "time", MDL_COMBINE_MEAN },
		{ "duration", MDL_COMBINE_MEAN },
		{ "milliseconds", MDL_COMBINE_MEAN },
		{ "seconds", MDL_COMBINE_MEAN },
		{ "ttft", MDL_COMBINE_MEAN },
		{ "tpot", MDL_COMBINE_MEAN },
		{ "accuracy", MDL_COMBINE_MEAN },
		{ "precision", MDL_COMBINE_MEAN },
		{ "recall", MDL_COMBINE_MEAN },
		{ "f1", MDL_COMBINE_MEAN },
		{ "loss", MDL_COMBINE_MEAN },
		{ "memory", MDL_COMBINE_MAX },
		{ "bytes", MDL_COMBINE_MAX },
		{ "ram", MDL_COMBINE_MAX },
		{ "vram", MDL_COMBINE_MAX },
		{ "gb", MDL_COMBINE_MAX },
		{ "mb", MDL_COMBINE_MAX },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(words); i++)
		if (strcasestr(metric, words[i].word))
			return words[i].how;
	return MDL_COMBINE_UNKNOWN;
}
