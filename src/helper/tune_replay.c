/* allreduce tune --from: a program's calls, measured again as it made them. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/tuned_rules.h"
#include "config/files.h"
#include "execute/node.h"
#include "helper/job.h"
#include "helper/tune.h"
#include "report/clock.h"

#define VISITS_TEXT 96 /* "4 MPI_DOUBLE MPI_SUM in" */

struct replay {
    const struct ar_tune *tune;
    struct ar_progress *clock;
    int rank, nranks; /* of MPI_COMM_WORLD */
    struct ar_profile profile;
    struct ar_rules *rules; /* to check; NULL: some are to be found.  Owned */
    /* Of each of the profile's calls what was found, and where the ranks were on which it was
     * (0 nodes: nowhere yet).  Owned. */
    struct ar_winner *found;
    struct ar_place_of_ranks *at;
    struct ar_place_of_ranks places; /* of the world's */
    struct ar_tune_state state;
    double weight_left;   /* seconds of the profile that are still to be measured */
    bool is_over;         /* the budget was, before the last visit */
    bool was_interrupted; /* by a signal */
};

static struct ar_choice
choice_of(const struct ar_profiled *calls)
{
    struct ar_choice choice = {.kind = AR_CHOICE_NATIVE};
    ar_ran_read(&choice, calls->ran); /* rank 0 has tried it */
    return choice;
}

/* --- measuring --- */

/* Names what ran, which is never dropped; and, where rules are checked, what they choose. */
static int
keep(const struct replay *replay, struct ar_study_size *size, const struct ar_profiled *calls)
{
    const struct ar_choice ran = choice_of(calls);
    struct ar_choice rival;
    size->request.place = calls->place == AR_IN_PLACE ? AR_IN_PLACE : AR_OUT_OF_PLACE;
    size->weight = calls->seconds;
    if (!replay->rules)
        return ar_study_keep(size, &ran);
    const struct ar_clause *const clause = ar_rules_match(replay->rules, &size->request);
    if (clause && clause->choice.kind != AR_CHOICE_AUTO)
        rival = clause->choice;
    else if (ar_auto_select(&rival, &size->request, NULL))
        return AR_EXIT_FAILED;
    return ar_study_keep_pair(size, &ran, &rival);
}

/* What the state calls the visits to a size of these calls. */
static void
name_visits(char name[VISITS_TEXT], const struct ar_profiled *calls)
{
    snprintf(name, VISITS_TEXT, "%d %s %s %s", calls->nranks, ar_named_name(calls->type),
             ar_op_name(calls->op), calls->place == AR_IN_PLACE ? "in" : "out");
}

/* calls: those of the study. */
static int
visit(struct replay *replay, struct ar_study *study, const struct ar_profiled *calls, double end)
{
    char size[AR_SIZE_TEXT], name[VISITS_TEXT];
    name_visits(name, &calls[study->now - study->sizes]);
    ar_progress_tell(replay->clock, ar_progress_elapsed(replay->clock) / replay->tune->budget,
                     "%s on %d ranks", ar_size_print(study->now->bytes, size, sizeof size),
                     study->measurement->nranks);
    return ar_tune_visit(study, &replay->state, name, replay->clock, end);
}

/* In a program other work lies between the calls, and the data may be anywhere.  Measuring with
 * warm and cold caches in turn puts both into the interval.  Buffers of twice the second-level
 * cache are out of it.  A message that does not fit into these walks through twice the rank's part
 * of the third level, if that is more, and so is out of that, too.  The same on all ranks. */
static struct ar_study_cold
make_cold(MPI_Comm comm, int local_ranks)
{
    const unsigned long second = 2 * ar_second_level_cache(),
                        part = 2 * ar_third_level_cache() / (unsigned long)local_ranks;
    unsigned long bytes[2] = {second, part > second ? part : second};
    MPI_Bcast(bytes, 2, MPI_UNSIGNED_LONG, 0, comm);
    return (struct ar_study_cold){bytes[0], bytes[1]};
}

