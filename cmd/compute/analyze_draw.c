/* Tables that are drawn: one row each. What has no row is printed as a grid, if it has one. */
#include "cmd/compute/analyze.h"

const struct an_drawing an_drawings[] = {
	{ 3, 1, an_draw_memchart },
	{ 4, 3, an_draw_roofline },
	{ 0, 0, NULL },
};
