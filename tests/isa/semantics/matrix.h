#ifndef WS_TESTS_ISA_SEMANTICS_MATRIX_H
#define WS_TESTS_ISA_SEMANTICS_MATRIX_H

#include "softgpu/exec/step.h"
#include "softgpu/isa/isa.h"
#include "tests/isa/ref/ref.h"
#include "tests/isa/semantics/check.h"

void test_matrix_row(struct tally *t, const struct sg_isa_row *row, const struct ref_mfma *ref,
		     enum sg_isa_target target, struct sg_step *st);

#endif
