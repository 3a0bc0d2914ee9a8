/* Memory of accelerators, which the CPU cannot read.  If the process has loaded a runtime of CUDA,
 * HIP or Level Zero, we ask that runtime what a pointer is.  We neither load nor link any runtime.
 * The first question to HIP may initialise it.  No answer is kept: a range may be
 * freed, and its addresses may be reused.  Thread-safe.
 *
 * A runtime may be loaded at any time.  Looking for one costs a call of dl_iterate_phdr, so we look
 * only for a page that was not looked up before, and in ar_devices_are_loaded.  Device memory
 * escapes notice in one case: a runtime was loaded since the last look, and gives out a page that
 * was host memory when it was looked up. */
#ifndef AR_DEVICE_H
#define AR_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AR_DEVICE_PAGE_BITS 12
#define AR_DEVICE_PAGES     256

struct ar_runtime; /* CUDA, HIP or Level Zero */

/* For ar_device_passes alone: which runtimes were found, a bit each; and the pages that were looked
 * up, each as its number plus 1. */
extern atomic_uint ar_device_found;
extern _Atomic uintptr_t ar_device_pages[AR_DEVICE_PAGES];

static inline _Atomic uintptr_t *
ar_device_slot(uintptr_t page)
{
    return &ar_device_pages[(page ^ page >> 8) % AR_DEVICE_PAGES];
}

/* Was the page of p looked up? */
static inline bool
ar_device_knows(const void *p)
{
    const uintptr_t page = (uintptr_t)p >> AR_DEVICE_PAGE_BITS;
    return atomic_load_explicit(ar_device_slot(page), memory_order_acquire) == page + 1;
}

/* Are both known to be host memory, without a look and without a question?  Any pointers. */
static inline bool
ar_device_passes(const void *a, const void *b)
{
    return ar_device_knows(a) && ar_device_knows(b) &&
           !atomic_load_explicit(&ar_device_found, memory_order_relaxed);
}

/* The runtime whose device memory p points to; NULL: the CPU can read it, be it host memory, pinned
 * or not, or memory that moves between host and device by itself (managed, shared), or no memory at
 * all.  Any pointer. */
const struct ar_runtime *ar_device_of(const void *p);

/* Does this process have a runtime?  Looks. */
bool ar_devices_are_loaded(void);

/* "CUDA". */
const char *ar_runtime_name(const struct ar_runtime *runtime);

/* Copy bytes to the host from the device memory of this runtime, and back; at the end the copy is
 * complete.  False where the runtime refuses, or cannot be asked to. */
bool ar_device_fetch(const struct ar_runtime *runtime, void *host, const void *device,
                     size_t bytes);
bool ar_device_store(const struct ar_runtime *runtime, void *device, const void *host,
                     size_t bytes);

#endif
