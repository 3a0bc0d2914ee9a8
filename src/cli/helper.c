/* Subcommands that run in MPI: they are handed to the helper for the MPI library of the launcher.
 */
#include <config.h>

#include "cli/helper.h"

#include <errno.h>
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

bool
ar_helper_find(char path[PATH_MAX], const char *family)
{
    char own[PATH_MAX], below[64];
    ar_own_path(own);
    if (*own)
        *strrchr(own, '/') = '\0';
    snprintf(below, sizeof below, "/engines/%s", family);
    const struct {
        const char *folder, *below;
    } places[] = {
        {own, ""},    /* as it was built */
        {own, below}, /* as it was built, for another MPI library than the first */
        {AR_PKGLIBEXECDIR, ""},
        {own, "/../libexec/" PACKAGE_TARNAME}, /* moved since it was installed */
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (*places[i].folder &&
            snprintf(path, PATH_MAX, "%s%s/allreduce-%s", places[i].folder, places[i].below,
                     family) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
    return false;
}

/* Becomes the helper for the launcher's MPI library; or else that for MPI 5's ABI, which this
 * library may have, too; or else for the family otherwise, if that is not NULL.  argv[0] is
 * "allreduce SUBCOMMAND". */
static int
hand_over(int argc, char **argv, const char *otherwise)
{
    struct ar_launcher launcher;
    const bool is_told = ar_launcher_find(&launcher, NULL) && launcher.family;
    const char *const family = is_told ? launcher.family : AR_MPI_FAMILY;
    char path[PATH_MAX], name[] = "allreduce", list[128];
    char **const words = calloc((size_t)argc + 2, sizeof *words);
    if (words && (ar_helper_find(path, family) || ar_helper_find(path, "abi") ||
                  (otherwise && ar_helper_find(path, otherwise)))) {
        words[0] = name;
        words[1] = strchr(argv[0], ' ') + 1;
        memcpy(words + 2, argv + 1, (size_t)argc * sizeof *words);
        execv(path, words);
        fprintf(stderr, "%s: %s: %s\n", argv[0], path, strerror(errno));
    } else if (!words) {
        fprintf(stderr, "%s: out of memory\n", argv[0]);
    } else if (ar_rank_in_job() == 0) {
        char *const library = ar_preload_find();
        ar_engines_list(list, sizeof list, library ? library : "");
        fprintf(
            stderr,
            "%s: it runs in MPI, and this launcher starts programs of %s, for which there is no "
            "allreduce-%s; it was built for: %s\n",
            argv[0], ar_family_title(family), family, list);
        free(library);
    }
    free(words);
    return AR_EXIT_FAILED;
}

int
ar_cli_bench(int argc, char **argv)
{
    return hand_over(argc, argv, NULL);
}

int
ar_cli_tune(int argc, char **argv)
{
    return hand_over(argc, argv, NULL);
}

int
ar_cli_model(int argc, char **argv)
{
    return hand_over(argc, argv, NULL);
}

/* Which says that the launcher is not that MPI's. */
int
ar_cli_doctor(int argc, char **argv)
{
    return hand_over(argc, argv, AR_MPI_FAMILY);
}
