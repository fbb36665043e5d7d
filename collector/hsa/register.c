/*
 * register: ROCr's tables through librocprofiler-register.
 *
 * AMD's own packages of ROCr and HIP, since ROCm 6.2, hand their tables to that library. It looks in the
 * process for rocprofiler_configure(), and if there is one it calls rocprofiler_set_api_table() for
 * each table. Then ROCr does not load HSA_TOOLS_LIB, or loads it afterwards. Both functions are here.
 * Calls of HIP are recorded by wrappers (collector/hip), so only ROCr's tables are used.
 *
 * A profiler of the program's own, which is behind us in the search order, gets every table first.
 */
#include "collector/hsa/hsa_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

typedef int set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
			  uint64_t n_tables);

WS_PUBLIC void *rocprofiler_configure(uint32_t version, const char *runtime, uint32_t priority,
				      void *client);
WS_PUBLIC set_api_table rocprofiler_set_api_table;

/* Of AMD's profiling library, if it is in the process: this is none of its tools. */
WS_PUBLIC void *rocprofiler_configure(uint32_t version, const char *runtime, uint32_t priority,
				      void *client)
{
	return NULL;
}

WS_PUBLIC int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
					void **tables, uint64_t n_tables)
{
	int saved_errno = errno, status = 0;
	set_api_table *next = (set_api_table *)dlsym(RTLD_NEXT, "rocprofiler_set_api_table");

	if (next)
		status = next(name, version, instance, tables, n_tables);
	if (name && !strcmp(name, "hsa") && tables && n_tables)
		col_hsa_take(tables[0], version);
	errno = saved_errno;
	return status;
}
