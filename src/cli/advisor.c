/* allreduce advise: from a program to a verdict.  It runs the program with statistics, says where
 * its time in allreduces goes, lets tune write rules for its calls, and runs it in turns with and
 * without them. */
#include <config.h>

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/advisor.h"
#include "cli/cli.h"
#include "cli/preload.h"
#include "config/config.h"
#include "config/files.h"
#include "report/json.h"

#define RUNS_USUAL 3

/* --- what is printed --- */

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

/* The line to keep. */
static void
write_line(const struct ar_advisor *a, FILE *to)
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
write_json(const struct ar_advisor *a)
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
    ar_json_begin(&json, "advice", '[');
    for (int i = 0; i < a->nadvices; i++)
        ar_json_put_text(&json, NULL, a->advices[i]);
    ar_json_end(&json, ']');
    ar_json_begin(&json, "runs", '[');
    for (int side = 0; side < AR_ADVISOR_SIDES; side++)
        for (int i = 0; i < a->run_s[side].n; i++) {
            ar_json_begin(&json, NULL, '{');
            ar_json_put_text(&json, "setting", ar_advisor_sides[side]);
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
print_verdict(const struct ar_advisor *a)
{
    printf("\n%s%s\n", a->verdict, a->was_interrupted && a->keeps ? " Stopped early." : "");
    if (!a->keeps) {
        printf("Keep nothing.\n");
        return;
    }
    printf("Keep:  ");
    write_line(a, stdout);
    printf("\n");
    if (!a->is_promised)
        printf("The last bits of sums of floating-point numbers may be others than without it; see "
               "ALLREDUCE_DETERMINISM in allreduce(7).\n");
}

/* --- command line --- */

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    struct ar_advisor *const a = state->input;
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
        a->runs = ar_option_number(state, "runs", value, 0, AR_ADVISOR_RUNS);
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

static bool
is_mpi_program(const char *word)
{
    struct ar_executable file;
    return !ar_executable_examine(&file, word) && ar_preload_family(&file);
}

/* Takes -- out of the command; what follows it is the program.  Else that is the first file that is
 * linked to an MPI library.  0: it cannot be told, or no launcher is before it. */
static int
find_program(char **words)
{
    for (int i = 1; words[i]; i++)
        if (strcmp(words[i], "--") == 0) {
            for (int k = i; words[k]; k++)
                words[k] = words[k + 1];
            return words[i] ? i : 0;
        }
    for (int i = 1; words[i]; i++)
        if (is_mpi_program(words[i]))
            return i;
    return 0;
}

/* The rules' file, named after the program unless it is given.  False without memory. */
static bool
name_rules(struct ar_advisor *a)
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
read_settings(struct ar_advisor *a)
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
    if (is_mpi_program(*a->command))
        fprintf(stderr,
                "allreduce advise: no launcher is before %s: allreduce advise mpiexec -n 4 %s\n",
                *a->command, *a->command);
    else
        fprintf(stderr,
                "allreduce advise: which word is the program? Write -- before it. If the launcher "
                "is in a script, let its program write statistics (allreduce run --stats FILE). "
                "Then start allreduce tune --from FILE -o RULES in its place, and after that "
                "allreduce advise --rules RULES\n");
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
               "./app. Runs the program with statistics, replays its allreduces with other "
               "algorithms (tune --from), and writes rules. Then runs the program in turns with "
               "and without them, and prints the line to keep, or that there is nothing to keep.",
    };
    struct ar_advisor a = {.runs = RUNS_USUAL, .trials = {.name = "advise"}};
    ar_cli_parse_alone(&argp, ARGP_IN_ORDER, argc, argv, &a);
    a.program = find_program(a.command);
    int status = read_settings(&a);
    if (!status && !ar_trials_begin(&a.trials))
        status = AR_EXIT_FAILED;
    if (!status) {
        ar_advisor_run(&a);
        (a.is_json ? write_json : print_verdict)(&a);
        ar_trials_end(&a.trials);
        status = a.was_interrupted            ? AR_EXIT_INTERRUPTED
                 : a.run_s[AR_AS_IT_IS].n > 0 ? AR_EXIT_DONE
                                              : AR_EXIT_FAILED;
    }
    free(a.algo);
    free(a.set_rules);
    return status;
}
