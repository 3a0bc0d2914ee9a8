/* allreduce advise: from a program to a verdict.  It runs the program with statistics, says where
 * its time in allreduces goes, lets tune write rules for its calls, and runs it in turns with and
 * without them. */
#include <config.h>

#include <argp.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/preload.h"
#include "cli/trials.h"
#include "config/config.h"
#include "config/data.h"
#include "config/files.h"
#include "report/clock.h"
#include "report/json.h"
#include "tuning/estimate.h"

#define RUNS_MOST  AR_VALUES_MAX
#define RUNS_USUAL 3
#define TUNING_S   60.0
#define LATE_S     30.0 /* so long behind its budget tune has surely stopped answering */
#define FOR_EVER_S 1e9
#define WORTH_IT   0.002 /* of a run: less is not to be told from noise */

enum side { AS_IT_IS, WITH_RULES, SIDES };

static const char *const titles[SIDES] = {"as it is", "with the rules"};

struct advice {
    const char *output; /* for the rules; NULL: named after the program */
    const char *given;  /* rules that there are already; NULL: tune writes them */
    long runs;          /* of each side */
    double budget_s;    /* for all that comes after the first run; 0: none */
    bool is_json;
    char **command;
    int program; /* its place in the command; 0: not known */
    /* ALLREDUCE_ALGO and ALLREDUCE_RULES of the runs as it is; NULL: not set.  Where nothing is
     * set, they are of the MPI library's own allreduce.  Owned. */
    char *algo, *set_rules;
    bool is_promised; /* ALLREDUCE_DETERMINISM is set */
    bool was_interrupted;
    double late_s; /* after which the last run was ended with the budget; 0: it was not */
    struct ar_trials trials;
    char rules[PATH_MAX];
    double begun_s; /* when the first run had ended */
    double first_s; /* how long it took */
    /* Of each side's runs: all of it, and a rank's time in algorithms and set-up. */
    struct ar_values run_s[SIDES], in_s[SIDES];
    char verdict[512];
    bool keeps;
};

/* --- what is told --- */

/* For people; with --json nothing is. */
static void __attribute__((format(printf, 2, 3)))
tell(const struct advice *a, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (!a->is_json)
        vprintf(format, list);
    va_end(list);
    fflush(stdout);
}

static void __attribute__((format(printf, 2, 3)))
conclude(struct advice *a, const char *format, ...)
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

static void
write_words(FILE *to, char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        fprintf(to, "%s%s", i > 0 ? " " : "", words[i]);
}

static int
count_words(char *const *words)
{
    int n = 0;
    while (words[n])
        n++;
    return n;
}

/* --- runs of the program --- */

static void
tell_advice(void *advice, const char *text)
{
    tell(advice, "%s.\n", text);
}

/* Reads what the last run spent in allreduces.  False, having said why, where there are no
 * statistics. */
static bool
take_times(struct advice *a, enum side side, double seconds)
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
            ar_facts_advise_program(&facts, tell_advice, a);
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
seconds_left(const struct advice *a)
{
    return a->budget_s == 0 || a->trials.n == 0 ? FOR_EVER_S : a->budget_s - (now_s() - a->begun_s);
}

/* False where the run does not pass: there is a verdict, unless it was ended with the budget. */
static bool
run_program(struct advice *a, enum side side)
{
    char end[128], line[AR_TRIAL_LINE], time[AR_NUMBER_TEXT];
    const bool has_rules = side == WITH_RULES;
    const int error = set_variable("ALLREDUCE_ALGO", has_rules ? NULL : a->algo) ||
                      set_variable("ALLREDUCE_RULES", has_rules ? a->rules : a->set_rules);
    announce(titles[side], a->first_s);
    const struct ar_attempt_result result =
        error ? (struct ar_attempt_result){AR_ATTEMPT_NOT_STARTED, ENOMEM, 0}
              : ar_trials_run(&a->trials, a->command, true, seconds_left(a));
    a->was_interrupted = result.end == AR_ATTEMPT_INTERRUPTED;
    a->late_s = result.end == AR_ATTEMPT_LATE ? result.seconds : 0;
    ar_attempt_describe(&result, end, sizeof end);
    tell(a, "run %d, %s: %s, %s\n", a->trials.n, titles[side],
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
             titles[side], end);
    return false;
}

/* In turns, the first run counted.  False, and there is a verdict, where one fails; what there was
 * before one that was cut short is judged. */
static bool
run_in_turns(struct advice *a)
{
    bool has_passed = !a->trials.has_stopped;
    for (long i = 1; i < 2 * a->runs && has_passed && a->first_s <= seconds_left(a); i++)
        has_passed = run_program(a, i % 2 ? WITH_RULES : AS_IT_IS);
    return has_passed || a->was_interrupted || a->late_s > 0;
}

/* --- rules --- */

/* Are there rules in the file that tune wrote because they are faster?  Tells what it says, and
 * whether it had too little time. */
