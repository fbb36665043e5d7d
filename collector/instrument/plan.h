/*
 * plan: which functions of which files are instrumented, and how.
 *
 * rocprof-sys-instrument analyses executables and libraries and writes a plan. The collector
 * reads it inside the program and changes the loaded code. It needs no disassembler for
 * that: for each function the plan has the bytes that a jump replaces, the same
 * instructions for another place, and the numbers in them that depend on addresses.
 *
 * The file is, in this order and without gaps: struct col_plan_head, the modules, the functions
 * (those of a module follow each other, sorted by offset), the fix-ups, and n_bytes bytes of texts
 * and code. A zero follows each text. Numbers have the byte order of the machine.
 *
 * Threads  pure functions.
 * Memory   the plan is used where it is, also read-only.
 * Failure  check: false, and nothing of the plan may be used. Of a plan that passed, every
 *          index and length is inside the file.
 */
#ifndef WS_COLLECTOR_INSTRUMENT_PLAN_H
#define WS_COLLECTOR_INSTRUMENT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The path of a plan; without it, the executable's own with this suffix. */
#define COL_PLAN_VARIABLE "WAVESCOPE_INSTRUMENT"
#define COL_PLAN_SUFFIX ".instrument"

#define COL_PLAN_MAGIC "WSPLAN1"
#define COL_PLAN_BUILD_ID_MAX 32u
#define COL_PLAN_PATCH_BYTES 5u /* of the jump */
#define COL_PLAN_PATCH_MAX 24u  /* bytes that are replaced: whole instructions */
#define COL_PLAN_CODE_MAX 128u  /* bytes of the instructions elsewhere */
#define COL_PLAN_FUNCTIONS_MAX 200000u

struct col_plan_head {
	char magic[8];
	uint32_t n_modules, n_functions, n_fixups, n_bytes;
};

struct col_plan_module {
	uint32_t path_at, n_path; /* absolute, without links */
	uint32_t first_function, n_functions;
	uint64_t start, end; /* of its segments, as the ELF file has addresses */
	uint32_t n_build_id, zero;
	uint8_t build_id[COL_PLAN_BUILD_ID_MAX];
};

/* How the entry of a function is noticed. */
enum col_plan_how {
	COL_PLAN_PATCH,    /* a jump replaces its first instructions */
	COL_PLAN_COMPILED, /* it calls mcount, __fentry__ or __cyg_profile_func_enter */
	COL_PLAN_HOW_COUNT
};

struct col_plan_function {
	uint64_t offset; /* as the ELF file has addresses */
	uint32_t size;
	uint32_t name_at, n_name; /* as reports show it */
	uint32_t file_at, n_file; /* of its source; empty: unknown */
	uint32_t line;
	uint32_t how;      /* enum col_plan_how */
	uint32_t patch_at; /* from offset: behind endbr64 */
	uint32_t code_at;  /* n_patch bytes that are replaced, then n_code for elsewhere */
	uint32_t n_patch, n_code;
	uint32_t first_fixup, n_fixups;
	uint32_t zero;
};

/* A number of 4 bytes in the code for elsewhere. */
enum col_plan_fixup_kind {
	COL_PLAN_RELATIVE, /* target minus the address behind the instruction */
	COL_PLAN_LOW,      /* bits 0 to 31 of the address of the target */
	COL_PLAN_HIGH,     /* bits 32 to 63 */
	COL_PLAN_FIXUP_COUNT
};

struct col_plan_fixup {
	uint64_t target; /* as the ELF file has addresses */
	uint16_t at;     /* in the code */
	uint16_t end;    /* of the instruction */
	uint32_t kind;   /* enum col_plan_fixup_kind */
};

/* The parts of a plan that passed the check. */
struct col_plan {
	const struct col_plan_module *modules;
	const struct col_plan_function *functions;
	const struct col_plan_fixup *fixups;
	const char *bytes;
	uint32_t n_modules, n_functions, n_fixups, n_bytes;
};

/* @file: aligned to 8 bytes. */
bool col_plan_check(const void *file, size_t n_file, struct col_plan *out_plan);

#endif
