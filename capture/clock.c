#include "capture/writer_priv.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum cap_tick_kind cap_tick_kind = CAP_TICKS_NS;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t cap_boottime_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

uint64_t cap_ticks_slow(void)
{
	return cap_boottime_ns();
}

#if defined(__x86_64__)
/* The kernel takes "tsc" off this list when it has caught the counter misbehaving. */
static bool kernel_trusts_tsc(void)
{
	int fd = open("/sys/devices/system/clocksource/clocksource0/available_clocksource",
		      O_RDONLY | O_CLOEXEC);
	char text[256];
	ssize_t n;

	if (fd < 0)
		return true; /* a container without /sys: the processor's own word has to do */
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return true;
	text[n] = 0;
	return strstr(text, "tsc") != NULL;
}
#endif

enum cap_tick_kind cap_tick_kind_detect(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;

	/* invariant: same rate in all power states, on all cores */
	if (__get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8) && kernel_trusts_tsc())
		return CAP_TICKS_TSC;
#elif defined(__aarch64__)
	return CAP_TICKS_ARM;
#endif
	return CAP_TICKS_NS;
}

/*
 * The tightest of a few attempts: counter, clock, counter. A thread that is
 * preempted in between shows as a wide pair and loses to the next attempt.
 */
struct cap_rec_clock cap_clock_pair(void)
{
	struct cap_rec_clock rec = { .h.tag = CAP_REC_FIXED_TAG(CLOCK, struct cap_rec_clock) };
	uint64_t best = UINT64_MAX, ns0 = cap_boottime_ns(), ticks0 = cap_ticks(), ns1, ticks1;

	for (int i = 0; i < 8; i++) {
		uint64_t before = cap_ticks();
		uint64_t ns = cap_boottime_ns();
		uint64_t after = cap_ticks();

		if (after - before < best) {
			best = after - before;
			rec.h.time = before + best / 2;
			rec.boottime_ns = ns;
		}
	}
	rec.realtime_ns = clock_ns(CLOCK_REALTIME) - (cap_boottime_ns() - rec.boottime_ns);

	/* half the width in ns, by the rate over this very function */
	ns1 = cap_boottime_ns();
	ticks1 = cap_ticks();
	if (__atomic_load_n(&cap_tick_kind, __ATOMIC_RELAXED) == CAP_TICKS_NS) {
		rec.h.time = rec.boottime_ns;
	} else if (ticks1 > ticks0) {
		double ns = (double)best / 2 * (double)(ns1 - ns0) / (double)(ticks1 - ticks0);

		rec.h.what = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
	}
	return rec;
}
