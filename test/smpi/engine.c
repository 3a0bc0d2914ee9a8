/* The engine in the program itself: what smpirun runs cannot load one. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "shim/entries.h"

bool ar_engine_load(const struct ar_mpi_engine **engine, struct ar_entries *next);
void *ar_library_symbol(const char *name);
void ar_library_tell_no_call(const char *name);

void *
ar_library_symbol(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* The program is searched first. */
void
ar_library_tell_no_call(const char *name)
{
    (void)name;
}

/* The MPI library's own, by the names with a P: the others are this program's, and so are some of
 * these.  What SMPI has not stays NULL. */
bool
ar_engine_load(const struct ar_mpi_engine **engine, struct ar_entries *next)
{
    void *symbol;
    *engine = &ar_mpi_engine;
#define FIND(result, name, field, parameters, arguments)                                           \
    symbol = dlsym(RTLD_NEXT, *#name == 'P' ? #name : "P" #name);                                  \
    memcpy(&next->field, &symbol, sizeof symbol);
    AR_ENTRIES(FIND)
    return true;
}