static bool
read_rules(const struct advice *a, const char *log, bool *lacks_time)
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
tune(struct advice *a)
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
judge(struct advice *a)
{
    double saved[RUNS_MOST], part[RUNS_MOST];
    char saves[128], takes[128], spends[AR_NUMBER_TEXT], run[AR_NUMBER_TEXT];
    const int n = a->run_s[WITH_RULES].n; /* no more than of the other side */
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
        saved[i] = a->in_s[AS_IT_IS].seconds[i] - a->in_s[WITH_RULES].seconds[i];
        part[i] = a->run_s[WITH_RULES].seconds[i] / a->run_s[AS_IT_IS].seconds[i];
    }
    const struct ar_estimate all_saved = estimate(saved, n), all_part = estimate(part, n);
    print_estimate(saves, sizeof saves, &all_saved, n, 1e9);
    print_estimate(takes, sizeof takes, &all_part, n, 0);
    a->keeps = all_saved.low > 0;
    conclude(a,
             "Of the %s that a rank spends in algorithms and set-up, the rules save %s. A whole "
             "run of %s takes %s times as long with them.",
             ar_time_print(ar_values_median(&a->in_s[AS_IT_IS]) * 1e9, spends, sizeof spends),
             saves, ar_time_print(ar_values_median(&a->run_s[AS_IT_IS]) * 1e9, run, sizeof run),
             takes);
}

/* What would be saved if all algorithms took no time is too little. */
static bool
is_worth_it(struct advice *a)
{
    const double most = a->in_s[AS_IT_IS].seconds[0] / a->first_s;
    if (most >= WORTH_IT)
        return true;
    conclude(a, "Nothing is to be won: algorithms and set-up take %.2f %% of the run.", 100 * most);
    return false;
}

static void
advise(struct advice *a)
{
    if (!run_program(a, AS_IT_IS))
        return;
    a->begun_s = now_s();
    a->first_s = a->run_s[AS_IT_IS].seconds[0];
    if (!is_worth_it(a) || (!a->given && !tune(a)))
        return;
    if (run_in_turns(a))
        judge(a);
}

/* The line to keep. */
static void
write_line(const struct advice *a, FILE *to)
{
    const int n = a->program;
    if (n == 0) {
        fprintf(to, "LD_PRELOAD=%s ALLREDUCE_RULES=%s", a->trials.library, a->rules);
        return;
    }
    write_words(to, a->command, n);
    fprintf(to, " allreduce run --rules %s ", a->rules);
    write_words(to, a->command + n, count_words(a->command + n));
}

static void
write_json(const struct advice *a)
{
    struct ar_json json = {.to = stdout};
    char *line = NULL;
    size_t length;
    FILE *const to = open_memstream(&line, &length);
    if (to) {
        write_line(a, to);
        fclose(to);
    }
    ar_json_begin(&json, NULL, '{');
    ar_json_put(&json, "format", "1");
    ar_json_put_text(&json, "verdict", a->verdict);
    ar_json_put(&json, "keep", a->keeps ? "true" : "false");
    if (a->keeps && line)
        ar_json_put_text(&json, "line", line);
    ar_json_begin(&json, "runs", '[');
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < a->run_s[side].n; i++) {
            ar_json_begin(&json, NULL, '{');
            ar_json_put_text(&json, "setting", titles[side]);
            ar_json_put(&json, "run_s", "%.9g", a->run_s[side].seconds[i]);
            ar_json_put(&json, "in_allreduces_s", "%.9g", a->in_s[side].seconds[i]);
            ar_json_end(&json, '}');
        }
    ar_json_end(&json, ']');
    ar_json_end(&json, '}');
    putchar('\n');
    free(line);
}

static void
print_verdict(const struct advice *a)
{
    tell(a, "\n%s%s\n", a->verdict, a->was_interrupted && a->keeps ? " Stopped early." : "");
    if (!a->keeps) {
        tell(a, "Keep nothing.\n");
        return;
    }
    tell(a, "Keep:  ");
    if (!a->is_json)
        write_line(a, stdout);
    tell(a, "\n");
    if (!a->is_promised)
        tell(a,
             "The last bits of sums of floating-point numbers may be others than without it; see "
             "ALLREDUCE_DETERMINISM in allreduce(7).\n");
}

/* --- command line --- */

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    struct advice *const a = state->input;
    switch (key) {
    case 'b':
        a->budget_s = ar_option_seconds(state, "budget", value);
        return 0;
    case 'c':
        a->trials.check = value;
        return 0;
    case 'd':
        a->trials.kept = value;
        return 0;
    case 'j':
        a->is_json = true;
        return 0;
    case 'n':
        a->runs = ar_option_number(state, "runs", value, 0, RUNS_MOST);
        return 0;
    case 'o':
        a->output = value;
        return 0;
    case 'r':
        a->given = value;
        return 0;
    case ARGP_KEY_ARG:
        ar_cli_need_jansson("advise");
        a->command = state->argv + state->next - 1;
        state->next = state->argc; /* the rest is the command's */
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "name the command to run: allreduce advise mpiexec -n 4 ./app");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Takes -- out of the command; what follows it is the program.  Else that is the first file that is
 * linked to an MPI library.  0: it cannot be told. */
