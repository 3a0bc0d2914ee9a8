/* What stands for an accelerator's runtime, under the name of CUDA's driver, of HIP's runtime or of
 * Level Zero's loader (RUNTIME_CUDA, _HIP, _ZERO): it gives out memory that the CPU cannot touch as
 * that of a device, answers what a pointer is, and copies.  With RUNTIME_AT_ONCE in the environment
 * it is initialised from the beginning.  With RUNTIME_POOL device memory of CUDA belongs to no
 * context, as that of its pools. */
#include "accelerator.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))

static struct {
    char *at;
    size_t bytes;
    enum runtime_kind kind;
} allocations[256];

static int nallocations, is_initialised, complaints;

static int
find(const void *p)
{
    int i = nallocations - 1;
    while (i >= 0 && ((uintptr_t)p < (uintptr_t)allocations[i].at ||
                      (uintptr_t)p >= (uintptr_t)allocations[i].at + allocations[i].bytes))
        i--;
    return i;
}

EXPORT void
runtime_init(void)
{
    is_initialised = 1;
}

__attribute__((constructor)) static void
begin(void)
{
    is_initialised = getenv("RUNTIME_AT_ONCE") != NULL;
}

EXPORT int
runtime_complaints(void)
{
    return complaints;
}

EXPORT enum runtime_kind
runtime_kind(const void *p)
{
    const int i = is_initialised ? find(p) : -1;
    return i < 0 ? RUNTIME_UNKNOWN : allocations[i].kind;
}

EXPORT void *
runtime_alloc(size_t bytes, enum runtime_kind kind)
{
    const int access = kind == RUNTIME_DEVICE ? PROT_NONE : PROT_READ | PROT_WRITE;
    void *const at = mmap(NULL, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || nallocations == 256)
        abort();
    allocations[nallocations].at = at;
    allocations[nallocations].bytes = bytes;
    allocations[nallocations++].kind = kind;
    return at;
}

static void
allow(const void *p, int access)
{
    const int i = find(p);
    if (i >= 0 && allocations[i].kind == RUNTIME_DEVICE)
        mprotect(allocations[i].at, allocations[i].bytes, access);
}

EXPORT void
runtime_copy(void *to, const void *from, size_t bytes)
{
    allow(to, PROT_READ | PROT_WRITE);
    allow(from, PROT_READ | PROT_WRITE);
    memcpy(to, from, bytes);
    allow(to, PROT_NONE);
    allow(from, PROT_NONE);
}

#ifndef RUNTIME_ZERO
/* As the drivers may, it takes memory of the host at once and brings it to the device later. */
static struct {
    void *to, *data;
    size_t bytes;
} pending;

static int
copy(void *to, const void *from, size_t bytes)
{
    if (runtime_kind(to) != RUNTIME_DEVICE) {
        runtime_copy(to, from, bytes);
        return 0;
    }
    complaints += pending.data != NULL;
    pending.to = to;
    pending.bytes = bytes;
    pending.data = malloc(bytes);
    if (!pending.data)
        abort();
    runtime_copy(pending.data, from, bytes);
    return 0;
}

static int
wait_for_copies(void)
{
    if (pending.data)
        runtime_copy(pending.to, pending.data, pending.bytes);
    free(pending.data);
    pending.data = NULL;
    return 0;
}
#endif

#ifdef RUNTIME_CUDA
enum { ORDINAL = 3 };

static int pushed;   /* contexts: without one nothing is copied, unless the thread has its own */
static int retained; /* primary contexts */

static const void *
context_of(enum runtime_kind kind)
{
    return kind == RUNTIME_DEVICE && !getenv("RUNTIME_POOL") ? allocations : NULL;
}

EXPORT int
cuPointerGetAttributes(unsigned n, const int *which, void **values, unsigned long long p)
{
    static const unsigned types[] = {
        [RUNTIME_UNKNOWN] = 0, [RUNTIME_PINNED] = 1, [RUNTIME_DEVICE] = 2, [RUNTIME_MANAGED] = 2};
    const enum runtime_kind kind = runtime_kind((const void *)(uintptr_t)p);
    if (!is_initialised)
        return 3; /* CUDA_ERROR_NOT_INITIALIZED */
    for (unsigned i = 0; i < n; i++)
        if (which[i] == 1)
            *(const void **)values[i] = context_of(kind);
        else if (which[i] == 2)
            *(unsigned *)values[i] = types[kind];
        else if (which[i] == 8)
            *(unsigned *)values[i] = kind == RUNTIME_MANAGED;
        else if (which[i] == 9 && RUNTIME_CUDA < 9)
            return 1; /* CUDA_ERROR_INVALID_VALUE: it does not know this one yet */
        else if (which[i] == 9)
            *(int *)values[i] = kind == RUNTIME_UNKNOWN ? -2 : ORDINAL;
        else
            complaints++;
    return 0;
}

