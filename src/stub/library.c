#include <config.h>

#include "stub/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/rank.h"
#include "stub/engines.h"

/* Every MPI library since MPI 3.0 has it, and no tool has a reason to interpose it. */
#define ANCHOR "PMPI_Get_library_version"

/* --- symbols --- */

/* Names of the objects in this process; that of the program is "". */
struct objects {
    char **names;
    size_t n;
};

/* The linker's lock is held here, so dlopen has to wait until the list is complete. */
static int
note(struct dl_phdr_info *info, size_t size, void *list)
{
    struct objects *const o = list;
    char **const names = realloc(o->names, (o->n + 1) * sizeof *names);
    (void)size;
    if (!names)
        return 1;
    o->names = names;
    o->names[o->n] = strdup(info->dlpi_name);
    return o->names[o->n++] ? 0 : 1;
}

static bool
is_in_this_object(void *symbol)
{
    static const char here;
    Dl_info its, ours;
    return dladdr(symbol, &its) && dladdr(&here, &ours) && its.dli_fbase == ours.dli_fbase;
}

/* In any object that is loaded, or in what it needs. */
static void *
find_anywhere(const char *name)
{
    struct objects o = {NULL, 0};
    void *symbol = NULL;
    dl_iterate_phdr(note, &o);
    for (size_t i = 0; i < o.n; i++) {
        const char *const object = o.names[i];
        void *const handle =
            symbol || !object ? NULL : dlopen(*object ? object : NULL, RTLD_NOLOAD | RTLD_LAZY);
        if (handle) {
            symbol = dlsym(handle, name);
            symbol = symbol && is_in_this_object(symbol) ? NULL : symbol;
            dlclose(handle);
        }
        free(o.names[i]);
    }
    free(o.names);
    return symbol;
}

void *
ar_library_symbol(const char *name)
{
    void *const symbol = dlsym(RTLD_NEXT, name);
    return symbol ? symbol : find_anywhere(name);
}

/* --- which library it is --- */

/* Reads DT_SONAME.  On some machines the dynamic linker leaves the string table's address as it is
 * in the file. */
static void
read_soname(struct ar_library *library, const struct link_map *map)
{
    const char *strings = NULL;
    size_t at = 0;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB)
            strings = (const char *)d->d_un.d_ptr;
        if (d->d_tag == DT_SONAME)
            at = d->d_un.d_val;
    }
    if (strings && (uintptr_t)strings < map->l_addr)
        strings += map->l_addr;
    snprintf(library->soname, sizeof library->soname, "%s", at && strings ? strings + at : "");
}

/* MPI 5's ABI, by what a library says of itself. */
static bool
has_standard_abi(void *handle)
{
    int (*get_version)(int *major, int *minor) = NULL;
    void *const symbol = dlsym(handle, "PMPI_Abi_get_version");
    int major = -1, minor = -1;
    memcpy(&get_version, &symbol, sizeof symbol);
    return get_version && get_version(&major, &minor) == 0 && major >= 1;
}

/* The ABI of Open MPI is the same in versions 3 to 6, the latest one that was tried. */
static bool
is_openmpi_3_to_6(const struct ar_library *library)
{
    int major = 0;
    return sscanf(library->version, "Open MPI v%d", &major) == 1 && major >= 3 && major <= 6;
}

/* MPI 5 fixes the soname of a library with its ABI.  So a library with another MPI's soname has
 * that MPI's ABI, whatever else it supports.  Open MPI is known by an object that its mpi.h names,
 * since its versions 1.10 had MPICH's soname.  An unknown soname may be that of a relative, and
 * that of a development version may be anybody's. */
static const char *
family_of(const struct ar_library *library, void *handle)
{
    static const char *const relatives[] = {"MPICH", "MVAPICH", "Intel(R) MPI", "ParaStation"};
    const char *family;
    const bool is_known = ar_soname_is_mpi(library->soname, &family);
    const bool is_unreleased = ar_soname_is_unreleased(library->soname);
    if (is_known ? family && strcmp(family, "abi") == 0 : has_standard_abi(handle))
        return "abi";
    if (dlsym(handle, "ompi_mpi_comm_world"))
        return !is_known || (family && strcmp(family, "openmpi") == 0) ||
                       (is_unreleased && is_openmpi_3_to_6(library))
                   ? "openmpi"
                   : NULL;
    if (is_known && !is_unreleased)
        return family && strcmp(family, "mpich") == 0 ? family : NULL;
    for (size_t i = 0; i < sizeof relatives / sizeof relatives[0]; i++)
        if (strstr(library->version, relatives[i]))
            return "mpich";
    return "other";
}

bool
ar_library_find(struct ar_library *library)
{
    int (*get_version)(char *version, int *length);
    Dl_info info;
    struct link_map *map;
    int length;
    void *const anchor = ar_library_symbol(ANCHOR);
    if (!anchor || !dladdr1(anchor, &info, (void **)&map, RTLD_DL_LINKMAP))
        return false;
    *library = (struct ar_library){.family = NULL};
    memcpy(&get_version, &anchor, sizeof anchor);
    get_version(library->version, &length);
    for (char *tab = library->version; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    snprintf(library->path, sizeof library->path, "%s", info.dli_fname);
    read_soname(library, map);
    /* Never closed: the engine will call it. */
    void *const handle =
        dlopen(*map->l_name ? map->l_name : NULL, RTLD_NOLOAD | RTLD_LAZY | RTLD_GLOBAL);
    if (handle)
        library->family = family_of(library, handle);
    return true;
}

/* --- what hides us --- */

static bool
has_used_mpi(void)
{
    int (*initialized)(int *flag);
    int flag = 0;
    void *const symbol = ar_library_symbol("PMPI_Initialized");
    memcpy(&initialized, &symbol, sizeof symbol);
    return symbol && initialized(&flag) == 0 && flag;
}

/* Does the user want to know what calls did? */
static bool
is_asked(void)
{
    static const char *const names[] = {"ALLREDUCE_VERBOSE", "ALLREDUCE_STATS", "ALLREDUCE_VERIFY"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *const value = getenv(names[i]);
        if (value && *value && strcmp(value, "0") != 0)
            return true;
    }
    return false;
}

void
ar_library_tell_no_call(const char *name)
{
    void *const first = dlsym(RTLD_DEFAULT, name);
    Dl_info info;
    if (!is_asked() || ar_rank_in_job() != 0 || !has_used_mpi())
        return;
    if (first && !is_in_this_object(first) && dladdr(first, &info))
        dprintf(STDERR_FILENO,
                "liballreduce: no call has arrived: %s is that of %s, which comes before this "
                "library; if that has had calls, preload it behind\n",
                name, info.dli_fname);
    else
        dprintf(
            STDERR_FILENO,
            "liballreduce: no call of %s has arrived on rank 0: it made none, or it looks MPI's "
            "functions up in the MPI library itself. Julia, numba-mpi and ctypes do so, past "
            "whatever is preloaded\n",
            name);
}
