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

/* n parts of a memory, of so many bytes each: the first at begin, each step bytes behind the one
 * before. */
struct ar_shared_parts {
    size_t begin, bytes, step, n;
};

/* Makes room for bytes, mapped by this process.  By name it is a file in /dev/shm until
 * ar_shared_hide.  Else it has no name: nothing is left behind if the job is killed, no limit of
 * /dev/shm counts, and processes can map it that are on a host of the same name and see this
 * process in their /proc.  The parts, of which there are nparts rows, become zeroed memory near the
 * core that this process runs on; to touch another part before a process has given it memory could
 * end in a SIGBUS.  NULL where it cannot be made, and errno tells why. */
void *ar_shared_make(struct ar_shared *shared, bool by_name, size_t bytes,
                     const struct ar_shared_parts *parts, size_t nparts);

/* Maps what another process made, and gives the parts memory in the same way; NULL if it cannot be
 * found here or mapped, or memory lacks, and errno tells why. */
void *ar_shared_open(const struct ar_shared *shared, size_t bytes,
                     const struct ar_shared_parts *parts, size_t nparts);

/* A number for a text; those of different texts differ, but for chance. */
uint64_t ar_hash(const char *text);

/* A number for this host, made from its name and boot. */
uint64_t ar_host_hash(void);

/* A number for this boot of a system, which containers have in common; 0: it is not told. */
uint64_t ar_boot_hash(void);

/* By the maker, once: from now on nobody else can map it. */
void ar_shared_hide(const struct ar_shared *shared);

#endif
