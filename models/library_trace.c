#include "models/library_trace.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- modes ---- */

static const struct {
	const char *name, *variable;
} modes_table[MDL_LIBRARY_MODES] = {
#define MDL_LIBRARY_MODE_ROW(id, mode, var) { mode, var },
	MDL_LIBRARY_MODE_TABLE(MDL_LIBRARY_MODE_ROW)
#undef MDL_LIBRARY_MODE_ROW
};

/* What makes a library log; NULL takes the variable away. */
/* clang-format off */
static const struct {
	uint32_t modes;
	const char *name, *value;
} variables[] = {
	{ MDL_LIBRARY_BIT(ROCBLAS),   "ROCBLAS_LAYER", "6" },
	{ MDL_LIBRARY_BIT(HIPBLASLT), "HIPBLASLT_LOG_MASK", "32" },
	/* these two go before the mask, and away from the output */
	{ MDL_LIBRARY_BIT(HIPBLASLT), "HIPBLASLT_LOG_LEVEL", NULL },
	{ MDL_LIBRARY_BIT(HIPBLASLT), "HIPBLASLT_LOG_FILE", NULL },
	{ MDL_LIBRARY_BIT(MIOPEN),    "MIOPEN_ENABLE_LOGGING_CMD", "1" },
	{ MDL_LIBRARY_BIT(TENSILE),   "TENSILE_DB", "0x8000" },
	{ MDL_LIBRARY_BIT(RCCL),      "NCCL_DEBUG", "INFO" },
	{ MDL_LIBRARY_BIT(RCCL),      "RCCL_KERNEL_COLL_TRACE_ENABLE", "1" },
	{ MDL_LIBRARY_BIT(RCCL),      "NCCL_DEBUG_SUBSYS", "INIT,COLL" },
};

/*
 * Lines that are counted, in the order of the rows of the file. `mark` is in the line, or begins it
 * (`first`). The row has the line from the mark on, or from `then` on, which follows it.
 */
static const struct rule {
	uint32_t modes;
	const char *library;
	const char *mark;
	enum { FROM_MARK, WHOLE_LINE, FROM_THEN, AFTER_MARK } what;
	const char *then;
	bool first;
} rules[] = {
	{ MDL_LIBRARY_BIT(ROCBLAS),   "rocblas",          "./rocblas-bench ",       FROM_MARK,  NULL, false },
	{ MDL_LIBRARY_BIT(HIPBLASLT), "hipblaslt",        "hipblaslt-bench ",       FROM_MARK,  NULL, false },
	{ MDL_LIBRARY_BIT(ROCBLAS),   "rocblas_function", "rocblas_function: ",     WHOLE_LINE, NULL, false },
	{ MDL_LIBRARY_BIT(MIOPEN),    "miopen",           "MIOpen(HIP): Command [", FROM_THEN,  "./bin/MIOpenDriver ", false },
	{ MDL_LIBRARY_BIT(TENSILE),   "tensile",          "Running kernel: ",       AFTER_MARK, NULL, true },
};
/* clang-format on */

static const char *mode_name(const void *list, size_t i)
{
	return i < MDL_LIBRARY_MODES ? modes_table[i].name : NULL;
}

enum ws_status mdl_library_modes_parse(const char *list, uint32_t *out_modes, struct ws_err *err)
{
	struct ws_str rest = ws_str_from(list), part;
	uint32_t modes = 0;

	while (ws_str_next(&rest, ',', &part)) {
		const char *nearest;
		char word[64];
		size_t i = 0;

		part = ws_str_trim(part);
		while (i < MDL_LIBRARY_MODES && !ws_str_is(part, modes_table[i].name))
			i++;
		if (i < MDL_LIBRARY_MODES) {
			modes |= 1u << i;
			continue;
		}
		if (!part.n)
			continue;
		snprintf(word, sizeof(word), "%.*s", WS_STR_ARGS(part));
		nearest = ws_str_nearest(word, mode_name, NULL);
		return ws_fail(err, WS_E_USAGE, "no library trace '%s': %s%s%s", word,
			       nearest ? "did you mean '" : "rocblas_trace is one",
			       nearest ? nearest : "", nearest ? "'?" : "");
	}
	*out_modes = modes;
	return WS_OK;
}

enum ws_status mdl_library_modes_env(const struct ws_env *env, uint32_t *out_modes,
				     struct ws_err *err)
{
	const char *list = ws_env_get(env, "TRACE_MODE");
	enum ws_status st = WS_OK;

	*out_modes = 0;
	if (list)
		st = mdl_library_modes_parse(list, out_modes, err);
	if (st)
		return ws_fail_in(err, st, "TRACE_MODE");
	for (size_t i = 0; i < MDL_LIBRARY_MODES; i++) {
		const char *value = ws_env_get(env, modes_table[i].variable);

		if (value && *value)
			*out_modes |= 1u << i;
	}
	return WS_OK;
}

