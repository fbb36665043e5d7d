#include "collector/count/request.h"

#include <string.h>

static const char first_line[] = "wavescope-counting 1";

static const char *const mode_names[] = {
	[COL_COUNT_SET] = "set",
	[COL_COUNT_ROTATE] = "rotate",
	[COL_COUNT_REPLAY] = "replay",
	[COL_COUNT_OVER_TIME] = "over-time",
};
static const char *const form_names[] = {
	[COL_COUNT_DEMANGLED] = "demangled",
	[COL_COUNT_MANGLED] = "mangled",
	[COL_COUNT_TRUNCATED] = "truncated",
};
static const char *const per_names[] = {
	[COL_COUNT_PER_GPU] = "gpu",
	[COL_COUNT_PER_KERNEL] = "kernel",
	[COL_COUNT_PER_LAUNCH] = "launch",
};
#define N_PERS (sizeof(per_names) / sizeof(per_names[0]))
#define N_MODES (sizeof(mode_names) / sizeof(mode_names[0]))
#define N_FORMS (sizeof(form_names) / sizeof(form_names[0]))

/* ---- reading ---- */

struct parser {
	struct col_count_room *room;
	struct col_count_request *request;
	size_t n_sets, n_names, n_events;
};

/* Cut the next word off the front; NULL when there is none. */
static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " \t\r");
	size_t n = strcspn(word, " \t\r");

	*rest = word + n + (word[n] != 0);
	word[n] = 0;
	return *word ? word : NULL;
}

static bool number(const char *text, uint64_t *out)
{
	uint64_t value = 0;

	if (!text || !*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || __builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return false;
	}
	*out = value;
	return true;
}

static bool choice(const char *word, const char *const *names, size_t n, uint32_t *out)
{
	for (size_t i = 0; word && i < n; i++) {
		if (strcmp(word, names[i]) == 0) {
			*out = (uint32_t)i;
			return true;
		}
	}
	return false;
}

static const char *take_mode(struct parser *p, char *value)
{
	uint32_t mode;

	if (!choice(next_word(&value), mode_names, N_MODES, &mode))
		return "unknown mode";
	p->request->mode = mode;
	return NULL;
}

static const char *take_per(struct parser *p, char *value)
{
	uint32_t per;

	if (!choice(next_word(&value), per_names, N_PERS, &per))
		return "unknown rotation";
	p->request->per = per;
	return NULL;
}

static const char *take_form(struct parser *p, char *value)
{
	uint32_t form;

	if (!choice(next_word(&value), form_names, N_FORMS, &form))
		return "unknown name format";
	p->request->names = form;
	return NULL;
}

static const char *take_interval(struct parser *p, char *value)
{
	return number(next_word(&value), &p->request->interval) ? NULL : "interval is not a number";
}

static const char *take_include(struct parser *p, char *value)
{
	p->request->include = value;
	return NULL;
}

static const char *take_exclude(struct parser *p, char *value)
{
	p->request->exclude = value;
	return NULL;
}

static const char *take_two(struct col_count_range *ranges, size_t *n, char *value)
{
	if (*n == COL_COUNT_RANGES_MAX)
		return "too many ranges";
	if (!number(next_word(&value), &ranges[*n].first) ||
	    !number(next_word(&value), &ranges[*n].last))
		return "range is not two numbers";
	++*n;
	return NULL;
}

static const char *take_range(struct parser *p, char *value)
{
	return take_two(p->room->ranges, &p->request->n_ranges, value);
}

static const char *take_number(struct parser *p, char *value)
{
	return take_two(p->room->numbers, &p->request->n_numbers, value);
}

static const char *take_gpu(struct parser *p, char *value)
{
	struct col_count_gpu *gpu = &p->room->gpus[p->request->n_gpus];
	const char *word = next_word(&value);
	uint64_t index = COL_COUNT_EVERY_GPU;

	if (p->request->n_gpus == COL_COUNT_GPUS_MAX)
		return "too many GPUs";
	if (!word || (strcmp(word, "*") != 0 && !number(word, &index)) || index > UINT32_MAX)
		return "gpu is not a number";
	*gpu = (struct col_count_gpu){ .gpu = (uint32_t)index,
				       .sets = &p->room->sets[p->n_sets],
				       .events = &p->room->events[p->n_events] };
	p->request->n_gpus++;
	return NULL;
}

static const char *take_set(struct parser *p, char *value)
{
	struct col_count_set *set = &p->room->sets[p->n_sets];
	const char *word;

	if (!p->request->n_gpus)
		return "a set before any GPU";
	if (p->n_sets == COL_COUNT_SETS_MAX)
		return "too many sets";
	*set = (struct col_count_set){ &p->room->names[p->n_names], 0 };
	while ((word = next_word(&value))) {
		if (p->n_names == COL_COUNT_NAMES_MAX)
			return "too many counters";
		p->room->names[p->n_names++] = word;
		set->n++;
	}
	p->n_sets++;
	p->room->gpus[p->request->n_gpus - 1].n_sets++;
	return NULL;
}

static bool small_number(char **value, uint32_t *out)
{
	uint64_t wide;

	if (!number(next_word(value), &wide) || wide > UINT16_MAX)
		return false;
	*out = (uint32_t)wide;
	return true;
}

