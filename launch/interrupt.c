#include "launch/interrupt.h"

#include "base/str.h"
#include "base/util.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[2 * PATH_MAX + 128];

/* Nothing is lost; prints how to continue. */
static void interrupted(int sig)
{
	ssize_t ignored = write(STDERR_FILENO, text, strlen(text));

	(void)ignored;
	raise(sig); /* SA_RESETHAND: this time it ends us */
}

void launch_interrupt_expect(const char *tool, const struct launch_rundir *dir)
{
	static const int signals[] = { SIGINT, SIGTERM };
	struct sigaction action = { .sa_handler = interrupted, .sa_flags = SA_RESETHAND }, old;
	char word[2 * PATH_MAX];

	snprintf(text, sizeof(text), "\n%s: interrupted: '%s --recover %s' writes the rest\n", tool,
		 tool, ws_str_shell(dir->path, word, sizeof(word)));
	for (size_t i = 0; i < WS_ARRAY_LEN(signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	/*
	 * Slurm ends a job with several SIGTERM, one from srun and one from itself, and SIGKILL later.
	 * In between the files can be written.
	 */
	if (getenv("SLURM_JOB_ID"))
		signal(SIGTERM, SIG_IGN);
}