enum ws_status mdl_library_env(uint32_t modes, struct ws_env *env, struct ws_err *err)
{
	enum ws_status st = ws_env_set(env, MDL_LIBRARY_INSIDE, "1", err);

	for (size_t i = 0; i < WS_ARRAY_LEN(variables) && !st; i++) {
		if (!(modes & variables[i].modes))
			continue;
		if (variables[i].value)
			st = ws_env_set(env, variables[i].name, variables[i].value, err);
		else
			ws_env_unset(env, variables[i].name);
	}
	return st;
}

/* ---- nested prefixes ---- */

static bool ends_with(const char *word, const char *end)
{
	return ws_str_ends(ws_str_from(word), end);
}

/* Words of a prefix at @argv: "python3 .../get_library_trace.py", "wavescope library-trace [--]". */
static size_t prefix_words(char *const *argv)
{
	if (ends_with(argv[0], "get_library_trace.py"))
		return 1;
	if (!argv[1])
		return 0;
	if (strstr(argv[0], "python") && ends_with(argv[1], "get_library_trace.py"))
		return 2;
	if (ends_with(argv[0], "wavescope") && !strcmp(argv[1], "library-trace"))
		return argv[2] && !strcmp(argv[2], "--") ? 3 : 2;
	return 0;
}

void mdl_library_unnest(char **argv)
{
	char **to = argv;

	while (*argv) {
		size_t n = prefix_words(argv);

		if (n)
			argv += n;
		else
			*to++ = *argv++;
	}
	*to = NULL;
}

/* ---- counting ---- */

struct call {
	struct ws_str config;
	uint64_t n;
};

struct mdl_library_trace {
	uint32_t modes;
	struct ws_arena arena;
	struct ws_map calls[WS_ARRAY_LEN(rules)]; /* config to struct call */
	uint64_t n_other[WS_ARRAY_LEN(rules)];
	uint64_t n_calls;
	struct ws_buf line; /* one that has no end yet */
	bool too_long;      /* its beginning has passed, and so does the rest */
};

enum ws_status mdl_library_trace_create(uint32_t modes, struct mdl_library_trace **out_trace,
					struct ws_err *err)
{
	struct mdl_library_trace *trace = calloc(1, sizeof(*trace));

	if (!trace)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	trace->modes = modes;
	ws_arena_init(&trace->arena, MDL_LIBRARY_BYTES_MAX);
	ws_buf_init(&trace->line, MDL_LIBRARY_LINE_MAX);
	for (size_t i = 0; i < WS_ARRAY_LEN(rules); i++)
		ws_map_init(&trace->calls[i], WS_MAP_STR, 1 << 20);
	*out_trace = trace;
	return WS_OK;
}

void mdl_library_trace_destroy(struct mdl_library_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < WS_ARRAY_LEN(rules); i++)
		ws_map_fini(&trace->calls[i]);
	ws_buf_fini(&trace->line);
	ws_arena_fini(&trace->arena);
	free(trace);
}

static void count(struct mdl_library_trace *trace, size_t rule, struct ws_str config)
{
	struct ws_map_entry *entry = ws_map_find(&trace->calls[rule], config);
	struct call *call = entry ? entry->value : NULL;

	trace->n_calls++;
	if (!call) {
		char *copy = ws_arena_strndup(&trace->arena, config.at, config.n);

		call = copy ? ws_arena_new(&trace->arena, struct call) : NULL;
		if (call)
			call->config = (struct ws_str){ copy, config.n };
		if (!call || ws_map_put(&trace->calls[rule], call->config, call, NULL)) {
			trace->n_other[rule]++;
			return;
		}
	}
	call->n++;
}

/* Where @text is in @line; NULL: nowhere. */
static const char *find(struct ws_str line, const char *text)
{
	return line.n ? memmem(line.at, line.n, text, strlen(text)) : NULL;
}

static struct ws_str from(struct ws_str line, const char *at)
{
	return (struct ws_str){ at, (size_t)(line.at + line.n - at) };
}

static bool apply(const struct rule *rule, struct ws_str line, struct ws_str *out_config)
{
	const char *at = find(line, rule->mark), *then;

	if (!at || (rule->first && at != line.at))
		return false;
	switch (rule->what) {
	case FROM_MARK:
		*out_config = from(line, at);
		break;
	case WHOLE_LINE:
		*out_config = line;
		break;
	case AFTER_MARK:
		*out_config = from(line, at + strlen(rule->mark));
		break;
	case FROM_THEN:
		then = find(from(line, at), rule->then);
		if (!then)
			return false;
		*out_config = from(line, then);
		break;
	}
	*out_config = ws_str_trim(*out_config);
	return true;
}

