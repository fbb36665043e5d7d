/*
 * alias: registers that are destination and source at once.
 *
 * An instruction runs with operands that overlap in every way, and once more, from the same state,
 * with its sources copied to registers of their own (a scalar source: to all lanes of a vector
 * register). The registers it leaves must be the same. What is right is the reference's business.
 */
#ifndef WS_TESTS_ISA_SEMANTICS_ALIAS_H
#define WS_TESTS_ISA_SEMANTICS_ALIAS_H

#include "tests/isa/semantics/vector.h"

void alias_vector(struct vector_test *v, const struct config *cfg);
void alias_matrix(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target);
/* SOP1, SOP2 and SOPC. */
void alias_scalar(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target);

#endif
