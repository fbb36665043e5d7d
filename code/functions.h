/*
 * functions: the functions of an executable or shared library, and whether a jump can be put at
 * the beginning of each.
 *
 *	st = code_functions_open(path, &functions, err);
 *	for (size_t i = 0; i < functions->n; i++) {
 *		code_host_function_scan(functions, &functions->at[i], &scan);
 *		if (code_host_function_move(functions, &functions->at[i], &scan, &moved))
 *			...
 *	}
 *
 * Functions are from the symbol tables, and from the unwind information (.eh_frame) where no symbol
 * is. Only x86-64 is supported.
 *
 * A jump of 5 bytes replaces whole instructions. They are moved elsewhere, with their operands
 * adjusted. That is refused, with a reason, if anything may jump between them: the branches of the
 * function itself, all branches of the file with 32-bit distances, tables of switch statements,
 * and addresses in data that is relocated.
 *
 * Threads  one at a time per object.
 * Memory   everything lives as long as the object.
 */
#ifndef WS_CODE_FUNCTIONS_H
#define WS_CODE_FUNCTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_BUILD_ID_MAX 32u

struct code_host_function {
	uint64_t offset, size; /* as the ELF file has addresses */
	const char *name;      /* as the file has it; "targ401000": it has no symbol */
	const char *shown;     /* demangled */
	uint8_t binding;       /* STB_*; of a function without a symbol: STB_LOCAL */
	uint8_t visibility;    /* STV_* */
	bool has_symbol;
	bool overlaps;   /* its symbol contains the beginning of another function */
	bool is_entered; /* by a call, as far as the unwind information tells */
};

struct code_functions {
	const struct code_host_function *at; /* sorted by offset; they do not overlap */
	size_t n;
	uint64_t start, end; /* of what is loaded */
	uint8_t build_id[CODE_BUILD_ID_MAX];
	uint32_t n_build_id;
	bool has_loader; /* a program that is linked dynamically */
	struct code_image *image;
};

/* WS_E_NOTFOUND: no such file. WS_E_FORMAT: not an ELF file of x86-64, or damaged. */
enum ws_status code_functions_open(const char *path, struct code_functions **out_functions,
				   struct ws_err *err);
void code_functions_close(struct code_functions *functions); /* NULL is fine */

/* What the instructions of a function say. */
struct code_scan {
	uint32_t n_instructions;
	bool calls_hook;    /* mcount, __fentry__ or __cyg_profile_func_enter */
	bool undecodable;   /* something in it is no instruction that is known */
	uint64_t inside[4]; /* bit n: a branch or table of the function leads to its byte n < 256 */
};
void code_host_function_scan(struct code_functions *functions,
			     const struct code_host_function *function, struct code_scan *out_scan);

enum code_fixup_kind { CODE_FIXUP_RELATIVE, CODE_FIXUP_LOW, CODE_FIXUP_HIGH };

/* A number of 4 bytes that depends on where code is. */
struct code_fixup {
	uint64_t target;
	uint16_t at, end; /* in the moved code; the end of its instruction */
	enum code_fixup_kind kind;
};

#define CODE_MOVED_MAX 128u
#define CODE_FIXUPS_MAX 24u
struct code_moved {
	uint32_t patch_at, n_patch; /* bytes from the beginning of the function; how many */
	uint32_t n_code, n_fixups;
	uint8_t original[24];
	uint8_t code[CODE_MOVED_MAX];
	struct code_fixup fixups[CODE_FIXUPS_MAX];
	const char *why_not; /* a constant text: after a failure */
};
bool code_host_function_move(struct code_functions *functions,
			     const struct code_host_function *function,
			     const struct code_scan *scan, struct code_moved *out_moved);

#endif
