/*
 * pcre2: the functions of PCRE2 that base/pattern.c calls, found when there is a pattern.
 *
 * An injected library must not load libraries that the program did not choose. So the
 * collector is not linked with PCRE2. Only if kernels are filtered by name, the library is
 * opened, separate from the program's symbols.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "collector/count/count_priv.h"

#include <dlfcn.h>
#include <pcre2.h>

#define LIBRARY "libpcre2-8.so.0"

/* name, result, parameters, arguments */
#define FUNCTIONS(X)                                                                               \
	X(pcre2_compile, pcre2_code *,                                                             \
	  (PCRE2_SPTR text, PCRE2_SIZE n, uint32_t options, int *error, PCRE2_SIZE *at,            \
	   pcre2_compile_context *context),                                                        \
	  (text, n, options, error, at, context))                                                  \
	X(pcre2_code_free, void, (pcre2_code * code), (code))                                      \
	X(pcre2_match, int,                                                                        \
	  (const pcre2_code *code, PCRE2_SPTR text, PCRE2_SIZE n, PCRE2_SIZE at, uint32_t options, \
	   pcre2_match_data *data, pcre2_match_context *context),                                  \
	  (code, text, n, at, options, data, context))                                             \
	X(pcre2_match_data_create, pcre2_match_data *,                                             \
	  (uint32_t n, pcre2_general_context * context), (n, context))                             \
	X(pcre2_match_data_free, void, (pcre2_match_data * data), (data))                          \
	X(pcre2_match_context_create, pcre2_match_context *, (pcre2_general_context * context),    \
	  (context))                                                                               \
	X(pcre2_match_context_free, void, (pcre2_match_context * context), (context))              \
	X(pcre2_set_match_limit, int, (pcre2_match_context * context, uint32_t n), (context, n))   \
	X(pcre2_set_heap_limit, int, (pcre2_match_context * context, uint32_t n), (context, n))    \
	X(pcre2_get_error_message, int, (int error, PCRE2_UCHAR *text, PCRE2_SIZE n),              \
	  (error, text, n))

static struct {
#define MEMBER(name, result, parameters, arguments) result(*name) parameters;
	FUNCTIONS(MEMBER)
} real;

bool col_count_load_pcre2(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
#define FIND(name, result, parameters, arguments)                                                  \
	*(void **)&real.name = dlsym(library, #name "_8");                                         \
	if (!real.name)                                                                            \
		return false;
	FUNCTIONS(FIND)
	return true;
}

#define FORWARD(name, result, parameters, arguments)                                               \
	result name parameters                                                                     \
	{                                                                                          \
		return real.name arguments;                                                        \
	}
FUNCTIONS(FORWARD)
