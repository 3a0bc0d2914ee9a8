#include <config.h>

#include "config/data.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installed.h"

static const struct {
    const char *folder, *ending, *what;
} kinds[] = {
    [AR_DATA_MACHINE] = {"machines", ".machine", "machines"},
    [AR_DATA_RULES] = {"rules", ".rules", "rules"},
};

enum { PLACES = 5 };

void
ar_own_path(char path[PATH_MAX])
{
    struct link_map *map = NULL; /* without a name: the program */
    Dl_info info;
    *path = '\0';
    if (dladdr1((void *)kinds, &info, (void **)&map, RTLD_DL_LINKMAP) && map && *map->l_name) {
        snprintf(path, PATH_MAX, "%s", map->l_name);
    } else {
        const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
        path[length > 0 ? length : 0] = '\0';
        const char *const started = (const char *)getauxval(AT_EXECFN);
        if (length <= 0 && (!started || !realpath(started, path))) /* no /proc */
            *path = '\0';
    }
}

void
ar_folder_above(char *path)
{
    char *const slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
}

void
ar_own_folder(char folder[PATH_MAX])
{
    ar_own_path(folder);
    ar_folder_above(folder);
}

bool
ar_folder_is(const char *folder, const char *name)
{
    const char *const slash = strrchr(folder, '/');
    return slash && strcmp(slash + 1, name) == 0;
}

/* The folder of a kind of file in one of the places; NULL without memory. */
static char *
folder_in(int place, enum ar_data kind)
{
    char *const own = malloc(PATH_MAX), *path;
    if (!own)
        return NULL;
    ar_own_folder(own);
    const struct {
        const char *folder, *below;
    } places[PLACES] = {
        {own, ""},    /* as the program was built */
        {own, "/.."}, /* and the library */
        {AR_DATADIR, "/allreduce"},
        {own, "/../share/allreduce"},    /* moved since it was installed */
        {own, "/../../share/allreduce"}, /* the same, for an engine, and a helper in libexec */
    };
    const int length =
        asprintf(&path, "%s%s/%s", places[place].folder, places[place].below, kinds[kind].folder);
    free(own);
    return length < 0 ? NULL : path;
}

/* A folder of that name is none. */
static bool
is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The file of this name in a folder, with the ending or without; NULL where there is none. */
static char *
find_in(const char *folder, const char *name, const char *ending)
{
    const char *const endings[] = {"", ending};
    for (int i = 0; i < 2; i++) {
        char *path;
        if (asprintf(&path, "%s/%s%s", folder, name, endings[i]) < 0)
            return NULL;
        if (is_file(path))
            return path;
        free(path);
    }
    return NULL;
}

/* Tells the names of the files in the first folder that is there. */
static void
tell_installed(enum ar_data kind, const char *name, struct ar_text *why)
{
    struct dirent **entries = NULL;
    int n = -1;
    for (int place = 0; place < PLACES && n < 0; place++) {
        char *const folder = folder_in(place, kind);
        n = folder ? scandir(folder, &entries, NULL, alphasort) : -1;
        free(folder);
    }
    ar_text_quote(why, ar_word_of(name));
    ar_text_add(why, " is neither a file nor one of the installed %s", kinds[kind].what);
    const char *separator = ": ";
    for (int i = 0; i < n; i++) {
        const char *const end = strstr(entries[i]->d_name, kinds[kind].ending);
        if (end) {
            ar_text_add(why, "%s%.*s", separator, (int)(end - entries[i]->d_name),
                        entries[i]->d_name);
            separator = ", ";
        }
        free(entries[i]);
    }
    free(entries);
}

char *
ar_data_find(enum ar_data kind, const char *name, struct ar_text *why)
{
    char *path = NULL;
    if (*name == '\0' || strchr(name, '/') || is_file(name))
        return strdup(name);
    for (int place = 0; place < PLACES && !path; place++) {
        char *const folder = folder_in(place, kind);
        path = folder ? find_in(folder, name, kinds[kind].ending) : NULL;
        free(folder);
    }
    if (!path)
        tell_installed(kind, name, why);
    return path;
}
