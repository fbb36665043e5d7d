#include "tests/unit/failing_alloc.h"

#include <errno.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *at, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *at, size_t size);

static long left = -1;
static bool failed;

void fail_after(long n)
{
	left = n;
	failed = false;
}

bool allocation_failed(void)
{
	return failed;
}

static bool fails_now(void)
{
	if (left < 0 || left-- > 0)
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails_now() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *at, size_t size)
{
	return fails_now() ? NULL : __real_realloc(at, size);
}
