/*
 * One program under many names. The name it is called by picks the row; any
 * other name (a copy, a debugger's wrapper) is wavescope.
 */
#include "cmd/cmd.h"

#include "base/util.h"

#include <string.h>

static const struct ws_cmd *const commands[] = {
	&cmd_wavescope,
	&cmd_rocprofv3,
	&cmd_rocprofv3_avail,
	&cmd_rocpd,
	&cmd_rocpd2csv,
	&cmd_rocpd2pftrace,
	&cmd_rocpd2otf2,
	&cmd_rocpd2summary,
	&cmd_rocprof_compute,
	&cmd_rocprof_sys_avail,
	&cmd_rocprof_sys_run,
	&cmd_rocprof_sys_sample,
	&cmd_rocprof_sys_instrument,
	&cmd_rocprof_sys_python,
	&cmd_rocprof_sys_merge_output,
	&cmd_madengine,
};

int main(int argc, char **argv)
{
	const struct ws_cmd *chosen = &cmd_wavescope;
	const char *name = argc > 0 ? argv[0] : "";
	const char *slash = strrchr(name, '/');

	if (slash)
		name = slash + 1;
	for (size_t i = 0; i < WS_ARRAY_LEN(commands); i++)
		if (strcmp(name, commands[i]->name) == 0)
			chosen = commands[i];
	return ws_cmd_main(chosen, "wavescope " WS_VERSION, argc, argv);
}
