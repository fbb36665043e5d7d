#include "collector/config.h"

/* Nothing from libc but types: see config.h. */

static const char *const service_names[] = {
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

static const char *const flag_names[] = {
#define COL_COLLECT_FLAG_ROW(id, name) name,
	COL_COLLECT_FLAG_TABLE(COL_COLLECT_FLAG_ROW)
#undef COL_COLLECT_FLAG_ROW
};

static const char *const monitor_names[] = {
#define COL_MONITOR_ROW(id, name) name,
	COL_MONITOR_TABLE(COL_MONITOR_ROW)
#undef COL_MONITOR_ROW
};

static const char *const log_names[COL_COLLECT_LOG_COUNT] = {
	"", "error", "warn", "info", "debug", "trace",
};

static const char *const sampler_names[CAP_SAMPLER_COUNT] = {
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
		    !part_next(&triple, ':', &number) || !part_u64(number, &p->repeat) || triple.at)
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
static bool parse_overflow_event(struct part value, struct col_overflow_event *event)
{
	struct part number;

	if (!part_next(&value, ':', &number) || !part_u32(number, &event->type) ||
	    !part_next(&value, ':', &number) || !part_u64(number, &event->config) || !value.at)
		return false;
	return decode(value, event->name, sizeof(event->name)) && event->name[0];
}

/* Which sampler @key is; CAP_SAMPLER_COUNT: none. */
static uint32_t sampler_of(struct part key)
{
	uint32_t i = 0;

	while (i < CAP_SAMPLER_COUNT && !part_is(key, sampler_names[i]))
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
			? parse_bits(value, monitor_names, COL_MONITOR_COUNT, &monitor->what)
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
		config->n_unknown +=
			parse_bits(value, service_names, COL_SERVICE_COUNT, &config->services);
	} else if (part_is(key, "flags")) {
		config->n_unknown +=
			parse_bits(value, flag_names, COL_COLLECT_FLAG_COUNT, &config->flags);
	} else if (part_is(key, "period")) {
		config->wrong = "period is not delay:duration:repeat";
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
		if (!parse_overflow_event(value, &config->overflow_event))
			return false;
	} else if (part_is(key, "stack-depth")) {
		config->wrong = "stack-depth is not a number";
		if (!part_u32(value, &config->stack_depth))
			return false;
	} else if (part_is(key, "log")) {
		for (log = 1; log < COL_COLLECT_LOG_COUNT && !part_is(value, log_names[log]); log++)
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

/* A text being written; `ok` turns false when the room is used up. */
struct sink {
	char *to;
	size_t n, room;
	bool ok;
};

static void put_c(struct sink *s, char c)
{
	if (s->n + 1 < s->room)
		s->to[s->n++] = c;
	else
		s->ok = false;
}

static void put(struct sink *s, const char *text)
{
	while (*text)
		put_c(s, *text++);
}

static void put_u64(struct sink *s, uint64_t value)
{
	char digits[20];
	unsigned n = 0;

	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	while (n)
		put_c(s, digits[--n]);
}

static void put_escaped(struct sink *s, const char *text)
{
	static const char hex[] = "0123456789ABCDEF";

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || c == ';' || c == '%') {
			put_c(s, '%');
			put_c(s, hex[c >> 4]);
			put_c(s, hex[c & 15]);
		} else {
			put_c(s, (char)c);
		}
	}
}

static void put_bits(struct sink *s, const char *key, uint32_t bits, const char *const *names,
		     unsigned n_names)
{
	const char *before = key;

	for (unsigned i = 0; i < n_names; i++)
		if (bits >> i & 1) {
			put(s, before);
			put(s, names[i]);
			before = ",";
		}
}

static void put_sampler(struct sink *s, const char *name, const struct col_sampler_config *sampler)
{
	const uint64_t numbers[] = { sampler->period, sampler->delay_ns, sampler->duration_ns,
				     sampler->signal };

	put_c(s, ';');
	put(s, name);
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		put_c(s, i ? ':' : '=');
		put_u64(s, numbers[i]);
	}
	put_c(s, ':');
	for (uint32_t i = 0; i < sampler->n_ranges; i++) {
		if (i)
			put_c(s, '+');
		put_u64(s, sampler->ranges[i].first);
		if (sampler->ranges[i].last == sampler->ranges[i].first)
			continue;
		put_c(s, '-');
		put_u64(s, sampler->ranges[i].last);
	}
}

