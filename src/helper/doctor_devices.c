/* Devices: the runtime for accelerators that a program loads, and XPMEM. */
#include <config.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "execute/xpmem.h"
#include "helper/doctor.h"
#include "select/words.h"

/* Whose runtimes are asked about pointers (src/device), by what the names of libraries begin with:
 * what they are loaded by, or load themselves. */
static const struct {
    const char *name;
    const char *libraries[3];
} runtimes[] = {
    {"CUDA", {"libcuda.so", "libcudart.so", NULL}},
    {"HIP", {"libamdhip64.so", NULL}},
    {"Level Zero", {"libze_loader.so", NULL}},
};

enum { RUNTIMES = sizeof runtimes / sizeof runtimes[0] };

/* --- what the program loads --- */

/* The name of the first library of the list that the lines tell; length 0: there is none. */
static struct ar_word
find_library(const char *lines, const char *const *libraries)
{
    for (const char *line = lines; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const size_t length = *line == '\t' ? strcspn(line + 1, " \n") : 0;
        const char *const slash = length ? memrchr(line + 1, '/', length) : NULL;
        const char *const name = slash ? slash + 1 : line + 1;
        for (int i = 0; length && libraries[i]; i++)
            if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
                return (struct ar_word){name, (size_t)(line + 1 + length - name)};
    }
    return (struct ar_word){lines, 0};
}

static bool
list_runtimes(struct ar_text *text, const char *lines)
{
    for (int i = 0; i < RUNTIMES; i++) {
        const struct ar_word library = find_library(lines, runtimes[i].libraries);
        if (library.length > 0)
            ar_text_add(text, "%s%s (%.*s)", text->length ? ", " : "", runtimes[i].name,
                        (int)library.length, library.at);
    }
    return text->length > 0;
}

void
ar_doctor_examine_devices(struct ar_findings *findings, const char *libraries)
{
    char loads[256];
    struct ar_text loaded;
    ar_text_init(&loaded, loads, sizeof loads);
    if (list_runtimes(&loaded, libraries))
        ar_find(findings, AR_SEVERITY_NOTE, "device",
                "the MPI library must support device memory: see ompi_info (Open MPI) or "
                "mpichversion (MPICH)",
                "the program loads %s: calls with device memory go to the MPI library's own "
                "allreduce",
                loads);
    else
        ar_find(findings, AR_SEVERITY_OK, "device", NULL,
                "the program is not linked to a runtime for GPUs; one that is loaded later is "
                "found, too");
}

/* --- XPMEM --- */

static const char *
xpmem_lacks(bool has_device, bool has_library, const char *device)
{
    if (!has_device)
        return "its library is installed, but its module is not loaded (no " AR_XPMEM_DEVICE ")";
    if (!has_library)
        return "its module is loaded, but its library " AR_XPMEM_LIBRARY " is not found";
    return access(device, R_OK | W_OK) ? AR_XPMEM_DEVICE " cannot be opened by this user" : NULL;
}

void
ar_doctor_examine_xpmem(struct ar_findings *findings, const char *root)
{
    char device[256];
    void *const library = dlopen(AR_XPMEM_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    snprintf(device, sizeof device, "%s" AR_XPMEM_DEVICE, root);
    const bool has_device = access(device, F_OK) == 0;
    const char *const lacks = xpmem_lacks(has_device, library, device);
    if (!lacks)
        ar_find(findings, AR_SEVERITY_OK, "xpmem", NULL,
                "ranks of a node can read each other's buffers in place: shm(copy=in_place)");
    else if (library || has_device)
        ar_find(findings, AR_SEVERITY_NOTE, "xpmem",
                "only shm(copy=in_place) needs the library and a " AR_XPMEM_DEVICE
                " that the user may read and write",
                "%s: ranks of a node copy through slots", lacks);
    if (library)
        dlclose(library);
}
