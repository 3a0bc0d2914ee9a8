#include <config.h>

#include "config/variables.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/data.h"
#include "config/files.h"
#include "select/node_levels.h"

#define PREFIX_LENGTH (sizeof AR_VARIABLE_PREFIX - 1)

extern char **environ;

/* --- kinds of values --- */

static void *
field_of(const struct ar_config *config, const struct ar_variable *v)
{
    return (char *)config + v->offset;
}

static struct ar_word
trimmed(const char *value)
{
    return ar_word_next(&value, "");
}

static int
take_rules(const struct ar_setting *s)
{
    struct ar_problem problem = {0, 0, ""};
    struct ar_rules **const rules = s->field;
    ar_rules_destroy(*rules);
    *rules = NULL;
    const int error = ar_rules_parse(rules, s->value, &problem);
    if (error == AR_ERR_SYNTAX)
        ar_text_add(s->why, "column %d: %s", problem.column, problem.text);
    return error;
}

static int
parse_rules_file(const struct ar_setting *s)
{
    return ar_rules_file_read(s->field, &s->config->tuned, s->value, s->why);
}

static char *
print_rules(const struct ar_config *config, const struct ar_variable *v)
{
    const struct ar_rules *const *const rules = field_of(config, v);
    return *rules ? ar_rules_text(*rules) : strdup("");
}

/* Does the value look like the name of a file, and not like clauses? */
static bool
is_like_file(const char *value)
{
    return strpbrk(value, "./") && !strpbrk(value, "(:;");
}

/* NULL: it is unset or blank. */
static const char *
set_to(const char *name)
{
    const char *const value = getenv(name);
    return value && trimmed(value).length > 0 ? value : NULL;
}

/* A list alone leaves the choice to auto. */
static const char *
intel_setting(void)
{
    const char *const value = set_to(AR_INTEL_VARIABLE);
    return value || !set_to(AR_INTEL_LIST) ? value : "auto";
}

/* Intel MPI's list, where the job asks for Intel MPI's settings and ours has none; NULL elsewhere.
 */
static const char *
intel_list(void)
{
    const char *const algo = set_to("ALLREDUCE_ALGO");
    const bool is_asked =
        algo && ar_word_is(trimmed(algo), "intel") && !set_to("ALLREDUCE_ALGO_LIST");
    return is_asked ? set_to(AR_INTEL_LIST) : NULL;
}

/* The word intel stands for what Intel MPI's own variable says. */
static int
parse_rules(const struct ar_setting *s)
{
    struct ar_setting intel = *s;
    if (!ar_word_is(trimmed(s->value), "intel")) {
        const int error = take_rules(s);
        if (error == AR_ERR_SYNTAX && is_like_file(s->value))
            ar_text_add(s->why, "; a file of rules is named by ALLREDUCE_RULES");
        return error;
    }
    intel.value = intel_setting();
    if (!intel.value) {
        ar_text_add(s->why, "intel: " AR_INTEL_VARIABLE " is not set");
        return AR_ERR_SYNTAX;
    }
    ar_text_add(s->why, AR_INTEL_VARIABLE ": "); /* read only where what follows is a problem */
    return take_rules(&intel);
}

const char *
ar_algo_clauses(const char *value)
{
    return ar_word_is(trimmed(value), "intel") ? intel_setting() : value;
}

static const struct ar_value_kind clauses = {parse_rules, take_rules, print_rules};
static const struct ar_value_kind rules_file = {parse_rules_file, take_rules, print_rules};

static int
parse_list(const struct ar_setting *s)
{
    struct ar_problem problem = {0, 0, ""};
    bool *const *const allowed = s->field;
    const int error = ar_algo_list_parse(*allowed, s->value, &problem);
    if (error == AR_ERR_SYNTAX)
        ar_text_add(s->why, "%scolumn %d: %s", intel_list() ? AR_INTEL_LIST ": " : "",
                    problem.column, problem.text);
    return error;
}

