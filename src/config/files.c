#include <config.h>

#include "config/files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/data.h"
#include "config/input.h"
#include "config/output.h"
#include "schedule/error.h"

#define PATH_TOLD 200 /* characters of a path */

/* --- files that are read --- */

/* Reads a regular file whole, since a pipe nobody writes to would hold up all ranks.  why gets
 * "path:", of a long path the end, to tell problems behind.  *text is the caller's to free. */
static int
read_path(char **text, const char *path, struct ar_text *why)
{
    const size_t length = strlen(path), cut = length > PATH_TOLD ? length - PATH_TOLD : 0;
    struct stat status;
    ar_text_add(why, cut ? "..." : "");
    ar_text_escape(why, (struct ar_word){path + cut, length - cut});
    ar_text_add(why, ":");
    FILE *const file = ar_input_open(path);
    int error = AR_ERR_SYNTAX;
    if (!file)
        ar_text_add(why, " %m");
    else if (fstat(fileno(file), &status) || !S_ISREG(status.st_mode))
        ar_text_add(why, " not a regular file");
    else
        error = ar_input_text(text, file, AR_INPUT_MAX, why);
    if (file)
        fclose(file);
    return error;
}

/* The file of this name here, or the installed one. */
static int
read_file(char **text, enum ar_data kind, const char *name, struct ar_text *why)
{
    char *const path = ar_data_find(kind, name, why);
    const int error = path ? read_path(text, path, why) : AR_ERR_SYNTAX;
    free(path);
    return error;
}

/* What follows the mark, malloced; NULL where no line begins with it. */
static char *
find_provenance(const char *text)
{
    const char *at = text;
    const size_t mark = strlen(AR_PROVENANCE_MARK);
    while (at && strncmp(at, AR_PROVENANCE_MARK, mark) != 0) {
        at = strchr(at, '\n');
        if (at)
            at++;
    }
    return at ? strndup(at + mark, strcspn(at + mark, "\n")) : NULL;
}

int
ar_rules_file_read(struct ar_rules **rules, char **tuned, const char *name, struct ar_text *why)
{
    char *text;
    struct ar_problem problem = {0, 0, ""};
    int error = read_file(&text, AR_DATA_RULES, name, why);
    if (error)
        return error;
    error = ar_rules_parse_lines(rules, text, &problem);
    if (error == AR_ERR_SYNTAX)
        ar_text_add(why, "%d:%d: %s", problem.line, problem.column, problem.text);
    if (!error && tuned)
        *tuned = find_provenance(text);
    free(text);
    return error;
}

int
ar_model_file_read(struct ar_machine *machine, const char *name, struct ar_text *why)
{
    char *text, problem[AR_MACHINE_PROBLEM];
    int error = read_file(&text, AR_DATA_MACHINE, name, why);
    if (error)
        return error;
    error = ar_machine_parse(machine, text, problem);
    if (error)
        ar_text_add(why, "%s", problem);
    free(text);
    return error;
}

int
ar_placement_read(struct ar_placement *placement, const char *text, struct ar_text *why)
{
    char *hosts;
    if (ar_placement_is_shape(text))
        return ar_placement_parse_shape(placement, text, why);
    int error = read_path(&hosts, text, why);
    if (error == AR_ERR_SYNTAX)
        ar_text_add(why, "; allowed: " AR_PLACEMENT_SHAPE ", or a host file");
    if (error)
        return error;
    error = ar_placement_parse_hosts(placement, hosts, why);
    free(hosts);
    return error;
}

/* --- rules that tuning writes --- */

void
ar_rules_header_write(FILE *to, const char *how, const char *by, const char *job)
{
    fprintf(to, "# For ALLREDUCE_RULES; %s %s\n" AR_PROVENANCE_MARK "%s\n", how, by, job);
}

void
ar_rules_clause_write(FILE *to, const struct ar_choice *choice, size_t from, size_t end,
                      const struct ar_request *request, unsigned asks)
{
    char name[AR_CHOICE_TEXT], first[AR_SIZE_TEXT], last[AR_SIZE_TEXT], traits[AR_TRAITS_TEXT];
    struct ar_text t;
    fprintf(to, "%s:%s-%s", ar_choice_print(choice, name, sizeof name),
            ar_size_print(from, first, sizeof first), ar_size_print(end, last, sizeof last));
    if (request->nranks > 0)
        fprintf(to, "@%d", request->nranks);
    ar_text_init(&t, traits, sizeof traits);
    ar_request_print(&t, request, asks);
    fprintf(to, "%s%s", asks ? "," : "", asks ? traits : "");
}

