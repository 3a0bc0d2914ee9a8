/* The functions behind our symbols: another tool's, or the MPI library's own. */
#ifndef AR_NEXT_H
#define AR_NEXT_H

#include <config.h>
#include <mpi.h>
#include <stdbool.h>

#define AR_EXPORT __attribute__((visibility("default")))

/* What we find behind us: ROW(field of struct ar_next, the MPI library's function, its symbol). */
#ifdef HAVE_PMPI_ALLREDUCE_C
#define AR_NEXT_LARGE(ROW)                                                                         \
    ROW(allreduce_c, PMPI_Allreduce_c, "MPI_Allreduce_c")                                          \
    ROW(iallreduce_c, PMPI_Iallreduce_c, "MPI_Iallreduce_c")
#else
#define AR_NEXT_LARGE(ROW)
#endif
#if defined HAVE_PMPI_ALLREDUCE_INIT && defined HAVE_PMPI_ALLREDUCE_C
#define AR_NEXT_PERSISTENT(ROW)                                                                    \
    ROW(allreduce_init, PMPI_Allreduce_init, "MPI_Allreduce_init")                                 \
    ROW(allreduce_init_c, PMPI_Allreduce_init_c, "MPI_Allreduce_init_c")
#elif defined HAVE_PMPI_ALLREDUCE_INIT
#define AR_NEXT_PERSISTENT(ROW) ROW(allreduce_init, PMPI_Allreduce_init, "MPI_Allreduce_init")
#else
#define AR_NEXT_PERSISTENT(ROW)
#endif
#ifdef AR_MPI_IS_OPENMPI /* we define these PMPI_ symbols, too */
#define AR_NEXT_LIBRARY(ROW)                                                                       \
    ROW(library_allreduce, PMPI_Allreduce, "PMPI_Allreduce")                                       \
    ROW(library_iallreduce, PMPI_Iallreduce, "PMPI_Iallreduce")                                    \
    ROW(library_comm_idup, PMPI_Comm_idup, "PMPI_Comm_idup")                                       \
    ROW(library_finalize, PMPI_Finalize, "PMPI_Finalize")
#else
#define AR_NEXT_LIBRARY(ROW)
#endif
#define AR_NEXT(ROW)                                                                               \
    ROW(allreduce, PMPI_Allreduce, "MPI_Allreduce")                                                \
    ROW(iallreduce, PMPI_Iallreduce, "MPI_Iallreduce")                                             \
    ROW(comm_set_info, PMPI_Comm_set_info, "MPI_Comm_set_info")                                    \
    ROW(comm_dup_with_info, PMPI_Comm_dup_with_info, "MPI_Comm_dup_with_info")                     \
    ROW(comm_idup, PMPI_Comm_idup, "MPI_Comm_idup")                                                \
    ROW(comm_free, PMPI_Comm_free, "MPI_Comm_free")                                                \
    ROW(comm_disconnect, PMPI_Comm_disconnect, "MPI_Comm_disconnect")                              \
    ROW(finalize, PMPI_Finalize, "MPI_Finalize")                                                   \
    AR_NEXT_LARGE(ROW)                                                                             \
    AR_NEXT_PERSISTENT(ROW)                                                                        \
    AR_NEXT_LIBRARY(ROW)

struct ar_next {
#define AR_NEXT_FIELD(field, function, symbol) __typeof__(function) *field;
    AR_NEXT(AR_NEXT_FIELD)
    void (*finalize_f08)(int *error); /* MPICH's; else NULL */
};

const struct ar_next *ar_next_get(void);

/* Marks a native call of this thread; a local variable of the function that makes the call. */
struct ar_native_mark {
    const struct ar_native_mark *outer;
};

/* Around a native call.  There may be a begin without an end: the program's error handlers may jump
 * out of the call. */
void ar_native_begin(struct ar_native_mark *mark);
void ar_native_end(const struct ar_native_mark *mark);

/* True between begin and end: a call that arrives at a PMPI_ symbol of ours now is that call on
 * its way to the library. */
bool ar_native_is_running(void);

/* The program itself calls: whatever was marked is over. */
void ar_native_forget(void);

#endif