/* "" where all are allowed. */
static char *
print_list(const struct ar_config *config, const struct ar_variable *v)
{
    bool *const *const allowed = field_of(config, v);
    char *text = NULL;
    size_t length, listed = 0;
    FILE *const out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        if ((*allowed)[i])
            fprintf(out, "%s%s", listed++ ? "," : "", ar_algorithm_at(i)->name);
    const bool failed = ferror(out);
    if (fclose(out) || failed) {
        free(text);
        return NULL;
    }
    if (listed == ar_algorithm_count())
        *text = '\0';
    return text;
}

static const struct ar_value_kind algorithms = {parse_list, parse_list, print_list};

static int
take_name(const struct ar_setting *s)
{
    char **const name = s->field;
    const struct ar_word word = trimmed(s->value);
    free(*name);
    *name = strndup(word.at, word.length);
    return *name ? AR_OK : AR_ERR_MEMORY;
}

static char *
print_name(const struct ar_config *config, const struct ar_variable *v)
{
    char *const *const name = field_of(config, v);
    return strdup(*name ? *name : "");
}

/* The file is read here only to see that it can be. */
static int
parse_machine_file(const struct ar_setting *s)
{
    struct ar_machine machine;
    struct ar_text why;
    char reason[AR_CONFIG_PROBLEM];
    const struct ar_word word = trimmed(s->value);
    const char *const newline = memchr(word.at, '\n', word.length);
    if (newline) { /* ranks compare their settings line by line */
        ar_text_add(s->why, "column %d: a newline in a file name; allowed: none",
                    (int)(newline - s->value) + 1);
        return AR_ERR_SYNTAX;
    }
    int error = ar_model_file_read(&machine, s->value, s->why);
    if (error)
        return error;
    ar_text_init(&why, reason, sizeof reason);
    char *const file = ar_data_find(AR_DATA_MACHINE, s->value, &why);
    free(s->config->model_path);
    s->config->model_path = file ? ar_path_absolute(file) : NULL;
    free(file);
    return s->config->model_path ? take_name(s) : AR_ERR_MEMORY;
}

/* The folder need not exist on other nodes than that of rank 0, which writes the file for all. What
 * another rank writes where the job ends early is checked when that is done. */
static int
check_file_of_all(const struct ar_setting *s, const char *name)
{
    return s->config->rank == 0 ? ar_stats_file_check(name, s->why)
                                : ar_stats_name_check(name, s->why);
}

static int
parse_stats_file(const struct ar_setting *s)
{
    char **const name = s->field;
    const int error = take_name(s);
    return error ? error : check_file_of_all(s, *name);
}

/* As an absolute path: the program may be in another folder when it is used. */
static int
parse_own_file(const struct ar_setting *s)
{
    char **const name = s->field;
    const int error = parse_stats_file(s);
    char *const path = error ? NULL : malloc(PATH_MAX);
    if (!path)
        return error ? error : AR_ERR_MEMORY;
    ar_stats_file_path(path, PATH_MAX, *name);
    free(*name);
    *name = path;
    return AR_OK;
}

static const struct ar_value_kind machine_file = {parse_machine_file, take_name, print_name};
static const struct ar_value_kind stats_file = {parse_stats_file, take_name, print_name};
static const struct ar_value_kind own_file = {.parse = parse_own_file};

/* The number of the word between '|' in the row's values; enums are in this order. */
static int
parse_word(const struct ar_setting *s)
{
    const struct ar_word word = trimmed(s->value);
    struct ar_nearest nearest;
    int number = 0;
    ar_nearest_init(&nearest, word);
    for (const char *at = s->row->values; *at; number++) {
        char name[16];
        const size_t length = strcspn(at, "|");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (ar_word_is(word, name)) {
            *(int *)s->field = number;
            return AR_OK;
        }
        ar_nearest_offer(&nearest, (struct ar_word){at, length});
        at += length + (at[length] == '|');
    }
    ar_text_add(s->why, "column %d: ", (int)(word.at - s->value) + 1);
    ar_text_quote(s->why, word);
    ar_text_suggest(s->why, &nearest);
    ar_text_add(s->why, "; allowed: %s", s->row->values);
    return AR_ERR_SYNTAX;
}

static char *
print_word(const struct ar_config *config, const struct ar_variable *v)
{
    const char *at = v->values;
    for (int number = *(const int *)field_of(config, v); number > 0; number--)
        at = strchr(at, '|') + 1;
    return strndup(at, strcspn(at, "|"));
}

