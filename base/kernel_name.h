/*
 * kernel_name: the bare function name in a demangled kernel name.
 *
 * Inline and without allocation, because the collector uses it inside the profiled program.
 */
#ifndef WS_BASE_KERNEL_NAME_H
#define WS_BASE_KERNEL_NAME_H

#include "base/str.h"

#include <string.h>

/* Where the group of brackets that ends at @end begins; @end when there is none. */
static inline size_t ws_kernel_name_group_(const char *text, size_t end)
{
	static const char close[] = ")>]", open[] = "(<[";
	const char *which = end ? memchr(close, text[end - 1], 3) : NULL;
	size_t depth = 0;

	for (size_t i = end; which && i-- > 0;) {
		if (text[i] == *which)
			depth++;
		else if (text[i] == open[which - close] && --depth == 0)
			return i;
	}
	return end;
}

/* As AMD's tool cuts it: without trailing (), <> and [], and what is before a blank or colon. */
static inline struct ws_str ws_kernel_name_cut(const char *demangled)
{
	size_t end = strlen(demangled), begin, cut;

	for (;;) {
		while (end && demangled[end - 1] == ' ')
			end--;
		cut = ws_kernel_name_group_(demangled, end);
		if (cut == end || cut == 0)
			break;
		end = cut;
	}
	for (begin = end; begin && demangled[begin - 1] != ' ' && demangled[begin - 1] != ':';)
		begin--;
	return (struct ws_str){ demangled + begin, end - begin };
}

#endif
