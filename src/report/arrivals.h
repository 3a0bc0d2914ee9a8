/* Who came first to a call, and who last.  All ranks leave an allreduce at about the same time.
 * So the rank that was in a call for the longest time came first, and the one that was in it for
 * the shortest came last.  Each rank keeps the times of the same calls, which are compared at
 * the end.  It costs no message in a call, and holds for the MPI library's own allreduce, too.
 * Pure. */
#ifndef AR_ARRIVALS_H
#define AR_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AR_ARRIVALS_KEPT 64   /* calls of a communicator, at most; even */
#define AR_ARRIVALS_MOST 1024 /* communicators in a list; further ones are left out */

/* The times of one rank's calls on one communicator: of every call, or of every 2nd, 4th, ... since
 * the first, so that there is room.  Which ones depends on the number of calls alone. */
struct ar_call_times {
    uint64_t calls;
    unsigned shift; /* every 2^shift-th call is kept */
    uint64_t ns[AR_ARRIVALS_KEPT];
};

void ar_call_times_keep(struct ar_call_times *times, uint64_t ns);

/* A call took so long. */
static inline void
ar_call_times_note(struct ar_call_times *times, uint64_t ns)
{
    if ((times->calls & (((uint64_t)1 << times->shift) - 1)) == 0)
        ar_call_times_keep(times, ns);
    times->calls++;
}

/* One call, as far as ranks have been put together.  Of equal times the lower rank's counts. */
struct ar_arrival {
    uint64_t least_ns, most_ns;
    int last, first; /* the ranks, in the world */
};

/* The calls on one communicator.  A plain block of memory: ranks send it to each other as bytes. */
struct ar_arrivals {
    uint64_t id;    /* of the communicator, the same on its ranks alone; not 0 */
    uint64_t calls; /* on each rank; 0: the ranks counted different numbers */
    int nranks;     /* of the communicator */
    int ranks;      /* that have been put together */
    struct ar_arrival call[AR_ARRIVALS_KEPT];
};

struct ar_arrivals_list {
    struct ar_arrivals *items;
    size_t n;
    size_t room;
};

/* A list whose bytes are all zero is empty. */
void ar_arrivals_list_fini(struct ar_arrivals_list *list);

/* The calls of one rank, which made any. */
void ar_arrivals_init(struct ar_arrivals *arrivals, uint64_t id, int nranks, int rank,
                      const struct ar_call_times *times);

/* Puts the calls together with those of the same communicator.  Left out where the list is full, or
 * without memory. */
void ar_arrivals_add(struct ar_arrivals_list *list, const struct ar_arrivals *arrivals);

/* How many calls were kept. */
int ar_arrivals_kept(const struct ar_arrivals *arrivals);

/* Are all ranks of the communicator put together, and did they count the same number of calls? */
bool ar_arrivals_are_complete(const struct ar_arrivals *arrivals);

/* Was the last rank late?  It was if the first one was in the call for at least twice as long.  The
 * last one waits for nobody, so its time is what the call takes where nobody is late. */
bool ar_arrival_is_late(const struct ar_arrival *arrival);

#endif
