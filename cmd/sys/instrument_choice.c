/* instrument_choice: which functions are instrumented. */
#include "cmd/sys/instrument.h"

#include "base/kernel_name.h"
#include "base/log.h"
#include "base/pattern.h"
#include "code/host.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX (1u << 24)
#define FILES_MAX 4096u
#define PATTERNS_MAX 1024u
#define MIN_INSTRUCTIONS 1024u
#define MIN_BYTES 4096u
#define MIN_VARIABLE "ROCPROFSYS_DEFAULT_MIN_INSTRUCTIONS"

/* ---- patterns ---- */

enum pattern_list {
	INCLUDE,
	EXCLUDE,
	RESTRICT,
	MODULE_INCLUDE,
	MODULE_EXCLUDE,
	MODULE_RESTRICT,
	INTERNAL_FUNCTION_INCLUDE,
	INTERNAL_MODULE_INCLUDE,
	N_LISTS
};

static const struct {
	const char *option;
	size_t offset;
} lists[N_LISTS] = {
#define LIST(option, field)                                                                        \
	{                                                                                          \
		option, offsetof(struct sys_instrument_args, field)                                \
	}
	[INCLUDE] = LIST("--function-include", include),
	[EXCLUDE] = LIST("--function-exclude", exclude),
	[RESTRICT] = LIST("--function-restrict", restrict_to),
	[MODULE_INCLUDE] = LIST("--module-include", module_include),
	[MODULE_EXCLUDE] = LIST("--module-exclude", module_exclude),
	[MODULE_RESTRICT] = LIST("--module-restrict", module_restrict),
	[INTERNAL_FUNCTION_INCLUDE] =
		LIST("--internal-function-include", internal_function_include),
	[INTERNAL_MODULE_INCLUDE] = LIST("--internal-module-include", internal_module_include),
#undef LIST
};

struct sys_patterns {
	WS_VEC(struct ws_pattern *) by[N_LISTS];
	struct ws_pattern *internal_module, *internal_function, *never;
};

/* The C library, the loader, what we are made of, and AMD's runtime, which is recorded otherwise. */
#define INTERNAL_MODULES                                                                           \
	"(^|/)(ld-linux[^/]*|ld-musl[^/]*|lib(c|m|dl|rt|pthread|resolv|nsl|util|anl|mvec|gcc_s|"   \
	"stdc\\+\\+|c\\+\\+|c\\+\\+abi|unwind[^/.]*|elf|dw|debuginfod|capstone|wavescope[^/]*|"    \
	"roctx64|rocprofiler[^/.]*|rocprof-sys[^/.]*|hsakmt|hsa-runtime64|amdhip64|amd_comgr|"     \
	"drm|drm_amdgpu|numa|tsan|asan|ubsan|lsan))(-[0-9.]+)?\\.so[0-9.]*$"

/* Of compilers and the C library; and what our sampler calls in an interpreter. */
#define INTERNAL_FUNCTIONS                                                                         \
	"^(_init|_fini|frame_dummy|(de)?register_tm_clones|__do_global_.*|__libc_.*|"              \
	"_dl_relocate_static_pie|atexit|at_quick_exit|__stat|fstat|lstat|mknod|_GLOBAL__sub_.*|"   \
	"__static_initialization_.*|__cxa_.*|__gxx_personality.*|__gcc_personality.*|_Unwind_.*|"  \
	"__mcount.*|mcount|_mcount|__fentry__|__cyg_profile_.*|__(tsan|asan|ubsan|msan|lsan|"      \
	"sanitizer)_.*|rocprofsys_.*|wavescope_.*|PyGILState_GetThisThreadState|PyThread_tss_.*)$"

/* They return twice, switch stacks, or are no functions: a changed return address breaks them. */
#define NEVER                                                                                      \
	"^(_start|_?setjmp|__?sigsetjmp|sigsetjmp|v?fork|__v?fork|(get|set|swap|make)context|"     \
	"__(start|stop)_context|__restore_rt|_dl_runtime_.*|__tls_get_addr|.*\\.cold(\\.[0-9]+)?)" \
	"$"

static enum ws_status create(const char *option, const char *text, enum ws_pattern_part part,
			     struct ws_pattern **out, struct ws_err *err)
{
	enum ws_status st = ws_pattern_create(text, part, out, err);

	return st ? ws_fail_in(err, st, "option '%s'", option) : WS_OK;
}

