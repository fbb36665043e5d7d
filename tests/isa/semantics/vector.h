/* vector: one VALU instruction in one configuration, on many inputs, against the reference. */
#ifndef WS_TESTS_ISA_SEMANTICS_VECTOR_H
#define WS_TESTS_ISA_SEMANTICS_VECTOR_H

#include "softgpu/exec/step.h"
#include "softgpu/isa/isa.h"
#include "tests/isa/ref/ref.h"
#include "tests/isa/semantics/check.h"
#include "tests/isa/semantics/encode.h"
#include "tests/isa/semantics/inputs.h"

enum { N_INSTANCES = 8, REGS_PER_INSTANCE = 16 };

/* What is the same for all instances and lanes of a run. */
struct config {
	const char *name;
	uint32_t mode;
	uint64_t exec;
	struct enc e;        /* registers are filled in per instance */
	unsigned scalar_src; /* 0: VGPRs. k + 1: source k is operand number scalar_opnd */
	unsigned scalar_opnd;
	size_t first_edge; /* product of edges from here on; SIZE_MAX: random inputs */
};

struct vector_test {
	struct tally *t;
	const struct sg_isa_row *row;
	const struct ref_row *ref;
	enum sg_isa_target target;
	struct rng rng;
	struct sg_step *step;
};

const struct sg_isa_operand *operand_of(const struct sg_isa_row *row, unsigned role);
/* A pair of floats in an instruction without op_sel_hi and neg_hi. */
bool is_vop3_pair(const struct sg_isa_row *row, const struct sg_isa_operand *op);
/* Runs n instances (at most N_INSTANCES). */
void vector_run(struct vector_test *v, const struct config *cfg, unsigned n);
/* All configurations of the row. */
void test_vector_row(struct tally *t, const struct sg_isa_row *row, const struct ref_row *ref,
		     enum sg_isa_target target, struct sg_step *step);

#endif
