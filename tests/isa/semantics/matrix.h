#ifndef WS_TESTS_ISA_SEMANTICS_MATRIX_H
#define WS_TESTS_ISA_SEMANTICS_MATRIX_H

#include "softgpu/exec/step.h"
#include "softgpu/isa/isa.h"
#include "tests/isa/ref/ref.h"
#include "tests/isa/semantics/check.h"

void test_matrix_row(struct tally *t, const struct ws_isa_row *row, const struct ref_mfma *ref,
		     enum ws_target target, struct ws_step *st);

#endif
