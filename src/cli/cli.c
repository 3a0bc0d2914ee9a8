/* What subcommands share. */
#include "config.h"

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/preload.h"
#include "config/files.h"
#include "config/input.h"
#include "config/rank.h"
#include "model/machine.h"
#include "stub/engines.h"

/* --- the command line --- */

enum { NSTREAMS = 2 }; /* stdout, stderr */

/* Where the streams are while other ranks speak; -1: not muted. */
static int kept[NSTREAMS] = {-1, -1};

static bool is_alike; /* what is wrong now may be wrong on other ranks, too */

/* Prints what went to stderr since this rank was muted. */
static void
pass_on(void)
{
    char host[256] = "", text[4096];
    off_t done = 0;
    ssize_t n;
    (void)gethostname(host, sizeof host - 1);
    dprintf(kept[1], "rank %d on %s: ", ar_rank_in_job(), host);
    while ((n = pread(STDERR_FILENO, text, sizeof text, done)) > 0) {
        dprintf(kept[1], "%.*s", (int)n, text);
        done += n;
    }
}

/* At the exit of a rank that failed.  Some launchers end the job when the first rank fails, so that
 * what another one says could be lost, and some never do.  So a muted rank waits for a second; then
 * the first of a node tells what it had to say, unless one that is not muted has failed there.  All
 * stay for two seconds, so that none is ended or speaks because another one has left. */
static void
share_failure(int status, void *unused)
{
    struct ar_launcher launcher;
    (void)unused;
    if (status == 0 || !is_alike || !ar_launcher_find(&launcher, NULL) || launcher.ranks == 1)
        return;
    const bool is_muted = kept[1] >= 0;
    if (is_muted)
        sleep(1);
    if (ar_rank_is_first_on_node() && is_muted)
        pass_on();
    sleep(is_muted ? 1 : 2);
    ar_launcher_end_job(status);
}

void
ar_cli_mute_others(void)
{
    if (ar_launcher_is_a_rank_s())
        return; /* no rank of that job */
    is_alike = true;
    on_exit(share_failure, NULL);
    if (ar_rank_in_job() == 0)
        return;
    const int instead[NSTREAMS] = {open("/dev/null", O_WRONLY | O_CLOEXEC),
                                   memfd_create("stderr", MFD_CLOEXEC)};
    for (int i = 0; i < NSTREAMS; i++) {
        if (instead[i] < 0)
            continue;
        kept[i] = fcntl(STDOUT_FILENO + i, F_DUPFD_CLOEXEC, 3);
        if (kept[i] >= 0)
            dup2(instead[i], STDOUT_FILENO + i);
        close(instead[i]);
    }
}

void
ar_cli_unmute(void)
{
    fflush(NULL);
    for (int i = 0; i < NSTREAMS; i++)
        if (kept[i] >= 0) {
            dup2(kept[i], STDOUT_FILENO + i);
            close(kept[i]);
            kept[i] = -1;
        }
}

void
ar_cli_part(void)
{
    ar_cli_unmute();
    is_alike = false;
}

enum { USAGE = 0x1000 }; /* a key that no subcommand has */

