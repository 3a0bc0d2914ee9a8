#define _GNU_SOURCE
#include "device/device.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "device/runtime.h"

atomic_uint ar_device_found; /* bit i: runtimes[i] */
_Atomic uintptr_t ar_device_pages[AR_DEVICE_PAGES];

static const struct ar_runtime *const runtimes[] = {&ar_cuda, &ar_hip, &ar_level_zero};
#define RUNTIMES (sizeof runtimes / sizeof runtimes[0])

/* --- what is loaded --- */

bool
ar_runtime_find(void *function, void *library, const char *symbol)
{
    void *const found = dlsym(library, symbol);
    if (found) /* ISO C has no cast to a pointer to a function; POSIX says they fit */
        memcpy(function, &found, sizeof found);
    return found != NULL;
}

/* How many libraries were loaded up to now, which every entry tells; the first one will do. */
static int
get_loads(struct dl_phdr_info *info, size_t bytes, void *loads)
{
    (void)bytes;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

struct search {
    const char *library;
    char path[PATH_MAX];
};

static int
match(struct dl_phdr_info *info, size_t bytes, void *data)
{
    struct search *const search = data;
    const char *const slash = strrchr(info->dlpi_name, '/');
    const char *const name = slash ? slash + 1 : info->dlpi_name;
    (void)bytes;
    if (strncmp(name, search->library, strlen(search->library)) != 0)
        return 0;
    snprintf(search->path, sizeof search->path, "%s", info->dlpi_name);
    return 1;
}

/* Takes the name from the list of loaded libraries, since dlopen would search the file system for a
 * name that is not loaded.  The runtime stays loaded from now on.  Under the lock. */
static bool
find_runtime(const struct ar_runtime *runtime)
{
    static struct search search; /* too large for a small stack */
    search.library = runtime->library;
    if (!dl_iterate_phdr(match, &search))
        return false;
    void *const library = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
    return library && runtime->open(library);
}

/* Finds what was loaded since the last look. */
static void
look(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static atomic_ullong last;
    unsigned long long loads = 0;
    dl_iterate_phdr(get_loads, &loads);
    if (atomic_load(&last) == loads)
        return;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < RUNTIMES; i++)
        /* Pairs with the acquires in ar_device_of and ar_devices_are_loaded. */
        if (!(atomic_load(&ar_device_found) & 1u << i) && find_runtime(runtimes[i]))
            atomic_fetch_or_explicit(&ar_device_found, 1u << i, memory_order_release);
    atomic_store(&last, loads);
    pthread_mutex_unlock(&lock);
}

bool
ar_devices_are_loaded(void)
{
    look();
    return atomic_load_explicit(&ar_device_found, memory_order_acquire) != 0;
}

/* --- what a pointer is --- */

const struct ar_runtime *
ar_device_of(const void *p)
{
    const uintptr_t page = (uintptr_t)p >> AR_DEVICE_PAGE_BITS;
    if (!ar_device_knows(p)) {
        look();
        /* Pairs with the acquire in ar_device_knows: who knows the page knows what was found. */
        atomic_store_explicit(ar_device_slot(page), page + 1, memory_order_release);
    }
    const unsigned found = atomic_load_explicit(&ar_device_found, memory_order_acquire);
    for (unsigned i = 0; i < RUNTIMES; i++)
        if (found & 1u << i && runtimes[i]->holds(p))
            return runtimes[i];
    return NULL;
}

const char *
ar_runtime_name(const struct ar_runtime *runtime)
{
    return runtime->name;
}

bool
ar_device_fetch(const struct ar_runtime *runtime, void *host, const void *device, size_t bytes)
{
    return runtime->copy && runtime->copy(host, device, bytes, device);
}

bool
ar_device_store(const struct ar_runtime *runtime, void *device, const void *host, size_t bytes)
{
    return runtime->copy && runtime->copy(device, host, bytes, device);
}
