#include "cmd/sys/collect.h"

#include "base/log.h"
#include "base/util.h"
#include "launch/cpu_events.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NS_PER_S 1e9
/* Longer than any program runs; twice that still fits into 64 bits of nanoseconds. */
#define FOREVER_NS (UINT64_MAX / 8)

/* ---- domains ---- */

#define HIP_ALL (COL_SERVICE_BIT(HIP_RUNTIME) | COL_SERVICE_BIT(HIP_COMPILER))
#define HSA_ALL                                                                                    \
	(COL_SERVICE_BIT(HSA_CORE) | COL_SERVICE_BIT(HSA_AMD) | COL_SERVICE_BIT(HSA_IMAGE) |       \
	 COL_SERVICE_BIT(HSA_FINALIZER))

static const struct {
	const char *domain;
	uint32_t services;
	const char *missing; /* what it is, when it is not recorded */
} domains[] = {
	/* clang-format off */
	{ "hip_api",                HIP_ALL,                            NULL },
	{ "hip_runtime_api",        COL_SERVICE_BIT(HIP_RUNTIME),       NULL },
	{ "hip_compiler_api",       COL_SERVICE_BIT(HIP_COMPILER),      NULL },
	{ "hip_stream",             0,                                  NULL }, /* is part of kernels and copies */
	{ "hsa_api",                HSA_ALL,                            NULL },
	{ "hsa_core_api",           COL_SERVICE_BIT(HSA_CORE),          NULL },
	{ "hsa_amd_ext_api",        COL_SERVICE_BIT(HSA_AMD),           NULL },
	{ "hsa_image_ext_api",      COL_SERVICE_BIT(HSA_IMAGE),         NULL },
	{ "hsa_finalize_ext_api",   COL_SERVICE_BIT(HSA_FINALIZER),     NULL },
	{ "marker_api",             COL_SERVICE_BIT(MARKER),            NULL },
	{ "roctx",                  COL_SERVICE_BIT(MARKER),            NULL },
	{ "kernel_dispatch",        COL_SERVICE_BIT(KERNEL),            NULL },
	{ "memory_copy",            COL_SERVICE_BIT(MEMORY_COPY),       NULL },
	{ "memory_allocation",      COL_SERVICE_BIT(MEMORY_ALLOCATION), NULL },
	{ "scratch_memory",         COL_SERVICE_BIT(SCRATCH_MEMORY),    NULL },
	{ "rccl_api",               COL_SERVICE_BIT(RCCL),              NULL },
	{ "rocdecode_api",          0, "rocDecode calls" },
	{ "rocjpeg_api",            0, "rocJPEG calls" },
	{ "ompt",                   0, "OpenMP events" },
	{ "page_migration",         0, "page migrations" },
	{ "runtime_initialization", 0, "initialization of runtimes" },
	/* clang-format on */
};

static uint32_t rocm_services(const struct set_values *values)
{
	uint32_t services = 0;

	if (!set_on(values, SET_USE_ROCM))
		return 0;
	for (size_t i = 0; i < WS_ARRAY_LEN(domains); i++)
		if (set_has(values, SET_ROCM_DOMAINS, domains[i].domain))
			services |= domains[i].services;
	if (set_on(values, SET_USE_RCCLP))
		services |= COL_SERVICE_BIT(RCCL);
	if (set_on(values, SET_USE_KOKKOSP))
		services |= COL_SERVICE_BIT(MARKER);
	if (*set_text(values, SET_ROCM_EVENTS))
		services |= COL_SERVICE_BIT(COUNTERS) | COL_SERVICE_BIT(KERNEL);
	return services;
}

size_t sys_requests(const struct set_values *values,
		    struct output_ledger_request out_requests[SYS_REQUESTS_MAX])
{
	/* A file lists them all; whoever types one wants it. Programs without a GPU are fine. */
	bool named = values->at[SET_ROCM_DOMAINS].origin >= SET_FROM_ENVIRONMENT &&
		     set_on(values, SET_USE_ROCM);
	size_t n = 0;

