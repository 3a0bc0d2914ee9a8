#include <config.h>

#include "stub/engines.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "installed.h"

static const struct {
    const char *name, *title;
} families[] = {
    {"mpich", "MPICH's ABI"},
    {"openmpi", "Open MPI's ABI"},
    {"abi", "the ABI of MPI 5"},
    {"other", "another ABI"},
};

enum { NFAMILIES = sizeof families / sizeof families[0] };

bool
ar_soname_is_mpi(const char *soname, const char **family)
{
    static const struct {
        const char *pattern, *family;
    } sonames[] = {
        {"libmpich.so.12*", "mpich"},     /* MPICH as Debian names it */
        {"libmpi.so.12*", "mpich"},       /* MPICH, Intel MPI, MVAPICH, ParaStation */
        {"libmpi_[!_]*.so.12*", "mpich"}, /* Cray: libmpi_gnu_91.so.12 */
        {"libmpi.so.40*", "openmpi"},     /* since 3.0 */
        {"lib*mpi_abi.so*", "abi"},       /* MPICH has its PMPI_ symbols in libpmpi_abi */
        {"libmpi.so*", NULL},
        {"libmpich.so*", NULL},
    };
    for (size_t i = 0; i < sizeof sonames / sizeof sonames[0]; i++)
        if (fnmatch(sonames[i].pattern, soname, 0) == 0) {
            *family = sonames[i].family;
            return true;
        }
    *family = NULL;
    return false;
}

bool
ar_soname_is_unreleased(const char *soname)
{
    return fnmatch("libmpi.so.0*", soname, 0) == 0;
}

const char *
ar_family_title(const char *family)
{
    int i = 0;
    while (i < NFAMILIES - 1 && strcmp(families[i].name, family) != 0)
        i++;
    return families[i].title;
}

bool
ar_engine_find(char path[AR_ENGINE_PATH], const char *library, const char *family)
{
    char *const real = realpath(library, NULL);
    if (real) {
        const int folder = (int)(strrchr(real, '/') - real);
        snprintf(path, AR_ENGINE_PATH, "%.*s/" AR_ENGINE_FOLDER "/engine-%s.so", folder, real,
                 family);
        const bool is_below = access(path, F_OK) == 0;
        if (!is_below)
            snprintf(path, AR_ENGINE_PATH, "%.*s/engine-%s.so", folder, real, family);
        free(real);
        if (is_below || access(path, F_OK) == 0)
            return true;
    }
    snprintf(path, AR_ENGINE_PATH, AR_PKGLIBDIR "/engine-%s.so", family);
    return access(path, F_OK) == 0;
}

void
ar_engines_list(char *text, size_t room, const char *library)
{
    char path[AR_ENGINE_PATH];
    size_t length = 0;
    snprintf(text, room, "none");
    for (int i = 0; i < NFAMILIES && length < room; i++)
        if (ar_engine_find(path, library, families[i].name))
            length += (size_t)snprintf(text + length, room - length, "%s%s", length ? ", " : "",
                                       families[i].name);
}