static enum ws_status read_patterns(struct sys_patterns *p, const struct sys_instrument_args *args,
				    struct ws_err *err)
{
	enum ws_status st =
		create("", INTERNAL_MODULES, WS_PATTERN_SOMEWHERE, &p->internal_module, err);

	if (!st)
		st = create("", INTERNAL_FUNCTIONS, WS_PATTERN_SOMEWHERE, &p->internal_function,
			    err);
	if (!st)
		st = create("", NEVER, WS_PATTERN_SOMEWHERE, &p->never, err);
	for (unsigned l = 0; l < N_LISTS; l++)
		ws_vec_init(&p->by[l], PATTERNS_MAX);
	for (unsigned l = 0; l < N_LISTS && !st; l++) {
		const struct ws_strv *words =
			(const struct ws_strv *)((const char *)args + lists[l].offset);

		for (size_t i = 0; i < words->n && !st; i++) {
			struct ws_pattern *pattern;

			if (!words->at[i])
				continue;
			st = create(lists[l].option, words->at[i], WS_PATTERN_SOMEWHERE, &pattern,
				    err);
			if (!st && (st = ws_vec_push(&p->by[l], pattern, err)))
				ws_pattern_destroy(pattern);
		}
	}
	return st;
}

static void destroy_patterns(struct sys_patterns *p)
{
	for (unsigned l = 0; p && l < N_LISTS; l++) {
		for (size_t i = 0; i < p->by[l].n; i++)
			ws_pattern_destroy(p->by[l].at[i]);
		ws_vec_fini(&p->by[l]);
	}
	if (p) {
		ws_pattern_destroy(p->internal_module);
		ws_pattern_destroy(p->internal_function);
		ws_pattern_destroy(p->never);
	}
	free(p);
}

/* A name for which a pattern has no answer in time does not match. */
static bool matches(const struct ws_pattern *pattern, const char *name)
{
	struct ws_err err;
	bool found = false;

	return !ws_pattern_match(pattern, name, &found, &err) && found;
}

static bool any(const struct sys_patterns *p, enum pattern_list list, const char *name)
{
	for (size_t i = 0; i < p->by[list].n; i++)
		if (matches(p->by[list].at[i], name))
			return true;
	return false;
}

static bool is_given(const struct sys_patterns *p, enum pattern_list list)
{
	return p->by[list].n > 0;
}

/* ---- init ---- */

static enum ws_status number(const char *option, const char *text, uint64_t *out,
			     struct ws_err *err)
{
	if (text && !ws_str_u64(ws_str_from(text), out))
		return ws_fail(err, WS_E_USAGE, "%s: '%s' is not a whole number", option, text);
	return WS_OK;
}

/* A minimum of bytes replaces the default of instructions. */
static enum ws_status read_minimums(struct sys_choice *choice, struct ws_err *err)
{
	const struct sys_instrument_args *args = choice->args;
	const char *variable = getenv(MIN_VARIABLE);
	enum ws_status st;

	choice->min_instructions = args->min_address_range ? 0 : MIN_INSTRUCTIONS;
	choice->min_bytes = args->min_address_range_loop && !args->min_instructions ? MIN_BYTES : 0;
	st = number(MIN_VARIABLE, args->min_address_range ? NULL : variable,
		    &choice->min_instructions, err);
	if (!st)
		st = number("option '--min-instructions'", args->min_instructions,
			    &choice->min_instructions, err);
	if (!st)
		st = number("option '--min-address-range'", args->min_address_range,
			    &choice->min_bytes, err);
	return st;
}

static const struct {
	const char *word;
	uint32_t linkage, visibility; /* bits */
} symbol_words[] = {
	{ "unknown", 1u << STB_LOPROC, 0 },      { "global", 1u << STB_GLOBAL | 1u << STB_WEAK, 0 },
	{ "local", 1u << STB_LOCAL, 0 },         { "unique", 1u << STB_GNU_UNIQUE, 0 },
	{ "default", 0, 1u << STV_DEFAULT },     { "hidden", 0, 1u << STV_HIDDEN },
	{ "protected", 0, 1u << STV_PROTECTED }, { "internal", 0, 1u << STV_INTERNAL },
};

