/*
 * collector_priv: declarations shared by the files of the core. For providers: provider.h.
 */
#ifndef WS_COLLECTOR_PRIV_H
#define WS_COLLECTOR_PRIV_H

#include "collector/provider.h"

/* core.c */
#define COL_PROVIDERS 9
extern const struct col_provider
	*const col_providers[COL_PROVIDERS]; /* providers.c; NULL: not built */
uint64_t col_load_ns(void);                  /* when the library was loaded */
uint64_t col_begin_ns(void);                 /* the same, or when this process was forked */
struct cap_writer *col_capture_now(void);    /* the open capture, without opening one */
uint64_t col_asked_domains(void);            /* bit per enum cap_domain */
void col_early_lost(enum cap_domain domain); /* something was lost before there was a capture */
bool col_core_busy(void);                    /* a recording is in progress */
void col_core_attach(const struct col_collect_config *config); /* copied; recording is off still */
struct cap_writer *col_core_detach(void); /* the capture, ended; close it when no thread uses it */
/* Grows with each attach: what was kept under an earlier one means nothing now. From 1. */
extern uint32_t col_epoch_;
static inline uint32_t col_epoch(void)
{
	return __atomic_load_n(&col_epoch_, __ATOMIC_ACQUIRE);
}

/* thread.c */
void col_threads_start(void);         /* once, in the constructor */
void col_threads_forked(void);        /* in the child; forgets the parent's lane */
void col_threads_detach(void);        /* no thread has a lane afterwards, nor gets one */
bool col_threads_sandboxed(void);     /* system calls may be forbidden, and kill the program */
uint64_t col_threads_forked_in(void); /* correlation id of the call that forked, or 0 */
void col_threads_names(struct cap_writer *writer);  /* names of the living; opens files */
void col_threads_ranges(struct cap_writer *writer); /* at the end: what they have open */
void col_threads_usage(struct cap_writer *writer);  /* at the end: what the living have used */

/* last.c */
void col_last_start(void); /* once, in the constructor */
void col_last_forked(void);
void col_last_strict(void); /* the calling thread is about to enter strict mode of seccomp */
void col_last_look(uint64_t now_ns); /* from our threads, now and then: does the program live? */

/* operations.c */
void col_operations_start(void); /* the configuration is known */
void col_operations_state(struct cap_writer *writer);

/* facts.c */
void col_facts_process(struct cap_writer *writer, bool forked);
/* For the summary of a run: what a living thread, or with 0 the process, has used so far. */
void col_facts_usage(struct cap_writer *writer, uint32_t tid);

/* control.c */
void col_control_start(const struct col_collect_config *config); /* in the constructor */
void col_control_opened(
	struct cap_writer *writer); /* a capture is there: say the state, run periods */
void col_control_forked(void);
void col_control_attach(const struct col_collect_config *config); /* from now on it is on */
void col_control_detach(void);
void col_control_set(bool on, enum cap_control_cause cause);
void col_control_region(bool enter); /* roctxProfilerResume and Pause */

/* marker.c */
void col_markers_forked(void);
void col_markers_detach(void);
void col_markers_thread_end(struct col_thread *t);
void col_markers_thread_gone(
	struct col_thread *t); /* after it; nobody looks at its stack any more */
/* The process ends: what is open, of a thread that is not gone meanwhile, and of nobody's. */
void col_markers_end_of(struct cap_writer *writer, const struct col_thread *t);
void col_markers_end_started(void);

/* faults.c */
void col_faults_start(void);   /* a capture is open */
void col_faults_stop(void);    /* detached: the program's handlers are its own again */
void col_faults_leaving(void); /* in exit(), on the thread that called it */

/* helpers.c */
/* A helper thread with all signals blocked; false when it could not be made. errno kept. */
bool col_spawn(void *(*main)(void *), void *arg, const char *name);
bool col_is_helper(const char *name); /* is a thread of this name one of ours? */
bool col_helpers_pending(void);       /* one is being created, and does not have its name yet */
void col_helpers_forked(void); /* in the child, which has begun to fork as far as these know */

/* Around calls of the loader by a thread of ours. False: another thread forks, try it later. */
bool col_loader_enter(void);
void col_loader_leave(void);
void col_loader_before_fork(void);
void col_loader_after_fork(void);

/* A lock for rare paths: sleeps instead of spinning, and can be made new after a fork. */
struct col_lock {
	uint32_t word;
};
void col_lock(struct col_lock *lock);
void col_unlock(struct col_lock *lock);

#endif
