#include <config.h>

#include "cli/trials.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/preload.h"
#include "config/files.h"

const char ar_trials_unreached[] =
    "No rank wrote statistics: either the program calls no MPI_Allreduce, or the library did not\n"
    "reach it. allreduce run, in front of the program, says why. mpirun of Open MPI needs\n"
    "-x LD_PRELOAD -x ALLREDUCE_ALGO -x ALLREDUCE_STATS to reach other hosts. Rank 0 must see the\n"
    "folder of --logs.";

#define LOG        "log"
#define STATISTICS "jsonl"

static bool
is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool
make_folder(struct ar_trials *trials)
{
    const char *const temporary = getenv("TMPDIR");
    char *const kept = trials->kept ? ar_path_absolute(trials->kept) : NULL;
    bool is_made;
    if (trials->kept) {
        snprintf(trials->folder, sizeof trials->folder, "%s", kept ? kept : trials->kept);
        is_made =
            mkdir(trials->folder, 0777) == 0 || (errno == EEXIST && is_folder(trials->folder));
    } else {
        snprintf(trials->folder, sizeof trials->folder, "%s/allreduce-%s-XXXXXX",
                 temporary ? temporary : "/tmp", trials->name);
        is_made = mkdtemp(trials->folder) != NULL;
    }
    if (!is_made)
        fprintf(stderr, "allreduce %s: cannot make the folder %s: %s\n", trials->name,
                trials->folder, strerror(errno));
    free(kept);
    return is_made;
}

bool
ar_trials_begin(struct ar_trials *trials)
{
    trials->library = ar_preload_find();
    if (!trials->library)
        fprintf(stderr, "allreduce %s: " AR_PRELOAD_NAME " is not where it was installed\n",
                trials->name);
    if (!trials->library || !make_folder(trials))
        return false;
    ar_attempt_catch_signals();
    return true;
}

void
ar_trials_end(struct ar_trials *trials)
{
    DIR *const folder = trials->kept || !*trials->folder ? NULL : opendir(trials->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder) {
        closedir(folder);
        rmdir(trials->folder);
    }
    free(trials->library);
}

char *
ar_trials_path(const struct ar_trials *trials, char path[AR_TRIAL_PATH], const char *ending)
{
    snprintf(path, AR_TRIAL_PATH, "%s/trial-%d.%s", trials->folder, trials->n, ending);
    return path;
}

/* ALLREDUCE_STATS=path, in which % is special. */
static int
set_statistics(const char *path)
{
    char value[2 * AR_TRIAL_PATH];
    size_t n = 0;
    for (; *path; path++) {
        if (*path == '%')
            value[n++] = '%';
        value[n++] = *path;
    }
    value[n] = '\0';
    return setenv("ALLREDUCE_STATS", value, 1);
}

/* Those that earlier trials have left in a folder that is kept. */
static void
remove_statistics(const char *path)
{
    glob_t found;
    unlink(path);
    if (ar_rank_files_find(&found, path))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        unlink(found.gl_pathv[i]);
    globfree(&found);
}

struct ar_attempt_result
ar_trials_run(struct ar_trials *trials, char *const *command, bool is_preloaded, double limit_s)
{
    char log[AR_TRIAL_PATH], statistics[AR_TRIAL_PATH];
    trials->n++;
    ar_trials_path(trials, log, LOG);
    remove_statistics(ar_trials_path(trials, statistics, STATISTICS));
    unsetenv("ALLREDUCE_TRACE");
    unsetenv("ALLREDUCE_TUNE_DUMP");
    unsetenv("ALLREDUCE_VERBOSE");
    unsetenv("ALLREDUCE_STATS");
    struct ar_attempt_result result = {AR_ATTEMPT_NOT_STARTED, ENOMEM, 0};
    if (!ar_preload_set(is_preloaded ? trials->library : NULL) &&
        (!is_preloaded || !set_statistics(statistics)))
        result = ar_attempt_run(&(struct ar_attempt){command, trials->check, log, limit_s});
    trials->has_stopped |=
        result.end == AR_ATTEMPT_INTERRUPTED || result.end == AR_ATTEMPT_NOT_STARTED;
    return result;
}

bool
ar_trials_read(const struct ar_trials *trials, struct ar_read_run *run)
{
    char path[AR_TRIAL_PATH];
    glob_t found;
    const bool is_one = access(ar_trials_path(trials, path, STATISTICS), R_OK) == 0;
    const bool are_several = !is_one && ar_rank_files_find(&found, path) == 0;
    if (are_several)
        globfree(&found);
    return (is_one || are_several) && ar_run_read(run, trials->name, path) == 0;
}

void
ar_trials_last_line(const struct ar_trials *trials, char line[AR_TRIAL_LINE])
{
    char path[AR_TRIAL_PATH], *text = NULL;
    size_t room = 0;
    FILE *const file = fopen(ar_trials_path(trials, path, LOG), "r");
    *line = '\0';
    while (file && getline(&text, &room, file) >= 0)
        if (text[strspn(text, " \t\r\n")] != '\0')
            snprintf(line, AR_TRIAL_LINE, "%.*s", (int)strcspn(text, "\r\n"), text);
    ar_name_clean(line);
    free(text);
    if (file)
        fclose(file);
}
