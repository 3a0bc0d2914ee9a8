#include "shim/next.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* --- the MPI library's code --- */

static struct {
    uintptr_t begin, end;
} library;

/* Whether this object holds our next function.  If so, records where its segments are. */
static int
note_library(struct dl_phdr_info *object, size_t size, void *address)
{
    uintptr_t begin = UINTPTR_MAX, end = 0;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *const p = &object->dlpi_phdr[i];
        const uintptr_t at = object->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD)
            continue;
        begin = at < begin ? at : begin;
        end = at + p->p_memsz > end ? at + p->p_memsz : end;
    }
    if ((uintptr_t)address < begin || (uintptr_t)address >= end)
        return 0;
    library.begin = begin;
    library.end = end;
    return 1;
}

void
ar_next_find_library(void)
{
    void *address;
    memcpy(&address, &ar_next->library_allreduce, sizeof address);
    dl_iterate_phdr(note_library, address);
}

bool
ar_next_is_caller(const void *address)
{
    return (uintptr_t)address - library.begin < library.end - library.begin;
}

/* --- native calls under way --- */

/* The frame of the ar_native_begin that set the innermost mark, just below its caller's; 0: there
 * is none.  Not the address of the mark, which a sanitizer may put elsewhere than on the stack. */
static __thread uintptr_t innermost __attribute__((tls_model("initial-exec")));

void
ar_native_begin(struct ar_native_mark *mark)
{
    mark->outer = innermost;
    innermost = (uintptr_t)__builtin_frame_address(0);
}

void
ar_native_end(const struct ar_native_mark *mark)
{
    innermost = mark->outer;
}

/* Stacks grow downwards, so a mark below the current frame was left behind by a jump. */
bool
ar_native_is_running(void)
{
    return innermost > (uintptr_t)__builtin_frame_address(0);
}

void
ar_native_forget(void)
{
    innermost = 0;
}
