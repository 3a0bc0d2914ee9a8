/* What the preloaded library (src/stub) and the engine for an MPI library exchange: a function for
 * each symbol that we put in front of the MPI library's.
 *
 * A file that includes this provides the types of MPI: the engine those of its <mpi.h>, the stub
 * words that hold the handles of any MPI (stub/handles.h). */
#ifndef AR_ENTRIES_H
#define AR_ENTRIES_H

#include <stdbool.h>

#define AR_EXPORT __attribute__((visibility("default")))

/* ROW(result, symbol, field of struct ar_entries, parameters, arguments) */
#define AR_ENTRIES(ROW)                                                                            \
    ROW(int, MPI_Allreduce, allreduce,                                                             \
        (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),       \
        (in, out, count, type, op, comm))                                                          \
    ROW(int, MPI_Allreduce_c, allreduce_c,                                                         \
        (const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), \
        (in, out, count, type, op, comm))                                                          \
    ROW(int, MPI_Iallreduce, iallreduce,                                                           \
        (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,        \
         MPI_Request *request),                                                                    \
        (in, out, count, type, op, comm, request))                                                 \
    ROW(int, MPI_Iallreduce_c, iallreduce_c,                                                       \
        (const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,  \
         MPI_Request *request),                                                                    \
        (in, out, count, type, op, comm, request))                                                 \
    ROW(int, MPI_Allreduce_init, allreduce_init,                                                   \
        (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,        \
         MPI_Info info, MPI_Request *request),                                                     \
        (in, out, count, type, op, comm, info, request))                                           \
    ROW(int, MPI_Allreduce_init_c, allreduce_init_c,                                               \
        (const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,  \
         MPI_Info info, MPI_Request *request),                                                     \
        (in, out, count, type, op, comm, info, request))                                           \
    ROW(int, MPI_Comm_set_name, comm_set_name, (MPI_Comm comm, const char *name), (comm, name))    \
    ROW(int, MPI_Comm_set_info, comm_set_info, (MPI_Comm comm, MPI_Info info), (comm, info))       \
    ROW(int, MPI_Comm_dup_with_info, comm_dup_with_info,                                           \
        (MPI_Comm comm, MPI_Info info, MPI_Comm * copy), (comm, info, copy))                       \
    ROW(int, MPI_Comm_idup, comm_idup, (MPI_Comm comm, MPI_Comm * copy, MPI_Request * request),    \
        (comm, copy, request))                                                                     \
    ROW(int, MPI_Comm_idup_with_info, comm_idup_with_info,                                         \
        (MPI_Comm comm, MPI_Info info, MPI_Comm * copy, MPI_Request * request),                    \
        (comm, info, copy, request))                                                               \
    ROW(int, MPI_Intercomm_merge, intercomm_merge,                                                 \
        (MPI_Comm inter, int is_high, MPI_Comm *merged), (inter, is_high, merged))                 \
    ROW(int, MPI_Comm_free, comm_free, (MPI_Comm * comm), (comm))                                  \
    ROW(int, MPI_Comm_disconnect, comm_disconnect, (MPI_Comm * comm), (comm))                      \
    ROW(int, MPI_Init, init, (int *argc, char ***argv), (argc, argv))                              \
    ROW(int, MPI_Init_thread, init_thread, (int *argc, char ***argv, int required, int *provided), \
        (argc, argv, required, provided))                                                          \
    ROW(void, mpi_init_f08_, init_f08, (int *error), (error))                                      \
    ROW(void, mpi_init_thread_f08_, init_thread_f08,                                               \
        (const int *required, int *provided, int *error), (required, provided, error))             \
    ROW(int, MPI_Finalize, finalize, (void), ())                                                   \
    ROW(void, mpi_finalize_f08_, finalize_f08, (int *error), (error))                              \
    ROW(int, PMPI_Allreduce, library_allreduce,                                                    \
        (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),       \
        (in, out, count, type, op, comm))                                                          \
    ROW(int, PMPI_Allreduce_c, library_allreduce_c,                                                \
        (const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), \
        (in, out, count, type, op, comm))                                                          \
    ROW(int, PMPI_Iallreduce, library_iallreduce,                                                  \
        (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,        \
         MPI_Request *request),                                                                    \
        (in, out, count, type, op, comm, request))                                                 \
    ROW(int, PMPI_Comm_set_name, library_comm_set_name, (MPI_Comm comm, const char *name),         \
        (comm, name))                                                                              \
    ROW(int, PMPI_Comm_set_info, library_comm_set_info, (MPI_Comm comm, MPI_Info info),            \
        (comm, info))                                                                              \
    ROW(int, PMPI_Comm_dup_with_info, library_comm_dup_with_info,                                  \
        (MPI_Comm comm, MPI_Info info, MPI_Comm * copy), (comm, info, copy))                       \
    ROW(int, PMPI_Comm_idup, library_comm_idup,                                                    \
        (MPI_Comm comm, MPI_Comm * copy, MPI_Request * request), (comm, copy, request))            \
    ROW(int, PMPI_Comm_idup_with_info, library_comm_idup_with_info,                                \
        (MPI_Comm comm, MPI_Info info, MPI_Comm * copy, MPI_Request * request),                    \
        (comm, info, copy, request))                                                               \
    ROW(int, PMPI_Intercomm_merge, library_intercomm_merge,                                        \
        (MPI_Comm inter, int is_high, MPI_Comm *merged), (inter, is_high, merged))                 \
    ROW(int, PMPI_Init, library_init, (int *argc, char ***argv), (argc, argv))                     \
    ROW(int, PMPI_Init_thread, library_init_thread,                                                \
        (int *argc, char ***argv, int required, int *provided), (argc, argv, required, provided))  \
    ROW(int, PMPI_Finalize, library_finalize, (void), ())

struct ar_entries {
#define AR_ENTRY_FIELD(result, symbol, field, parameters, arguments) result(*field) parameters;
    AR_ENTRIES(AR_ENTRY_FIELD)
};

/* Raised with every change of this file: a stub accepts no engine with another number. */
#define AR_ENGINE_INTERFACE 9

/* Everything that an engine exports, as ar_mpi_engine. */
struct ar_mpi_engine {
    unsigned interface;
    const char *version; /* "1.0.0 (mpich)" */

    /* Called once, before any other function.  next has the functions behind our symbols, which
     * belong to another tool or to the library itself; NULL if the process has none.  The stub
     * keeps the structure. */
    void (*begin)(const struct ar_entries *next);

    /* Called when the process leaves by exit.  False: no allreduce has arrived in it. */
    bool (*end)(void);

    /* NULL: calls go to the function behind us.  This is so for those that start MPI.  The engine
     * is loaded in these already, because by the first allreduce a rank may have no open file left
     * for loading it. */
    struct ar_entries entries;

    /* As in allreduce.h. */
    const char *(*algorithm_name)(unsigned i);
    int (*choose)(MPI_Comm comm, const char *clauses);
    const char *(*last)(MPI_Comm comm, const char **reason);
};

extern const struct ar_mpi_engine ar_mpi_engine;

#endif
