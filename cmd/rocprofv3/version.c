#include "cmd/rocprofv3/version.h"

#include "base/util.h"

#include <stdio.h>
#include <sys/utsname.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

void rp_print_version(void)
{
	struct utsname name = { .sysname = "Linux" };

	uname(&name);
	const char *const rows[][2] = {
		{ "version",
		  TEXT(RP_VERSION_MAJOR) "." TEXT(RP_VERSION_MINOR) "." TEXT(RP_VERSION_PATCH) },
		{ "git_revision", "wavescope-" WS_VERSION },
		{ "library_arch", RP_LIBRARY_ARCH },
		{ "system_name", name.sysname },
		{ "system_processor", name.machine },
		{ "system_version", name.release },
		{ "compiler_id", RP_COMPILER_ID },
		{ "compiler_version", __VERSION__ },
		{ "rocm_version", RP_ROCM_VERSION },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++)
		printf("    %16s: %s\n", rows[i][0], rows[i][1]);
}
