/*
 * code: the machine code of a GPU code object: the instruction at an offset, the
 * function it is in and the source line it was made from.
 *
 *	st = ws_code_load(uri, kept, kept_bytes, &code, err);
 *	if (ws_code_at(code, offset, &insn))
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

struct ws_code;

/*
 * The code object that @uri names (`file:///path#offset=..&size=..`), or @kept bytes
 * of it when the capture has them; these are copied. NULL @kept: the file.
 */
enum ws_status ws_code_load(const char *uri, const void *kept, size_t kept_bytes,
			    struct ws_code **out_code, struct ws_err *err);
void ws_code_unload(struct ws_code *code); /* NULL is fine */

const char *ws_code_target(const struct ws_code *code); /* "gfx90a"; "" when it is unknown */

struct ws_code_place {
	const char *file;
	uint32_t line;
};
#define WS_CODE_CALLERS_MAX 32u /* further ones are left out */

struct ws_code_insn {
	const char *text; /* as LLVM prints it */
	uint32_t n_bytes;
	const char *file; /* NULL: built without line numbers */
	uint32_t line;    /* 0: none */
	/* Where the function it was written in was called, when that call was inlined;
	   innermost first. */
	struct ws_code_place callers[WS_CODE_CALLERS_MAX];
	size_t n_callers;
};

/* False: no code there, or none of an instruction set that is known here. */
bool ws_code_at(struct ws_code *code, uint64_t offset, struct ws_code_insn *out_insn);

struct ws_code_function {
	const char *name; /* mangled */
	uint64_t offset, n_bytes;
};

/* The function that @offset is in; false: none. */
bool ws_code_function(const struct ws_code *code, uint64_t offset, struct ws_code_function *out);

/* ---- what the pieces share ---- */

struct ws_code_lines;

/* The source lines of an ELF file in memory; NULL: it has none, or no memory. */
struct ws_code_lines *ws_code_lines_create(void *elf_bytes, size_t n_bytes);
void ws_code_lines_destroy(struct ws_code_lines *lines);
bool ws_code_line(const struct ws_code_lines *lines, uint64_t offset, const char **out_file,
		  uint32_t *out_line);
size_t ws_code_callers(const struct ws_code_lines *lines, uint64_t offset,
		       struct ws_code_place *out_callers, size_t max);

/* The bytes that a file URI names, malloc'ed. */
enum ws_status ws_code_read_uri(const char *uri, void **out_bytes, size_t *out_n_bytes,
				struct ws_err *err);

#endif
