/*
 * joint_l1: one L1 for the CUs of a joint pipeline.
 *
 * As long as all of these CUs take part in each load, and each is at the same distance from the others in all loads, what
 * they have in L1 is the same, moved by these distances. The joint pipeline's L1 has it then, in the lines of the CU that was
 * the home of the first load. The first load that is different gives each CU its own lines, until the end of the dispatch.
 */
#include <stdlib.h>

#include "softgpu/timing/model_priv.h"

struct sg_joint_l1 {
	enum { NO_LOADS, SHARED, OWN } state;
	uint32_t engines;      /* SHARED: a bit for each that takes part */
	int32_t at[SG_MAX_SE]; /* ...: chunks from the joint L1's lines to the engine's own */
};

bool sg_joint_l1_create(struct sg_model *m)
{
	const struct sg_hw *hw = m->hw;

	m->joint_l1 = calloc(hw->cus_per_se, sizeof(*m->joint_l1));
	for (uint32_t k = 0; m->joint_l1 && k < hw->cus_per_se; k++)
		if (!sg_cache_init(&m->joint[k].tags, hw->l1_bytes / hw->l1_line / hw->l1_ways,
				   hw->l1_ways))
			return false;
	return m->joint_l1;
}

void sg_joint_l1_destroy(struct sg_model *m)
{
	for (uint32_t k = 0; m->joint && k < m->hw->cus_per_se; k++)
		sg_cache_free(&m->joint[k].tags);
	free(m->joint_l1);
}

void sg_joint_l1_begin(struct sg_model *m)
{
	for (uint32_t k = 0; k < m->hw->cus_per_se; k++)
		m->joint_l1[k].state = NO_LOADS;
}

void sg_joint_l1_part(struct sg_model *m, uint32_t number)
{
	struct sg_joint_l1 *l1 = &m->joint_l1[number];
	struct sg_tcp *joint = &m->joint[number];
	int64_t per_chunk = SG_CHUNK / m->hw->l1_line;

	for (uint32_t left = l1->state == SHARED ? l1->engines : 0; left; left &= left - 1) {
		uint32_t engine = (uint32_t)__builtin_ctz(left);

		sg_cache_move(&m->cus[engine * m->hw->cus_per_se + number].tcp.tags, &joint->tags,
			      (uint64_t)(l1->at[engine] * per_chunk));
	}
	l1->state = OWN;
	if (joint->queue.n) /* its look-ups may have begun */
		sg_tcp_lookup(joint, 0)->joint->shares_l1 =
			sg_tcp_lookup(joint, 0)->joint->is_alike = false;
}

/* They are those of the loads before, at the same distances. */
static bool are_the_same(const struct sg_joint_l1 *l1, const struct sg_joint_op *joint)
{
	uint32_t engines = 1u << joint->engine;
	int32_t home = l1->at[joint->engine];

	for (uint32_t k = 0; k < joint->n; k++) {
		const struct sg_spread_to *member = &joint->members[k];

		if (l1->at[member->engine] != home + member->by)
			return false;
		engines |= 1u << member->engine;
	}
	return engines == l1->engines;
}

static void start(struct sg_joint_l1 *l1, const struct sg_joint_op *joint)
{
	memset(l1, 0, sizeof(*l1));
	l1->state = SHARED;
	l1->engines = 1u << joint->engine;
	for (uint32_t k = 0; k < joint->n; k++) {
		l1->at[joint->members[k].engine] = joint->members[k].by;
		l1->engines |= 1u << joint->members[k].engine;
	}
}

void sg_joint_l1_load(struct sg_model *m, uint32_t number, struct sg_vmem_op *op)
{
	struct sg_joint_l1 *l1 = &m->joint_l1[number];
	struct sg_joint_op *joint = op->joint;

	joint->shares_l1 = false;
	if (l1->state == OWN)
		return;
	if (op->glc || !joint->is_alike || op->memory.kind.mtype == SG_MTYPE_UC ||
	    (l1->state == SHARED && !are_the_same(l1, joint))) {
		sg_joint_l1_part(m, number);
		return;
	}
	if (l1->state == NO_LOADS)
		start(l1, joint);
	joint->shares_l1 = true;
	joint->l1_at = l1->at[joint->engine];
}
