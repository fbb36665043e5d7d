/* check: comparing results with the reference, and saying what differs. */
#ifndef WS_TESTS_ISA_SEMANTICS_CHECK_H
#define WS_TESTS_ISA_SEMANTICS_CHECK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/isa/ref/ref.h"

struct tally {
	unsigned rows, runs;
	unsigned long compared;
	unsigned failures; /* of the current row */
	unsigned bad_rows;
	const char *mnemonic; /* current row */
	bool row_tested;      /* something of the current row was compared */
	bool verbose;
};

void tally_start_row(struct tally *t, const char *mnemonic);
void tally_end_row(struct tally *t);
/* Prints the first few failures of a row, counts all. */
void fail(struct tally *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* May a row that should give `want` give `got`? Of 16-bit results: the 16 bits. NaN: any quiet one. */
bool value_matches(const struct ref_row *row, uint64_t want, uint64_t got, double slack,
		   uint32_t mode);
/*
 * The smallest normal number where denormal results are flushed. A tiny result that rounds up to it may
 * be flushed or not: the documents do not say whether the test comes before the rounding.
 */
bool is_flushed_edge(unsigned bits, uint64_t x, uint32_t mode);
/* Two floats of `bits`, `slack` apart at most; NaN matches NaN. */
bool within(unsigned bits, uint64_t want, uint64_t got, double slack);

#endif
