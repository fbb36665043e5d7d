/* What the files of functions.h share. */
#ifndef WS_CODE_FUNCTIONS_PRIV_H
#define WS_CODE_FUNCTIONS_PRIV_H

#include "base/arena.h"
#include "base/vec.h"
#include "code/functions.h"

#include <capstone/capstone.h>
#include <gelf.h>

#define CODE_SECTIONS_MAX 256u

struct code_section {
	uint64_t start, size;
	const uint8_t *bytes;
	bool has_code, has_functions;
};

struct code_image {
	struct code_functions pub;
	struct ws_arena arena;
	int fd;
	Elf *elf;
	csh disassembler;
	cs_insn *instruction;
	struct code_section sections[CODE_SECTIONS_MAX];
	size_t n_sections;
	uint64_t entry;   /* of a program: the kernel jumps there, and there is no return address */
	uint8_t *targets; /* a bit per byte from pub.start: something leads there */
	uint64_t hooks[8]; /* entries of the global offset table */
	size_t n_hooks;
	WS_VEC(struct code_host_function) list;
};

/* @n bytes at @address; NULL: not in the file. */
const uint8_t *code_image_at(const struct code_image *image, uint64_t address, uint64_t n);
bool code_image_is_target(const struct code_image *image, uint64_t address);

/* functions_frames.c: functions that only the unwind information has, and what it says of others. */
enum ws_status code_image_frames(struct code_image *image, struct ws_err *err);

/* functions_targets.c: what leads where, in all code and relocated data; calls of hooks. */
enum ws_status code_image_targets(struct code_image *image, struct ws_err *err);

/* The kind of branch that an instruction is, from its bytes. */
enum code_branch {
	CODE_BRANCH_NONE,
	CODE_BRANCH_JUMP,
	CODE_BRANCH_CONDITIONAL,
	CODE_BRANCH_CALL,
	CODE_BRANCH_SHORT_ONLY, /* loop, jrcxz, xbegin: cannot be moved */
	CODE_BRANCH_JUMP_INDIRECT,
	CODE_BRANCH_CALL_INDIRECT
};
/* @out_target: of the direct kinds. @out_op: where the opcode is. */
enum code_branch code_branch_of(const uint8_t *bytes, size_t n, uint64_t address,
				uint64_t *out_target, size_t *out_op);

#endif
