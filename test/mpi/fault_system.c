/* Faults, to be preloaded beside the library: one of our code's requests to the system (for memory,
 * files, mappings or threads) is refused.  Only requests of our own library and engine count; those
 * of MPI do not.
 *
 * A program arms it by inject_arm.  Alternatively the environment arms it from the start of the
 * process: INJECT_AT is the number of the refused request, from 0 on, in the rank INJECT_RANK of
 * MPI_COMM_WORLD.  With INJECT_SIGNAL, a number, the process gets that signal at that moment
 * instead of a refusal; with INJECT_AFTER_US, it gets the signal so many microseconds after its
 * start.  With INJECT_TELL=1 the refusal or the signal is reported, and at the end of the process
 * the number of requests.  INJECT_ALWAYS names one function whose calls are all refused, on all
 * ranks. */
#include <config.h> /* _GNU_SOURCE */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_long refused_at = -1; /* -1: none */
static atomic_long asked;
static atomic_bool is_armed;
static const char *always; /* always refused; NULL: none */
static int signal_number;  /* 0: refuse */
static pid_t process;      /* which gets it, even if a child of it asks */

/* From now on count what is asked, and refuse the at-th; at < 0 only counts.  Returns what was
 * asked since the last time, counted while armed.  With at = -2 nothing is counted any more. */
EXPORT long inject_arm(long at);

long
inject_arm(long at)
{
    const long counted = atomic_load(&asked);
    atomic_store(&is_armed, false);
    atomic_store(&asked, 0);
    atomic_store(&refused_at, at);
    atomic_store(&is_armed, at != -2);
    return counted;
}

static void
arm_timer(long us)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal_number};
    const struct itimerspec when = {.it_value = {us / 1000000, us % 1000000 * 1000}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_settime(timer, 0, &when, NULL);
}

__attribute__((constructor)) static void
arm_by_environment(void)
{
    const char *at = getenv("INJECT_AT"), *victim = getenv("INJECT_RANK"),
               *rank = getenv("PMI_RANK");
    if (!rank)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    always = getenv("INJECT_ALWAYS");
    process = getpid();
    if (!victim || !rank || strcmp(victim, rank) != 0)
        return;
    signal_number = getenv("INJECT_SIGNAL") ? atoi(getenv("INJECT_SIGNAL")) : 0;
    if (at)
        inject_arm(atol(at));
    if (getenv("INJECT_AFTER_US"))
        arm_timer(atol(getenv("INJECT_AFTER_US")));
}

__attribute__((destructor)) static void
tell_asked(void)
{
    if (getenv("INJECT_TELL") && atomic_load(&is_armed))
        fprintf(stderr, "asked: %ld\n", atomic_load(&asked));
}

static bool
is_ours(const void *caller)
{
    Dl_info info;
    if (!dladdr(caller, &info) || !info.dli_fname)
        return false;
    const char *name = strrchr(info.dli_fname, '/');
    name = name ? name + 1 : info.dli_fname;
    return strncmp(name, "liballreduce", 12) == 0 || strncmp(name, "engine-", 7) == 0;
}

/* Is this one refused?  Then errno is error. */
static bool
refuses(const void *caller, int error, const char *what)
{
    bool is_refused = always && strcmp(always, what) == 0 && is_ours(caller);
    if (!is_refused && atomic_load(&is_armed) && is_ours(caller))
        is_refused = atomic_fetch_add(&asked, 1) == atomic_load(&refused_at);
    if (!is_refused)
        return false;
    if (getenv("INJECT_TELL")) {
        Dl_info info;
        dladdr(caller, &info);
        fprintf(stderr, "%s: %s, called from %s, %#tx\n", signal_number ? "struck" : "refused",
                what, info.dli_fname, (const char *)caller - (const char *)info.dli_fbase);
    }
    if (signal_number) {
        kill(process, signal_number);
        return false;
    }
    errno = error;
    return true;
}

#define REFUSES(error) refuses(__builtin_return_address(0), (error), __func__)