EXPORT int
cuCtxPushCurrent_v2(void *context)
{
    complaints += context != (retained ? (void *)&retained : allocations);
    pushed++;
    return 0;
}

EXPORT int
cuCtxPopCurrent_v2(void **context)
{
    *context = NULL;
    pushed--;
    return 0;
}

/* The thread's current context: "own", of the memory's device, "other" or none. */
static bool
has_current(const char *which)
{
    const char *const current = getenv("RUNTIME_CURRENT");
    return current && strcmp(current, which) == 0;
}

EXPORT int
cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal + 10;
    return 0;
}

EXPORT int
cuCtxGetDevice(int *device)
{
    cuDeviceGet(device, has_current("other") ? ORDINAL + 1 : ORDINAL);
    return has_current("own") || has_current("other") ? 0 : 201; /* CUDA_ERROR_INVALID_CONTEXT */
}

#if RUNTIME_CUDA >= 7
EXPORT int
cuDevicePrimaryCtxRetain(void **context, int device)
{
    complaints += device != ORDINAL + 10 || retained > 0;
    *context = &retained;
    retained++;
    return 0;
}

#if RUNTIME_CUDA < 11
#define cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxRelease /* its name there */
#endif
EXPORT int
cuDevicePrimaryCtxRelease_v2(int device)
{
    complaints += device != ORDINAL + 10 || retained != 1;
    retained--;
    return 0;
}
#endif

EXPORT int
cuMemcpy(unsigned long long to, unsigned long long from, size_t bytes)
{
    if (pushed != !has_current("own"))
        return 201; /* CUDA_ERROR_INVALID_CONTEXT */
    return copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
}

EXPORT int
cuStreamSynchronize(void *stream)
{
    complaints += stream != NULL;
    return wait_for_copies();
}
#endif

#ifdef RUNTIME_HIP
static int last_error;

static int
version(void)
{
    const char *const text = getenv("RUNTIME_HIP_VERSION");
    return text ? atoi(text) : 60000000;
}

EXPORT int
hipRuntimeGetVersion(int *number)
{
    *number = version();
    return 0;
}

EXPORT int
hipPeekAtLastError(void)
{
    return last_error;
}

EXPORT int
hipGetLastError(void)
{
    const int error = last_error;
    last_error = 0;
    return error;
}

struct attributes {
    unsigned type;
    int device;
    void *device_pointer, *host_pointer;
    int is_managed;
    unsigned flags;
};

EXPORT int
hipPointerGetAttributes(struct attributes *attributes, const void *p)
{
    static const unsigned types_5[] = {
        [RUNTIME_PINNED] = 0, [RUNTIME_DEVICE] = 1, [RUNTIME_MANAGED] = 4};
    static const unsigned types_6[] = {
        [RUNTIME_PINNED] = 1, [RUNTIME_DEVICE] = 2, [RUNTIME_MANAGED] = 3};
    const enum runtime_kind kind = runtime_kind(p);
    if (kind == RUNTIME_UNKNOWN) {
        last_error = 1; /* hipErrorInvalidValue */
        return last_error;
    }
    memset(attributes, 0, sizeof *attributes);
    attributes->type = (version() < 60000000 ? types_5 : types_6)[kind];
    attributes->is_managed = kind == RUNTIME_MANAGED;
    return 0;
}

EXPORT int
hipMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    complaints += kind != 4;
    return copy(to, from, bytes);
}

EXPORT int
hipStreamSynchronize(void *stream)
{
    complaints += stream != NULL;
    return wait_for_copies();
}
#endif

#ifdef RUNTIME_ZERO
struct context_description {
    unsigned structure;
    const void *next;
    uint32_t flags;
};

struct properties {
    unsigned structure;
    void *next;
    unsigned type;
    uint64_t id, page_size;
};

EXPORT unsigned
zeDriverGet(uint32_t *n, void **drivers)
{
    if (!is_initialised)
        return 0x78000001; /* ZE_RESULT_ERROR_UNINITIALIZED */
    *n = 1;
    *drivers = allocations;
    return 0;
}

EXPORT unsigned
zeContextCreate(void *driver, const struct context_description *how, void **context)
{
    complaints += driver != allocations || how->structure != 0xd || how->next;
    *context = &nallocations;
    return 0;
}

EXPORT unsigned
zeMemGetAllocProperties(void *context, const void *p, struct properties *properties, void **device)
{
    complaints += context != &nallocations || properties->structure != 0x17 || properties->next;
    *device = NULL;
    static const unsigned types[] = {
        [RUNTIME_UNKNOWN] = 0, [RUNTIME_PINNED] = 1, [RUNTIME_DEVICE] = 2, [RUNTIME_MANAGED] = 3};
    properties->type = types[runtime_kind(p)];
    return 0;
}
#endif
