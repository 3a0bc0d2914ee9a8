/* The folder of ALLREDUCE_CACHE: auto's rules across nodes, kept for later jobs. */
#ifndef AR_CACHE_H
#define AR_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "communicator/communicator.h"
#include "model/machine.h"

/* What rules are for: a shape of communicator, and a machine. */
struct ar_cache_key {
    uint64_t number; /* of the map of nodes, the settings and the machine file */
    int nranks;
    int nodes;
    bool in_order; /* for ops that do not commute */
};

/* The rules that the folder has for the key, malloced; NULL where it has none.  A file that is not
 * as ar_cache_write writes it, or that has an algorithm which auto cannot choose for the key among
 * those that are allowed (as in select/select.h), is told in a warning, and left alone. */
char *ar_cache_read(const char *folder, const struct ar_cache_key *key, const bool *allowed);

/* Warns if the folder cannot be read and written.  There is one such warning at most, and one from
 * ar_cache_write is the same. */
void ar_cache_check(const char *folder);

/* Keeps them, or warns that the folder cannot be written. */
void ar_cache_write(const char *folder, const struct ar_cache_key *key, const char *machine,
                    const char *rules);

#endif