static const struct ar_value_kind words = {parse_word, parse_word, print_word};
static const struct ar_value_kind own_words = {.parse = parse_word};

static int
parse_signal(const struct ar_setting *s)
{
    static const int signals[] = {0, SIGHUP, SIGUSR1, SIGUSR2}; /* in the order of the words */
    const int error = parse_word(s);
    if (!error)
        s->config->stats_signal = signals[s->config->stats_signal];
    return error;
}

static int
parse_size(const struct ar_setting *s)
{
    const struct ar_word word = trimmed(s->value);
    size_t size;
    if (!ar_size_parse_word(&size, word) || size < AR_SCRATCH_MINIMUM)
        return ar_word_refuse(s->why, s->value, word,
                              "64K or more, as digits with K, M or G, or inf");
    *(size_t *)s->field = size;
    return AR_OK;
}

static char *
print_size(const struct ar_config *config, const struct ar_variable *v)
{
    char text[AR_SIZE_TEXT];
    return strdup(ar_size_print(*(const size_t *)field_of(config, v), text, sizeof text));
}

static int
parse_percent(const struct ar_setting *s)
{
    const struct ar_word word = trimmed(s->value);
    return ar_word_int(word, 1, 100, s->field)
               ? AR_OK
               : ar_word_refuse(s->why, s->value, word, "a percentage from 1 to 100");
}

/* Where nothing is tuned, ranks may differ in what tuning may cost. */
static char *
print_percent(const struct ar_config *config, const struct ar_variable *v)
{
    char text[16];
    if (config->tune == AR_TUNE_OFF)
        return strdup(v->fallback);
    snprintf(text, sizeof text, "%d", *(const int *)field_of(config, v));
    return strdup(text);
}

static int
parse_levels(const struct ar_setting *s)
{
    const struct ar_word word = trimmed(s->value);
    if (ar_levels_parse(s->field, word))
        return AR_OK;
    ar_text_add(s->why, "column %d: ", (int)(word.at - s->value) + 1);
    ar_text_quote(s->why, word);
    ar_text_add(s->why, "; allowed: ");
    ar_levels_tell(s->why, word);
    return AR_ERR_SYNTAX;
}

static char *
print_levels(const struct ar_config *config, const struct ar_variable *v)
{
    char text[AR_LEVELS_TEXT];
    struct ar_text t;
    ar_text_init(&t, text, sizeof text);
    ar_levels_print(&t, field_of(config, v));
    return strdup(text);
}

static int
parse_verify(const struct ar_setting *s)
{
    return ar_verify_parse(s->field, s->value, s->why);
}

static char *
print_verify(const struct ar_config *config, const struct ar_variable *v)
{
    char text[AR_VERIFY_TEXT];
    const struct ar_verify_setting *const setting = field_of(config, v);
    return strdup(setting->every > 0 ? ar_verify_print(setting, text, sizeof text) : "0");
}

static int
parse_timeout(const struct ar_setting *s)
{
    return ar_timeout_parse(s->field, s->value, s->why);
}

static int
take_trace(const struct ar_setting *s)
{
    struct ar_trace_setting parsed, *const trace = s->field;
    const int error = ar_trace_parse(&parsed, s->value, s->why);
    if (error)
        return error;
    free(trace->file);
    *trace = parsed;
    return AR_OK;
}

static int
parse_trace(const struct ar_setting *s)
{
    const struct ar_trace_setting *const trace = s->field;
    const int error = take_trace(s);
    return error ? error : check_file_of_all(s, trace->file);
}

static char *
print_trace(const struct ar_config *config, const struct ar_variable *v)
{
    const struct ar_trace_setting *const trace = field_of(config, v);
    char size[AR_SIZE_TEXT], *text;
    if (!trace->file)
        return strdup("");
    const int length = asprintf(&text, "%s,calls=%d-%d,memory=%s", trace->file, trace->first,
                                trace->last, ar_size_print(trace->memory_bytes, size, sizeof size));
    return length < 0 ? NULL : text;
}

