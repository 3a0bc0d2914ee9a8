/* allreduce tune: finds the fastest choice for each size, and writes rules; or checks rules. */
#include "config.h"

#include "helper/tune.h"

#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/tuned_rules.h"
#include "config/files.h"
#include "helper/job.h"

/* --- the command line --- */

enum { OP = 256, FACTOR, FROM };

static const struct argp_option table[] = {
    {"output", 'o', "FILE", 0,
     "File for the rules, to be used by ALLREDUCE_RULES (default: stdout). Intermediate results "
     "are kept in FILE.state, from which the same command continues after an interruption",
     0},
    {"budget", 'b', "TIME", 0, "Time in all: 60, 60s or 5m (default: 60s)", 0},
    {"sizes", 's', "LIST", 0,
     "Message sizes in bytes and ranges of them, separated by ',' (default: 8-16M)", 0},
    {"factor", FACTOR, "N", 0, "Factor from one size of a range to the next (default: 4)", 0},
    {"type", 'T', "NAMES", 0,
     "Predefined types, separated by ',' (default: float). Rules for the first apply to all "
     "types; the others get rules of their own where that is faster",
     0},
    {"op", OP, "NAME", 0, "A predefined op (default: sum)", 0},
    {"check", 'c', "FILE", 0,
     "Measure a file of rules beside native and every algorithm; fail if one of these is faster by "
     "more than the noise",
     0},
    {"from", FROM, "STATS", 0,
     "Replay the calls of a program from its ALLREDUCE_STATS=FILE.jsonl. Write rules for the calls "
     "that gain, and say what that saves. With --check, say what the rules of a file save",
     0},
    {"quiet", 'q', NULL, 0, "Show no progress on stderr", 0},
    {0},
};

struct line {
    struct ar_tune *tune;
    const char *sizes;
    size_t factor; /* 0: not given; so NULL */
    const char *types;
    const char *op;
};

static void
parse_types(struct argp_state *state, struct ar_tune *tune, const char *text)
{
    char name[64];
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (tune->ntypes == AR_TUNE_TYPES_MAX)
            argp_error(state, "--type: at most %d types are allowed", AR_TUNE_TYPES_MAX);
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        ar_option_type(state, &tune->types[tune->ntypes++], name);
        at += length;
        if (*at == '\0')
            return;
    }
}

