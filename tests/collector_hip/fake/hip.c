/*
 * fake_hip: a small libamdhip64 of a later version, for tests that need its behaviour and no
 * GPU. hipMemcpy calls hipMemcpyAsync by name, as a library without -Bsymbolic does, so calls nest.
 * Most functions are missing, as some always are when the wrappers know more than the library.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))
enum { SUCCESS = 0, INVALID = 1, INVALID_DEVICE = 101 };

static __thread int last_error;
int hipMemcpyAsync(void *dst, const void *src, size_t n, int kind, void *stream);

static int answer(int code)
{
	last_error = code;
	return code;
}

PUBLIC int hipGetLastError(void)
{
	int code = last_error;

	last_error = SUCCESS;
	return code;
}

PUBLIC int hipPeekAtLastError(void)
{
	return last_error;
}

PUBLIC int hipSetDevice(int device)
{
	return answer(device == 0 ? SUCCESS : INVALID_DEVICE);
}

PUBLIC int hipGetDevice(int *device)
{
	*device = 0;
	return SUCCESS;
}

PUBLIC int hipMalloc(void **ptr, size_t size)
{
	*ptr = malloc(size);
	return answer(SUCCESS);
}

PUBLIC int hipFree(void *ptr)
{
	free(ptr);
	return answer(SUCCESS);
}

PUBLIC int hipMemcpyAsync(void *dst, const void *src, size_t n, int kind, void *stream)
{
	memcpy(dst, src, n);
	return answer(SUCCESS);
}

PUBLIC int hipMemcpy(void *dst, const void *src, size_t n, int kind)
{
	return hipMemcpyAsync(dst, src, n, kind, NULL);
}

/* The same handle again as soon as it is free: that is what allocators do. */
static char handles[4];

PUBLIC int hipStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
	for (int i = 0; i < 4; i++)
		if (!__atomic_exchange_n(&handles[i], 1, __ATOMIC_SEQ_CST)) {
			*stream = &handles[i];
			return answer(SUCCESS);
		}
	return answer(INVALID);
}

PUBLIC int hipStreamCreate(void **stream)
{
	return hipStreamCreateWithPriority(stream, 0, 0);
}

PUBLIC int hipExecutionCtxStreamCreate(void **stream, void *context, unsigned flags, int priority)
{
	return hipStreamCreateWithPriority(stream, flags, priority);
}

PUBLIC int hipStreamDestroy(void *stream)
{
	char *handle = stream;

	if (handle < handles || handle >= handles + 4)
		return answer(INVALID);
	__atomic_store_n(handle, 0, __ATOMIC_SEQ_CST);
	return answer(SUCCESS);
}

PUBLIC int hipStreamQuery(void *stream)
{
	return answer(SUCCESS);
}

PUBLIC int hipStreamSynchronize(void *stream)
{
	return answer(SUCCESS);
}

/* HIP 6: addresses by name, from inside the library. */
static int inner_get_device(int *device)
{
	*device = 0;
	return SUCCESS;
}

PUBLIC int hipGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags,
			     void *status)
{
	if (strcmp(symbol, "hipGetDevice"))
		return answer(INVALID);
	*pfn = (void *)inner_get_device;
	return answer(SUCCESS);
}
