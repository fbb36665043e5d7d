/* make-ranks DIR [KEY=NUMBER...]: captures of ranks with known clocks, for the tests of commands. */
#include "tests/ranks/made_ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct made_ranks made = MADE_RANKS_DEFAULT;
	uint64_t n_records;

	for (int i = 2; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		long number = value ? strtol(value + 1, NULL, 0) : 0;
		size_t n = value ? (size_t)(value - argv[i]) : 0;

#define KEY(word) (n == sizeof(word) - 1 && memcmp(argv[i], word, n) == 0)
		if (KEY("ranks"))
			made.n_ranks = (uint32_t)number;
		else if (KEY("per-node"))
			made.per_node = (uint32_t)number;
		else if (KEY("steps"))
			made.n_steps = (uint32_t)number;
		else if (KEY("kernels"))
			made.n_kernels = (uint32_t)number;
		else if (KEY("slow"))
			made.slow_rank = (uint32_t)number;
		else if (KEY("offset"))
			made.offset_ns = number;
		else if (KEY("drift-ppm"))
			made.drift_ppm = (double)number;
		else if (KEY("wrong-every"))
			made.wrong_every = (uint32_t)number;
		else if (KEY("no-collectives"))
			made.no_collectives = number;
		else if (KEY("rccl"))
			made.rccl = number;
		else if (KEY("chain"))
			made.chain = number;
		else if (KEY("launcher"))
			made.launcher = number;
		else if (KEY("skip"))
			made.skip_rank = (uint32_t)number;
		else
			return fprintf(stderr, "make-ranks: '%s'?\n", argv[i]), 2;
	}
	if (argc < 2 || made_ranks_write(&made, argv[1], &n_records))
		return 1;
	printf("%" PRIu64 " records\n", n_records);
	return 0;
}