static void put_samplers(struct sink *s, const struct col_collect_config *config)
{
	for (uint32_t i = 0; i < CAP_SAMPLER_COUNT; i++)
		if (config->samplers[i].period)
			put_sampler(s, sampler_names[i], &config->samplers[i]);
	if (config->overflow_event.name[0]) {
		put(s, ";overflow-event=");
		put_u64(s, config->overflow_event.type);
		put_c(s, ':');
		put_u64(s, config->overflow_event.config);
		put_c(s, ':');
		put_escaped(s, config->overflow_event.name);
	}
	if (config->stack_depth) {
		put(s, ";stack-depth=");
		put_u64(s, config->stack_depth);
	}
}

static void put_numbers(struct sink *s, const char *key, const struct col_collect_numbers *numbers)
{
	const char *before = key;

	if (numbers->all) {
		put(s, key);
		put(s, "all");
		return;
	}
	for (uint32_t first = 0; first < COL_COLLECT_NUMBERS; first++) {
		uint32_t last = first;

		if (!col_collect_has(numbers, first))
			continue;
		while (col_collect_has(numbers, last + 1))
			last++;
		put(s, before);
		put_u64(s, first);
		if (last > first) {
			put_c(s, '-');
			put_u64(s, last);
		}
		before = ",";
		first = last;
	}
}

static void put_monitor(struct sink *s, const struct col_collect_monitor *monitor)
{
	if (monitor->period_ns) {
		put(s, ";monitor=");
		put_u64(s, monitor->period_ns);
		put_c(s, ':');
		put_u64(s, monitor->duration_ns);
		put_c(s, ':');
		put_u64(s, monitor->delay_ns);
	}
	put_bits(s, ";monitor-what=", monitor->what, monitor_names, COL_MONITOR_COUNT);
	put_numbers(s, ";monitor-cpus=", &monitor->cpus);
	put_numbers(s, ";monitor-gpus=", &monitor->gpus);
}

bool col_collect_print(const struct col_collect_config *config, char *to, size_t room)
{
	struct sink s = { to, 0, room, room > 0 };

	put(&s, "1;dir=");
	put_escaped(&s, config->dir);
	put_bits(&s, ";services=", config->services, service_names, COL_SERVICE_COUNT);
	put_bits(&s, ";flags=", config->flags, flag_names, COL_COLLECT_FLAG_COUNT);
	for (uint32_t i = 0; i < config->n_periods; i++) {
		put(&s, i ? "," : ";period=");
		put_u64(&s, config->periods[i].delay_ns);
		put_c(&s, ':');
		put_u64(&s, config->periods[i].duration_ns);
		put_c(&s, ':');
		put_u64(&s, config->periods[i].repeat);
	}
	if (config->max_bytes) {
		put(&s, ";max=");
		put_u64(&s, config->max_bytes);
	}
	if (config->pc_interval) {
		put(&s, ";pc-interval=");
		put_u64(&s, config->pc_interval);
	}
	put_samplers(&s, config);
	put_monitor(&s, &config->monitor);
	if (config->log && config->log < COL_COLLECT_LOG_COUNT) {
		put(&s, ";log=");
		put(&s, log_names[config->log]);
	}
	if (room)
		to[s.n] = '\0';
	return s.ok;
}

size_t col_capture_name(uint32_t pid, uint32_t n, char *to)
{
	struct sink s = { to, 0, 32, true };

	put_u64(&s, pid);
	put_c(&s, '-');
	put_u64(&s, n);
	put(&s, COL_CAPTURE_SUFFIX);
	to[s.n] = '\0';
	return s.n;
}

const char *col_service_name(enum col_service service)
{
	return service < COL_SERVICE_COUNT ? service_names[service] : "?";
}
