/*
 * host: the functions and source lines of an executable or shared library of the host.
 *
 *	st = code_host_open(module->path, module->build_id, module->n_build_id, &host, err);
 *	n = code_host_at(host, address - module->bias, frames, WS_ARRAY_LEN(frames));
 *	for (size_t i = 0; i < n; i++)          innermost first: inlined functions, then the function
 *		printf("%s  %s:%u\n", frames[i].name, frames[i].file, frames[i].line);
 *
 * Functions are from the symbol tables of the file (.symtab, .dynsym, .gnu_debugdata) or of its
 * separate debug file; stubs of the procedure linkage table are "name@plt". Lines and inlined
 * functions are from DWARF. Debug files are searched beside the file and in /usr/lib/debug, by
 * build id and by .gnu_debuglink. A debuginfod server is never asked: converting a recording
 * makes no network connections.
 *
 * Offsets are addresses as the ELF file has them. The file is checked against the build id, if
 * one was recorded, so a program that was rebuilt since has no names rather than wrong ones.
 *
 * Threads  one at a time per object.
 * Memory   all that is returned lives as long as the object. Symbols are read when the first
 *          address is looked up, the DWARF data of a compilation unit when an address in it is.
 */
#ifndef WS_CODE_HOST_H
#define WS_CODE_HOST_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_host;

/*
 * WS_E_NOTFOUND: there is no such file ("[vdso]" is none). WS_E_STATE: it has another build id.
 * WS_E_FORMAT: it is not an ELF file.
 */
enum ws_status code_host_open(const char *path, const uint8_t *build_id, size_t n_build_id,
			      struct code_host **out_host, struct ws_err *err);
void code_host_close(struct code_host *host); /* NULL is fine */

#define CODE_HOST_FRAMES_MAX 64u /* further inlined functions are left out */

struct code_host_frame {
	const char *name; /* demangled; NULL: no symbol */
	uint64_t start;   /* without a name: the function's offset, 0 unknown */
	const char *file; /* NULL: unknown */
	uint32_t line;    /* 0: unknown */
	bool inlined;     /* into the next one */
};

/*
 * The function at @offset, and before it the functions that were inlined there. Returns how
 * many were written, at least one; the last one is not inlined and its name may be NULL.
 */
size_t code_host_at(struct code_host *host, uint64_t offset, struct code_host_frame *out_frames,
		    size_t max);

/* Whether @offset is where a signal handler returns to: its caller was interrupted, not called. */
bool code_host_is_signal_return(struct code_host *host, uint64_t offset);

#endif
