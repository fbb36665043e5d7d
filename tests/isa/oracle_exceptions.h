/*
 * oracle_exceptions: where LLVM's disassembler is no reference: words that it cannot print, or takes for
 * instructions that no hardware has. docs/isa-notes.md has the evidence for each.
 */
#ifndef WS_TESTS_ISA_ORACLE_EXCEPTIONS_H
#define WS_TESTS_ISA_ORACLE_EXCEPTIONS_H

#include "softgpu/isa/isa_priv.h"

bool oracle_kills_llvm(enum sg_isa_target target, uint64_t words);
/* LLVM's text, of words that the decoder refuses. */
bool oracle_is_oddity(enum sg_isa_target target, const char *theirs, uint64_t words);
/* LLVM refuses the instruction, the decoder does not. */
bool oracle_is_short_tuple(const struct sg_decoded_insn *insn);

#endif
