/*
 * clock: the one time base. ROCr stamps with CLOCK_BOOTTIME; the device counts it at 100 MHz, the
 * reference clock of the MI100 and MI200.
 */
#ifndef WS_SOFTGPU_DEVICE_CLOCK_H
#define WS_SOFTGPU_DEVICE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define SG_SYSTEM_CLOCK_HZ 1000000000ull

static inline uint64_t sg_clock_of(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * SG_SYSTEM_CLOCK_HZ + (uint64_t)ts.tv_nsec;
}

static inline uint64_t sg_clock_system_ns(void)
{
	return sg_clock_of(CLOCK_BOOTTIME);
}

#define SG_DEVICE_TICK_NS 10u

static inline uint64_t sg_clock_device_ticks(void)
{
	return sg_clock_system_ns() / SG_DEVICE_TICK_NS;
}

static inline uint64_t sg_clock_ns_of_ticks(uint64_t ticks)
{
	return ticks * SG_DEVICE_TICK_NS;
}

#endif