	_Static_assert(WS_ARRAY_LEN(domains) + 4 < SYS_REQUESTS_MAX, "room for every request");
	for (size_t i = 0; i < WS_ARRAY_LEN(domains) && named; i++) {
		if (!set_has(values, SET_ROCM_DOMAINS, domains[i].domain) ||
		    (!domains[i].services && !domains[i].missing))
			continue;
		out_requests[n] = (struct output_ledger_request){ .unsupported = domains[i].missing,
								  .named = true };
		if (domains[i].services)
			out_requests[n].domain = col_service_domain(
				(enum col_service)__builtin_ctz(domains[i].services));
		n++;
	}
	if (*set_text(values, SET_ROCM_EVENTS))
		out_requests[n++] =
			(struct output_ledger_request){ .domain = CAP_DOMAIN_COUNTER_COLLECTION,
							.named = true };
	return n;
}

/* ---- times ---- */

static enum ws_status to_ns(enum set_id id, double seconds, uint64_t *out_ns, struct ws_err *err)
{
	if (!(seconds >= 0) || seconds > 1e9)
		return ws_fail(err, WS_E_USAGE, "%s: %g is not a time in seconds",
			       set_defs[id].name, seconds);
	*out_ns = (uint64_t)llround(seconds * NS_PER_S);
	return WS_OK;
}

/* Seconds of a setting; those below 0 (0 with @zero_too) mean another one. */
static double seconds_or(const struct set_values *values, enum set_id id, enum set_id otherwise,
			 bool zero_too)
{
	double value = set_real(values, id);

	return value < 0 || (zero_too && value == 0) ? set_real(values, otherwise) : value;
}

/* The others run as fast as each other. */
static bool is_cpu_clock(const char *clock)
{
	return strcasecmp(clock, "cputime") == 0 ||
	       strcasecmp(clock, "CLOCK_PROCESS_CPUTIME_ID") == 0 || strcmp(clock, "2") == 0;
}

/* Seconds; a repeat below 1: for ever. */
struct window {
	double delay, duration, repeat;
};

static enum ws_status add_period(struct col_collect_config *config, struct window window,
				 const char *clock, struct ws_err *err)
{
	struct col_collect_period *p = &config->periods[config->n_periods];
	enum ws_status st;

	if (config->n_periods == COL_COLLECT_PERIODS_MAX)
		return ws_fail(err, WS_E_LIMIT, "%s: more than %u periods",
			       set_defs[SET_TRACE_PERIODS].name, COL_COLLECT_PERIODS_MAX);
	st = to_ns(SET_TRACE_DELAY, window.delay, &p->delay_ns, err);
	if (!st)
		st = to_ns(SET_TRACE_DURATION, window.duration, &p->duration_ns, err);
	if (st)
		return st;
	if (!p->duration_ns)
		p->duration_ns = FOREVER_NS;
	p->repeat = window.repeat < 1 ? 0 : (uint64_t)window.repeat;
	p->cpu_time = is_cpu_clock(clock);
	config->n_periods++;
	return WS_OK;
}

/* DELAY:DURATION[:REPEAT[:CLOCK]] */
static enum ws_status parse_period(struct ws_str word, const char *default_clock,
				   struct col_collect_config *config, struct ws_err *err)
{
	double numbers[3] = { 0, 0, 1 };
	struct ws_str rest = word, part;
	size_t n = 0;
	char clock[64];

	for (; n < 3 && rest.at && ws_str_next(&rest, ':', &part); n++)
		if (!ws_str_f64(part, &numbers[n]))
			break;
	if (n < 2 || (n < 3 && rest.at))
		return ws_fail(err, WS_E_USAGE, "%s: '%.*s' is not DELAY:DURATION[:REPEAT[:CLOCK]]",
			       set_defs[SET_TRACE_PERIODS].name, WS_STR_ARGS(word));
	if (rest.at)
		snprintf(clock, sizeof(clock), "%.*s", WS_STR_ARGS(rest));
	return add_period(config, (struct window){ numbers[0], numbers[1], numbers[2] },
			  rest.at ? clock : default_clock, err);
}

static enum ws_status choose_periods(const struct set_values *values,
				     struct col_collect_config *config, struct ws_err *err)
{
	struct ws_str rest = ws_str_from(set_text(values, SET_TRACE_PERIODS)), word;
	double delay = set_real(values, SET_TRACE_DELAY);
	double duration = set_real(values, SET_TRACE_DURATION);
	const char *clock = set_text(values, SET_TRACE_PERIOD_CLOCK_ID);
	enum ws_status st = WS_OK;

	if (delay > 0 || duration > 0)
		st = add_period(config, (struct window){ delay, duration, 1 }, clock, err);
	while (!st && set_next_word(&rest, false, &word))
		st = parse_period(word, clock, config, err);
	return st;
}

/* ---- call stacks ---- */

