#include <config.h>

#include "cli/preload.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/data.h"
#include "config/rank.h"
#include "installed.h"

/* --- finding it --- */

char *
ar_preload_find(void)
{
    char folder[PATH_MAX];
    ar_own_path(folder);
    if (*folder)
        *strrchr(folder, '/') = '\0';
    const struct {
        const char *folder, *below;
    } places[] = {
        {folder, "/.libs"}, /* as libtool leaves it */
        {AR_LIBDIR, ""},
        {folder, "/../lib"}, /* moved since it was installed */
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *path;
        if (*places[i].folder == '\0')
            continue;
        if (asprintf(&path, "%s%s/" AR_PRELOAD_NAME, places[i].folder, places[i].below) < 0)
            return NULL;
        if (access(path, F_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
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

/* What the executable would load without any preload. */
static char *
libraries_alone(const struct ar_executable *executable)
{
    const char *const value = getenv("LD_PRELOAD");
    char *const kept = value ? strdup(value) : NULL;
    unsetenv("LD_PRELOAD");
    char *const libraries = ar_executable_libraries(executable);
    if (kept)
        setenv("LD_PRELOAD", kept, 1);
    free(kept);
    return libraries;
}

struct mpi_library {
    const char *family; /* as AR_MPI_FAMILY; NULL: there is none */
    char name[64];      /* "libmpich.so.12" */
};

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

/* The first MPI library in the linker's lines that is not of the family other_than (NULL: of any).
 */
static struct mpi_library
find_mpi(const char *libraries, const char *other_than)
{
    for (const char *line = libraries; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        struct mpi_library library;
        if (*line != '\t')
            continue;
        const size_t length = strcspn(line + 1, " \n");
        const char *const slash = memrchr(line + 1, '/', length);
        const char *const name = slash ? slash + 1 : line + 1;
        snprintf(library.name, sizeof library.name, "%.*s", (int)(line + 1 + length - name), name);
        library.family = family_of(library.name);
        if (library.family && (!other_than || strcmp(library.family, other_than) != 0))
            return library;
    }
    return (struct mpi_library){NULL, ""};
}

/* Is library among those that the linker would load?  Else says what the linker complains about,
 * without the list of those it loads. */
static bool
takes_library(const char *libraries, const char *library, const char *path, FILE *to)
{
    const size_t length = strlen(library);
    for (const char *at = libraries; (at = strstr(at, library)); at += length)
        if (at > libraries && (at[-1] == '\t' || at[-1] == ' ') && at[length] == ' ')
            return true;
    fprintf(to, "the dynamic linker would start %s without %s:\n", path, library);
    for (const char *line = libraries; *line;) {
        const int end = (int)strcspn(line, "\n");
        if (*line != '\t')
            fprintf(to, "    %.*s\n", end, line);
        line += end + (line[end] == '\n');
    }
    return false;
}

static const char *
title_of(const char *family)
{
    return strcmp(family, "openmpi") == 0 ? "Open MPI" : "MPICH or a relative";
}

/* What a script starts is not known, but the library can be tried on this program. */
static int
check_script(const struct ar_executable *script, const char *library, FILE *to)
{
    struct ar_executable self;
    char path[PATH_MAX];
    ar_own_path(path);
    char *const together =
        ar_executable_examine(&self, path) ? NULL : ar_executable_libraries(&self);
    const bool takes = !together || takes_library(together, library, script->path, to);
    free(together);
    if (takes)
        fprintf(to,
                "%s is no ELF file: that the library (for %s) suits its MPI is not "
                "checked\n",
                script->path, AR_MPI_FAMILY);
    return takes ? 0 : -1;
}

/* Compares what it loads alone and with the library. */
static int
check_libraries(const struct ar_executable *executable, const char *alone, const char *together,
                const char *library, FILE *to)
{
    const struct mpi_library its = find_mpi(alone, NULL);
    const struct mpi_library other = find_mpi(together, its.family);
    char foreign[512];
    if (!takes_library(together, library, executable->path, to))
        return -1;
    if (its.family && ar_launcher_splits(its.family, 0, foreign, sizeof foreign)) {
        fprintf(to, "%s runs with %s: %s\n", executable->path, its.name, foreign);
        return -1;
    }
    if (!its.family)
        fprintf(to,
                executable->has_pmpi
                    ? "%s seems to have a static MPI library in itself; no preload reaches "
                      "that: link it to the shared one\n"
                    : "%s is not linked to an MPI library: that the library suits what it may "
                      "load later is not checked\n",
                executable->path);
    if (!its.family || !other.family)
        return 0;
    fprintf(to,
            "%s runs with %s (%s), but %s is built for %s (%s): take the allreduce that is "
            "built for the program's MPI, or name its library by --library\n",
            executable->path, its.name, title_of(its.family), library, other.name,
            title_of(other.family));
    return -1;
}

static int
check_dynamic(const struct ar_executable *executable, const char *library, FILE *to)
{
    char *const alone = libraries_alone(executable);
    char *const together = ar_executable_libraries(executable);
    int refused = 0;
    if (alone && together)
        refused = check_libraries(executable, alone, together, library, to);
    else
        fprintf(to, "%s cannot be asked what %s loads: nothing of it is checked\n",
                executable->linker, executable->path);
    free(alone);
    free(together);
    return refused;
}

int
ar_preload_check(const struct ar_executable *executable, const char *library, FILE *to)
{
    if (library[strcspn(library, ": ")]) {
        fprintf(to, "%s: LD_PRELOAD takes no path with a blank or a colon\n", library);
        return -1;
    }
    if (executable->kind == AR_EXECUTABLE_STATIC) {
        fprintf(to,
                "%s is statically linked, so no preload reaches it: link it dynamically, or "
                "with the library itself (pkg-config --libs liballreduce)\n",
                executable->path);
        return -1;
    }
    if (executable->privileged) {
        fprintf(to,
                "%s is set-user-ID or the like, so the dynamic linker ignores "
                "LD_PRELOAD: run a copy without that\n",
                executable->path);
        return -1;
    }
    return executable->kind == AR_EXECUTABLE_SCRIPT ? check_script(executable, library, to)
                                                    : check_dynamic(executable, library, to);
}
