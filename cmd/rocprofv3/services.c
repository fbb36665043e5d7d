#include "cmd/rocprofv3/services.h"

#include "base/str.h"
#include "base/unit.h"
#include "base/util.h"
#include "cmd/rocprofv3/counting.h"

#include <math.h>
#include <string.h>

#define F(field) offsetof(struct rp_args, field)

/* clang-format off */
#define SERVICE(field, id)           { F(field), COL_SERVICE_##id, NULL, NULL }
#define NO_LIBRARY(field, id, what)  { F(field), COL_SERVICE_##id, what, NULL }
#define NO_SERVICE(field, what)      { F(field), -1,               what, NULL }
#define SAMPLES(id, method)          { F(pc_sampling_beta_enabled), COL_SERVICE_##id, NULL, method }
#define NO_KFD "driver events"

const struct rp_service rp_services[] = {
	SERVICE(hsa_core_trace,          HSA_CORE),
	SERVICE(hsa_amd_trace,           HSA_AMD),
	SERVICE(hsa_image_trace,         HSA_IMAGE),
	SERVICE(hsa_finalizer_trace,     HSA_FINALIZER),
	SERVICE(hip_runtime_trace,       HIP_RUNTIME),
	SERVICE(hip_compiler_trace,      HIP_COMPILER),
	SERVICE(marker_trace,            MARKER),
	SERVICE(kernel_trace,            KERNEL),
	SERVICE(memory_copy_trace,       MEMORY_COPY),
	SERVICE(scratch_memory_trace,    SCRATCH_MEMORY),
	SERVICE(rccl_trace,              RCCL),
	SERVICE(memory_allocation_trace, MEMORY_ALLOCATION),
	NO_LIBRARY(rocdecode_trace, ROCDECODE, "rocDecode calls"),
	NO_LIBRARY(rocjpeg_trace,   ROCJPEG,   "rocJPEG calls"),
	NO_SERVICE(rocshmem_trace,           "rocSHMEM calls"),
	NO_SERVICE(hipfile_trace,            "hipFile calls"),
	NO_SERVICE(kfd_page_migration_trace, NO_KFD),
	NO_SERVICE(kfd_page_mapping_trace,   NO_KFD),
	NO_SERVICE(kfd_queue_trace,          NO_KFD),
	NO_SERVICE(kfd_dropped_events_trace, NO_KFD),
	SAMPLES(PC_HOST_TRAP,  "host_trap"),
	SAMPLES(PC_STOCHASTIC, "stochastic"),
};
/* clang-format on */
const size_t rp_n_services = WS_ARRAY_LEN(rp_services);

static const struct {
	size_t field; /* a list */
	const char *what;
} missing_lists[] = {
	{ F(ompt_trace), "OpenMP events" },
	{ F(spm), "streaming counters (--spm)" },
};

static bool is_on(const struct rp_args *args, const struct rp_service *service)
{
	return *(const enum ws_tri *)((const char *)args + service->field) == WS_TRI_YES;
}

bool rp_wants(const struct rp_args *args, const struct rp_service *service)
{
	if (!is_on(args, service))
		return false;
	return !service->method ||
	       (args->pc_sampling_method && strcmp(args->pc_sampling_method, service->method) == 0);
}

uint32_t rp_service_bits(const struct rp_args *args)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < rp_n_services; i++)
		if (rp_services[i].service >= 0 && rp_wants(args, &rp_services[i]))
			bits |= 1u << rp_services[i].service;
	if (rp_counts(args))
		bits |= rp_counts_over_time(args) ? COL_SERVICE_BIT(GPU_COUNTERS)
						  : COL_SERVICE_BIT(COUNTERS);
	return bits;
}

const char *rp_all_missing(const struct rp_args *args)
{
	const char *first = rp_missing(args, 0);

	for (size_t i = 0; i < rp_n_services; i++) {
		if (!rp_wants(args, &rp_services[i]))
			continue;
		if (!rp_services[i].missing)
			return NULL;
		if (!first)
			first = rp_services[i].missing;
	}
	return rp_counts(args) ? NULL : first;
}

const char *rp_missing(const struct rp_args *args, size_t i)
{
	for (size_t k = 0; k < WS_ARRAY_LEN(missing_lists); k++) {
		const struct ws_strv *list =
			(const struct ws_strv *)((const char *)args + missing_lists[k].field);

		if (list->n && i-- == 0)
			return missing_lists[k].what;
	}
	return NULL;
}

unsigned rp_n_enabled(const struct rp_args *args)
{
	unsigned n = 0;

	for (size_t i = 0; i < rp_n_services; i++)
		n += rp_wants(args, &rp_services[i]);
	n += args->advanced_thread_trace == WS_TRI_YES;
	n += rp_counts(args);
	n += args->ompt_trace.n > 0;
	n += args->spm.n > 0;
	return n;
}

size_t rp_requests(const struct rp_args *args, const struct rp_args *asked,
		   struct output_ledger_request out_requests[RP_REQUESTS_MAX])
{
	size_t n = 0;
	const char *what;

