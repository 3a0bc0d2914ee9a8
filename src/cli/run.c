/* allreduce run: starts a program under the preloaded library, having checked what
 * would otherwise go wrong silently. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/preload.h"
#include "cli/program.h"
#include "config/config.h"
#include "config/rank.h"

/* As env(1) and shells have it. */
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND  127

/* Where stderr is while other ranks speak. */
static int stderr_kept = -1;

enum value { WORDS, PATH, PATTERN /* a path in which % is special */ };

enum { DETERMINISM = 256, TUNE, VERIFY };

/* Options that stand for a variable of the environment. */
static const struct setting {
    const char *option;
    const char *variable;
    int key;
    enum value value;
    const char *unsaid; /* the value of the option alone; NULL: it wants one */
} settings[] = {
    {"algo", "ALLREDUCE_ALGO", 'a', WORDS, NULL},
    {"determinism", "ALLREDUCE_DETERMINISM", DETERMINISM, WORDS, NULL},
    {"rules", "ALLREDUCE_RULES", 'r', PATH, NULL},
    {"stats", "ALLREDUCE_STATS", 's', PATTERN, NULL},
    {"tune", "ALLREDUCE_TUNE", TUNE, WORDS, "online"},
    {"verbose", "ALLREDUCE_VERBOSE", 'v', WORDS, "1"},
    {"verify", "ALLREDUCE_VERIFY", VERIFY, WORDS, "1"},
};

enum { NSETTINGS = sizeof settings / sizeof settings[0] };

struct request {
    const char *values[NSETTINGS]; /* NULL: not given */
    const char *library;           /* NULL: the one that belongs to us */
    char **program;                /* with its arguments, ended by NULL; NULL: none given */
};

static const struct argp_option options[] = {
    {"algo", 'a', "CLAUSES", 0, "What runs, as in ALLREDUCE_ALGO: ring, 'butterfly:0-8K;ring'", 0},
    {"determinism", DETERMINISM, "LEVEL", 0,
     "What must not change the bits of rounded results: run, placement, size or order", 0},
    {"rules", 'r', "FILE", 0, "A file of clauses, asked where --algo says nothing", 0},
    {"stats", 's', "FILE", 0,
     "Write statistics of all calls on all ranks; as JSON lines if FILE ends in .json or .jsonl",
     0},
    {"tune", TUNE, "online", OPTION_ARG_OPTIONAL,
     "Let calls try what may be faster than what auto picks; the winner stays", 0},
    {"verbose", 'v', "N", OPTION_ARG_OPTIONAL,
     "Tell at the end on stderr what ran and why (1); of every rank (2)", 0},
    {"verify", VERIFY, "WHICH", OPTION_ARG_OPTIONAL,
     "Compare each call (1), or one of N (1/N), with the native one; 1/N,warn goes on after a "
     "wrong result",
     0},
    {"library", 'l', "FILE", 0, "Preload this library and not the one that belongs to allreduce",
     0},
    {0},
};

/* --- who speaks --- */

static void
if_mute_let_others_speak(void)
{
    if (stderr_kept >= 0)
        ar_options_let_others_speak();
}

static void
mute(void)
{
    atexit(if_mute_let_others_speak);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    stderr_kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (nowhere >= 0 && stderr_kept >= 0)
        dup2(nowhere, STDERR_FILENO);
    if (nowhere >= 0)
        close(nowhere);
}

static void
unmute(void)
{
    if (stderr_kept < 0)
        return;
    fflush(stderr);
    dup2(stderr_kept, STDERR_FILENO);
    close(stderr_kept);
    stderr_kept = -1;
}

/* What messages begin with: on other nodes than rank 0's, the name of the node. */
static const char *
speaker(void)
{
    static char who[320];
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    if (ar_rank_in_job() == 0)
        return "allreduce run";
    snprintf(who, sizeof who, "allreduce run on %s", host);
    return who;
}

/* --- settings --- */

/* Names of files are of this folder, whatever folder the program goes to; a % of the
 * folder's is an ordinary one.  Malloced; NULL without memory. */
static char *
value_of(const struct setting *setting, const char *given)
{
    char *const path = setting->value == WORDS ? strdup(given) : ar_path_absolute(given);
    char *value = NULL;
    size_t length, folder = path ? strlen(path) - strlen(given) : 0;
    if (!path || setting->value != PATTERN)
        return path;
    FILE *const out = open_memstream(&value, &length);
    for (size_t i = 0; out && path[i]; i++)
        fprintf(out, i < folder && path[i] == '%' ? "%%%%" : "%c", path[i]);
    free(path);
    if (!out || fclose(out) == 0)
        return value;
    free(value);
    return NULL;
}

