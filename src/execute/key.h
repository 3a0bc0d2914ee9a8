/* Keys of our attributes of communicators.
 *
 * The last MPI_Session_finalize ends MPI, and the next session may give the number of a key of ours
 * to a key of the program's.  Nobody tells us that end.  So, as long as there is no MPI_COMM_WORLD,
 * a key is freed with the last of its attributes, and made again for the next one. */
#ifndef AR_KEY_H
#define AR_KEY_H

#include <mpi.h>
#include <stdint.h>

struct ar_key {
    MPI_Comm_copy_attr_function *copy;  /* calls ar_key_join where it makes a copy */
    MPI_Comm_delete_attr_function *end; /* calls ar_key_leave */
    _Atomic uint64_t state;             /* 0 at first */
};

/* Like PMPI_Comm_get_attr, and like PMPI_Comm_set_attr.  Thread-safe. */
int ar_key_get(struct ar_key *key, MPI_Comm comm, void *value, int *found);
int ar_key_set(struct ar_key *key, MPI_Comm comm, void *value);

/* There is one attribute more, beside one that was copied; or one less. */
void ar_key_join(struct ar_key *key);
void ar_key_leave(struct ar_key *key);

#endif
