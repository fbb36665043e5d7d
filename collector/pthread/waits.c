/* waits: barriers and the ends of threads; recorded unless the user switches them off. */
#include "collector/pthread/wrap.h"

#include <pthread.h>
#include <time.h>

/* clang-format off */
#define WAIT_TABLE(X)                                                                                          \
	X(THREAD_BARRIERS, pthread_barrier_wait,  (pthread_barrier_t *barrier), (barrier))                     \
	X(THREAD_JOIN,     pthread_join,          (pthread_t thread, void **result), (thread, result))         \
	X(THREAD_JOIN,     pthread_tryjoin_np,    (pthread_t thread, void **result), (thread, result))         \
	X(THREAD_JOIN,     pthread_timedjoin_np,  (pthread_t thread, void **result, const struct timespec *until), (thread, result, until)) \
	X(THREAD_JOIN,     pthread_clockjoin_np,  (pthread_t thread, void **result, clockid_t clock, const struct timespec *until), (thread, result, clock, until))
/* clang-format on */

WAIT_TABLE(COL_PTHREAD_WRAPPER)
