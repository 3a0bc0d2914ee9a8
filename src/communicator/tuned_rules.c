#include <config.h>

#include "communicator/tuned_rules.h"

#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/files.h"
#include "config/output.h"
#include "report/say.h"
#include "select/number.h"
#include "select/words.h"

/* --- where rules were tuned --- */

void
ar_provenance_mpi(char *name, size_t room)
{
    char *const version = calloc(1, MPI_MAX_LIBRARY_VERSION_STRING + 1);
    int length;
    name[0] = '\0';
    if (version && PMPI_Get_library_version(version, &length) == MPI_SUCCESS)
        snprintf(name, room, "%.*s", (int)strcspn(version, "\n,;"), version);
    for (char *c = name; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    free(version);
}

void
ar_provenance_cpu(char *name, size_t room)
{
    char line[256];
    FILE *const file = fopen("/proc/cpuinfo", "r");
    snprintf(name, room, "unknown");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", strlen("model name")) == 0 && strchr(line, ':')) {
            const char *const value = strchr(line, ':') + 1;
            snprintf(name, room, "%.*s", (int)strcspn(value + 1, "\n;"), value + 1);
            break;
        }
    if (file)
        fclose(file);
}

void
ar_provenance_of_job(char *text, size_t room, int nranks)
{
    char mpi[128], cpu[128];
    ar_provenance_mpi(mpi, sizeof mpi);
    ar_provenance_cpu(cpu, sizeof cpu);
    if (nranks > 0)
        snprintf(text, room, "mpi=%s; cpu=%s; ranks=%d", mpi, cpu, nranks);
    else
        snprintf(text, room, "mpi=%s; cpu=%s", mpi, cpu);
}

/* The value of the name that field, "name=value", has, in text; length 0: none. */
static struct ar_word
value_in(const char *text, const char *field)
{
    const size_t name = strcspn(field, "=") + 1;
    for (const char *at = text; at; at = strstr(at, "; ")) {
        at += *at == ';' ? 2 : 0;
        if (strncmp(at, field, name) == 0)
            return (struct ar_word){at + name, strcspn(at + name, ";\n")};
    }
    return (struct ar_word){text, 0};
}

bool
ar_provenance_differs(char text[AR_DIFFERENCE_TEXT], const char *tuned, int nranks)
{
    char here[AR_PROVENANCE_TEXT];
    struct ar_text t;
    ar_provenance_of_job(here, sizeof here, nranks);
    ar_text_init(&t, text, AR_DIFFERENCE_TEXT);
    char *rest = here;
    for (char *field; (field = strsep(&rest, ";"));) {
        field += *field == ' ';
        const struct ar_word there = value_in(tuned, field);
        const char *const value = strchr(field, '=') + 1;
        if (there.length == 0 ||
            (there.length == strlen(value) && strncmp(there.at, value, there.length) == 0))
            continue;
        ar_text_add(&t, "%s%.*s=", t.length ? ", " : "", (int)(value - 1 - field), field);
        ar_text_escape(&t, there);
        ar_text_add(&t, " (here %s)", value);
    }
    return t.length > 0;
}

void
ar_provenance_check(const char *tuned, int nranks)
{
    char text[AR_DIFFERENCE_TEXT];
    if (ar_provenance_differs(text, tuned, nranks))
        ar_say(
            "the rules of ALLREDUCE_RULES were tuned elsewhere: %s; allreduce tune makes new ones",
            text);
}

/* --- the rules of online tuning --- */

struct rule {
    struct rule *next;
    struct ar_tuned_rule is;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock. */
static struct rule *rules;
static int64_t time_ns, spent_ns;

static bool
is_same_kind(const struct ar_tuned_rule *a, const struct ar_tuned_rule *b)
{
    return a->bin == b->bin && a->nranks == b->nranks && a->type == b->type &&
           a->commutative == b->commutative;
}

/* In the order of size, so that the file reads well. */
void
ar_tuned_rules_keep(const struct ar_tuned_rule *rule)
{
    pthread_mutex_lock(&lock);
    struct rule **at = &rules;
    while (*at && !is_same_kind(&(*at)->is, rule) &&
           ((*at)->is.nranks < rule->nranks ||
            ((*at)->is.nranks == rule->nranks && (*at)->is.bin <= rule->bin)))
        at = &(*at)->next;
    const bool is_there = *at && is_same_kind(&(*at)->is, rule);
    struct rule *const made = is_there ? *at : malloc(sizeof *made);
    if (made) {
        made->next = is_there ? made->next : *at;
        made->is = *rule;
        *at = made;
    }
    pthread_mutex_unlock(&lock);
}

void
ar_tuned_rules_count(int64_t more_time_ns, int64_t more_spent_ns)
{
    pthread_mutex_lock(&lock);
    time_ns += more_time_ns;
    spent_ns += more_spent_ns;
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static void
write_rules(FILE *to)
{
    char spent[AR_NUMBER_TEXT], time[AR_NUMBER_TEXT];
    fprintf(to, "# trials cost %s of the %s that the tuned calls took\n",
            ar_time_print((double)spent_ns, spent, sizeof spent),
            ar_time_print((double)(time_ns + spent_ns), time, sizeof time));
    for (const struct rule *rule = rules; rule; rule = rule->next) {
        const struct ar_tuned_rule *const is = &rule->is;
        const struct ar_request request = {.nranks = is->nranks, .type = is->type};
        ar_rules_clause_write(to, &is->choice, ar_size_bin_first(is->bin),
                              ar_size_bin_last(is->bin), &request, AR_TRAIT_TYPE);
        fprintf(to, "  # %s, %s\n", ar_time_print((double)is->ns, time, sizeof time), is->reason);
    }
}

void
ar_tuned_rules_write(const char *path, int nranks)
{
    char job[AR_PROVENANCE_TEXT], program[256];
    struct ar_output output;
    int error = ar_output_begin(&output, path);
    if (!error) {
        ar_provenance_of_job(job, sizeof job, nranks);
        ar_name_fit(program, sizeof program, program_invocation_short_name);
        ar_rules_header_write(output.file, "tuned online by", program, job);
        pthread_mutex_lock(&lock);
        write_rules(output.file);
        pthread_mutex_unlock(&lock);
        error = ar_output_end(&output);
    }
    if (error)
        ar_say("ALLREDUCE_TUNE_DUMP: cannot write '%s': %s", path, strerror(error));
}
