/* streams: made, used, named, destroyed, and a handle that is used again. */
#include "collector/roctx/include/roctx.h"

#include <stdio.h>

int hipStreamCreate(void **stream);
int hipStreamCreateWithPriority(void **stream, unsigned flags, int priority);
int hipExecutionCtxStreamCreate(void **stream, void *context, unsigned flags, int priority);
int hipStreamDestroy(void *stream);
int hipStreamQuery(void *stream);
__attribute__((weak)) int hipMalloc3D(void *pitched,
				      unsigned long extent[3]); /* not in this library */

int main(void)
{
	void *a, *b, *c, *d;
	int bad = 0;

	bad |= hipStreamQuery(NULL);
	bad |= hipStreamCreate(&a);
	bad |= hipStreamCreateWithPriority(&b, 1, -1);
	bad |= hipStreamQuery(a);
	bad |= hipStreamQuery(b);
	bad |= hipStreamDestroy(a);
	bad |= hipStreamCreate(&c);
	bad |= c != a; /* what the test is about */
	bad |= hipStreamQuery(c);
	bad |= hipStreamDestroy(&bad) != 1;
	roctxNameHipStream("copies", b);
	bad |= hipStreamQuery(b);
	bad |= hipStreamQuery((void *)1); /* hipStreamLegacy */
	bad |= hipExecutionCtxStreamCreate(&d, &bad, 1, -2);
	bad |= hipStreamQuery(d);
	bad |= hipStreamDestroy(d);
	bad |= hipStreamDestroy(c);
	bad |= hipStreamDestroy(b);
	printf("%s\n", bad ? "bad" : "good");
	return bad;
}
