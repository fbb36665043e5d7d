#include "models/lint.h"

#include "base/doc_edit.h"
#include "base/path.h"
#include "base/str.h"
#include "base/vec.h"
#include "models/context.h"
#include "models/launchers.h"
#include "models/places.h"
#include "models/slurm.h"
#include "models/tools.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FINDINGS_MAX 4096u
#define RUN_FOLDER_UP "../" /* commands are run in the run folder, below the working folder */

static const struct {
	const char *word;
	enum mdl_lint_level level;
} rules[] = {
#define MDL_LINT_RULE_ROW(id, word, level) { word, level },
	MDL_LINT_RULE_TABLE(MDL_LINT_RULE_ROW)
#undef MDL_LINT_RULE_ROW
};

const char *mdl_lint_level_word(enum mdl_lint_level level)
{
	static const char *const words[] = {
#define MDL_LINT_LEVEL_ROW(id, word) word,
		MDL_LINT_LEVEL_TABLE(MDL_LINT_LEVEL_ROW)
#undef MDL_LINT_LEVEL_ROW
	};

	return words[level];
}

struct mdl_lint_report {
	struct ws_arena *arena;
	WS_VEC(struct mdl_finding) list;
	const char *where; /* of what is being checked */
	bool failed;       /* out of memory */
	const struct ws_doc *context, *tools;
	const char *dir;
	mdl_lint_profiler *profiler;
};

void mdl_lint_add(struct mdl_lint_report *report, enum mdl_lint_rule rule, const char *fmt, ...)
{
	struct mdl_finding finding = { rules[rule].level, rules[rule].word, report->where, NULL };
	struct ws_buf text;
	va_list args;

	ws_buf_init(&text, 4096);
	va_start(args, fmt);
	ws_buf_vprintf(&text, fmt, args);
	va_end(args);
	finding.text = ws_arena_strdup(report->arena, text.at);
	ws_buf_fini(&text);
	report->failed |=
		!finding.text || !finding.where || ws_vec_push(&report->list, finding, NULL);
}

/* ---- names ---- */

static const char *known_key(const void *list, size_t i)
{
	const struct mdl_context_key *key = mdl_context_key(i);

	return key ? key->name : NULL;
}

/* NULL-ended array of names. */
static const char *known_word(const void *list, size_t i)
{
	return ((const char *const *)list)[i];
}

static const char *known_member(const void *map, size_t i)
{
	const struct ws_doc *doc = map;

	return i < doc->n ? doc->at[i]->key : NULL;
}

/* ": did you mean 'x'?", or "" */
static const char *suggestion(struct mdl_lint_report *report, const char *word,
			      const char *(*next)(const void *, size_t), const void *list)
{
	const char *nearest = ws_str_nearest(word, next, list), *text;

	if (!nearest)
		return "";
	text = ws_arena_printf(report->arena, ": did you mean '%s'?", nearest);
	return text ? text : "";
}

static const char *known_slurm(const void *list, size_t i)
{
	return mdl_slurm_key(i);
}

static const char *known_launcher(const void *list, size_t i)
{
	return mdl_launcher_name(i);
}

static const char *const distributed_keys[] = { "launcher", "nnodes", "nproc_per_node",
						"backend",  "port",   "sglang_disagg",
						"primus",   NULL };

/* Members of the context itself, and of its members that are looked into. */
static const struct {
	const char *member; /* "": the context */
	const char *(*next)(const void *list, size_t i);
	const void *list;
} known_keys[] = {
	{ "", known_key, NULL },
	{ "slurm", known_slurm, NULL },
	{ "distributed", known_word, distributed_keys },
};

static void check_keys(struct mdl_lint_report *report, size_t row)
{
	const char *member = known_keys[row].member;
	const struct ws_doc *map = *member ? ws_doc_get(report->context, member) : report->context;

	for (size_t i = 0; map && map->kind == WS_DOC_MAP && i < map->n; i++) {
		const char *key = map->at[i]->key, *known;
		size_t k = 0;

		while ((known = known_keys[row].next(known_keys[row].list, k)) &&
		       strcmp(known, key) != 0)
			k++;
		if (known || *key == '_')
			continue;
		report->where =
			ws_arena_printf(report->arena, "%s%s%s", member, *member ? "." : "", key);
		mdl_lint_add(report, MDL_LINT_UNKNOWN_KEY, "no key '%s', it has no effect%s", key,
			     suggestion(report, key, known_keys[row].next, known_keys[row].list));
	}
}