	_Static_assert(WS_ARRAY_LEN(rp_services) + WS_ARRAY_LEN(missing_lists) < RP_REQUESTS_MAX,
		       "room for every request");
	for (size_t i = 0; i < rp_n_services; i++) {
		const struct rp_service *s = &rp_services[i];

		if (!rp_wants(args, s))
			continue;
		/* by whatever method: that may have been changed to one that the GPU has */
		out_requests[n] = (struct output_ledger_request){ .unsupported = s->missing,
								  .named = is_on(asked, s) };
		if (s->service >= 0)
			out_requests[n].domain = col_service_domain((enum col_service)s->service);
		n++;
	}
	if (rp_counts(args))
		out_requests[n++] = (struct output_ledger_request){
			.domain = rp_counts_over_time(args) ? CAP_DOMAIN_METRICS
							    : CAP_DOMAIN_COUNTER_COLLECTION,
			.named = true
		};
	for (size_t i = 0; (what = rp_missing(args, i)); i++)
		out_requests[n++] =
			(struct output_ledger_request){ .unsupported = what, .named = true };
	return n;
}

/* ---- collection periods ---- */

static bool time_ns(struct ws_str text, double ns, uint64_t *out)
{
	double value;

	if (!ws_str_f64(text, &value) || !(value >= 0) || value * ns >= 1.8e19)
		return false;
	*out = (uint64_t)llround(value * ns);
	return true;
}

static enum ws_status add_period(const char *text, double ns, struct col_collect_config *config,
				 struct ws_err *err)
{
	struct col_collect_period *p = &config->periods[config->n_periods];
	struct ws_str rest = ws_str_from(text), part;

	if (config->n_periods == COL_COLLECT_PERIODS_MAX)
		return ws_fail(err, WS_E_USAGE, "more than %u collection periods",
			       COL_COLLECT_PERIODS_MAX);
	if (!ws_str_next(&rest, ':', &part) || !time_ns(part, ns, &p->delay_ns) ||
	    !ws_str_next(&rest, ':', &part) || !time_ns(part, ns, &p->duration_ns) ||
	    !ws_str_next(&rest, ':', &part) || !ws_str_u64(part, &p->repeat) || rest.at)
		return ws_fail(err, WS_E_USAGE,
			       "option '--collection-period': '%s' is not DELAY:TIME:REPEAT", text);
	config->n_periods++;
	return WS_OK;
}

/* ---- all of it ---- */

enum ws_status rp_collect_config(const struct rp_args *args, struct col_collect_config *out_config,
				 struct ws_err *err)
{
	static const struct {
		size_t field;
		uint32_t flag;
	} flags[] = {
		{ F(kernel_rename), COL_COLLECT_FLAG(KERNEL_RENAME) },
		{ F(selected_regions), COL_COLLECT_FLAG(SELECTED_REGIONS) },
		{ F(selected_regions_ref_count), COL_COLLECT_FLAG(REGION_REF_COUNT) },
		{ F(group_by_queue), COL_COLLECT_FLAG(GROUP_BY_QUEUE) },
		{ F(hsa_symbol_queries), COL_COLLECT_FLAG(SYMBOL_QUERIES) },
	};
	/* The log level of the collector inside the program. */
	static const struct {
		const char *level;
		uint32_t log;
	} levels[] = {
		{ "fatal", COL_COLLECT_LOG_ERROR },
		{ "error", COL_COLLECT_LOG_ERROR },
		{ "info", COL_COLLECT_LOG_INFO },
		{ "trace", COL_COLLECT_LOG_TRACE },
	};
	enum ws_time_unit unit = WS_TIME_SEC;
	uint64_t limit_mb;
	enum ws_status st = WS_OK;

	ws_time_unit_parse(args->collection_period_unit, &unit);
	out_config->services = rp_service_bits(args);
	if (out_config->services & (COL_SERVICE_BIT(PC_HOST_TRAP) | COL_SERVICE_BIT(PC_STOCHASTIC)))
		out_config->flags |= COL_COLLECT_FLAG(CODE_BYTES);
	for (size_t i = 0; i < WS_ARRAY_LEN(flags); i++)
		if (*(const enum ws_tri *)((const char *)args + flags[i].field) == WS_TRI_YES)
			out_config->flags |= flags[i].flag;
	for (size_t i = 0; i < WS_ARRAY_LEN(levels); i++)
		if (args->log_level && strcmp(args->log_level, levels[i].level) == 0)
			out_config->log = levels[i].log;
	for (size_t i = 0; i < args->collection_period.n && !st; i++)
		st = add_period(args->collection_period.at[i], (double)ws_time_unit_ns(unit),
				out_config, err);
	if (!st && args->pc_sampling_interval)
		ws_str_u64(ws_str_from(args->pc_sampling_interval), &out_config->pc_interval);
	if (!st && args->capture_limit && ws_str_u64(ws_str_from(args->capture_limit), &limit_mb))
		out_config->max_bytes = limit_mb << 20;
	return st;
}
