#include "shim/next.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static struct ar_next next = {
    .allreduce = PMPI_Allreduce,
    .iallreduce = PMPI_Iallreduce,
    .comm_set_info = PMPI_Comm_set_info,
    .comm_dup_with_info = PMPI_Comm_dup_with_info,
    .comm_idup = PMPI_Comm_idup,
    .comm_free = PMPI_Comm_free,
    .comm_disconnect = PMPI_Comm_disconnect,
    .finalize = PMPI_Finalize,
#ifdef HAVE_PMPI_ALLREDUCE_C
    .allreduce_c = PMPI_Allreduce_c,
    .iallreduce_c = PMPI_Iallreduce_c,
#endif
#ifdef HAVE_PMPI_ALLREDUCE_INIT
    .allreduce_init = PMPI_Allreduce_init,
#ifdef HAVE_PMPI_ALLREDUCE_C
    .allreduce_init_c = PMPI_Allreduce_init_c,
#endif
#endif
#ifdef AR_MPI_IS_OPENMPI
    .library_allreduce = PMPI_Allreduce,
    .library_iallreduce = PMPI_Iallreduce,
    .library_comm_idup = PMPI_Comm_idup,
    .library_finalize = PMPI_Finalize,
#endif
};

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
    find(&next.allreduce, "MPI_Allreduce");
    find(&next.iallreduce, "MPI_Iallreduce");
    find(&next.comm_set_info, "MPI_Comm_set_info");
    find(&next.comm_dup_with_info, "MPI_Comm_dup_with_info");
    find(&next.comm_idup, "MPI_Comm_idup");
    find(&next.comm_free, "MPI_Comm_free");
    find(&next.comm_disconnect, "MPI_Comm_disconnect");
    find(&next.finalize, "MPI_Finalize");
#ifdef HAVE_PMPI_ALLREDUCE_C
    find(&next.allreduce_c, "MPI_Allreduce_c");
    find(&next.iallreduce_c, "MPI_Iallreduce_c");
#endif
#ifdef HAVE_PMPI_ALLREDUCE_INIT
    find(&next.allreduce_init, "MPI_Allreduce_init");
#ifdef HAVE_PMPI_ALLREDUCE_C
    find(&next.allreduce_init_c, "MPI_Allreduce_init_c");
#endif
#endif
#ifdef AR_MPI_IS_OPENMPI
    find(&next.library_allreduce, "PMPI_Allreduce");
    find(&next.library_iallreduce, "PMPI_Iallreduce");
    find(&next.library_comm_idup, "PMPI_Comm_idup");
    find(&next.library_finalize, "PMPI_Finalize");
#else
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