static int
set_variables(const struct request *request)
{
    int error = 0;
    for (size_t i = 0; i < NSETTINGS && !error; i++) {
        if (!request->values[i])
            continue;
        char *const value = value_of(&settings[i], request->values[i]);
        error = !value || setenv(settings[i].variable, value, 1);
        free(value);
    }
    return error;
}

/* "ALLREDUCE_ALGO: column 1: ..." as the one who typed --algo knows it. */
static void
print_problem(const char *problem, const struct request *request)
{
    const size_t length = strcspn(problem, ":");
    for (size_t i = 0; i < NSETTINGS; i++)
        if (request->values[i] && strlen(settings[i].variable) == length &&
            memcmp(problem, settings[i].variable, length) == 0) {
            fprintf(stderr, "allreduce run: --%s%s\n", settings[i].option, problem + length);
            return;
        }
    fprintf(stderr, "allreduce run: %s\n", problem);
}

/* Reads all settings as the library will: a bad one would end the job later. */
static int
check_settings(const struct request *request)
{
    struct ar_config *const config = set_variables(request) ? NULL : ar_config_from_environment();
    if (!config) {
        fprintf(stderr, "allreduce run: out of memory\n");
        return AR_EXIT_FAILED;
    }
    if (config->broken)
        print_problem(config->problem, request);
    const int error = config->error;
    ar_config_destroy(config);
    return error ? AR_EXIT_USAGE : AR_EXIT_DONE;
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

static int
find_program(struct ar_program *program, const char *name)
{
    if (is_launcher(name)) {
        fprintf(stderr,
                "allreduce run: %s starts the ranks, so it comes first: %s ... allreduce run "
                "[OPTION...] PROGRAM\n",
                name, name);
        return AR_EXIT_USAGE;
    }
    const int error = ar_program_examine(program, name);
    if (!error)
        return AR_EXIT_DONE;
    fprintf(stderr, "%s: %s: %s\n", speaker(), name,
            error == ENOENT && !strchr(name, '/') ? "not found in PATH" : strerror(error));
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static int
find_library(char **library, const char *named)
{
    *library = named ? ar_path_absolute(named) : ar_preload_find();
    if (!*library)
        fprintf(stderr,
                "%s: " AR_PRELOAD_NAME " is not where it was installed; give --library FILE\n",
                speaker());
    else if (access(*library, R_OK) == 0)
        return AR_EXIT_DONE;
    else
        fprintf(stderr, "%s: library %s: %s\n", speaker(), *library, strerror(errno));
    free(*library);
    return AR_EXIT_FAILED;
}

/* Sets LD_PRELOAD; ends with a status if the program should not run so. */
static int
prepare(struct ar_program *program, const struct request *request)
{
    char *library;
    int status = find_program(program, request->program[0]);
    if (!status)
        status = find_library(&library, request->library);
    if (status)
        return status;
    if (ar_preload_set(library) || ar_preload_check(program, library, speaker()))
        status = AR_EXIT_FAILED;
    free(library);
    return status;
}

/* --- command line --- */

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    struct request *const request = state->input;
    for (size_t i = 0; i < NSETTINGS; i++)
        if (settings[i].key == key) {
            request->values[i] = value ? value : settings[i].unsaid;
            return 0;
        }
    switch (key) {
    case 'l':
        request->library = value;
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

/* Becomes the program; returns only if that fails. */
static int
become(const struct ar_program *program, char **argv)
{
    unmute();
    execvp(program->path, argv);
    fprintf(stderr, "%s: %s: %s\n", speaker(), program->path, strerror(errno));
    return EXIT_CANNOT_RUN;
}

int
ar_cli_run(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "PROGRAM [ARGUMENT...]",
        .doc = "Run a program under the preloaded library, as in mpiexec -n 4 allreduce run "
               "--algo ring ./app. Checks first that the settings can be understood and that the "
               "library suits the program and its MPI.",
    };
    struct request request = {0};
    struct ar_program program;

    if (ar_rank_in_job() != 0) /* what is wrong with the command line is told once */
        mute();
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &request);
    int status = check_settings(&request);
    if (status)
        return status;
    if (ar_rank_on_node() == 0) /* and what is wrong with files, once a node */
        unmute();
    status = prepare(&program, &request);
    return status ? status : become(&program, request.program);
}
