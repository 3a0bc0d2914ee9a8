/* What Open MPI 5 has in a job that was started by mpirun --with-ft ulfm, for a library without. */
#include <stdbool.h>

extern __attribute__((visibility("default"))) bool ompi_ftmpi_enabled;
bool ompi_ftmpi_enabled = true;
