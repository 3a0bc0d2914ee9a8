/* CUDA, by its driver.
 *
 * Source: CUDA Driver API, "Unified Addressing" (cuPointerGetAttributes, CUpointer_attribute,
 * CUmemorytype), "Primary Context Management" and "API synchronization behavior".
 */
#include <stdint.h>

#include "device/runtime.h"

enum {
    ATTRIBUTE_CONTEXT = 1,
    ATTRIBUTE_MEMORY_TYPE = 2,
    ATTRIBUTE_IS_MANAGED = 8,
    ATTRIBUTE_DEVICE_ORDINAL = 9
};
enum { MEMORYTYPE_DEVICE = 2 };

typedef unsigned long long device_pointer;

static struct {
    int (*attributes)(unsigned n, const int *which, void **values, device_pointer p);
    int (*copy)(device_pointer to, device_pointer from, size_t bytes);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*device)(int *device, int ordinal);
    int (*current_device)(int *device);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*wait)(void *stream);
} cuda;

/* Needed only for memory without a context.  Older drivers lack some of these. */
static void
find_device_functions(void *library)
{
    ar_runtime_find(&cuda.device, library, "cuDeviceGet");
    ar_runtime_find(&cuda.current_device, library, "cuCtxGetDevice");
    ar_runtime_find(&cuda.retain, library, "cuDevicePrimaryCtxRetain");
    if (!ar_runtime_find(&cuda.release, library, "cuDevicePrimaryCtxRelease_v2"))
        ar_runtime_find(&cuda.release, library, "cuDevicePrimaryCtxRelease");
}

static bool
find(void *library)
{
    find_device_functions(library);
    return ar_runtime_find(&cuda.attributes, library, "cuPointerGetAttributes") &&
           ar_runtime_find(&cuda.copy, library, "cuMemcpy") &&
           ar_runtime_find(&cuda.push, library, "cuCtxPushCurrent_v2") &&
           ar_runtime_find(&cuda.pop, library, "cuCtxPopCurrent_v2") &&
           ar_runtime_find(&cuda.wait, library, "cuStreamSynchronize");
}

/* For memory that CUDA does not know, the plural form (cuPointerGetAttributes) succeeds and sets
 * all values to 0.  Before cuInit it fails. */
static bool
holds(const void *p)
{
    static const int which[] = {ATTRIBUTE_MEMORY_TYPE, ATTRIBUTE_IS_MANAGED};
    unsigned type = 0, is_managed = 0;
    void *values[] = {&type, &is_managed};
    return cuda.attributes(2, which, values, (uintptr_t)p) == 0 && type == MEMORYTYPE_DEVICE &&
           !is_managed;
}

/* A copy from pageable host memory may return before the device has all of it, hence the wait for
 * the default stream. */
static bool
copy_in_context(void *to, const void *from, size_t bytes)
{
    return cuda.copy((uintptr_t)to, (uintptr_t)from, bytes) == 0 && cuda.wait(NULL) == 0;
}

static bool
copy_in(void *context, void *to, const void *from, size_t bytes)
{
    void *popped;
    if (cuda.push(context) != 0)
        return false;
    const bool is_done = copy_in_context(to, from, bytes);
    cuda.pop(&popped);
    return is_done;
}

/* Memory of a pool, and memory that is mapped (cuMemMap), belongs to a device and to no context.
 * The thread's current context serves if it is of that device.  Otherwise the primary one does,
 * which is there if the program uses CUDA's runtime. */
static bool
copy_by_device(void *to, const void *from, size_t bytes, const void *memory)
{
    static const int which[] = {ATTRIBUTE_DEVICE_ORDINAL};
    int ordinal = 0, device, current;
    void *context, *values[] = {&ordinal};
    if (!cuda.device || !cuda.current_device || !cuda.retain || !cuda.release ||
        cuda.attributes(1, which, values, (uintptr_t)memory) != 0 ||
        cuda.device(&device, ordinal) != 0)
        return false;
    if (cuda.current_device(&current) == 0 && current == device)
        return copy_in_context(to, from, bytes);
    if (cuda.retain(&context, device) != 0)
        return false;
    const bool is_done = copy_in(context, to, from, bytes);
    cuda.release(device);
    return is_done;
}

/* A copy works in the thread's current context, but this thread may have none or another one.  So
 * the memory's own context is made current, if it has one. */
static bool
copy(void *to, const void *from, size_t bytes, const void *device)
{
    static const int which[] = {ATTRIBUTE_CONTEXT};
    void *context = NULL, *values[] = {&context};
    if (cuda.attributes(1, which, values, (uintptr_t)device) != 0)
        return false;
    return context ? copy_in(context, to, from, bytes) : copy_by_device(to, from, bytes, device);
}

const struct ar_runtime ar_cuda = {"CUDA", "libcuda.so", find, holds, copy};