static const struct sampler {
	enum cap_sampler which;
	enum set_id on, freq, delay, tids, signal;
} samplers[] = {
	{ CAP_SAMPLER_CPU_TIME, SET_SAMPLING_CPUTIME, SET_SAMPLING_CPUTIME_FREQ,
	  SET_SAMPLING_CPUTIME_DELAY, SET_SAMPLING_CPUTIME_TIDS, SET_SAMPLING_CPUTIME_SIGNAL },
	{ CAP_SAMPLER_REAL_TIME, SET_SAMPLING_REALTIME, SET_SAMPLING_REALTIME_FREQ,
	  SET_SAMPLING_REALTIME_DELAY, SET_SAMPLING_REALTIME_TIDS, SET_SAMPLING_REALTIME_SIGNAL },
	{ CAP_SAMPLER_OVERFLOW, SET_SAMPLING_OVERFLOW, SET_SAMPLING_OVERFLOW_FREQ,
	  SET_SAMPLING_DELAY, SET_SAMPLING_OVERFLOW_TIDS, SET_SAMPLING_OVERFLOW_SIGNAL },
};

static enum ws_status find_event(enum set_id id, const char *name, struct col_cpu_event *out,
				 bool *out_available, struct ws_err *err)
{
	struct launch_cpu_event event;
	enum ws_status st;

	if (strlen(name) >= sizeof(out->name))
		st = ws_fail(err, WS_E_NOTFOUND, "no CPU counter has a name as long as '%s'", name);
	else
		st = launch_cpu_event_find(name, &event, err);
	if (st)
		return ws_fail_in(err, st, "%s", set_defs[id].name);
	*out = (struct col_cpu_event){ .type = event.type, .config = event.config };
	strcpy(out->name, name);
	*out_available = event.available;
	return WS_OK;
}

/* What each sample counts besides. An event that cannot be opened here is left out. */
static enum ws_status choose_counted(const struct set_values *values,
				     struct col_collect_config *config, struct ws_err *err)
{
	struct ws_str rest = ws_str_from(set_text(values, SET_PAPI_EVENTS)), word;
	const char *setting = set_defs[SET_PAPI_EVENTS].name;
	enum ws_status st = WS_OK;

	if (*rest.at && !(config->services & COL_SERVICE_BIT(CALL_STACKS)))
		ws_log_warn("%s has no effect without call-stack sampling: use -S", setting);
	while (!st && config->services & COL_SERVICE_BIT(CALL_STACKS) &&
	       set_next_word(&rest, false, &word)) {
		char name[256];
		bool available = false;

		if (config->n_cpu_events == COL_CPU_EVENTS_MAX)
			return ws_fail(err, WS_E_LIMIT, "%s: more than %u counters", setting,
				       COL_CPU_EVENTS_MAX);
		snprintf(name, sizeof(name), "%.*s", WS_STR_ARGS(word));
		st = find_event(SET_PAPI_EVENTS, name, &config->cpu_events[config->n_cpu_events],
				&available, err);
		if (!st && available)
			config->n_cpu_events++;
		else if (!st && set_on(values, SET_PAPI_FAIL_ON_ERROR))
			st = ws_fail(err, WS_E_UNSUPPORTED,
				     "%s: '%s' cannot be counted on this machine: "
				     "'rocprof-sys-avail -H -c CPU -A' lists what can",
				     setting, name);
		else if (!st && !set_on(values, SET_PAPI_QUIET))
			ws_log_warn("%s: '%s' cannot be counted on this machine and is left out: "
				    "'rocprof-sys-avail -H -c CPU -A' lists what can",
				    setting, name);
	}
	return st;
}

static enum ws_status choose_sampler(const struct set_values *values, const struct sampler *s,
				     struct col_collect_config *config, struct ws_err *err)
{
	struct col_sampler_config *out = &config->samplers[s->which];
	double freq = seconds_or(values, s->freq, SET_SAMPLING_FREQ, true);
	const char *tids = set_text(values, s->tids);
	bool available;
	enum ws_status st;

