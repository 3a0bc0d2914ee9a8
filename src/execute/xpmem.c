/* What is attached stays attached, since attaching costs a system call, and then a fault for each
 * page at its first touch.  Meanwhile the owner may free a range, and map other memory there.  The
 * module follows the owner's page tables: it takes pages away from the attachments when the kernel
 * takes them from the owner (an MMU notifier), and when they are touched again, it finds what then
 * lies at the address.  So an attachment stands for addresses, not for what once lay there, and
 * need not be told of changes.  Touching it where the owner has nothing mapped raises SIGBUS.
 * Nobody does, since it is touched only in a call to which its owner has given that very range. */
#include <config.h>

#include "execute/xpmem.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "report/say.h"

/* --- the library --- */

/* As in its xpmem.h, which is seldom installed. */
struct address {
    int64_t apid;
    off_t offset;
};
#define SEGMENT_ALL     ((size_t)-1)
#define PERMIT_BY_MODE  1
#define READ_AND_WRITE  2
#define MODE_OWNER_ONLY ((void *)(uintptr_t)0600)

static struct {
    int64_t (*make)(void *at, size_t bytes, int permit, void *mode);
    int64_t (*get)(int64_t segment, int flags, int permit, void *mode);
    int (*release)(int64_t apid);
    void *(*attach)(struct address address, size_t bytes, void *at);
    int (*detach)(void *at);
} library;

/* Of this process, once it is introduced. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int64_t segment; /* all its memory; <= 0: it has none */
static uint64_t *probe; /* a random number: tells its peers that they see this memory, no other */
static size_t page_bytes;
static atomic_bool is_impossible;

static bool
find_symbol(void *handle, void *function, const char *name)
{
    void *const symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol); /* C knows no cast to a function */
    return symbol;
}

