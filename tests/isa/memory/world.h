/*
 * world: one wave, its registers and all memory it can reach, twice: as the interpreter left it,
 * and as the reference says it should be. The reference moves single bytes between plain arrays.
 *
 * A test prepares w->step (registers, memory, LDS), calls world_fork(), changes w->expect and the
 * expected memory by its own means, and calls world_check() with the instruction's words.
 */
#ifndef WS_TESTS_ISA_MEMORY_WORLD_H
#define WS_TESTS_ISA_MEMORY_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu/exec/step.h"
#include "softgpu/isa/isa.h"

#define MEM_BYTES 0x11000u       /* guest memory */
#define MEM_AT 0x7e0000100000ull /* its GPU address; the host has it elsewhere */
#define DATA_BYTES 0x8000u       /* what tests address; private memory follows */
#define SCRATCH_LANE_BYTES 512u
#define SCRATCH_AT (MEM_AT + DATA_BYTES)
#define LDS_BYTES 4096u
#define SHARED_HI 0x00010000u
#define PRIVATE_HI 0x00020000u

struct world {
	struct sg_step step, before, expect;
	uint8_t *mem, *mem_expect;
	uint8_t lds[65536], lds_expect[65536];
	struct sg_mem_map map;
	enum sg_isa_target target;
	const struct sg_isa_row *row;
	uint64_t random;
	int n_failures;
};

struct world *world_create(void);
void world_destroy(struct world *w);

/* Random registers and memory; EXEC by turns full, random, one lane. */
void world_reset(struct world *w, unsigned variant);
void world_fork(struct world *w);
/* Runs the words; prints and counts the first difference. expect_fault: SG_FAULT_NONE usually. */
bool world_check(struct world *w, const uint32_t *words, size_t n_words, const char *what);

uint64_t world_random(struct world *w);
uint32_t world_below(struct world *w, uint32_t n);
bool world_active(const struct world *w, unsigned lane);
void world_fail(struct world *w, const char *what, const char *why);

/* ---- the reference: an access is up to 16 bytes, each somewhere in expected memory or nowhere
 * ---- */

struct access {
	uint8_t *byte[16];
};

uint8_t *ref_global(struct world *w, uint64_t addr);
uint8_t *ref_private(struct world *w, unsigned lane, uint32_t offset);
uint8_t *ref_lds(struct world *w, uint32_t addr, uint32_t offset); /* NULL outside */
uint64_t ref_get(const struct access *a, unsigned from, unsigned n_bytes);
void ref_put(const struct access *a, unsigned from, unsigned n_bytes, uint64_t v);

/* Loads and stores by the mnemonic's tail (ubyte, sshort_d16_hi, dwordx3, ...). NULL: not one. */
struct data_type {
	const char *name;
	unsigned n_bytes;
	char extend; /* 'u' zero, 's' sign */
	char half; /* 'l', 'h': into (the other becomes 0) or out of one half of the register; 0: neither */
};
const struct data_type *ref_type(const char *name);
/* reg points to the expected registers of the first data operand: reg[n][lane]. */
void ref_load(const struct data_type *t, const struct access *a, uint32_t (*reg)[64],
	      unsigned lane);
void ref_store(const struct data_type *t, const struct access *a, uint32_t (*reg)[64],
	       unsigned lane);

/* Memory's new value. op as in flat's mnemonics, and those of the data share. */
uint64_t ref_atomic(const char *op, unsigned bits, uint64_t m, uint64_t v, uint64_t c,
		    bool *out_known);

/* One lane of an atomic: data and second data in registers, the old value to dst (NULL: nowhere).
 */
void ref_atomic_lane(const char *op, unsigned bits, const struct access *a, uint32_t (*data)[64],
		     uint32_t (*data2)[64], uint32_t (*dst)[64], unsigned lane);
/* Makes memory, LDS and the data registers fit: numbers for floats, equal values for comparisons.
 */
void world_make_atomic_data(struct world *w, const char *op, unsigned bits, uint32_t (*data)[64]);

/* ---- one function per encoding; false: no vector for this row ---- */
bool test_ds_row(struct world *w);
bool test_flat_row(struct world *w);
bool test_buffer_row(struct world *w);
bool test_smem_row(struct world *w);
bool test_control_row(struct world *w);
/* Every row, in addition; false: nothing of it can be destination and source at once. */
bool test_alias_row(struct world *w);
void test_gws(struct world *w);
void test_faults(struct world *w);
void test_tearing(struct world *w);

#endif
