/* attach_priv: shared by attach.c and remote.c, which does the tracing. */
#ifndef WS_LAUNCH_ATTACH_PRIV_H
#define WS_LAUNCH_ATTACH_PRIV_H

#include "base/error.h"

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The page of data that the new thread is given; its code (remote.c) knows the offsets.
 * Addresses are the program's.
 */
struct launch_remote_data {
	uint64_t dlopen, dlsym, dlerror, pthread_self, pthread_detach; /* 0, 8, 16, 24, 32 */
	uint64_t stage;         /* 40: enum launch_remote_stage */
	uint64_t error;         /* 48: text of dlerror() */
	char function[64];      /* 56 */
	char library[PATH_MAX]; /* 120 */
	char text[32768];       /* 4216 */
};

enum launch_remote_stage {
	LAUNCH_REMOTE_STARTED,
	LAUNCH_REMOTE_FAILED,  /* error says why */
	LAUNCH_REMOTE_CALLING, /* inside the function */
	LAUNCH_REMOTE_RETURNED,
};

/* What of the C library is called, and an int3 (0xcc) somewhere in its code to come back to. */
struct launch_remote_libc {
	uint64_t mmap, pthread_create, trap;
};

struct launch_range {
	uint64_t begin, end;
};

/* Code on top of which nothing may be called. */
struct launch_remote_unsafe {
	struct launch_range at[64];
	unsigned n;
};

/*
 * Start a thread in @pid that works on a copy of @data. In a process of its own: it may
 * leave the program traced, which its end undoes. *out_data: where the copy is.
 */
enum ws_status launch_remote_start(pid_t pid, const struct launch_remote_libc *libc,
				   const struct launch_remote_unsafe *unsafe,
				   const struct launch_remote_data *data, uint64_t *out_data,
				   struct ws_err *err);

#endif
