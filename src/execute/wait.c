#include <config.h>

#include "execute/wait.h"

#include <time.h>

#ifdef HAVE_LINUX_FUTEX_H
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* Some 20 us of polls: longer than a message between ranks that run, and far
 * shorter than a scheduler's slice, which is what spinning costs where somebody
 * else, another job perhaps, has the awaited rank's core.  Where nobody has,
 * yielding costs next to nothing. */
#define SPINS_BEFORE_YIELD 200

/* Waking a sleeper is a system call on either side, some ten times as long as a yield; but with
 * many ranks a core the scheduler may pass over the awaited rank again and again. */
#define YIELDS_BEFORE_SLEEP 16

#define SLEEP_NS 200000

struct ar_wait
ar_wait_make(enum ar_wait_policy policy, bool is_crowded)
{
    const unsigned spins = is_crowded ? 0 : SPINS_BEFORE_YIELD;
    switch (policy) {
    case AR_WAIT_SPIN:
        return (struct ar_wait){AR_WAIT_FOREVER, AR_WAIT_FOREVER, false, false};
    case AR_WAIT_YIELD:
        return (struct ar_wait){0, AR_WAIT_FOREVER, false, false};
    case AR_WAIT_SLEEP:
    case AR_WAIT_BLOCK:
        return (struct ar_wait){spins, YIELDS_BEFORE_SLEEP, policy == AR_WAIT_BLOCK, false};
    case AR_WAIT_AUTO:
        break;
    }
    return (struct ar_wait){spins, spins == 0 ? YIELDS_BEFORE_SLEEP : AR_WAIT_FOREVER, false,
                            false};
}

void
ar_wait_doze(void)
{
    const struct timespec least = {.tv_nsec = 1};
    nanosleep(&least, NULL);
}

#ifdef HAVE_LINUX_FUTEX_H

/* The kernel compares 32 bits: the half of the value that changes. */
static uint32_t *
word_of(struct ar_flag *flag)
{
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    return (uint32_t *)(void *)&flag->value + (little ? 0 : 1);
}

void
ar_flag_wake(struct ar_flag *flag)
{
    syscall(SYS_futex, word_of(flag), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void
ar_flag_sleep(struct ar_flag *flag, uint64_t seen)
{
    const struct timespec limit = {.tv_nsec = SLEEP_NS};
    atomic_fetch_add(&flag->sleepers, 1);
    syscall(SYS_futex, word_of(flag), FUTEX_WAIT, (uint32_t)seen, &limit, NULL, 0);
    atomic_fetch_sub(&flag->sleepers, 1);
}

#else

void
ar_flag_wake(struct ar_flag *flag)
{
    (void)flag;
}

void
ar_flag_sleep(struct ar_flag *flag, uint64_t seen)
{
    (void)flag;
    (void)seen;
    sched_yield();
}

#endif
