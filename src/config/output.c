#include <config.h> /* _GNU_SOURCE */

#include "config/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "report/descriptor.h"

#define TRIES 16 /* of random names; if all exist, something else is wrong */

/* --- what a path is --- */

/* The descriptor that the path names, or -1. */
static int
own_descriptor(const char *path)
{
    static const char folder[] = "/dev/fd/";
    const size_t length = strlen(folder);
    char *end;
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    if (strncmp(path, folder, length) != 0 || path[length] < '0' || path[length] > '9')
        return -1;
    const long number = strtol(path + length, &end, 10);
    return *end == '\0' && number <= 1 << 20 ? (int)number : -1;
}

/* In a folder that everyone can write, another user's FIFO could block the job. */
static int
check_direct(const char *path, const struct stat *about)
{
    if (S_ISFIFO(about->st_mode) && about->st_uid != geteuid())
        return EACCES;
    return access(path, W_OK) ? errno : 0;
}

/* The part of the path that names the folder, malloced. */
static char *
folder_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
}

static int
check_folder(const char *path)
{
    struct stat about;
    char *const folder = folder_of(path);
    int error = 0;
    if (!folder)
        return ENOMEM;
    if (access(folder, W_OK | X_OK) || stat(folder, &about))
        error = errno;
    else if (about.st_nlink == 0)
        error = ENOENT; /* it was removed, and is still where the process is */
    free(folder);
    return error;
}

static bool
is_direct(const struct stat *about)
{
    return S_ISCHR(about->st_mode) || S_ISFIFO(about->st_mode);
}

bool
ar_output_is_direct(const char *path)
{
    struct stat about;
    return own_descriptor(path) >= 0 || (lstat(path, &about) == 0 && is_direct(&about));
}

int
ar_output_check(const char *path)
{
    struct stat about;
    const int own = own_descriptor(path);
    if (own >= 0)
        return fcntl(own, F_GETFD) < 0 ? errno : 0;
    if (lstat(path, &about))
        return errno == ENOENT && *path ? check_folder(path) : errno;
    if (is_direct(&about))
        return check_direct(path, &about);
    if (S_ISDIR(about.st_mode))
        return EISDIR;
    if (!S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode))
        return ENOTSUP;
    /* A file that is not writable is not replaced. */
    if (S_ISREG(about.st_mode) && access(path, W_OK))
        return errno;
    return check_folder(path);
}

/* --- begin --- */

/* A random name, which no other file in the folder should have. */
static int
make_name(char *name, size_t room)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return errno;
    snprintf(name, room, ".allreduce-%016" PRIx64, number);
    return 0;
}

