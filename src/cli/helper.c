/* Subcommands that run in MPI: they are handed to the helper for the MPI library of the launcher.
 * The helpers are programs, one for each MPI library: allreduce-mpich, allreduce-openmpi. They are
 * all of allreduce; that itself needs none. */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/preload.h"
#include "config/data.h"
#include "config/rank.h"
#include "installed.h"
#include "stub/engines.h"

/* The helper for a family (as in stub/engines.h): in the build tree or where it is installed.
 * False: there is none. */
static bool
find_helper(char path[PATH_MAX], const char *family)
{
    char own[PATH_MAX], below[64];
    ar_own_folder(own);
    snprintf(below, sizeof below, "/engines/%s", family);
    const struct {
        const char *folder, *below;
    } places[] = {
        {own, ""},    /* as it was built */
        {own, below}, /* as it was built, for another MPI library than the first */
        {ar_folder_is(own, "bin") ? own : "", "/../libexec/" PACKAGE_TARNAME}, /* maybe moved */
        {AR_PKGLIBEXECDIR, ""},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (*places[i].folder &&
            snprintf(path, PATH_MAX, "%s%s/allreduce-%s", places[i].folder, places[i].below,
                     family) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
    return false;
}

/* Why the dynamic linker cannot load the file, as "libmpich.so.12: cannot open shared object file:
 * ..."; "" if it can, or cannot be asked. */
static void
find_obstacle(char *why, size_t room, const char *path)
{
    static const char mark[] = "error while loading shared libraries: ";
    struct ar_executable file;
    char *const said = !ar_executable_examine(&file, path) && file.kind == AR_EXECUTABLE_DYNAMIC
                           ? ar_executable_libraries(&file)
                           : NULL;
    const char *const reason = said ? strstr(said, mark) : NULL;
    *why = '\0';
    if (reason)
        snprintf(why, room, "%.*s", (int)strcspn(reason + strlen(mark), "\n"),
                 reason + strlen(mark));
    free(said);
}

/* The first of these families' helpers that the dynamic linker can load, or else the first that
 * there is, and why it cannot.  False: there is none. */
static bool
find_first(char path[PATH_MAX], char *why, size_t room, const char *const *families)
{
    char found[PATH_MAX], obstacle[512];
    *path = '\0';
    for (; *families; families++) {
        if (!find_helper(found, *families))
            continue;
        find_obstacle(obstacle, sizeof obstacle, found);
        if (*path && *obstacle)
            continue;
        memcpy(path, found, sizeof found);
        snprintf(why, room, "%s", obstacle);
        if (!*obstacle)
            break;
    }
    return *path;
}

static int
become(const char *path, int argc, char **argv)
{
    char name[] = "allreduce";
    char **const words = calloc((size_t)argc + 2, sizeof *words);
    if (!words) {
        fprintf(stderr, "%s: out of memory\n", argv[0]);
        return AR_EXIT_FAILED;
    }
    words[0] = name;
    words[1] = strchr(argv[0], ' ') + 1;
    memcpy(words + 2, argv + 1, (size_t)argc * sizeof *words);
    execv(path, words);
    fprintf(stderr, "%s: %s: %s\n", argv[0], path, strerror(errno));
    free(words);
    return AR_EXIT_FAILED;
}

/* Whose helpers may do it. */
enum helpers { HELPERS_OF_LAUNCHER, HELPERS_OF_ANY };

/* Becomes the helper for the launcher's MPI library; or else that for MPI 5's ABI, which this
 * library may have, too; or else, where any may do it or no launcher tells whose it is, one that
 * can be loaded.  supposed: the family where no launcher tells.  argv[0] is "allreduce SUBCOMMAND".
 */
static int
hand_over(int argc, char **argv, enum helpers helpers, const char *supposed)
{
    struct ar_launcher launcher;
    const bool is_told = ar_launcher_find(&launcher, NULL) && launcher.family;
    const char *const family = is_told ? launcher.family : supposed;
    const bool is_any = helpers == HELPERS_OF_ANY || !is_told;
    const char *const families[] = {
        family, "abi", is_any ? AR_MPI_FAMILY : NULL, "mpich", "openmpi", "other", NULL};
    char path[PATH_MAX], why[512], list[128];
    if (ar_launcher_is_a_rank_s()) {
        fprintf(stderr,
                "%s: a rank of a job has started it, and it cannot share that rank's connection "
                "to the launcher. Start it with the launcher, or without PMI_RANK and PMI_FD in "
                "its environment\n",
                argv[0]);
        return AR_EXIT_FAILED;
    }
    if (find_first(path, why, sizeof why, families)) {
        if (!*why)
            return become(path, argc, argv);
        if (ar_rank_in_job() == 0)
            fprintf(stderr, "%s: %s: %s; load the module of that MPI, or set LD_LIBRARY_PATH\n",
                    argv[0], path, why);
    } else if (ar_rank_in_job() == 0) {
        char *const library = ar_preload_find();
        ar_engines_list(list, sizeof list, library ? library : "");
        fprintf(stderr,
                "%s: it runs under MPI, but this launcher starts programs of %s, for which there "
                "is no allreduce-%s; allreduce was built for: %s\n",
                argv[0], ar_family_title(family), family, list);
        free(library);
    }
    return AR_EXIT_FAILED;
}

/* Takes the library out of LD_PRELOAD, where it would run the native calls, too: the helper itself
 * has what it measures. */
static int
hand_over_measuring(int argc, char **argv)
{
    ar_cli_mute_others();
    if (ar_preload_set(NULL)) {
        fprintf(stderr, "%s: out of memory\n", argv[0]);
        return AR_EXIT_FAILED;
    }
    ar_cli_part();
    return hand_over(argc, argv, HELPERS_OF_LAUNCHER, AR_MPI_FAMILY);
}

int
ar_cli_bench(int argc, char **argv)
{
    return hand_over_measuring(argc, argv);
}

int
ar_cli_tune(int argc, char **argv)
{
    return hand_over_measuring(argc, argv);
}

int
ar_cli_model(int argc, char **argv)
{
    return hand_over_measuring(argc, argv);
}

/* The helper says, if need be, that the launcher is not its MPI library's.  The first argument that
 * is no option is a program, whose MPI library selects the helper where no launcher does. */
int
ar_cli_doctor(int argc, char **argv)
{
    struct ar_executable program;
    const char *family = NULL;
    int i = 1;
    while (i < argc && argv[i][0] == '-')
        i++;
    if (i < argc && !ar_executable_examine(&program, argv[i]))
        family = ar_preload_family(&program);
    return hand_over(argc, argv, HELPERS_OF_ANY, family ? family : AR_MPI_FAMILY);
}
