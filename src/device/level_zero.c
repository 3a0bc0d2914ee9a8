/* Level Zero.
 *
 * A pointer is asked about in a context, and the program's are not known.  A context of our own for
 * each driver will do, as it does for MPICH (yaksa, src/backend/ze): a driver knows all that was
 * allocated with it.
 *
 * Source: oneAPI Level Zero Specification, zeMemGetAllocProperties, zeDriverGet, zeContextCreate,
 * ze_structure_type_t, ze_memory_type_t.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "device/runtime.h"

#define DRIVERS_MAX 4

enum { STRUCTURE_CONTEXT = 0xd, STRUCTURE_PROPERTIES = 0x17 };
enum { MEMORY_TYPE_DEVICE = 2 };

/* ze_context_desc_t. */
struct context_description {
    unsigned structure;
    const void *next;
    uint32_t flags;
};

/* ze_memory_allocation_properties_t. */
struct properties {
    unsigned structure;
    void *next;
    unsigned type;
    uint64_t id, page_size;
};

static struct {
    unsigned (*drivers)(uint32_t *n, void **drivers);
    unsigned (*create)(void *driver, const struct context_description *how, void **context);
    unsigned (*properties)(void *context, const void *p, struct properties *properties,
                           void **device);
} zero;

static void *contexts[DRIVERS_MAX];
static atomic_uint ncontexts; /* 0: the program has not initialised Level Zero yet */

static bool
find(void *library)
{
    return ar_runtime_find(&zero.drivers, library, "zeDriverGet") &&
           ar_runtime_find(&zero.create, library, "zeContextCreate") &&
           ar_runtime_find(&zero.properties, library, "zeMemGetAllocProperties");
}

static unsigned
make_contexts(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const struct context_description how = {.structure = STRUCTURE_CONTEXT};
    void *drivers[DRIVERS_MAX];
    uint32_t n = DRIVERS_MAX;
    pthread_mutex_lock(&lock);
    unsigned made = atomic_load(&ncontexts);
    if (made == 0 && zero.drivers(&n, drivers) == 0) {
        for (uint32_t i = 0; i < n && i < DRIVERS_MAX; i++)
            made += zero.create(drivers[i], &how, &contexts[made]) == 0;
        /* Pairs with the acquire in holds. */
        atomic_store_explicit(&ncontexts, made, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return made;
}

static bool
holds(const void *p)
{
    /* Pairs with the release in make_contexts. */
    unsigned n = atomic_load_explicit(&ncontexts, memory_order_acquire);
    if (n == 0)
        n = make_contexts();
    for (unsigned i = 0; i < n; i++) {
        struct properties found = {.structure = STRUCTURE_PROPERTIES};
        void *device = NULL;
        if (zero.properties(contexts[i], p, &found, &device) == 0 &&
            found.type == MEMORY_TYPE_DEVICE)
            return true;
    }
    return false;
}

/* A copy would need memory and a command list of the program's own context and device. */
const struct ar_runtime ar_level_zero = {"Level Zero", "libze_loader.so", find, holds, NULL};
