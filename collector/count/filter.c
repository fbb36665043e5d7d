/*
 * filter: which kernels are counted, by their names.
 *
 * A person writes patterns for the names that reports show, so a symbol is demangled and,
 * if asked, cut first. libstdc++ does that, which AMD's runtime has brought along; where it
 * is not to be found the symbol itself is matched.
 */
#include "base/kernel_name.h"
#include "collector/count/count_priv.h"
#include "collector/provider.h"

#include <dlfcn.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	regex_t include, exclude;
	bool has_include, has_exclude;
	char *(*demangle)(const char *, char *, size_t *, int *);
} filter;

static void find_demangler(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);

	*(void **)&filter.demangle = dlsym(library ? library : RTLD_DEFAULT, "__cxa_demangle");
	if (library)
		dlclose(library);
}

static bool compile(regex_t *regex, const char *pattern, bool *out_has)
{
	char why[96], text[256];
	int failed;

	if (*out_has)
		regfree(regex); /* of an earlier attach */
	*out_has = false;
	if (!pattern || !*pattern)
		return true;
	failed = regcomp(regex, pattern, REG_EXTENDED | REG_NOSUB);
	*out_has = !failed;
	if (!failed)
		return true;
	regerror(failed, regex, why, sizeof(why));
	snprintf(text, sizeof(text), "counters: '%.100s' is no regular expression: %s", pattern,
		 why);
	col_note(text);
	return false;
}

bool col_count_patterns(const struct col_count_request *request)
{
	find_demangler();
	return compile(&filter.include, request->include, &filter.has_include) &&
	       compile(&filter.exclude, request->exclude, &filter.has_exclude);
}

bool col_count_includes(const struct col_count_request *request, const char *symbol)
{
	size_t n = strlen(symbol);
	char *mangled, *name = NULL, *seen;
	bool included;
	int status = 0;

	if (!filter.has_include && !filter.has_exclude)
		return true;
	mangled = strdup(symbol);
	if (!mangled)
		return true;
	if (request->names != COL_COUNT_MANGLED && n > 3 && strcmp(symbol + n - 3, ".kd") == 0)
		mangled[n - 3] = 0;
	if (request->names != COL_COUNT_MANGLED && filter.demangle &&
	    strncmp(mangled, "_Z", 2) == 0)
		name = filter.demangle(mangled, NULL, NULL, &status);
	seen = name ? name : mangled;
	if (request->names == COL_COUNT_TRUNCATED) {
		struct ws_str bare = ws_kernel_name_cut(seen);

		seen += bare.at - seen;
		seen[bare.n] = 0;
	}
	included = (!filter.has_include || regexec(&filter.include, seen, 0, NULL, 0) == 0) &&
		   (!filter.has_exclude || regexec(&filter.exclude, seen, 0, NULL, 0) != 0);
	free(name);
	free(mangled);
	return included;
}
