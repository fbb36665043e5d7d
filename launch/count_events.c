#include "launch/count_events.h"

#include "launch/library.h"

#include <stdlib.h>
#include <string.h>

enum ws_status launch_counts_by_packets(bool soft, bool *out_packets, struct ws_err *err)
{
	static const char *const words[] = { "service", "aqlprofile", "aqlprofile-1", "compare",
					     "compare-1" };
	const char *text = getenv(LAUNCH_COUNTERS_ENV);
	size_t which = 0;

	while (text && *text && which < WS_ARRAY_LEN(words) && strcmp(text, words[which]) != 0)
		which++;
	if (which == WS_ARRAY_LEN(words))
		return ws_fail(err, WS_E_USAGE,
			       LAUNCH_COUNTERS_ENV
			       "=%s: use service (the software GPU's own counting), or aqlprofile "
			       "(AMD's library, as on hardware)",
			       text);
	if (!soft && which == 0 && text && *text)
		return ws_fail(err, WS_E_USAGE,
			       LAUNCH_COUNTERS_ENV
			       "=service: only the software GPU has this: unset it");
	*out_packets = !soft || which != 0;
	return WS_OK;
}

enum ws_status launch_check_aqlprofile(struct ws_err *err)
{
	struct ws_buf cache;
	char path[PATH_MAX];
	bool found;

	ws_buf_init(&cache, 4 << 20);
	launch_library_cache(&cache);
	found = launch_library_find(&cache, "libhsa-amd-aqlprofile64.so", path);
	ws_buf_fini(&cache);
	return found ? WS_OK
		     : ws_fail(err, WS_E_NOTFOUND,
			       "counting on this GPU needs AMD's libhsa-amd-aqlprofile64.so.1: "
			       "install ROCm's hsa-amd-aqlprofile or Debian's "
			       "libhsa-amd-aqlprofile64-1");
}

static uint32_t extent(const struct cnt_shape *shape, enum cnt_dim dim)
{
	for (unsigned i = 0; i < shape->n_dims; i++)
		if (shape->at[i].dim == dim)
			return shape->at[i].n;
	return 1;
}

/* NAME of NAME_sum, NAME[n] and NAME_ACCUM. */
static const struct cnt_counter_def *find_hardware(const struct cnt_catalogue *cat,
						   const char *spelling)
{
	static const char *const endings[] = { "_sum", "_ACCUM" };
	struct ws_str name = { spelling, strcspn(spelling, "[") };
	const struct cnt_counter_def *def = cnt_catalogue_find_n(cat, name);

	for (size_t i = 0; i < WS_ARRAY_LEN(endings); i++) {
		size_t n = strlen(endings[i]);

		if ((!def || def->kind != CNT_COUNTER_HARDWARE) && name.n > n &&
		    memcmp(name.at + name.n - n, endings[i], n) == 0)
			def = cnt_catalogue_find_n(cat, (struct ws_str){ name.at, name.n - n });
	}
	if (def && def->same_as)
		def = def->same_as;
	return def && def->kind == CNT_COUNTER_HARDWARE ? def : NULL;
}

static void add(struct col_count_event *events, size_t *n, const struct cnt_counter_def *def)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp(events[i].name, def->name) == 0)
			return;
	events[(*n)++] =
		(struct col_count_event){ .name = def->name,
					  .block = def->block->name,
					  .number = def->event,
					  .n_dies = extent(&def->shape, CNT_DIM_XCC),
					  .n_engines = extent(&def->shape, CNT_DIM_SHADER_ENGINE),
					  .n_instances = extent(&def->shape, CNT_DIM_INSTANCE) };
}

enum ws_status launch_count_events(struct ws_arena *arena, const struct cnt_catalogue *cat,
				   struct col_count_gpu *gpu, struct ws_err *err)
{
	static const char *const always[] = { COL_COUNT_WITNESS, COL_COUNT_ACCUMULATE };
	struct col_count_event *events;
	size_t n_names = WS_ARRAY_LEN(always), n = 0;

	for (size_t s = 0; s < gpu->n_sets; s++)
		n_names += gpu->sets[s].n;
	events = ws_arena_array(arena, n_names, sizeof(*events));
	if (!events)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < WS_ARRAY_LEN(always); i++) {
		const struct cnt_counter_def *def = cnt_catalogue_find(cat, always[i]);

		if (def && def->kind == CNT_COUNTER_HARDWARE)
			add(events, &n, def);
	}
	for (size_t s = 0; s < gpu->n_sets; s++)
		for (size_t i = 0; i < gpu->sets[s].n; i++) {
			const struct cnt_counter_def *def =
				find_hardware(cat, gpu->sets[s].names[i]);

			if (def)
				add(events, &n, def);
		}
	gpu->events = events;
	gpu->n_events = n;
	return WS_OK;
}