static void check_launcher(struct mdl_lint_report *report)
{
	const char *name =
		ws_doc_get_text(ws_doc_get(report->context, "distributed"), "launcher", "");

	/* two names of "none" */
	if (!*name || !strcmp(name, "docker") || !strcmp(name, "native") ||
	    mdl_launcher_known(name))
		return;
	report->where = "distributed.launcher";
	mdl_lint_add(report, MDL_LINT_UNKNOWN_LAUNCHER,
		     "no launcher '%s', the model starts its own ranks%s", name,
		     suggestion(report, name, known_launcher, NULL));
}

/* ---- a command ---- */

/* The word that is a profiler, rocprofv3 or the script that chooses one; NULL: there is none. */
static char **find_profiler(char **words)
{
	for (; *words; words++) {
		struct ws_str word = ws_str_from(*words);

		if (ws_str_ends(word, "/rocprof_wrapper.sh") ||
		    ws_str_is(word, "rocprof_wrapper.sh") || ws_str_is(word, "rocprofv3") ||
		    ws_str_ends(word, "/rocprofv3"))
			return words;
	}
	return NULL;
}

/*
 * The input file as rocprofv3 will see it, but from here: the installed one where scripts/common is
 * not in the working folder yet. NULL: it was reported.
 */
static char *input_file(struct mdl_lint_report *report, const char *name)
{
	size_t n_up = strlen(RUN_FOLDER_UP);
	bool from_here = strncmp(name, RUN_FOLDER_UP, n_up) == 0;
	const char *below = from_here ? name + n_up : name;
	char path[PATH_MAX];

	if (ws_path_join(report->dir, below, path, NULL) == WS_OK && ws_path_exists(path))
		return ws_arena_strdup(report->arena, path);
	if (from_here && mdl_place_find(below, path, NULL) == WS_OK)
		return ws_arena_strdup(report->arena, path);
	if (from_here || *name == '/')
		mdl_lint_add(report, MDL_LINT_MISSING_FILE,
			     "no file '%s': our counter files are in "
			     "../scripts/common/tools/counters/",
			     name);
	else
		mdl_lint_add(report, MDL_LINT_UNCHECKED_FILE,
			     "'%s' is looked up in the run folder, and cannot be checked before",
			     name);
	return NULL;
}

/* @words of the options; false: a file is missing, which was reported. */
static bool resolve_input(struct mdl_lint_report *report, char **words, size_t n)
{
	static const char name[] = "--input=";

	for (size_t i = 0; i < n; i++) {
		bool apart = !strcmp(words[i], "-i") || !strcmp(words[i], "--input");
		char *path;

		if (apart && i + 1 < n) {
			path = input_file(report, words[i + 1]);
			words[i + 1] = path;
		} else if (strncmp(words[i], name, sizeof(name) - 1) == 0) {
			path = input_file(report, words[i] + sizeof(name) - 1);
			words[i] = path ? ws_arena_printf(report->arena, "%s%s", name, path) : NULL;
			path = words[i];
		} else {
			continue;
		}
		if (!path)
			return false;
	}
	return true;
}

static void check_command(struct mdl_lint_report *report, const char *cmd)
{
	char **words, **profiler;
	struct ws_err err;
	size_t n = 0;

	if (mdl_command_words(cmd, report->arena, &words, &err)) {
		report->failed = true;
		return;
	}
	profiler = find_profiler(words);
	if (!profiler)
		return;
	while (profiler[1 + n] && strcmp(profiler[1 + n], "--") != 0)
		n++;
	if (!profiler[1 + n])
		mdl_lint_add(report, MDL_LINT_MISSING_SEPARATOR,
			     "no '--' at the end: the profiler would take the model's command for "
			     "options: end it with ' --'");
	if (resolve_input(report, profiler + 1, n) && report->profiler)
		report->profiler(profiler + 1, n, report);
}

