/* What online tuning settled, on all communicators of this process. */
#include <config.h>

#include "communicator/tuned_rules.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/provenance.h"
#include "report/report.h"
#include "tuning/rules_text.h"

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

void
ar_tuned_rules_write(const char *path, int nranks)
{
    char job[AR_PROVENANCE_TEXT];
    FILE *const to = fopen(path, "w");
    if (!to) {
        ar_say("ALLREDUCE_TUNE_DUMP: cannot write '%s': %s", path, strerror(errno));
        return;
    }
    ar_provenance_of_job(job, sizeof job, nranks);
    ar_rules_header_write(to, "tuned online by", program_invocation_short_name, job);
    pthread_mutex_lock(&lock);
    fprintf(to, "# trials cost %.3f ms of %.3f ms in what is tuned\n", (double)spent_ns * 1e-6,
            (double)(time_ns + spent_ns) * 1e-6);
    for (const struct rule *rule = rules; rule; rule = rule->next) {
        const struct ar_tuned_rule *const is = &rule->is;
        const struct ar_request request = {.nranks = is->nranks, .type = is->type};
        ar_rules_clause_write(to, &is->choice, ar_size_bin_first(is->bin),
                              ar_size_bin_last(is->bin), &request, AR_TRAIT_TYPE);
        fprintf(to, "  # %.2f us, %s\n", (double)is->ns * 1e-3, is->reason);
    }
    pthread_mutex_unlock(&lock);
    if (fclose(to))
        ar_say("ALLREDUCE_TUNE_DUMP: cannot write '%s': %s", path, strerror(errno));
}
