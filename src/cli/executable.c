#include <config.h>

#include "cli/preload.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

extern char **environ;

/* --- finding it --- */

/* 0 if path is a file that may be run, else errno. */
static int
check_file(const char *path)
{
    struct stat status;
    if (stat(path, &status))
        return errno;
    if (!S_ISREG(status.st_mode))
        return EACCES;
    return access(path, X_OK) ? errno : 0;
}

/* A name without a slash is the first file in PATH that may be run. */
static int
find(char *found, const char *name)
{
    const char *const folders = getenv("PATH");
    int error = ENOENT;
    if (*name == '\0')
        return ENOENT;
    if (strchr(name, '/'))
        return snprintf(found, PATH_MAX, "%s", name) < PATH_MAX ? check_file(found) : ENAMETOOLONG;
    for (const char *rest = folders ? folders : "/bin:/usr/bin";; rest++) {
        const int length = (int)strcspn(rest, ":");
        if (snprintf(found, PATH_MAX, "%.*s%s%s", length, rest, length ? "/" : "./", name) <
            PATH_MAX) {
            const int status = check_file(found);
            if (status == 0)
                return 0;
            error = status == EACCES ? EACCES : error;
        }
        rest += length;
        if (*rest == '\0')
            return error;
    }
}

/* --- reading it --- */

/* A file in memory. */
struct image {
    const char *at;
    size_t length;
};

/* .at NULL: it is empty, or cannot be read. */
static struct image
map_file(const char *path)
{
    struct image image = {NULL, 0};
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
        void *const at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED)
            image = (struct image){at, (size_t)status.st_size};
    }
    if (fd >= 0)
        close(fd);
    return image;
}

static void
unmap_file(struct image image)
{
    if (image.at)
        munmap((void *)image.at, image.length);
}

static bool
holds(struct image image, const char *text)
{
    return image.at && memmem(image.at, image.length, text, strlen(text));
}

static bool
fits(struct image image, size_t offset, size_t length)
{
    return offset <= image.length && length <= image.length - offset;
}

/* Finds out the kind and the linker; 0 or ENOEXEC. */
static int
read_image(struct ar_executable *executable, struct image image)
{
    const unsigned char ours = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    ElfW(Ehdr) elf;
    ElfW(Phdr) header;
    if (!fits(image, 0, EI_NIDENT) || memcmp(image.at, ELFMAG, SELFMAG) != 0)
        return 0;
    executable->kind = AR_EXECUTABLE_STATIC;
    if ((unsigned char)image.at[EI_CLASS] != ours || !fits(image, 0, sizeof elf))
        return ENOEXEC;
    memcpy(&elf, image.at, sizeof elf);
    for (size_t i = 0; i < elf.e_phnum; i++) {
        const size_t offset = elf.e_phoff + i * elf.e_phentsize;
        if (!fits(image, offset, sizeof header))
            return ENOEXEC;
        memcpy(&header, image.at + offset, sizeof header);
        if (header.p_type != PT_INTERP)
            continue;
        if (header.p_filesz == 0 || header.p_filesz > sizeof executable->linker ||
            !fits(image, header.p_offset, header.p_filesz))
            return ENOEXEC;
        memcpy(executable->linker, image.at + header.p_offset, header.p_filesz);
        executable->linker[header.p_filesz - 1] = '\0';
        executable->kind = AR_EXECUTABLE_DYNAMIC;
    }
    return 0;
}

int
ar_executable_examine(struct ar_executable *executable, const char *name)
{
    struct stat status;
    *executable = (struct ar_executable){.kind = AR_EXECUTABLE_SCRIPT};
    int error = find(executable->path, name);
    if (error || stat(executable->path, &status))
        return error ? error : errno;
    const struct image image = map_file(executable->path);
    if (image.at)
        error = read_image(executable, image);
    executable->has_pmpi = holds(image, "PMPI_Allreduce");
    unmap_file(image);
    executable->privileged =
        executable->kind != AR_EXECUTABLE_SCRIPT &&
        ((status.st_mode & S_ISUID && status.st_uid != getuid()) ||
         (status.st_mode & S_ISGID && status.st_gid != getgid()) ||
         (getuid() != 0 && getxattr(executable->path, "security.capability", NULL, 0) > 0));
    return error;
}

bool
ar_elf_lacks(const char *path, const char *text)
{
    const struct image image = map_file(path);
    const bool lacks =
        fits(image, 0, SELFMAG) && memcmp(image.at, ELFMAG, SELFMAG) == 0 && !holds(image, text);
    unmap_file(image);
    return lacks;
}

/* --- what it loads --- */

/* Starts argv with stdout and stderr into out; the child's id, or -1. */
static pid_t
start(char **argv, int out)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    int error = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
    if (!error)
        error = posix_spawn(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error ? -1 : child;
}

/* All that comes out of fd, which is closed.  Malloced; NULL if it fails. */
static char *
read_text(int fd)
{
    char *text = NULL, part[4096];
    size_t length;
    ssize_t got;
    FILE *const out = open_memstream(&text, &length);
    while (out && ((got = read(fd, part, sizeof part)) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0)
            fwrite(part, 1, (size_t)got, out);
    close(fd);
    if (out && fclose(out)) {
        free(text);
        text = NULL;
    }
    return text;
}

char *
ar_executable_libraries(const struct ar_executable *executable)
{
    char *argv[] = {(char *)executable->linker, "--list", (char *)executable->path, NULL};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return NULL;
    const pid_t child = start(argv, ends[1]);
    close(ends[1]);
    char *const text = read_text(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (child > 0)
        return text;
    free(text);
    return NULL;
}
