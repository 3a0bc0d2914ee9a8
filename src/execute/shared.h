/* Memory that one process makes and other processes of its host map. */
#ifndef AR_SHARED_H
#define AR_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the others must be told; plain data. */
struct ar_shared {
    uint64_t number; /* random, never 0 */
    int pid;         /* the maker's, or 0: a name in /dev/shm */
    int fd;          /* the maker's, or -1 */
    char host[65];   /* the maker's */
};

/* Makes bytes of zeroed memory that only this process has mapped.  Without a name: nothing is
 * left whenever the job is killed, and no limit of /dev/shm counts; it can be mapped by
 * processes of a host of this name that see this one in their /proc.  Or by a name in
 * /dev/shm, until ar_shared_hide.  NULL without memory. */
void *ar_shared_make(struct ar_shared *shared, bool by_name, size_t bytes);

/* Maps what another process made; NULL if it cannot be found here or mapped. */
void *ar_shared_open(const struct ar_shared *shared, size_t bytes);

/* Tells texts apart. */
uint64_t ar_hash(const char *text);

/* Tells hosts apart: by name and boot. */
uint64_t ar_host_hash(void);

/* By the maker, once: nobody else shall map it. */
void ar_shared_hide(const struct ar_shared *shared);

#endif
