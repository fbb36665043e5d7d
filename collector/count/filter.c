/*
 * filter: which kernels are counted, by their names.
 *
 * Users write patterns for the names that reports show, so a symbol is demangled and, on
 * request, truncated first. libstdc++ demangles, which AMD's runtime has loaded; if it is not
 * found, the symbol itself is matched.
 */
#include "base/kernel_name.h"
#include "base/pattern.h"
#include "collector/count/count.h"
#include "collector/count/count_priv.h"
#include "collector/provider.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	struct ws_pattern *include, *exclude; /* NULL: none */
	char *(*demangle)(const char *, char *, size_t *, int *);
} filter;

static void find_demangler(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);

	*(void **)&filter.demangle = dlsym(library ? library : RTLD_DEFAULT, "__cxa_demangle");
	if (library)
		dlclose(library);
}

static void note(const char *text)
{
	char line[320];

	snprintf(line, sizeof(line), "counters: %s", text);
	col_note(line);
}

static bool compile(const char *text, struct ws_pattern **pattern)
{
	struct ws_err err;

	ws_pattern_destroy(*pattern); /* of an earlier attach */
	*pattern = NULL;
	if (!text || !*text)
		return true;
	if (!col_count_load_pcre2()) {
		note("the program cannot load libpcre2-8.so.0, which kernel filters need: nothing "
		     "is counted");
		return false;
	}
	if (!ws_pattern_create(text, WS_PATTERN_SOMEWHERE, pattern, &err))
		return true;
	note(err.text);
	return false;
}

bool col_count_patterns(const struct col_count_request *request)
{
	find_demangler();
	return compile(request->include, &filter.include) &&
	       compile(request->exclude, &filter.exclude);
}

/* What cannot be decided is not counted; the first such name is in the report. */
static bool is_counted(const char *name)
{
	static bool noted;
	struct ws_err err;
	bool included = true, excluded = false;
	enum ws_status st = WS_OK;

	if (filter.include)
		st = ws_pattern_match(filter.include, name, &included, &err);
	if (!st && included && filter.exclude)
		st = ws_pattern_match(filter.exclude, name, &excluded, &err);
	if (st && !noted) {
		noted = true;
		note(err.text);
	}
	return !st && included && !excluded;
}

/* The symbol in the form of @names; to be freed. NULL: no memory. */
static char *name_of(const char *symbol, enum col_count_names names)
{
	size_t n = strlen(symbol);
	char *mangled = strdup(symbol), *name = NULL;
	int status = 0;

	if (!mangled || names == COL_COUNT_MANGLED)
		return mangled;
	if (n > 3 && strcmp(symbol + n - 3, ".kd") == 0)
		mangled[n - 3] = 0;
	if (filter.demangle && strncmp(mangled, "_Z", 2) == 0)
		name = filter.demangle(mangled, NULL, NULL, &status);
	if (!name)
		return mangled;
	free(mangled);
	return name;
}

bool col_count_includes(const struct col_count_request *request, const char *symbol)
{
	char *name, *seen;
	bool included;

	if (!filter.include && !filter.exclude)
		return true;
	name = name_of(symbol, request->names);
	if (!name)
		return true;
	seen = name;
	if (request->names == COL_COUNT_TRUNCATED) {
		struct ws_str bare = ws_kernel_name_cut(seen);

		seen += bare.at - seen;
		seen[bare.n] = 0;
	}
	included = is_counted(seen);
	free(name);
	return included;
}

void col_count_shown_name(const char *symbol, char *to, size_t room)
{
	char *name = name_of(symbol, COL_COUNT_DEMANGLED);

	snprintf(to, room, "%s", name ? name : symbol);
	free(name);
}
