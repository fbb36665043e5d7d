/*
 * bench: what is measured, as a table; a row is a column of roofline.csv.
 */
#ifndef WS_ROOFLINE_BENCH_H
#define WS_ROOFLINE_BENCH_H

#include <stddef.h>
#include <stdint.h>

/* GPUs whose instructions do the same work. */
enum roof_family {
	ROOF_GFX908,
	ROOF_GFX90A,
	ROOF_GFX940, /* with 941 and 942 */
	ROOF_GFX950,
	ROOF_FAMILIES,
};

enum roof_unit { ROOF_BYTES, ROOF_FLOP, ROOF_OP };

/* Which part of the buffer a kernel reads. */
enum roof_place {
	ROOF_NOTHING, /* none */
	ROOF_STREAM,  /* more than all caches hold, each byte once */
	ROOF_IN_L3,   /* half of what the last-level cache holds; without one: not measured */
	ROOF_IN_L2,   /* a quarter of L2 */
	ROOF_IN_L1,   /* 4 KiB */
};

struct roof_bench {
	const char *column; /* in roofline.csv */
	const char *title;  /* on the console, as AMD's benchmark prints it */
	const char *kernel; /* in kernels.s */
	enum roof_unit unit;
	enum roof_place place;
	/* what one turn of the kernel's loop is worth, per wave; 0: the GPU cannot do it */
	uint32_t work[ROOF_FAMILIES];
};

#define ROOF_BENCHES 20
extern const struct roof_bench roof_benches[ROOF_BENCHES];

/* The family of "gfx90a", or of "amdgcn-amd-amdhsa--gfx90a:xnack-"; ROOF_FAMILIES: none of them.
 */
enum roof_family roof_family(const char *target);

/* "GB/sec", "GFLOPS", "GOPS" */
const char *roof_unit_name(enum roof_unit unit);

#endif
