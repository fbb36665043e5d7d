#include "collector/config_priv.h"

/* Nothing from libc but types: see config.h. */

const char *const col_config_services[COL_SERVICE_COUNT] = {
#define COL_SERVICE_ROW(id, name, domain) name,
	COL_SERVICE_TABLE(COL_SERVICE_ROW)
#undef COL_SERVICE_ROW
};

uint32_t col_service_domain(enum col_service service)
{
	static const uint8_t domain_of[COL_SERVICE_COUNT] = {
#define ROW(id, name, domain) [COL_SERVICE_##id] = CAP_DOMAIN_##domain,
		COL_SERVICE_TABLE(ROW)
#undef ROW
	};

	return domain_of[service];
}

const char *const col_config_flags[COL_COLLECT_FLAG_COUNT] = {
#define COL_COLLECT_FLAG_ROW(id, name) name,
	COL_COLLECT_FLAG_TABLE(COL_COLLECT_FLAG_ROW)
#undef COL_COLLECT_FLAG_ROW
};

const char *const col_config_metrics[COL_MONITOR_COUNT] = {
#define COL_MONITOR_ROW(id, name) name,
	COL_MONITOR_TABLE(COL_MONITOR_ROW)
#undef COL_MONITOR_ROW
};

const char *const col_config_logs[COL_COLLECT_LOG_COUNT] = {
	"", "error", "warn", "info", "debug", "trace",
};

const char *const col_config_samplers[CAP_SAMPLER_COUNT] = {
	[CAP_SAMPLER_CPU_TIME] = "cputime",
	[CAP_SAMPLER_REAL_TIME] = "realtime",
	[CAP_SAMPLER_OVERFLOW] = "overflow",
};

/* A stretch of the text; `at` == `end` is empty. */
struct part {
	const char *at, *end;
};

static bool part_is(struct part p, const char *word)
{
	while (p.at != p.end && *word && *p.at == *word)
		p.at++, word++;
	return p.at == p.end && !*word;
}

/* Take what is before the next @sep off the front; false when nothing is left. */
static bool part_next(struct part *rest, char sep, struct part *out)
{
	if (!rest->at)
		return false;
	out->at = out->end = rest->at;
	while (out->end != rest->end && *out->end != sep)
		out->end++;
	rest->at = out->end == rest->end ? NULL : out->end + 1;
	return true;
}

static bool part_u64(struct part p, uint64_t *out)
{
	uint64_t value = 0;

	if (p.at == p.end)
		return false;
	for (; p.at != p.end; p.at++) {
		if (*p.at < '0' || *p.at > '9' || __builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p.at - '0'), &value))
			return false;
	}
	*out = value;
	return true;
}

