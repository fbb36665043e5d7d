/* names: AMD's enumerations as text, and kernel names in their forms. */
#include "trace/trace.h"

#include "base/kernel_name.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

const char *const trc_agent_index_words[] = {
	[TRC_AGENT_INDEX_RELATIVE] = "relative",
	[TRC_AGENT_INDEX_ABSOLUTE] = "absolute",
	[TRC_AGENT_INDEX_TYPE] = "type-relative",
	NULL,
};

const char *trc_process_program(const struct trc_process *process)
{
	const char *name = process->n_argv ? process->argv[0] : "?";
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

#define NAME_ROW(name, number) [number] = #name,

const char *trc_domain_name(enum cap_domain domain)
{
	static const char *const names[] = { CAP_DOMAIN_TABLE(NAME_ROW) };

	return (unsigned)domain < WS_ARRAY_LEN(names) ? names[domain] : NULL;
}

const char *trc_domain_label(enum cap_domain domain)
{
	/* clang-format off */
	static const char *const labels[CAP_DOMAIN_COUNT] = {
		[CAP_DOMAIN_HSA_API]                = "HSA calls",
		[CAP_DOMAIN_HIP_API]                = "HIP calls",
		[CAP_DOMAIN_MARKER_API]             = "markers",
		[CAP_DOMAIN_KERNEL_DISPATCH]        = "kernel dispatches",
		[CAP_DOMAIN_MEMORY_COPY]            = "memory copies",
		[CAP_DOMAIN_SCRATCH_MEMORY]         = "scratch memory",
		[CAP_DOMAIN_COUNTER_COLLECTION]     = "counted dispatches",
		[CAP_DOMAIN_RCCL_API]               = "RCCL calls",
		[CAP_DOMAIN_MEMORY_ALLOCATION]      = "memory allocations",
		[CAP_DOMAIN_COUNTER_VALUES]         = "counter values",
		[CAP_DOMAIN_PC_SAMPLING_HOST_TRAP]  = "PC samples (host trap)",
		[CAP_DOMAIN_ROCDECODE_API]          = "rocDecode calls",
		[CAP_DOMAIN_ROCJPEG_API]            = "rocJPEG calls",
		[CAP_DOMAIN_PC_SAMPLING_STOCHASTIC] = "PC samples (stochastic)",
		[CAP_DOMAIN_CALL_STACK_SAMPLING]    = "call-stack samples",
		[CAP_DOMAIN_METRICS]                = "metrics",
		[CAP_DOMAIN_REGIONS]                = "regions",
	};
	/* clang-format on */

	return (unsigned)domain < WS_ARRAY_LEN(labels) ? labels[domain] : NULL;
}

#define CATEGORY_ROW(id, name) name,

const char *trc_metric_category_name(enum cap_metric_category category)
{
	static const char *const names[] = { CAP_METRIC_CATEGORY_TABLE(CATEGORY_ROW) };

	return (unsigned)category < WS_ARRAY_LEN(names) ? names[category] : NULL;
}

const char *trc_region_category_name(enum cap_region_category category)
{
	static const char *const names[] = { CAP_REGION_CATEGORY_TABLE(CATEGORY_ROW) };

	return (unsigned)category < WS_ARRAY_LEN(names) ? names[category] : NULL;
}

const char *trc_kind_name(enum cap_kind kind)
{
	static const char *const names[] = { CAP_KIND_TABLE(NAME_ROW) };

	return (unsigned)kind < WS_ARRAY_LEN(names) ? names[kind] : NULL;
}

/* clang-format off */
static const struct {
	enum cap_kind kind;
	const char *const names[8];
} fixed_ops[] = {
	{ CAP_KIND_KERNEL_DISPATCH, { "KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE",
		"KERNEL_DISPATCH_COMPLETE" } },
	{ CAP_KIND_MEMORY_COPY, { "MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST",
		"MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST",
		"MEMORY_COPY_DEVICE_TO_DEVICE" } },
	{ CAP_KIND_MEMORY_ALLOCATION, { "MEMORY_ALLOCATION_NONE", "MEMORY_ALLOCATION_ALLOCATE",
		"MEMORY_ALLOCATION_VMEM_ALLOCATE", "MEMORY_ALLOCATION_FREE",
		"MEMORY_ALLOCATION_VMEM_FREE" } },
	{ CAP_KIND_SCRATCH_MEMORY, { "SCRATCH_MEMORY_NONE", "SCRATCH_MEMORY_ALLOC",
		"SCRATCH_MEMORY_FREE", "SCRATCH_MEMORY_ASYNC_RECLAIM" } },
	{ CAP_KIND_MARKER_CORE_RANGE_API, { "roctxMarkA", "roctxThreadRangeA", "roctxProcessRangeA",
		"roctxGetThreadId" } },
	{ CAP_KIND_MARKER_CONTROL_API, { "roctxProfilerPause", "roctxProfilerResume" } },
	{ CAP_KIND_MARKER_CORE_API, { "roctxMarkA", "roctxRangePushA", "roctxRangePop",
		"roctxRangeStartA", "roctxRangeStop", "roctxGetThreadId" } },
	{ CAP_KIND_MARKER_NAME_API, { "roctxNameOsThread", "roctxNameHsaAgent",
		"roctxNameHipDevice", "roctxNameHipStream" } },
	{ CAP_KIND_RUNTIME_INITIALIZATION, { "RUNTIME_INITIALIZATION_NONE",
		"RUNTIME_INITIALIZATION_HSA", "RUNTIME_INITIALIZATION_HIP",
		"RUNTIME_INITIALIZATION_MARKER", "RUNTIME_INITIALIZATION_RCCL",
		"RUNTIME_INITIALIZATION_ROCDECODE", "RUNTIME_INITIALIZATION_ROCJPEG" } },
	{ CAP_KIND_HIP_STREAM, { "HIP_STREAM_NONE", "HIP_STREAM_CREATE", "HIP_STREAM_DESTROY",
		"HIP_STREAM_SET" } },
};
/* clang-format on */

const char *trc_kind_op_name(enum cap_kind kind, uint32_t id)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(fixed_ops); i++) {
		if (fixed_ops[i].kind == kind && id < WS_ARRAY_LEN(fixed_ops[i].names))
			return fixed_ops[i].names[id];
	}
	return NULL;
}

/*
 * libstdc++'s, because AMD's tool uses it and names are compared across tools
 * letter by letter; libiberty's prints the same but is one more package, and
 * every machine that can run HIP has libstdc++. Declared here: the header is C++.
 */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *n, int *status);

char *trc_demangle(const char *mangled)
{
	char *text = NULL;
	int status = 0;

	/* Without the prefix a C kernel called "f" would be read as a type, and become "float". */
	if (strncmp(mangled, "_Z", 2) == 0)
		text = __cxa_demangle(mangled, NULL, NULL, &status);
	return text ? text : strdup(mangled);
}

char *trc_truncate_name(const char *demangled)
{
	struct ws_str name = ws_kernel_name_cut(demangled);

	return strndup(name.at, name.n);
}
