/* An aligned access of up to 16 bytes is not divided: what another thread sees is all old or all new. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "tests/isa/memory/world.h"

#define LOAD_DWORDX4 0x17u
#define STORE_DWORDX4 0x1fu
#define VADDR 2u
#define N_INSNS                                                                                    \
	56u /* per run of the interpreter: as many as there are registers for their results */
#define N_RUNS 400u

typedef uint64_t whole __attribute__((vector_size(16)));

/* Lane by lane, and all 64 as one row of memory. */
static const uint64_t masks[] = { 1, ~0ull };
static const char *const mask_names[] = { "one lane", "a row" };

struct other_side {
	volatile whole *at; /* 64 of them */
	atomic_bool done;
	bool writes;
	unsigned n_torn;
};

static void *other_side(void *arg)
{
	struct other_side *o = arg;

	for (uint64_t turn = 0; !atomic_load_explicit(&o->done, memory_order_relaxed); turn++) {
		whole v = { turn, turn };

		if (o->writes) {
			o->at[turn % 64] = v;
			o->at[0] = v;
		} else {
			v = o->at[0];
			o->n_torn += v[0] != v[1];
		}
	}
	return NULL;
}

static uint32_t first_register(unsigned insn)
{
	return 8 + 4 * insn;
}

/* Each store writes other values; each load has registers of its own. */
static void prepare(struct world *w, uint64_t mask, uint32_t op, uint32_t *words)
{
	world_reset(w, 0);
	w->step.sgpr[126] = (uint32_t)mask;
	w->step.sgpr[127] = (uint32_t)(mask >> 32);
	for (unsigned l = 0; l < 64; l++) {
		uint64_t addr = MEM_AT + 16 * l;

		w->step.vgpr[VADDR][l] = (uint32_t)addr;
		w->step.vgpr[VADDR + 1][l] = (uint32_t)(addr >> 32);
	}
	for (unsigned n = 0; n < N_INSNS; n++) {
		uint32_t reg = first_register(n);

		for (unsigned r = 0; r < 4; r++)
			for (unsigned l = 0; l < 64; l++)
				w->step.vgpr[reg + r][l] = r % 2 ? 0 : n;
		words[2 * n] = 0x37u << 26 | op << 18 | 2u << 14;
		words[2 * n + 1] =
			VADDR | 0x7fu << 16 | (op == STORE_DWORDX4 ? reg << 8 : reg << 24);
	}
}

static unsigned torn_loads(const struct sg_step *step, uint64_t mask)
{
	unsigned n_torn = 0;

	for (unsigned n = 0; n < N_INSNS; n++) {
		const uint32_t(*reg)[64] = &step->vgpr[first_register(n)];

		for (unsigned l = 0; l < 64; l++)
			if (mask >> l & 1)
				n_torn += reg[0][l] != reg[2][l] || reg[1][l] != reg[3][l];
	}
	return n_torn;
}

void test_tearing(struct world *w)
{
	static const uint32_t ops[] = { LOAD_DWORDX4, STORE_DWORDX4 };
	uint32_t words[2 * N_INSNS];

	for (unsigned c = 0; c < 4; c++) {
		uint32_t op = ops[c / 2];
		uint64_t mask = masks[c % 2];
		struct other_side other = { .writes = op == LOAD_DWORDX4 };
		unsigned n_torn = 0;
		pthread_t thread;

		prepare(w, mask, op, words);
		memset(w->mem, 0, 16 * 64);
		other.at = (volatile whole *)w->mem;
		if (pthread_create(&thread, NULL, other_side, &other) != 0) {
			world_fail(w, "tearing", "no thread");
			return;
		}
		for (unsigned n = 0; n < N_RUNS; n++) {
			if (sg_step_run(w->target, words, 2 * N_INSNS, &w->step) != SG_FAULT_NONE)
				world_fail(w, "tearing", "fault");
			if (op == LOAD_DWORDX4)
				n_torn += torn_loads(&w->step, mask);
		}
		atomic_store(&other.done, true);
		pthread_join(thread, NULL);
		n_torn += other.n_torn;
		if (n_torn) {
			char why[80];

			snprintf(why, sizeof(why), "%u halves of different stores, %s", n_torn,
				 mask_names[c % 2]);
			world_fail(w, op == LOAD_DWORDX4 ? "16-byte load" : "16-byte store", why);
		}
	}
}
