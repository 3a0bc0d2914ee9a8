/* allreduce bisect: which choice of algorithm, for messages of which sizes, makes a failing program
 * pass.  It runs the program again and again: without the library, with the user's setting, with
 * the MPI library's own allreduce, and with algorithms that have little in common. */
#include <config.h>

#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/attempt.h"
#include "cli/cli.h"
#include "cli/preload.h"
#include "cli/report.h"
#include "config/config.h"
#include "config/files.h"
#include "config/variables.h"
#include "report/table.h"
#include "select/select.h"

enum { BINS = 65, PATH_ROOM = PATH_MAX + 64, LINE_ROOM = 256 };

#define FIRST_LIMIT_S 600.0 /* until a trial has passed */
#define LEAST_LIMIT_S 60.0
#define LIMIT_FACTOR  10.0 /* times the longest trial that has passed */

/* Tried where neither the user's setting nor the native allreduce passes. */
static const char *const unlike[] = {"reduce_bcast", "butterfly", "ring", "star"};

struct bisection {
    const char *setting; /* as in ALLREDUCE_ALGO; "": what is set otherwise */
    const char *check;   /* NULL: none */
    const char *logs;    /* folder for what the trials print; NULL: it is thrown away */
    double limit_s;      /* 0: see FIRST_LIMIT_S */
    long repeat;
    char **command;

