/* Counts this process's calls of a few functions of MPI's, the engine's among them, to be preloaded
 * behind us.  counted_calls says how many there were of the function with this name. */
#include <config.h> /* _GNU_SOURCE */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    ALLREDUCE,
    BCAST,
    IBCAST,
    REDUCE,
    IREDUCE,
    ALLGATHER,
    SPLIT,
    SPLIT_TYPE,
    TRANSLATE,
    INTERSECT,
    COUNTED
};

static const char *const names[COUNTED] = {
    [ALLREDUCE] = "PMPI_Allreduce",
    [BCAST] = "PMPI_Bcast",
    [IBCAST] = "PMPI_Ibcast",
    [REDUCE] = "PMPI_Reduce",
    [IREDUCE] = "PMPI_Ireduce",
    [ALLGATHER] = "PMPI_Allgather",
    [SPLIT] = "PMPI_Comm_split",
    [SPLIT_TYPE] = "PMPI_Comm_split_type",
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

/* With the standard's names of the parameters. */
COUNT(ALLREDUCE, PMPI_Allreduce,
      (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
       MPI_Comm comm),
      (sendbuf, recvbuf, count, datatype, op, comm))
COUNT(BCAST, PMPI_Bcast, (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm),
      (buffer, count, datatype, root, comm))
COUNT(IBCAST, PMPI_Ibcast,
      (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
       MPI_Request *request),
      (buffer, count, datatype, root, comm, request))
COUNT(REDUCE, PMPI_Reduce,
      (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
       MPI_Comm comm),
      (sendbuf, recvbuf, count, datatype, op, root, comm))
COUNT(IREDUCE, PMPI_Ireduce,
      (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
       MPI_Comm comm, MPI_Request *request),
      (sendbuf, recvbuf, count, datatype, op, root, comm, request))
COUNT(ALLGATHER, PMPI_Allgather,
      (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
       MPI_Datatype recvtype, MPI_Comm comm),
      (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
COUNT(SPLIT, PMPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm),
      (comm, color, key, newcomm))
COUNT(SPLIT_TYPE, PMPI_Comm_split_type,
      (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm),
      (comm, split_type, key, info, newcomm))
COUNT(TRANSLATE, PMPI_Group_translate_ranks,
      (MPI_Group group1, int n, const int *ranks1, MPI_Group group2, int *ranks2),
      (group1, n, ranks1, group2, ranks2))
COUNT(INTERSECT, PMPI_Group_intersection, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup),
      (group1, group2, newgroup))
