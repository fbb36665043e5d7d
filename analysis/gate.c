#include "analysis/gate.h"

#include "base/unit.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static bool is_number_char(char c)
{
	return isdigit((unsigned char)c) || c == '.' || c == '-' || c == '+' || c == 'e' ||
	       c == 'E';
}

/*
 * What stands behind the last operator of @text: a number, and a percent sign or unit.
 * False: @text does not end so.
 */
static bool parse_limit(struct ws_str text, struct ana_gate *out_gate, size_t *out_op_at)
{
	struct ws_str number;
	size_t op_at = text.n;

	while (op_at > 0 && text.at[op_at - 1] != '<' && text.at[op_at - 1] != '>')
		op_at--;
	if (!op_at)
		return false;
	op_at--;
	number = (struct ws_str){ text.at + op_at + 1, text.n - op_at - 1 };
	out_gate->op = text.at[op_at] == '>' ? ANA_GATE_GT : ANA_GATE_LT;
	if (number.n && number.at[0] == '=') {
		out_gate->op++;
		number.at++;
		number.n--;
	}
	number = ws_str_trim(number);
	out_gate->percent = ws_str_ends(number, "%");
	if (out_gate->percent)
		number.n--;
	/* Smallest first: "ms" ends in "s". */
	for (int i = WS_TIME_NSEC; !out_gate->percent && i >= WS_TIME_SEC; i--) {
		if (ws_str_ends(number, ws_time_unit_symbols[i])) {
			out_gate->time_ns = (double)ws_time_unit_ns(i);
			number.n -= strlen(ws_time_unit_symbols[i]);
			break;
		}
	}
	number = ws_str_trim(number);
	for (size_t i = 0; i < number.n; i++)
		if (!is_number_char(number.at[i]))
			return false;
	*out_op_at = op_at;
	return number.n && ws_str_f64(number, &out_gate->limit) && isfinite(out_gate->limit);
}

/* Split "KERNEL:WHAT"; a "::" belongs to the kernel's name. */
static enum ws_status parse_subject(struct ws_str subject, const char *text, struct ws_arena *arena,
				    struct ana_gate *gate, struct ws_err *err)
{
	struct ws_str kernel = { 0 }, what = subject;

	if (subject.n && subject.at[0] == '"') {
		const char *end = memchr(subject.at + 1, '"', subject.n - 1);

		if (!end)
			return ws_fail(err, WS_E_USAGE, "condition '%s': the quote is not closed",
				       text);
		kernel = (struct ws_str){ subject.at + 1, (size_t)(end - subject.at - 1) };
		what = ws_str_trim(
			(struct ws_str){ end + 1, (size_t)(subject.at + subject.n - end - 1) });
		if (!what.n || what.at[0] != ':')
			return ws_fail(err, WS_E_USAGE,
				       "condition '%s': ':' and a metric must follow the kernel",
				       text);
		what.at++;
		what.n--;
	} else {
		for (size_t i = subject.n; i-- > 0;) {
			if (subject.at[i] != ':')
				continue;
			if ((i > 0 && subject.at[i - 1] == ':') ||
			    (i + 1 < subject.n && subject.at[i + 1] == ':'))
				break;
			kernel = (struct ws_str){ subject.at, i };
			what = (struct ws_str){ subject.at + i + 1, subject.n - i - 1 };
			break;
		}
	}
	kernel = ws_str_trim(kernel);
	what = ws_str_trim(what);
	if (!what.n)
		return ws_fail(
			err, WS_E_USAGE,
			"condition '%s' names nothing to compare: 'duration', a metric's id or "
			"name, or a counter comes first",
			text);
	if (kernel.at && !kernel.n)
		return ws_fail(err, WS_E_USAGE, "condition '%s' has an empty kernel name", text);
	gate->what = ws_arena_strndup(arena, what.at, what.n);
	gate->kernel = kernel.n ? ws_arena_strndup(arena, kernel.at, kernel.n) : NULL;
	if (!gate->what || (kernel.n && !gate->kernel))
		return ws_fail(err, WS_E_NOMEM, "no memory for conditions");
	return WS_OK;
}

static enum ws_status parse_one(struct ws_str text, struct ws_arena *arena,
				struct ana_gates *out_gates, struct ws_err *err)
{
	struct ana_gate gate = { 0 };
	size_t op_at;
	enum ws_status st;

	text = ws_str_trim(text);
	gate.text = ws_arena_strndup(arena, text.at, text.n);
	if (!gate.text)
		return ws_fail(err, WS_E_NOMEM, "no memory for conditions");
	if (!text.n)
		return ws_fail(err, WS_E_USAGE,
			       "a condition is empty: write one as 'duration>5%%'");
	if (!parse_limit(text, &gate, &op_at))
		return ws_fail(
			err, WS_E_USAGE,
			"condition '%s' does not end in '>' or '<' and a number: write it as "
			"'duration>5%%' or 'vecCopy:2.1.14<-3%%'",
			gate.text);
	st = parse_subject(ws_str_trim((struct ws_str){ text.at, op_at }), gate.text, arena, &gate,
			   err);
	if (st)
		return st;
	return ws_vec_push(out_gates, gate, err);
}

enum ws_status ana_gate_parse(const char *text, struct ws_arena *arena, struct ana_gates *out_gates,
			      struct ws_err *err)
{
	const char *start = text;
	bool quoted = false;

	for (const char *p = text;; p++) {
		enum ws_status st;

		if (*p == '"')
			quoted = !quoted;
		if (*p && (*p != ',' || quoted))
			continue;
		st = parse_one((struct ws_str){ start, (size_t)(p - start) }, arena, out_gates,
			       err);
		if (st || !*p)
			return st;
		start = p + 1;
	}
}

bool ana_gate_fails(const struct ana_gate *gate, double value)
{
	switch (gate->op) {
	case ANA_GATE_GT:
		return value > gate->limit;
	case ANA_GATE_GE:
		return value >= gate->limit;
	case ANA_GATE_LT:
		return value < gate->limit;
	case ANA_GATE_LE:
		return value <= gate->limit;
	}
	return false;
}

/* With * and ? alone: names hold brackets ("[clone .kd]"), which fnmatch() would read as sets. */
static bool matches(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			from = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool ana_gate_names(const struct ana_gate *gate, const char *kernel)
{
	if (!gate->kernel || !strcmp(gate->kernel, kernel))
		return true;
	if (strpbrk(gate->kernel, "*?"))
		return matches(gate->kernel, kernel);
	return strstr(kernel, gate->kernel) != NULL;
}
