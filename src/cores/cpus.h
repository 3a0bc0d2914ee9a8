/* Sets of CPUs, as many as Linux can have.  A CPU is what the system gives a number: a hardware
 * thread.  Pure. */
#ifndef AR_CPUS_H
#define AR_CPUS_H

#include <limits.h>
#include <stdbool.h>

#include "select/words.h"

#define AR_CPUS_MAX  8192 /* CONFIG_NR_CPUS of Linux, at most */
#define AR_CPUS_BITS ((int)(sizeof(unsigned long) * CHAR_BIT))

/* A plain block of memory, laid out as the system has it: ranks send it to each other, and combine
 * such sets bit by bit. */
struct ar_cpus {
    unsigned long word[AR_CPUS_MAX / (sizeof(unsigned long) * CHAR_BIT)];
};

/* Any number: those that a set cannot hold are in none. */
static inline bool
ar_cpus_have(const struct ar_cpus *cpus, int cpu)
{
    return cpu >= 0 && cpu < AR_CPUS_MAX &&
           cpus->word[cpu / AR_CPUS_BITS] >> cpu % AR_CPUS_BITS & 1;
}

/* 0 <= cpu < AR_CPUS_MAX. */
static inline void
ar_cpus_add(struct ar_cpus *cpus, int cpu)
{
    cpus->word[cpu / AR_CPUS_BITS] |= 1UL << cpu % AR_CPUS_BITS;
}

static inline void
ar_cpus_remove(struct ar_cpus *cpus, const struct ar_cpus *others)
{
    for (int i = 0; i < AR_CPUS_MAX / AR_CPUS_BITS; i++)
        cpus->word[i] &= ~others->word[i];
}

int ar_cpus_count(const struct ar_cpus *cpus);

/* The lowest number in the set that is above `above`, which is -1 for the lowest of all; -1: there
 * is none. */
int ar_cpus_next(const struct ar_cpus *cpus, int above);

/* Adds the numbers, as in "0-3,8". */
void ar_cpus_print(struct ar_text *text, const struct ar_cpus *cpus);

/* The CPUs on which the calling thread may run.  False, and an empty set, where the system does not
 * tell. */
bool ar_cpus_of_thread(struct ar_cpus *cpus);

/* Binds the calling thread to these CPUs.  False, with the cause in errno, if it cannot be. */
bool ar_cpus_bind_thread(const struct ar_cpus *cpus);

/* The CPUs to which the calling thread could be bound: those of its cgroup, whatever a launcher has
 * bound it to.  A thread of our own finds them, so that nothing changes for the caller.  False if
 * that fails. */
bool ar_cpus_of_cgroup(struct ar_cpus *cpus);

/* Reads a set as Linux writes it below /sys: hexadecimal digits, the last one for CPUs 0 to 3, with
 * commas between them, up to the end of the text or of its line.  False, with *cpus untouched, if
 * the text is something else, or has a CPU that a set cannot hold. */
bool ar_cpus_parse(struct ar_cpus *cpus, const char *map);

#endif