/* False: it is no line of a library. */
static bool take_line(struct mdl_library_trace *trace, struct ws_str line)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(rules); i++) {
		struct ws_str config;

		if (!(trace->modes & rules[i].modes) || !apply(&rules[i], line, &config))
			continue;
		count(trace, i, config);
		return true;
	}
	return false;
}

/* ---- the program's output ---- */

/* False: it does not fit, and nothing was added. */
static bool keep(struct mdl_library_trace *trace, const char *bytes, size_t n)
{
	if (trace->line.n + n > MDL_LIBRARY_LINE_MAX)
		return false;
	ws_buf_add_n(&trace->line, bytes, n);
	return !trace->line.failed;
}

void mdl_library_trace_feed(struct mdl_library_trace *trace, const char *bytes, size_t n,
			    struct ws_buf *pass)
{
	while (n) {
		const char *end = memchr(bytes, '\n', n);
		size_t n_part = end ? (size_t)(end - bytes) + 1 : n;
		bool apart = end && !trace->line.n; /* a whole line, as most are */
		bool kept = !apart && !trace->too_long && keep(trace, bytes, n_part);
		struct ws_str line =
			kept ? ws_buf_view(&trace->line) : (struct ws_str){ bytes, n_part };

		if (trace->too_long || (!apart && !kept)) {
			ws_buf_add_n(pass, trace->line.at, trace->line.n);
			ws_buf_add_n(pass, bytes, n_part);
			trace->too_long = !end;
			ws_buf_clear(&trace->line);
		} else if (end) {
			if (!take_line(trace, (struct ws_str){ line.at, line.n - 1 }))
				ws_buf_add_n(pass, line.at, line.n);
			ws_buf_clear(&trace->line);
		}
		bytes += n_part;
		n -= n_part;
	}
}

void mdl_library_trace_flush(struct mdl_library_trace *trace, bool at_end, struct ws_buf *pass)
{
	struct ws_str kept = ws_buf_view(&trace->line);

	if (!kept.n)
		return;
	for (size_t i = 0; i < WS_ARRAY_LEN(rules) && !at_end; i++)
		if (trace->modes & rules[i].modes && find(kept, rules[i].mark))
			return; /* the rest is on its way */
	if (!at_end || !take_line(trace, kept))
		ws_buf_add_n(pass, kept.at, kept.n);
	ws_buf_clear(&trace->line);
}

uint64_t mdl_library_trace_n_calls(const struct mdl_library_trace *trace)
{
	return trace->n_calls;
}

/* ---- the file ---- */

static void add_field(struct ws_buf *out, struct ws_str text)
{
	bool quoted = false;

	for (size_t i = 0; i < text.n && !quoted; i++)
		quoted = strchr(",\"\r\n", text.at[i]) && text.at[i];
	if (quoted)
		ws_buf_add_c(out, '"', 1);
	for (size_t i = 0; i < text.n; i++)
		ws_buf_add_c(out, text.at[i], quoted && text.at[i] == '"' ? 2 : 1);
	if (quoted)
		ws_buf_add_c(out, '"', 1);
}

static void add_row(struct ws_buf *out, const char *head, const char *library, struct ws_str config,
		    uint64_t n)
{
	ws_buf_printf(out, "%s,%s,", head, library);
	add_field(out, config);
	ws_buf_printf(out, ",%llu\r\n", (unsigned long long)n);
}

enum ws_status mdl_library_trace_write(const struct mdl_library_trace *trace,
				       const struct ws_env *env, const char *path,
				       struct ws_err *err)
{
	const char *job = ws_env_get(env, "JENKINS_BUILD_NUMBER");
	const char *model = ws_env_get(env, "MAD_MODEL_NAME");
	struct ws_buf head, out;
	time_t now = time(NULL);
	struct tm local;
	char date[32];
	enum ws_status st;

	localtime_r(&now, &local);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &local);
	ws_buf_init(&head, 1 << 16);
	ws_buf_init(&out, 2 * (size_t)MDL_LIBRARY_BYTES_MAX);
	add_field(&head, ws_str_from(job && *job ? job : "0"));
	ws_buf_printf(&head, ",%s,", date);
	add_field(&head, ws_str_from(model ? model : ""));
	ws_buf_add(&out, "jobid,created_date,model,library,config,calls\r\n");
	for (size_t i = 0; i < WS_ARRAY_LEN(rules); i++) {
		ws_map_each(entry, &trace->calls[i]) {
			const struct call *call = entry->value;

			add_row(&out, head.at, rules[i].library, call->config, call->n);
		}
		if (trace->n_other[i])
			add_row(&out, head.at, rules[i].library, WS_STR(MDL_LIBRARY_OTHERS),
				trace->n_other[i]);
	}
	st = ws_buf_status(&out, err);
	if (!st)
		st = ws_file_replace(path, out.at, out.n, err);
	ws_buf_fini(&head);
	ws_buf_fini(&out);
	return st;
}
