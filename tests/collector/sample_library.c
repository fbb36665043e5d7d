/* sample_library: what sample_program loads, calls and unloads. */
#include <stdint.h>

static volatile uint64_t sink;

void library_work(void);
void library_inner(void);

__attribute__((noinline)) void library_inner(void)
{
	for (int i = 0; i < 3000000; i++)
		sink += (uint64_t)i;
}

void library_work(void)
{
	library_inner();
	sink++; /* after it, so that it is not a jump */
}
