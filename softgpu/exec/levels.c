#include "softgpu/exec/levels.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const sg_handler sg_plain_handlers[], sg_avx2_handlers[], sg_avx512_handlers[];
extern sg_traced_run sg_plain_run_traced, sg_avx2_run_traced, sg_avx512_run_traced;

static bool always(void)
{
	return true;
}

#if defined(SG_HAS_LEVEL_avx2)
static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	       __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
}

#endif

#if defined(SG_HAS_LEVEL_avx512)
static bool has_avx512(void)
{
	return has_avx2() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl");
}
#endif

static const struct level {
	const char *name;
	bool (*here)(void);
	const sg_handler *handlers;
	sg_traced_run *run_traced;
} levels[] = {
/* best first */
#if defined(SG_HAS_LEVEL_avx512)
	{ "avx512", has_avx512, sg_avx512_handlers, sg_avx512_run_traced },
#endif
#if defined(SG_HAS_LEVEL_avx2)
	{ "avx2", has_avx2, sg_avx2_handlers, sg_avx2_run_traced },
#endif
	{ "plain", always, sg_plain_handlers, sg_plain_run_traced },
};
#define N_LEVELS (sizeof(levels) / sizeof(levels[0]))

static const struct level *chosen;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void choose(void)
{
	const char *wish = getenv("WAVESCOPE_SIMD");
	unsigned n = 0;

	while (!levels[n].here())
		n++;
	chosen = &levels[n];
	if (!wish || !*wish)
		return;
	for (n = 0; n < N_LEVELS; n++)
		if (!strcmp(wish, levels[n].name) && levels[n].here()) {
			chosen = &levels[n];
			return;
		}
	fprintf(stderr, "wavescope: WAVESCOPE_SIMD=%s is not supported by this CPU: using %s\n",
		wish, chosen->name);
}

const sg_handler *sg_level_handlers(void)
{
	pthread_once(&once, choose);
	return chosen->handlers;
}

sg_traced_run *sg_level_traced_run(void)
{
	pthread_once(&once, choose);
	return chosen->run_traced;
}

const char *sg_level_name(void)
{
	pthread_once(&once, choose);
	return chosen->name;
}
