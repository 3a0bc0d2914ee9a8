/* What Open MPI 5 has where mpirun --with-ft ulfm started the job, for a library that has it not. */
#include <stdbool.h>

extern __attribute__((visibility("default"))) bool ompi_ftmpi_enabled;
bool ompi_ftmpi_enabled = true;