static bool part_u32(struct part p, uint32_t *out)
{
	uint64_t value;

	if (!part_u64(p, &value) || value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool decode(struct part p, char *to, size_t room)
{
	size_t n = 0;

	for (; p.at != p.end; p.at++) {
		char c = *p.at;

		if (c == '%') {
			int high = p.end - p.at > 2 ? hex_digit(p.at[1]) : -1;
			int low = high >= 0 ? hex_digit(p.at[2]) : -1;

			if (low < 0 || high + low == 0)
				return false;
			c = (char)(high << 4 | low);
			p.at += 2;
		}
		if (n + 1 >= room)
			return false;
		to[n++] = c;
	}
	to[n] = '\0';
	return true;
}

/* Names to bits; returns how many were not known. */
static uint32_t parse_bits(struct part list, const char *const *names, unsigned n_names,
			   uint32_t *bits)
{
	uint32_t n_unknown = 0;
	struct part word;

	while (part_next(&list, ',', &word)) {
		unsigned i = 0;

		if (word.at == word.end)
			continue;
		while (i < n_names && !part_is(word, names[i]))
			i++;
		if (i < n_names)
			*bits |= 1u << i;
		else
			n_unknown++;
	}
	return n_unknown;
}

static bool parse_periods(struct part list, struct col_collect_config *config)
{
	struct part triple;

	while (part_next(&list, ',', &triple)) {
		struct col_collect_period *p = &config->periods[config->n_periods];
		struct part number;

		if (config->n_periods == COL_COLLECT_PERIODS_MAX ||
		    !part_next(&triple, ':', &number) || !part_u64(number, &p->delay_ns) ||
		    !part_next(&triple, ':', &number) || !part_u64(number, &p->duration_ns) ||
		    !part_next(&triple, ':', &number) || !part_u64(number, &p->repeat))
			return false;
		p->cpu_time = part_next(&triple, ':', &number);
		if (p->cpu_time && (!part_is(number, "cpu") || triple.at))
			return false;
		config->n_periods++;
	}
	return true;
}

static bool is_separator(char c)
{
	return c == '+' || c == ',' || c == ' ' || c == ';' || c == '\t';
}

/* "0+2-5" */
static bool parse_ranges(struct part list, struct col_sampler_config *sampler)
{
	sampler->n_ranges = 0;
	for (;;) {
		struct col_thread_range *range = &sampler->ranges[sampler->n_ranges];
		struct part word, number;

		while (list.at != list.end && is_separator(*list.at))
			list.at++;
		if (list.at == list.end)
			return true;
		word.at = word.end = list.at;
		while (word.end != list.end && !is_separator(*word.end))
			word.end++;
		list.at = word.end;
		if (sampler->n_ranges == COL_SAMPLER_RANGES_MAX ||
		    !part_next(&word, '-', &number) || !part_u32(number, &range->first))
			return false;
		range->last = range->first;
		if (part_next(&word, '-', &number) && (!part_u32(number, &range->last) || word.at))
			return false;
		if (range->last < range->first)
			return false;
		sampler->n_ranges++;
	}
}

bool col_threads_parse(const char *text, struct col_sampler_config *out_sampler)
{
	struct part list = { text, text };

	while (*list.end)
		list.end++;
	return parse_ranges(list, out_sampler);
}

/* period:delay:duration:signal:threads */
static bool parse_sampler(struct part value, struct col_sampler_config *sampler)
{
	struct part number;

	return part_next(&value, ':', &number) && part_u64(number, &sampler->period) &&
	       part_next(&value, ':', &number) && part_u64(number, &sampler->delay_ns) &&
	       part_next(&value, ':', &number) && part_u64(number, &sampler->duration_ns) &&
	       part_next(&value, ':', &number) && part_u32(number, &sampler->signal) &&
	       part_next(&value, ':', &number) && parse_ranges(number, sampler) && !value.at;
}

/* type:config:name */
static bool parse_cpu_event(struct part value, struct col_cpu_event *event)
{
	struct part number;

	if (!part_next(&value, ':', &number) || !part_u32(number, &event->type) ||
	    !part_next(&value, ':', &number) || !part_u64(number, &event->config) || !value.at)
		return false;
	return decode(value, event->name, sizeof(event->name)) && event->name[0];
}

/* kind:regex */
static bool parse_ops_filter(struct part value, bool exclude, struct col_collect_config *config)
{
	struct col_ops_filter *filter = &config->ops_filters[config->n_ops_filters];
	struct part number;
	uint32_t kind;

	if (config->n_ops_filters == COL_OPS_FILTERS_MAX || !part_next(&value, ':', &number) ||
	    !part_u32(number, &kind) || kind >= CAP_KIND_COUNT || !value.at ||
	    !decode(value, filter->regex, sizeof(filter->regex)))
		return false;
	filter->kind = (uint16_t)kind;
	filter->exclude = exclude;
	config->n_ops_filters++;
	return true;
}

/* Which sampler @key is; CAP_SAMPLER_COUNT: none. */
static uint32_t sampler_of(struct part key)
{
	uint32_t i = 0;

	while (i < CAP_SAMPLER_COUNT && !part_is(key, col_config_samplers[i]))
		i++;
	return i;
}

static bool parse_monitor(struct part triple, struct col_collect_monitor *monitor)
{
	struct part number;

	return part_next(&triple, ':', &number) && part_u64(number, &monitor->period_ns) &&
	       part_next(&triple, ':', &number) && part_u64(number, &monitor->duration_ns) &&
	       part_next(&triple, ':', &number) && part_u64(number, &monitor->delay_ns) &&
	       !triple.at;
}

/* "all", or numbers and ranges that include their ends. */
static bool parse_numbers(struct part list, struct col_collect_numbers *numbers)
{
	struct part range, number;
	uint64_t first, last;

	if (part_is(list, "all")) {
		numbers->all = 1;
		return true;
	}
	while (part_next(&list, ',', &range)) {
		if (!part_next(&range, '-', &number) || !part_u64(number, &first))
			return false;
		last = first;
		if (part_next(&range, '-', &number) && !part_u64(number, &last))
			return false;
		if (range.at || first > last || last >= COL_COLLECT_NUMBERS)
			return false;
		for (; first <= last; first++)
			numbers->bits[first / 64] |= 1ull << first % 64;
	}
	return true;
}

static bool parse_monitor_word(struct part key, struct part value,
			       struct col_collect_config *config)
{
	struct col_collect_monitor *monitor = &config->monitor;

	if (part_is(key, "monitor")) {
		config->wrong = "monitor is not period:duration:delay";
		return parse_monitor(value, monitor);
	}
	if (part_is(key, "monitor-cpus")) {
		config->wrong = "monitor-cpus is not a list of numbers";
		return parse_numbers(value, &monitor->cpus);
	}
	if (part_is(key, "monitor-gpus")) {
		config->wrong = "monitor-gpus is not a list of numbers";
		return parse_numbers(value, &monitor->gpus);
	}
	config->n_unknown +=
		part_is(key, "monitor-what")
			? parse_bits(value, col_config_metrics, COL_MONITOR_COUNT, &monitor->what)
			: 1;
	return true;
}

static bool parse_word(struct part key, struct part value, struct col_collect_config *config)
{
	uint32_t log, sampler = sampler_of(key);

	if (part_is(key, "dir")) {
		config->wrong = "dir is too long or badly escaped";
		if (!decode(value, config->dir, sizeof(config->dir)))
			return false;
	} else if (part_is(key, "services")) {
		config->n_unknown += parse_bits(value, col_config_services, COL_SERVICE_COUNT,
						&config->services);
	} else if (part_is(key, "flags")) {
		config->n_unknown +=
			parse_bits(value, col_config_flags, COL_COLLECT_FLAG_COUNT, &config->flags);
	} else if (part_is(key, "period")) {
		config->wrong = "period is not delay:duration:repeat[:cpu]";
		if (!parse_periods(value, config))
			return false;
	} else if (part_is(key, "max")) {
		config->wrong = "max is not a number";
		if (!part_u64(value, &config->max_bytes))
			return false;
	} else if (part_is(key, "pc-interval")) {
		config->wrong = "pc-interval is not a number";
		if (!part_u64(value, &config->pc_interval))
			return false;
	} else if (sampler < CAP_SAMPLER_COUNT) {
		config->wrong = "a sampler is not period:delay:duration:signal:threads";
		if (!parse_sampler(value, &config->samplers[sampler]))
			return false;
	} else if (part_is(key, "overflow-event")) {
		config->wrong = "overflow-event is not type:config:name";
		if (!parse_cpu_event(value, &config->overflow_event))
			return false;
	} else if (part_is(key, "cpu-event")) {
		config->wrong = "cpu-event is not type:config:name, or there are too many";
		if (config->n_cpu_events == COL_CPU_EVENTS_MAX ||
		    !parse_cpu_event(value, &config->cpu_events[config->n_cpu_events]))
			return false;
		config->n_cpu_events++;
	} else if (part_is(key, "only") || part_is(key, "except")) {
		config->wrong = "an expression for operations is not kind:regex, or too long";
		if (!parse_ops_filter(value, part_is(key, "except"), config))
			return false;
	} else if (part_is(key, "stack-depth")) {
		config->wrong = "stack-depth is not a number";
		if (!part_u32(value, &config->stack_depth))
			return false;
	} else if (part_is(key, "log")) {
		for (log = 1; log < COL_COLLECT_LOG_COUNT && !part_is(value, col_config_logs[log]);
		     log++)
			;
		if (log < COL_COLLECT_LOG_COUNT)
			config->log = log;
		else
			config->n_unknown++;
	} else if (!parse_monitor_word(key, value, config)) {
		return false;
	}
	config->wrong = NULL;
	return true;
}

bool col_collect_parse(const char *text, struct col_collect_config *out_config)
{
	static const struct col_collect_config none;
	struct part rest = { text, text }, word;

	*out_config = none;
	out_config->wrong = "not set";
	if (!text)
		return false;
	while (*rest.end)
		rest.end++;
	out_config->wrong = "made for another version of wavescope";
	if (!part_next(&rest, ';', &word) || !part_is(word, "1"))
		return false;
	out_config->wrong = NULL;
	while (part_next(&rest, ';', &word)) {
		struct part key = word;

		if (word.at == word.end)
			continue;
		for (key.end = word.at; key.end != word.end && *key.end != '=';)
			key.end++;
		word.at = key.end == word.end ? word.end : key.end + 1;
		if (!parse_word(key, word, out_config))
			return false;
	}
	if (out_config->dir[0] == '/')
		return true;
	out_config->wrong = "dir is not an absolute path";
	return false;
}

const char *col_service_name(enum col_service service)
{
	return service < COL_SERVICE_COUNT ? col_config_services[service] : "?";
}
