/* pk32: conversions of 32 numbers of a lane, in up to 32 registers, against the reference. */
#ifndef WS_TESTS_ISA_SEMANTICS_PK32_H
#define WS_TESTS_ISA_SEMANTICS_PK32_H

#include "softgpu/exec/step.h"
#include "softgpu/isa/isa.h"
#include "tests/isa/ref/ref.h"
#include "tests/isa/semantics/check.h"

void test_pk32_row(struct tally *t, const struct sg_isa_row *row, const struct ref_pk32 *ref,
		   enum sg_isa_target target, struct sg_step *st);

#endif
