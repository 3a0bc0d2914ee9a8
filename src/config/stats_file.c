#include "config/stats_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schedule/error.h"

static bool
ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

bool
ar_stats_file_is_json(const char *name)
{
    return ends_with(name, ".json") || ends_with(name, ".jsonl");
}

void
ar_stats_file_path(char *path, size_t room, const char *name)
{
    char folder[PATH_MAX];
    struct ar_text t;
    ar_text_init(&t, path, room);
    if (*name != '/' && getcwd(folder, sizeof folder))
        ar_text_add(&t, "%s/", folder);
    for (; *name; name++) {
        if (*name != '%')
            ar_text_add(&t, "%c", *name);
        else if (*++name == 'p')
            ar_text_add(&t, "%ld", (long)getpid());
        else
            ar_text_add(&t, "%%");
    }
}

/* The first character that no name of ours has, or NULL. */
static const char *
find_stranger(const char *name)
{
    for (; *name; name++) {
        if (*name == '\n' || (*name == '%' && name[1] != 'p' && name[1] != '%'))
            return name;
        name += *name == '%';
    }
    return NULL;
}

static const char *
why_not_writable(const char *path)
{
    char folder[PATH_MAX + 1];
    struct stat st;
    if (stat(path, &st) == 0)
        return S_ISDIR(st.st_mode) ? "it is a folder" : access(path, W_OK) ? strerror(errno) : NULL;
    snprintf(folder, sizeof folder, "%s", path);
    char *const slash = strrchr(folder, '/');
    if (!slash) /* a relative name, and the folder it is relative to is gone */
        return strerror(ENOENT);
    slash[1] = '\0';
    return access(folder, W_OK | X_OK) ? strerror(errno) : NULL;
}

int
ar_stats_file_check(const char *name, struct ar_text *why)
{
    char path[PATH_MAX];
    const char *stranger = find_stranger(name), *problem;
    if (stranger) {
        ar_text_add(why, "column %d: ", (int)(stranger - name) + 1);
        ar_text_quote(why, (struct ar_word){stranger, *stranger == '%' && stranger[1] ? 2 : 1});
        ar_text_add(why, " in a file name; allowed: %%p for the process's id, %%%% for one %%");
        return AR_ERR_SYNTAX;
    }
    ar_stats_file_path(path, sizeof path, name);
    problem = why_not_writable(path);
    if (!problem)
        return AR_OK;
    ar_text_add(why, "column 1: cannot write ");
    ar_text_quote(why, (struct ar_word){path, strlen(path)});
    ar_text_add(why, ": %s; allowed: a file in a folder that exists", problem);
    return AR_ERR_SYNTAX;
}
