#include <config.h>

#include "cores/cpus.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

int
ar_cpus_count(const struct ar_cpus *cpus)
{
    int n = 0;
    for (int i = 0; i < AR_CPUS_MAX / AR_CPUS_BITS; i++)
        n += __builtin_popcountl(cpus->word[i]);
    return n;
}

int
ar_cpus_next(const struct ar_cpus *cpus, int above)
{
    for (int cpu = above + 1; cpu < AR_CPUS_MAX; cpu++) {
        const unsigned long rest = cpus->word[cpu / AR_CPUS_BITS] >> cpu % AR_CPUS_BITS;
        if (rest)
            return cpu + __builtin_ctzl(rest);
        cpu |= AR_CPUS_BITS - 1; /* the last of this word */
    }
    return -1;
}

void
ar_cpus_print(struct ar_text *text, const struct ar_cpus *cpus)
{
    const char *before = "";
    for (int cpu = ar_cpus_next(cpus, -1), last; cpu >= 0; cpu = ar_cpus_next(cpus, last)) {
        last = cpu;
        while (ar_cpus_have(cpus, last + 1))
            last++;
        ar_text_add(text, "%s%d", before, cpu);
        if (last > cpu)
            ar_text_add(text, "%s%d", last == cpu + 1 ? "," : "-", last);
        before = ",";
    }
}

bool
ar_cpus_of_thread(struct ar_cpus *cpus)
{
    memset(cpus, 0, sizeof *cpus);
    return sched_getaffinity(0, sizeof cpus->word, (cpu_set_t *)(void *)cpus->word) == 0;
}

bool
ar_cpus_bind_thread(const struct ar_cpus *cpus)
{
    return sched_setaffinity(0, sizeof cpus->word, (const cpu_set_t *)(const void *)cpus->word) ==
           0;
}

/* The kernel takes from the set what the cgroup does not allow. */
static void *
widen(void *room)
{
    struct ar_cpus *const cpus = room;
    memset(cpus, 0xff, sizeof *cpus);
    if (!ar_cpus_bind_thread(cpus) || !ar_cpus_of_thread(cpus))
        memset(cpus, 0, sizeof *cpus);
    return NULL;
}

bool
ar_cpus_of_cgroup(struct ar_cpus *cpus)
{
    sigset_t every, usual;
    pthread_t thread;
    memset(cpus, 0, sizeof *cpus);
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &usual); /* the program's handlers do not run there */
    const bool runs = pthread_create(&thread, NULL, widen, cpus) == 0;
    pthread_sigmask(SIG_SETMASK, &usual, NULL);
    if (runs)
        pthread_join(thread, NULL);
    return ar_cpus_next(cpus, -1) >= 0;
}

static int
digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *const at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool
ar_cpus_parse(struct ar_cpus *cpus, const char *map)
{
    struct ar_cpus read;
    int cpu = 0;
    memset(&read, 0, sizeof read);
    for (size_t i = strcspn(map, "\n"); i-- > 0;) {
        const int digit = digit_of(map[i]);
        if (digit < 0 && map[i] != ',')
            return false;
        for (int bit = 0; digit >= 0 && bit < 4; bit++, cpu++)
            if (digit >> bit & 1 && cpu < AR_CPUS_MAX)
                ar_cpus_add(&read, cpu);
            else if (digit >> bit & 1)
                return false;
    }
    if (cpu == 0)
        return false;
    *cpus = read;
    return true;
}