static void read_symbol_words(const struct ws_strv *words, bool linkage, uint32_t *bits)
{
	for (size_t i = 0; i < words->n; i++)
		for (size_t k = 0; words->at[i] && k < WS_ARRAY_LEN(symbol_words); k++)
			if (strcmp(words->at[i], symbol_words[k].word) == 0)
				*bits |= linkage ? symbol_words[k].linkage
						 : symbol_words[k].visibility;
	/* Only "unknown" was given: nothing has it. */
	if (words->n && !*bits)
		*bits = 1u << 31;
}

enum ws_status sys_choice_init(struct sys_choice *choice, const struct sys_instrument_args *args,
			       struct ws_err *err)
{
	enum ws_status st;

	*choice = (struct sys_choice){ .args = args };
	ws_arena_init(&choice->arena, 1ull << 30);
	ws_vec_init(&choice->rows, ROWS_MAX);
	ws_vec_init(&choice->files, FILES_MAX);
	sys_plan_init(&choice->plan);
	choice->patterns = calloc(1, sizeof(*choice->patterns));
	if (!choice->patterns)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = read_patterns(choice->patterns, args, err);
	if (!st)
		st = read_minimums(choice, err);
	read_symbol_words(&args->linkage, true, &choice->linkages);
	read_symbol_words(&args->visibility, false, &choice->visibilities);
	return st;
}

void sys_choice_fini(struct sys_choice *choice)
{
	for (size_t i = 0; i < choice->files.n; i++)
		code_functions_close(choice->files.at[i].functions);
	ws_vec_fini(&choice->files);
	ws_vec_fini(&choice->rows);
	sys_plan_fini(&choice->plan);
	destroy_patterns(choice->patterns);
	ws_arena_fini(&choice->arena);
}

/* ---- choosing ---- */

const char *sys_choice_skips(const struct sys_choice *choice, const char *path)
{
	const struct sys_patterns *p = choice->patterns;

	if (matches(p->internal_module, path) && !any(p, INTERNAL_MODULE_INCLUDE, path))
		return "internal library";
	if (any(p, MODULE_EXCLUDE, path))
		return "--module-exclude";
	return is_given(p, MODULE_RESTRICT) && !any(p, MODULE_RESTRICT, path) ? "--module-restrict"
									      : NULL;
}

/* Why the user, or a default, does not want it; NULL. */
static const char *unwanted(const struct sys_choice *choice, const struct sys_choice_file *file,
			    const struct code_host_function *f, const struct code_scan *scan)
{
	const struct sys_patterns *p = choice->patterns;

	if (file->skipped)
		return file->skipped;
	if (matches(p->never, f->name))
		return "cannot be instrumented";
	if (matches(p->internal_function, f->name) && !any(p, INTERNAL_FUNCTION_INCLUDE, f->shown))
		return "internal function";
	if (any(p, EXCLUDE, f->shown) || any(p, EXCLUDE, f->name))
		return "--function-exclude";
	if (is_given(p, RESTRICT) && !any(p, RESTRICT, f->shown) && !any(p, RESTRICT, f->name))
		return "--function-restrict";
	if (choice->linkages && !(choice->linkages >> f->binding & 1))
		return "--linkage";
	if (choice->visibilities && !(choice->visibilities >> f->visibility & 1))
		return "--visibility";
	if (f->overlaps && choice->args->allow_overlapping != WS_TRI_YES)
		return "overlaps another function";
	/* What follows are estimates of what is worth it. */
	if (any(p, INCLUDE, f->shown) || any(p, INCLUDE, f->name) ||
	    any(p, MODULE_INCLUDE, file->path) || scan->calls_hook ||
	    choice->args->all_functions == WS_TRI_YES)
		return NULL;
	if (scan->n_instructions < choice->min_instructions)
		return "fewer instructions than --min-instructions";
	return f->size < choice->min_bytes ? "smaller than --min-address-range" : NULL;
}

static bool has_word(const struct ws_strv *words, const char *word)
{
	for (size_t i = 0; i < words->n; i++)
		if (words->at[i] && strcmp(words->at[i], word) == 0)
			return true;
	return false;
}

/* The part of a demangled name that is neither a return type nor parameters. */
static struct ws_str bare_name(const char *shown, bool with_return, bool with_args)
{
	size_t n = strlen(shown), end = n, begin = 0, depth = 0;