static const char *take_event(struct parser *p, char *value)
{
	struct col_count_event *event = &p->room->events[p->n_events];

	if (!p->request->n_gpus)
		return "an event before any GPU";
	if (p->n_events == COL_COUNT_EVENTS_MAX)
		return "too many events";
	event->name = next_word(&value);
	event->block = next_word(&value);
	if (!event->block || !small_number(&value, &event->number) ||
	    !small_number(&value, &event->n_dies) || !small_number(&value, &event->n_engines) ||
	    !small_number(&value, &event->n_instances))
		return "an event is a name, a block and four numbers";
	if (!event->n_dies || !event->n_engines || !event->n_instances)
		return "an event without instances";
	p->n_events++;
	p->room->gpus[p->request->n_gpus - 1].n_events++;
	return NULL;
}

static const struct {
	const char *key;
	const char *(*take)(struct parser *p, char *value);
} keys[] = {
	{ "mode", take_mode },       { "interval", take_interval }, { "names", take_form },
	{ "include", take_include }, { "exclude", take_exclude },   { "range", take_range },
	{ "gpu", take_gpu },         { "set", take_set },           { "per", take_per },
	{ "number", take_number },   { "event", take_event },
};

bool col_count_request_parse(char *text, struct col_count_room *room,
			     struct col_count_request *out_request)
{
	struct parser p = { .room = room, .request = out_request };
	char *line = text, *end;

	*out_request = (struct col_count_request){
		.ranges = room->ranges,
		.numbers = room->numbers,
		.gpus = room->gpus,
	};
	for (bool first = true; *line; line = end, first = false) {
		size_t n = strcspn(line, "\n"), n_key;
		size_t k = 0;

		end = line + n + (line[n] != 0);
		line[n] = 0;
		if (first) {
			out_request->wrong = "made for another version of wavescope";
			if (strcmp(line, first_line) != 0)
				return false;
			out_request->wrong = NULL;
			continue;
		}
		n_key = strcspn(line, " ");
		if (!n_key)
			continue;
		while (k < sizeof(keys) / sizeof(keys[0]) &&
		       (strlen(keys[k].key) != n_key || memcmp(keys[k].key, line, n_key) != 0))
			k++;
		/* A key of a later version changes what is meant: better nothing than that. */
		out_request->wrong = k == sizeof(keys) / sizeof(keys[0])
					     ? "unknown key"
					     : keys[k].take(&p, line + n_key + (line[n_key] != 0));
		if (out_request->wrong)
			return false;
	}
	if (!out_request->n_gpus)
		out_request->wrong = "no GPU";
	return !out_request->wrong;
}

/* ---- writing ---- */

struct sink {
	char *to;
	size_t n, room;
	bool ok;
};

static void put(struct sink *s, const char *text)
{
	size_t n = strlen(text);

	if (!s->ok || n >= s->room - s->n || strchr(text, '\n')) {
		s->ok = false;
		return;
	}
	memcpy(s->to + s->n, text, n);
	s->n += n;
}

static void put_line_end(struct sink *s)
{
	if (s->ok && s->room - s->n > 1)
		s->to[s->n++] = '\n';
	else
		s->ok = false;
}

static void put_u64(struct sink *s, uint64_t value)
{
	char digits[21], *at = digits + sizeof(digits) - 1;

	*at = 0;
	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	put(s, at);
}

static void put_text(struct sink *s, const char *key, const char *value)
{
	if (!value)
		return;
	put(s, key);
	put(s, " ");
	put(s, value);
	put_line_end(s);
}

static void put_event(struct sink *s, const struct col_count_event *event)
{
	const uint32_t numbers[] = { event->number, event->n_dies, event->n_engines,
				     event->n_instances };

	put(s, "event ");
	put(s, event->name);
	put(s, " ");
	put(s, event->block);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		put(s, " ");
		put_u64(s, numbers[i]);
	}
	put_line_end(s);
}

static void put_gpu(struct sink *s, const struct col_count_gpu *gpu)
{
	put(s, "gpu ");
	if (gpu->gpu == COL_COUNT_EVERY_GPU)
		put(s, "*");
	else
		put_u64(s, gpu->gpu);
	put_line_end(s);
	for (size_t i = 0; i < gpu->n_sets; i++) {
		put(s, "set");
		for (size_t k = 0; k < gpu->sets[i].n; k++) {
			put(s, " ");
			put(s, gpu->sets[i].names[k]);
		}
		put_line_end(s);
	}
	for (size_t i = 0; i < gpu->n_events; i++)
		put_event(s, &gpu->events[i]);
}

static void put_ranges(struct sink *s, const char *key, const struct col_count_range *ranges,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		put(s, key);
		put(s, " ");
		put_u64(s, ranges[i].first);
		put(s, " ");
		put_u64(s, ranges[i].last);
		put_line_end(s);
	}
}

size_t col_count_request_print(const struct col_count_request *request, char *to, size_t room)
{
	struct sink s = { to, 0, room, room > 0 };

	put(&s, first_line);
	put_line_end(&s);
	put_text(&s, "mode", mode_names[request->mode]);
	put(&s, "interval ");
	put_u64(&s, request->interval ? request->interval : 1);
	put_line_end(&s);
	put_text(&s, "per", per_names[request->per]);
	put_text(&s, "names", form_names[request->names]);
	put_text(&s, "include", request->include);
	put_text(&s, "exclude", request->exclude);
	put_ranges(&s, "range", request->ranges, request->n_ranges);
	put_ranges(&s, "number", request->numbers, request->n_numbers);
	for (size_t i = 0; i < request->n_gpus; i++)
		put_gpu(&s, &request->gpus[i]);
	if (!s.ok)
		return 0;
	to[s.n] = 0;
	return s.n;
}