/* Measures n calls, which belong together, on the ranks of comm until that second of the clock. */
static int
study(struct replay *replay, MPI_Comm comm, const struct ar_profiled *calls, size_t n, double end)
{
    static const struct ar_node_places as_they_are = {0};
    struct ar_winner *const found = &replay->found[calls - replay->profile.calls];
    const struct ar_place_of_ranks places = ar_study_places(comm);
    struct ar_measurement m;
    struct ar_study study = {0};
    size_t *const bytes = ar_cli_need_memory(calloc(n, sizeof *bytes));
    for (size_t i = 0; i < n; i++) {
        bytes[i] = ar_profiled_bytes(&calls[i]);
        replay->at[calls - replay->profile.calls + (ptrdiff_t)i] = places;
    }
    int status = ar_measurement_init(&m, comm, &as_they_are, ar_named_at(calls->type), calls->op);
    if (!status)
        status = ar_study_init(&study, &m, &places, bytes, n);
    study.cold = make_cold(comm, places.local_ranks);
    for (size_t i = 0; i < study.nsizes && !status; i++)
        status = keep(replay, &study.sizes[i], &calls[i]);
    const bool can_find = !status;
    while (!status && ar_study_next(&study))
        status = visit(replay, &study, calls, end);
    if (status == AR_EXIT_INTERRUPTED && !m.interrupted) {
        replay->is_over = true;
        status = AR_EXIT_DONE;
    }
    for (size_t i = 0; i < study.nsizes && can_find; i++)
        if (replay->rules)
            ar_study_find_rival(&found[i], &study.sizes[i]);
        else
            ar_study_find(&found[i], &study.sizes[i], NULL);
    ar_study_fini(&study);
    ar_measurement_fini(&m);
    free(bytes);
    return status;
}

