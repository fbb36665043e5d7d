/* instrument_options: the options of rocprof-sys-instrument. */
#include "cmd/sys/instrument.h"

#include "base/log.h"
#include "cmd/cmd.h"

/* clang-format off */
#define A struct sys_instrument_args
#define CHOSEN(kind, field, ch, name, arg, type, choices, text) { WS_OPT_KIND_##kind, ch, name, arg, text, WS_OPT_FIELD_(A, field, type), choices }

static const char *const print_words[] = { "functions", "modules", "functions+", "pair", "pair+", NULL };
static const char *const format_words[] = { "txt", "json", "xml", NULL };
static const char *const mode_words[] = { "trace", "sampling", "coverage", NULL };
static const char *const prefer_words[] = { "shared", "static", NULL };
static const char *const linkage_words[] = { "unknown", "global", "local", "unique", NULL };
static const char *const visibility_words[] = { "unknown", "default", "hidden", "protected", "internal", NULL };
static const char *const label_words[] = { "args", "file", "line", "return", NULL };
static const char *const coverage_words[] = { "none", "function", "basic_block", NULL };

static const struct ws_opt rows[] = {
	WS_OPT_GROUP("[DEBUG OPTIONS]"),
	WS_OPT_STR(A, verbose, 'v', "verbose", "N", "1: print the files that are written; 2: also what is analysed"),
	WS_OPT_SWITCH(A, error, 'e', "error", "end with an error if a library cannot be analysed"),
	WS_OPT_SWITCH(A, debug, 0, "debug", "the same as -v 2"),
	WS_OPT_STR(A, log, 0, "log", "N", "accepted: the log has all functions"),
	WS_OPT_STR(A, log_file, 0, "log-file", "FILE", "write to FILE why each function is or is not instrumented"),
	WS_OPT_SWITCH(A, simulate, 0, "simulate", "write the lists, and do not run the program"),
	CHOSEN(WORDS, print_format, 0, "print-format", "NAME...", struct ws_strv, format_words, "formats of the lists: txt, json, xml. Default: txt json"),
	WS_OPT_STR(A, print_dir, 0, "print-dir", "DIR", "folder for the lists. Default: rocprofsys-PROGRAM-output/instrumentation"),
	CHOSEN(WORDS, print_available, 0, "print-available", "[functions|modules|functions+|pair|pair+]", struct ws_strv, print_words, "print all functions"),
	CHOSEN(WORDS, print_instrumented, 0, "print-instrumented", "[WHAT]", struct ws_strv, print_words, "print those that are instrumented"),
	CHOSEN(WORDS, print_coverage, 0, "print-coverage", "[WHAT]", struct ws_strv, print_words, "no effect: there is no code coverage"),
	CHOSEN(WORDS, print_excluded, 0, "print-excluded", "[WHAT]", struct ws_strv, print_words, "print those that are not"),
	CHOSEN(WORDS, print_overlapping, 0, "print-overlapping", "[WHAT]", struct ws_strv, print_words, "print those that contain the beginning of another function"),
	WS_OPT_SWITCH(A, print_instructions, 0, "print-instructions", "no effect"),
	WS_OPT_GROUP("[MODE OPTIONS]"),
	WS_OPT_WORDS(A, output, 'o', "output", "[FILE]", "do not run the program: write a copy of it to FILE (default: PROGRAM.inst) that is instrumented when rocprof-sys-run starts it"),
	WS_OPT_WORDS(A, pid, 'p', "pid", "PID", "not supported: start the program with rocprof-sys-instrument"),
	WS_OPT_ONE_OF(A, mode, 'M', "mode", "NAME", mode_words, "trace (the default) or sampling"),
	WS_OPT_SWITCH(A, force, 'f', "force", "replace an existing FILE of --output"),
	WS_OPT_STR(A, command, 'c', "command", "TEXT", "accepted: the command is what follows --"),
	WS_OPT_GROUP("[LIBRARY OPTIONS]"),
	WS_OPT_ONE_OF(A, prefer, 0, "prefer", "NAME", prefer_words, "no effect: shared and static libraries are instrumented alike"),
	WS_OPT_WORDS(A, library, 'L', "library", "NAME...", "no effect: the collector is always the same"),
	WS_OPT_STR(A, main_function, 'm', "main-function", "NAME", "no effect: recording begins before main()"),
	WS_OPT_WORDS(A, load, 0, "load", "FILE...", "libraries that the program opens while it runs: instrument them, too"),
	WS_OPT_WORDS(A, load_instr, 0, "load-instr", "FILE...", "no effect"),
	WS_OPT_WORDS(A, init_functions, 0, "init-functions", "NAME...", "no effect"),
	WS_OPT_WORDS(A, fini_functions, 0, "fini-functions", "NAME...", "no effect"),
	WS_OPT_SWITCH(A, all_functions, 0, "all-functions", "instrument functions of any size"),
	WS_OPT_GROUP("[SYMBOL SELECTION OPTIONS]"),
	WS_OPT_WORDS(A, include, 'I', "function-include", "REGEX...", "instrument these functions, whatever their size"),
	WS_OPT_WORDS(A, exclude, 'E', "function-exclude", "REGEX...", "do not instrument these functions"),
	WS_OPT_WORDS(A, restrict_to, 'R', "function-restrict", "REGEX...", "instrument no others than these functions"),
	WS_OPT_WORDS(A, caller_include, 0, "caller-include", "REGEX...", "no effect"),
	WS_OPT_WORDS(A, module_include, 0, "module-include", "REGEX...", "-MI: instrument the functions of these files, whatever their size"),
	WS_OPT_WORDS(A, module_exclude, 0, "module-exclude", "REGEX...", "-ME: do not instrument these files"),
	WS_OPT_WORDS(A, module_restrict, 0, "module-restrict", "REGEX...", "-MR: instrument no others than these files"),
	WS_OPT_WORDS(A, module_include, 0, "MI", "REGEX...", NULL),
	WS_OPT_WORDS(A, module_exclude, 0, "ME", "REGEX...", NULL),
	WS_OPT_WORDS(A, module_restrict, 0, "MR", "REGEX...", NULL),
	WS_OPT_WORDS(A, internal_function_include, 0, "internal-function-include", "REGEX...", "do not exclude these functions of compilers and of the C library"),
	WS_OPT_WORDS(A, internal_module_include, 0, "internal-module-include", "REGEX...", "do not exclude these system libraries; the C library and the loader are not safe to instrument"),
	WS_OPT_WORDS(A, instruction_exclude, 0, "instruction-exclude", "REGEX...", "no effect"),
	WS_OPT_WORDS(A, internal_library_deps, 0, "internal-library-deps", "NAME...", "no effect"),
	WS_OPT_WORDS(A, internal_library_append, 0, "internal-library-append", "NAME...", "no effect: use -ME"),
	WS_OPT_WORDS(A, internal_library_remove, 0, "internal-library-remove", "NAME...", "no effect: use --internal-module-include"),
	CHOSEN(WORDS, linkage, 0, "linkage", "NAME...", struct ws_strv, linkage_words, "only functions whose symbols are global, local, unique or unknown"),
	CHOSEN(WORDS, visibility, 0, "visibility", "NAME...", struct ws_strv, visibility_words, "only functions whose symbols are default, hidden, protected, internal or unknown"),
	WS_OPT_GROUP("[RUNTIME OPTIONS]"),
	CHOSEN(WORDS, label, 0, "label", "NAME...", struct ws_strv, label_words, "show with names of functions: args, file, line, return (type)"),
	WS_OPT_WORDS(A, config, 'C', "config", "FILE...", "configuration files"),
	WS_OPT_WORDS(A, env, 0, "env", "VAR=VALUE...", "variables for the program, and settings"),
	WS_OPT_SWITCH(A, mpi, 0, "mpi", "accepted: ranks are found without it"),
	WS_OPT_GROUP("[GRANULARITY OPTIONS]"),
	WS_OPT_SWITCH(A, instrument_loops, 'l', "instrument-loops", "no effect: loops are not instrumented"),
	WS_OPT_STR(A, min_instructions, 'i', "min-instructions", "N", "leave out functions with fewer instructions. Default: 1024"),
	WS_OPT_STR(A, min_address_range, 'r', "min-address-range", "BYTES", "leave out functions with fewer bytes"),
	WS_OPT_STR(A, min_instructions_loop, 0, "min-instructions-loop", "N", "no effect: loops are not instrumented"),
	WS_OPT_STR(A, min_address_range_loop, 0, "min-address-range-loop", "BYTES", "no effect: loops are not instrumented"),
	WS_OPT_ONE_OF(A, coverage, 0, "coverage", "NAME", coverage_words, "none; code coverage is not supported"),
	WS_OPT_SWITCH(A, dynamic_callsites, 0, "dynamic-callsites", "no effect: functions are instrumented where they begin"),
	WS_OPT_SWITCH(A, traps, 0, "traps", "no effect: there are no traps"),
	WS_OPT_SWITCH(A, loop_traps, 0, "loop-traps", "no effect"),
	WS_OPT_SWITCH(A, allow_overlapping, 0, "allow-overlapping", "instrument functions that contain the beginning of another"),
	WS_OPT_SWITCH(A, parse_all_modules, 0, "parse-all-modules", "accepted: all modules are analysed"),
	WS_OPT_GROUP("[DYNINST OPTIONS]"),
	WS_OPT_STR(A, batch_size, 'b', "batch-size", "N", "no effect: Dyninst is not used"),
	WS_OPT_STR(A, dyninst_rt, 0, "dyninst-rt", "FILE", "no effect: Dyninst is not used"),
	WS_OPT_WORDS(A, dyninst_options, 0, "dyninst-options", "NAME...", "no effect: Dyninst is not used"),
	WS_OPT_BOOL(A, question, '?', NULL, NULL),
};
/* clang-format on */

