/* Made-up machines: the files below sys/ that tell what their CPUs share, for tests of what reads
 * them. */
#ifndef AR_TEST_TOPOLOGY_H
#define AR_TEST_TOPOLOGY_H

#include <stdbool.h>

struct topology {
    int sockets;
    int nodes;              /* NUMA nodes of a socket */
    int caches;             /* of level 3, of a NUMA node; 0: there are none */
    int cores;              /* of a cache, or of a NUMA node without */
    int threads;            /* of a core: those of number 1 have the CPUs behind all of number 0 */
    int cluster;            /* cores of a cluster; 0: Linux tells none */
    int memory_nodes;       /* NUMA nodes without CPUs, numbered before the others */
    bool is_dealt;          /* sockets get their cores in turn, not in blocks */
    bool is_old;            /* names of files as before Linux 5.2 */
    unsigned long offline;  /* bit i: CPU i */
    unsigned long uncached; /* bit i: core i has no cache of level 3 */
};

/* Writes the files below root, a folder that exists.  The program ends if it cannot. */
void topology_make(const struct topology *t, const char *root);

/* Writes a line of text to the file of this name below root, whose folders are made.  The program
 * ends if it cannot. */
void topology_put(const char *root, const char *name, const char *text);

/* Removes the folder and all in it. */
void topology_remove(const char *root);

#endif
