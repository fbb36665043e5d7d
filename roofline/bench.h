/*
 * bench: what is measured, as a table; a row is a column of roofline.csv.
 */
#ifndef WS_ROOFLINE_BENCH_H
#define WS_ROOFLINE_BENCH_H

#include <stddef.h>
#include <stdint.h>

/* GPUs whose instructions do the same work. */
enum ws_roof_family {
	WS_ROOF_GFX908,
	WS_ROOF_GFX90A,
	WS_ROOF_GFX940, /* with 941 and 942 */
	WS_ROOF_GFX950,
	WS_ROOF_FAMILIES,
};

enum ws_roof_unit { WS_ROOF_BYTES, WS_ROOF_FLOP, WS_ROOF_OP };

/* Which part of the buffer a kernel reads. */
enum ws_roof_place {
	WS_ROOF_NOTHING, /* none */
	WS_ROOF_STREAM,  /* more than all caches hold, each byte once */
	WS_ROOF_IN_L3,   /* half of what the last-level cache holds; without one: not measured */
	WS_ROOF_IN_L2,   /* a quarter of L2 */
	WS_ROOF_IN_L1,   /* 4 KiB */
};

struct ws_roof_bench {
	const char *column; /* in roofline.csv */
	const char *title;  /* on the console, as AMD's benchmark prints it */
	const char *kernel; /* in kernels.s; NULL: there is no kernel for it yet */
	enum ws_roof_unit unit;
	enum ws_roof_place place;
	/* what one turn of the kernel's loop is worth, per wave; 0: the GPU cannot do it */
	uint32_t work[WS_ROOF_FAMILIES];
};

#define WS_ROOF_BENCHES 20
extern const struct ws_roof_bench ws_roof_benches[WS_ROOF_BENCHES];

/* The family of "gfx90a", or of "amdgcn-amd-amdhsa--gfx90a:xnack-"; WS_ROOF_FAMILIES: none of them.
 */
enum ws_roof_family ws_roof_family(const char *target);

/* "GB/sec", "GFLOPS", "GOPS" */
const char *ws_roof_unit_name(enum ws_roof_unit unit);

#endif