static bool
load(void)
{
    void *const handle = dlopen(AR_XPMEM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return handle && find_symbol(handle, &library.make, "xpmem_make") &&
           find_symbol(handle, &library.get, "xpmem_get") &&
           find_symbol(handle, &library.release, "xpmem_release") &&
           find_symbol(handle, &library.attach, "xpmem_attach") &&
           find_symbol(handle, &library.detach, "xpmem_detach");
}

static void
open_memory(void)
{
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    probe = aligned_alloc(page_bytes, page_bytes);
    if (probe && getrandom(probe, sizeof *probe, 0) == (ssize_t)sizeof *probe && load())
        segment = library.make(NULL, SEGMENT_ALL, PERMIT_BY_MODE, MODE_OWNER_ONLY);
    atomic_store(&is_impossible, segment <= 0);
}

/* --- peers --- */

/* Two buffers of a call each; as many threads may be in calls with a peer. */
#define ATTACHMENTS 16

struct attachment {
    char *at;        /* here; NULL: none */
    uintptr_t begin; /* there: whole pages */
    size_t bytes;
    unsigned users; /* calls under way */
    unsigned used;  /* when it was last: the peer's clock */
};

struct ar_xpmem_peer {
    struct ar_xpmem_peer *next;
    int64_t segment;
    int64_t apid;
    unsigned meetings;
    unsigned clock;
    struct attachment attachments[ATTACHMENTS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ar_xpmem_peer *peers;

static bool
covers(const struct attachment *a, uintptr_t begin, size_t bytes)
{
    return a->at && a->begin <= begin && begin + bytes <= a->begin + a->bytes;
}

/* One that covers the range; else the one to replace, which nobody uses: an empty one, or that
 * which was used longest ago.  NULL where all are in use. */
static struct attachment *
choose(struct ar_xpmem_peer *peer, uintptr_t begin, size_t bytes)
{
    struct attachment *oldest = NULL;
    for (int i = 0; i < ATTACHMENTS; i++) {
        struct attachment *const a = &peer->attachments[i];
        if (covers(a, begin, bytes))
            return a;
        if (a->users == 0 && (!oldest || (oldest->at && (!a->at || a->used < oldest->used))))
            oldest = a;
    }
    return oldest;
}

static void
detach(struct attachment *a)
{
    if (a->at)
        library.detach(a->at);
    *a = (struct attachment){0};
}

/* The address of the range in this process; its attachment is then in use.  NULL if the range is
 * not attached, and may not be (!attaches) or cannot be. */
static void *
use(struct ar_xpmem_peer *peer, uintptr_t begin, size_t bytes, bool attaches)
{
    const uintptr_t first = begin / page_bytes * page_bytes;
    const uintptr_t end = (begin + bytes + page_bytes - 1) / page_bytes * page_bytes;
    struct attachment *const a = choose(peer, begin, bytes);
    if (!a || (!attaches && !covers(a, begin, bytes)))
        return NULL;
    if (!covers(a, begin, bytes)) {
        detach(a);
        const struct address there = {peer->apid, (off_t)first};
        char *const at = library.attach(there, end - first, NULL);
        if (at == (void *)-1)
            return NULL;
        *a = (struct attachment){.at = at, .begin = first, .bytes = end - first};
    }
    a->users++;
    a->used = ++peer->clock;
    return a->at + (begin - a->begin);
}

static void
end_use(struct ar_xpmem_peer *peer, const char *mapped)
{
    for (int i = 0; i < ATTACHMENTS; i++) {
        struct attachment *const a = &peer->attachments[i];
        if (a->users > 0 && a->at <= mapped && mapped < a->at + a->bytes) {
            a->users--;
            return;
        }
    }
}

static void
forget(struct ar_xpmem_peer *peer)
{
    struct ar_xpmem_peer **at = &peers;
    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    for (int i = 0; i < ATTACHMENTS; i++)
        detach(&peer->attachments[i]);
    library.release(peer->apid);
    free(peer);
}

/* The process with this segment; NULL if it cannot be had, or memory runs out. */
static struct ar_xpmem_peer *
find(int64_t its_segment)
{
    struct ar_xpmem_peer *peer = peers;
    while (peer && peer->segment != its_segment)
        peer = peer->next;
    if (peer)
        return peer;
    const int64_t apid = library.get(its_segment, READ_AND_WRITE, PERMIT_BY_MODE, NULL);
    peer = apid < 0 ? NULL : calloc(1, sizeof *peer);
    if (!peer) {
        if (apid >= 0)
            library.release(apid);
        return NULL;
    }
    *peer = (struct ar_xpmem_peer){.next = peers, .segment = its_segment, .apid = apid};
    peers = peer;
    return peer;
}

/* --- what in_place.c calls --- */

bool
ar_xpmem_introduce(struct ar_xpmem_card *card)
{
    pthread_once(&once, open_memory);
    if (segment <= 0)
        return false;
    *card = (struct ar_xpmem_card){segment, (uintptr_t)probe, *probe};
    return true;
}

bool
ar_xpmem_is_impossible(void)
{
    return atomic_load(&is_impossible);
}

struct ar_xpmem_peer *
ar_xpmem_meet(const struct ar_xpmem_card *card)
{
    pthread_mutex_lock(&lock);
    struct ar_xpmem_peer *peer = find(card->segment);
    const uint64_t *const seen = peer ? use(peer, card->probe_at, sizeof *seen, true) : NULL;
    const bool is_known = seen && *seen == card->probe;
    if (seen)
        end_use(peer, (const char *)seen);
    if (is_known)
        peer->meetings++;
    else if (peer && peer->meetings == 0)
        forget(peer);
    pthread_mutex_unlock(&lock);
    return is_known ? peer : NULL;
}

void
ar_xpmem_leave(struct ar_xpmem_peer *peer)
{
    pthread_mutex_lock(&lock);
    if (--peer->meetings == 0)
        forget(peer);
    pthread_mutex_unlock(&lock);
}

/* Memory of a device that a driver has mapped has no pages for the module to hand out: its readers
 * would get a SIGBUS.  process_vm_readv gets at memory in the same way, and reports that. */
static bool
has_pages(const void *data)
{
    char byte;
    const struct iovec here = {&byte, 1}, there = {(void *)data, 1}; /* which is read only */
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 || errno != EFAULT;
}

/* Asking takes longer than a short message, so buffers that can be shared are remembered.  Other
 * memory may lie there later, but hardly a device's: a driver maps that at addresses of its own,
 * and runtimes say that it is a device's (src/device) before anything is run in place. */
#define REMEMBERED 8

static bool
is_sharable(const void *data, size_t bytes)
{
    static struct {
        uintptr_t begin, end;
    } remembered[REMEMBERED];
    static unsigned next;
    const uintptr_t begin = (uintptr_t)data, end = begin + bytes;
    bool can = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < REMEMBERED && !can; i++)
        can = remembered[i].begin <= begin && end <= remembered[i].end;
    if (!can && has_pages(data)) {
        const unsigned i = next++ % REMEMBERED;
        remembered[i].begin = begin;
        remembered[i].end = end;
        can = true;
    }
    pthread_mutex_unlock(&lock);
    return can;
}

uint64_t
ar_xpmem_show(const void *data, size_t bytes)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const bool can = is_sharable(data, bytes);
    if (!can && !atomic_flag_test_and_set(&said))
        ar_say("XPMEM cannot share %zu bytes of device memory with other ranks; such calls go "
               "through slots",
               bytes);
    return can ? (uintptr_t)data : 0;
}

/* The processes have met, so this seldom fails; only the first failure is reported. */
void *
ar_xpmem_map(struct ar_xpmem_peer *peer, uint64_t address, size_t bytes, bool attaches)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    errno = 0;
    pthread_mutex_lock(&lock);
    void *const mapped = use(peer, address, bytes, attaches);
    pthread_mutex_unlock(&lock);
    if (!mapped && attaches && !atomic_flag_test_and_set(&said))
        ar_say("XPMEM cannot attach %zu bytes of another rank: %s; such calls go through slots",
               bytes, errno ? strerror(errno) : "too many calls at a time");
    return mapped;
}

void
ar_xpmem_unmap(struct ar_xpmem_peer *peer, void *mapped)
{
    pthread_mutex_lock(&lock);
    end_use(peer, mapped);
    pthread_mutex_unlock(&lock);
}