static int
open_named(struct ar_output *output)
{
    for (int i = 0; output->fd < 0 && i < TRIES; i++) {
        const int error = make_name(output->made, sizeof output->made);
        if (error)
            return error;
        output->fd = openat(output->folder, output->made,
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (output->fd < 0 && errno != EEXIST)
            return errno;
    }
    return output->fd < 0 ? EEXIST : 0;
}

/* Without a name if the file system supports it and /proc, which is needed to name the file later,
 * is there. */
static int
open_new(struct ar_output *output, const char *path)
{
    char *const folder = folder_of(path);
    if (!folder)
        return ENOMEM;
    output->name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    output->folder = ar_descriptor_move_up(open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
    int error = output->folder < 0 ? errno : 0;
    free(folder);
    if (!error && access("/proc/self/fd", X_OK) == 0)
        output->fd = openat(output->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (!error && output->fd < 0)
        error = open_named(output);
    if (error && output->folder >= 0)
        close(output->folder);
    return error;
}

/* A FIFO without a reader is an error at once (ENXIO), and so is anything that has taken the place
 * of the FIFO or device meanwhile. */
static int
open_direct(struct ar_output *output, const char *path)
{
    struct stat about;
    const int own = own_descriptor(path);
    if (own == STDOUT_FILENO)
        fflush(stdout); /* what was printed before comes first */
    output->fd = own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 3)
                          : open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (output->fd < 0)
        return errno;
    int error = own >= 0                        ? 0
                : fstat(output->fd, &about)     ? errno
                : !is_direct(&about)            ? ENOTSUP
                : fcntl(output->fd, F_SETFL, 0) ? errno
                                                : 0;
    if (error)
        close(output->fd);
    return error;
}

/* A write past RLIMIT_FSIZE would raise SIGXFSZ, and one into a FIFO whose reader has gone SIGPIPE,
 * and end the program.  With the signals blocked, it fails with EFBIG or EPIPE instead. */
struct guard {
    sigset_t before; /* this thread's mask */
    sigset_t ours;   /* those of the signals of which the program had none pending */
};

static void
guard_begin(struct guard *guard)
{
    static const int raised[] = {SIGXFSZ, SIGPIPE};
    sigset_t both, pending;
    sigemptyset(&both);
    sigemptyset(&guard->ours);
    sigpending(&pending);
    for (size_t i = 0; i < sizeof raised / sizeof *raised; i++) {
        sigaddset(&both, raised[i]);
        if (!sigismember(&pending, raised[i]))
            sigaddset(&guard->ours, raised[i]);
    }
    pthread_sigmask(SIG_BLOCK, &both, &guard->before);
}

/* Takes one signal at a time, until there is none. */
static void
guard_end(const struct guard *guard)
{
    while (sigtimedwait(&guard->ours, NULL, &(struct timespec){.tv_sec = 0}) > 0)
        continue;
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}

/* The stream's write function.  It keeps the first error, which errno no longer has at the end. */
static ssize_t
write_all(void *cookie, const char *text, size_t length)
{
    struct ar_output *const output = cookie;
    struct guard guard;
    size_t done = 0;
    guard_begin(&guard);
    while (done < length && !output->error) {
        const ssize_t n = write(output->fd, text + done, length - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0)
            output->error = ENOSPC;
        else if (errno != EINTR)
            output->error = errno;
    }
    guard_end(&guard);
    return output->error ? 0 : (ssize_t)length;
}

int
ar_output_begin(struct ar_output *output, const char *path)
{
    int error = ar_output_check(path);
    *output = (struct ar_output){.fd = -1, .folder = -1};
    if (!error)
        error = ar_output_is_direct(path) ? open_direct(output, path) : open_new(output, path);
    if (error)
        return error;
    output->fd = ar_descriptor_move_up(output->fd);
    if (output->fd >= 0)
        output->file = fopencookie(output, "w", (cookie_io_functions_t){.write = write_all});
    if (output->file)
        return 0;
    error = errno;
    output->error = error;
    ar_output_drop(output);
    return error;
}

/* --- end --- */

/* An existing file can only be replaced by renaming, so the new one first needs a name of its own.
 */
static int
replace_by_link(struct ar_output *output, const char *from)
{
    int error = make_name(output->made, sizeof output->made);
    if (error)
        return error;
    if (linkat(AT_FDCWD, from, output->folder, output->made, AT_SYMLINK_FOLLOW))
        return errno;
    if (renameat(output->folder, output->made, output->folder, output->name)) {
        error = errno;
        unlinkat(output->folder, output->made, 0);
    }
    return error;
}

static int
name_unnamed(struct ar_output *output)
{
    char from[64];
    snprintf(from, sizeof from, "/proc/self/fd/%d", output->fd);
    if (linkat(AT_FDCWD, from, output->folder, output->name, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    return errno == EEXIST ? replace_by_link(output, from) : errno;
}

static void
close_file(struct ar_output *output)
{
    if (output->file && fclose(output->file) && !output->error)
        output->error = errno;
    output->file = NULL;
}

int
ar_output_end(struct ar_output *output)
{
    close_file(output);
    const bool is_new = output->folder >= 0, is_named = output->made[0] != '\0';
    if (is_new && !is_named && !output->error)
        output->error = name_unnamed(output);
    /* Some file systems report a lack of space only here. */
    if (close(output->fd) && !output->error)
        output->error = errno;
    if (is_named && !output->error &&
        renameat(output->folder, output->made, output->folder, output->name))
        output->error = errno;
    if (is_named && output->error)
        unlinkat(output->folder, output->made, 0);
    if (is_new)
        close(output->folder);
    return output->error;
}

void
ar_output_drop(struct ar_output *output)
{
    if (!output->error)
        output->error = ECANCELED;
    ar_output_end(output);
}
