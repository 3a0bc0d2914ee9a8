/* MPI's types where the MPI library is not known: handles are ints in some and pointers in others.
 * Both travel in one register, or one slot of the stack, on every ABI that we are built for, and
 * the stub only passes them on.  MPI_Count has 64 bits everywhere. */
#ifndef AR_HANDLES_H
#define AR_HANDLES_H

#include <stdint.h>

typedef void *MPI_Comm;
typedef void *MPI_Datatype;
typedef void *MPI_Info;
typedef void *MPI_Op;
typedef void *MPI_Request;
typedef int64_t MPI_Count;

#include "shim/entries.h"

#endif
