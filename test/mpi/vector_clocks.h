/* The order that flags alone give to accesses of shared memory, on any machine, by vector clocks.
 *
 * A flag is raised by one rank, with release, to a higher value each time.  A rank that waits for a
 * value reads, with acquire, the first raise that reaches it or a later one, which tells more.  So
 * the order in which each wait sees the first raise that suffices is contained in the order of
 * every other run.  If it orders all accesses that conflict, every run does. */
#ifndef AR_TEST_CLOCKS_H
#define AR_TEST_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORDER_RANKS 9
#define ORDER_BYTES ((size_t)1 << 17) /* of shared memory, at most */

/* TAKE reads and writes nothing, but is ordered like a write: after those who have read there
 * before, and before those who read there later. */
enum access_kind { AWAIT, RAISE, READ, WRITE, TAKE };

struct access {
    enum access_kind kind;
    size_t at, end; /* bytes of the shared memory, from a multiple of 8 to one */
    uint64_t value; /* of a flag: awaited, or raised to */
};

/* What a rank does, in its order. */
struct trace {
    struct access *of;
    size_t n;
};

/* What is wrong on purpose; NULL: nothing is. */
struct order_faults {
    bool (*is_relaxed)(size_t byte); /* does a look at the flag there tell nothing else? */
    size_t (*moved)(size_t byte);    /* where an access to the byte goes instead */
    bool ignores_flags;              /* nobody waits */
};

enum order {
    ORDERED,
    CONFLICT, /* two ranks access a word, one of them writes, and nothing orders them */
    DEADLOCK
};

/* The order of the accesses of ranks 0 to nranks - 1.  Ends the process if two ranks raise one
 * flag, or if one rank lowers it: the proof rests on their not doing so. */
enum order order_of(const struct trace *traces, int nranks, const struct order_faults *faults);

#endif
