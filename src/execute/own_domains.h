/* Which cache, NUMA node and socket the calling thread is bound to. */
#ifndef AR_OWN_DOMAINS_H
#define AR_OWN_DOMAINS_H

#include "algorithms/domains.h"

/* By the CPUs that the thread may run on.  Negative: it may run in several, or it is not known.
 * The files of the system are read once, and anew where those CPUs have changed.  Thread-safe. */
void ar_own_domains_find(int domain[AR_DOMAINS]);

#endif
