/* allreduce run: starts a program under the preloaded library, having checked what
 * would otherwise go wrong silently. */
#include <config.h>

#include <argp.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/written_row.h"
#include "cli/cli.h"
#include "cli/explain.h"
#include "cli/preload.h"
#include "config/config.h"
#include "config/data.h"
#include "config/files.h"
#include "config/rank.h"
#include "config/variables.h"

/* As env(1) and shells have it. */
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND  127

struct request {
    const char *values[AR_VARIABLES]; /* of options that stand for variables; NULL: not given */
    const char *library;              /* NULL: the one that belongs to us */
    bool is_dry;                      /* only print */
    char **program;                   /* with its arguments, ended by NULL; NULL: none given */
};

/* What messages begin with: on other nodes than rank 0's, the name of the node.  A rank that is
 * muted gets the name in front if it speaks at all. */
static const char *
speaker(void)
{
    static char who[320];
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    if (ar_rank_in_job() == 0 || ar_rank_on_node() != 0)
        return "allreduce run";
    snprintf(who, sizeof who, "allreduce run on %s", host);
    return who;
}

/* --- settings --- */

/* Sets a variable.  Names of files become absolute, since the program may go to another folder, and
 * a % in this folder's path stands for itself.  0, or -1 without memory. */
static int
set_variable(const struct ar_variable *v, const char *given)
{
    char *const path = v->takes == AR_OPTION_TEXT ? strdup(given) : ar_path_absolute(given);
    const size_t folder = path ? strlen(path) - strlen(given) : 0;
    char *value = NULL;
    size_t length;
    FILE *const out = path ? open_memstream(&value, &length) : NULL;
    for (size_t i = 0; out && path[i]; i++)
        fprintf(out, v->takes == AR_OPTION_PATTERN && i < folder && path[i] == '%' ? "%%%%" : "%c",
                path[i]);
    const int error = !out || fclose(out) || setenv(v->name, value, 1);
    free(path);
    free(value);
    return error ? -1 : 0;
}

static int
row_of(const char *variable)
{
    return (int)(ar_variable_find(ar_word_of(variable)) - ar_variables);
}

static bool
is_clauses(const char *given)
{
    struct ar_problem problem;
    struct ar_rules *rules = NULL;
    const bool is = !ar_rules_parse(&rules, given, &problem) && rules->nclauses > 0;
    ar_rules_destroy(rules);
    return is;
}

/* Resolves what --rules says if it is no file's name: clauses, which go after those of
 * ALLREDUCE_ALGO, or the name of an installed file.  The program's own choice comes after such
 * clauses, and before those of a file.  0; an enum ar_exit, having said why; or -1 without memory.
 */
static int
resolve_rules(struct request *request)
{
    static char *text; /* as long as the program needs it */
    const int rules = row_of("ALLREDUCE_RULES"), algo = row_of("ALLREDUCE_ALGO");
    const char *const given = request->values[rules];
    const char *first = request->values[algo] ? request->values[algo] : getenv("ALLREDUCE_ALGO");
    char reason[1024];
    struct ar_text why;
    if (!given || *given == '\0')
        return 0;
    if (!is_clauses(given)) {
        ar_text_init(&why, reason, sizeof reason);
        text = ar_data_find(AR_DATA_RULES, given, &why);
        if (!text)
            fprintf(stderr, "allreduce run: --rules: %s\n", *reason ? reason : "out of memory");
        request->values[rules] = text;
        return text ? AR_EXIT_DONE : AR_EXIT_USAGE;
    }
    first = ar_algo_clauses(first ? first : "");
    if (!first) /* intel without its variable, which is told when the settings are read */
        return 0;
    if (asprintf(&text, "%s%s%s", first, *first ? ";" : "", given) < 0)
        return -1;
    request->values[algo] = text;
    request->values[rules] = NULL;
    return unsetenv("ALLREDUCE_RULES");
}

/* Proves the files that clauses name, on rank 0 alone: others need not have them.  One that is not
 * there, or depends on the number of ranks, is left to the job.  An enum ar_exit. */
static int
prove_files(const struct ar_config *config)
{
    char path[AR_WRITTEN_PATH];
    const struct ar_written_row *row;
    int status = AR_EXIT_DONE;
    for (int source = 0; source < AR_SOURCES; source++) {
        const struct ar_rules *const rules = config->rules[source];
        for (size_t i = 0; rules && i < rules->nclauses && !status; i++) {
            const char *const file = rules->clauses[i].choice.params.file;
            if (*file && !strstr(file, "%n") && access(ar_written_path(path, file, 0), R_OK) == 0)
                status = ar_cli_read_schedule(&row, "run", path);
        }
    }
    return status;
}

/* Sets all variables, and reads them as the library will: a bad one would end the job later.
 * "ALLREDUCE_ALGO: column 1: ..." is told as the one who typed --algo knows it. */
