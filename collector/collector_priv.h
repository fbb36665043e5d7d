/*
 * collector_priv: what the files of the core tell each other. Providers: provider.h.
 */
#ifndef WS_COLLECTOR_PRIV_H
#define WS_COLLECTOR_PRIV_H

#include "collector/provider.h"

/* core.c */
#define WS_PROVIDERS 4
extern const struct ws_provider *const ws_providers[WS_PROVIDERS]; /* providers.c; NULL: not built */
uint64_t ws_load_ns(void);                             /* when the library was loaded */
struct ws_writer *ws_capture_now(void);                /* the open capture, without opening one */
uint64_t ws_asked_domains(void);        /* bit per enum ws_domain */
void ws_early_lost(enum ws_domain domain); /* something was lost before there was a capture */
bool ws_core_busy(void);                /* somebody is recording */
void ws_core_attach(const struct ws_collect_config *config); /* copied; recording is off still */
struct ws_writer *ws_core_detach(void); /* the capture, ended; close it when nobody uses it */
/* Grows with each attach: what was kept under an earlier one means nothing now. From 1. */
extern uint32_t ws_epoch_;
static inline uint32_t ws_epoch(void)
{
	return __atomic_load_n(&ws_epoch_, __ATOMIC_ACQUIRE);
}

/* thread.c */
void ws_threads_start(void);                 /* once, in the constructor */
void ws_threads_forked(void);                /* in the child; forgets the parent's lane */
void ws_threads_detach(void);                /* no thread has a lane afterwards, nor gets one */
uint64_t ws_threads_forked_in(void);         /* correlation id of the call that forked, or 0 */
void ws_threads_names(struct ws_writer *writer);  /* names of the living; opens files */
void ws_threads_ranges(struct ws_writer *writer); /* at the end: what they have open */

/* facts.c */
void ws_facts_process(struct ws_writer *writer, bool forked);

/* control.c */
void ws_control_start(const struct ws_collect_config *config); /* in the constructor */
void ws_control_opened(struct ws_writer *writer); /* a capture is there: say the state, run periods */
void ws_control_forked(void);
void ws_control_attach(const struct ws_collect_config *config); /* from now on it is on */
void ws_control_detach(void);
void ws_control_set(bool on, enum ws_control_cause cause);
void ws_control_region(bool enter); /* roctxProfilerResume and Pause */

/* marker.c */
void ws_markers_forked(void);
void ws_markers_detach(void);
void ws_markers_thread_end(struct ws_thread *t);
void ws_markers_thread_gone(struct ws_thread *t); /* after it; nobody looks at its stack any more */
/* The process ends: what is open, of a thread that is not gone meanwhile, and of nobody's. */
void ws_markers_end_of(struct ws_writer *writer, const struct ws_thread *t);
void ws_markers_end_started(void);

/* faults.c */
void ws_faults_start(void);   /* a capture is open */
void ws_faults_stop(void);    /* detached: the program's handlers are its own again */
void ws_faults_leaving(void); /* in exit(), on the thread that called it */
void ws_faults_forked(void);

/* A helper thread with all signals blocked; false when it could not be made. errno kept. */
bool ws_spawn(void *(*main)(void *), void *arg, const char *name);

/* A lock for rare paths: sleeps instead of spinning, and can be made new after a fork. */
struct ws_lock {
	uint32_t word;
};
void ws_lock(struct ws_lock *lock);
void ws_unlock(struct ws_lock *lock);

#endif
