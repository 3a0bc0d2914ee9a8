#include <config.h>

#include "record/caller.h"

#include <execinfo.h>
#include <fnmatch.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* --- what is known of return addresses --- */

/* Where an address returns from: a function of the shim, or a binding.  How far above it its
 * caller's return address lies may depend on that, too. */
enum from { FROM_SHIM, FROM_BINDING };

struct known {
    const void *address;
    enum from from;
    int number;   /* of its site */
    ptrdiff_t up; /* from it to its caller's return address on the stack; 0: it is a site itself */
    bool stays;   /* of what is never unloaded: the program, and libraries of its start */
    atomic_ulong unloads; /* see count_unloads: when it was last known to be there */
    struct ar_site site;
};

/* By address, with open addressing; half of it stays empty.  An entry gives way to another of its
 * address, and is never freed; of an entry only unloads changes. */
#define SLOTS (4 * AR_CALLERS_MOST)
static _Atomic(struct known *) table[SLOTS];
static struct known *sites[AR_CALLERS_MOST]; /* by number.  Written under the lock */
static int nknown = 1, nsites = 1;           /* under the lock; 0 is the others' */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t
slot_of(const void *address)
{
    return (size_t)(((uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % SLOTS;
}

/* The slot of that entry, or the free one where it belongs; *k: the entry, or NULL. */
static inline _Atomic(struct known *) *
look_up(struct known **k, const void *address, enum from from)
{
    for (size_t i = slot_of(address);; i = (i + 1) % SLOTS) {
        /* Pairs with the release in remember. */
        *k = atomic_load_explicit(&table[i], memory_order_acquire);
        if (!*k || ((*k)->address == address && (*k)->from == from))
            return &table[i];
    }
}

static int
take_unloads(struct dl_phdr_info *any, size_t size, void *data)
{
    unsigned long *const unloads = data;
    (void)size;
    *unloads = (unsigned long)any->dlpi_subs;
    return 1;
}

/* How many libraries the process has unloaded. */
static unsigned long
count_unloads(void)
{
    unsigned long unloads = 0;
    dl_iterate_phdr(take_unloads, &unloads);
    return unloads;
}

/* --- the module of an address --- */

struct search {
    uintptr_t address;
    struct ar_site *site;
    bool is_found, stays;
};

/* Of the last NT_GNU_BUILD_ID in a segment of notes. */
static void
read_build_id(struct ar_site *site, const char *notes, size_t length, size_t align)
{
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= length;) {
        const ElfW(Nhdr) *const note = (const void *)(notes + at);
        const size_t name = at + sizeof *note;
        const size_t data = (name + note->n_namesz + align - 1) / align * align;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof ELF_NOTE_GNU &&
            data + note->n_descsz <= length &&
            memcmp(notes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0)
            for (size_t i = 0; i < note->n_descsz && i < (AR_BUILD_ID_TEXT - 1) / 2; i++)
                snprintf(site->build_id + 2 * i, 3, "%02x", (unsigned char)notes[data + i]);
        at = (data + note->n_descsz + align - 1) / align * align;
    }
}

static bool
holds(const struct dl_phdr_info *module, uintptr_t address)
{
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *const p = &module->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - (module->dlpi_addr + p->p_vaddr) < p->p_memsz)
            return true;
    }
    return false;
}

static void
set_path(struct ar_site *site, const char *name)
{
    enum { ROOM = 4096 }; /* on the heap, since stacks are small */
    char *const own = *name ? NULL : malloc(ROOM);
    const ssize_t length = own ? readlink("/proc/self/exe", own, ROOM - 1) : -1;
    if (own)
        own[length > 0 ? length : 0] = '\0';
    const char *const path = own ? own : name;
    const size_t n = strlen(path), most = sizeof site->module - 1, kept = n < most ? n : most;
    memcpy(site->module, path + n - kept, kept + 1);
    free(own);
}

/* The program comes first, then the libraries of its start, of which the dynamic linker is one,
 * then those that were opened: of what is before the linker nothing is unloaded. */
static int
take_module(struct dl_phdr_info *module, size_t size, void *data)
{
    struct search *const search = data;
    (void)size;
    if (search->is_found)
        return search->stays |= module->dlpi_addr == getauxval(AT_BASE);
    if (!holds(module, search->address))
        return 0;
    set_path(search->site, module->dlpi_name);
    search->is_found = true;
    search->stays = *module->dlpi_name == '\0';
    search->site->offset = search->address - module->dlpi_addr;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *const p = &module->dlpi_phdr[i];
        if (p->p_type == PT_NOTE)
            read_build_id(search->site, (const char *)(module->dlpi_addr + p->p_vaddr), p->p_memsz,
                          p->p_align == 8 ? 8 : 4);
    }
    return search->stays;
}

/* For Fortran programs the MPI library's own code calls us.  At -O0 our stub is such a caller, too,
 * since it calls the shim and does not jump. */
static bool
is_binding(const struct ar_site *site)
{
    static const char *const patterns[] = {"libmpi*.so*", "libpmpi*.so*", "libfmpi*.so*",
                                           "liballreduce.so*"};
    const char *const name = ar_module_name(site->module);
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        if (fnmatch(patterns[i], name, 0) == 0)
            return true;
    return false;
}

