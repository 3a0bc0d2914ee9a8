/* HIP, the runtime of ROCm.
 *
 * Source: HIP Runtime API Reference, hipPointerGetAttributes, hipPointerAttribute_t and
 * hipMemoryType of ROCm 5 and 6, between which the numbers of the memory types changed.
 */
#include "device/runtime.h"

#define VERSION_6 60000000 /* major * 10^7 + minor * 10^5 + patch */

enum { MEMCPY_DEFAULT = 4 };

/* hipPointerAttribute_t. */
struct attributes {
    unsigned type;
    int device;
    void *device_pointer;
    void *host_pointer;
    int is_managed;
    unsigned allocation_flags;
};

static struct {
    int (*version)(int *version);
    int (*attributes)(struct attributes *attributes, const void *p);
    int (*copy)(void *to, const void *from, size_t bytes, int kind);
    int (*wait)(void *stream);
    int (*peek_at_error)(void);
    int (*take_error)(void);
    unsigned memory_type_device;
} hip;

static bool
find(void *library)
{
    int version;
    if (!ar_runtime_find(&hip.version, library, "hipRuntimeGetVersion") ||
        !ar_runtime_find(&hip.attributes, library, "hipPointerGetAttributes") ||
        !ar_runtime_find(&hip.copy, library, "hipMemcpy") ||
        !ar_runtime_find(&hip.wait, library, "hipStreamSynchronize") ||
        !ar_runtime_find(&hip.peek_at_error, library, "hipPeekAtLastError") ||
        !ar_runtime_find(&hip.take_error, library, "hipGetLastError") || hip.version(&version) != 0)
        return false;
    hip.memory_type_device = version < VERSION_6 ? 1 : 2;
    return true;
}

/* For HIP, a question about memory that it does not know is an error.  The program must not find
 * this error when it asks for the last one, but an error of its own must stay. */
static bool
holds(const void *p)
{
    struct attributes a = {0};
    const bool has_error = hip.peek_at_error() != 0;
    if (hip.attributes(&a, p) == 0)
        return a.type == hip.memory_type_device && !a.is_managed;
    if (!has_error)
        hip.take_error();
    return false;
}

/* As in CUDA, the end of the copy is waited for. */
static bool
copy(void *to, const void *from, size_t bytes, const void *device)
{
    (void)device;
    return hip.copy(to, from, bytes, MEMCPY_DEFAULT) == 0 && hip.wait(NULL) == 0;
}

const struct ar_runtime ar_hip = {"HIP", "libamdhip64.so", find, holds, copy};
