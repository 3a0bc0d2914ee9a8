/* The functions behind our symbols: another tool's, or the MPI library's own. */
#ifndef AR_NEXT_H
#define AR_NEXT_H

#include <config.h>
#include <mpi.h>
#include <stdbool.h>

#define AR_EXPORT __attribute__((visibility("default")))

/* What the next object that has the symbol gives; names of the library's own begin with library. */
struct ar_next {
    __typeof__(PMPI_Allreduce) *allreduce;
    __typeof__(PMPI_Iallreduce) *iallreduce;
    __typeof__(PMPI_Comm_set_info) *comm_set_info;
    __typeof__(PMPI_Comm_dup_with_info) *comm_dup_with_info;
    __typeof__(PMPI_Comm_idup) *comm_idup;
    __typeof__(PMPI_Comm_free) *comm_free;
    __typeof__(PMPI_Comm_disconnect) *comm_disconnect;
    __typeof__(PMPI_Finalize) *finalize;
#ifdef HAVE_PMPI_ALLREDUCE_C
    __typeof__(PMPI_Allreduce_c) *allreduce_c;
    __typeof__(PMPI_Iallreduce_c) *iallreduce_c;
#endif
#ifdef HAVE_PMPI_ALLREDUCE_INIT
    __typeof__(PMPI_Allreduce_init) *allreduce_init;
#ifdef HAVE_PMPI_ALLREDUCE_C
    __typeof__(PMPI_Allreduce_init_c) *allreduce_init_c;
#endif
#endif
#ifdef AR_MPI_IS_OPENMPI /* we define these PMPI_ symbols, too */
    __typeof__(PMPI_Allreduce) *library_allreduce;
    __typeof__(PMPI_Iallreduce) *library_iallreduce;
    __typeof__(PMPI_Comm_idup) *library_comm_idup;
    __typeof__(PMPI_Finalize) *library_finalize;
#else
    void (*finalize_f08)(int *error);
#endif
};

const struct ar_next *ar_next_get(void);

/* Marks a native call of this thread; it lives in the frame of whoever makes that call. */
struct ar_native_mark {
    const struct ar_native_mark *outer;
};

/* Around a native call, which may never come back: error handlers of the program's may jump out
 * of it. */
void ar_native_begin(struct ar_native_mark *mark);
void ar_native_end(const struct ar_native_mark *mark);

/* True between begin and end: a call that arrives at a PMPI_ symbol of ours now is that call on
 * its way to the library. */
bool ar_native_is_running(void);

/* The program itself calls: whatever was marked is over. */
void ar_native_forget(void);

#endif
