/* A call stack of known functions, for samples: main, outer, middle, inner. */
#include <stdio.h>
#include <stdlib.h>

#define KEPT __attribute__((noinline, noclone))

static volatile unsigned sink;

KEPT static unsigned inner(unsigned n)
{
	for (unsigned i = 0; i < 20000; i++)
		sink += i * n;
	return sink + 1;
}

KEPT static unsigned middle(unsigned n)
{
	return inner(n) * 3 + 1;
}

KEPT static unsigned outer(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += middle(i);
	return sum;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 20000;

	sink = 0;
	printf("%u\ncount middle %u\ncount inner %u\ncount outer 1\n", outer(n), n, n);
	return 0;
}
