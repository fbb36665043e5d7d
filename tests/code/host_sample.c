/* Functions for test_host.c, which knows the numbers of the lines. */
#include <stdio.h>

volatile int sink;

static inline __attribute__((always_inline)) void innermost(int x)
{
	sink = x ^ 5; /* line 8 */
}

static inline __attribute__((always_inline)) void middle(int x)
{
	innermost(x * 3); /* line 13 */
}

__attribute__((noinline)) void outer(int x)
{
	middle(x); /* line 18 */
}

static __attribute__((noinline, noclone)) int hidden(int x)
{
	sink = x; /* line 23 */
	return sink;
}

/* "read" is what people know it by. */
__attribute__((noinline)) int __sample_read(int x)
{
	sink = x + 1;
	return sink;
}
int sample_read(int x) __attribute__((weak, alias("__sample_read")));
int old_sample_read(int x) __attribute__((alias("__sample_read")));

/* app::scale(int) */
__attribute__((noinline)) int scale(int x) __asm__("_ZN3app5scaleEi");
int scale(int x)
{
	sink = x + 2;
	return sink;
}

/* no size, and a label inside of a function is not a function */
__asm__(".pushsection .text\n"
	".globl unsized\n"
	"unsized:\n"
	"	nop\n"
	"	nop\n"
	"	ret\n"
	".globl sized\n"
	".type sized, @function\n"
	"sized:\n"
	"	nop\n"
	"sized_label:\n"
	"	ret\n"
	".size sized, . - sized\n"
	".popsection\n");

int main(int argc, char **argv)
{
	outer(argc);
	sink = hidden(argc) + __sample_read(argc) + scale(argc);
	return puts("sample") < 0;
}
