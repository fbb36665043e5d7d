/*
 * unwinds: the sampler's unwinder against that of the C library, in this process.
 *
 *	unwinds loader      modules are found by _dl_find_object(), where the C library has it
 *	unwinds scan        by the list that is made for C libraries without it
 *
 * A stack of known depth, with a signal frame in it, is unwound from the context of a handler.
 * Every frame has to be the one that backtrace() finds. "ok" and exit code 0 show that it is.
 */
#include "collector/sample/sample_priv.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#define DEPTH_MAX 128u

static struct col_sample_work work;
static struct col_sampled thread = { .work = &work };
static void *expected[DEPTH_MAX];
static int n_expected;
static uint32_t n_frames, flags;
static volatile int sink;

static void on_usr2(int number, siginfo_t *info, void *context)
{
	n_frames = col_unwind(&thread, context, DEPTH_MAX, NULL, &flags);
	n_expected = backtrace(expected, DEPTH_MAX);
}

static void on_usr1(int number)
{
	raise(SIGUSR2); /* a handler on top of a handler */
	sink++;
}

__attribute__((noinline)) void recurse(int depth);
void recurse(int depth)
{
	volatile char space[100]; /* frames of different sizes */

	space[depth % 100] = 1;
	if (depth)
		recurse(depth - 1);
	else
		raise(SIGUSR1);
	sink += space[depth % 100];
}

int main(int argc, char **argv)
{
	bool scan = argc > 1 && !strcmp(argv[1], "scan");
	struct sigaction usr1 = { .sa_handler = on_usr1 };
	struct sigaction usr2 = { .sa_sigaction = on_usr2, .sa_flags = SA_SIGINFO };
	int skip = 0;

	backtrace(expected, 1); /* loads a library the first time */
	if (!col_modules_start(scan ? NULL : dlsym(RTLD_DEFAULT, "_dl_find_object")) ||
	    !col_unwind_start())
		return 2;
	sigaction(SIGUSR1, &usr1, NULL);
	sigaction(SIGUSR2, &usr2, NULL);
	for (int pass = 0; pass < 2; pass++) { /* first without cached rules, then with them */
		recurse(40);
		/* backtrace() begins in the handler, and col_unwind() where that was called. */
		for (skip = 0; skip < n_expected; skip++)
			if ((uint64_t)(uintptr_t)expected[skip] == work.frames[0])
				break;
		if (n_expected - skip != (int)n_frames || n_frames < 45) {
			printf("%u frames instead of %d\n", n_frames, n_expected - skip);
			return 1;
		}
		for (uint32_t i = 0; i < n_frames; i++) {
			if ((uint64_t)(uintptr_t)expected[skip + (int)i] == work.frames[i])
				continue;
			printf("frame %u is %#lx instead of %p\n", i, (long)work.frames[i],
			       expected[skip + (int)i]);
			return 1;
		}
		if (flags != CAP_STACK_SIGNAL) {
			printf("flags %u\n", flags);
			return 1;
		}
	}
	puts("ok");
	return 0;
}
