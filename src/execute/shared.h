/* Memory that one process makes and other processes of its host map. */
#ifndef AR_SHARED_H
#define AR_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the other processes must know; plain data. */
struct ar_shared {
    uint64_t number; /* random; 0: there is no memory */
    int pid;         /* the maker's, or 0: a name in /dev/shm */
    int fd;          /* the maker's, or -1 */
    char host[65];   /* the maker's */
};

/* n parts of a memory, of this many bytes each: the first at begin, each step bytes after the one
 * before. */
struct ar_shared_parts {
    size_t begin, bytes, step, n;
};

/* Makes memory of this many bytes, mapped by this process.  With by_name it is a file in /dev/shm
 * until ar_shared_hide.  Otherwise it has no name: nothing is left behind if the job is killed,
 * and the limits of /dev/shm do not apply.  It can be mapped by processes that are on a host of
 * the same name and see this process in their /proc.  The nparts rows of parts become zeroed
 * memory near the core on which this process runs.  Touching another part before a process has
 * given it memory could cause a SIGBUS.  NULL if it cannot be made, with the cause in errno and
 * number 0. */
void *ar_shared_make(struct ar_shared *shared, bool by_name, size_t bytes,
                     const struct ar_shared_parts *parts, size_t nparts);

/* Maps what another process made, and gives the parts memory in the same way; NULL if it cannot be
 * found here or mapped, or if memory runs out, with the cause in errno. */
void *ar_shared_open(const struct ar_shared *shared, size_t bytes,
                     const struct ar_shared_parts *parts, size_t nparts);

/* A number for a text; different texts have different numbers, except by chance. */
uint64_t ar_hash(const char *text);

/* A number for this host or container, made from its name and boot. */
uint64_t ar_host_hash(void);

/* A number for this boot of the system, common to its containers; 0: unknown, as where a container
 * hides the kernel's. */
uint64_t ar_boot_hash(void);

/* Called by the maker, once: from now on no other process can map it. */
void ar_shared_hide(const struct ar_shared *shared);

#endif
