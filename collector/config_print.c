/* Writing the configuration as text: the launcher's half. Nothing from libc but types: see config.h. */
#include "collector/config_priv.h"

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

static void put_cpu_event(struct sink *s, const char *key, const struct col_cpu_event *event)
{
	put(s, key);
	put_u64(s, event->type);
	put_c(s, ':');
	put_u64(s, event->config);
	put_c(s, ':');
	put_escaped(s, event->name);
}

static void put_samplers(struct sink *s, const struct col_collect_config *config)
{
	for (uint32_t i = 0; i < CAP_SAMPLER_COUNT; i++)
		if (config->samplers[i].period)
			put_sampler(s, col_config_samplers[i], &config->samplers[i]);
	if (config->overflow_event.name[0])
		put_cpu_event(s, ";overflow-event=", &config->overflow_event);
	for (uint32_t i = 0; i < config->n_cpu_events; i++)
		put_cpu_event(s, ";cpu-event=", &config->cpu_events[i]);
	if (config->stack_depth) {
		put(s, ";stack-depth=");
		put_u64(s, config->stack_depth);
	}
}

static void put_ops_filters(struct sink *s, const struct col_collect_config *config)
{
	for (uint32_t i = 0; i < config->n_ops_filters; i++) {
		put(s, config->ops_filters[i].exclude ? ";except=" : ";only=");
		put_u64(s, config->ops_filters[i].kind);
		put_c(s, ':');
		put_escaped(s, config->ops_filters[i].regex);
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
	put_bits(s, ";monitor-what=", monitor->what, col_config_metrics, COL_MONITOR_COUNT);
	put_numbers(s, ";monitor-cpus=", &monitor->cpus);
	put_numbers(s, ";monitor-gpus=", &monitor->gpus);
}

bool col_collect_print(const struct col_collect_config *config, char *to, size_t room)
{
	struct sink s = { to, 0, room, room > 0 };

	put(&s, "1;dir=");
	put_escaped(&s, config->dir);
	put_bits(&s, ";services=", config->services, col_config_services, COL_SERVICE_COUNT);
	put_bits(&s, ";flags=", config->flags, col_config_flags, COL_COLLECT_FLAG_COUNT);
	for (uint32_t i = 0; i < config->n_periods; i++) {
		put(&s, i ? "," : ";period=");
		put_u64(&s, config->periods[i].delay_ns);
		put_c(&s, ':');
		put_u64(&s, config->periods[i].duration_ns);
		put_c(&s, ':');
		put_u64(&s, config->periods[i].repeat);
		put(&s, config->periods[i].cpu_time ? ":cpu" : "");
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
	put_ops_filters(&s, config);
	put_monitor(&s, &config->monitor);
	if (config->log && config->log < COL_COLLECT_LOG_COUNT) {
		put(&s, ";log=");
		put(&s, col_config_logs[config->log]);
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
