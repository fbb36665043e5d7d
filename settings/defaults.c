/* Defaults that follow from other settings, and from this machine. */
#include "settings/values.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void use(struct set_values *values, enum set_id id, const char *text)
{
	if (!text)
		return;
	values->at[id].usual = text;
	if (!set_is_given(values, id))
		values->at[id].text = text;
}

static const char *truth(bool on)
{
	return on ? "true" : "false";
}

void set_finish(struct set_values *values, bool running)
{
	const char *tmp = getenv("TMPDIR");
	const char *threads = getenv("ROCPROFSYS_NUM_THREADS");
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t n;

	/* A profile alone was requested; both have to be named to get both. */
	if (values->at[SET_PROFILE].origin >= SET_FROM_ENVIRONMENT && set_on(values, SET_PROFILE))
		use(values, SET_TRACE, "false");
	use(values, SET_PROFILE, truth(!set_on(values, SET_TRACE)));

	/* The collector is preloaded: unless the user says otherwise, stacks are sampled. */
	if (running)
		use(values, SET_MODE, "sampling");
	use(values, SET_USE_SAMPLING, truth(strcmp(set_text(values, SET_MODE), "sampling") == 0));
	if (running && set_on(values, SET_USE_SAMPLING) && !set_on(values, SET_SAMPLING_REALTIME) &&
	    !set_on(values, SET_SAMPLING_OVERFLOW))
		use(values, SET_SAMPLING_CPUTIME, "true");
	use(values, SET_PERFETTO_COMBINE_TRACES, set_text(values, SET_COLLAPSE_PROCESSES));

	if (tmp && *tmp)
		use(values, SET_TMPDIR, tmp);
	if (threads && ws_str_u64(ws_str_from(threads), &n))
		use(values, SET_NUM_THREADS_HINT, threads);
	use(values, SET_THREAD_POOL_SIZE,
	    ws_arena_printf(&values->arena, "%ld", WS_MAX(1, WS_MIN(4, cores / 2))));
}