static const struct ar_value_kind own_signal = {.parse = parse_signal};
static const struct ar_value_kind size = {parse_size, parse_size, print_size};
static const struct ar_value_kind percent = {parse_percent, parse_percent, print_percent};
static const struct ar_value_kind levels = {parse_levels, parse_levels, print_levels};
static const struct ar_value_kind verify = {parse_verify, parse_verify, print_verify};
static const struct ar_value_kind own_timeout = {.parse = parse_timeout};
static const struct ar_value_kind trace = {parse_trace, take_trace, print_trace};

/* --- the table --- */

#define FIELD(name) offsetof(struct ar_config, name)

const struct ar_variable ar_variables[AR_VARIABLES] = {
    {"ALLREDUCE_ALGO", "CLAUSES", "",
     "algorithms by message size and number of ranks, as in ring:64K-inf;butterfly", &clauses,
     FIELD(rules[AR_SOURCE_ALGO]), .option = "algo", .letter = 'a'},
    {"ALLREDUCE_ALGO_LIST", "NAMES", "",
     "algorithms that auto may choose, separated by commas; with ^ in front, all but that one; "
     "empty: all",
     &algorithms, FIELD(allowed), .option = NULL},
    {"ALLREDUCE_DETERMINISM", "none|run|placement|size|order", "none",
     "what must not change the bits of rounded results: another run, other nodes, another message "
     "size, another order of ranks",
     &words, FIELD(determinism), .option = "determinism"},
    {"ALLREDUCE_LEVELS", "auto|flat|NAMES|NUMBERS", "auto",
     "groups of ranks inside a node, in shared memory: by what they share, as in l3+numa+socket, "
     "or by number, as in 4+16",
     &levels, FIELD(levels), .option = NULL},
    {"ALLREDUCE_MODEL", "FILE", "",
     "the machine file, or the name of an installed one such as fat-tree, that auto follows across "
     "nodes; unset: the machine is measured at the start",
     &machine_file, FIELD(model_file), .option = NULL},
    {"ALLREDUCE_RULES", "FILE", "",
     "a file of clauses, one per line, or the name of an installed one such as openmpi, for "
     "messages that no clause of ALLREDUCE_ALGO matches",
     &rules_file, FIELD(rules[AR_SOURCE_FILE]), .option = "rules", .letter = 'r',
     .takes = AR_OPTION_PATH},
    {"ALLREDUCE_SCRATCH", "size of 64K or more", "64M",
     "scratch memory that one communicator may take", &size, FIELD(scratch_bytes), .option = NULL},
    {"ALLREDUCE_STATS", "FILE", "",
     "where to write statistics of all calls on all ranks: JSON lines if it ends in "
     ".json or .jsonl, else text",
     &stats_file, FIELD(stats_file), .option = "stats", .letter = 's', .takes = AR_OPTION_PATTERN},
    {"ALLREDUCE_STATS_SIGNAL", "none|HUP|USR1|USR2", "none",
     "a signal at which a rank writes its statistics so far", &own_signal, FIELD(stats_signal),
     .option = NULL},
    {"ALLREDUCE_STREAMING", "never|auto|always", "auto",
     "whether ranks write past their caches what others on the node will read; auto: where a trial "
     "finds that faster",
     &words, FIELD(streaming), .option = NULL},
    {"ALLREDUCE_STRICT", "0|1", "1",
     "1: a bad setting is an error; 0: a warning, and the MPI library's own allreduce "
     "runs",
     &own_words, FIELD(strict), .option = NULL},
    {"ALLREDUCE_TIMEOUT", "seconds[,warn|abort]", "0",
     "after how many seconds a rank reports that a call is still under way and for which ranks it "
     "waits; 0: never",
     &own_timeout, FIELD(timeout), .option = "timeout"},
    {"ALLREDUCE_TRACE", "FILE[,calls=A-B][,memory=SIZE]", "",
     "where to write a timeline of the calls on all ranks, for Perfetto and chrome://tracing",
     &trace, FIELD(trace), .option = "trace", .takes = AR_OPTION_PATTERN},
    {"ALLREDUCE_TRANSPORT", "auto|mpi", "auto",
     "what carries the messages of algorithms; auto: shared memory within a node, else MPI; mpi: "
     "always MPI",
     &words, FIELD(transport), .option = NULL},
    {"ALLREDUCE_TUNE", "off|rivals|crowded|online", "rivals",
     "rivals: where auto's choice sends messages or has more than 16 ranks, calls try whether the "
     "MPI library's own allreduce or what formulas propose next is faster; crowded: also where "
     "ranks share cores; online: they try all that may be faster; what wins stays",
     &words, FIELD(tune), .option = "tune", .alone = "online"},
    {"ALLREDUCE_TUNE_DUMP", "FILE", "", "where to write what online tuning found, as rules",
     &own_file, FIELD(tune_dump), .option = NULL},
    {"ALLREDUCE_TUNE_OVERHEAD", "1 to 100", "2",
     "percentage of the time in allreduce that what ALLREDUCE_TUNE tries may cost", &percent,
     FIELD(tune_overhead), .option = NULL},
    {"ALLREDUCE_USER_OPS", "whole|cut", "whole",
     "whole: a user-defined op gets all elements in each call; cut: it may get a part of them",
     &words, FIELD(cuts_user_ops), .option = NULL},
    {"ALLREDUCE_VERBOSE", "0|1|2", "0",
     "print at the end on stderr what ran and why, for rank 0 (1) or for every rank (2)",
     &own_words, FIELD(verbose), .option = "verbose", .letter = 'v', .alone = "1"},
    {"ALLREDUCE_VERIFY", "0|1|1/N[,abort|warn|native]", "0",
     "also run each call (1), or one of N (1/N), natively and compare; after the comma: what "
     "follows a wrong result",
     &verify, FIELD(verify), .option = "verify", .alone = "1"},
    {"ALLREDUCE_WAIT", "auto|spin|yield|sleep|block", "auto",
     "how to wait for other ranks; auto: spin while there is a core for each rank", &own_words,
     FIELD(wait), .option = NULL},
};

