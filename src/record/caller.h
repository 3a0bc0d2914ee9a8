/* Where in the program a call comes from: a site for each return address, found out once.
 *
 * A call through another language's binding returns into the binding, and the site is where that
 * was called.  On the stack the binding's return address is always at the same distance from where
 * it calls.  So the stack is unwound once, and after that one look at it is enough.
 *
 * Where something was unloaded since, it is found out again, since another library may have taken
 * the place.  Thread-safe; no MPI. */
#ifndef AR_CALLER_H
#define AR_CALLER_H

#include "report/sites.h"

/* Sites of a process.  All further ones, and all code that is in no file, are one: (others). */
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

/* The number of the site, from 0 to AR_CALLERS_MOST - 1; 0 is (others).  The shim's function, which
 * caller describes, must not have returned. */
int ar_caller_find(const struct ar_caller *caller, enum ar_entry entry);

/* The site of a number that ar_caller_find has returned. */
const struct ar_site *ar_caller_site(int number);

#endif
