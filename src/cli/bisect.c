/* allreduce bisect: which choice of algorithm, for messages of which sizes, makes a failing program
 * pass.  It runs the program again and again: without the library, with the user's setting, with
 * the MPI library's own allreduce, and with algorithms that have little in common. */
#include <config.h>

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/trials.h"
#include "config/config.h"
#include "config/variables.h"
#include "report/table.h"
#include "select/select.h"

enum { BINS = 65 };

#define FIRST_LIMIT_S 600.0 /* until a trial has passed */
#define LEAST_LIMIT_S 60.0
#define LIMIT_FACTOR  10.0 /* times the longest trial that has passed */

/* Tried where neither the user's setting nor the native allreduce passes. */
static const char *const unlike[] = {"reduce_bcast", "butterfly", "ring", "star"};

struct bisection {
    const char *setting; /* as in ALLREDUCE_ALGO; "": what is set otherwise */
    double limit_s;      /* 0: see FIRST_LIMIT_S */
    long repeat;
    char **command;

    struct ar_trials trials;
    double longest_s; /* of those that passed */
    bool is_used[BINS];
    bool was_used; /* by any call, of any trial */
};

/* --- one trial --- */

static double
limit_of(const struct bisection *b)
{
    if (b->limit_s > 0)
        return b->limit_s;
    if (b->longest_s <= 0)
        return FIRST_LIMIT_S;
    return b->longest_s * LIMIT_FACTOR > LEAST_LIMIT_S ? b->longest_s * LIMIT_FACTOR
                                                       : LEAST_LIMIT_S;
}

/* Notes the sizes of the program's messages, where the trial has left statistics. */
static void
take_sizes(struct bisection *b)
{
    struct ar_read_run run;
    if (!ar_trials_read(&b->trials, &run))
        return;
    for (size_t i = 0; i < run.table.nrows; i++)
        if (run.table.rows[i].key.entry == AR_ENTRY_ALLREDUCE)
            b->was_used = b->is_used[run.table.rows[i].key.bin] = true;
    ar_run_fini(&run);
}

static void
print_trial(const struct bisection *b, const char *title, const struct ar_attempt_result *result)
{
    const bool has_passed = result->end == AR_ATTEMPT_PASSED;
    const enum ar_color color = has_passed ? AR_COLOR_GOOD : AR_COLOR_BAD;
    char end[128], line[AR_TRIAL_LINE], time[AR_NUMBER_TEXT];
    printf("%5d  %-40s %10s  %s%s%s\n", b->trials.n, title,
           ar_time_print(result->seconds * 1e9, time, sizeof time), ar_color_begin(stdout, color),
           ar_attempt_describe(result, end, sizeof end), ar_color_end(stdout));
    ar_trials_last_line(&b->trials, line);
    if (!has_passed && *line)
        printf("       | %s\n", line);
    fflush(stdout);
}

static void __attribute__((noreturn)) end_without_memory(void)
{
    fprintf(stderr, "allreduce bisect: out of memory\n");
    exit(AR_EXIT_FAILED);
}

/* One trial: has it passed?  algo: as in ALLREDUCE_ALGO; NULL: the library is left out.  False also
 * where it could not be made; b->trials.has_stopped then. */
static bool
run_once(struct bisection *b, const char *title, const char *algo)
{
    if (algo ? setenv("ALLREDUCE_ALGO", algo, 1) : unsetenv("ALLREDUCE_ALGO"))
        end_without_memory();
    const struct ar_attempt_result result =
        ar_trials_run(&b->trials, b->command, algo, limit_of(b));
    print_trial(b, title, &result);
    take_sizes(b);
    if (result.end == AR_ATTEMPT_PASSED && result.seconds > b->longest_s)
        b->longest_s = result.seconds;
    return result.end == AR_ATTEMPT_PASSED;
}

static const char *
title_of(const char *algo)
{
    return !algo ? "without the library" : *algo ? algo : "the settings as they are";
}

/* Does the program pass as often as is asked for? */
static bool
passes(struct bisection *b, const char *algo)
{
    const char *const title = title_of(algo);
    for (long i = 0; i < b->repeat && !b->trials.has_stopped; i++)
        if (!run_once(b, title, algo))
            return false;
    return !b->trials.has_stopped;
}

/* --- for which sizes --- */

/* Bins of sizes that the program uses, in their order. */
struct bins {
    unsigned bin[BINS];
    size_t n;
};

/* A range of them, from first to last. */
struct part {
    size_t first, last;
};