static int
apply_settings(struct request *request)
{
    struct ar_config *config = NULL;
    int failed = resolve_rules(request);
    if (failed > 0)
        return failed;
    for (size_t i = 0; i < AR_VARIABLES && !failed; i++)
        if (request->values[i])
            failed = set_variable(&ar_variables[i], request->values[i]);
    if (!failed)
        config = ar_config_from_environment(ar_rank_in_job());
    if (!config) {
        fprintf(stderr, "allreduce run: out of memory\n");
        return AR_EXIT_FAILED;
    }
    if (config->broken) {
        const size_t length = strcspn(config->problem, ":");
        const struct ar_variable *const v =
            ar_variable_find((struct ar_word){config->problem, length});
        if (v && request->values[v - ar_variables])
            fprintf(stderr, "allreduce run: --%s%s\n", v->option, config->problem + length);
        else
            fprintf(stderr, "allreduce run: %s\n", config->problem);
    }
    const int status = config->error                            ? AR_EXIT_USAGE
                       : config->broken || ar_rank_in_job() > 0 ? AR_EXIT_DONE
                                                                : prove_files(config);
    ar_config_destroy(config);
    return status;
}

/* --- the program --- */

static bool
is_launcher(const char *program)
{
    static const char *const patterns[] = {"mpiexec*", "mpirun*", "orterun*", "prterun*", "prun",
                                           "srun",     "aprun",   "jsrun",    "ibrun",    "flux"};
    const char *const slash = strrchr(program, '/');
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        if (fnmatch(patterns[i], slash ? slash + 1 : program, 0) == 0)
            return true;
    return false;
}

/* The row of the option that stands before the program's name and needs no value, if the name is a
 * number, which may have been meant as one; else NULL. */
static const struct ar_variable *
option_of_number(char *const *program)
{
    const char *const option = program[-1];
    for (const struct ar_variable *v = ar_variables; v < ar_variables + AR_VARIABLES; v++) {
        const bool is_short = v->letter && option[0] == '-' && option[1] == v->letter && !option[2];
        const bool is_long =
            v->option && strncmp(option, "--", 2) == 0 && strcmp(option + 2, v->option) == 0;
        if (v->alone && (is_short || is_long) && ar_is_digit(program[0][0]))
            return v;
    }
    return NULL;
}

