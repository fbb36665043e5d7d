/*
 * roctx: say in a trace what the program is doing.
 *
 *	roctxRangePush("iteration");
 *	...
 *	roctxRangePop();
 *
 * The interface of AMD's ROCTx, C and C++. Link with -lroctx64 or -lrocprofiler-sdk-roctx.
 * Without a profiler each call costs a few nanoseconds and does nothing.
 *
 * Messages are copied. Every function may be called from any thread.
 */
#ifndef ROCTX_H
#define ROCTX_H

#include <stdint.h>

#define ROCTX_VERSION_MAJOR 4
#define ROCTX_VERSION_MINOR 1

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t roctx_range_id_t;
typedef uint64_t roctx_thread_id_t;

/* A moment. */
void roctxMarkA(const char *message);

/*
 * A range on the calling thread; ranges nest. Push returns the depth it is at, from 0;
 * pop the depth of the range it ended, or a negative number when none is open.
 */
int roctxRangePushA(const char *message);
int roctxRangePop(void);

/* A range of the process: it may end on another thread, and overlap others. */
roctx_range_id_t roctxRangeStartA(const char *message);
void roctxRangeStop(roctx_range_id_t id);

/*
 * Switch recording off and on. @tid 0 means all threads; other values are accepted and
 * mean the same. 0 on success.
 */
int roctxProfilerPause(roctx_thread_id_t tid);
int roctxProfilerResume(roctx_thread_id_t tid);

/* The id that the trace shows for the calling thread. 0 on success. */
int roctxGetThreadId(roctx_thread_id_t *tid);

/* Names for what the trace shows; 0 on success. */
struct hsa_agent_s;
struct ihipStream_t;
int roctxNameOsThread(const char *name); /* the calling thread */
int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent);
int roctxNameHipDevice(const char *name, int device_id);
int roctxNameHipStream(const char *name, const struct ihipStream_t *stream);

uint32_t roctx_version_major(void);
uint32_t roctx_version_minor(void);

#ifdef __cplusplus
}
#endif

#define roctxMark(message) roctxMarkA(message)
#define roctxRangePush(message) roctxRangePushA(message)
#define roctxRangeStart(message) roctxRangeStartA(message)

#endif
