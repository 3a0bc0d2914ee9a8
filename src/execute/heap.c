/* What the heap knows of its blocks is in the process's own memory, so that nothing that a peer
 * does can disturb it.  The file grows only as more is taken, by whole steps, which bounds the size
 * of a core dump and what mlockall locks.  Its addresses are never given back.  Those beyond the
 * file's end cannot be accessed, so that a search through all memory, such as valgrind's for leaks,
 * looks at no more than the file. */
#include <config.h>

#include "execute/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "execute/units.h"
#include "report/report.h"

#define UNIT_BYTES AR_HEAP_LEAST_BYTES

#define STEP_BYTES AR_HEAP_STEP_BYTES

/* Blocks that are given back keep their memory, up to so many units, since new memory costs a fault
 * for each page. */
#define KEPT_UNITS ((uint32_t)((64 << 20) / UNIT_BYTES))

/* The addresses of each heap, of which a node may map one for each pair of its ranks. */
#define MOST_BYTES ((size_t)256 << 30)

static struct {
    pthread_mutex_t lock;
    enum { UNTRIED, REFUSED, OPEN } state;
    struct ar_shared shared;
    char *base; /* NULL: not open yet.  Written once, by release */
    size_t bytes, file_bytes;
    struct ar_units units;
} heap = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

/* --- opening it --- */

/* Where the system promises no more memory than it has, malloc says that there is none left; here a
 * touch would raise SIGBUS. */
static bool
is_overcommit_strict(void)
{
    char text[2] = "";
    const int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd >= 0 ? read(fd, text, 1) : 0;
    if (fd >= 0)
        close(fd);
    return got == 1 && text[0] == '2';
}

/* As many as this machine has. */
static size_t
most_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const uint64_t machine = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : STEP_BYTES;
    const size_t most = machine < MOST_BYTES ? (size_t)machine : MOST_BYTES;
    return most / STEP_BYTES * STEP_BYTES;
}

static void before_fork(void);
static void after_fork_in_parent(void);
static void after_fork_in_child(void);

/* Makes the file longer, and what it has become longer by accessible. */
static bool
lengthen(char *base, size_t had, size_t bytes)
{
    return ar_shared_grow(&heap.shared, bytes) &&
           mprotect(base + had, bytes - had, PROT_READ | PROT_WRITE) == 0;
}

/* Is memory of the file zero when it has been given back?  qemu-user and the like take the request
 * and do nothing. */
static bool
gives_back(char *base)
{
    if (!lengthen(base, 0, UNIT_BYTES))
        return false;
    base[0] = 1;
    return madvise(base, UNIT_BYTES, MADV_REMOVE) == 0 && base[0] == 0;
}

