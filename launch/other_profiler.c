#include "launch/other_profiler.h"

#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The variables, and which of their values load a profiler; NULL: every one. */
static const struct {
	const char *variable, *part;
} loaders[] = {
	{ "HSA_TOOLS_LIB", NULL },
	{ "ROCP_TOOL_LIBRARIES", NULL },
	{ "LD_PRELOAD", "librocprofiler-sdk-tool" },
	{ "LD_PRELOAD", "librocprofiler64" },
	{ "LD_PRELOAD", "librocprof-sys-dl" },
};

bool launch_other_profiler(char *out_text, size_t room)
{
	snprintf(out_text, room, "%s", "");
	for (size_t i = 0; i < WS_ARRAY_LEN(loaders); i++) {
		const char *value = getenv(loaders[i].variable);

		/* A program under wavescope that starts wavescope has ours. */
		if (!value || !*value || strstr(value, "libwavescope") ||
		    (loaders[i].part && !strstr(value, loaders[i].part)))
			continue;
		snprintf(out_text, room, "%s=%s", loaders[i].variable, value);
		return true;
	}
	return false;
}
