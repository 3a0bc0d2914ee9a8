/* In place of libxpmem, which needs a kernel module: the same functions for what a test program
 * shares on purpose, by a file that each rank has mapped whole (see in_place.c).  An attachment
 * maps the owner's file, and so shows what is at the addresses at any time, as XPMEM's do.
 *
 * Of memory that is in no file it maps a copy, of one page and only right after xpmem_get: enough
 * for two processes to meet.
 *
 * XPMEM_FAILS=make, get or attach: that function fails. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct xpmem_addr {
    int64_t apid;
    off_t offset;
};

#pragma GCC visibility push(default)

/* What the test asks for. */
int xpmem_test_attached(void); /* attachments that there are */
int xpmem_test_attaches(void); /* calls of xpmem_attach that succeeded */

int64_t xpmem_make(void *at, size_t bytes, int permit, void *mode);
int64_t xpmem_get(int64_t segment, int flags, int permit, void *mode);
int xpmem_release(int64_t apid);
void *xpmem_attach(struct xpmem_addr address, size_t bytes, void *at);
int xpmem_detach(void *at);

#pragma GCC visibility pop

#define PAGE        ((uintptr_t)4096)
#define MAPPED_MAX  1024
#define NOT_MAPPED  ((void *)-1)
#define LINE_LENGTH 512

static struct {
    char *at;
    size_t bytes;
} mapped[MAPPED_MAX];
static int nmapped, nattaches;
static int64_t met; /* by xpmem_get, with nothing attached since */

static int
fails(const char *name)
{
    const char *const failing = getenv("XPMEM_FAILS");
    if (!failing || strcmp(failing, name) != 0)
        return 0;
    errno = EPERM;
    return 1;
}

int
xpmem_test_attached(void)
{
    return nmapped;
}

int
xpmem_test_attaches(void)
{
    return nattaches;
}

int64_t
xpmem_make(void *at, size_t bytes, int permit, void *mode)
{
    (void)at, (void)bytes, (void)permit, (void)mode;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* where peers may not read /proc/PID/mem else */
    return fails("make") ? -1 : getpid();
}

int64_t
xpmem_get(int64_t segment, int flags, int permit, void *mode)
{
    (void)flags, (void)permit, (void)mode;
    met = segment;
    return fails("get") ? -1 : segment;
}

int
xpmem_release(int64_t apid)
{
    (void)apid;
    return 0;
}

/* The file of that number that the process has open; -1: none. */
static int
open_file(int64_t pid, unsigned long device, unsigned long inode)
{
    char name[64];
    struct stat status;
    for (int fd = 0; fd < 256; fd++) {
        snprintf(name, sizeof name, "/proc/%ld/fd/%d", (long)pid, fd);
        if (stat(name, &status) == 0 && status.st_dev == device && status.st_ino == inode)
            return open(name, O_RDWR | O_CLOEXEC);
    }
    return -1;
}

/* The shared file that the process has mapped from begin to end; *offset: of begin in it. */
static int
find_file(int64_t pid, uintptr_t begin, uintptr_t end, off_t *offset)
{
    char name[64], line[LINE_LENGTH], mode[8];
    unsigned long from, to, start, inode;
    unsigned major, minor;
    int fd = -1;
    snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
    FILE *const maps = fopen(name, "re");
    while (maps && fd < 0 && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu", &from, &to, mode, &start, &major, &minor,
                   &inode) != 7 ||
            mode[3] != 's' || begin < from || to < end)
            continue;
        fd = open_file(pid, makedev(major, minor), inode);
        *offset = (off_t)(start + (begin - from));
    }
    if (maps)
        fclose(maps);
    return fd;
}

/* A copy of a page. */
static void *
copy_page(int64_t pid, uintptr_t begin)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/%ld/mem", (long)pid);
    const int fd = open(name, O_RDONLY | O_CLOEXEC);
    void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED && pread(fd, at, PAGE, (off_t)begin) != (ssize_t)PAGE) {
        munmap(at, PAGE);
        at = MAP_FAILED;
    }
    if (fd >= 0)
        close(fd);
    return at;
}

void *
xpmem_attach(struct xpmem_addr address, size_t bytes, void *at)
{
    const uintptr_t wanted = (uintptr_t)address.offset, begin = wanted / PAGE * PAGE;
    const uintptr_t end = (wanted + bytes + PAGE - 1) / PAGE * PAGE;
    off_t offset = 0;
    (void)at;
    errno = EINVAL;
    if (fails("attach") || nmapped == MAPPED_MAX)
        return NOT_MAPPED;
    const int fd = find_file(address.apid, begin, end, &offset);
    void *const here = fd >= 0
                           ? mmap(NULL, end - begin, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset)
                       : met == address.apid ? copy_page(address.apid, begin)
                                             : MAP_FAILED;
    met = 0;
    if (fd >= 0)
        close(fd);
    if (here == MAP_FAILED)
        return NOT_MAPPED;
    mapped[nmapped].at = here;
    mapped[nmapped++].bytes = end - begin;
    nattaches++;
    return (char *)here + (wanted - begin);
}

int
xpmem_detach(void *at)
{
    for (int i = 0; i < nmapped; i++)
        if (mapped[i].at <= (char *)at && (char *)at < mapped[i].at + mapped[i].bytes) {
            munmap(mapped[i].at, mapped[i].bytes);
            mapped[i] = mapped[--nmapped];
            return 0;
        }
    return -1;
}
