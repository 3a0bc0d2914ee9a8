#include <config.h>

#include "cli/preload.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "installed.h"

/* --- finding it --- */

/* This program's file; false if the system does not tell. */
static bool
own_path(char *path, size_t room)
{
    const ssize_t length = readlink("/proc/self/exe", path, room - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* "FOLDER/BELOW/liballreduce.so" if there is such a file, else NULL. */
static char *
look_in(const char *folder, const char *below)
{
    char *path;
    if (asprintf(&path, "%s%s/" AR_PRELOAD_NAME, folder, below) < 0)
        return NULL;
    if (access(path, F_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *
ar_preload_find(void)
{
    char folder[PATH_MAX];
    const bool known = own_path(folder, sizeof folder);
    if (known)
        *strrchr(folder, '/') = '\0';
    char *found = known ? look_in(folder, "/.libs") : NULL; /* as libtool leaves it */
    if (!found)
        found = look_in(AR_LIBDIR, "");
    return found || !known ? found : look_in(folder, "/../lib"); /* moved since */
}

char *
ar_path_absolute(const char *path)
{
    char folder[PATH_MAX], *absolute;
    if (*path == '/' || !getcwd(folder, sizeof folder))
        return strdup(path);
    return asprintf(&absolute, "%s/%s", folder, path) < 0 ? NULL : absolute;
}

/* --- LD_PRELOAD --- */

static bool
is_ours(const char *path, size_t length)
{
    const char *const slash = memrchr(path, '/', length);
    const char *const name = slash ? slash + 1 : path;
    const size_t rest = length - (size_t)(name - path);
    return rest >= strlen(AR_PRELOAD_NAME) &&
           memcmp(name, AR_PRELOAD_NAME, strlen(AR_PRELOAD_NAME)) == 0;
}

int
ar_preload_set(const char *library)
{
    const char *const separators = ": ";
    const char *rest = getenv("LD_PRELOAD");
    char *list;
    size_t length;
    FILE *const out = open_memstream(&list, &length);
    if (!out)
        return -1;
    fputs(library, out);
    while (rest && *(rest += strspn(rest, separators))) {
        const size_t entry = strcspn(rest, separators);
        if (!is_ours(rest, entry))
            fprintf(out, ":%.*s", (int)entry, rest);
        rest += entry;
    }
    const int error = fclose(out) || setenv("LD_PRELOAD", list, 1);
    free(list);
    return error ? -1 : 0;
}

/* --- does it suit? --- */

/* What the program would load without any preload. */
static char *
libraries_alone(const struct ar_program *program)
{
    const char *const value = getenv("LD_PRELOAD");
    char *const kept = value ? strdup(value) : NULL;
    unsetenv("LD_PRELOAD");
    char *const libraries = ar_program_libraries(program);
    if (kept)
        setenv("LD_PRELOAD", kept, 1);
    free(kept);
    return libraries;
}

/* Is library among those that the linker would load? */
static bool
has_library(const char *libraries, const char *library)
{
    const size_t length = strlen(library);
    for (const char *at = libraries; (at = strstr(at, library)); at += length)
        if (at > libraries && (at[-1] == '\t' || at[-1] == ' ') && at[length] == ' ')
            return true;
    return false;
}

/* What the linker says, without the list of those it loads. */
static void
print_complaints(const char *libraries)
{
    for (const char *line = libraries; *line;) {
        const int length = (int)strcspn(line, "\n");
        if (*line != '\t')
            fprintf(stderr, "    %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
}

static int
tell_missing(const char *libraries, const char *library, const char *path, const char *who)
{
    fprintf(stderr, "%s: the dynamic linker would start %s without %s:\n", who, path, library);
    print_complaints(libraries);
    return -1;
}

static const char *
title_of(const char *family)
{
    return strcmp(family, "openmpi") == 0 ? "Open MPI" : "MPICH or a relative";
}

static int
tell_other_mpi(const struct ar_program *program, const struct ar_mpi_library *its,
               const struct ar_mpi_library *ours, const char *library, const char *who)
{
    fprintf(stderr,
            "%s: %s runs with %s (%s), but %s is built for %s (%s): take the allreduce that is "
            "built for the program's MPI, or name its library by --library\n",
            who, program->path, its->name, title_of(its->family), library, ours->name,
            title_of(ours->family));
    return -1;
}

/* The program names no MPI library itself. */
static void
tell_unknown_mpi(const struct ar_program *program, const char *who)
{
    if (program->kind == AR_PROGRAM_SCRIPT)
        fprintf(stderr,
                "%s: %s is no ELF file: that the library (for %s) suits its MPI is not "
                "checked\n",
                who, program->path, AR_MPI_FAMILY);
    else if (ar_program_mentions(program, "PMPI_Allreduce"))
        fprintf(stderr,
                "%s: %s seems to have a static MPI library in itself; no preload reaches "
                "that: link it to the shared one\n",
                who, program->path);
    else
        fprintf(stderr,
                "%s: %s is not linked to an MPI library: that the library suits what it "
                "may load later is not checked\n",
                who, program->path);
}

static int
compare(const struct ar_program *program, const char *alone, const char *together,
        const char *library, const char *who)
{
    const struct ar_mpi_library its = ar_mpi_library_find(alone, NULL);
    if (!has_library(together, library))
        return tell_missing(together, library, program->path, who);
    if (!its.family) {
        tell_unknown_mpi(program, who);
        return 0;
    }
    const struct ar_mpi_library ours = ar_mpi_library_find(together, its.family);
    return ours.family ? tell_other_mpi(program, &its, &ours, library, who) : 0;
}

/* Of a script nothing is known; but the library can be tried on this program. */
static int
check_script(const struct ar_program *script, const char *library, const char *who)
{
    struct ar_program self;
    char path[PATH_MAX], *together = NULL;
    if (own_path(path, sizeof path) && ar_program_examine(&self, path) == 0)
        together = ar_program_libraries(&self);
    const int refused = together && !has_library(together, library)
                            ? tell_missing(together, library, script->path, who)
                            : 0;
    free(together);
    if (!refused)
        tell_unknown_mpi(script, who);
    return refused;
}

static int
check_dynamic(const struct ar_program *program, const char *library, const char *who)
{
    char *const alone = libraries_alone(program);
    char *const together = ar_program_libraries(program);
    int refused = 0;
    if (alone && together)
        refused = compare(program, alone, together, library, who);
    else
        fprintf(stderr, "%s: %s cannot be asked what %s loads: nothing of it is checked\n", who,
                program->linker, program->path);
    free(alone);
    free(together);
    return refused;
}

int
ar_preload_check(const struct ar_program *program, const char *library, const char *who)
{
    if (library[strcspn(library, ": ")]) {
        fprintf(stderr, "%s: %s: LD_PRELOAD takes no path with a blank or a colon\n", who, library);
        return -1;
    }
    if (program->kind == AR_PROGRAM_STATIC) {
        fprintf(stderr,
                "%s: %s is statically linked, so no preload reaches it: link it dynamically, or "
                "with the library itself (pkg-config --libs liballreduce)\n",
                who, program->path);
        return -1;
    }
    if (program->privileged) {
        fprintf(stderr,
                "%s: %s is set-user-ID or the like, so the dynamic linker ignores "
                "LD_PRELOAD: run a copy without that\n",
                who, program->path);
        return -1;
    }
    return program->kind == AR_PROGRAM_SCRIPT ? check_script(program, library, who)
                                              : check_dynamic(program, library, who);
}
