/* Waiting: what to do between two polls that found nothing.  One place, used by
 * every executor.  The polls themselves progress MPI. */
#ifndef AR_WAIT_H
#define AR_WAIT_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/clock.h"

/* What the user asked for. */
enum ar_wait_policy { AR_WAIT_AUTO, AR_WAIT_SPIN, AR_WAIT_YIELD };

#define AR_WAIT_FOREVER (~0U)

/* How many polls in vain come before the core is offered to others. */
struct ar_wait {
    unsigned spins; /* 0: yield after each; AR_WAIT_FOREVER: never yield */
};

/* auto: with a core for every rank of the node (ranks <= cpus), spin first and
 * yield only when the wait grows long; otherwise yield at once, since the rank
 * waited for may need this very core. */
struct ar_wait ar_wait_make(enum ar_wait_policy policy, int ranks, int cpus);

/* Between two looks at a flag: lets the other hardware thread of the core run. */
static inline void
ar_wait_relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* polls counts the polls in vain since the last success; the caller zeroes it. */
static inline void
ar_wait_pause(struct ar_wait wait, unsigned *polls)
{
    if (wait.spins == AR_WAIT_FOREVER)
        return;
    if (*polls < wait.spins)
        ++*polls;
    else
        sched_yield();
}

/* The time of polls in vain, added up where somebody asks for it. */
struct ar_idle {
    uint64_t *ticks; /* the sum; NULL: nobody asks */
    uint64_t since;  /* when a poll first was in vain; 0: the last one was not */
};

/* After each poll. */
static inline void
ar_idle_look(struct ar_idle *idle, bool in_vain)
{
    if (!idle->ticks || in_vain == (idle->since != 0))
        return;
    if (in_vain) {
        idle->since = ar_clock_ticks();
    } else {
        *idle->ticks += ar_clock_since(idle->since);
        idle->since = 0;
    }
}

#endif
