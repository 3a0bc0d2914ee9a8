/* What test/mpi/accelerator.h promises, with the memory of this machine's first GPU by CUDA's
 * driver. CUDA_MEMORY says how device memory is made: "plain" (cuMemAlloc, the default), "pool"
 * (cuMemAllocAsync) or "mapped" (cuMemMap, as PyTorch's expandable segments).  Between these
 * functions the thread has no current context, unless CUDA_CURRENT is set.
 *
 * Source: CUDA Driver API. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accelerator.h"

#define EXPORT __attribute__((visibility("default")))

enum { SKIPPED = 77 };
enum { ATTRIBUTE_MEMORY_TYPE = 2, ATTRIBUTE_IS_MANAGED = 8 };
enum { MEMORYTYPE_HOST = 1, MEMORYTYPE_DEVICE = 2 };
enum { ATTACH_GLOBAL = 1, ALLOCATION_PINNED = 1, LOCATION_DEVICE = 1, READ_WRITE = 3 };

typedef unsigned long long pointer;

struct location {
    int type, id;
};

struct properties {
    int type, handle_types;
    struct location location;
    void *windows;
    unsigned char flags[8];
};

struct access {
    struct location location;
    int flags;
};

static int (*init)(unsigned flags);
static int (*get_device)(int *device, int number);
static int (*get_name)(char *name, int length, int device);
static int (*get_version)(int *version);
static int (*retain)(void **context, int device);
static int (*push)(void *context);
static int (*pop)(void **context);
static int (*attributes)(unsigned n, const int *which, void **values, pointer p);
static int (*copy)(pointer to, pointer from, size_t bytes);
static int (*wait_for)(void *stream);
static int (*alloc)(pointer *p, size_t bytes);
static int (*alloc_async)(pointer *p, size_t bytes, void *stream);
static int (*alloc_managed)(pointer *p, size_t bytes, unsigned flags);
static int (*alloc_host)(void **p, size_t bytes, unsigned flags);
static int (*get_granularity)(size_t *bytes, const struct properties *wanted, int recommended);
static int (*create)(pointer *handle, size_t bytes, const struct properties *wanted, pointer flags);
static int (*reserve)(pointer *p, size_t bytes, size_t align, pointer at, pointer flags);
static int (*map)(pointer p, size_t bytes, size_t offset, pointer handle, pointer flags);
static int (*allow)(pointer p, size_t bytes, const struct access *access, size_t n);

static const struct {
    void *function;
    const char *name;
} functions[] = {
    {&init, "cuInit"},
    {&get_device, "cuDeviceGet"},
    {&get_name, "cuDeviceGetName"},
    {&get_version, "cuDriverGetVersion"},
    {&retain, "cuDevicePrimaryCtxRetain"},
    {&push, "cuCtxPushCurrent_v2"},
    {&pop, "cuCtxPopCurrent_v2"},
    {&attributes, "cuPointerGetAttributes"},
    {&copy, "cuMemcpy"},
    {&wait_for, "cuStreamSynchronize"},
    {&alloc, "cuMemAlloc_v2"},
    {&alloc_async, "cuMemAllocAsync"},
    {&alloc_managed, "cuMemAllocManaged"},
    {&alloc_host, "cuMemHostAlloc"},
    {&get_granularity, "cuMemGetAllocationGranularity"},
    {&create, "cuMemCreate"},
    {&reserve, "cuMemAddressReserve"},
    {&map, "cuMemMap"},
    {&allow, "cuMemSetAccess"},
};

static void *context;
static int device;

static void
check(int error, const char *what)
{
    if (error == 0)
        return;
    fprintf(stderr, "%s: CUDA's error %d\n", what, error);
    abort();
}

static _Noreturn void
skip(const char *why)
{
    printf("no GPU of CUDA: %s\n", why);
    fflush(stdout);
    _Exit(SKIPPED);
}

EXPORT void
runtime_init(void)
{
    char name[256];
    int version;
    void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        skip(dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *const found = dlsym(library, functions[i].name);
        if (!found)
            skip(functions[i].name);
        memcpy(functions[i].function, &found, sizeof found);
    }
    if (init(0) != 0 || get_device(&device, 0) != 0)
        skip("the driver finds none");
    check(get_name(name, sizeof name, device), "the device's name");
    check(get_version(&version), "the driver's version");
    check(retain(&context, device), "the context");
    if (getenv("CUDA_CURRENT"))
        check(push(context), "a current context");
    printf("%s, CUDA %d.%d\n", name, version / 1000, version % 1000 / 10);
}

__attribute__((constructor)) static void
begin(void)
{
    if (getenv("RUNTIME_AT_ONCE"))
        runtime_init();
}

EXPORT int
runtime_complaints(void)
{
    return 0;
}

EXPORT enum runtime_kind
runtime_kind(const void *p)
{
    static const int which[] = {ATTRIBUTE_MEMORY_TYPE, ATTRIBUTE_IS_MANAGED};
    unsigned type = 0, is_managed = 0;
    void *values[] = {&type, &is_managed};
    if (!context || attributes(2, which, values, (uintptr_t)p) != 0)
        return RUNTIME_UNKNOWN;
    return is_managed                  ? RUNTIME_MANAGED
           : type == MEMORYTYPE_DEVICE ? RUNTIME_DEVICE
           : type == MEMORYTYPE_HOST   ? RUNTIME_PINNED
                                       : RUNTIME_UNKNOWN;
}

static pointer
map_device_memory(size_t bytes)
{
    const struct properties wanted = {.type = ALLOCATION_PINNED,
                                      .location = {LOCATION_DEVICE, device}};
    const struct access access = {wanted.location, READ_WRITE};
    size_t granularity;
    pointer handle, p;
    check(get_granularity(&granularity, &wanted, 0), "cuMemGetAllocationGranularity");
    const size_t rounded = (bytes + granularity - 1) / granularity * granularity;
    check(create(&handle, rounded, &wanted, 0), "cuMemCreate");
    check(reserve(&p, rounded, 0, 0, 0), "cuMemAddressReserve");
    check(map(p, rounded, 0, handle, 0), "cuMemMap");
    check(allow(p, rounded, &access, 1), "cuMemSetAccess");
    return p;
}

static pointer
make_device_memory(size_t bytes)
{
    const char *const how = getenv("CUDA_MEMORY");
    pointer p = 0;
    if (how && strcmp(how, "mapped") == 0)
        return map_device_memory(bytes);
    if (how && strcmp(how, "pool") == 0) {
        check(alloc_async(&p, bytes, NULL), "cuMemAllocAsync");
        check(wait_for(NULL), "cuStreamSynchronize");
        return p;
    }
    check(alloc(&p, bytes), "cuMemAlloc");
    return p;
}

EXPORT void *
runtime_alloc(size_t bytes, enum runtime_kind kind)
{
    pointer p = 0;
    void *pinned, *popped;
    check(push(context), "cuCtxPushCurrent");
    if (kind == RUNTIME_PINNED) {
        check(alloc_host(&pinned, bytes, 0), "cuMemHostAlloc");
        p = (uintptr_t)pinned;
    } else if (kind == RUNTIME_MANAGED) {
        check(alloc_managed(&p, bytes, ATTACH_GLOBAL), "cuMemAllocManaged");
    } else {
        p = make_device_memory(bytes);
    }
    check(pop(&popped), "cuCtxPopCurrent");
    return (void *)(uintptr_t)p;
}

EXPORT void
runtime_copy(void *to, const void *from, size_t bytes)
{
    void *popped;
    if (runtime_kind(to) != RUNTIME_DEVICE && runtime_kind(from) != RUNTIME_DEVICE) {
        memcpy(to, from, bytes);
        return;
    }
    check(push(context), "cuCtxPushCurrent");
    check(copy((uintptr_t)to, (uintptr_t)from, bytes), "cuMemcpy");
    check(wait_for(NULL), "cuStreamSynchronize");
    check(pop(&popped), "cuCtxPopCurrent");
}
