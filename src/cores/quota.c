#include <config.h>

#include "cores/quota.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Where a hierarchy of cgroups is mounted. */
struct mount {
    bool is_v2;
    char *root;  /* the cgroup that is seen there */
    char *point; /* the folder */
};

/* Opens a file, whose name begins with root and folder. */
static FILE *
open_below(const char *root, const char *folder, const char *name)
{
    char *path;
    if (asprintf(&path, "%s%s/%s", root, folder, name) < 0)
        return NULL;
    FILE *const file = fopen(path, "re");
    free(path);
    return file;
}

/* Is the word one of the list, between commas? */
static bool
has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (; list; list = strchr(list, ','), list += list != NULL)
        if (strncmp(list, word, length) == 0 && (list[length] == ',' || list[length] == '\0'))
            return true;
    return false;
}

/* Reads a line of mountinfo; false: it is no hierarchy that limits CPU time.  What *mount has is
 * the caller's to free. */
static bool
parse_mount(struct mount *mount, const char *line)
{
    char type[16], options[256];
    const char *const rest = strstr(line, " - ");
    *mount = (struct mount){0};
    if (!rest || sscanf(line, "%*s %*s %*s %ms %ms", &mount->root, &mount->point) != 2 ||
        sscanf(rest, " - %15s %*s %255s", type, options) != 2)
        return false;
    mount->is_v2 = strcmp(type, "cgroup2") == 0;
    return mount->is_v2 || (strcmp(type, "cgroup") == 0 && has_word(options, "cpu"));
}

/* The path of this process's cgroup in that hierarchy, from a file whose lines are like
 * "4:cpu,cpuacct:/path", and "0::/path" of the second version; malloced; NULL: it has none. */
static char *
find_path(const char *root, bool is_v2)
{
    FILE *const file = open_below(root, "/proc/self", "cgroup");
    char *line = NULL, *path = NULL;
    size_t room = 0;
    while (file && !path && getline(&line, &room, file) > 0) {
        char *const list = strchr(line, ':');
        char *const at = list ? strchr(list + 1, ':') : NULL;
        if (!at)
            continue;
        *at = '\0';
        if (is_v2 ? list + 1 == at : has_word(list + 1, "cpu"))
            path = strndup(at + 1, strcspn(at + 1, "\n"));
    }
    free(line);
    if (file)
        fclose(file);
    return path;
}

/* Reads a file of one or two numbers, the first of which may be a word instead.  Returns how many
 * numbers were read, and sets *which to a number that identifies the file. */
static int
read_numbers(long long number[2], uint64_t *which, const char *root, const char *folder,
             const char *name)
{
    struct stat about;
    FILE *const file = open_below(root, folder, name);
    const int n = file ? fscanf(file, "%lld %lld", &number[0], &number[1]) : 0;
    if (file && fstat(fileno(file), &about) == 0)
        *which = (uint64_t)about.st_ino ^ (uint64_t)about.st_dev << 48;
    if (file)
        fclose(file);
    return n;
}

/* Adds the limit of this cgroup, in which the others are, and drops those that say nothing more. */
static void
look_at(struct ar_cpu_quotas *found, const char *root, const char *folder, bool is_v2)
{
    long long number[2] = {0}, period[2] = {0};
    struct ar_cpu_quota quota = {0};
    if (is_v2) {
        if (read_numbers(number, &quota.cgroup, root, folder, "cpu.max") != 2)
            return; /* "max" is no number */
        period[0] = number[1];
    } else {
        uint64_t other;
        if (read_numbers(number, &quota.cgroup, root, folder, "cpu.cfs_quota_us") < 1 ||
            read_numbers(period, &other, root, folder, "cpu.cfs_period_us") < 1)
            return;
    }
    if (number[0] <= 0 || period[0] <= 0 || number[0] / period[0] >= INT_MAX)
        return;
    quota.cpus = (int)(number[0] / period[0] + (number[0] % period[0] > 0));
    while (found->n > 0 && found->of[found->n - 1].cpus >= quota.cpus)
        found->of[--found->n] = (struct ar_cpu_quota){0};
    found->n += found->n < AR_QUOTAS;
    found->of[found->n - 1] = quota;
}

/* Looks at the process's cgroup in this mount, and at those above it.  A path that is not below
 * what is mounted leads elsewhere, and then only the mount's own root is looked at: a container may
 * see its own cgroup alone, mounted as the root. */
static void
climb(struct ar_cpu_quotas *found, const char *root, const struct mount *mount, const char *path)
{
    char *folder;
    const size_t above = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
    const bool is_inside = strncmp(path, mount->root, above) == 0 &&
                           (path[above] == '/' || path[above] == '\0') && !strstr(path, "/..");
    const int length = asprintf(&folder, "%s%s", mount->point, is_inside ? path + above : "");
    if (length < 0)
        return;
    for (char *end = folder + length; end; end = strrchr(folder + strlen(mount->point), '/')) {
        *end = '\0';
        look_at(found, root, folder, mount->is_v2);
    }
    free(folder);
}

struct ar_cpu_quotas
ar_cpu_quotas_find(const char *root)
{
    struct ar_cpu_quotas found = {.n = 0};
    struct mount mount;
    char *line = NULL;
    size_t room = 0;
    FILE *const file = open_below(root, "/proc/self", "mountinfo");
    while (file && getline(&line, &room, file) > 0) {
        char *const path = parse_mount(&mount, line) ? find_path(root, mount.is_v2) : NULL;
        if (path)
            climb(&found, root, &mount, path);
        free(path);
        free(mount.root);
        free(mount.point);
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}
