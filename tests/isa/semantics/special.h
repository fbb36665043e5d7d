/* special: rows that are not a function of one lane's operands: cross-lane, EXEC, PC, MODE, M0. */
#ifndef WS_TESTS_ISA_SEMANTICS_SPECIAL_H
#define WS_TESTS_ISA_SEMANTICS_SPECIAL_H

#include "softgpu/exec/step.h"
#include "softgpu/isa/isa.h"
#include "tests/isa/semantics/check.h"

typedef void special_test(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
			  struct sg_step *st);

special_test *special_find(const char *mnemonic); /* NULL: none */

#endif
