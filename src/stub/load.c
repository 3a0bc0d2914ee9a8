#include <config.h>

#include "stub/load.h"

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config/rank.h"
#include "stub/engines.h"
#include "stub/library.h"

/* --- what is behind us --- */

static void *
find_first(const char *name, const char *other)
{
    void *const symbol = ar_library_symbol(name);
    return symbol ? symbol : ar_library_symbol(other);
}

/* ISO C has no cast from an object to a function pointer; POSIX says they fit. */
static void
find_next(struct ar_entries *next)
{
    void *symbol;
#define FIND(result, name, field, parameters, arguments)                                           \
    symbol = find_first(#name, "P" #name);                                                         \
    memcpy(&next->field, &symbol, sizeof symbol);
    AR_ENTRIES(FIND)
}

/* --- the engine --- */

/* This library's file.  The linker remembers the folder that it was found in; the program may have
 * gone elsewhere since.  "" if that cannot be told. */
static void
find_own_file(char path[PATH_MAX])
{
    static const char here;
    static char origin[PATH_MAX]; /* one thread is here */
    Dl_info own;
    void *const handle =
        dladdr(&here, &own) ? dlopen(own.dli_fname, RTLD_NOLOAD | RTLD_LAZY) : NULL;
    path[0] = '\0';
    if (handle && dlinfo(handle, RTLD_DI_ORIGIN, origin) == 0) {
        const char *const slash = strrchr(own.dli_fname, '/');
        if (snprintf(path, PATH_MAX, "%s/%s", origin, slash ? slash + 1 : own.dli_fname) >=
            PATH_MAX)
            path[0] = '\0';
    }
    if (handle)
        dlclose(handle);
}

/* The engine in this file, or NULL with the reason in problem. */
static const struct ar_mpi_engine *
open_engine(const char *path, char *problem, size_t room)
{
    void *const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const struct ar_mpi_engine *const engine = handle ? dlsym(handle, "ar_mpi_engine") : NULL;
    if (engine && engine->interface == AR_ENGINE_INTERFACE)
        return engine;
    if (engine)
        snprintf(problem, room, "%s has another version, %s", path, engine->version);
    else
        snprintf(problem, room, "cannot load %s", dlerror());
    return NULL;
}

/* Of the ranks on this node that have no engine, one speaks for all, whichever it is.  Other ranks,
 * on other nodes or on this one, may have an engine, and then they wait for these. */
static void
tell(const struct ar_library *library, const char *own, const char *problem)
{
    char engines[128], node[64] = "this node";
    if (!ar_rank_is_first_on_node())
        return;
    ar_engines_list(engines, sizeof engines, own);
    (void)gethostname(node, sizeof node - 1);
    dprintf(STDERR_FILENO,
            "liballreduce: %s: the MPI library is %s%s%s (%.*s); engines are installed for: %s. "
            "All calls are left to MPI by rank %d, and by others on %s if they have no engine. If "
            "any rank of the job has an engine, the job hangs\n",
            problem, library->soname, *library->soname ? ", " : "", library->path,
            (int)strcspn(library->version, ",\n"), library->version, engines, ar_rank_in_job(),
            node);
}

bool
ar_engine_load(const struct ar_mpi_engine **engine, struct ar_entries *next)
{
    static struct ar_library library; /* too large for a stack that is not ours */
    static char own[PATH_MAX], path[AR_ENGINE_PATH], problem[AR_ENGINE_PATH + 512];
    *engine = NULL;
    if (!ar_library_find(&library))
        return false;
    find_next(next);
    find_own_file(own);
    snprintf(problem, sizeof problem, "no engine for this MPI");
    if (library.family && ar_engine_find(path, own, library.family))
        *engine = open_engine(path, problem, sizeof problem);
    if (!*engine)
        tell(&library, own, problem);
    return true;
}
