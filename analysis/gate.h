/*
 * gate: conditions under which a comparison fails, as --fail-on takes them.
 *
 *	duration>5%                    any kernel's mean duration grew by more than 5 %
 *	2.1.14<-3%, SQ_WAVES>0%        by metric id, by counter; several
 *	vecCopy:duration>20us          one kernel's duration is more than 20 us now
 *	"foo<4, int>":IPC<-1%          a kernel whose name holds commas or operators
 *
 * With a percentage the change against the baseline counts, and only when it is more than
 * noise; without one the new run's value itself does. `total_duration` is the time of all
 * kernels together. A kernel is named in full, by a pattern with * and ?, or by a part.
 *
 * Memory   gates and their texts live in the arena that was given.
 * Failure  WS_E_USAGE, with the condition and what is wrong with it.
 */
#ifndef WS_ANALYSIS_GATE_H
#define WS_ANALYSIS_GATE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>

#define ANA_GATES_MAX 1000u

enum ana_gate_op { ANA_GATE_GT, ANA_GATE_GE, ANA_GATE_LT, ANA_GATE_LE };

struct ana_gate {
	const char *text;   /* as typed */
	const char *kernel; /* NULL: every kernel */
	const char *what;   /* "duration", a metric's id or name, a counter */
	enum ana_gate_op op;
	double limit;
	bool percent;   /* of the baseline */
	double time_ns; /* of one unit of `limit` when it was given as a time; else 0 */
};

WS_VEC_TYPE(ana_gates, struct ana_gate);

/* Append the conditions in @text, which are separated by commas. */
enum ws_status ana_gate_parse(const char *text, struct ws_arena *arena, struct ana_gates *out_gates,
			      struct ws_err *err);

/* Whether @value is on the failing side. NaN is not. */
bool ana_gate_fails(const struct ana_gate *gate, double value);
bool ana_gate_names(const struct ana_gate *gate, const char *kernel);

#endif