static int
find_program(char **words)
{
    struct ar_executable file;
    for (int i = 1; words[i]; i++)
        if (strcmp(words[i], "--") == 0) {
            for (int k = i; words[k]; k++)
                words[k] = words[k + 1];
            return words[i] ? i : 0;
        }
    for (int i = 1; words[i]; i++)
        if (!ar_executable_examine(&file, words[i]) && ar_preload_family(&file))
            return i;
    return 0;
}

/* The rules' file, named after the program unless it is given.  False without memory. */
static bool
name_rules(struct advice *a)
{
    char name[256];
    const char *const slash = strrchr(a->command[a->program], '/');
    snprintf(name, sizeof name, "%s.rules", slash ? slash + 1 : a->command[a->program]);
    char *const path = ar_path_absolute(a->given ? a->given : a->output ? a->output : name);
    snprintf(a->rules, sizeof a->rules, "%s", path ? path : "");
    free(path);
    return *a->rules;
}

/* What is set already; an enum ar_exit. */
static int
read_settings(struct advice *a)
{
    const char *const algo = getenv("ALLREDUCE_ALGO"), *const rules = getenv("ALLREDUCE_RULES");
    struct ar_config *const config = ar_config_from_environment(0);
    if (!config || !name_rules(a)) {
        fprintf(stderr, "allreduce advise: out of memory\n");
        return AR_EXIT_FAILED;
    }
    const bool is_broken = config->broken;
    if (is_broken)
        fprintf(stderr, "allreduce advise: %s\n", config->problem);
    a->is_promised = config->determinism != AR_DETERMINISM_NONE;
    const bool has_settings = (algo && *algo) || (rules && *rules) || a->is_promised;
    ar_config_destroy(config);
    if (is_broken)
        return AR_EXIT_USAGE;
    const char *const first = has_settings ? algo : "native";
    a->algo = first ? strdup(first) : NULL;
    a->set_rules = rules ? strdup(rules) : NULL;
    if ((first && !a->algo) || (rules && !a->set_rules)) {
        fprintf(stderr, "allreduce advise: out of memory\n");
        return AR_EXIT_FAILED;
    }
    if (a->program || a->given)
        return AR_EXIT_DONE;
    fprintf(
        stderr,
        "allreduce advise: which word is the program? Write -- before it. If the launcher is in a "
        "script, let its program write statistics (allreduce run --stats FILE), start allreduce "
        "tune --from FILE -o RULES in its place, and then allreduce advise --rules RULES\n");
    return AR_EXIT_USAGE;
}

int
ar_cli_advise(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"budget", 'b', "TIME", 0,
         "No run begins that would end later than this after the first one (default: no limit)", 0},
        {"check", 'c', "COMMAND", 0,
         "A command for sh that reads what the program printed; a run passes only if this command "
         "ends with 0, too",
         0},
        {"json", 'j', NULL, 0, "Print the verdict as JSON, and nothing else", 0},
        {"logs", 'd', "DIR", 0, "Keep what each run printed, and its statistics, in this folder",
         0},
        {"output", 'o', "FILE", 0, "Write the rules into this file (default: PROGRAM.rules)", 0},
        {"rules", 'r', "FILE", 0, "Try these rules, and tune nothing", 0},
        {"runs", 'n', "N", 0,
         "Runs of the program with the rules, and as many as it is (default: 3; 0: only one run at "
         "all)",
         0},
        {0}};
    const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "LAUNCHER [ARGUMENT...] [--] PROGRAM [ARGUMENT...]",
        .doc = "Find out whether rules make a program faster, as in allreduce advise mpiexec -n 4 "
               "./app. Runs the program "
               "with statistics, replays its allreduces with other algorithms (tune --from), "
               "writes rules, runs the program in "
               "turns with and without them, and prints the line to keep, or that there is nothing "
               "to keep.",
    };
    struct advice a = {.runs = RUNS_USUAL, .trials = {.name = "advise"}};
    ar_cli_parse_alone(&argp, ARGP_IN_ORDER, argc, argv, &a);
    a.program = find_program(a.command);
    const int status = read_settings(&a);
    if (status)
        return status;
    if (!ar_trials_begin(&a.trials))
        return AR_EXIT_FAILED;
    advise(&a);
    if (a.is_json)
        write_json(&a);
    print_verdict(&a);
    ar_trials_end(&a.trials);
    free(a.algo);
    free(a.set_rules);
    return a.was_interrupted         ? AR_EXIT_INTERRUPTED
           : a.run_s[AS_IT_IS].n > 0 ? AR_EXIT_DONE
                                     : AR_EXIT_FAILED;
}
