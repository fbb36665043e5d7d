/* locks: mutexes, reader-writer locks and spin locks; a library of its own, because each call costs. */
#include "collector/pthread/wrap.h"

#include <pthread.h>
#include <time.h>

/* clang-format off */
#define LOCK_TABLE(X)                                                                                                     \
	X(THREAD_LOCKS,      pthread_mutex_lock,         (pthread_mutex_t *mutex), (mutex))                               \
	X(THREAD_LOCKS,      pthread_mutex_trylock,      (pthread_mutex_t *mutex), (mutex))                               \
	X(THREAD_LOCKS,      pthread_mutex_timedlock,    (pthread_mutex_t *mutex, const struct timespec *until), (mutex, until)) \
	X(THREAD_LOCKS,      pthread_mutex_clocklock,    (pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until), (mutex, clock, until)) \
	X(THREAD_LOCKS,      pthread_mutex_unlock,       (pthread_mutex_t *mutex), (mutex))                               \
	X(THREAD_RW_LOCKS,   pthread_rwlock_rdlock,      (pthread_rwlock_t *lock), (lock))                                \
	X(THREAD_RW_LOCKS,   pthread_rwlock_wrlock,      (pthread_rwlock_t *lock), (lock))                                \
	X(THREAD_RW_LOCKS,   pthread_rwlock_tryrdlock,   (pthread_rwlock_t *lock), (lock))                                \
	X(THREAD_RW_LOCKS,   pthread_rwlock_trywrlock,   (pthread_rwlock_t *lock), (lock))                                \
	X(THREAD_RW_LOCKS,   pthread_rwlock_timedrdlock, (pthread_rwlock_t *lock, const struct timespec *until), (lock, until)) \
	X(THREAD_RW_LOCKS,   pthread_rwlock_timedwrlock, (pthread_rwlock_t *lock, const struct timespec *until), (lock, until)) \
	X(THREAD_RW_LOCKS,   pthread_rwlock_unlock,      (pthread_rwlock_t *lock), (lock))                                \
	X(THREAD_SPIN_LOCKS, pthread_spin_lock,          (pthread_spinlock_t *lock), (lock))                              \
	X(THREAD_SPIN_LOCKS, pthread_spin_trylock,       (pthread_spinlock_t *lock), (lock))                              \
	X(THREAD_SPIN_LOCKS, pthread_spin_unlock,        (pthread_spinlock_t *lock), (lock))
/* clang-format on */

LOCK_TABLE(COL_PTHREAD_WRAPPER)