/* --- a binding's caller --- */

#define DEPTH    64
#define FARTHEST 65536 /* bytes between a return address and its caller's */
/* The words from a function's frame on among which its return address is. */
#ifdef __riscv /* which has it below */
#define NEAREST (-1)
#else
#define NEAREST 0
#endif
#define FARTHER 16

/* Where the shim's function has its return address on the stack; NULL: not near its frame. */
static const char *
find_return(const struct ar_caller *caller)
{
    const void *const *const words = caller->frame;
    for (int i = NEAREST; i < FARTHER; i++)
        if (words[i] == caller->address)
            return (const char *)&words[i];
    return NULL;
}

/* Where the word is on this thread's stack, from `from` upwards; NULL: not near. */
static const char *
find_on_stack(const char *from, const void *word)
{
    pthread_attr_t attributes;
    void *bottom = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return NULL;
    pthread_attr_getstack(&attributes, &bottom, &size);
    pthread_attr_destroy(&attributes);
    const char *const low = bottom, *top = low + size;
    if (from < low || from >= top)
        return NULL;
    if (top - from > FARTHEST)
        top = from + FARTHEST;
    for (const char *at = from; at + sizeof word <= top; at += sizeof word)
        if (*(const void *const *)(const void *)at == word)
            return at;
    return NULL;
}

/* Unwinds the stack once; here is where the address is on it. */
static void
find_caller(struct known *k, const char *here)
{
    void *frames[DEPTH];
    const int n = backtrace(frames, DEPTH);
    int i = 0;
    while (i < n && frames[i] != k->address)
        i++;
    if (i + 1 >= n)
        return;
    const char *const above = find_on_stack(here + sizeof(void *), frames[i + 1]);
    if (above)
        k->up = above - here;
}

/* --- a new address --- */

static bool
are_same(const struct known *a, const struct known *b)
{
    return a->up == b->up && a->site.offset == b->site.offset &&
           strcmp(a->site.module, b->site.module) == 0 &&
           strcmp(a->site.build_id, b->site.build_id) == 0;
}

/* The entry of that address that was there before: the one of the slot, or a site that gave way to
 * it; NULL: none.  Under the lock. */
static struct known *
find_before(struct known *in_slot, const struct known *new)
{
    if (in_slot && are_same(in_slot, new))
        return in_slot;
    for (int i = 1; in_slot && i < nsites; i++)
        if (sites[i]->address == new->address &&
            sites[i]->from == new->from &&are_same(sites[i], new))
            return sites[i];
    return NULL;
}

/* NULL where there is no room. */
static const struct known *
remember(const struct known *new)
{
    struct known *k;
    pthread_mutex_lock(&lock);
    _Atomic(struct known *) *const slot = look_up(&k, new->address, new->from);
    struct known *mine = find_before(k, new);
    const bool is_new = !mine;
    if (is_new)
        mine = nknown > SLOTS / 2 ? NULL : malloc(sizeof *mine);
    if (mine && is_new) {
        memcpy(mine, new, sizeof *mine);
        if (mine->up == 0 && *mine->site.module && nsites < AR_CALLERS_MOST) {
            mine->number = nsites++;
            sites[mine->number] = mine;
        }
        nknown++;
    }
    if (mine) {
        atomic_store_explicit(&mine->unloads, atomic_load(&new->unloads), memory_order_relaxed);
        /* Pairs with the acquire in look_up. */
        atomic_store_explicit(slot, mine, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return mine;
}

/* Without the lock, since the dynamic linker has one of its own. */
static __attribute__((noinline)) const struct known *
learn(const void *address, enum from from, const char *here, enum ar_entry entry)
{
    struct known new = {.address = address, .from = from, .site = {.entry = entry}};
    struct search search = {(uintptr_t)address, &new.site, false, false};
    atomic_init(&new.unloads, count_unloads());
    dl_iterate_phdr(take_module, &search);
    new.stays = search.stays;
    if (here && is_binding(&new.site))
        find_caller(&new, here);
    return remember(&new);
}

/* NULL: nothing is known of the address, or perhaps no longer. */
static inline const struct known *
find_known(const void *address, enum from from)
{
    struct known *k;
    look_up(&k, address, from);
    return k && (k->stays ||
                 atomic_load_explicit(&k->unloads, memory_order_relaxed) == count_unloads())
               ? k
               : NULL;
}

int
ar_caller_find(const struct ar_caller *caller, enum ar_entry entry)
{
    const struct known *k = find_known(caller->address, FROM_SHIM);
    const char *at = k && k->up == 0 ? NULL : find_return(caller);
    if (!k)
        k = learn(caller->address, FROM_SHIM, at, entry);
    while (k && k->up != 0) {
        if (!at)
            return 0;
        at += k->up;
        const void *const address = *(const void *const *)(const void *)at;
        k = find_known(address, FROM_BINDING);
        if (!k)
            k = learn(address, FROM_BINDING, at, entry);
    }
    return k ? k->number : 0;
}

const struct ar_site *
ar_caller_site(int number)
{
    static const struct ar_site others = {.entry = AR_ENTRIES};
    return number > 0 && number < AR_CALLERS_MOST ? &sites[number]->site : &others;
}