static error_t
parse_common(int key, char *value, struct argp_state *state)
{
    (void)value;
    switch (key) {
    case '?':
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    case USAGE:
        argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
        return 0;
    case 'V':
        ar_cli_print_version();
        exit(AR_EXIT_DONE);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void
ar_cli_print_version(void)
{
    char engines[128];
    char *const library = ar_preload_find();
    ar_engines_list(engines, sizeof engines, library ? library : "");
    printf("allreduce %s\n", PACKAGE_VERSION);
    printf("library  %s\n", library ? library : "not found");
    printf("engines  %s\n", engines);
#ifdef AR_WITHOUT_JANSSON
    printf("jansson  none; left out: " AR_WITHOUT_JANSSON "\n");
#endif
    free(library);
}

/* A machine in a few words, such as 'latency 1us bandwidth 10GB/s': what a machine file says of its
 * network, and how fast ranks reduce. */
static int
parse_machine(struct ar_machine *machine, const char *words, struct ar_text *why)
{
    char text[1024], problem[AR_MACHINE_PROBLEM];
    const char *const reduction = strstr(words, "reduction ");
    const size_t before = reduction ? (size_t)(reduction - words) : strlen(words);
    const size_t length = reduction ? strcspn(reduction + 10, " ") + 10 : 0;
    snprintf(text, sizeof text, "title %s\nrank %.*s\nnetwork %.*s%s\n", words,
             reduction ? (int)length : 16, reduction ? reduction : "reduction 10GB/s", (int)before,
             words, reduction ? reduction + length : "");
    const int error = ar_machine_parse(machine, text, problem);
    if (error)
        ar_text_add(why,
                    "'%s': %s; allowed: a file, an installed machine, or latency, bandwidth "
                    "and reduction, as in 'latency 1us bandwidth 10GB/s'",
                    words, problem + strcspn(problem, " ") + 1); /* without its line */
    return error;
}

char *
ar_cli_read_text(const char *command, const char *what, const char *path, size_t most)
{
    char *text = NULL, reason[256] = "";
    struct ar_text why;
    FILE *const file = ar_input_open(path);
    ar_text_init(&why, reason, sizeof reason);
    if (!file)
        ar_text_add(&why, " %m");
    else if (ar_input_text(&text, file, most, &why) == AR_ERR_MEMORY)
        ar_text_add(&why, " out of memory");
    if (file)
        fclose(file);
    if (!text)
        fprintf(stderr, "allreduce %s: %s%s:%s\n", command, what, path, reason);
    return text;
}

int
ar_cli_read_machine(struct ar_machine *machine, const char *command, const char *file)
{
    char reason[1024];
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    const bool is_text = strchr(file, ' ') && access(file, F_OK);
    const int error =
        is_text ? parse_machine(machine, file, &why) : ar_model_file_read(machine, file, &why);
    if (error)
        fprintf(stderr, "allreduce %s: --machine: %s\n", command,
                error == AR_ERR_MEMORY ? "out of memory" : reason);
    return !error ? AR_EXIT_DONE : error == AR_ERR_MEMORY ? AR_EXIT_FAILED : AR_EXIT_USAGE;
}

void
ar_cli_need_jansson(const char *command)
{
#ifdef AR_WITHOUT_JANSSON
    fprintf(stderr,
            "allreduce %s: this allreduce was built without jansson, and therefore "
            "without " AR_WITHOUT_JANSSON "\n",
            command);
    exit(AR_EXIT_FAILED);
#else
    (void)command;
#endif
}

void
ar_cli_parse_alone(const struct argp *argp, unsigned flags, int argc, char **argv, void *input)
{
    static const struct argp_option options[] = {
        {"help", 'h', NULL, 0, "Give this help list", -1},
        {NULL, '?', NULL, OPTION_HIDDEN, NULL, 0},
        {"usage", USAGE, NULL, 0, "Give a short usage message", 0},
        {"version", 'V', NULL, 0, "Print the version", 0},
        {0},
    };
    static const struct argp common = {.options = options, .parser = parse_common};
    static const struct argp_child children[] = {{.argp = &common, .group = -1}, {0}};
    const bool has_program = flags & ARGP_IN_ORDER;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *const strange = ar_lookalike(argv[i]);
        if (has_program && argv[i][0] != '-' && !strange)
            break; /* what follows is the program's */
        if (strange) {
            fprintf(stderr, "%s: '%s': %s\n", argv[0], argv[i], strange);
            exit(AR_EXIT_USAGE);
        }
    }
    struct argp whole = *argp;
    whole.children = children;
    argp_parse(&whole, argc, argv, flags | ARGP_NO_HELP, NULL, input);
}

void
ar_cli_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    ar_cli_mute_others();
    ar_cli_parse_alone(argp, 0, argc, argv, input);
    ar_cli_part();
}

