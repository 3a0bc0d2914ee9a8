/* The cache, NUMA node and socket to which the calling thread is bound. */
#ifndef AR_OWN_DOMAINS_H
#define AR_OWN_DOMAINS_H

#include "algorithms/domains.h"

/* From the CPUs on which the thread may run.  Negative: it may run in several, or it is unknown.
 * The system's files are read once, and again after those CPUs have changed.  Thread-safe. */
void ar_own_domains_find(int domain[AR_DOMAINS]);

#endif
