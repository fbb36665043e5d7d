/* rig: what the tests of madengine's library share: trees in an arena, parts of a text. */
#ifndef WS_TESTS_MODELS_RIG_H
#define WS_TESTS_MODELS_RIG_H

#include "base/doc_edit.h"
#include "tests/unit/doc_rig.h"

#include <string.h>

static inline void has(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text ? text : "");
}

static inline void lacks(const char *text, const char *part)
{
	if (!text || strstr(text, part))
		fail_msg("'%s' in:\n%s", part, text ? text : "");
}

#endif
