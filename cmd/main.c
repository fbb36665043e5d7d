/*
 * One program under many names. The name it is called by picks the row; any
 * other name (a copy, a debugger's wrapper) is wavescope.
 */
#include "cmd/cmd.h"

#include "base/util.h"

#include <string.h>

static const struct ws_cmd *const commands[] = {
	&ws_wavescope_cmd,  &ws_rocprofv3_cmd,     &ws_rocprofv3_avail_cmd,
	&ws_rocpd_cmd,      &ws_rocpd2csv_cmd,     &ws_rocpd2pftrace_cmd,
	&ws_rocpd2otf2_cmd, &ws_rocpd2summary_cmd, &ws_rocprof_compute_cmd,
};

int main(int argc, char **argv)
{
	const struct ws_cmd *chosen = &ws_wavescope_cmd;
	const char *name = argc > 0 ? argv[0] : "";
	const char *slash = strrchr(name, '/');

	if (slash)
		name = slash + 1;
	for (size_t i = 0; i < WS_ARRAY_LEN(commands); i++)
		if (strcmp(name, commands[i]->name) == 0)
			chosen = commands[i];
	return ws_cmd_main(chosen, "wavescope " WS_VERSION, argc, argv);
}
