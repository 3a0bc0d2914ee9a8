/* Counts this process's calls of a few functions of MPI's, the engine's among them, to be preloaded
 * behind us.  counted_calls says how many there were of the function with this name. */
#include <config.h> /* _GNU_SOURCE */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { BCAST, IBCAST, REDUCE, ALLGATHER, SPLIT, TRANSLATE, INTERSECT, COUNTED };

static const char *const names[COUNTED] = {
    [BCAST] = "PMPI_Bcast",
    [IBCAST] = "PMPI_Ibcast",
    [REDUCE] = "PMPI_Reduce",
    [ALLGATHER] = "PMPI_Allgather",
    [SPLIT] = "PMPI_Comm_split",
    [TRANSLATE] = "PMPI_Group_translate_ranks",
    [INTERSECT] = "PMPI_Group_intersection",
};
static long calls[COUNTED];

EXPORT long counted_calls(const char *name);

EXPORT long
counted_calls(const char *name)
{
    for (int i = 0; i < COUNTED; i++)
        if (strcmp(name, names[i]) == 0)
            return calls[i];
    abort();
}

#define COUNT(which, function, parameters, arguments)                                              \
    EXPORT int function parameters                                                                 \
    {                                                                                              \
        int(*next) parameters;                                                                     \
        void *const symbol = dlsym(RTLD_NEXT, names[which]);                                       \
        memcpy(&next, &symbol, sizeof next);                                                       \
        calls[which]++;                                                                            \
        return next arguments;                                                                     \
    }

COUNT(BCAST, PMPI_Bcast, (void *data, int count, MPI_Datatype type, int root, MPI_Comm comm),
      (data, count, type, root, comm))
COUNT(IBCAST, PMPI_Ibcast,
      (void *data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request),
      (data, count, type, root, comm, request))
COUNT(REDUCE, PMPI_Reduce,
      (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
      (in, out, count, type, op, root, comm))
COUNT(ALLGATHER, PMPI_Allgather,
      (const void *in, int count, MPI_Datatype type, void *out, int out_count,
       MPI_Datatype out_type, MPI_Comm comm),
      (in, count, type, out, out_count, out_type, comm))
COUNT(SPLIT, PMPI_Comm_split, (MPI_Comm comm, int colour, int key, MPI_Comm *part),
      (comm, colour, key, part))
COUNT(TRANSLATE, PMPI_Group_translate_ranks,
      (MPI_Group group, int n, const int *ranks, MPI_Group other, int *numbers),
      (group, n, ranks, other, numbers))
COUNT(INTERSECT, PMPI_Group_intersection, (MPI_Group group, MPI_Group other, MPI_Group *common),
      (group, other, common))
