#include "shim/next.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static struct ar_next next = {
#define DEFAULT(field, function, symbol) .field = function,
    AR_NEXT(DEFAULT)};

static __thread const struct ar_native_mark *innermost __attribute__((tls_model("initial-exec")));

/* Leaves *function, a pointer to a function, as it is where nobody behind us has the symbol.  ISO C
 * has no cast from an object to a function pointer; POSIX says they fit. */
static void
find(void *function, const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (symbol)
        memcpy(function, &symbol, sizeof symbol);
}

static void
find_all(void)
{
#define FIND(field, function, symbol) find(&next.field, symbol);
    AR_NEXT(FIND)
#ifndef AR_MPI_IS_OPENMPI
    find(&next.finalize_f08, "mpi_finalize_f08_");
#endif
}

const struct ar_next *
ar_next_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_all);
    return &next;
}

void
ar_native_begin(struct ar_native_mark *mark)
{
    mark->outer = innermost;
    innermost = mark;
}

void
ar_native_end(const struct ar_native_mark *mark)
{
    innermost = mark->outer;
}

/* Stacks grow downwards: a mark below the frame at hand was left behind by a jump. */
bool
ar_native_is_running(void)
{
    return (uintptr_t)innermost > (uintptr_t)__builtin_frame_address(0);
}

void
ar_native_forget(void)
{
    innermost = NULL;
}
