/* The files of single ranks that belong to one run, and those of other runs beside them. */
#include <config.h> /* _GNU_SOURCE */

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/json_text.h"
#include "cli/report.h"
#include "config/input.h"

/* What the first line of a file tells of its run. */
struct head {
    int world; /* ranks; 0: there is no world, or it is not told */
    char program[256], command[1024], when[64];
    double elapsed_s;
};

/* False where the line cannot be read, which is told when the whole file is. */
static bool
read_head(struct head *head, const char *path)
{
    FILE *const file = ar_input_open(path);
    char *const text = file ? malloc(AR_INPUT_MAX) : NULL;
    const char *why;
    json_error_t error;
    json_t *const line =
        text && ar_input_line(text, file, &why) ? json_loads(text, 0, &error) : NULL;
    free(text);
    if (file)
        fclose(file);
    if (!line)
        return false;
    head->world = (int)json_integer_value(json_object_get(line, "world"));
    head->elapsed_s = json_number_value(json_object_get(line, "elapsed_ns")) * 1e-9;
    ar_json_text(head->program, sizeof head->program, line, "program");
    ar_json_text(head->command, sizeof head->command, line, "command");
    ar_json_text(head->when, sizeof head->when, line, "when");
    json_decref(line);
    return true;
}

/* Did both run for a moment?  False where it is not certain: the ends are known to a second. */
static bool
were_together(const struct head *a, const struct head *b)
{
    const struct head *const heads[] = {a, b};
    double begin[2], end[2];
    for (int i = 0; i < 2; i++) {
        struct tm tm = {.tm_isdst = -1};
        if (!strptime(heads[i]->when, "%Y-%m-%d %H:%M:%S", &tm))
            return false;
        end[i] = (double)mktime(&tm);
        begin[i] = end[i] + 1 - heads[i]->elapsed_s;
    }
    return begin[0] <= end[1] && begin[1] <= end[0];
}

/* One run may have several programs or arguments, and then all of them run at the same time. */
static bool
are_of_one_run(const struct head *a, const struct head *b)
{
    if (a->world && b->world && a->world != b->world)
        return false;
    return (strcmp(a->program, b->program) == 0 && strcmp(a->command, b->command) == 0) ||
           were_together(a, b);
}

static void
print_head(const struct head *head)
{
    fprintf(stderr, "%s", *head->command ? head->command : head->program);
    if (head->world)
        fprintf(stderr, " on %d ranks", head->world);
    fprintf(stderr, " (%s)", head->when);
}

int
ar_rank_files_check(const glob_t *found, const char *command)
{
    struct head first, other;
    int nothers = 0;
    if (found->gl_pathc == 0 || !read_head(&first, found->gl_pathv[0]))
        return AR_EXIT_DONE;
    for (size_t i = 1; i < found->gl_pathc; i++) {
        if (!read_head(&other, found->gl_pathv[i]) || are_of_one_run(&first, &other))
            continue;
        fprintf(stderr, "allreduce %s: %s is of another run than %s: ", command, found->gl_pathv[i],
                found->gl_pathv[0]);
        print_head(&other);
        fprintf(stderr, ", and not ");
        print_head(&first);
        fputc('\n', stderr);
        nothers++;
    }
    if (nothers == 0)
        return AR_EXIT_DONE;
    fprintf(stderr, "allreduce %s: remove the files of the older run, or name one file\n", command);
    return AR_EXIT_FAILED;
}

void
ar_rank_files_tell_newer(const char *path, const char *command)
{
    struct stat of_all, of_rank;
    glob_t found;
    if (stat(path, &of_all) || ar_rank_files_find(&found, path))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (stat(found.gl_pathv[i], &of_rank) == 0 &&
            (of_rank.st_mtim.tv_sec > of_all.st_mtim.tv_sec ||
             (of_rank.st_mtim.tv_sec == of_all.st_mtim.tv_sec &&
              of_rank.st_mtim.tv_nsec > of_all.st_mtim.tv_nsec))) {
            fprintf(stderr,
                    "allreduce %s: %s is newer than %s, which is shown: to see what single ranks "
                    "wrote later, name such a file, or remove %s\n",
                    command, found.gl_pathv[i], path, path);
            break;
        }
    globfree(&found);
}
