/* What allreduce advise runs: the program with statistics, tune in its place, and the program in
 * turns with and without the rules, until there is a verdict. */
#include <config.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/advisor.h"
#include "cli/cli.h"
#include "config/data.h"
#include "report/clock.h"

#define TUNING_S   60.0
#define LATE_S     30.0 /* so long behind its budget tune has surely stopped answering */
#define FOR_EVER_S 1e9
#define WORTH_IT   0.002 /* of a run: less is not to be told from noise */

const char *const ar_advisor_sides[AR_ADVISOR_SIDES] = {"as it is", "with the rules"};

/* --- what is told --- */

/* For people; with --json nothing is. */
static void __attribute__((format(printf, 2, 3)))
tell(const struct ar_advisor *a, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (!a->is_json)
        vprintf(format, list);
    va_end(list);
    fflush(stdout);
}

static void __attribute__((format(printf, 2, 3)))
conclude(struct ar_advisor *a, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(a->verdict, sizeof a->verdict, format, list);
    va_end(list);
}

/* What is being done, on a terminal. */
static void
announce(const char *what, double seconds)
{
    char time[AR_NUMBER_TEXT];
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "allreduce advise: %s%s%s\n", what, seconds > 0 ? ", about " : "",
                seconds > 0 ? ar_time_print(seconds * 1e9, time, sizeof time) : "");
}

static double
now_s(void)
{
    return (double)ar_clock_system_ns() * 1e-9;
}

/* --- runs of the program --- */

static void
tell_advice(void *advisor, const char *text)
{
    struct ar_advisor *const a = advisor;
    tell(a, "%s.\n", text);
    snprintf(a->advices[a->nadvices++], AR_FACTS_TEXT, "%s", text);
}

/* Reads what the last run spent in allreduces.  False, having said why, where there are no
 * statistics. */
static bool
take_times(struct ar_advisor *a, enum ar_advisor_side side, double seconds)
{
    struct ar_read_run run;
    struct ar_facts facts;
    char text[AR_FACTS_TEXT];
    if (!ar_trials_read(&a->trials, &run)) {
        conclude(a, "%s", ar_trials_unreached);
        return false;
    }
    const bool is_made = ar_facts_make(&facts, &run, 0);
    if (!is_made)
        conclude(a, "Out of memory.");
    if (is_made) {
        ar_values_add(&a->run_s[side], seconds);
        ar_values_add(&a->in_s[side], ar_facts_seconds(&facts, facts.own_ns + facts.setup_ns));
    }
    if (is_made && a->trials.n == 1) {
        tell(a, "%s\n", ar_facts_verdict(&facts, text, sizeof text));
        tell(a, "%s\n", ar_facts_times(&facts, text, sizeof text));
        if (ar_source_lines_find(&run.lines, &run.table.sites, run.when))
            a->advised = ar_facts_advise_program(&facts, tell_advice, a);
    }
    ar_facts_fini(&facts);
    ar_run_fini(&run);
    return is_made;
}

static int
set_variable(const char *name, const char *value)
{
    return value ? setenv(name, value, 1) : unsetenv(name);
}

/* Of the budget; what follows the first run has one. */
static double
seconds_left(const struct ar_advisor *a)
{
    return a->budget_s == 0 || a->trials.n == 0 ? FOR_EVER_S : a->budget_s - (now_s() - a->begun_s);
}

/* False where the run does not pass: there is a verdict, unless it was ended with the budget. */
static bool
run_program(struct ar_advisor *a, enum ar_advisor_side side)
{
    char end[128], line[AR_TRIAL_LINE], time[AR_NUMBER_TEXT];
    const bool has_rules = side == AR_WITH_RULES;
    const int error = set_variable("ALLREDUCE_ALGO", has_rules ? NULL : a->algo) ||
                      set_variable("ALLREDUCE_RULES", has_rules ? a->rules : a->set_rules);
    announce(ar_advisor_sides[side], a->first_s);
    const struct ar_attempt_result result =
        error ? (struct ar_attempt_result){AR_ATTEMPT_NOT_STARTED, ENOMEM, 0}
              : ar_trials_run(&a->trials, a->command, true, seconds_left(a));
    a->was_interrupted = result.end == AR_ATTEMPT_INTERRUPTED;
    a->late_s = result.end == AR_ATTEMPT_LATE ? result.seconds : 0;
    ar_attempt_describe(&result, end, sizeof end);
    tell(a, "run %d, %s: %s, %s\n", a->trials.n, ar_advisor_sides[side],
         ar_time_print(result.seconds * 1e9, time, sizeof time), end);
    if (result.end == AR_ATTEMPT_PASSED)
        return take_times(a, side, result.seconds);
    if (a->late_s > 0)
        return false;
    if (a->was_interrupted) {
        conclude(a, "Stopped before anything was found.");
        return false;
    }
    ar_trials_last_line(&a->trials, line);
    if (*line)
        tell(a, "    | %s\n", line);
    conclude(a,
             "The program ended otherwise than it should %s: %s. allreduce bisect finds out "
             "whether an allreduce is the cause.",
             ar_advisor_sides[side], end);
    return false;
}

