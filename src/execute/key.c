#include <config.h>

#include "execute/key.h"

#include <stdatomic.h>
#include <stddef.h>

#include "execute/group.h"

/* A state is the key's number and above it the key's users, which are attributes and threads that
 * use the key.  Without users there is no key, and the state is 0. */
#define USER (UINT64_C(1) << 32)

/* So many never leave: behind MPI_Init the key stays.  MPI then ends by MPI_Finalize, which we see,
 * and calls need not count themselves. */
#define STAYS (USER << 30)

/* Becomes a user of the key, which is made if there is none. */
static int
join(struct ar_key *key, uint64_t *state)
{
    *state = atomic_load(&key->state);
    for (;;) {
        int number;
        if (*state != 0 && atomic_compare_exchange_weak(&key->state, state, *state + USER))
            return MPI_SUCCESS;
        if (*state != 0)
            continue;
        const int error = PMPI_Comm_create_keyval(key->copy, key->end, &number, NULL);
        if (error)
            return error;
        const uint64_t made = (ar_world_is_there() ? STAYS : 0) + USER + (uint32_t)number;
        if (atomic_compare_exchange_strong(&key->state, state, made)) {
            *state = made;
            return MPI_SUCCESS;
        }
        PMPI_Comm_free_keyval(&number); /* another thread was faster */
    }
}

void
ar_key_join(struct ar_key *key)
{
    atomic_fetch_add(&key->state, USER);
}

void
ar_key_leave(struct ar_key *key)
{
    uint64_t left, state = atomic_load(&key->state);
    do
        left = state >> 32 > 1 ? state - USER : 0;
    while (!atomic_compare_exchange_weak(&key->state, &state, left));
    int number = (int)(uint32_t)state;
    if (left == 0)
        PMPI_Comm_free_keyval(&number);
}

int
ar_key_get(struct ar_key *key, MPI_Comm comm, void *value, int *found)
{
    uint64_t state = atomic_load_explicit(&key->state, memory_order_relaxed);
    if (state >= STAYS)
        return PMPI_Comm_get_attr(comm, (int)(uint32_t)state, value, found);
    int error = join(key, &state);
    if (error)
        return error;
    error = PMPI_Comm_get_attr(comm, (int)(uint32_t)state, value, found);
    ar_key_leave(key);
    return error;
}

int
ar_key_set(struct ar_key *key, MPI_Comm comm, void *value)
{
    uint64_t state;
    int error = join(key, &state);
    if (error)
        return error;
    error = PMPI_Comm_set_attr(comm, (int)(uint32_t)state, value);
    if (error)
        ar_key_leave(key);
    return error;
}