/* Has pointer point to the system's function of that name. */
#define NEXT(pointer, name)                                                                        \
    void *pointer##_symbol = dlsym(RTLD_NEXT, name);                                               \
    memcpy(&(pointer), &pointer##_symbol, sizeof(pointer))

/* The system's headers name the arguments in their own way.
 * NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

EXPORT void *
malloc(size_t bytes)
{
    return REFUSES(ENOMEM) ? NULL : __libc_malloc(bytes);
}

EXPORT void *
calloc(size_t n, size_t bytes)
{
    return REFUSES(ENOMEM) ? NULL : __libc_calloc(n, bytes);
}

EXPORT void *
realloc(void *old, size_t bytes)
{
    return REFUSES(ENOMEM) ? NULL : __libc_realloc(old, bytes);
}

EXPORT void *
reallocarray(void *old, size_t n, size_t bytes)
{
    size_t whole;
    return __builtin_mul_overflow(n, bytes, &whole) || REFUSES(ENOMEM) ? NULL
                                                                       : __libc_realloc(old, whole);
}

EXPORT void *
aligned_alloc(size_t alignment, size_t bytes)
{
    return REFUSES(ENOMEM) ? NULL : __libc_memalign(alignment, bytes);
}

EXPORT int
posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    if (REFUSES(ENOMEM))
        return ENOMEM;
    *memory = __libc_memalign(alignment, bytes);
    return *memory ? 0 : ENOMEM;
}

EXPORT char *
strndup(const char *text, size_t longest)
{
    const size_t length = strnlen(text, longest);
    char *copy = REFUSES(ENOMEM) ? NULL : __libc_malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

EXPORT char *
strdup(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = REFUSES(ENOMEM) ? NULL : __libc_malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

#undef asprintf /* a macro where clang fortifies */
EXPORT int
asprintf(char **text, const char *format, ...)
{
    if (REFUSES(ENOMEM))
        return -1;
    va_list list;
    va_start(list, format);
    const int length = vasprintf(text, format, list);
    va_end(list);
    return length;
}

EXPORT FILE *
open_memstream(char **text, size_t *bytes)
{
    FILE *(*next)(char **, size_t *);
    NEXT(next, "open_memstream");
    return REFUSES(ENOMEM) ? NULL : next(text, bytes);
}

EXPORT FILE *
fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions)
{
    FILE *(*next)(void *, const char *, cookie_io_functions_t);
    NEXT(next, "fopencookie");
    return REFUSES(ENOMEM) ? NULL : next(cookie, mode, functions);
}

EXPORT void *
mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    void *(*next)(void *, size_t, int, int, int, off_t);
    NEXT(next, "mmap");
    return REFUSES(ENOMEM) ? MAP_FAILED : next(at, bytes, protection, flags, fd, offset);
}

EXPORT int
memfd_create(const char *name, unsigned flags)
{
    int (*next)(const char *, unsigned);
    NEXT(next, "memfd_create");
    return REFUSES(EMFILE) ? -1 : next(name, flags);
}

EXPORT int
ftruncate(int fd, off_t bytes)
{
    int (*next)(int, off_t);
    NEXT(next, "ftruncate");
    return REFUSES(ENOSPC) ? -1 : next(fd, bytes);
}

EXPORT int
posix_fallocate(int fd, off_t offset, off_t bytes)
{
    int (*next)(int, off_t, off_t);
    NEXT(next, "posix_fallocate");
    return REFUSES(ENOSPC) ? ENOSPC : next(fd, offset, bytes);
}

EXPORT int
open(const char *path, int flags, ...)
{
    int (*next)(const char *, int, ...);
    NEXT(next, "open");
    va_list list;
    va_start(list, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return REFUSES(EMFILE) ? -1 : next(path, flags, mode);
}

EXPORT int
openat(int folder, const char *path, int flags, ...)
{
    int (*next)(int, const char *, int, ...);
    NEXT(next, "openat");
    va_list list;
    va_start(list, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return REFUSES(EMFILE) ? -1 : next(folder, path, flags, mode);
}

EXPORT ssize_t
write(int fd, const void *text, size_t length)
{
    ssize_t (*next)(int, const void *, size_t);
    NEXT(next, "write");
    return REFUSES(ENOSPC) ? -1 : next(fd, text, length);
}

EXPORT int
renameat(int from, const char *old, int to, const char *new)
{
    int (*next)(int, const char *, int, const char *);
    NEXT(next, "renameat");
    return REFUSES(EXDEV) ? -1 : next(from, old, to, new);
}

EXPORT int
linkat(int from, const char *old, int to, const char *new, int flags)
{
    int (*next)(int, const char *, int, const char *, int);
    NEXT(next, "linkat");
    return REFUSES(ENOSPC) ? -1 : next(from, old, to, new, flags);
}

EXPORT int
shm_open(const char *name, int flags, mode_t mode)
{
    int (*next)(const char *, int, mode_t);
    NEXT(next, "shm_open");
    return REFUSES(EMFILE) ? -1 : next(name, flags, mode);
}

EXPORT FILE *
fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *);
    NEXT(next, "fopen");
    return REFUSES(EMFILE) ? NULL : next(path, mode);
}

EXPORT DIR *
opendir(const char *path)
{
    DIR *(*next)(const char *);
    NEXT(next, "opendir");
    return REFUSES(EMFILE) ? NULL : next(path);
}

EXPORT int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
               void *argument)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    NEXT(next, "pthread_create");
    return REFUSES(EAGAIN) ? EAGAIN : next(thread, attributes, start, argument);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
