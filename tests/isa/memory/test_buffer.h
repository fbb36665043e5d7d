/*
 * test_buffer: what the tests of untyped and of formatted buffer accesses share.
 */
#ifndef WS_TESTS_ISA_MEMORY_TEST_BUFFER_H
#define WS_TESTS_ISA_MEMORY_TEST_BUFFER_H

#include "tests/isa/memory/world.h"

#define SRSRC 8
#define SOFFSET 20
#define VADDR 2
#define VDATA 8
#define N_VARIANTS 40

struct buffer {
	bool idxen, offen, glc, lds, acc, tfe;
	unsigned imm, dfmt, nfmt;
	bool soffset_inline;
	uint32_t soffset;
	/* the descriptor */
	uint32_t base, stride, n_records, index_stride; /* base: offset into memory */
	bool swizzled, add_lane;
	uint32_t select; /* dst_sel_x .. w */
};

enum { RAW, STRUCTURED, SWIZZLED, STACK, N_KINDS };

void buffer_encode(const struct world *w, const struct buffer *f, uint32_t words[2]);
/* A descriptor of kind v % N_KINDS, with everything else by chance. */
struct buffer buffer_make(struct world *w, unsigned v);
void buffer_write_operands(struct world *w, const struct buffer *f, unsigned v, unsigned align,
			   bool spread);
/* whole: all bytes or none */
struct access buffer_locate(struct world *w, const struct buffer *f, unsigned lane, unsigned size,
			    bool whole);
bool buffer_run(struct world *w, const struct buffer *f, unsigned v);
void buffer_to_lds(struct world *w, const struct buffer *f, unsigned lane, uint32_t v);

/* tail: the mnemonic's, behind "format_" */
bool test_format_row(struct world *w, const char *tail, bool store);

#endif
