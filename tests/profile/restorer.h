/* Where signal handlers return to, as the C library has told the kernel; NULL: the kernel chooses. */
#ifndef WS_TESTS_PROFILE_RESTORER_H
#define WS_TESTS_PROFILE_RESTORER_H

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static void restorer_handler(int signal)
{
}

static inline void *restorer_of_handlers(void)
{
	struct { /* the kernel's struct sigaction on x86-64 */
		void *handler;
		unsigned long flags;
		void *restorer;
		unsigned long mask;
	} action = { .restorer = NULL };

	signal(SIGUSR1, restorer_handler);
#ifdef __x86_64__
	syscall(SYS_rt_sigaction, SIGUSR1, NULL, &action, sizeof(action.mask));
#endif
	return action.restorer;
}

#endif