char *
ar_path_absolute(const char *path)
{
    char *const folder = *path == '/' ? NULL : getcwd(NULL, 0), *absolute;
    if (!folder)
        return strdup(path);
    const int length = asprintf(&absolute, "%s/%s", folder, path);
    free(folder);
    return length < 0 ? NULL : absolute;
}

/* --- files that are written at the end --- */

bool
ar_stats_file_is_json(const char *name)
{
    const char *const end = strrchr(name, '.');
    return end && (strcmp(end, ".json") == 0 || strcmp(end, ".jsonl") == 0);
}

/* The first variable of a list, which ends with NULL, that holds something; NULL: none does. */
static const char *
first_set(const char *const *variables)
{
    const char *value = NULL;
    for (; *variables && (!value || !*value); variables++)
        value = getenv(*variables);
    return value && *value ? value : NULL;
}

/* A value as part of a name: it leads to no other folder. */
static void
add_value(struct ar_text *t, const char *value)
{
    for (; *value; value++)
        ar_text_add(t, "%c", *value == '/' || (unsigned char)*value < ' ' ? '_' : *value);
}

/* What a % with this letter stands for. */
static void
add_special(struct ar_text *t, char letter)
{
    static const char *const jobs[] = {"SLURM_JOB_ID", "PBS_JOBID",      "LSB_JOBID",
                                       "JOB_ID",       "PMIX_NAMESPACE", NULL};
    static const char *const users[] = {"USER", "LOGNAME", NULL};
    char host[HOST_NAME_MAX + 1] = "";
    const char *value = letter == 'j' ? first_set(jobs) : letter == 'u' ? first_set(users) : NULL;
    if (letter == 'h') {
        gethostname(host, sizeof host - 1);
        value = host;
    }
    if (letter == '%')
        ar_text_add(t, "%%");
    else if (value)
        add_value(t, value);
    else
        ar_text_add(t, "%ld", letter == 'u' ? (long)getuid() : (long)getpid());
}

void
ar_stats_file_path(char *path, size_t room, const char *name)
{
    char *const folder = *name == '/' ? NULL : getcwd(NULL, 0);
    struct ar_text t;
    ar_text_init(&t, path, room);
    if (folder)
        ar_text_add(&t, "%s/", folder);
    free(folder);
    for (; *name; name++) {
        if (*name != '%')
            ar_text_add(&t, "%c", *name);
        else
            add_special(&t, *++name);
    }
}

void
ar_stats_file_of_rank(char *path, size_t room, const char *of_all, int rank)
{
    snprintf(path, room, ar_output_is_direct(of_all) ? "%s" : "%s.rank%d", of_all, rank);
}

int
ar_stats_name_check(const char *name, struct ar_text *why)
{
    const char *at = name; /* the first character that a name cannot have */
    while (*at && *at != '\n' && (*at != '%' || (at[1] && strchr("juhp%", at[1]))))
        at += *at == '%' ? 2 : 1;
    if (*at == '\0')
        return AR_OK;
    ar_text_add(why, "column %d: ", (int)(at - name) + 1);
    ar_text_quote(why, (struct ar_word){at, *at == '%' && at[1] ? 2 : 1});
    ar_text_add(why,
                " in a file name; allowed: %%j for the job, %%u for the user, %%h for the host, "
                "%%p for the process id, %%%% for a single %%");
    return AR_ERR_SYNTAX;
}

int
ar_stats_file_check(const char *name, struct ar_text *why)
{
    if (ar_stats_name_check(name, why))
        return AR_ERR_SYNTAX;
    char *const path = malloc(PATH_MAX);
    if (!path)
        return AR_ERR_MEMORY;
    ar_stats_file_path(path, PATH_MAX, name);
    const int error = ar_output_check(path);
    if (!error) {
        free(path);
        return AR_OK;
    }
    ar_text_add(why, "column 1: cannot write ");
    ar_text_quote(why, (struct ar_word){path, strlen(path)});
    ar_text_add(why, ": %s; allowed: a file in an existing folder that can be written",
                strerror(error));
    free(path);
    return AR_ERR_SYNTAX;
}
