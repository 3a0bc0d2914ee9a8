#include <config.h>

#include "cli/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
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

/* Takes the first file in PATH that may be run. */
static int
search_path(char *found, const char *name)
{
    const char *const folders = getenv("PATH");
    const char *rest = folders ? folders : "/bin:/usr/bin";
    int error = ENOENT;
    for (;;) {
        const int length = (int)strcspn(rest, ":");
        if (snprintf(found, PATH_MAX, "%.*s%s%s", length, rest, length ? "/" : "./", name) <
            PATH_MAX) {
            const int status = check_file(found);
            if (status == 0)
                return 0;
            error = status == EACCES ? EACCES : error;
        }
        if (rest[length] == '\0')
            return error;
        rest += length + 1;
    }
}

static int
find(char *found, const char *name)
{
    if (*name == '\0')
        return ENOENT;
    if (!strchr(name, '/'))
        return search_path(found, name);
    if (snprintf(found, PATH_MAX, "%s", name) >= PATH_MAX)
        return ENAMETOOLONG;
    return check_file(found);
}

/* --- reading it --- */

/* A file in memory. */
struct image {
    const char *at;
    size_t length;
};

static struct image
map(const char *path)
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
unmap(struct image image)
{
    if (image.at)
        munmap((void *)image.at, image.length);
}

static bool
fits(struct image image, size_t offset, size_t length)
{
    return offset <= image.length && length <= image.length - offset;
}

/* Takes the linker that the program header names, if it is that header. */
static int
take_header(struct ar_program *program, struct image image, const ElfW(Phdr) * header)
{
    if (header->p_type != PT_INTERP)
        return 0;
    if (header->p_filesz == 0 || header->p_filesz > sizeof program->linker ||
        !fits(image, header->p_offset, header->p_filesz))
        return ENOEXEC;
    memcpy(program->linker, image.at + header->p_offset, header->p_filesz);
    program->linker[header->p_filesz - 1] = '\0';
    program->kind = AR_PROGRAM_DYNAMIC;
    return 0;
}

static int
read_headers(struct ar_program *program, struct image image)
{
    ElfW(Ehdr) elf;
    ElfW(Phdr) header;
    int error = 0;
    program->kind = AR_PROGRAM_STATIC;
    if (!fits(image, 0, sizeof elf))
        return ENOEXEC;
    memcpy(&elf, image.at, sizeof elf);
    for (size_t i = 0; i < elf.e_phnum && !error; i++) {
        const size_t offset = elf.e_phoff + i * elf.e_phentsize;
        if (!fits(image, offset, sizeof header))
            return ENOEXEC;
        memcpy(&header, image.at + offset, sizeof header);
        error = take_header(program, image, &header);
    }
    return error;
}

static int
read_image(struct ar_program *program, struct image image)
{
    const unsigned char ours = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    program->kind = AR_PROGRAM_SCRIPT;
    if (!fits(image, 0, EI_NIDENT) || memcmp(image.at, ELFMAG, SELFMAG) != 0)
        return 0;
    return (unsigned char)image.at[EI_CLASS] == ours ? read_headers(program, image) : ENOEXEC;
}

static bool
is_privileged(const char *path)
{
    struct stat status;
    if (stat(path, &status))
        return false;
    return (status.st_mode & S_ISUID && status.st_uid != getuid()) ||
           (status.st_mode & S_ISGID && status.st_gid != getgid()) ||
           (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

int
ar_program_examine(struct ar_program *program, const char *name)
{
    *program = (struct ar_program){.kind = AR_PROGRAM_SCRIPT};
    int error = find(program->path, name);
    if (error)
        return error;
    const struct image image = map(program->path);
    error = read_image(program, image);
    unmap(image);
    program->privileged = program->kind != AR_PROGRAM_SCRIPT && is_privileged(program->path);
    return error;
}

bool
ar_program_mentions(const struct ar_program *program, const char *text)
{
    const struct image image = map(program->path);
    const bool found = image.at && memmem(image.at, image.length, text, strlen(text));
    unmap(image);
    return found;
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
ar_program_libraries(const struct ar_program *program)
{
    char *argv[] = {(char *)program->linker, "--list", (char *)program->path, NULL};
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

/* --- MPI libraries among them --- */

/* By name: the first pattern that matches. */
static const char *
family_of(const char *name)
{
    static const struct {
        const char *pattern;
        const char *family;
    } patterns[] = {
        {"libmpich.so*", "mpich"},        /* MPICH as Debian names it */
        {"libmpi.so.12*", "mpich"},       /* the ABI of MPICH, Intel MPI, MVAPICH */
        {"libmpi_[!_]*.so.12*", "mpich"}, /* Cray: libmpi_gnu_91.so.12 */
        {"libmpi.so*", "openmpi"},
    };
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        if (fnmatch(patterns[i].pattern, name, 0) == 0)
            return patterns[i].family;
    return NULL;
}

/* The file name of the library in a line that begins with a tab. */
static void
take_name(char *name, size_t room, const char *line)
{
    size_t length = strcspn(line + 1, " \n");
    const char *at = line + 1;
    for (const char *slash; (slash = memchr(at, '/', length));) {
        length -= (size_t)(slash + 1 - at);
        at = slash + 1;
    }
    snprintf(name, room, "%.*s", (int)length, at);
}

struct ar_mpi_library
ar_mpi_library_find(const char *libraries, const char *other_than)
{
    for (const char *line = libraries; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        struct ar_mpi_library library;
        if (*line != '\t')
            continue;
        take_name(library.name, sizeof library.name, line);
        library.family = family_of(library.name);
        if (library.family && (!other_than || strcmp(library.family, other_than) != 0))
            return library;
    }
    return (struct ar_mpi_library){NULL, ""};
}
