#include <config.h>

#include "statistics/caller.h"

#include <execinfo.h>
#include <fnmatch.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    struct ar_site site;
};

/* By address, with open addressing; half of it stays empty.  An entry never changes. */
#define SLOTS (4 * AR_CALLERS_MOST)
static _Atomic(const struct known *) table[SLOTS];
static const struct known *sites[AR_CALLERS_MOST]; /* by number.  Written under the lock */
static int nknown = 1, nsites = 1;                 /* under the lock; 0 is the others' */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t
slot_of(const void *address)
{
    return (size_t)(((uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % SLOTS;
}

static inline const struct known *
look_up(const void *address, enum from from)
{
    const struct known *k;
    for (size_t i = slot_of(address);; i = (i + 1) % SLOTS) {
        /* Pairs with the release in remember. */
        k = atomic_load_explicit(&table[i], memory_order_acquire);
        if (!k || (k->address == address && k->from == from))
            return k;
    }
}

/* --- the module of an address --- */

struct search {
    uintptr_t address;
    struct ar_site *site;
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
    char own[4096];
    const ssize_t length = *name ? -1 : readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = '\0';
    const char *const path = *name ? name : own;
    const size_t n = strlen(path), most = sizeof site->module - 1, kept = n < most ? n : most;
    memcpy(site->module, path + n - kept, kept + 1);
}

static int
take_module(struct dl_phdr_info *module, size_t size, void *data)
{
    const struct search *const search = data;
    (void)size;
    if (!holds(module, search->address))
        return 0;
    set_path(search->site, module->dlpi_name);
    search->site->offset = search->address - module->dlpi_addr;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *const p = &module->dlpi_phdr[i];
        if (p->p_type == PT_NOTE)
            read_build_id(search->site, (const char *)(module->dlpi_addr + p->p_vaddr), p->p_memsz,
                          p->p_align == 8 ? 8 : 4);
    }
    return 1;
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

/* NULL where there is no room. */
static const struct known *
remember(const struct known *new)
{
    pthread_mutex_lock(&lock);
    const struct known *k = look_up(new->address, new->from);
    struct known *const mine = k || nknown > SLOTS / 2 ? NULL : malloc(sizeof *mine);
    if (mine) {
        size_t i = slot_of(new->address);
        while (atomic_load(&table[i]))
            i = (i + 1) % SLOTS;
        *mine = *new;
        if (mine->up == 0 && *mine->site.module && nsites < AR_CALLERS_MOST) {
            mine->number = nsites++;
            sites[mine->number] = mine;
        }
        nknown++;
        /* Pairs with the acquire in look_up. */
        atomic_store_explicit(&table[i], mine, memory_order_release);
        k = mine;
    }
    pthread_mutex_unlock(&lock);
    return k;
}

/* Without the lock, since the dynamic linker has one of its own. */
static __attribute__((noinline)) const struct known *
learn(const void *address, enum from from, const char *here, enum ar_entry entry)
{
    struct known new = {.address = address, .from = from, .site = {.entry = entry}};
    struct search search = {(uintptr_t)address, &new.site};
    pthread_mutex_lock(&lock);
    const bool has_room = nknown <= SLOTS / 2;
    pthread_mutex_unlock(&lock);
    if (!has_room)
        return NULL;
    dl_iterate_phdr(take_module, &search);
    if (here && is_binding(&new.site))
        find_caller(&new, here);
    return remember(&new);
}

int
ar_caller_find(const struct ar_caller *caller, enum ar_entry entry)
{
    const struct known *k = look_up(caller->address, FROM_SHIM);
    if (!k)
        k = learn(caller->address, FROM_SHIM, find_return(caller), entry);
    const char *at = k && k->up != 0 ? find_return(caller) : NULL;
    while (k && k->up != 0) {
        if (!at)
            return 0;
        at += k->up;
        const void *const address = *(const void *const *)(const void *)at;
        k = look_up(address, FROM_BINDING);
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
