/* Time, cheaply: ticks of the processor's counter where that neither stops nor changes its pace,
 * else of the system's clock. */
#ifndef AR_CLOCK_H
#define AR_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Written by ar_clock_start alone. */
struct ar_clock {
    bool counts;            /* ticks are the processor's */
    uint64_t ns_per_tick32; /* nanoseconds a tick, times 2^32 */
};
extern struct ar_clock ar_clock;

/* The system's monotonic clock. */
uint64_t ar_clock_system_ns(void);

#define AR_DATE_TEXT 32

/* Date and time of day: "2026-11-23 17:32", or "2026-11-23 17:32:04" with seconds; "" where the
 * system does not know them.  Returns text. */
char *ar_clock_date(char text[AR_DATE_TEXT], bool has_seconds);

/* To be called before the first use of ticks, not by two threads at once.  Measures the counter's
 * pace for about 1 ms. */
void ar_clock_start(void);

static inline uint64_t
ar_clock_ticks(void)
{
#if defined __x86_64__
    if (ar_clock.counts)
        return __builtin_ia32_rdtsc(); /* x86intrin.h would add 40,000 lines to every file */
#endif
    return ar_clock_system_ns();
}

/* Ticks as nanoseconds. */
static inline uint64_t
ar_clock_ns(uint64_t ticks)
{
#if defined __x86_64__
    return (uint64_t)(((unsigned __int128)ticks * ar_clock.ns_per_tick32) >> 32);
#else
    return ticks;
#endif
}

/* Ticks from start until now; 0 where the counters of two processors differ by more than that. */
static inline uint64_t
ar_clock_since(uint64_t start)
{
    const uint64_t ticks = ar_clock_ticks() - start;
    return (int64_t)ticks < 0 ? 0 : ticks;
}

#endif
