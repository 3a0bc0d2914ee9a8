/* Where in the program a call comes from: a site for each return address, found out once.
 *
 * A call by a binding for another language returns into that binding, whose caller is the site.  A
 * binding's code keeps its return address at the same distance from where it calls, so that it is
 * found by one look at the stack, after the stack has been unwound once.
 *
 * What is found stays as it is: a library that is loaded where another one was unloaded is taken
 * for that one.  Thread-safe; no MPI. */
#ifndef AR_CALLER_H
#define AR_CALLER_H

#include "report/sites.h"

/* Of a process; the sites behind these, and code in no file, are one: (others). */
#define AR_CALLERS_MOST 256

/* In a function of the shim: where it returns to, and where its stack begins. */
struct ar_caller {
    const void *address; /* NULL: not known, and not to be counted */
    const void *frame;
};
#define AR_CALLER                                                                                  \
    {                                                                                              \
        __builtin_return_address(0), __builtin_frame_address(0)                                    \
    }

/* The number of the site, from 0 to AR_CALLERS_MOST - 1, at 0 the others.  The caller's function
 * has not returned. */
int ar_caller_find(const struct ar_caller *caller, enum ar_entry entry);

/* The site of a number that ar_caller_find has returned. */
const struct ar_site *ar_caller_site(int number);

#endif