/* ---- variables ---- */

static bool is_seconds(const char *text)
{
	double value;

	return ws_str_f64(ws_str_from(text), &value) && value >= 0.001 && value <= 86400;
}

static bool is_devices(const char *text)
{
	return !strcmp(text, "all") || (*text && strspn(text, "0123456789,- ") == strlen(text));
}

static bool is_mode(const char *text)
{
	return !strcmp(text, "power") || !strcmp(text, "vram");
}

static bool is_truth(const char *text)
{
	return !strcmp(text, "true") || !strcmp(text, "false");
}

/* What a script or a sampler of ours reads. */
static const struct {
	const char *name;
	bool (*good)(const char *text);
	const char *wanted;
} checked_variables[] = {
	{ "POWER_SAMPLING_RATE", is_seconds, "seconds between samples, as in 0.1" },
	{ "VRAM_SAMPLING_RATE", is_seconds, "seconds between samples, as in 0.1" },
	{ "POWER_DEVICE", is_devices, "all, or numbers of GPUs as in 0,2-3" },
	{ "VRAM_DEVICE", is_devices, "all, or numbers of GPUs as in 0,2-3" },
	{ "POWER_MODE", is_mode, "power or vram" },
	{ "VRAM_MODE", is_mode, "power or vram" },
	{ "POWER_DUAL_GCD", is_truth, "true or false" },
	{ "VRAM_DUAL_GCD", is_truth, "true or false" },
};

static void check_variable(struct mdl_lint_report *report, const struct ws_doc *known,
			   const char *name, const char *value)
{
	const char *nearest;

	for (size_t i = 0; i < WS_ARRAY_LEN(checked_variables); i++)
		if (!strcmp(checked_variables[i].name, name) && !checked_variables[i].good(value))
			mdl_lint_add(report, MDL_LINT_BAD_VARIABLE, "%s is '%s': give %s", name,
				     value, checked_variables[i].wanted);
	/* Any variable may be meant for the model; one that looks like a tool's own is mistyped. */
	if (!known || ws_doc_get(known, name))
		return;
	nearest = ws_str_nearest(name, known_member, known);
	if (nearest && !strncmp(nearest, name, strcspn(nearest, "_") + 1))
		mdl_lint_add(report, MDL_LINT_UNKNOWN_VARIABLE,
			     "the tool has no variable '%s': did you mean '%s'?", name, nearest);
}

/* ---- tools ---- */

static void check_entry_keys(struct mdl_lint_report *report, const struct ws_doc *entry)
{
	static const char *const keys[] = { "name", "cmd", "env_vars", NULL };

	for (size_t i = 0; i < entry->n; i++) {
		const char *key = entry->at[i]->key;
		size_t k = 0;

		while (keys[k] && strcmp(keys[k], key) != 0)
			k++;
		if (!keys[k] && *key != '_')
			mdl_lint_add(report, MDL_LINT_UNKNOWN_TOOL_KEY,
				     "'%s' has no effect in an entry of tools%s", key,
				     suggestion(report, key, known_word, keys));
	}
}

static const char *at_tool(struct mdl_lint_report *report, size_t i, const char *member)
{
	return ws_arena_printf(report->arena, "tools[%zu]%s%s", i, *member ? "." : "", member);
}

/* The chain of this one entry says what is wrong with its types and its name. */
static bool check_form(struct mdl_lint_report *report, const struct ws_doc *entry)
{
	struct ws_doc *context = ws_doc_map(report->arena), *list = ws_doc_list(report->arena);
	struct mdl_chain chain;
	struct ws_err err;
	enum ws_status st;

	if (!ws_doc_add(list, entry, report->arena) ||
	    !ws_doc_put(context, "tools", list, report->arena)) {
		report->failed = true;
		return false;
	}
	st = mdl_chain_build(report->tools, context, report->arena, &chain, &err);
	if (st == WS_E_NOTFOUND)
		mdl_lint_add(report, MDL_LINT_UNKNOWN_TOOL, "%s", err.text);
	else if (st)
		mdl_lint_add(report, MDL_LINT_BAD_TOOL, "%s", err.text);
	return !st;
}