/* Clauses with good for the part and bad for all other sizes, malloced.  At least one of the two is
 * a single name, to which sizes can be given.  The other may be "": its sizes are left to the other
 * settings. */
static char *
clauses_of(const struct bins *bins, struct part part, const char *good, const char *bad)
{
    const bool is_plain = *good && !strpbrk(good, ":;");
    const bool has_below = part.first > 0, has_above = part.last + 1 < bins->n;
    const uint64_t first = has_below ? ar_size_bin_first(bins->bin[part.first]) : 0;
    const uint64_t last = has_above ? ar_size_bin_last(bins->bin[part.last]) : 0;
    char from[AR_SIZE_TEXT], to[AR_SIZE_TEXT], *text = NULL;
    size_t length;
    FILE *const out = open_memstream(&text, &length);
    if (!out)
        end_without_memory();
    ar_size_print(is_plain || first == 0 ? first : first - 1, from, sizeof from);
    ar_size_print(is_plain ? last : last + 1, to, sizeof to);
    if (is_plain && (has_below || has_above)) {
        fprintf(out, "%s:%s-%s%s%s", good, from, has_above ? to : "inf", *bad ? ";" : "", bad);
    } else {
        if (has_below)
            fprintf(out, "%s:0-%s%s", bad, from, has_above || *good ? ";" : "");
        if (has_above)
            fprintf(out, "%s:%s-inf%s", bad, to, *good ? ";" : "");
        fputs(good, out);
    }
    if (fclose(out))
        end_without_memory();
    return text;
}

/* Does the program pass with good for the part and bad for the rest? */
static bool
passes_with(struct bisection *b, const struct bins *bins, struct part part, const char *good,
            const char *bad)
{
    char *const text = clauses_of(bins, part, good, bad);
    const bool has_passed = passes(b, text);
    free(text);
    return has_passed;
}

/* The program passes with good and fails with bad.  Narrows good to the shortest part of the sizes
 * with which it still passes, and returns the clauses, malloced. */
static char *
narrow(struct bisection *b, const char *good, const char *bad)
{
    struct bins bins = {.n = 0};
    for (unsigned i = 0; i < BINS; i++)
        if (b->is_used[i])
            bins.bin[bins.n++] = i;
    struct part part = {0, bins.n > 0 ? bins.n - 1 : 0};
    for (size_t low = 0; low < part.last && !b->trials.has_stopped;) {
        const size_t middle = low + (part.last - low) / 2;
        if (passes_with(b, &bins, (struct part){0, middle}, good, bad))
            part.last = middle;
        else
            low = middle + 1;
    }
    for (size_t high = part.last; part.first < high && !b->trials.has_stopped;) {
        const size_t middle = high - (high - part.first) / 2;
        if (passes_with(b, &bins, (struct part){middle, part.last}, good, bad))
            part.first = middle;
        else
            high = middle - 1;
    }
    return clauses_of(&bins, part, good, bad);
}

/* --- what is found --- */

static int
conclude(struct bisection *b, const char *culprit, const char *good, const char *bad)
{
    char *const text = narrow(b, good, bad);
    printf("\n%s: the program passes with %s and fails with %s.\n", culprit, title_of(good),
           title_of(bad));
    if (b->trials.has_stopped)
        printf("Stopped early: a shorter range of sizes might do.\n");
    if (*text)
        printf("Keep:  ALLREDUCE_ALGO='%s'\nas in  allreduce run --algo '%s' PROGRAM", text, text);
    else
        printf("Keep:  the library, with %s\nas in  allreduce run PROGRAM", title_of(text));
    printf(", after the launcher\n");
    free(text);
    return AR_EXIT_DONE;
}

static int
give_up(const struct bisection *b, const char *what)
{
    printf("\n%s\n", b->trials.has_stopped ? "Stopped before anything was found." : what);
    return AR_EXIT_FAILED;
}

/* Neither the setting nor the native allreduce passes. */
static int
try_unlike(struct bisection *b)
{
    for (size_t i = 0; i < sizeof unlike / sizeof unlike[0] && !b->trials.has_stopped; i++)
        if (passes(b, unlike[i]))
            return conclude(b, "Both the MPI library's own allreduce and the setting are at fault",
                            unlike[i], "native");
    return give_up(b,
                   "It fails with every choice: the cause is not the algorithm of an allreduce.");
}