	if (n > 6 && strcmp(shown + n - 6, " const") == 0)
		end -= 6;
	if (with_args || !end || shown[end - 1] != ')' || !ws_kernel_name_group_(shown, end))
		end = n;
	else
		end = ws_kernel_name_group_(shown, end);
	/* Templates have a return type: what is before the last blank outside of brackets. */
	for (size_t i = 1; i < end && !with_return && end < n; i++) {
		depth += shown[i - 1] == '<' || shown[i - 1] == '(';
		depth -= depth && (shown[i - 1] == '>' || shown[i - 1] == ')');
		if (shown[i] == ' ' && !depth &&
		    (i < 8 || strncmp(shown + i - 8, "operator", 8) != 0))
			begin = i + 1;
	}
	return (struct ws_str){ shown + begin, end - begin };
}

/* The name as --label has it; NULL: no memory. */
static const char *label(struct sys_choice *choice, const struct code_host_function *f,
			 const struct code_host_frame *frame)
{
	const struct ws_strv *words = &choice->args->label;
	struct ws_str name =
		bare_name(f->shown, has_word(words, "return"), has_word(words, "args"));

	if (frame->file && has_word(words, "file") && has_word(words, "line"))
		return ws_arena_printf(&choice->arena, "%.*s [%s:%u]", WS_STR_ARGS(name),
				       frame->file, frame->line);
	if (frame->file && has_word(words, "file"))
		return ws_arena_printf(&choice->arena, "%.*s [%s]", WS_STR_ARGS(name), frame->file);
	if (frame->line && has_word(words, "line"))
		return ws_arena_printf(&choice->arena, "%.*s:%u", WS_STR_ARGS(name), frame->line);
	return ws_arena_strndup(&choice->arena, name.at, name.n);
}

static enum ws_status add_to_plan(struct sys_choice *choice, struct code_host *host,
				  const struct code_host_function *f,
				  const struct code_moved *moved, struct ws_err *err)
{
	struct code_host_frame frames[CODE_HOST_FRAMES_MAX] = { 0 };
	size_t n = host ? code_host_at(host, f->offset, frames, CODE_HOST_FRAMES_MAX) : 1;
	const struct code_host_frame *frame = &frames[n - 1];
	const char *name = label(choice, f, frame);

	if (!name)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	return sys_plan_add(&choice->plan, f, moved, name, frame->file ? frame->file : "",
			    frame->line, err);
}

static enum ws_status choose_function(struct sys_choice *choice, const struct sys_choice_file *file,
				      const char *module, struct code_host *host,
				      const struct code_host_function *f, struct ws_err *err)
{
	struct sys_choice_row row = { .module = module, .function = f };
	struct code_moved moved = { 0 };
	struct code_scan scan;
	enum ws_status st = WS_OK;

	code_host_function_scan(file->functions, f, &scan);
	row.n_instructions = scan.n_instructions;
	row.reason = unwanted(choice, file, f, &scan);
	if (!row.reason && !scan.calls_hook &&
	    !code_host_function_move(file->functions, f, &scan, &moved))
		row.reason = moved.why_not;
	row.instrumented = !row.reason;
	if (row.instrumented)
		st = add_to_plan(choice, host, f, scan.calls_hook ? NULL : &moved, err);
	return st ? st : ws_vec_push(&choice->rows, row, err);
}

enum ws_status sys_choose(struct sys_choice *choice, const char *path, const char *as,
			  struct ws_err *err)
{
	bool wants_lines =
		has_word(&choice->args->label, "file") || has_word(&choice->args->label, "line");
	struct sys_choice_file file = { .path = ws_arena_strdup(&choice->arena, path) };
	const char *slash = file.path ? strrchr(file.path, '/') : NULL;
	struct code_host *host = NULL;
	struct ws_err ignored;
	enum ws_status st;

	if (!file.path)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	file.skipped = sys_choice_skips(choice, path);
	st = code_functions_open(path, &file.functions, err);
	if (st)
		return st;
	st = ws_vec_push(&choice->files, file, err);
	if (st) {
		code_functions_close(file.functions);
		return st;
	}
	if (wants_lines) /* without debug information there are no lines, and that is all */
		code_host_open(path, file.functions->build_id, file.functions->n_build_id, &host,
			       &ignored);
	st = sys_plan_add_module(&choice->plan, as, file.functions, err);
	for (size_t i = 0; i < file.functions->n && !st; i++)
		st = choose_function(choice, &file, slash ? slash + 1 : file.path, host,
				     &file.functions->at[i], err);
	code_host_close(host);
	return st;
}
