/* What the MPI tests share.  They are ordinary MPI programs, which pass with
 * and without the library preloaded. */
#ifndef MPI_CHECK_H
#define MPI_CHECK_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* A communicator and who we are in it. */
struct check_comm {
    MPI_Comm comm;
    const char *name; /* for messages */
    int rank;
    int nranks;
};

void check_begin(int *argc, char ***argv); /* MPI_Init */

/* The same for threads that make calls at the same time; false if the MPI library does not support
 * that. */
bool check_begin_threads(int *argc, char ***argv);

/* MPI_Finalize; the exit status of main: 0 if this rank saw no failure. */
int check_end(void);

/* The same for programs that initialise MPI otherwise, or not at all. */
int check_status(void);

/* Tells of a failure, with the rank in MPI_COMM_WORLD; the 20th aborts the job. */
void check_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define check_true(condition)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_fail("%s:%d: not so: %s", __FILE__, __LINE__, #condition);                       \
    } while (0)

/* Names what the rank now does; NULL: nothing.  If it takes longer than a minute, or than
 * $CHECK_PATIENCE seconds, the rank says so and ends the job. */
void check_watch(const char *what);

struct check_comm check_describe(MPI_Comm comm, const char *name);

/* A buffer between guard bytes, filled with 0xA5; check_guards fails if a guard
 * was written, check_release frees. */
void *check_buffer(size_t bytes);
void check_guards(const void *buffer, const char *what);
void check_release(void *buffer);

/* Are bytes of buffer the same on all ranks?  Collective. */
void check_same_bits(const struct check_comm *c, const void *buffer, size_t bytes,
                     const char *what);

/* Sums up to CHECK_ALIKE_MOST ints by MPI_Allreduce on a communicator whose error handler returns
 * errors.  Fails unless the result is right or all ranks get an error.  Returns whether it is an
 * error. */
#define CHECK_ALIKE_MOST 100000
bool check_call_alike(MPI_Comm comm, int count, bool in_place, const char *what);

/* Adds ints, or elements of a type that is several of them without gaps: for MPI_Op_create. */
void check_add_ints(void *in, void *inout, int *count, MPI_Datatype *type);

/* Sum of rank + 1 over nranks ranks, by MPI_Allreduce on one int; fails if wrong. */
void check_ping(MPI_Comm comm, const char *what);

#endif
