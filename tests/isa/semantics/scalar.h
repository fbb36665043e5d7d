#ifndef WS_TESTS_ISA_SEMANTICS_SCALAR_H
#define WS_TESTS_ISA_SEMANTICS_SCALAR_H

#include "softgpu/exec/step.h"
#include "softgpu/isa/isa.h"
#include "tests/isa/ref/ref.h"
#include "tests/isa/semantics/check.h"

void test_scalar_row(struct tally *t, const struct sg_isa_row *row, const struct ref_row *ref,
		     enum sg_isa_target target, struct sg_step *st);

#endif