static int
find_program(struct ar_executable *program, char *const *words)
{
    const char *const name = words[0];
    char hint[256];
    struct ar_text t;
    if (is_launcher(name)) {
        fprintf(stderr,
                "allreduce run: %s starts the ranks, so it must come first: %s ... allreduce run "
                "[OPTION...] PROGRAM\n",
                name, name);
        return AR_EXIT_USAGE;
    }
    const int error = ar_executable_examine(program, name);
    if (!error)
        return AR_EXIT_DONE;
    const struct ar_variable *const v = option_of_number(words);
    ar_text_init(&t, hint, sizeof hint);
    if (v)
        ar_text_add(&t, "; if it is the value of --%s, write --%s=%s", v->option, v->option, name);
    if (v && v->letter)
        ar_text_add(&t, " or -%c%s", v->letter, name);
    if (!ar_is_digit(*name) && is_clauses(name))
        ar_text_add(&t, "; if it is the algorithm, write --algo %s", name);
    fprintf(stderr, "%s: %s: %s%s\n", speaker(), name,
            error == ENOENT && !strchr(name, '/') ? "not found in PATH" : strerror(error), hint);
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Is it there to start something else, or to read a script, so that what it is linked to says
 * nothing about MPI? */
static bool
is_wrapper(const struct ar_executable *program)
{
    static const char *const patterns[] = {
        "*sh",     "env",     "python*", "perl*",     "ruby*",   "julia*",     "R",
        "Rscript", "octave*", "java",    "numactl",   "nice",    "taskset",    "hwloc-*",
        "time",    "timeout", "stdbuf",  "valgrind",  "gdb",     "strace",     "ltrace",
        "perf",    "nsys",    "ncu",     "apptainer", "setarch", "singularity"};
    const char *const name = strrchr(program->path, '/');
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        if (fnmatch(patterns[i], name ? name + 1 : program->path, 0) == 0)
            return true;
    return program->kind == AR_EXECUTABLE_SCRIPT;
}

/* Puts the library into LD_PRELOAD.  Does it suit the program?  Says why not. */
static bool
preload(const struct ar_executable *program, const char *library)
{
    char *why = NULL;
    size_t length;
    FILE *const to = open_memstream(&why, &length);
    if (!to || ar_preload_set(library)) {
        fprintf(stderr, "%s: out of memory\n", speaker());
        return false;
    }
    const bool suits = ar_preload_check(program, library, to) == 0;
    fclose(to);
    if (length > 0 && !(suits && is_wrapper(program)))
        fprintf(stderr, "%s: %s", speaker(), why);
    free(why);
    return suits;
}

/* Sets LD_PRELOAD; ends with a status if the program should not run so. */
static int
prepare(struct ar_executable *program, const struct request *request)
{
    int status = find_program(program, request->program);
    if (status)
        return status;
    char *const library = request->library ? ar_path_absolute(request->library) : ar_preload_find();
    status = AR_EXIT_FAILED;
    if (!library)
        fprintf(stderr,
                "%s: " AR_PRELOAD_NAME " is not where it was installed; give --library FILE\n",
                speaker());
    else if (access(library, R_OK))
        fprintf(stderr, "%s: library %s: %s\n", speaker(), library, strerror(errno));
    else if (preload(program, library))
        status = AR_EXIT_DONE;
    free(library);
    return status;
}

/* --- instead of running --- */

/* What would run by these rules for each size of message, on the ranks that the launcher has
 * started.
 */
static int
show_sizes(const char *rules)
{
    struct ar_launcher launcher;
    const bool is_in_job = ar_launcher_find(&launcher, NULL) && launcher.ranks > 0;
    const struct ar_explain explained = {
        .rules = rules, .nranks = is_in_job ? launcher.ranks : 4, .element_bytes = 8};
    if (!is_in_job)
        printf("without a launcher, for 4 ranks\n");
    return ar_explain_rules(&explained);
}

static int
show(const struct request *request, const struct ar_executable *program)
{
    const char *const algo =
        ar_algo_clauses(getenv("ALLREDUCE_ALGO") ? getenv("ALLREDUCE_ALGO") : "");
    const char *const file = getenv("ALLREDUCE_RULES");
    const bool has_clauses = algo && *algo, has_file = file && *file;
    int status = AR_EXIT_DONE;
    printf("LD_PRELOAD=%s\n", getenv("LD_PRELOAD"));
    for (const struct ar_variable *v = ar_variables; v < ar_variables + AR_VARIABLES; v++)
        if (getenv(v->name))
            printf("%s=%s\n", v->name, getenv(v->name));
    printf("%s", program->path);
    for (char **word = request->program + 1; *word; word++)
        printf(" %s", *word);
    printf("\n\n");
    if (has_clauses || !has_file)
        status = show_sizes(has_clauses ? algo : "auto");
    if (has_clauses && has_file)
        printf("\nwhere no clause of ALLREDUCE_ALGO is for the message\n");
    return status || !has_file ? status : show_sizes(file);
}

/* --- command line --- */

/* The key of the option that stands for a variable. */
static int
key_of(int row)
{
    return ar_variables[row].letter ? ar_variables[row].letter : 256 + row;
}

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    struct request *const request = state->input;
    for (int i = 0; i < AR_VARIABLES; i++)
        if (ar_variables[i].option && key == key_of(i)) {
            request->values[i] = value ? value : ar_variables[i].alone;
            return 0;
        }
    switch (key) {
    case 'l':
        request->library = value;
        return 0;
    case 'n':
        request->is_dry = true;
        return 0;
    case ARGP_KEY_ARG:
        request->program = state->argv + state->next - 1;
        state->next = state->argc; /* the rest is the program's */
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "name the program to run: mpiexec -n 4 allreduce run ./app");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int
ar_cli_run(int argc, char **argv)
{
    static const struct argp_option own[] = {
        {"library", 'l', "FILE", 0,
         "Preload this library instead of the one that belongs to allreduce", 0},
        {"dry-run", 'n', NULL, 0,
         "Run nothing: print what would be set, and what would run for each size of message", 0},
    };
    struct argp_option options[AR_VARIABLES + 3] = {{0}};
    const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "PROGRAM [ARGUMENT...]",
        .doc = "Run a program with the library preloaded, as in mpiexec -n 4 allreduce run --algo "
               "ring ./app. First checks that the settings can be understood and that the library "
               "suits the program and its MPI.\v"
               "mpiexec -n 4 allreduce run -v --algo 'butterfly:0-8K;ring' ./app also prints what "
               "ran. allreduce-rules(5) has the grammar of CLAUSES, allreduce(7) more settings.",
    };
    struct request request = {0};
    struct ar_executable program;
    size_t n = 0;
    for (int i = 0; i < AR_VARIABLES; i++) {
        const struct ar_variable *const v = &ar_variables[i];
        if (v->option)
            options[n++] = (struct argp_option){
                v->option, key_of(i), v->values, v->alone ? OPTION_ARG_OPTIONAL : 0, v->help, 0};
    }
    memcpy(&options[n], own, sizeof own);

    ar_cli_mute_others(); /* what is wrong with the settings of all is told once */
    ar_cli_parse_alone(&argp, ARGP_IN_ORDER, argc, argv, &request);
    int status = apply_settings(&request);
    if (status)
        return status;
    if (ar_rank_on_node() == 0) /* and what is wrong with files, once per node */
        ar_cli_unmute();
    status = prepare(&program, &request);
    if (status)
        return status;
    if (request.is_dry)
        return ar_rank_in_job() == 0 ? show(&request, &program) : AR_EXIT_DONE;
    ar_cli_unmute();
    execvp(program.path, request.program);
    fprintf(stderr, "%s: %s: %s\n", speaker(), program.path, strerror(errno));
    return EXIT_CANNOT_RUN;
}