/* In turns, the first run counted.  False, and there is a verdict, where one fails; what there was
 * before one that was cut short is judged. */
static bool
run_in_turns(struct ar_advisor *a)
{
    bool has_passed = !a->trials.has_stopped;
    for (long i = 1; i < 2 * a->runs && has_passed && a->first_s <= seconds_left(a); i++)
        has_passed = run_program(a, i % 2 ? AR_WITH_RULES : AR_AS_IT_IS);
    return has_passed || a->was_interrupted || a->late_s > 0;
}

/* --- rules --- */

/* Are there rules in the file that tune wrote because they are faster?  Tells what it says, and
 * whether it had too little time. */
static bool
read_rules(const struct ar_advisor *a, const char *log, bool *lacks_time)
{
    char *line = NULL;
    size_t room = 0;
    bool has_faster = false;
    FILE *file = fopen(log, "r");
    while (file && getline(&line, &room, file) >= 0) {
        const bool is_short = strstr(line, "a longer --budget");
        *lacks_time |= is_short;
        if (is_short || strncmp(line, "saves ", strlen("saves ")) == 0)
            tell(a, "tune: %s", line);
    }
    if (file)
        fclose(file);
    file = fopen(a->rules, "r");
    while (file && getline(&line, &room, file) >= 0)
        has_faster |= *line != '#' && strstr(line, "# faster");
    if (file)
        fclose(file);
    free(line);
    return has_faster;
}

/* tune takes the program's place under the launcher.  False, and there is a verdict, where it finds
 * nothing. */
static bool
tune(struct ar_advisor *a)
{
    const double seconds =
        a->budget_s > 0 && a->budget_s / 2 < TUNING_S ? a->budget_s / 2 : TUNING_S;
    char own[PATH_MAX], log[AR_TRIAL_PATH], statistics[AR_TRIAL_PATH], budget[32], end[128];
    char **const words = calloc((size_t)a->program + 9, sizeof *words);
    if (!words) {
        conclude(a, "Out of memory.");
        return false;
    }
    ar_own_path(own);
    ar_trials_path(&a->trials, log, "tune");
    ar_trials_path(&a->trials, statistics, "jsonl");
    snprintf(budget, sizeof budget, "%.0fs", fmax(seconds, 1));
    memcpy(words, a->command, (size_t)a->program * sizeof *words);
    const char *const ours[] = {own,        "tune",   "--from",   statistics,
                                "--output", a->rules, "--budget", budget};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        words[(size_t)a->program + i] = (char *)ours[i];
    unsetenv("ALLREDUCE_STATS");
    announce("replaying the program's calls with other algorithms", seconds);
    const struct ar_attempt_result result =
        ar_attempt_run(&(struct ar_attempt){words, NULL, log, seconds + LATE_S});
    free(words);
    a->was_interrupted = result.end == AR_ATTEMPT_INTERRUPTED;
    a->trials.has_stopped |= a->was_interrupted;
    bool lacks_time = false;
    const bool has_rules = read_rules(a, log, &lacks_time);
    if (result.end != AR_ATTEMPT_PASSED && !a->was_interrupted && !lacks_time)
        conclude(
            a,
            "allreduce tune --from, in the program's place, failed: %s. --logs keeps what it says.",
            ar_attempt_describe(&result, end, sizeof end));
    else if (!has_rules)
        conclude(a, a->was_interrupted ? "Stopped before anything was found."
                    : lacks_time       ? "There was too little time to find a faster algorithm."
                                       : "No algorithm is known to be faster for its calls.");
    return has_rules;
}

