/* allreduce report of many jobs: in which of them other algorithms could save most. */
#include <config.h> /* _GNU_SOURCE */

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/report.h"
#include "config/files.h"
#include "report/columns.h"
#include "select/number.h"

/* Times in ns, of all ranks together. */
struct job {
    char *path; /* owned */
    char program[256];
    int ranks;
    double run_ns; /* from the first allreduce to the end */
    double total_ns;
    double late_ns;
    double won_ns; /* what could be won */
};

struct jobs {
    const struct ar_machine *machine; /* NULL: none */
    struct job *jobs;                 /* owned */
    size_t n;
    size_t unread; /* files and folders */
};

/* --- a job --- */

/* Time that an algorithm took, in calls for which rules choose one. */
static double
time_of_algorithms(const struct ar_facts *facts)
{
    double ns = 0;
    for (size_t i = 0; i < facts->n; i++) {
        const struct ar_fact *const f = &facts->facts[i];
        if (f->cause != AR_CAUSE_UNTIMED && !ar_row_why_fixed(f->row))
            ns += (double)f->row->counts.ns - f->late_ns;
    }
    return ns;
}

/* False without memory. */
static bool
add_job(struct jobs *all, const struct ar_facts *facts)
{
    const struct ar_read_run *const run = facts->run;
    struct job *const jobs = realloc(all->jobs, (all->n + 1) * sizeof *jobs);
    if (!jobs)
        return false;
    all->jobs = jobs;
    jobs[all->n] = (struct job){.path = strdup(run->path),
                                .ranks = run->ranks,
                                .run_ns = (double)run->elapsed_ns * run->ranks,
                                .total_ns = facts->total_ns,
                                .late_ns = facts->late_ns,
                                .won_ns = all->machine ? ar_report_gain(facts, all->machine)
                                                       : time_of_algorithms(facts)};
    snprintf(jobs[all->n].program, sizeof jobs->program, "%s", run->program);
    return jobs[all->n++].path;
}

/* A file that cannot be read is told and counted.  False without memory. */
static bool
read_job(struct jobs *all, const char *path)
{
    struct ar_read_run run;
    struct ar_facts facts;
    if (ar_run_read(&run, "report", path) != AR_EXIT_DONE) {
        all->unread++;
        return true;
    }
    const bool is_done = ar_facts_make(&facts, &run, 0) && add_job(all, &facts);
    ar_facts_fini(&facts);
    ar_run_fini(&run);
    return is_done;
}

/* --- folders --- */

/* Cuts ".rankN" off; false where there is none. */
static bool
cut_rank(char *name)
{
    static const char mark[] = ".rank";
    char *const end = strrchr(name, '.');
    const bool is_of_rank = end && strncmp(end, mark, strlen(mark)) == 0;
    if (is_of_rank)
        *end = '\0';
    return is_of_rank;
}

/* Is it named as JSON files of statistics are, or as those of single ranks? */
static int
is_named_so(const struct dirent *entry)
{
    char name[sizeof entry->d_name];
    snprintf(name, sizeof name, "%s", entry->d_name);
    cut_rank(name);
    return *name != '.' && ar_stats_file_is_json(name);
}

/* Files of single ranks follow each other, and are one job where there is no file of all ranks.
 * False without memory. */
static bool
read_folder(struct jobs *all, const char *folder)
{
    struct dirent **entries;
    char *path = NULL, *last = NULL;
    const int n = scandir(folder, &entries, is_named_so, versionsort);
    bool is_done = true;
    if (n <= 0) {
        fprintf(stderr, "allreduce report: %s: %s\n", folder,
                n < 0 ? strerror(errno) : "no file of statistics, FILE.jsonl or FILE.json");
        all->unread++;
    }
    for (int i = 0; i < n; i++) {
        const bool is_of_rank = cut_rank(entries[i]->d_name);
        is_done = is_done && asprintf(&path, "%s/%s", folder, entries[i]->d_name) >= 0;
        free(entries[i]);
        if (!is_done)
            continue;
        if (!is_of_rank || (access(path, F_OK) && (!last || strcmp(last, path) != 0)))
            is_done = read_job(all, path);
        free(last);
        last = path;
    }
    free(last);
    if (n >= 0)
        free(entries);
    return is_done;
}

