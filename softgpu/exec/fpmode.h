/*
 * fpmode: the host's floating-point environment, as far as the MODE register decides it.
 *
 * Rounding has an equivalent everywhere; flushing denormals only on x86. Elsewhere they are kept.
 */
#ifndef WS_SOFTGPU_EXEC_FPMODE_H
#define WS_SOFTGPU_EXEC_FPMODE_H

#include <stdint.h>
#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <fenv.h>
#endif

#if defined(__x86_64__)
#define SG_FPMODE_DEFAULT 0x1f80u /* all exceptions masked, nearest even, denormals kept */

/* round: 0 nearest even, 1 +inf, 2 -inf, 3 zero. denorm: bit 0 keeps sources, bit 1 results. */
static inline uint32_t sg_fpmode_of(unsigned round, unsigned denorm)
{
	static const uint32_t rounding[4] = { 0, 2u << 13, 1u << 13, 3u << 13 };

	return SG_FPMODE_DEFAULT | rounding[round & 3] | (denorm & 1 ? 0 : 1u << 6) |
	       (denorm & 2 ? 0 : 1u << 15);
}

static inline uint32_t sg_fpmode_get(void)
{
	return _mm_getcsr();
}

static inline void sg_fpmode_set(uint32_t fpmode)
{
	_mm_setcsr(fpmode);
}
#else
#define SG_FPMODE_DEFAULT ((uint32_t)FE_TONEAREST)

static inline uint32_t sg_fpmode_of(unsigned round, unsigned denorm)
{
	static const int rounding[4] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };

	(void)denorm;
	return (uint32_t)rounding[round & 3];
}

static inline uint32_t sg_fpmode_get(void)
{
	return (uint32_t)fegetround();
}

static inline void sg_fpmode_set(uint32_t fpmode)
{
	fesetround((int)fpmode);
}
#endif

#endif
