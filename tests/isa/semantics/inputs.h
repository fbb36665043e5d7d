/* inputs: operand values worth trying, by operand type. */
#ifndef WS_TESTS_ISA_SEMANTICS_INPUTS_H
#define WS_TESTS_ISA_SEMANTICS_INPUTS_H

#include <stddef.h>
#include <stdint.h>

#include "softgpu/isa/isa.h"

/* A small generator with a seed of its own per row, so that a failure reproduces alone. */
struct rng {
	uint64_t state;
};
uint64_t rng_next(struct rng *rng);
void rng_seed(struct rng *rng, const char *text);

static inline bool is_pair16(const struct sg_isa_operand *op)
{
	return op->type_class == SG_TYPE_PK16 || op->type_class == SG_TYPE_PKBF16;
}

size_t input_n_edges(const struct sg_isa_operand *op);
uint64_t input_edge(const struct sg_isa_operand *op, size_t index);
/* An edge value, or one near the others in magnitude, or any bits at all. */
uint64_t input_random(const struct sg_isa_operand *op, struct rng *rng);

#endif
