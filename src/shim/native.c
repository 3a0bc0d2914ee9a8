#include <config.h>

#include "shim/native.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "communicator/deadline.h"
#include "communicator/process.h"

typedef int allreduce_fn(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);

static allreduce_fn *next = PMPI_Allreduce;
static allreduce_fn *library = PMPI_Allreduce;
#ifdef HAVE_PMPI_ALLREDUCE_C
typedef int allreduce_c_fn(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
static allreduce_c_fn *next_c = PMPI_Allreduce_c;
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread const struct ar_native_mark *innermost __attribute__((tls_model("initial-exec")));

/* ISO C has no cast from an object to a function pointer; POSIX says they fit. */
void
ar_native_find(void *function, const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (symbol)
        memcpy(function, &symbol, sizeof symbol);
}

static void
find_next(void)
{
    ar_process_check_family();
    ar_native_find(&next, "MPI_Allreduce");
#ifdef AR_MPI_IS_OPENMPI
    /* PMPI_Allreduce is our own symbol too: see shim.c. */
    ar_native_find(&library, "PMPI_Allreduce");
#endif
#ifdef HAVE_PMPI_ALLREDUCE_C
    ar_native_find(&next_c, "MPI_Allreduce_c");
#endif
}

static int
forward(const struct ar_call *call)
{
#ifdef HAVE_PMPI_ALLREDUCE_C
    if (call->large)
        return next_c(call->in, call->out, call->count, call->type, call->op, call->comm);
#endif
    allreduce_fn *function = call->profiled ? library : next;
    return function(call->in, call->out, (int)call->count, call->type, call->op, call->comm);
}

int
ar_native_allreduce(const struct ar_call *call)
{
    struct ar_native_mark mark;
    pthread_once(&once, find_next);
    ar_native_begin(&mark);
    if (ar_deadline_is_on())
        ar_deadline_enter(AR_DEADLINE_NATIVE);
    const int error = forward(call);
    if (ar_deadline_is_on())
        ar_deadline_enter(AR_DEADLINE_CHECKS);
    ar_native_end(&mark);
    return error;
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
