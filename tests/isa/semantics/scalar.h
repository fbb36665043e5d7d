#ifndef WS_TESTS_ISA_SEMANTICS_SCALAR_H
#define WS_TESTS_ISA_SEMANTICS_SCALAR_H

#include "softgpu/exec/step.h"
#include "softgpu/isa/isa.h"
#include "tests/isa/ref/ref.h"
#include "tests/isa/semantics/check.h"

void test_scalar_row(struct tally *t, const struct ws_isa_row *row, const struct ref_row *ref,
		     enum ws_target target, struct ws_step *st);

#endif