static error_t
parse(int key, char *value, struct argp_state *state)
{
    struct line *const line = state->input;
    struct ar_tune *const tune = line->tune;
    switch (key) {
    case 'o':
        tune->output = value;
        return 0;
    case 'q':
        tune->quiet = true;
        return 0;
    case 'c':
        tune->check = value;
        return 0;
    case 'b':
        tune->budget = ar_option_seconds(state, "budget", value);
        return 0;
    case 's':
        line->sizes = value;
        return 0;
    case FACTOR:
        line->factor = (size_t)ar_option_number(state, "factor", value, 2, AR_FACTOR_MAX);
        return 0;
    case FROM:
        tune->from = value;
        return 0;
    case 'T':
        line->types = value;
        return 0;
    case OP:
        line->op = value;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'; name a file with --output", value);
        return 0;
    case ARGP_KEY_END:
        if (tune->check && tune->output)
            argp_error(state, "--check writes no rules: omit --output");
        if (tune->from && (line->sizes || line->factor || line->types || line->op))
            argp_error(state, "--from takes sizes, types and ops from the statistics: omit "
                              "--sizes, --factor, --type and --op");
        if (tune->from)
            ar_cli_need_jansson("tune --from");
        parse_types(state, tune, line->types ? line->types : "float");
        ar_option_op(state, &tune->op, line->op ? line->op : "sum");
        ar_option_sizes(state, &tune->sizes, line->sizes, "8-16M", line->factor ? line->factor : 4);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void
read_line(struct ar_tune *tune, int argc, char **argv)
{
    static const struct argp argp = {
        .options = table,
        .parser = parse,
        .doc =
            "Finds the fastest algorithm and its parameters for each message size on this machine, "
            "and writes rules. Start it with mpiexec, with as many ranks as your jobs have.",
    };
    struct line line = {.tune = tune};
    *tune = (struct ar_tune){.budget = 60};
    ar_cli_parse(&argp, argc, argv, &line);
}

/* A run under way. */
struct progress {
    struct ar_winners all;
    int rank;
    struct ar_progress clock;    /* rank 0's counts */
    size_t visits, total_visits; /* of all types */
    double end;                  /* of the time for the type under way, in seconds of the clock */
    size_t unknown;              /* sizes, of all types, without a visit */
    bool is_over;                /* the budget was, before the last visit */
};

/* --- visits --- */

static int
visit(struct progress *progress, struct ar_study *study, const struct ar_tune_state *state,
      const char *type)
{
    const double budget = progress->all.tune->budget;
    char text[AR_SIZE_TEXT];
    ar_progress_tell(&progress->clock, ar_progress_elapsed(&progress->clock) / budget,
                     "%zu of %zu visits, %s of %s", progress->visits, progress->total_visits,
                     ar_size_print(study->now->bytes, text, sizeof text), type);
    const int status = ar_tune_visit(study, state, type, &progress->clock, progress->end);
    progress->visits += status == AR_EXIT_DONE;
    return status;
}

/* Names the choices that may not be dropped: what the rules to check choose; else what the first
 * type has, and for the first type what auto picks. */
static int
keep(struct ar_study *study, const struct ar_winners *all, size_t type,
     const struct ar_rules *rules)
{
    int status = AR_EXIT_DONE;
    for (size_t i = 0; i < study->nsizes && !status; i++) {
        const struct ar_request *const request = &study->sizes[i].request;
        const struct ar_clause *const clause = rules ? ar_rules_match(rules, request) : NULL;
        const struct ar_choice *const match = clause ? &clause->choice
                                              : !rules && type > 0
                                                  ? &ar_winners_at(all, 0, i)->choice
                                                  : NULL;
        struct ar_choice choice;
        if (match && match->kind != AR_CHOICE_AUTO)
            choice = *match;
        else if (ar_auto_select(&choice, request, NULL))
            return AR_EXIT_FAILED;
        status = ar_study_keep(&study->sizes[i], &choice);
    }
    return status;
}

/* --- what was found --- */

/* The findings whose passes are spread by more than AR_SPREAD_WIDE. */
struct wide {
    size_t n, of;
    struct ar_winner widest;
};

static void
note_spread(struct wide *wide, const struct ar_winner *found)
{
    wide->of++;
    wide->n += found->time.spread > AR_SPREAD_WIDE;
    if (found->time.spread > AR_SPREAD_WIDE && !(found->time.spread <= wide->widest.time.spread))
        wide->widest = *found;
}

static void
warn_of(const struct wide *wide)
{
    const struct ar_winner *const f = &wide->widest;
    char size[AR_SIZE_TEXT], choice[AR_CHOICE_TEXT], most[AR_NUMBER_TEXT];
    if (wide->n > 0)
        ar_cli_warn(
            "tune",
            "in %zu of %zu results the spread of the passes is above %.0f %%, at most %s %% "
            "(%s, %s)",
            wide->n, wide->of, AR_SPREAD_WIDE * 100,
            ar_percent_print(f->time.spread, most, sizeof most),
            ar_choice_print(&f->choice, choice, sizeof choice),
            ar_size_print(f->bytes, size, sizeof size));
}

/* Too few passes tell nothing: what stays is not replaced then. */
static void
keep_unless_sure(struct ar_winner *found)
{
    if (!isnan(found->time.low))
        return;
    found->choice = found->kept;
    found->time = found->kept_time;
    found->gain = (struct ar_estimate){0, 0, 0, 0};
}

static void
print_finding(const struct ar_winner *f, const char *type)
{
    char size[AR_SIZE_TEXT], choice[AR_CHOICE_TEXT], us[AR_NUMBER_TEXT], ratio[AR_NUMBER_TEXT];
    char interval[AR_INTERVAL_TEXT];
    printf("%-20s %8s %8s us (%s)  %6s x native  %s%s\n", type,
           ar_size_print(f->bytes, size, sizeof size),
           ar_number_print(f->time.median * 1e6, us, sizeof us),
           ar_interval_print(f->time.low * 1e6, f->time.high * 1e6, interval, sizeof interval),
           ar_number_print(f->native.median / f->time.median, ratio, sizeof ratio),
           ar_choice_print(&f->choice, choice, sizeof choice),
           isnan(f->time.low) ? " stays: too few passes to replace it" : "");
}

/* Neighbouring sizes get the same choice where that costs nothing: each size of the first type
 * prefers the choice of the one before it. */
static void
conclude(struct progress *progress, const struct ar_study *study, size_t type)
{
    struct ar_winners *const all = &progress->all;
    struct wide wide = {0};
    all->ntypes = type + 1;
    for (size_t i = 0; i < study->nsizes; i++) {
        struct ar_winner *const found = ar_winners_at(all, type, i);
        ar_study_find(found, &study->sizes[i],
                      type == 0 && i > 0 ? &ar_winners_at(all, 0, i - 1)->choice : NULL);
        keep_unless_sure(found);
        if (!ar_winner_is_known(found)) {
            progress->unknown++;
            continue;
        }
        if (progress->rank == 0 && all->tune->output)
            print_finding(found, ar_named_name(all->tune->types[type]));
        note_spread(&wide, found);
    }
    fflush(stdout);
    if (progress->rank == 0)
        warn_of(&wide);
}

static void
print_comparison(const struct ar_winner *f)
{
    char size[AR_SIZE_TEXT], choice[AR_CHOICE_TEXT], next[AR_CHOICE_TEXT];
    char us[AR_NUMBER_TEXT], next_us[AR_NUMBER_TEXT], native_us[AR_NUMBER_TEXT];
    char interval[AR_INTERVAL_TEXT], next_interval[AR_INTERVAL_TEXT];
    const struct ar_estimate *const t = &f->time, *const n = &f->next_time;
    printf("%8s %10s %16s  %-28s %10s %16s  %-28s %10s  %s%s%s\n",
           ar_size_print(f->bytes, size, sizeof size),
           ar_number_print(t->median * 1e6, us, sizeof us),
           ar_interval_print(t->low * 1e6, t->high * 1e6, interval, sizeof interval),
           ar_choice_print(&f->choice, choice, sizeof choice),
           ar_number_print(n->median * 1e6, next_us, sizeof next_us),
           ar_interval_print(n->low * 1e6, n->high * 1e6, next_interval, sizeof next_interval),
           ar_choice_print(&f->next, next, sizeof next),
           ar_number_print(f->native.median * 1e6, native_us, sizeof native_us),
           f->is_beaten ? ar_color_begin(stdout, AR_COLOR_WARNING) : "",
           f->is_beaten             ? "SLOWER"
           : isnan(t->low)          ? "too few passes"
           : ar_estimates_tie(t, n) ? "tie"
                                    : "ok",
           f->is_beaten ? ar_color_end(stdout) : "");
}

/* Prints how the rules do at each size.  AR_EXIT_FAILED on all ranks where something else is
 * faster, or where there was no time for a size, or for enough passes. */
static int
judge(const struct progress *progress, const struct ar_study *study)
{
    unsigned long beaten = 0;
    size_t unknown = 0, unsure = 0;
    struct wide wide = {0};
    if (progress->rank == 0) {
        printf("%8s %10s %16s  %-28s %10s %16s  %-28s %10s\n", "size", "rules us", "95 %", "ran",
               "best us", "95 %", "best of all others", "native us");
        for (size_t i = 0; i < study->nsizes; i++) {
            struct ar_winner found;
            ar_study_compare(&found, &study->sizes[i]);
            if (!ar_winner_is_known(&found)) {
                unknown++;
                continue;
            }
            print_comparison(&found);
            note_spread(&wide, &found);
            beaten += found.is_beaten;
            unsure += isnan(found.time.low);
        }
        warn_of(&wide);
        printf("at %lu of %zu sizes %s faster by more than the noise\n", beaten,
               study->nsizes - unknown, beaten ? "something else is" : "is anything else");
    }
    beaten += unknown + unsure;
    MPI_Bcast(&beaten, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    return beaten ? AR_EXIT_FAILED : AR_EXIT_DONE;
}

static const char *
why_incomplete(const struct progress *progress)
{
    return progress->is_over ? "the budget was used up" : "interrupted";
}

/* How far it came, and what was kept. */
static void
tell_incomplete(const struct progress *progress, const char *kept)
{
    if (progress->rank == 0)
        fprintf(stderr, "allreduce tune: %s after %zu of %zu visits%s\n", why_incomplete(progress),
                progress->visits, progress->total_visits, kept);
}

/* --- both ways --- */

/* Studies all sizes of one type.  rules: those to check; NULL: it is to find some. */
static int
study_type(struct progress *progress, const struct ar_tune_state *state, size_t type,
           const struct ar_rules *rules)
{
    const struct ar_tune *const tune = progress->all.tune;
    struct ar_measurement m;
    struct ar_study study = {0};
    static const struct ar_node_places as_they_are = {0};
    int status = ar_measurement_init(&m, MPI_COMM_WORLD, &as_they_are,
                                     ar_named_at(tune->types[type]), tune->op);
    if (!status)
        status = ar_study_init(&study, &m, &progress->all.places, tune->sizes.bytes, tune->sizes.n);
    if (!status)
        status = keep(&study, &progress->all, type, rules);
    const double now = ar_progress_elapsed(&progress->clock);
    progress->total_visits = (rules ? 1 : tune->ntypes) * study.visits;
    progress->end = now + (tune->budget - now) / (double)(rules ? 1 : tune->ntypes - type);
    while (!status && ar_study_next(&study))
        status = visit(progress, &study, state, ar_named_name(tune->types[type]));
    ar_progress_clear(&progress->clock);
    if (status == AR_EXIT_INTERRUPTED && !m.interrupted) {
        progress->is_over = true;
        status = AR_EXIT_DONE;
    }
    if (rules && (status == AR_EXIT_INTERRUPTED || progress->is_over))
        tell_incomplete(progress, "");
    if (!status && rules)
        status = judge(progress, &study);
    else if (!rules && (!status || status == AR_EXIT_INTERRUPTED))
        conclude(progress, &study, type);
    ar_study_fini(&study);
    ar_measurement_fini(&m);
    return status;
}

int
ar_tune_read_rules(struct ar_rules **rules, const struct ar_tune *tune, int rank)
{
    char reason[1024], *text = NULL;
    struct ar_text why;
    struct ar_problem problem;
    ar_text_init(&why, reason, sizeof reason);
    if (rank == 0 && ar_rules_file_read(rules, NULL, tune->check, &why) == AR_OK) {
        text = ar_rules_text(*rules);
        ar_rules_destroy(*rules);
    } else if (rank == 0) {
        fprintf(stderr, "allreduce tune: --check: %s\n", reason);
    }
    text = ar_cli_share(text);
    if (!text)
        return AR_EXIT_USAGE;
    const int status = ar_rules_parse(rules, text, &problem) ? AR_EXIT_FAILED : AR_EXIT_DONE;
    free(text);
    return status;
}

/* Measures the file of rules beside all else. */
static int
check(struct progress *progress)
{
    const struct ar_tune_state none = {0};
    struct ar_rules *rules;
    int status = ar_tune_read_rules(&rules, progress->all.tune, progress->rank);
    if (status)
        return status;
    status = study_type(progress, &none, 0, rules);
    ar_rules_destroy(rules);
    return status;
}

static int
write_result(const struct progress *progress, const char *command)
{
    const struct ar_winners *const all = &progress->all;
    if (progress->rank != 0)
        return AR_EXIT_DONE;
    const int error = ar_winners_write(all, command);
    if (error) {
        fprintf(stderr, "allreduce tune: cannot write %s: %s\n",
                all->tune->output ? all->tune->output : "stdout", strerror(error));
        return AR_EXIT_FAILED;
    }
    if (all->tune->output)
        printf("wrote %s: use it with ALLREDUCE_RULES=%s\n", all->tune->output, all->tune->output);
    fflush(stdout);
    return AR_EXIT_DONE;
}

/* Is a size of any type known? */
static bool
is_any_known(const struct ar_winners *all)
{
    bool any = false;
    for (size_t i = 0; i < all->ntypes * all->tune->sizes.n; i++)
        any |= ar_winner_is_known(&all->of[i]);
    return any;
}

/* After a signal, or where the budget was over: writes the rules of what is known so far, and says
 * how to go on. */
static int
keep_rest(struct progress *progress, const struct ar_tune_state *state, int status,
          const char *command)
{
    struct ar_winners *const all = &progress->all;
    char kept[PATH_MAX + 256];
    const bool any = is_any_known(all);
    snprintf(all->incomplete, sizeof all->incomplete, "%s after %zu of %zu visits",
             why_incomplete(progress), progress->visits, progress->total_visits);
    if (any && write_result(progress, command))
        return AR_EXIT_FAILED;
    const char *const rules = any ? "the rules are those of what was measured so far"
                                  : "no rules, because no size was measured";
    if (status == AR_EXIT_DONE)
        snprintf(kept, sizeof kept, "; %s", rules);
    else if (ar_tune_state_is_kept(state))
        snprintf(kept, sizeof kept, "; %s; the same command continues from %s", rules, state->path);
    else
        snprintf(kept, sizeof kept, "; %s%s", rules,
                 *state->path ? "" : "; with --output=FILE the same command could continue");
    tell_incomplete(progress, kept);
    return status;
}

static int
tune(struct progress *progress, const char *command)
{
    struct ar_winners *const all = &progress->all;
    struct ar_tune_state state;
    char job[2 * AR_PROVENANCE_TEXT];
    int status = AR_EXIT_DONE;
    all->of = calloc(all->tune->ntypes * all->tune->sizes.n, sizeof *all->of);
    if (!all->of)
        return AR_EXIT_FAILED;
    ar_winners_describe(all, job, sizeof job);
    ar_tune_state_open(&state, all->tune, job);
    for (size_t t = 0; t < all->tune->ntypes && !status; t++)
        status = study_type(progress, &state, t, NULL);
    if (status == AR_EXIT_INTERRUPTED)
        progress->is_over = false;
    if (status == AR_EXIT_INTERRUPTED || (!status && progress->is_over))
        status = keep_rest(progress, &state,
                           progress->unknown > 0 && !status ? AR_EXIT_FAILED : status, command);
    else if (!status)
        status = write_result(progress, command);
    ar_tune_state_close(&state, !status);
    free(all->of);
    return status;
}

int
ar_cli_tune(int argc, char **argv)
{
    struct ar_tune options = {0};
    struct progress progress = {.all = {.tune = &options}};
    struct ar_others others;
    read_line(&options, argc, argv);
    ar_cli_start_measuring("tune");
    MPI_Comm_rank(MPI_COMM_WORLD, &progress.rank);
    ar_interrupt_watch(progress.rank == 0 ? "allreduce tune: ends after the call under way\n"
                                          : NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &progress.all.nranks);
    ar_progress_begin(&progress.clock, "tune", progress.rank == 0 && !options.quiet);
    progress.all.places = ar_study_places(MPI_COMM_WORLD);
    ar_others_begin(&others);
    int status = ar_cli_check_ranks("tune", progress.all.nranks);
    if (!status)
        status =
            ar_operands_check("tune", options.types, options.ntypes, options.op, progress.rank);
    if (!status && !options.from)
        status =
            ar_cli_fit_sizes(&options.sizes, "tune", options.types, options.ntypes, progress.rank);
    ar_sizes_sort(&options.sizes); /* the rule of each reaches to the next */
    if (!status)
        status = ar_cli_check_output("tune", options.output, progress.rank);
    if (!status && progress.rank == 0)
        ar_cli_warn_of_settings("tune");
    char *const command = ar_cli_command(progress.all.nranks, argc, argv);
    if (!status)
        status = options.from    ? ar_tune_replay(&options, &progress.clock, command ? command : "")
                 : options.check ? check(&progress)
                                 : tune(&progress, command ? command : "");
    free(command);
    ar_others_end(&others, "tune");
    MPI_Finalize();
    ar_sizes_fini(&options.sizes);
    return status;
}
