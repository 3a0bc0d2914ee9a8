#include <config.h>

#include "communicator/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/files.h"
#include "config/output.h"
#include "report/clock.h"
#include "report/say.h"
#include "select/select.h"

/* Another version may know other algorithms, or predict other times. */
static char *
print_path(const char *folder, const struct ar_cache_key *key)
{
    char *path;
    const int length =
        asprintf(&path, "%s/auto-%s-%d-%016" PRIx64 "%s.rules", folder, PACKAGE_VERSION,
                 key->nranks, key->number, key->in_order ? "-in-order" : "");
    return length < 0 ? NULL : path;
}

/* The first rule that the model would not have made; NULL: there is none.  A file may have been
 * edited, or may be somebody else's: whatever is in it, results stay right. */
static const struct ar_clause *
find_foreign(const struct ar_rules *rules, const struct ar_cache_key *key, const bool *allowed)
{
    const struct ar_request any = {
        .nranks = key->nranks, .commutative = !key->in_order, .shares_memory = true};
    for (size_t i = 0; i < rules->nclauses; i++) {
        const struct ar_choice *const choice = &rules->clauses[i].choice;
        if (choice->kind != AR_CHOICE_ALGORITHM || !ar_auto_may_select(choice, &any, allowed))
            return &rules->clauses[i];
    }
    return NULL;
}

/* The last rule is for messages of any length.  It is missing where the machine that wrote the file
 * failed soon after. */
static bool
are_whole(const struct ar_rules *rules, const struct ar_cache_key *key)
{
    const struct ar_request longest = {
        .bytes = SIZE_MAX, .nranks = key->nranks, .commutative = !key->in_order};
    return ar_rules_match(rules, &longest);
}

/* Can auto go by them?  Else why says what is wrong. */
static bool
serve(const struct ar_rules *rules, const struct ar_cache_key *key, const bool *allowed,
      struct ar_text *why)
{
    const struct ar_clause *const foreign = find_foreign(rules, key, allowed);
    char name[AR_CHOICE_TEXT];
    if (foreign)
        ar_text_add(why, "%d:%d: auto cannot choose %s here%s", foreign->line, foreign->column,
                    ar_choice_print(&foreign->choice, name, sizeof name),
                    key->in_order ? ", for ops that do not commute" : "");
    else if (!are_whole(rules, key))
        ar_text_add(why, " it ends too early");
    else
        return true;
    return false;
}

char *
ar_cache_read(const char *folder, const struct ar_cache_key *key, const bool *allowed)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char *const path = print_path(folder, key), reason[AR_CONFIG_PROBLEM];
    struct ar_rules *rules = NULL;
    struct ar_text why;
    if (!path || access(path, F_OK)) {
        free(path);
        return NULL;
    }
    ar_text_init(&why, reason, sizeof reason);
    const int error = ar_rules_file_read(&rules, NULL, path, &why);
    const bool can_serve = !error && serve(rules, key, allowed, &why);
    char *const text = can_serve ? ar_rules_text(rules) : NULL;
    if (!can_serve && !atomic_flag_test_and_set(&said))
        ar_say("warning: ALLREDUCE_CACHE: %s: auto asks the model again", reason);
    ar_rules_destroy(rules);
    free(path);
    return text;
}

static void
write_rules(FILE *to, const struct ar_cache_key *key, const char *machine, const char *rules)
{
    char by[64], job[AR_MACHINE_TITLE + 128], when[AR_DATE_TEXT];
    snprintf(by, sizeof by, "liballreduce %s", PACKAGE_VERSION);
    snprintf(job, sizeof job, "ranks=%d; nodes=%d; ops=%s; machine=%s; date=%s", key->nranks,
             key->nodes, key->in_order ? "in rank order" : "all", machine,
             ar_clock_date(when, false));
    ar_rules_header_write(to, "by a model of the machine, by", by, job);
    for (const char *at = rules; *at; at++)
        fputc(*at == ';' ? '\n' : *at, to);
    fputc('\n', to);
}

/* Warns once that the folder has this error. */
static void
warn(const char *folder, int error)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&warned))
        ar_say("warning: ALLREDUCE_CACHE: %s: %s: no rules can be kept", folder, strerror(error));
}

void
ar_cache_check(const char *folder)
{
    char *path = NULL;
    if (asprintf(&path, "%s/.", folder) >= 0 && access(path, R_OK | W_OK | X_OK))
        warn(folder, errno);
    free(path);
}

void
ar_cache_write(const char *folder, const struct ar_cache_key *key, const char *machine,
               const char *rules)
{
    struct ar_output output;
    char *const path = print_path(folder, key);
    int error = path ? ar_output_begin(&output, path) : ENOMEM;
    if (!error) {
        write_rules(output.file, key, machine, rules);
        error = ar_output_end(&output);
    }
    free(path);
    if (error)
        warn(folder, error);
}