static bool is_given(const struct ws_opt *row, const struct sys_instrument_args *args)
{
	const void *value = (const char *)args + row->offset;

	switch (row->kind) {
	case WS_OPT_KIND_STR:
		return *(const char *const *)value;
	case WS_OPT_KIND_SWITCH:
		return *(const enum ws_tri *)value == WS_TRI_YES;
	case WS_OPT_KIND_WORDS:
		return ((const struct ws_strv *)value)->n;
	default:
		return false;
	}
}

void sys_instrument_warn(const struct sys_instrument_args *args)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++)
		if (rows[i].text && ws_str_starts(ws_str_from(rows[i].text), "no effect") &&
		    is_given(&rows[i], args))
			ws_log_warn("option '--%s' has %s", rows[i].name, rows[i].text);
}

const struct ws_cmd cmd_rocprof_sys_instrument = {
	.name = "rocprof-sys-instrument",
	.summary = "run a program and record calls of its functions",
	.usage = "[options] [--] PROGRAM [ARG...]",
	.about =
		"Analyses PROGRAM and its libraries, chooses functions, and runs PROGRAM as "
		"rocprof-sys-run does. Functions are changed in memory when PROGRAM starts, so "
		"that "
		"the beginning and the end of each call are recorded. No file is changed. Settings "
		"are variables (ROCPROFSYS_PROFILE=true) or in configuration files.",
	.notes = "Exit code:\n"
		 "  that of PROGRAM, as with rocprof-sys-run.\n"
		 "\n"
		 "Examples:\n"
		 "  rocprof-sys-instrument -- ./app\n"
		 "  rocprof-sys-instrument -i 16 -E '^std::' -- ./app -n 4\n"
		 "  rocprof-sys-instrument --simulate --print-available functions -- ./app\n"
		 "  rocprof-sys-instrument -o app.inst -- ./app && rocprof-sys-run -- ./app.inst",
	.opts = { rows, WS_ARRAY_LEN(rows) },
	.order = WS_OPT_FIRST,
	.values_bytes = sizeof(struct sys_instrument_args),
	.run = sys_instrument_run,
};
