#include <config.h>

#include "execute/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/descriptor.h"

#define NAME_TEXT 64

static const char *
name_of(uint64_t number, char *text)
{
    snprintf(text, NAME_TEXT, "/liballreduce-%016llx", (unsigned long long)number);
    return text;
}

/* Allocates the memory of the parts, since a lack of it would otherwise raise SIGBUS at the first
 * touch.  The kernel takes memory near the core that asks.  NULL, with the cause in errno. */
static void *
map(int fd, size_t bytes, const struct ar_shared_parts *parts, size_t nparts)
{
    for (size_t i = 0; i < nparts; i++)
        for (size_t k = 0; k < parts[i].n; k++) {
            const off_t begin = (off_t)(parts[i].begin + k * parts[i].step);
            do
                errno = posix_fallocate(fd, begin, (off_t)parts[i].bytes);
            while (errno == EINTR);
            if (errno)
                return NULL;
        }
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Whether a file may have so many bytes.  Making it larger than RLIMIT_FSIZE allows raises SIGXFSZ,
 * even for a file in memory. */
static bool
may_have(size_t bytes)
{
    struct rlimit limit;
    errno = EFBIG;
    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
           bytes <= limit.rlim_cur;
}

static int
create_named(const char *name)
{
    const int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const int moved = ar_descriptor_move_up(fd);
    const int error = errno;
    if (fd >= 0 && moved < 0)
        shm_unlink(name);
    errno = error;
    return moved;
}

/* Creates an empty file; its descriptor, or -1. */
static int
create(struct ar_shared *shared, bool by_name)
{
    char name[NAME_TEXT];
    if (getrandom(&shared->number, sizeof shared->number, 0) != (ssize_t)sizeof shared->number ||
        shared->number == 0)
        return -1;
    gethostname(shared->host, sizeof shared->host - 1);
    name_of(shared->number, name);
    if (by_name)
        return create_named(name);
    shared->pid = getpid();
    shared->fd = ar_descriptor_move_up(memfd_create(name + 1, MFD_CLOEXEC));
    return shared->fd;
}

void *
ar_shared_make(struct ar_shared *shared, bool by_name, size_t bytes,
               const struct ar_shared_parts *parts, size_t nparts)
{
    *shared = (struct ar_shared){.fd = -1};
    const int fd = may_have(bytes) ? create(shared, by_name) : -1;
    void *const memory =
        fd < 0 || ftruncate(fd, (off_t)bytes) ? NULL : map(fd, bytes, parts, nparts);
    const int error = errno;
    if (fd >= 0 && by_name)
        close(fd);
    if (fd >= 0 && !memory)
        ar_shared_hide(shared);
    if (!memory)
        shared->number = 0;
    errno = error;
    return memory;
}

/* Whether the file of this descriptor, a link in /proc, is the one that the maker created.  If
 * processes see different /proc, as in containers, the same numbers may lead to another process's
 * file.  False: the cause is in errno. */
static bool
is_made(const char *descriptor, uint64_t number)
{
    char target[128], expected[128], name[NAME_TEXT];
    const ssize_t length = readlink(descriptor, target, sizeof target - 1);
    if (length < 0)
        return false;
    target[length] = '\0';
    snprintf(expected, sizeof expected, "/memfd:%s (deleted)", name_of(number, name) + 1);
    errno = ESRCH;
    return strcmp(target, expected) == 0;
}

/* Opens what another process made without a name; -1, with the cause in errno.  The link is checked
 * before, because opening a device may have an effect, and again afterwards, because it may have
 * changed meanwhile. */
static int
open_made(const struct ar_shared *shared)
{
    char path[64], own[64], host[sizeof shared->host] = "";
    gethostname(host, sizeof host - 1);
    errno = ESRCH;
    if (strcmp(host, shared->host) != 0) /* the hosts of a test cluster may share one /proc */
        return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", shared->pid, shared->fd);
    /* Opening must not wait, even if another file has these numbers. */
    const int fd =
        is_made(path, shared->number) ? open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    if (fd < 0 || is_made(own, shared->number))
        return fd;
    close(fd);
    errno = ESRCH;
    return -1;
}

void *
ar_shared_open(const struct ar_shared *shared, size_t bytes, const struct ar_shared_parts *parts,
               size_t nparts)
{
    char name[NAME_TEXT];
    const int fd = ar_descriptor_move_up(
        shared->pid == 0 ? shm_open(name_of(shared->number, name), O_RDWR | O_CLOEXEC, 0600)
                         : open_made(shared));
    if (fd < 0)
        return NULL;
    void *const memory = map(fd, bytes, parts, nparts);
    const int error = errno;
    close(fd);
    errno = error;
    return memory;
}

void
ar_shared_hide(const struct ar_shared *shared)
{
    char name[NAME_TEXT];
    if (shared->pid == 0)
        shm_unlink(name_of(shared->number, name));
    else
        close(shared->fd);
}

/* FNV-1a. */
uint64_t
ar_hash(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return h;
}

#define BOOT_TEXT 64 /* a UUID and a newline */

/* True if the text is the kernel's, and so the same in all containers of the host.  LXC and
 * systemd-nspawn mount a file over it, which is each container's own. */
static bool
read_boot(char text[BOOT_TEXT])
{
    struct stat file, proc;
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd >= 0 ? read(fd, text, BOOT_TEXT - 1) : 0;
    const bool is_kernels =
        got > 0 && fstat(fd, &file) == 0 && stat("/proc", &proc) == 0 && file.st_dev == proc.st_dev;
    text[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
    return is_kernels;
}

uint64_t
ar_boot_hash(void)
{
    char text[BOOT_TEXT];
    return read_boot(text) ? ar_hash(text) : 0;
}

uint64_t
ar_host_hash(void)
{
    char text[HOST_NAME_MAX + 1 + BOOT_TEXT] = "";
    gethostname(text, HOST_NAME_MAX);
    read_boot(text + strlen(text)); /* a container's own tells nodes apart, too */
    return ar_hash(text);
}
