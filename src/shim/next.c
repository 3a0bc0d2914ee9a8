#include "shim/next.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* --- objects of the process --- */

struct object {
    char *name;
    uintptr_t begin, end; /* of its segments */
};

/* In the order in which they are searched. */
struct objects {
    struct object *all;
    size_t n;
};

static bool
holds(const struct object *o, uintptr_t address)
{
    return address - o->begin < o->end - o->begin;
}

static int
note(struct dl_phdr_info *info, size_t size, void *list)
{
    struct objects *const objects = list;
    struct object *const all = realloc(objects->all, (objects->n + 1) * sizeof *all);
    struct object o = {strdup(info->dlpi_name), UINTPTR_MAX, 0};
    (void)size;
    if (!all || !o.name) {
        objects->all = all ? all : objects->all;
        free(o.name);
        return 1;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const p = &info->dlpi_phdr[i];
        const uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD)
            continue;
        o.begin = at < o.begin ? at : o.begin;
        o.end = at + p->p_memsz > o.end ? at + p->p_memsz : o.end;
    }
    objects->all = all;
    all[objects->n++] = o;
    return 0;
}

/* --- those that are behind us --- */

#define TOOLS_MOST 8

static struct object library, engine, tools[TOOLS_MOST];
static size_t ntools;

/* Has it an MPI_Allreduce of its own?  Symbols are also found in what it needs. */
static bool
is_tool(const struct object *o)
{
    void *const handle = *o->name ? dlopen(o->name, RTLD_NOLOAD | RTLD_LAZY) : NULL;
    void *const symbol = handle ? dlsym(handle, "MPI_Allreduce") : NULL;
    if (handle)
        dlclose(handle);
    return symbol && holds(o, (uintptr_t)symbol);
}

/* The order is: us, the tools, the MPI library, the engine. */
void
ar_next_find_objects(void)
{
    struct objects objects = {NULL, 0};
    void *address;
    bool is_behind = false;
    memcpy(&address, &ar_next->library_allreduce, sizeof address);
    dl_iterate_phdr(note, &objects);
    for (size_t i = 0; i < objects.n; i++) {
        const struct object *const o = &objects.all[i];
        if (holds(o, (uintptr_t)address))
            library = *o;
        else if (holds(o, (uintptr_t)&ar_next))
            engine = *o;
        else if (is_behind && ntools < TOOLS_MOST && is_tool(o))
            tools[ntools++] = *o;
        is_behind |= holds(o, (uintptr_t)ar_next); /* the stub has it */
        free(o->name);
    }
    free(objects.all);
}

bool
ar_next_is_caller(const void *address)
{
    size_t i = 0;
    if (holds(&library, (uintptr_t)address) || holds(&engine, (uintptr_t)address))
        return true;
    while (i < ntools && !holds(&tools[i], (uintptr_t)address))
        i++;
    return i < ntools;
}