const struct ar_variable *
ar_variable_find(struct ar_word name)
{
    for (const struct ar_variable *v = ar_variables; v < ar_variables + AR_VARIABLES; v++)
        if (strlen(v->name) == name.length && memcmp(v->name, name.at, name.length) == 0)
            return v;
    return NULL;
}

const char *
ar_variable_value(const struct ar_variable *v)
{
    const char *const list = strcmp(v->name, "ALLREDUCE_ALGO_LIST") == 0 ? intel_list() : NULL;
    const char *const value = list ? list : set_to(v->name);
    return value ? value : v->fallback;
}

/* Is the name near one of ours?  If so, why gets both.  Only what follows the prefix is compared.
 * A longer name, such as ALLREDUCE_ALGORITHM, may also be meant for the one it begins with. */
static bool
is_misspelt(struct ar_word name, struct ar_text *why)
{
    const struct ar_word rest = {name.at + PREFIX_LENGTH, name.length - PREFIX_LENGTH};
    struct ar_nearest nearest;
    ar_nearest_init(&nearest, rest);
    for (int i = 0; i < AR_VARIABLES; i++) {
        const struct ar_word known = ar_word_of(ar_variables[i].name + PREFIX_LENGTH);
        ar_nearest_offer(&nearest, known);
        if (nearest.best.length == 0 && known.length < rest.length &&
            ar_word_is((struct ar_word){rest.at, known.length}, known.at))
            nearest.best = known;
    }
    if (nearest.best.length == 0)
        return false;
    nearest.best.at -= PREFIX_LENGTH;
    nearest.best.length += PREFIX_LENGTH;
    ar_text_add(why, "unknown variable ");
    ar_text_quote(why, name);
    ar_text_suggest(why, &nearest);
    for (int i = 0; i < AR_VARIABLES; i++)
        ar_text_add(why, "%s%s", i ? ", " : "; allowed: ", ar_variables[i].name);
    return true;
}

bool
ar_environment_has_misspelt(struct ar_text *why, struct ar_text *strange)
{
    for (char **entry = environ; entry && *entry; entry++) {
        const struct ar_word name = {*entry, strcspn(*entry, "=")};
        if (strncmp(name.at, AR_VARIABLE_PREFIX, PREFIX_LENGTH) != 0 || ar_variable_find(name))
            continue;
        if (is_misspelt(name, why))
            return true;
        ar_text_add(strange, "%s", strange->length > 0 ? ", " : "");
        ar_text_escape(strange, name);
    }
    return false;
}
