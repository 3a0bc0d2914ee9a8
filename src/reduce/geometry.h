/* What elements of a type occupy, and how to move them; reduce.h declares the rest. */
#ifndef AR_GEOMETRY_H
#define AR_GEOMETRY_H

#include "reduce/reduce.h"

/* Sets type, comm (to MPI_COMM_SELF), size, extent, true_lb, true_extent and dense of *r.  False,
 * with *r untouched, if MPI does not know the type or its size is too large for an int. */
bool ar_geometry_get(struct ar_reduction *r, MPI_Datatype type);

/* The class of an error code; MPI_ERR_OTHER if MPI does not know the code. */
int ar_error_class(int error);

#endif