	if (!(freq > 0) || freq > 1e9)
		return ws_fail(err, WS_E_USAGE, "%s: %g is not a frequency",
			       set_defs[SET_SAMPLING_FREQ].name, freq);
	out->period = (uint64_t)(s->which == CAP_SAMPLER_OVERFLOW ? freq : NS_PER_S / freq);
	st = to_ns(s->delay, seconds_or(values, s->delay, SET_SAMPLING_DELAY, true), &out->delay_ns,
		   err);
	if (!st)
		st = to_ns(SET_SAMPLING_DURATION, set_real(values, SET_SAMPLING_DURATION),
			   &out->duration_ns, err);
	out->signal = (uint32_t)set_int(values, s->signal);
	if (!*tids)
		tids = set_text(values, SET_SAMPLING_TIDS);
	if (!st && !col_threads_parse(tids, out))
		st = ws_fail(err, WS_E_USAGE, "%s: '%s' is not a list of threads, such as 0,2-5",
			     set_defs[s->tids].name, tids);
	if (!st && s->which == CAP_SAMPLER_OVERFLOW)
		st = find_event(SET_SAMPLING_OVERFLOW_EVENT,
				set_text(values, SET_SAMPLING_OVERFLOW_EVENT),
				&config->overflow_event, &available, err);
	return st;
}

static enum ws_status choose_samplers(const struct set_values *values,
				      struct col_collect_config *config, struct ws_err *err)
{
	bool any = set_on(values, SET_USE_SAMPLING);
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < WS_ARRAY_LEN(samplers) && any && !st; i++)
		if (set_on(values, samplers[i].on)) {
			config->services |= COL_SERVICE_BIT(CALL_STACKS);
			st = choose_sampler(values, &samplers[i], config, err);
		}
	return st ? st : choose_counted(values, config, err);
}

/* ---- metrics ---- */

/* "none", "all" or nothing, or numbers and ranges. False: none. */
static enum ws_status choose_numbers(const struct set_values *values, enum set_id id,
				     struct col_collect_numbers *out, bool *out_any,
				     struct ws_err *err)
{
	struct ws_str rest = ws_str_from(set_text(values, id)), word;

	*out = (struct col_collect_numbers){ .all = !*set_text(values, id) ||
						    set_has(values, id, "all") };
	*out_any = out->all;
	if (out->all || set_has(values, id, "none"))
		return WS_OK;
	while (set_next_word(&rest, false, &word)) {
		struct ws_str last = word, first;
		uint64_t from, to;

		if (!ws_str_next(&last, '-', &first) || !ws_str_u64(first, &from) ||
		    (last.at && !ws_str_u64(last, &to)))
			return ws_fail(err, WS_E_USAGE, "%s: '%.*s' is not a number or range",
				       set_defs[id].name, WS_STR_ARGS(word));
		if (!last.at)
			to = from;
		if (to < from || to >= COL_COLLECT_NUMBERS)
			return ws_fail(err, WS_E_USAGE, "%s: '%.*s' is not a range below %u",
				       set_defs[id].name, WS_STR_ARGS(word), COL_COLLECT_NUMBERS);
		for (; from <= to; from++)
			out->bits[from / 64] |= 1ull << from % 64;
		*out_any = true;
	}
	return WS_OK;
}

static uint32_t gpu_metrics(const struct set_values *values)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} metrics[] = {
		{ "busy", COL_MONITOR_BIT(GPU_BUSY) },
		{ "temp", COL_MONITOR_BIT(GPU_TEMP) },
		{ "power", COL_MONITOR_BIT(GPU_POWER) },
		{ "mem_usage", COL_MONITOR_BIT(GPU_MEMORY) },
		{ "vcn_activity", COL_MONITOR_BIT(GPU_VCN) },
		{ "jpeg_activity", COL_MONITOR_BIT(GPU_JPEG) },
		{ "all", COL_MONITOR_BIT(GPU_CLOCK) },
	};
	bool all = !*set_text(values, SET_AMD_SMI_METRICS) ||
		   set_has(values, SET_AMD_SMI_METRICS, "all");
	uint32_t bits = 0;

	if (set_has(values, SET_AMD_SMI_METRICS, "none"))
		return 0;
	for (size_t i = 0; i < WS_ARRAY_LEN(metrics); i++)
		if (all || set_has(values, SET_AMD_SMI_METRICS, metrics[i].name))
			bits |= metrics[i].bit;
	return bits;
}

static enum ws_status choose_metrics(const struct set_values *values,
				     struct col_collect_config *config, struct ws_err *err)
{
	struct col_collect_monitor *m = &config->monitor;
	double freq = set_real(values, SET_PROCESS_SAMPLING_FREQ);
	bool any_cpus, any_gpus;
	enum ws_status st;

