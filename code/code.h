/*
 * code: the machine code of a GPU code object: the instruction at an offset, the
 * function it is in and the source line it was made from.
 *
 *	st = code_load(uri, kept, kept_bytes, &code, err);
 *	if (code_at(code, offset, &insn))
 *		printf("%s  %s:%u\n", insn.text, insn.file, insn.line);
 *
 * Offsets count from the load base, which is what the ELF file calls an address.
 * The bytes may come from anywhere (a file that was rebuilt since, a damaged
 * capture): whatever cannot be read has no instruction and no line.
 *
 * Threads  one at a time per object.
 * Memory   texts of an instruction are valid until the next call on the same object;
 *          file and function names as long as it.
 */
#ifndef WS_CODE_CODE_H
#define WS_CODE_CODE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_code;

/*
 * The code object that @uri names (`file:///path#offset=..&size=..`), or @kept bytes
 * of it when the capture has them; these are copied. NULL @kept: the file.
 */
enum ws_status code_load(const char *uri, const void *kept, size_t kept_bytes,
			 struct code_code **out_code, struct ws_err *err);
void code_unload(struct code_code *code); /* NULL is fine */

const char *code_target(const struct code_code *code); /* "gfx90a"; "" when it is unknown */

struct code_place {
	const char *file;
	uint32_t line;
};
#define CODE_CALLERS_MAX 32u /* further ones are left out */

struct code_insn {
	const char *text; /* as LLVM prints it */
	uint32_t n_bytes;
	const char *file; /* NULL: built without line numbers */
	uint32_t line;    /* 0: none */
	/* Where the function it was written in was called, when that call was inlined;
	   innermost first. */
	struct code_place callers[CODE_CALLERS_MAX];
	size_t n_callers;
};

/* False: no code there, or none of an instruction set that is known here. */
bool code_at(struct code_code *code, uint64_t offset, struct code_insn *out_insn);

struct code_function {
	const char *name; /* mangled */
	uint64_t offset, n_bytes;
};

/* The function that @offset is in; false: none. */
bool code_function(const struct code_code *code, uint64_t offset, struct code_function *out);

/* ---- what the pieces share ---- */

struct code_lines;

/* The source lines of an ELF file in memory; NULL: it has none, or no memory. */
struct code_lines *code_lines_create(void *elf_bytes, size_t n_bytes);
void code_lines_destroy(struct code_lines *lines);
bool code_line(const struct code_lines *lines, uint64_t offset, const char **out_file,
	       uint32_t *out_line);
size_t code_callers(const struct code_lines *lines, uint64_t offset, struct code_place *out_callers,
		    size_t max);

/* The bytes that a file URI names, malloc'ed. */
enum ws_status code_read_uri(const char *uri, void **out_bytes, size_t *out_n_bytes,
			     struct ws_err *err);

#endif