static int
bisect(struct bisection *b)
{
    const bool alone = passes(b, NULL), set = !b->trials.has_stopped && passes(b, b->setting);
    if (b->trials.has_stopped)
        return give_up(b, "");
    if (alone && set && b->was_used) {
        printf("\nIt passes with and without the library. If it fails only sometimes, use "
               "--repeat.\n");
        return AR_EXIT_DONE;
    }
    const bool native = strcmp(b->setting, "native") == 0 ? set : passes(b, "native");
    if (b->trials.has_stopped)
        return give_up(b, "");
    if ((native || set) && !b->was_used)
        return give_up(b, ar_trials_unreached);
    if (!native && set)
        return conclude(b, "The MPI library's own allreduce is at fault", b->setting, "native");
    if (native && !set)
        return conclude(b, alone ? "The setting is at fault" : "The setting is not enough",
                        "native", b->setting);
    if (native && set)
        return give_up(b, "It passes under the library even with native: the choice of an "
                          "algorithm is not the cause.");
    if (alone)
        return give_up(b, "It fails under the library even with native: run it without the "
                          "library, and please report this.");
    return try_unlike(b);
}

/* --- command line --- */

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    struct bisection *const b = state->input;
    switch (key) {
    case 'a':
        b->setting = value;
        return 0;
    case 'c':
        b->trials.check = value;
        return 0;
    case 'd':
        b->trials.kept = value;
        return 0;
    case 'r':
        b->repeat = ar_option_number(state, "repeat", value, 1, 1000);
        return 0;
    case 't':
        b->limit_s = ar_option_seconds(state, "timeout", value);
        return 0;
    case ARGP_KEY_ARG:
        ar_cli_need_jansson("bisect");
        b->command = state->argv + state->next - 1;
        state->next = state->argc; /* the rest is the command's */
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "name the command to run: allreduce bisect mpiexec -n 4 ./app");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A bad setting would make every trial fail, and a promise about bits those of native.  An enum
 * ar_exit. */
static int
check_setting(const char *setting)
{
    struct ar_config *const config =
        setenv("ALLREDUCE_ALGO", setting, 1) ? NULL : ar_config_from_environment(0);
    if (!config)
        end_without_memory();
    const bool is_promise = config->determinism != AR_DETERMINISM_NONE;
    const bool is_bad = config->broken || is_promise;
    if (config->broken)
        fprintf(stderr, "allreduce bisect: %s\n", config->problem);
    else if (is_promise)
        fprintf(stderr,
                "allreduce bisect: ALLREDUCE_DETERMINISM=%s does not allow native, with which the "
                "program has to be tried: unset it\n",
                ar_determinism_names[config->determinism]);
    ar_config_destroy(config);
    return is_bad ? AR_EXIT_USAGE : AR_EXIT_DONE;
}

int
ar_cli_bisect(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"algo", 'a', "CLAUSES", 0,
         "The setting under suspicion (default: the settings as they are)", 0},
        {"check", 'c', "COMMAND", 0,
         "A command for sh that reads what the program printed; a trial passes only if this "
         "command ends with 0, too",
         0},
        {"logs", 'd', "DIR", 0, "Keep what each trial printed, and its statistics, in this folder",
         0},
        {"repeat", 'r', "N", 0, "A choice passes if N trials pass (default: 1)", 0},
        {"timeout", 't', "SECONDS", 0,
         "A trial that takes longer has failed (default: 600 until one has passed, then 10 times "
         "the longest that has passed, but at least 60)",
         0},
        {0}};
    const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "LAUNCHER [ARGUMENT...] PROGRAM [ARGUMENT...]",
        .doc = "Find the choice of allreduce with which a failing program passes, as in allreduce "
               "bisect mpiexec -n 4 ./app. Runs the program without the library, with the setting, "
               "with the MPI library's own allreduce and with different algorithms. Then narrows "
               "the choice to the message sizes that matter, and prints the setting to keep.",
    };
    const char *const algo = getenv("ALLREDUCE_ALGO");
    struct bisection b = {.setting = algo ? algo : "", .repeat = 1, .trials = {.name = "bisect"}};
    ar_cli_parse_alone(&argp, ARGP_IN_ORDER, argc, argv, &b);
    char *const setting = strdup(b.setting); /* which may be a value of the environment */
    int status = setting ? check_setting(setting) : AR_EXIT_FAILED;
    if (status) {
        free(setting);
        return status;
    }
    b.setting = ar_algo_clauses(setting);
    status = AR_EXIT_FAILED;
    if (ar_trials_begin(&b.trials)) {
        printf("trial  %-40s %8s    end\n", "choice", "time");
        status = bisect(&b);
        if (b.trials.kept)
            printf("What the trials printed is in %s.\n", b.trials.folder);
    }
    ar_trials_end(&b.trials);
    free(setting);
    return status;
}
