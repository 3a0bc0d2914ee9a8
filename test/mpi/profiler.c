/* A profiler such as mpiP: it counts calls, passes them on, and prints the counts at the end, if
 * there were any calls.  Such tools differ in how they pass calls on:
 *
 * TOOL_NEXT     to what is found behind it (RTLD_NEXT)
 * TOOL_PMPI     to the PMPI_ symbols
 * neither       to those of the MPI library's own file, past all others */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

#ifdef TOOL_NEXT
#define NAME "next"
#elif defined TOOL_PMPI
#define NAME "pmpi"
#else
#define NAME "handle"

static void *
find_in_library(const char *name)
{
    Dl_info info;
    void *anchor = dlsym(RTLD_DEFAULT, "PMPI_Get_library_version");
    void *library = dladdr(anchor, &info) ? dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY) : NULL;
    return library ? dlsym(library, name) : NULL;
}
#endif

/* The function of this name to which the call is passed on. */
#ifdef TOOL_NEXT
#define FIND(function) dlsym(RTLD_NEXT, "MPI_" #function)
#elif !defined TOOL_PMPI
#define FIND(function) find_in_library("PMPI_" #function)
#endif

#ifdef TOOL_PMPI
#define PASS_ON(function, parameters, arguments) return PMPI_##function arguments
#else
#define PASS_ON(function, parameters, arguments)                                                   \
    int(*next) parameters;                                                                         \
    void *symbol = FIND(function);                                                                 \
    memcpy(&next, &symbol, sizeof next);                                                           \
    return next arguments
#endif

/* WRAP(function, parameters, arguments) for each function that it wraps. */
#define REDUCTION(Count)                                                                           \
    (const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op,            \
     MPI_Comm comm)
#define WRAP_OLD(WRAP)                                                                             \
    WRAP(Allreduce, REDUCTION(int), (sendbuf, recvbuf, count, datatype, op, comm))                 \
    WRAP(Barrier, (MPI_Comm comm), (comm))                                                         \
    WRAP(Comm_free, (MPI_Comm * comm), (comm))                                                     \
    WRAP(Comm_idup, (MPI_Comm comm, MPI_Comm * newcomm, MPI_Request * request),                    \
         (comm, newcomm, request))                                                                 \
    WRAP(Finalize, (void), ())                                                                     \
    WRAP(Iallreduce,                                                                               \
         (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,         \
          MPI_Comm comm, MPI_Request *request),                                                    \
         (sendbuf, recvbuf, count, datatype, op, comm, request))                                   \
    WRAP(Init, (int *argc, char ***argv), (argc, argv))
#if MPI_VERSION >= 4
#define WRAP_ALL(WRAP)                                                                             \
    WRAP_OLD(WRAP)                                                                                 \
    WRAP(Allreduce_c, REDUCTION(MPI_Count), (sendbuf, recvbuf, count, datatype, op, comm))
#else
#define WRAP_ALL(WRAP) WRAP_OLD(WRAP)
#endif

#define DEFINE(function, parameters, arguments)                                                    \
    static int calls_of_##function;                                                                \
    EXPORTED int MPI_##function parameters                                                         \
    {                                                                                              \
        calls_of_##function++;                                                                     \
        PASS_ON(function, parameters, arguments);                                                  \
    }
WRAP_ALL(DEFINE)

__attribute__((destructor)) static void
tell(void)
{
    char text[512];
    size_t length = 0;
#define ADD(function, parameters, arguments)                                                       \
    if (calls_of_##function > 0)                                                                   \
        length += (size_t)snprintf(text + length, sizeof text - length, " %d " #function,          \
                                   calls_of_##function);
    WRAP_ALL(ADD)
    if (length > 0)
        fprintf(stderr, "tool " NAME ":%s\n", text);
}