static void
open_heap(void)
{
    const size_t bytes = most_bytes(), n = bytes / UNIT_BYTES;
    heap.state = REFUSED; /* also for what pthread_atfork may take */
    if (n == 0 || is_overcommit_strict() || !ar_shared_has_addresses())
        return;
    struct ar_unit *const table = mmap(NULL, n * sizeof *table, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const bool is_made = table != MAP_FAILED && ar_shared_make_empty(&heap.shared);
    char *const base =
        is_made ? mmap(NULL, bytes, PROT_NONE, MAP_SHARED, heap.shared.fd, 0) : MAP_FAILED;
    if (base != MAP_FAILED && gives_back(base) &&
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0) {
        madvise(base, bytes, MADV_DONTDUMP);
        ar_units_init(&heap.units, table, (uint32_t)n);
        heap.bytes = bytes;
        heap.state = OPEN;
        __atomic_store_n(&heap.base, base, __ATOMIC_RELEASE); /* pairs with holds() */
        return;
    }
    if (base != MAP_FAILED)
        munmap(base, bytes);
    if (is_made)
        ar_shared_hide(&heap.shared);
    if (table != MAP_FAILED)
        munmap(table, n * sizeof *table);
}

/* --- blocks --- */

static uint32_t
units_of(size_t bytes)
{
    return (uint32_t)((bytes + UNIT_BYTES - 1) / UNIT_BYTES);
}

bool
ar_heap_holds(const void *data)
{
    const char *const base = __atomic_load_n(&heap.base, __ATOMIC_ACQUIRE);
    return base && (uintptr_t)data - (uintptr_t)base < heap.bytes;
}

/* The unit at which a block begins; AR_NO_UNIT if it is none.  Under the lock. */
static uint32_t
unit_of(const void *block)
{
    if (!ar_heap_holds(block))
        return AR_NO_UNIT;
    const size_t offset = (uintptr_t)block - (uintptr_t)heap.base;
    const uint32_t first = (uint32_t)(offset / UNIT_BYTES);
    return offset % UNIT_BYTES == 0 && ar_units_length(&heap.units, first) > 0 ? first : AR_NO_UNIT;
}

static char *
address_of(uint32_t unit)
{
    return heap.base + (size_t)unit * UNIT_BYTES;
}

/* Makes the file long enough for so many units. */
static bool
grow_file(size_t units)
{
    const size_t bytes = units * UNIT_BYTES;
    const size_t whole = (bytes + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
    if (bytes <= heap.file_bytes)
        return true;
    if (!lengthen(heap.base, heap.file_bytes, whole))
        return false;
    madvise(heap.base, whole, MADV_DODUMP);
    heap.file_bytes = whole;
    return true;
}

/* The memory of the units goes back to the system, and they are zero. */
static bool
empty(uint32_t first, uint32_t length)
{
    return madvise(address_of(first), (size_t)length * UNIT_BYTES, MADV_REMOVE) == 0;
}

/* Units that become free keep their memory, or lose it; whether they are still used. */
static bool
leave(uint32_t first, uint32_t length)
{
    const bool keeps =
        heap.units.free_used <= KEPT_UNITS && length <= KEPT_UNITS - heap.units.free_used;
    return keeps || !empty(first, length);
}

static char *
take_units(uint32_t length, enum ar_heap_fill fill)
{
    bool is_used;
    const uint32_t first = ar_units_take(&heap.units, length, &is_used);
    if (first == AR_NO_UNIT)
        return NULL;
    if (!grow_file((size_t)first + length)) {
        ar_units_give(&heap.units, first, is_used);
        return NULL;
    }
    if (fill == AR_HEAP_ZERO && is_used && !empty(first, length))
        memset(address_of(first), 0, (size_t)length * UNIT_BYTES);
    return address_of(first);
}

void *
ar_heap_take(size_t bytes, enum ar_heap_fill fill)
{
    char *block = NULL;
    if (bytes < AR_HEAP_LEAST_BYTES || bytes > MOST_BYTES)
        return NULL;
    pthread_mutex_lock(&heap.lock);
    if (heap.state == UNTRIED)
        open_heap();
    if (heap.state == OPEN)
        block = take_units(units_of(bytes), fill);
    pthread_mutex_unlock(&heap.lock);
    return block;
}

size_t
ar_heap_room(const void *block)
{
    pthread_mutex_lock(&heap.lock);
    const uint32_t first = unit_of(block);
    const uint32_t length = first == AR_NO_UNIT ? 0 : ar_units_length(&heap.units, first);
    pthread_mutex_unlock(&heap.lock);
    return (size_t)length * UNIT_BYTES;
}

static bool
resize_units(uint32_t first, uint32_t length)
{
    const uint32_t old = ar_units_length(&heap.units, first);
    const bool is_used = length >= old || leave(first + length, old - length);
    if (!ar_units_resize(&heap.units, first, length, is_used))
        return false;
    if (grow_file((size_t)first + length))
        return true;
    ar_units_resize(&heap.units, first, old, true);
    return false;
}

bool
ar_heap_resize(void *block, size_t bytes)
{
    bool fits = false;
    if (bytes < AR_HEAP_LEAST_BYTES || bytes > MOST_BYTES)
        return false;
    pthread_mutex_lock(&heap.lock);
    const uint32_t first = unit_of(block);
    if (first != AR_NO_UNIT && heap.state == OPEN)
        fits = resize_units(first, units_of(bytes));
    pthread_mutex_unlock(&heap.lock);
    return fits;
}

bool
ar_heap_give(void *block)
{
    if (!ar_heap_holds(block))
        return false;
    pthread_mutex_lock(&heap.lock);
    const uint32_t first = unit_of(block);
    if (first != AR_NO_UNIT)
        ar_units_give(&heap.units, first, leave(first, ar_units_length(&heap.units, first)));
    pthread_mutex_unlock(&heap.lock);
    return first != AR_NO_UNIT;
}

bool
ar_heap_find(size_t *offset, const void *data, size_t bytes)
{
    if (!ar_heap_holds(data))
        return false;
    *offset = (uintptr_t)data - (uintptr_t)heap.base;
    return bytes <= heap.bytes - *offset;
}

bool
ar_heap_card(struct ar_heap_card *card)
{
    pthread_mutex_lock(&heap.lock);
    const bool is_open = heap.state == OPEN && heap.file_bytes > 0;
    if (is_open)
        *card = (struct ar_heap_card){heap.shared, heap.bytes};
    pthread_mutex_unlock(&heap.lock);
    return is_open;
}

/* --- fork --- */

/* Bytes of protected pages that are copied at a time. */
#define PROTECTED_BYTES ((size_t)64 << 10)

/* The child's heap, which the parent makes before the fork: so it need not wait for the child, and
 * nothing changes meanwhile but what other threads write.  Only the child maps it. */
static struct ar_shared copy;

/* Writes bytes of this heap into the copy's file, at the same place.  Without memory a write fails,
 * whereas a store would raise a signal.  Pages that the program has protected are copied from file
 * to file. */
static bool
copy_bytes(off_t begin, off_t end)
{
    while (begin < end) {
        const size_t rest = (size_t)(end - begin);
        ssize_t wrote = pwrite(copy.fd, heap.base + begin, rest, begin);
        if (wrote < 0 && errno == EFAULT && ar_shared_is_open(&heap.shared)) {
            off_t from = begin, to = begin;
            wrote = copy_file_range(heap.shared.fd, &from, copy.fd, &to,
                                    rest < PROTECTED_BYTES ? rest : PROTECTED_BYTES, 0);
        }
        if (wrote <= 0)
            return false;
        begin += wrote;
    }
    return true;
}

/* Without the pages that were never touched: these are holes in the file. */
static bool
copy_range(off_t begin, off_t end)
{
    const bool has_file = ar_shared_is_open(&heap.shared);
    bool is_done = true;
    while (begin < end && is_done) {
        const off_t data = has_file ? lseek(heap.shared.fd, begin, SEEK_DATA) : begin;
        if (data < 0 || data >= end)
            return data >= end || errno == ENXIO;
        const off_t hole = has_file ? lseek(heap.shared.fd, data, SEEK_HOLE) : end;
        const off_t stop = hole < 0 || hole > end ? end : hole;
        is_done = copy_bytes(data, stop);
        begin = stop;
    }
    return is_done;
}

static bool
copy_blocks(void)
{
    bool is_done = true;
    uint32_t at = 0;
    while (is_done && (at = ar_units_next_taken(&heap.units, at)) != AR_NO_UNIT) {
        const uint32_t end = at + ar_units_length(&heap.units, at);
        is_done = copy_range((off_t)at * (off_t)UNIT_BYTES, (off_t)end * (off_t)UNIT_BYTES);
        at = end;
    }
    return is_done;
}

static void
drop_copy(void)
{
    if (copy.number)
        ar_shared_hide(&copy);
    copy.number = 0;
}

static void
before_fork(void)
{
    pthread_mutex_lock(&heap.lock);
    if (heap.state != OPEN)
        return;
    const int error = errno;
    if (ar_heap_holds(__builtin_frame_address(0)))
        ar_say(
            "warning: fork on a stack that is a shared block: until the child has its copy, both "
            "processes write to it; take that stack by mmap, or unset ALLREDUCE_HEAP");
    const bool is_done =
        ar_shared_make_empty(&copy) && ar_shared_grow(&copy, heap.file_bytes) && copy_blocks();
    if (!is_done) {
        ar_say("the shared blocks cannot be copied, so a child by fork has none of them: %s",
               strerror(errno));
        drop_copy();
    }
    errno = error;
}

static void
after_fork_in_parent(void)
{
    drop_copy();
    pthread_mutex_unlock(&heap.lock);
}

/* Puts the copy in the place of the parent's blocks.  Not by mremap, whose new address UCX's hook
 * of that function loses. */
static bool
take_copy(void)
{
    if (!copy.number)
        return false;
    if (mmap(heap.base, heap.bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, copy.fd, 0) != heap.base ||
        mprotect(heap.base, heap.file_bytes, PROT_READ | PROT_WRITE) != 0) {
        drop_copy();
        return false;
    }
    heap.shared = copy;
    copy.number = 0;
    heap.shared.pid = getpid();
    madvise(heap.base, heap.bytes, MADV_DONTDUMP);
    madvise(heap.base, heap.file_bytes, MADV_DODUMP);
    return true;
}

/* The child's one thread has another number than the one that took the lock, so it cannot give it
 * back.  Where there is no copy it must not see the parent's blocks: to touch one ends it. */
static void
after_fork_in_child(void)
{
    const pthread_mutex_t fresh = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    const int error = errno;
    heap.lock = fresh;
    if (heap.state != OPEN)
        return;
    if (ar_shared_is_open(&heap.shared))
        close(heap.shared.fd);
    if (!take_copy()) {
        if (mmap(heap.base, heap.bytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
            munmap(heap.base, heap.bytes);
        heap.state = REFUSED;
    }
    errno = error;
}
