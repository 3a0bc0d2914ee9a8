#include "report/clock.h"

#include <time.h>

#if defined __x86_64__
#include <cpuid.h>
#endif

#define NS_A_SECOND 1000000000U
#define ONE         ((uint64_t)1 << 32)

struct ar_clock ar_clock = {false, ONE};

uint64_t
ar_clock_system_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_A_SECOND + (uint64_t)t.tv_nsec;
}

char *
ar_clock_date(char text[AR_DATE_TEXT], bool has_seconds)
{
    const time_t now = time(NULL);
    struct tm tm;
    text[0] = '\0';
    if (localtime_r(&now, &tm))
        strftime(text, AR_DATE_TEXT, has_seconds ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d %H:%M", &tm);
    return text;
}

#if defined __x86_64__

#define PACE_NS   1000000 /* how long the pace is measured */
#define WIDTH_NS  1000    /* two looks at the system's clock are at most so far apart */
#define LOOKS_MAX 100

struct moment {
    uint64_t ns;
    uint64_t ticks;
};

/* Reads both clocks at one moment; false where something always comes in between. */
static bool
look(struct moment *moment)
{
    for (int i = 0; i < LOOKS_MAX; i++) {
        const uint64_t before = ar_clock_system_ns(), ticks = __builtin_ia32_rdtsc();
        const uint64_t width = ar_clock_system_ns() - before;
        *moment = (struct moment){before + width / 2, ticks};
        if (width <= WIDTH_NS)
            return true;
    }
    return false;
}

void
ar_clock_start(void)
{
    struct moment from, to;
    unsigned a, b, c, d;
    /* A bit says that the counter is steady ("invariant TSC"), also in virtual machines. */
    if (!__get_cpuid(0x80000007U, &a, &b, &c, &d) || !(d >> 8 & 1) || !look(&from))
        return;
    nanosleep(&(struct timespec){.tv_nsec = PACE_NS}, NULL);
    if (!look(&to) || to.ticks <= from.ticks || to.ns < from.ns + PACE_NS / 2)
        return;
    ar_clock.ns_per_tick32 =
        (uint64_t)(((unsigned __int128)(to.ns - from.ns) << 32) / (to.ticks - from.ticks));
    ar_clock.counts = true;
}

#else

void
ar_clock_start(void)
{
}

#endif