static bool was_before(const struct ws_doc *list, size_t i, const char *name)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(ws_doc_get_text(list->at[k], "name", ""), name))
			return true;
	return false;
}

static void check_tool(struct mdl_lint_report *report, const struct ws_doc *list, size_t i)
{
	const struct ws_doc *entry = list->at[i], *tool, *given, *known;
	const char *name = ws_doc_get_text(entry, "name", "");
	const char *cmd = ws_doc_get_text(entry, "cmd", NULL);

	report->where = at_tool(report, i, "");
	if (!check_form(report, entry))
		return;
	tool = ws_doc_get(report->tools, name);
	check_entry_keys(report, entry);
	if (was_before(list, i, name))
		mdl_lint_add(report, MDL_LINT_REPEATED_TOOL, "'%s' is listed twice", name);
	report->where = at_tool(report, i, "env_vars");
	given = ws_doc_get(entry, "env_vars");
	known = ws_doc_get(tool, "env_vars");
	for (size_t k = 0; given && given->kind == WS_DOC_MAP && k < given->n; k++)
		check_variable(report, known && known->n ? known : NULL, given->at[k]->key,
			       ws_doc_get_scalar(given, given->at[k]->key, ""));
	report->where = at_tool(report, i, cmd ? "cmd" : "");
	check_command(report, cmd ? cmd : ws_doc_get_text(tool, "cmd", ""));
}

static void check_tools(struct mdl_lint_report *report)
{
	const struct ws_doc *list = ws_doc_get(report->context, "tools");
	size_t n_profilers = 0;

	for (size_t i = 0; list && list->kind == WS_DOC_LIST && i < list->n; i++) {
		check_tool(report, list, i);
		n_profilers += mdl_tool_is_rocprof(ws_doc_get_text(list->at[i], "name", ""));
	}
	report->where = "tools";
	if (n_profilers > 1)
		mdl_lint_add(report, MDL_LINT_NESTED_PROFILERS,
			     "%zu profilers around one another: the model is recorded by each, and "
			     "times contain the others' work: use one",
			     n_profilers);
}

/* ---- the whole ---- */

static void check_target(struct mdl_lint_report *report)
{
	static const char *const keys[] = { "slurm", "k8s", "kubernetes" };

	for (size_t i = 0; i < WS_ARRAY_LEN(keys); i++) {
		if (!ws_doc_get(report->context, keys[i]))
			continue;
		report->where = keys[i];
		mdl_lint_add(
			report, MDL_LINT_BATCH_JOB,
			"with this key a batch job is submitted; counters were checked for the "
			"GPUs of this machine");
	}
}

enum ws_status mdl_lint(const struct ws_doc *context, const struct ws_doc *tools, const char *dir,
			mdl_lint_profiler *profiler, struct ws_arena *arena,
			struct mdl_findings *out_findings, struct ws_err *err)
{
	struct mdl_lint_report report = {
		.arena = arena,
		.where = "",
		.context = context,
		.tools = tools,
		.dir = dir,
		.profiler = profiler,
	};
	struct mdl_findings findings = { .n = 0 };

	if (context->kind != WS_DOC_MAP)
		return ws_fail(err, WS_E_FORMAT, "a context is an object, not %s",
			       ws_doc_kind_name(context->kind));
	ws_vec_init(&report.list, FINDINGS_MAX);
	for (size_t i = 0; i < WS_ARRAY_LEN(known_keys); i++)
		check_keys(&report, i);
	check_launcher(&report);
	check_tools(&report);
	check_target(&report);
	findings.at = ws_arena_array(arena, report.list.n + 1, sizeof(*findings.at));
	if (!findings.at || report.failed) {
		ws_vec_fini(&report.list);
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	ws_vec_each(finding, &report.list) {
		findings.at[findings.n++] = *finding;
		findings.n_errors += finding->level == MDL_LINT_ERROR;
	}
	ws_vec_fini(&report.list);
	*out_findings = findings;
	return WS_OK;
}