long
ar_option_number(struct argp_state *state, const char *option, const char *text, long least,
                 long most)
{
    char *end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || errno || number < least || number > most)
        argp_error(state, "--%s must be a whole number from %ld to %ld, not '%s'", option, least,
                   most, text);
    return number;
}

/* A number of the option's own unit, or a measure with its unit. */
static double
option_measure(struct argp_state *state, const char *option, const char *text,
               enum ar_measure measure, double unit, const char *unit_name)
{
    char why[AR_MACHINE_PROBLEM], *end;
    struct ar_text t;
    double value = strtod(text, &end) * unit;
    ar_text_init(&t, why, sizeof why);
    if (end != text && *end == '\0' && isfinite(value) && value > 0)
        return value / unit;
    if (ar_measure_parse(&value, measure, ar_word_of(text), &t))
        argp_error(state, "--%s %s, or a number of %s above 0", option, why, unit_name);
    if (!(value > 0))
        argp_error(state, "--%s cannot be '%s'; allowed: values above 0", option, text);
    return value / unit;
}

void
ar_option_apart(struct argp_state *state, const char *option, const char *output, const char *input)
{
    struct stat to, from;
    if (output && input && stat(output, &to) == 0 && stat(input, &from) == 0 &&
        to.st_dev == from.st_dev && to.st_ino == from.st_ino && S_ISREG(to.st_mode))
        argp_error(state, "--%s would replace %s, which is read", option, input);
}

double
ar_option_us(struct argp_state *state, const char *option, const char *text)
{
    return option_measure(state, option, text, AR_MEASURE_TIME, 1e3, "microseconds");
}

double
ar_option_gbytes(struct argp_state *state, const char *option, const char *text)
{
    return option_measure(state, option, text, AR_MEASURE_RATE, 1e9, "gigabytes per second");
}

double
ar_option_seconds(struct argp_state *state, const char *option, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);
    if (strcmp(end, "m") == 0)
        seconds *= 60;
    else if (strcmp(end, "h") == 0)
        seconds *= 3600;
    else if (*end && strcmp(end, "s") != 0)
        end = (char *)text;
    if (end == text || !(seconds > 0 && seconds < 1e7))
        argp_error(state, "--%s cannot be '%s'; allowed: a time above 0, as in 60s, 5m or 2h",
                   option, text);
    return seconds;
}

void
ar_option_sizes(struct argp_state *state, struct ar_sizes *sizes, const char *text,
                const char *ours, size_t factor)
{
    struct ar_problem problem;
    const int error = ar_sizes_parse(sizes, text ? text : ours, factor, &problem);
    sizes->are_ours = !text;
    if (error)
        argp_error(state, "--sizes: %s", error == AR_ERR_SYNTAX ? problem.text : "out of memory");
}

/* --- what is printed --- */

char *
ar_interval_print(double low, double high, char *text, size_t room)
{
    char from[AR_NUMBER_TEXT], to[AR_NUMBER_TEXT];
    if (isnan(low))
        snprintf(text, room, "-");
    else
        snprintf(text, room, "%s to %s", ar_number_print(low, from, sizeof from),
                 ar_number_print(high, to, sizeof to));
    return text;
}

/* Open MPI's launcher gives its ranks a terminal, whatever it has itself. */
static bool
is_colored(FILE *stream)
{
    const char *const refused = getenv("NO_COLOR"), *const terminal = getenv("TERM");
    struct ar_launcher launcher;
    return !ar_launcher_find(&launcher, NULL) && isatty(fileno(stream)) &&
           (!refused || *refused == '\0') && terminal && strcmp(terminal, "dumb") != 0;
}

const char *
ar_color_begin(FILE *stream, enum ar_color color)
{
    static const char *const escapes[] = {
        [AR_COLOR_TITLE] = "\033[1m",
        [AR_COLOR_GOOD] = "\033[32m",
        [AR_COLOR_WARNING] = "\033[33m",
        [AR_COLOR_BAD] = "\033[31m",
    };
    return is_colored(stream) ? escapes[color] : "";
}

const char *
ar_color_end(FILE *stream)
{
    return is_colored(stream) ? "\033[0m" : "";
}
