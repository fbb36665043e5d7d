/*
 * compare: did a number change between two runs, or is it noise?
 *
 * Two samples (the values of one quantity over the dispatches of each run) are compared by
 * the test their sizes allow:
 *
 *   no spread on either side   the quantity is deterministic: equal or changed, for certain
 *   one value on one side      Student's t with the other side's spread (a new value of it?)
 *   few values (below 5)       Welch's t: unequal spreads, small samples pay with wide limits
 *   5 values or more           Mann-Whitney's U: ranks, so that an outlier is one outlier;
 *                              exact, ties included, up to 24 values in all, normal above
 *   one value on each side     nothing is known of the spread: the change is shown, unjudged
 *
 * Many tests make many chance finds. ana_compare_adjust() holds their share below a rate
 * over all comparisons of a report (Benjamini and Hochberg).
 *
 * Nothing here allocates, except that ranks of large samples need scratch memory.
 */
#ifndef WS_ANALYSIS_COMPARE_H
#define WS_ANALYSIS_COMPARE_H

#include <stddef.h>

#define ANA_COMPARE_ALPHA 0.05
#define ANA_COMPARE_RANKS_MIN 5u  /* values on each side; 4 against 4 cannot get below 0.029 */
#define ANA_COMPARE_EXACT_MAX 24u /* values in all */

/* clang-format off */
#define ANA_CHANGE_TABLE(X)  /* word in reports */                         \
	X(ANA_CHANGE_NONE,    "equal")                                     \
	X(ANA_CHANGE_NOISE,   "noise")                                     \
	X(ANA_CHANGE_REAL,    "changed")                                   \
	X(ANA_CHANGE_UNKNOWN, "unknown")  /* no spread to judge it by */   \
	X(ANA_CHANGE_ABSENT,  "absent")   /* no value on a side */

#define ANA_COMPARE_METHOD_TABLE(X)                                        \
	X(ANA_METHOD_NONE,   "")                                           \
	X(ANA_METHOD_EXACT,  "no spread")                                  \
	X(ANA_METHOD_SINGLE, "t, one value")                               \
	X(ANA_METHOD_WELCH,  "Welch")                                      \
	X(ANA_METHOD_RANKS,  "Mann-Whitney")
/* clang-format on */

enum ana_change {
#define ANA_CHANGE_ROW(name, text) name,
	ANA_CHANGE_TABLE(ANA_CHANGE_ROW)
#undef ANA_CHANGE_ROW
};
enum ana_compare_method {
#define ANA_METHOD_ROW(name, text) name,
	ANA_COMPARE_METHOD_TABLE(ANA_METHOD_ROW)
#undef ANA_METHOD_ROW
};
const char *ana_change_name(enum ana_change change);
const char *ana_compare_method_name(enum ana_compare_method method);

struct ana_sample {
	size_t n;        /* values that are numbers */
	double mean, sd; /* NaN: no values; sd of one value is NaN */
	double min, max;
};

struct ana_comparison {
	struct ana_sample a, b;
	double delta, percent; /* of the means; percent is NaN when a's mean is 0 and b's is not */
	double p;              /* NaN: not tested */
	enum ana_compare_method method;
	enum ana_change change; /* at ANA_COMPARE_ALPHA, until ana_compare_adjust() */
};

/* NaNs are left out. */
void ana_compare(const double *a, size_t n_a, const double *b, size_t n_b,
		 struct ana_comparison *out);

/*
 * Make NOISE of those REAL ones that would let chance finds exceed the rate @alpha.
 * @scratch has room for @n numbers.
 */
void ana_compare_adjust(struct ana_comparison **at, size_t n, double alpha, double *scratch);

/* Two-sided p of Student's t with @df degrees of freedom. */
double ana_student_p(double t, double df);
/* Two-sided p of the rank sum of @a among both; exact when it can be. */
double ana_ranks_p(const double *a, size_t n_a, const double *b, size_t n_b);

#endif
