/*
 * levels: the same handlers and tracing loop, compiled for several SIMD levels, chosen once at run time.
 *
 * All levels compute the same bits; WAVESCOPE_SIMD=plain|avx2|avx512 overrides the choice (tests).
 */
#ifndef WS_SOFTGPU_EXEC_LEVELS_H
#define WS_SOFTGPU_EXEC_LEVELS_H

#include "softgpu/exec/traced_run.h"
#include "softgpu/exec/wave.h"

const sg_handler *sg_level_handlers(void);
sg_traced_run *sg_level_traced_run(void);
const char *sg_level_name(void);

#endif
