/*
 * code: the kernels, as code objects; made by the build from kernels.s, one per target.
 */
#ifndef WS_ROOFLINE_CODE_H
#define WS_ROOFLINE_CODE_H

#include <stddef.h>

struct ws_roof_code {
	const char *target; /* "gfx90a" */
	const unsigned char *at;
	size_t n;
};

extern const struct ws_roof_code ws_roof_codes[]; /* ends with target NULL */

#endif