	if (!set_on(values, SET_USE_PROCESS_SAMPLING))
		return WS_OK;
	st = choose_numbers(values, SET_SAMPLING_CPUS, &m->cpus, &any_cpus, err);
	if (!st)
		st = choose_numbers(values, SET_SAMPLING_GPUS, &m->gpus, &any_gpus, err);
	if (st)
		return st;
	if (set_on(values, SET_CPU_FREQ_ENABLED)) {
		m->what |= COL_MONITOR_BIT(PROCESS) | COL_MONITOR_BIT(IO);
		if (any_cpus)
			m->what |= COL_MONITOR_BIT(CPU_FREQ) | COL_MONITOR_BIT(CPU_LOAD);
	}
	if (set_on(values, SET_USE_AMD_SMI) && any_gpus)
		m->what |= gpu_metrics(values);
	if (!m->what) {
		memset(m, 0, sizeof(*m));
		return WS_OK;
	}
	if (freq == 0)
		freq = WS_MIN(set_real(values, SET_SAMPLING_FREQ), 100);
	if (!(freq > 0))
		return ws_fail(err, WS_E_USAGE, "%s: %g is not a frequency",
			       set_defs[SET_PROCESS_SAMPLING_FREQ].name, freq);
	m->period_ns = (uint64_t)(NS_PER_S / WS_MIN(freq, 1000));
	config->services |= COL_SERVICE_BIT(METRICS);
	st = to_ns(SET_PROCESS_SAMPLING_DURATION,
		   seconds_or(values, SET_PROCESS_SAMPLING_DURATION, SET_SAMPLING_DURATION, false),
		   &m->duration_ns, err);
	return st ? st
		  : to_ns(SET_PROCESS_SAMPLING_DELAY, set_real(values, SET_PROCESS_SAMPLING_DELAY),
			  &m->delay_ns, err);
}

/* ---- all of it ---- */

static uint32_t log_level(const struct set_values *values)
{
	int64_t verbose = set_int(values, SET_VERBOSE);

	if (set_on(values, SET_DEBUG))
		return COL_COLLECT_LOG_DEBUG;
	if (verbose < 0)
		return COL_COLLECT_LOG_ERROR;
	return verbose < 2 ? COL_COLLECT_LOG_NONE : COL_COLLECT_LOG_INFO;
}

enum ws_status sys_collect(const struct set_values *values, struct col_collect_config *out_config,
			   struct ws_err *err)
{
	static const struct {
		enum set_id id;
		bool when;
		uint32_t flag;
	} flags[] = {
		{ SET_FOLLOW_CHILDREN, false, COL_COLLECT_FLAG(NO_CHILDREN) },
		{ SET_SELECTED_REGIONS, true, COL_COLLECT_FLAG(SELECTED_REGIONS) },
		{ SET_ROCM_GROUP_BY_QUEUE, true, COL_COLLECT_FLAG(GROUP_BY_QUEUE) },
		{ SET_USE_OMPT, true, COL_COLLECT_FLAG(OMPT) },
		{ SET_USE_MPIP, true, COL_COLLECT_FLAG(MPI) },
		{ SET_MPI_CLOCK_EXCHANGE, true, COL_COLLECT_FLAG(MPI_CLOCKS) },
		{ SET_TRACE_THREAD_LOCKS, true, COL_COLLECT_FLAG(THREAD_LOCKS) },
		{ SET_TRACE_THREAD_RW_LOCKS, true, COL_COLLECT_FLAG(THREAD_RW_LOCKS) },
		{ SET_TRACE_THREAD_SPIN_LOCKS, true, COL_COLLECT_FLAG(THREAD_SPIN_LOCKS) },
		{ SET_TRACE_THREAD_BARRIERS, true, COL_COLLECT_FLAG(THREAD_BARRIERS) },
		{ SET_TRACE_THREAD_JOIN, true, COL_COLLECT_FLAG(THREAD_JOIN) },
	};
	enum ws_status st;

	memset(out_config, 0, sizeof(*out_config));
	out_config->services = rocm_services(values) | COL_SERVICE_BIT(REGIONS);
	out_config->log = log_level(values);
	for (size_t i = 0; i < WS_ARRAY_LEN(flags); i++)
		if (set_on(values, flags[i].id) == flags[i].when)
			out_config->flags |= flags[i].flag;
	st = choose_periods(values, out_config, err);
	if (!st)
		st = sys_collect_operations(values, out_config, err);
	if (!st)
		st = choose_samplers(values, out_config, err);
	return st ? st : choose_metrics(values, out_config, err);
}