/* The first ranks measure, and the others sleep meanwhile.  *next: behind the last of the calls. */
static int
study_group(struct replay *replay, size_t first, size_t *next)
{
    const struct ar_profile *const profile = &replay->profile;
    const struct ar_profiled *const calls = &profile->calls[first];
    const double now = ar_progress_elapsed(replay->clock);
    double weight = 0;
    int status = AR_EXIT_DONE;
    MPI_Comm comm;
    for (*next = first; *next < profile->n && ar_profiled_together(calls, &profile->calls[*next]);
         ++*next)
        weight += profile->calls[*next].seconds;
    const double share = (replay->tune->budget - now) * weight / replay->weight_left;
    replay->weight_left -= weight;
    MPI_Comm_split(MPI_COMM_WORLD, replay->rank < calls->nranks ? 0 : MPI_UNDEFINED, replay->rank,
                   &comm);
    if (comm != MPI_COMM_NULL) {
        status = study(replay, comm, calls, *next - first, now + share);
        MPI_Comm_free(&comm);
    }
    ar_cli_meet_asleep();
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

/* --- what it comes to --- */

/* Seconds that a rank of the program saves, with their interval; only calls with one count. */
struct saving {
    double median, low, high;
    double kept;                       /* what ran takes, where that is known */
    size_t nfaster, nslower, nunknown; /* calls, by the interval of their gain */
};

static bool
is_faster(const struct ar_winner *found)
{
    return found->gain.low > 0;
}

/* When rules are made, calls for which nothing is known to be faster do not count, as they get no
 * rule. */
static struct saving
sum_up(const struct replay *replay)
{
    struct saving sum = {.median = 0};
    for (size_t i = 0; i < replay->profile.n; i++) {
        const struct ar_winner *const found = &replay->found[i];
        const double calls = replay->profile.calls[i].calls;
        if (ar_winner_is_known(found))
            sum.kept += calls * found->kept_time.median;
        if (!ar_winner_is_known(found) || isnan(found->gain.low)) {
            sum.nunknown++;
            continue;
        }
        sum.nfaster += is_faster(found);
        sum.nslower += found->gain.high < 0;
        if (!replay->rules && !is_faster(found))
            continue;
        sum.median += calls * found->gain.median;
        sum.low += calls * found->gain.low;
        sum.high += calls * found->gain.high;
    }
    return sum;
}

static void
print_table(FILE *to, const char *mark, const struct replay *replay)
{
    fprintf(to, "%s%9s %10s %5s %9s  %-24s %-12s %10s  %-28s %10s  %-28s %s\n", mark, "calls",
            "time", "ranks", "size", "type, op", "in place", "ran us", "ran", "best us",
            replay->rules ? "rules" : "best", "saves");
    bool is_mean = false;
    for (size_t i = 0; i < replay->profile.n; i++) {
        const struct ar_profiled *const calls = &replay->profile.calls[i];
        const struct ar_winner *const f = &replay->found[i];
        char size[AR_SIZE_TEXT], seconds[AR_NUMBER_TEXT], ran[AR_NUMBER_TEXT], us[AR_NUMBER_TEXT];
        char best[AR_CHOICE_TEXT], what[128], gain[AR_INTERVAL_TEXT];
        snprintf(what, sizeof what, "%s %s", ar_named_name(calls->type), ar_op_name(calls->op));
        ar_size_print(ar_profiled_bytes(calls), size, sizeof size);
        is_mean |= calls->is_mean;
        fprintf(to, "%s%9.0f %10s %5d %*s%s  %-24s %-12s", mark, calls->calls,
                ar_time_print(calls->seconds * 1e9, seconds, sizeof seconds), calls->nranks,
                9 - (int)strlen(size), calls->is_mean ? "~" : "", size, what,
                calls->place == AR_IN_PLACE        ? "yes"
                : calls->place == AR_PLACE_UNKNOWN ? "unknown: no"
                                                   : "no");
        if (!ar_winner_is_known(f)) {
            fprintf(to, " not measured: no time was left\n");
            continue;
        }
        fprintf(to, " %10s  %-28s %10s  %-28s %s us a call\n",
                ar_number_print(f->kept_time.median * 1e6, ran, sizeof ran), calls->ran,
                ar_number_print(f->time.median * 1e6, us, sizeof us),
                ar_choice_print(&f->choice, best, sizeof best),
                ar_choice_equals(&f->choice, &f->kept)
                    ? "0"
                    : ar_interval_print(f->gain.low * 1e6, f->gain.high * 1e6, gain, sizeof gain));
    }
    if (is_mean)
        fprintf(to, "%s~: of several sizes, which the statistics do not tell apart, their mean\n",
                mark);
}

/* What is not replayed, a line each. */
static void
print_left_out(FILE *to, const char *mark, const struct replay *replay)
{
    for (const char *at = replay->profile.left_out; *at; at += strcspn(at, "\n") + 1)
        fprintf(to, "%s%.*s\n", mark, (int)strcspn(at, "\n"), at);
}

/* "saves 4.10 s +- 0.30 s of 60.0 s in MPI_Allreduce (1000 calls)" */
static void
print_saving(FILE *to, const struct replay *replay, const struct saving *sum)
{
    const struct ar_profile *const profile = &replay->profile;
    const double half = fmax(sum->median - sum->low, sum->high - sum->median);
    char saved[AR_NUMBER_TEXT], error[AR_NUMBER_TEXT], all[AR_NUMBER_TEXT];
    ar_time_print(profile->seconds * 1e9, all, sizeof all);
    if (sum->nfaster + sum->nslower == 0)
        fprintf(to, "nothing is %sto be gained: of %s in MPI_Allreduce (%.0f call%s) ",
                sum->nunknown > 0 ? "known " : "", all, profile->all_calls,
                ar_plural((size_t)profile->all_calls));
    if (sum->nfaster + sum->nslower == 0)
        fprintf(to, "%s more than the interval of what it saves\n",
                replay->rules ? "the rules save no" : "no choice saves");
    else
        fprintf(to, "%s %s +- %s of %s in MPI_Allreduce (%.0f call%s)\n",
                sum->median < 0 ? "costs" : "saves",
                ar_time_print(fabs(sum->median) * 1e9, saved, sizeof saved),
                ar_time_print(half * 1e9, error, sizeof error), all, profile->all_calls,
                ar_plural((size_t)profile->all_calls));
}

static void
print_verdict(FILE *to, const char *mark, const struct replay *replay)
{
    const struct saving sum = sum_up(replay);
    const struct ar_profile *const profile = &replay->profile;
    char late[AR_NUMBER_TEXT], kept[AR_NUMBER_TEXT];
    fputs(mark, to);
    print_saving(to, replay, &sum);
    fprintf(to,
            "%sThis is the average per rank of %s: the number of calls times what each takes less "
            "when it is replayed and no rank is late.\n%sReplayed, what ran takes %s. The program "
            "spent %s of its time in MPI_Allreduce waiting for late ranks, which no rule saves.\n",
            mark, profile->program, mark, ar_time_print(sum.kept * 1e9, kept, sizeof kept),
            ar_time_print(profile->late * 1e9, late, sizeof late));
    if (sum.kept > profile->seconds)
        fprintf(to,
                "%sThat is more than the program spent: the machine is busier now, or the ranks "
                "are placed differently. Do not rely on the figures; measure again.\n",
                mark);
    if (sum.nunknown > 0)
        fprintf(to,
                "%s%zu of %zu kinds of calls had too little time for an interval and do not count; "
                "a longer --budget measures them.\n",
                mark, sum.nunknown, profile->n);
}

/* --- rules --- */

/* A clause for calls on ranks that are placed like this; where places is NULL, however they are. */
static void
write_clause(FILE *to, const struct replay *replay, size_t i, const struct ar_choice *choice,
             const struct ar_place_of_ranks *places)
{
    const struct ar_profiled *const calls = &replay->profile.calls[i];
    size_t first, last;
    const bool tells_place =
        calls->place != AR_PLACE_UNKNOWN && ar_profile_has_twin(&replay->profile, i);
    const struct ar_request request = {.nranks = calls->nranks,
                                       .op = calls->op,
                                       .type = ar_named_at(calls->type)->geometry.type_class,
                                       .place = calls->place,
                                       .nodes = places ? (size_t)places->nodes : 0,
                                       .per_node = places ? (size_t)places->per_node : 0};
    ar_profile_range(&replay->profile, i, &first, &last);
    ar_rules_clause_write(to, choice, first, last, &request,
                          AR_TRAIT_OP | AR_TRAIT_TYPE | (tells_place ? AR_TRAIT_PLACE : 0) |
                              (places ? AR_TRAIT_NODES | AR_TRAIT_PER_NODE : 0));
}

/* Across nodes a faster choice was found on the first ranks, and holds for others that are placed
 * likewise.  If a setting, which the rules replace, named what ran, a clause names it again
 * wherever nothing is known to be faster. */
static void
write_clauses(FILE *to, const struct replay *replay, size_t i)
{
    const struct ar_choice ran = choice_of(&replay->profile.calls[i]);
    const bool faster = is_faster(&replay->found[i]), across = faster && replay->places.nodes > 1;
    if (faster) {
        write_clause(to, replay, i, &replay->found[i].choice, across ? &replay->at[i] : NULL);
        fputs("  # faster\n", to);
    }
    if (replay->profile.calls[i].was_named && (!faster || across)) {
        write_clause(to, replay, i, &ran, NULL);
        fprintf(to, "  # as it ran: nothing is known to be faster%s\n",
                faster ? " on ranks that are placed differently" : "");
    }
}

static int
write_rules(const struct replay *replay, const char *command)
{
    char job[2 * AR_PROVENANCE_TEXT], when[AR_DATE_TEXT];
    struct ar_output output;
    const int error = ar_tune_output_begin(&output, replay->tune);
    if (error)
        return error;
    FILE *const to = output.file;
    ar_provenance_of_job(job, sizeof job, replay->nranks);
    const size_t length = strlen(job);
    snprintf(job + length, sizeof job - length, "; nodes=%d; ppn=%d; date=%s; version=%s",
             replay->places.nodes, replay->places.per_node, ar_clock_date(when, false),
             PACKAGE_VERSION);
    ar_rules_header_write(to, "made by:", command, job);
    if (replay->is_over || replay->was_interrupted)
        fprintf(to, "# Incomplete: %s.\n",
                replay->was_interrupted ? "interrupted" : "the budget was used up");
    fprintf(to, "#\n");
    print_verdict(to, "# ", replay);
    fprintf(to, "#\n");
    print_table(to, "# ", replay);
    print_left_out(to, "# ", replay);
    fputc('\n', to);
    for (size_t i = 0; i < replay->profile.n; i++)
        write_clauses(to, replay, i);
    return ar_output_end(&output);
}

/* --- both ways --- */

static void
print_all(const struct replay *replay)
{
    print_table(stdout, "", replay);
    print_left_out(stdout, "", replay);
    print_verdict(stdout, "", replay);
}

/* Is there a call to be replayed, and were none of them? */
static bool
has_measured_nothing(const struct replay *replay)
{
    const size_t n = replay->profile.n;
    size_t i = 0;
    while (i < n && !ar_winner_is_known(&replay->found[i]))
        i++;
    return n > 0 && i == n;
}

/* Rank 0's. */
static int
conclude(const struct replay *replay, const char *command)
{
    const struct ar_tune *const tune = replay->tune;
    ar_progress_clear(replay->clock);
    if (replay->rules) {
        const struct saving sum = sum_up(replay);
        print_all(replay);
        printf("the rules are slower than what ran in %zu of %zu kinds of calls, and faster in "
               "%zu\n",
               sum.nslower, replay->profile.n, sum.nfaster);
        return sum.nslower + sum.nunknown > 0 ? AR_EXIT_FAILED : AR_EXIT_DONE;
    }
    if (has_measured_nothing(replay)) {
        fprintf(stderr, "allreduce tune: --from: %s before a call was measured: no rules%s\n",
                replay->was_interrupted ? "interrupted" : "the budget was used up",
                replay->was_interrupted ? "" : "; a longer --budget may find some");
        return AR_EXIT_FAILED;
    }
    const int error = write_rules(replay, command);
    if (error) {
        fprintf(stderr, "allreduce tune: cannot write %s: %s\n",
                tune->output ? tune->output : "stdout", strerror(error));
        return AR_EXIT_FAILED;
    }
    if (tune->output) {
        print_all(replay);
        printf("wrote %s: use it with ALLREDUCE_RULES=%s, without ALLREDUCE_ALGO, which takes "
               "precedence over rules\n",
               tune->output, tune->output);
    }
    return AR_EXIT_DONE;
}

/* What is known was written all the same. */
static void
tell_interrupted(const struct replay *replay)
{
    if (!replay->was_interrupted || has_measured_nothing(replay))
        return;
    if (ar_tune_state_is_kept(&replay->state))
        fprintf(stderr, "allreduce tune: interrupted; the same command continues from %s\n",
                replay->state.path);
    else
        fprintf(stderr, "allreduce tune: interrupted; what was measured until then is shown\n");
}

/* Where measurements are kept while rules are to be found: they are those of this machine and job,
 * whatever the statistics are. */
static void
open_state(struct replay *replay)
{
    char job[2 * AR_PROVENANCE_TEXT];
    const struct ar_winners all = {
        .tune = replay->tune, .places = replay->places, .nranks = replay->nranks};
    ar_winners_describe(&all, job, sizeof job);
    const size_t length = strlen(job);
    snprintf(job + length, sizeof job - length, "; replayed");
    if (!replay->rules)
        ar_tune_state_open(&replay->state, replay->tune, job);
}

static int
replay_all(struct replay *replay, const char *command)
{
    int status = AR_EXIT_DONE;
    replay->found = ar_cli_need_memory(calloc(replay->profile.n + 1, sizeof *replay->found));
    replay->at = ar_cli_need_memory(calloc(replay->profile.n + 1, sizeof *replay->at));
    for (size_t i = 0; i < replay->profile.n; i++) {
        replay->found[i].time.median = NAN;
        replay->weight_left += replay->profile.calls[i].seconds;
    }
    for (size_t i = 0, next; i < replay->profile.n && !status; i = next)
        status = study_group(replay, i, &next);
    replay->was_interrupted = status == AR_EXIT_INTERRUPTED;
    if (replay->rank == 0 && (!status || status == AR_EXIT_INTERRUPTED)) {
        const int end = conclude(replay, command);
        tell_interrupted(replay);
        status = status ? status : end;
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    fflush(stdout);
    return status;
}

int
ar_tune_replay(const struct ar_tune *tune, struct ar_progress *clock, const char *command)
{
    struct replay replay = {.tune = tune, .clock = clock};
    MPI_Comm_rank(MPI_COMM_WORLD, &replay.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &replay.nranks);
    replay.places = ar_study_places(MPI_COMM_WORLD);
    int status = tune->check ? ar_tune_read_rules(&replay.rules, tune, replay.rank) : AR_EXIT_DONE;
    if (!status)
        status = ar_profile_read(&replay.profile, tune->from);
    if (!status) {
        open_state(&replay);
        status = replay_all(&replay, command);
        ar_tune_state_close(&replay.state, !status);
    }
    ar_rules_destroy(replay.rules);
    free(replay.found);
    free(replay.at);
    ar_profile_fini(&replay.profile);
    return status;
}