/* --- what is printed --- */

/* What is not known comes last. */
static int
most_first(const void *a, const void *b)
{
    const double x = ((const struct job *)a)->won_ns, y = ((const struct job *)b)->won_ns;
    return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x < y) - (x > y);
}

/* A part of the run, to four digits behind the point; NAN where there is no run. */
static double
part_of(double ns, const struct job *job)
{
    return round(1e4 * ns / job->run_ns) * 1e-4;
}

static void
state_job(struct ar_columns *c, const void *jobs, size_t i)
{
    const struct job *const job = &((const struct job *)jobs)[i];
    ar_column_real(c, "won_s", AR_NUMBER, "could be won s", job->won_ns * 1e-9);
    ar_column_real(c, "won", AR_NUMBER, "of the run", part_of(job->won_ns, job));
    ar_column_real(c, "share", AR_NUMBER, "allreduces", part_of(job->total_ns, job));
    ar_column_real(c, "late", AR_NUMBER, "waiting", part_of(job->late_ns, job));
    ar_column_real(c, "run_s", AR_NUMBER, "run s", job->run_ns * 1e-9 / job->ranks);
    ar_column_count(c, "ranks", AR_NUMBER, "ranks", (uint64_t)job->ranks);
    ar_column_text(c, "program", "program", job->program);
    ar_column_text(c, "file", "file", job->path);
}

static void
print_jobs(const struct jobs *all, enum ar_columns_format format, size_t n)
{
    if (format == AR_COLUMNS_JSON)
        printf("{\"format\": 1, \"unread\": %zu, \"jobs\": ", all->unread);
    ar_columns_write((struct ar_columns){.to = stdout,
                                         .format = format,
                                         .row = state_job,
                                         .table = all->jobs,
                                         .n = n,
                                         .view = "won_s won share late run_s ranks program file",
                                         .empty = "-"});
    if (format == AR_COLUMNS_JSON)
        printf("}\n");
    if (format != AR_COLUMNS_TEXT)
        return;
    if (n < all->n)
        printf("%zu more job%s\n", all->n - n, ar_plural(all->n - n));
    printf("\ncould be won: time of all ranks together, %s; of the run, allreduces, waiting: parts "
           "of the run\n"
           "To compare runs of A with runs of B instead, write -- between them.\n",
           all->machine ? "in which allreduces took longer than auto would by the model of the "
                          "machine"
                        : "in allreduces for which rules choose, without set-up and without "
                          "waiting for late ranks: other algorithms save a part of it at most");
}

int
ar_report_jobs(const char *const *paths, size_t n, const struct ar_machine *machine,
               enum ar_columns_format format, size_t top)
{
    struct jobs all = {.machine = machine};
    bool is_done = true;
    for (size_t i = 0; i < n && is_done; i++)
        is_done =
            ar_report_is_folder(paths[i]) ? read_folder(&all, paths[i]) : read_job(&all, paths[i]);
    if (!is_done)
        fprintf(stderr, "allreduce report: out of memory\n");
    if (all.unread > 0)
        fprintf(stderr, "allreduce report: %zu could not be read, left out\n", all.unread);
    if (is_done && all.n > 0) {
        qsort(all.jobs, all.n, sizeof *all.jobs, most_first);
        print_jobs(&all, format, top > 0 && top < all.n ? top : all.n);
    }
    for (size_t i = 0; i < all.n; i++)
        free(all.jobs[i].path);
    free(all.jobs);
    return is_done && all.unread == 0 ? AR_EXIT_DONE : AR_EXIT_FAILED;
}
