/* The order that flags alone give to accesses of shared memory, on any machine, by vector clocks.
 *
 * A flag is raised by one rank, and each time higher, with release; who waits for a value reads,
 * with acquire, the raise that first reached it or a later one.  A later one tells more.  So the
 * order in which each wait sees the first raise that suffices is contained in the order of every
 * other run, and where it orders all accesses that conflict, all runs do. */
#ifndef AR_TEST_CLOCKS_H
#define AR_TEST_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORDER_RANKS 9
#define ORDER_BYTES ((size_t)1 << 17) /* of shared memory, at most */

/* TAKE: nothing is read or written, but who has read there before is through, and who reads there
 * later knows of it. */
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

/* Of accesses of ranks 0 to nranks - 1.  It ends the process where two ranks raise one flag, or one
 * rank lowers it: the proof rests on that. */
enum order order_of(const struct trace *traces, int nranks, const struct order_faults *faults);

#endif
