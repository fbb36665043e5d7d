/*
 * instrument: which functions rocprof-sys-instrument chooses, and what it tells about them.
 *
 *	sys_choice_init(), sys_choose() for each file, sys_lists_write(), sys_plan_write()
 *
 * A file is analysed once (code/functions.h). Each of its functions becomes a row: it is
 * instrumented, or excluded for a reason. The rows are written as lists for the user, the
 * instrumented ones as a plan for the collector (collector/instrument/plan.h).
 */
#ifndef WS_CMD_SYS_INSTRUMENT_H
#define WS_CMD_SYS_INSTRUMENT_H

#include "base/arena.h"
#include "base/opt.h"
#include "base/str.h"
#include "code/functions.h"
#include "collector/instrument/plan.h"

#include <limits.h>

/* ---- the command line ---- */

struct sys_instrument_args {
	/* debug */
	const char *verbose, *log, *log_file, *print_dir;
	enum ws_tri error, debug, simulate;
	struct ws_strv print_format, print_available, print_instrumented, print_excluded,
		print_overlapping, print_coverage;
	enum ws_tri print_instructions;
	/* mode */
	struct ws_strv output, pid;
	const char *mode, *command;
	enum ws_tri force;
	/* library */
	const char *prefer, *main_function;
	struct ws_strv library, load, load_instr, init_functions, fini_functions;
	enum ws_tri all_functions;
	/* selection */
	struct ws_strv include, exclude, restrict_to, caller_include;
	struct ws_strv module_include, module_exclude, module_restrict;
	struct ws_strv internal_function_include, internal_module_include, instruction_exclude;
	struct ws_strv internal_library_deps, internal_library_append, internal_library_remove;
	struct ws_strv linkage, visibility;
	/* runtime */
	struct ws_strv label, config, env;
	enum ws_tri mpi;
	/* granularity */
	enum ws_tri instrument_loops;
	const char *min_instructions, *min_address_range;
	const char *min_instructions_loop, *min_address_range_loop;
	const char *coverage;
	enum ws_tri dynamic_callsites, traps, loop_traps, allow_overlapping, parse_all_modules;
	/* Dyninst */
	const char *batch_size, *dyninst_rt;
	struct ws_strv dyninst_options;
	bool question;
};

struct ws_cmd_call;
enum ws_status sys_instrument_run(const struct ws_cmd_call *call, int *exit_code,
				  struct ws_err *err);
/* One line for each option that was given and does nothing here. */
void sys_instrument_warn(const struct sys_instrument_args *args);

/* ---- the plan ---- */

struct sys_plan {
	WS_VEC(struct col_plan_module) modules;
	WS_VEC(struct col_plan_function) functions;
	WS_VEC(struct col_plan_fixup) fixups;
	struct ws_buf bytes;
};

void sys_plan_init(struct sys_plan *plan);
void sys_plan_fini(struct sys_plan *plan);
enum ws_status sys_plan_add_module(struct sys_plan *plan, const char *path,
				   const struct code_functions *functions, struct ws_err *err);
/* Of the last module. @moved: NULL if the function was compiled for instrumentation. */
enum ws_status sys_plan_add(struct sys_plan *plan, const struct code_host_function *function,
			    const struct code_moved *moved, const char *name, const char *file,
			    uint32_t line, struct ws_err *err);
enum ws_status sys_plan_write(const struct sys_plan *plan, const char *path, struct ws_err *err);

/* ---- the choice ---- */

struct sys_choice_row {
	const char *module; /* the name of its file, without folders */
	const struct code_host_function *function;
	uint32_t n_instructions;
	bool instrumented;
	const char *reason; /* why not */
};

struct sys_choice_file {
	const char *path;
	const char *skipped; /* why none of its functions is wanted; NULL */
	struct code_functions *functions;
};

struct sys_patterns;

struct sys_choice {
	const struct sys_instrument_args *args;
	struct ws_arena arena;
	struct sys_patterns *patterns;
	uint64_t min_instructions, min_bytes; /* 0: no minimum */
	uint32_t linkages, visibilities;      /* bits per STB_* and STV_*; 0: all */
	WS_VEC(struct sys_choice_row) rows;
	WS_VEC(struct sys_choice_file) files;
	struct sys_plan plan;
};

enum ws_status sys_choice_init(struct sys_choice *choice, const struct sys_instrument_args *args,
			       struct ws_err *err);
void sys_choice_fini(struct sys_choice *choice);

/* Why nobody wants the functions of a file: the C library, the loader, ours, the options; NULL. */
const char *sys_choice_skips(const struct sys_choice *choice, const char *path);
/* @as: the path by which the program will have it loaded. */
enum ws_status sys_choose(struct sys_choice *choice, const char *path, const char *as,
			  struct ws_err *err);

/* ---- lists ---- */

/* Writes "<dir>/available.txt" and so on, and prints what was requested. */
enum ws_status sys_lists_write(const struct sys_choice *choice, const char *dir,
			       struct ws_err *err);

#endif
