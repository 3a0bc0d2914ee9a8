/* Devices: accelerators of this node and the runtime for them that a program loads, and XPMEM. */
#include <config.h>

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cores/sysfs.h"
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

/* --- what is there --- */

static int
count_files(const char *root, const char *pattern)
{
    char path[PATH_MAX];
    glob_t found;
    snprintf(path, sizeof path, "%s%s", root, pattern);
    if (glob(path, 0, NULL, &found))
        return 0;
    const int n = (int)found.gl_pathc;
    globfree(&found);
    return n;
}

/* Graphics cards that can compute, whose maker has this number. */
static int
count_cards(const char *root, const char *maker)
{
    char path[PATH_MAX];
    glob_t found;
    int n = 0;
    snprintf(path, sizeof path, "%s/sys/class/drm/renderD*/device/vendor", root);
    if (glob(path, 0, NULL, &found))
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *const line = ar_sysfs_line("", "%s", found.gl_pathv[i]);
        n += line && strncmp(line, maker, strlen(maker)) == 0;
        free(line);
    }
    globfree(&found);
    return n;
}

/* NVIDIA's driver has no render nodes unless it is told to; AMD's computes by /dev/kfd. */
static int
list_devices(struct ar_text *text, const char *root)
{
    const int nvidia = count_files(root, "/dev/nvidia[0-9]*");
    const int amd = count_files(root, "/dev/kfd") ? count_cards(root, "0x1002") : 0;
    const int intel = count_cards(root, "0x8086");
    const struct {
        const char *maker;
        int n;
    } kinds[] = {{"NVIDIA", nvidia}, {"AMD", amd}, {"Intel", intel}};
    for (int i = 0; i < 3; i++)
        if (kinds[i].n > 0)
            ar_text_add(text, "%s%d of %s", text->length ? ", " : "", kinds[i].n, kinds[i].maker);
    return nvidia + amd + intel;
}

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
ar_doctor_examine_devices(struct ar_findings *findings, const char *root, const char *libraries)
{
    char devices[128], loads[256];
    struct ar_text there, loaded;
    ar_text_init(&there, devices, sizeof devices);
    ar_text_init(&loaded, loads, sizeof loads);
    const int n = list_devices(&there, root);
    const bool has_runtime = libraries && list_runtimes(&loaded, libraries);
    if (has_runtime && n > 0)
        ar_find(findings, AR_SEVERITY_NOTE, "device",
                "the MPI library must support device memory: see ompi_info (Open MPI) or "
                "mpichversion (MPICH)",
                "GPUs: %s; the program loads %s: calls with device memory go to the MPI library's "
                "own allreduce",
                devices, loads);
    else if (has_runtime)
        ar_find(findings, AR_SEVERITY_WARNING, "device",
                "in a container: docker --gpus all, apptainer --nv or --rocm; under Slurm: --gpus",
                "the program loads %s, but there is no GPU here", loads);
    else if (n > 0)
        ar_find(findings, AR_SEVERITY_OK, "device", NULL,
                "GPUs: %s; %s; a runtime that is loaded later is found, too", devices,
                libraries ? "the program is not linked to a runtime for them"
                          : "name a program to see which runtime it loads");
    else
        ar_find(findings, AR_SEVERITY_OK, "device", NULL, "no GPU%s",
                libraries ? ", and the program is not linked to a runtime for one" : "");
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
