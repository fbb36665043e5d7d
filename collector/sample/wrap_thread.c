/*
 * wrap_thread: threads are sampled from their beginning, and libraries do not go unnoticed.
 */
#include "collector/sample/wrap.h"

WRAP_REAL(pthread_create, int, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))
WRAP_REAL(dlclose, int, (void *))

__attribute__((constructor)) static void load(void)
{
	col_sample_start();
}

WS_PUBLIC int pthread_create(pthread_t *restrict out, const pthread_attr_t *restrict attr,
			     void *(*main)(void *), void *restrict arg)
{
	struct col_sampled *thread = col_sample_new(attr, main, arg);
	int status;

	if (!thread)
		return real_pthread_create()(out, attr, main, arg);
	status = real_pthread_create()(out, attr, col_sample_main, thread);
	if (status != 0)
		col_sample_failed(thread);
	return status;
}

WS_PUBLIC int dlclose(void *handle)
{
	int status;

	col_sample_unloading(true);
	status = real_dlclose()(handle);
	col_sample_unloading(false);
	return status;
}
