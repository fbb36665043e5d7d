#include "launch/cpu_events.h"

#include "base/util.h"

#include <linux/perf_event.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* clang-format off */
/* PAPI's presets that the kernel counts under a name of its own on every processor. */
static const struct {
	const char *name, *event, *text;
} presets[] = {
	{ "PAPI_TOT_CYC", "perf::PERF_COUNT_HW_CPU_CYCLES",          "Total cycles" },
	{ "PAPI_TOT_INS", "perf::PERF_COUNT_HW_INSTRUCTIONS",        "Instructions completed" },
	{ "PAPI_BR_INS",  "perf::PERF_COUNT_HW_BRANCH_INSTRUCTIONS", "Branch instructions" },
	{ "PAPI_BR_MSP",  "perf::PERF_COUNT_HW_BRANCH_MISSES",       "Mispredicted branches" },
	{ "PAPI_L3_TCA",  "perf::PERF_COUNT_HW_CACHE_REFERENCES",    "Accesses to the last-level cache" },
	{ "PAPI_L3_TCM",  "perf::PERF_COUNT_HW_CACHE_MISSES",        "Misses of the last-level cache" },
	{ "PAPI_RES_STL", "perf::PERF_COUNT_HW_STALLED_CYCLES_BACKEND",  "Cycles stalled on any resource" },
	{ "PAPI_STL_ICY", "perf::PERF_COUNT_HW_STALLED_CYCLES_FRONTEND", "Cycles without instruction issue" },
	{ "PAPI_REF_CYC", "perf::PERF_COUNT_HW_REF_CPU_CYCLES",      "Reference clock cycles" },
	{ "PAPI_L1_DCM",  "perf::PERF_COUNT_HW_CACHE_L1D:READ:MISS", "Level 1 data cache misses" },
	{ "PAPI_L1_ICM",  "perf::PERF_COUNT_HW_CACHE_L1I:READ:MISS", "Level 1 instruction cache misses" },
	{ "PAPI_TLB_DM",  "perf::PERF_COUNT_HW_CACHE_DTLB:READ:MISS", "Data TLB misses" },
	{ "PAPI_TLB_IM",  "perf::PERF_COUNT_HW_CACHE_ITLB:READ:MISS", "Instruction TLB misses" },
};
/* clang-format on */

static enum ws_status start(struct ws_err *err)
{
	int code = pfm_initialize();

	if (code != PFM_SUCCESS)
		return ws_fail(err, WS_E_UNSUPPORTED, "libpfm does not start: %s",
			       pfm_strerror(code));
	return WS_OK;
}

/* The kernel's numbers of a name that libpfm knows; @plain: they are all there is to it. */
static bool encode(const char *name, struct launch_cpu_event *event, bool *plain)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };

	for (size_t i = 0; i < WS_ARRAY_LEN(presets); i++)
		if (strcmp(name, presets[i].name) == 0)
			name = presets[i].event;
	if (pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT, &arg) != PFM_SUCCESS)
		return false;
	event->type = attr.type;
	event->config = attr.config;
	*plain = !attr.exclude_user && attr.exclude_kernel && !attr.config1 && !attr.config2;
	return true;
}

static bool can_be_opened(const struct launch_cpu_event *event)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->type,
		.config = event->config,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

struct visitor {
	enum ws_status (*visit)(void *ctx, const struct launch_cpu_event *event,
				struct ws_err *err);
	void *ctx;
};

static enum ws_status visit_one(const struct visitor *v, const char *name, const char *text,
				struct ws_err *err)
{
	struct launch_cpu_event event = { .name = name, .text = text ? text : "" };
	bool plain;

	event.available = encode(name, &event, &plain) && can_be_opened(&event);
	return v->visit(v->ctx, &event, err);
}

static enum ws_status visit_pmu(const struct visitor *v, const pfm_pmu_info_t *pmu,
				struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (int i = pmu->first_event; i != -1 && !st; i = pfm_get_event_next(i)) {
		pfm_event_info_t info = { .size = sizeof(info) };
		char name[256];

		if (pfm_get_event_info(i, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS)
			continue;
		snprintf(name, sizeof(name), "%s::%s", pmu->name, info.name);
		st = visit_one(v, name, info.desc, err);
	}
	return st;
}

enum ws_status launch_cpu_events_each(enum ws_status (*visit)(void *ctx,
							      const struct launch_cpu_event *event,
							      struct ws_err *err),
				      void *ctx, struct ws_err *err)
{
	struct visitor v = { visit, ctx };
	enum ws_status st = start(err);

	for (size_t i = 0; i < WS_ARRAY_LEN(presets) && !st; i++)
		st = visit_one(&v, presets[i].name, presets[i].text, err);
	for (int id = PFM_PMU_NONE; id < PFM_PMU_MAX && !st; id++) {
		pfm_pmu_info_t pmu = { .size = sizeof(pmu) };

		if (pfm_get_pmu_info((pfm_pmu_t)id, &pmu) == PFM_SUCCESS && pmu.is_present)
			st = visit_pmu(&v, &pmu, err);
	}
	return st;
}

enum ws_status launch_cpu_event_find(const char *name, struct launch_cpu_event *out_event,
				     struct ws_err *err)
{
	enum ws_status st = start(err);
	bool plain;

	*out_event = (struct launch_cpu_event){ .name = name, .text = "" };
	if (st)
		return st;
	if (!encode(name, out_event, &plain))
		return ws_fail(
			err, WS_E_NOTFOUND,
			"no CPU counter '%s' on this machine: 'rocprof-sys-avail -H -c CPU' lists "
			"them",
			name);
	if (!plain)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "CPU counter '%s': only counting in user mode is supported: leave "
			       "out its modifiers",
			       name);
	out_event->available = can_be_opened(out_event);
	return WS_OK;
}