    char folder[PATH_MAX]; /* of logs and statistics */
    char *library;
    int trials;
    double longest_s; /* of those that passed */
    bool has_stopped; /* by a signal, or since the command cannot be started */
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

/* ALLREDUCE_STATS=path, in which % is special. */
static int
set_statistics(const char *path)
{
    char value[2 * PATH_ROOM];
    size_t n = 0;
    for (; *path; path++) {
        if (*path == '%')
            value[n++] = '%';
        value[n++] = *path;
    }
    value[n] = '\0';
    return setenv("ALLREDUCE_STATS", value, 1);
}

/* For a trial, which writes statistics of its own and no other file, and no table among what the
 * program says.  algo: as in ALLREDUCE_ALGO; NULL: the library is left out.  0, or -1 without
 * memory. */
static int
set_environment(const struct bisection *b, const char *algo, const char *statistics)
{
    unsetenv("ALLREDUCE_TRACE");
    unsetenv("ALLREDUCE_TUNE_DUMP");
    unsetenv("ALLREDUCE_VERBOSE");
    if (!algo)
        return ar_preload_set(NULL) || unsetenv("ALLREDUCE_ALGO") ? -1 : 0;
    return ar_preload_set(b->library) || setenv("ALLREDUCE_ALGO", algo, 1) ||
                   set_statistics(statistics)
               ? -1
               : 0;
}

/* Of all ranks, or of any of them: rank 0 may be the one that died. */
static bool
has_statistics(const char *path)
{
    glob_t found;
    const bool is_one = access(path, R_OK) == 0;
    const bool are_several = !is_one && ar_rank_files_find(&found, path) == 0;
    if (are_several)
        globfree(&found);
    return is_one || are_several;
}

/* Those that an earlier search has left in the folder of --logs. */
static void
remove_statistics(const char *path)
{
    glob_t found;
    unlink(path);
    if (ar_rank_files_find(&found, path))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        unlink(found.gl_pathv[i]);
    globfree(&found);
}

/* Notes the sizes of the program's messages, where the trial has left statistics. */
static void
take_sizes(struct bisection *b, const char *statistics)
{
    struct ar_read_run run;
    if (!has_statistics(statistics) || ar_run_read(&run, "bisect", statistics))
        return;
    for (size_t i = 0; i < run.table.nrows; i++)
        if (run.table.rows[i].key.entry == AR_ENTRY_ALLREDUCE)
            b->was_used = b->is_used[run.table.rows[i].key.bin] = true;
    ar_run_fini(&run);
}

/* The last line of the file that is not empty, clean; line is "" if there is none. */
static void
read_last_line(const char *path, char line[LINE_ROOM])
{
    char *text = NULL;
    size_t room = 0;
    FILE *const file = fopen(path, "r");
    *line = '\0';
    while (file && getline(&text, &room, file) >= 0)
        if (text[strspn(text, " \t\r\n")] != '\0')
            snprintf(line, LINE_ROOM, "%.*s", (int)strcspn(text, "\r\n"), text);
    ar_name_clean(line);
    free(text);
    if (file)
        fclose(file);
}

static void
print_trial(const struct bisection *b, const char *title, const struct ar_attempt_result *result,
            const char *log)
{
    const bool has_passed = result->end == AR_ATTEMPT_PASSED;
    const enum ar_color color = has_passed ? AR_COLOR_GOOD : AR_COLOR_BAD;
    char end[128], line[LINE_ROOM], time[AR_NUMBER_TEXT];
    printf("%5d  %-40s %10s  %s%s%s\n", b->trials, title,
           ar_time_print(result->seconds * 1e9, time, sizeof time), ar_color_begin(stdout, color),
           ar_attempt_describe(result, end, sizeof end), ar_color_end(stdout));
    read_last_line(log, line);
    if (!has_passed && *line)
        printf("       | %s\n", line);
    fflush(stdout);
}

/* One trial: has it passed?  False also where it could not be made; b->has_stopped then. */
static bool
run_once(struct bisection *b, const char *title, const char *algo)
{
    char log[PATH_ROOM], statistics[PATH_ROOM];
    b->trials++;
    snprintf(log, sizeof log, "%s/trial-%d.log", b->folder, b->trials);
    snprintf(statistics, sizeof statistics, "%s/trial-%d.jsonl", b->folder, b->trials);
    remove_statistics(statistics);
    if (set_environment(b, algo, statistics)) {
        fprintf(stderr, "allreduce bisect: out of memory\n");
        b->has_stopped = true;
        return false;
    }
    const struct ar_attempt trial = {b->command, b->check, log, limit_of(b)};
    const struct ar_attempt_result result = ar_attempt_run(&trial);
    print_trial(b, title, &result, log);
    take_sizes(b, statistics);
    if (result.end == AR_ATTEMPT_INTERRUPTED || result.end == AR_ATTEMPT_NOT_STARTED)
        b->has_stopped = true;
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
    for (long i = 0; i < b->repeat && !b->has_stopped; i++)
        if (!run_once(b, title, algo))
            return false;
    return !b->has_stopped;
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

static void __attribute__((noreturn)) end_without_memory(void)
{
    fprintf(stderr, "allreduce bisect: out of memory\n");
    exit(AR_EXIT_FAILED);
}

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
    for (size_t low = 0; low < part.last && !b->has_stopped;) {
        const size_t middle = low + (part.last - low) / 2;
        if (passes_with(b, &bins, (struct part){0, middle}, good, bad))
            part.last = middle;
        else
            low = middle + 1;
    }
    for (size_t high = part.last; part.first < high && !b->has_stopped;) {
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
    if (b->has_stopped)
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
    printf("\n%s\n", b->has_stopped ? "Stopped before anything was found." : what);
    return AR_EXIT_FAILED;
}

/* Neither the setting nor the native allreduce passes. */
static int
try_unlike(struct bisection *b)
{
    for (size_t i = 0; i < sizeof unlike / sizeof unlike[0] && !b->has_stopped; i++)
        if (passes(b, unlike[i]))
            return conclude(b, "Both the MPI library's own allreduce and the setting are at fault",
                            unlike[i], "native");
    return give_up(b,
                   "It fails with every choice: the cause is not the algorithm of an allreduce.");
}

static int
bisect(struct bisection *b)
{
    const bool alone = passes(b, NULL), set = !b->has_stopped && passes(b, b->setting);
    if (b->has_stopped)
        return give_up(b, "");
    if (alone && set && b->was_used) {
        printf("\nIt passes with and without the library. If it fails only sometimes, use "
               "--repeat.\n");
        return AR_EXIT_DONE;
    }
    const bool native = strcmp(b->setting, "native") == 0 ? set : passes(b, "native");
    if (b->has_stopped)
        return give_up(b, "");
    if ((native || set) && !b->was_used)
        return give_up(
            b, "No rank wrote statistics: either the program calls no MPI_Allreduce, or the "
               "library did not\nreach it. allreduce run, in front of the program, says why. "
               "mpirun of Open MPI needs\n-x LD_PRELOAD -x ALLREDUCE_ALGO -x ALLREDUCE_STATS to "
               "reach other hosts. Rank 0 must see the\nfolder of --logs.");
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
        b->check = value;
        return 0;
    case 'd':
        b->logs = value;
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

static bool
is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A folder for the logs; false, having said why, where there is none. */
static bool
make_folder(struct bisection *b)
{
    const char *const temporary = getenv("TMPDIR");
    char *const logs = b->logs ? ar_path_absolute(b->logs) : NULL;
    bool is_made;
    if (b->logs) {
        snprintf(b->folder, sizeof b->folder, "%s", logs ? logs : b->logs);
        is_made = mkdir(b->folder, 0777) == 0 || (errno == EEXIST && is_folder(b->folder));
    } else {
        snprintf(b->folder, sizeof b->folder, "%s/allreduce-bisect-XXXXXX",
                 temporary ? temporary : "/tmp");
        is_made = mkdtemp(b->folder) != NULL;
    }
    if (!is_made)
        fprintf(stderr, "allreduce bisect: cannot make the folder %s: %s\n", b->folder,
                strerror(errno));
    free(logs);
    return is_made;
}

/* Removes it with what is in it, or says where it is if it was asked for. */
static void
leave_folder(const struct bisection *b)
{
    if (b->logs) {
        printf("What the trials printed is in %s.\n", b->folder);
        return;
    }
    DIR *const folder = opendir(b->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    rmdir(b->folder);
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
               "with the MPI library's own allreduce and with different algorithms; then narrows "
               "the choice to the message sizes that matter, and prints the setting to keep.",
    };
    const char *const algo = getenv("ALLREDUCE_ALGO");
    struct bisection b = {.setting = algo ? algo : "", .repeat = 1};
    ar_cli_parse_alone(&argp, ARGP_IN_ORDER, argc, argv, &b);
    char *const setting = strdup(b.setting); /* which may be a value of the environment */
    int status = setting ? check_setting(setting) : AR_EXIT_FAILED;
    if (status) {
        free(setting);
        return status;
    }
    b.setting = ar_algo_clauses(setting);
    b.library = ar_preload_find();
    status = AR_EXIT_FAILED;
    if (!b.library)
        fprintf(stderr, "allreduce bisect: " AR_PRELOAD_NAME " is not where it was installed\n");
    else if (make_folder(&b)) {
        ar_attempt_catch_signals();
        printf("trial  %-40s %8s    end\n", "choice", "time");
        status = bisect(&b);
        leave_folder(&b);
    }
    free(setting);
    free(b.library);
    return status;
}
