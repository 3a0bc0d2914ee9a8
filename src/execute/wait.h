/* Waiting: what every executor does between two unsuccessful polls.  The polls themselves
 * progress MPI. */
#ifndef AR_WAIT_H
#define AR_WAIT_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/clock.h"

/* What the user requested. */
enum ar_wait_policy { AR_WAIT_AUTO, AR_WAIT_SPIN, AR_WAIT_YIELD, AR_WAIT_SLEEP, AR_WAIT_BLOCK };

#define AR_WAIT_FOREVER (~0U)

/* The number of unsuccessful polls before the core is offered to others, and of
 * offers before the rank sleeps until it is woken (if another rank can wake it). */
struct ar_wait {
    unsigned spins;  /* 0: offer the core after each poll; AR_WAIT_FOREVER: never */
    unsigned yields; /* AR_WAIT_FOREVER: never sleep */
    bool blocks;     /* for MPI messages: wait inside MPI, without polls of ours */
    bool dozes;      /* for messages from other nodes: sleep for a moment when it is time to sleep;
                        else yield, since a message wakes no rank */
};

/* With auto and a core for every rank of the node, ranks spin first and yield only after a long
 * wait.  If ranks share cores (is_crowded), they yield at once, since the awaited rank may need
 * this very core, and then sleep.  With block they wait inside MPI, and sleep if they do not wait
 * for an MPI message. */
struct ar_wait ar_wait_make(enum ar_wait_policy policy, bool is_crowded);

/* Between two looks at a flag: lets the other hardware thread of the core run. */
static inline void
ar_wait_relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#elif defined __riscv
    __asm__ volatile(".insn i 0x0f, 0, x0, x0, 0x010"); /* pause: a hint, which older ones ignore */
#endif
}

/* After an unsuccessful poll.  polls counts these since the last success; the caller sets it to
 * zero.  True when it is time to sleep. */
static inline bool
ar_wait_pause(struct ar_wait wait, unsigned *polls)
{
    if (wait.spins == AR_WAIT_FOREVER)
        return false;
    if (*polls < wait.spins) {
        ++*polls;
        return false;
    }
    if (wait.yields != AR_WAIT_FOREVER && *polls - wait.spins >= wait.yields)
        return true;
    *polls += wait.yields != AR_WAIT_FOREVER;
    sched_yield();
    return false;
}

/* Sleeps for the shortest time that the system offers, some 50 us.  For messages from other nodes,
 * where ranks share cores: to poll sockets is expensive, and a yield alone lets other processes run
 * too seldom since Linux 6.6.  Within a node it would double the time of a message. */
void ar_wait_doze(void);

/* After an unsuccessful poll for MPI messages. */
static inline void
ar_wait_for_message(struct ar_wait wait, unsigned *polls)
{
    if (!ar_wait_pause(wait, polls))
        return;
    if (wait.dozes)
        ar_wait_doze();
    else
        sched_yield();
}

/* Asks for the cache line there, which is then on its way, without waiting for it. */
static inline void
ar_wait_ask(const char *at)
{
    __builtin_prefetch(at);
}

/* The same to write there: the line is then taken from all who have read it.  For an x86 a compiler
 * would only ask to read, unless it is told that the processor knows the instruction.  All know it
 * but for the first Pentium 4 with 64 bits (2004). */
static inline void
ar_wait_take(char *at)
{
#ifdef __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*at));
#else
    __builtin_prefetch(at, 1);
#endif
}

/* A number in shared memory that one rank raises and for which others wait.  It has a cache line of
 * its own, in which 48 bytes are left for its user. */
struct ar_flag {
    _Atomic uint64_t value;
    _Atomic uint32_t sleepers;
};

void ar_flag_wake(struct ar_flag *flag);

/* Sleeps while the flag has the value seen: until it is raised, at most for a fifth of a
 * millisecond, since MPI must go on meanwhile. */
void ar_flag_sleep(struct ar_flag *flag, uint64_t seen);

/* What this rank wrote before is visible to every rank that sees the value. */
static inline void
ar_flag_raise(struct ar_flag *flag, uint64_t value, struct ar_wait wait)
{
    /* Pairs with the acquire in ar_flag_read(). */
    atomic_store_explicit(&flag->value, value, memory_order_release);
    /* Without this a sleeper may be overlooked, which would cost only its time-out. */
    if (wait.yields != AR_WAIT_FOREVER)
        atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&flag->sleepers, memory_order_relaxed) > 0)
        ar_flag_wake(flag);
}

static inline uint64_t
ar_flag_read(const struct ar_flag *flag)
{
    /* Pairs with the release in ar_flag_raise(). */
    return atomic_load_explicit(&flag->value, memory_order_acquire);
}

/* The total time of unsuccessful polls, if it is requested. */
struct ar_idle {
    uint64_t *ticks; /* the sum; NULL: not requested */
    uint64_t since;  /* when the first unsuccessful poll was; 0: the last one succeeded */
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

/* The ranks for which a run waits, found by another thread while the run goes on.
 *
 * That thread reads what the run changes meanwhile, without a lock, which would slow down the run.
 * Therefore what it finds need not have been true at any one moment.  The caller keeps the run and
 * its plan alive, which own everything that is read, and no number that is read leads outside them.
 *
 * Marks of a rank: */
enum ar_awaited {
    AR_AWAITED_GIVING = 1, /* this rank waits for what that rank has to give */
    AR_AWAITED_TAKING = 2, /* that rank has not yet taken all that this one gives */
    AR_AWAITED_COMING = 4  /* nothing of that rank has come to this call */
};

#endif
