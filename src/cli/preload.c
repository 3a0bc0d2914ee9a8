#include <config.h>

#include "cli/preload.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/data.h"
#include "config/rank.h"
#include "installed.h"
#include "stub/engines.h"

/* --- finding it --- */

char *
ar_preload_find(void)
{
    char own[PATH_MAX], prefix[PATH_MAX] = "";
    ar_own_folder(own);
    const bool is_helper = ar_folder_is(own, PACKAGE_TARNAME); /* in libexec */
    if (is_helper || ar_folder_is(own, "bin"))
        snprintf(prefix, sizeof prefix, "%s", own);
    ar_folder_above(prefix);
    if (is_helper)
        ar_folder_above(prefix);
    /* An installation that was moved has its own library, even if another one is where it was. */
    const struct {
        const char *folder, *below;
    } places[] = {
        {own, "/.libs"}, /* as libtool leaves it */
        {prefix, "/lib"},
        {AR_LIBDIR, ""},
    };
    /* The first is for the linker, and may be in a package for developers. */
    static const char *const names[] = {AR_PRELOAD_NAME, AR_SONAME};
    for (size_t i = 0; i < 2 * sizeof places / sizeof places[0]; i++) {
        char *path;
        if (*places[i / 2].folder == '\0')
            continue;
        if (asprintf(&path, "%s%s/%s", places[i / 2].folder, places[i / 2].below, names[i % 2]) < 0)
            return NULL;
        if (access(path, F_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

/* --- LD_PRELOAD --- */

static bool
is_named(const char *path, size_t length, const char *begin)
{
    const char *const slash = memrchr(path, '/', length);
    const char *const name = slash ? slash + 1 : path;
    const size_t rest = length - (size_t)(name - path);
    return rest >= strlen(begin) && memcmp(name, begin, strlen(begin)) == 0;
}

static bool
is_ours(const char *path, size_t length)
{
    return is_named(path, length, AR_PRELOAD_NAME);
}

/* Of AddressSanitizer, which refuses to run unless it is loaded before all others. */
static bool
is_asan(const char *path, size_t length)
{
    return is_named(path, length, "libasan.so") || is_named(path, length, "libclang_rt.asan");
}

/* Of a sanitizer of gcc or clang. */
static bool
is_sanitizer(const char *path, size_t length)
{
    static const char *const names[] = {"libasan.so", "libtsan.so",  "libhwasan.so",
                                        "liblsan.so", "libubsan.so", "libclang_rt."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_named(path, length, names[i]))
            return true;
    return false;
}

/* What is in LD_PRELOAD, but for ours: the sanitizers, or all others. */
enum part { PART_SANITIZERS, PART_OTHERS };

static void
copy_part(FILE *out, enum part part)
{
    const char *const separators = ": ";
    const char *rest = getenv("LD_PRELOAD");
    while (rest && *(rest += strspn(rest, separators))) {
        const size_t entry = strcspn(rest, separators);
        if (!is_ours(rest, entry) && is_sanitizer(rest, entry) == (part == PART_SANITIZERS))
            fprintf(out, "%s%.*s", ftell(out) > 0 ? ":" : "", (int)entry, rest);
        rest += entry;
    }
}

int
ar_preload_set(const char *library)
{
    char *list;
    size_t length;
    FILE *const out = open_memstream(&list, &length);
    if (!out)
        return -1;
    copy_part(out, PART_SANITIZERS);
    if (library)
        fprintf(out, "%s%s", ftell(out) > 0 ? ":" : "", library);
    copy_part(out, PART_OTHERS);
    const int error =
        fclose(out) || (*list ? setenv("LD_PRELOAD", list, 1) : unsetenv("LD_PRELOAD"));
    free(list);
    return error ? -1 : 0;
}

/* --- does it suit? --- */

struct mpi_library {
    char name[64];      /* "libmpich.so.12"; "": there is none */
    const char *family; /* as ar_soname_is_mpi has it; of a development version by what it needs */
};

/* The first MPI library in the linker's lines. */
static struct mpi_library
find_mpi(const char *libraries)
{
    struct mpi_library library;
    for (const char *line = libraries; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (*line != '\t')
            continue;
        const size_t length = strcspn(line + 1, " \n");
        const char *const slash = memrchr(line + 1, '/', length);
        const char *const name = slash ? slash + 1 : line + 1;
        snprintf(library.name, sizeof library.name, "%.*s", (int)(line + 1 + length - name), name);
        if (ar_soname_is_unreleased(library.name))
            library.family = strstr(libraries, "libopen-pal.so") ? "openmpi" : "mpich";
        else if (!ar_soname_is_mpi(library.name, &library.family))
            continue;
        return library;
    }
    return (struct mpi_library){"", NULL};
}

const char *
ar_preload_family(const struct ar_executable *executable)
{
    char *const libraries =
        executable->kind == AR_EXECUTABLE_DYNAMIC ? ar_executable_libraries(executable) : NULL;
    const char *const family = libraries ? find_mpi(libraries).family : NULL;
    free(libraries);
    return family;
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

/* Would AddressSanitizer, if the program is linked to it, be loaded before the library?  Else it
 * would end the program, and what to do is written.  The user may have told it not to check. */
static bool
has_asan_first(const char *libraries, const char *library, const char *path, FILE *to)
{
    const char *const ours = strstr(libraries, library), *const options = getenv("ASAN_OPTIONS");
    if (options && strstr(options, "verify_asan_link_order=0"))
        return true;
    for (const char *line = ours; line && (line = strstr(line, "\n\t"));) {
        const char *const name = line += 2;
        const size_t length = strcspn(name, " \n");
        if (!is_asan(name, length))
            continue;
        const char *const file = strncmp(name + length, " => /", 5) == 0 ? name + length + 4 : name;
        fprintf(to,
                "%s is linked to %.*s, which must be loaded before all other libraries: let "
                "LD_PRELOAD begin with it, as in mpiexec -n 4 env LD_PRELOAD=%.*s allreduce run "
                "%s\n",
                path, (int)length, name, (int)strcspn(file, " \n"), file, path);
        return false;
    }
    return true;
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
                "%s is not an ELF file: whether there is an engine for its MPI is not checked\n",
                script->path);
    return takes ? 0 : -1;
}

/* By what it loads: does it have the library, and is there an engine for its MPI? */
static int
check_libraries(const struct ar_executable *executable, const char *libraries, const char *library,
                FILE *to)
{
    const struct mpi_library its = find_mpi(libraries);
    char path[AR_ENGINE_PATH], engines[128], foreign[512];
    if (!takes_library(libraries, library, executable->path, to) ||
        !has_asan_first(libraries, library, executable->path, to))
        return -1;
    if (its.family && ar_launcher_splits(its.family, 0, foreign, sizeof foreign)) {
        fprintf(to, "%s runs with %s: %s\n", executable->path, its.name, foreign);
        return -1;
    }
    if (*its.name == '\0')
        fprintf(to,
                executable->has_pmpi ? "%s seems to contain a static MPI library, which no preload "
                                       "reaches: link it to the shared one\n"
                                     : "%s is not linked to an MPI library: whether there is an "
                                       "engine for one that it loads later is not checked\n",
                executable->path);
    if (*its.name == '\0' || (its.family && ar_engine_find(path, library, its.family)))
        return 0;
    ar_engines_list(engines, sizeof engines, library);
    fprintf(to,
            "%s runs with %s (%s), for which %s has no engine; it has engines for: %s; configure "
            "with that MPI's compiler (--with-mpi), or name another library with --library\n",
            executable->path, its.name, its.family ? ar_family_title(its.family) : "an unknown ABI",
            library, engines);
    return -1;
}

static int
check_dynamic(const struct ar_executable *executable, const char *library, FILE *to)
{
    char *const libraries = ar_executable_libraries(executable);
    int refused = 0;
    if (libraries)
        refused = check_libraries(executable, libraries, library, to);
    else
        fprintf(to, "%s cannot be asked what %s loads: the program is not checked\n",
                executable->linker, executable->path);
    free(libraries);
    return refused;
}

int
ar_preload_check(const struct ar_executable *executable, const char *library, FILE *to)
{
    if (library[strcspn(library, ": ")]) {
        fprintf(to, "%s: LD_PRELOAD cannot hold a path with a blank or a colon\n", library);
        return -1;
    }
    if (executable->kind == AR_EXECUTABLE_STATIC) {
        fprintf(to, "%s is statically linked, so no preload reaches it: link it dynamically\n",
                executable->path);
        return -1;
    }
    if (executable->privileged) {
        fprintf(to,
                "%s is set-user-ID or has similar privileges, so the dynamic linker ignores "
                "LD_PRELOAD: run a copy without them\n",
                executable->path);
        return -1;
    }
    /* Any library can be preloaded, and all but ours for nothing.  Ours looks for the engine by
     * that name.  What is no library is for the dynamic linker to complain about. */
    if (ar_elf_lacks(library, "ar_mpi_engine")) {
        fprintf(to, "%s is not " AR_PRELOAD_NAME ": %s would run without it\n", library,
                executable->path);
        return -1;
    }
    return executable->kind == AR_EXECUTABLE_SCRIPT ? check_script(executable, library, to)
                                                    : check_dynamic(executable, library, to);
}
