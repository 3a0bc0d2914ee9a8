/* A serial stand-in for MPI, as solvers bring along for programs of one process: it has only what
 * they call, and no names that begin with PMPI.  With PROGRAM defined: such a program. */
#include <stdio.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);

#ifdef PROGRAM

int
main(int argc, char **argv)
{
    return MPI_Init(&argc, &argv) || MPI_Finalize();
}

#else

int
MPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    puts("serial MPI_Init");
    return 0;
}

int
MPI_Finalize(void)
{
    puts("serial MPI_Finalize");
    return 0;
}

#endif
