/* A made-up machine, to be preloaded beside the library.  What a process reads below
 * /sys/devices/system comes from below CORES_ROOT.  Each rank of MPI_COMM_WORLD may run on one
 * entry of CORES_CPUS (as in 0,1,4-7), a CPU or a row of them: rank i on entry i.  What a rank
 * reads of its cgroup comes from below CORES_CGROUP, from a folder named after its number.  A
 * thread that asks for all CPUs gets the first CORES_NUMBER, which are all that are online.  With
 * CORES_POSSIBLE the kernel has room for so many CPUs, and refuses to fill in a shorter set. */
#include <config.h> /* _GNU_SOURCE */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* This process's number in MPI_COMM_WORLD; NULL: no launcher has started it. */
static const char *
find_rank(void)
{
    const char *const ours = getenv("PMI_RANK");
    return ours ? ours : getenv("OMPI_COMM_WORLD_RANK");
}

static bool
begins(const char *path, const char *with)
{
    return strncmp(path, with, strlen(with)) == 0;
}

/* The path instead of this one, in the room if it is another. */
static const char *
instead_of(const char *path, char room[PATH_MAX])
{
    const char *const root = getenv("CORES_ROOT"), *const cgroups = getenv("CORES_CGROUP");
    const char *const rank = find_rank();
    int length = 0;
    if (root && begins(path, "/sys/devices/system/"))
        length = snprintf(room, PATH_MAX, "%s%s", root, path);
    else if (cgroups &&
             (begins(path, "/sys/fs/cgroup/") || strcmp(path, "/proc/self/cgroup") == 0 ||
              strcmp(path, "/proc/self/mountinfo") == 0))
        length = snprintf(room, PATH_MAX, "%s/%s%s", cgroups, rank ? rank : "0", path);
    return length > 0 && length < PATH_MAX ? room : path;
}

/* The function that this library hides. */
static void
find(void *function, const char *name)
{
    void *const found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

/* The system's headers name the arguments in their own way.
 * NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

EXPORT FILE *
fopen(const char *path, const char *mode)
{
    char room[PATH_MAX];
    FILE *(*next)(const char *, const char *);
    find(&next, "fopen");
    return next(instead_of(path, room), mode);
}

EXPORT DIR *
opendir(const char *path)
{
    char room[PATH_MAX];
    DIR *(*next)(const char *);
    find(&next, "opendir");
    return next(instead_of(path, room));
}

EXPORT int
access(const char *path, int mode)
{
    char room[PATH_MAX];
    int (*next)(const char *, int);
    find(&next, "access");
    return next(instead_of(path, room), mode);
}

static _Thread_local bool is_wide; /* the thread has asked for all CPUs */

/* The first and last CPU on which this thread may run; false: as the system says. */
static bool
find_cpus(size_t *first, size_t *last)
{
    const char *const rank = find_rank(), *at = getenv("CORES_CPUS");
    *first = 0;
    *last = is_wide ? strtoul(getenv("CORES_NUMBER"), NULL, 10) - 1 : 0;
    if (is_wide)
        return true;
    for (int i = rank ? atoi(rank) : 0; i > 0 && at; i--) {
        at = strchr(at, ',');
        at += at != NULL;
    }
    const int n = rank && at ? sscanf(at, "%zu-%zu", first, last) : 0;
    if (n == 1)
        *last = *first;
    return n > 0;
}

EXPORT int
sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    size_t first, last;
    int (*next)(pid_t, size_t, cpu_set_t *);
    const char *const possible = getenv("CORES_POSSIBLE");
    if (possible && 8 * bytes < strtoul(possible, NULL, 10)) {
        errno = EINVAL;
        return -1;
    }
    find(&next, "sched_getaffinity");
    const int error = next(pid, bytes, set);
    if (error || !find_cpus(&first, &last))
        return error;
    CPU_ZERO_S(bytes, set);
    for (size_t cpu = first; cpu <= last; cpu++)
        CPU_SET_S(cpu, bytes, set);
    return 0;
}

EXPORT int
sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *set)
{
    int (*next)(pid_t, size_t, const cpu_set_t *);
    find(&next, "sched_setaffinity");
    if (getenv("CORES_NUMBER") && CPU_COUNT_S(bytes, set) == (int)(8 * bytes))
        is_wide = true;
    return is_wide ? 0 : next(pid, bytes, set);
}

EXPORT long
sysconf(int name)
{
    const char *const number = getenv("CORES_NUMBER");
    long (*next)(int);
    find(&next, "sysconf");
    return number && name == _SC_NPROCESSORS_ONLN ? strtol(number, NULL, 10) : next(name);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