/* --- the verdict --- */

/* The interval of the median, or of few values from the least to the greatest.  Sorts them. */
static struct ar_estimate
estimate(double *values, int n)
{
    struct ar_estimate e = ar_estimate_make(values, (size_t)n);
    if (isnan(e.low)) {
        e.low = values[0];
        e.high = values[n - 1];
    }
    return e;
}

/* "1.3 ms (1.2 ms to 1.4 ms)"; unit: 1e9 for seconds, and 0 for a bare number. */
static void
print_estimate(char *text, size_t room, const struct ar_estimate *e, int n, double unit)
{
    const double values[] = {e->median, e->low, e->high};
    char texts[3][AR_NUMBER_TEXT];
    for (int i = 0; i < 3; i++)
        if (unit > 0)
            ar_time_print(values[i] * unit, texts[i], sizeof texts[i]);
        else
            ar_number_print(values[i], texts[i], sizeof texts[i]);
    snprintf(text, room, n > 1 ? "%s (%s to %s)" : "%s", texts[0], texts[1], texts[2]);
}

static void
judge(struct ar_advisor *a)
{
    double saved[AR_ADVISOR_RUNS], part[AR_ADVISOR_RUNS];
    char saves[128], takes[128], spends[AR_NUMBER_TEXT], run[AR_NUMBER_TEXT];
    const int n = a->run_s[AR_WITH_RULES].n; /* no more than of the other side */
    if (n == 0 && a->late_s > 0) {
        conclude(a,
                 "The budget was over before the program had ended with the rules: after %s, while "
                 "it takes %s as it is. Whether the rules save time is not known.",
                 ar_time_print(a->late_s * 1e9, spends, sizeof spends),
                 ar_time_print(a->first_s * 1e9, run, sizeof run));
        return;
    }
    if (n == 0) {
        a->keeps = true;
        conclude(a, "The program ran once. That the rules save time is what tune says; they were "
                    "not tried in the program.");
        return;
    }
    for (int i = 0; i < n; i++) {
        saved[i] = a->in_s[AR_AS_IT_IS].seconds[i] - a->in_s[AR_WITH_RULES].seconds[i];
        part[i] = a->run_s[AR_WITH_RULES].seconds[i] / a->run_s[AR_AS_IT_IS].seconds[i];
    }
    const struct ar_estimate all_saved = estimate(saved, n), all_part = estimate(part, n);
    print_estimate(saves, sizeof saves, &all_saved, n, 1e9);
    print_estimate(takes, sizeof takes, &all_part, n, 0);
    a->keeps = all_saved.low > 0;
    conclude(a,
             "Of the %s that a rank spends in algorithms and set-up, the rules save %s. A whole "
             "run of %s takes %s times as long with them.",
             ar_time_print(ar_values_median(&a->in_s[AR_AS_IT_IS]) * 1e9, spends, sizeof spends),
             saves, ar_time_print(ar_values_median(&a->run_s[AR_AS_IT_IS]) * 1e9, run, sizeof run),
             takes);
}

/* What would be saved if all algorithms took no time is too little.  What the program itself may do
 * is another matter. */
static bool
is_worth_it(struct ar_advisor *a)
{
    const double most = a->in_s[AR_AS_IT_IS].seconds[0] / a->first_s;
    if (most >= WORTH_IT)
        return true;
    conclude(a, "Nothing is to be won%s: algorithms and set-up take %.2f %% of the run.%s%s",
             a->advised ? " by another algorithm" : "", 100 * most,
             a->advised & AR_ADVICE_MERGE ? " The program could merge its calls." : "",
             a->advised & AR_ADVICE_LATE ? " Its ranks could share their work more evenly." : "");
    return false;
}

void
ar_advisor_run(struct ar_advisor *a)
{
    if (!run_program(a, AR_AS_IT_IS))
        return;
    a->begun_s = now_s();
    a->first_s = a->run_s[AR_AS_IT_IS].seconds[0];
    if (!is_worth_it(a) || (!a->given && !tune(a)))
        return;
    if (run_in_turns(a))
        judge(a);
}
