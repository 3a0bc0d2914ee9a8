#include "config/config.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/environment.h"
#include "config/model_file.h"
#include "config/promise.h"
#include "config/rules_file.h"
#include "config/stats_file.h"
#include "select/words.h"

/* In a configuration's text, the problem of one that is broken. */
#define KEY_ERROR   "error"
#define KEY_WARNING "warning"

/* In a configuration's text, what the program chose; and what errors in it are told of. */
#define KEY_PROGRAM  "program"
#define NAME_PROGRAM "the program's choice"

static void
tell_column(struct ar_text *why, const struct ar_problem *problem)
{
    ar_text_add(why, "column %d: %s", problem->column, problem->text);
}

static struct ar_word
trimmed(const char *value)
{
    const char *const at = value + strspn(value, " \t\r\n");
    size_t length = strlen(at);
    while (length > 0 && strchr(" \t\r\n", at[length - 1]))
        length--;
    return (struct ar_word){at, length};
}

static int
set_rules(struct ar_rules **rules, const char *value, struct ar_text *why)
{
    struct ar_problem problem = {0, 0, ""};
    ar_rules_destroy(*rules);
    *rules = NULL;
    const int error = ar_rules_parse(rules, value, &problem);
    if (error == AR_ERR_SYNTAX)
        tell_column(why, &problem);
    return error;
}

static int
set_list(bool *allowed, const char *value, struct ar_text *why)
{
    struct ar_problem problem = {0, 0, ""};
    const int error = ar_algo_list_parse(allowed, value, &problem);
    if (error == AR_ERR_SYNTAX)
        tell_column(why, &problem);
    return error;
}

static int
set_scratch(size_t *bytes, const char *value, struct ar_text *why)
{
    const struct ar_word word = trimmed(value);
    const char *end;
    size_t size;
    if (ar_size_parse(&size, word.at, &end) == AR_OK && end == word.at + word.length &&
        size >= AR_SCRATCH_MINIMUM) {
        *bytes = size;
        return AR_OK;
    }
    return ar_word_refuse(why, value, word, "64K or more, digits with K, M or G, or inf");
}

static int
set_file(char **file, const char *value)
{
    const struct ar_word word = trimmed(value);
    free(*file);
    *file = strndup(word.at, word.length);
    return *file ? AR_OK : AR_ERR_MEMORY;
}

/* The file of this process's own environment. */
static int
set_own_stats_file(char **file, const char *value, struct ar_text *why)
{
    const int error = set_file(file, value);
    return error ? error : ar_stats_file_check(*file, why);
}

/* The same as an absolute path: the program may be elsewhere when it is written. */
static int
set_own_path(char **file, const char *value, struct ar_text *why)
{
    char path[PATH_MAX];
    const int error = set_own_stats_file(file, value, why);
    if (error)
        return error;
    ar_stats_file_path(path, sizeof path, *file);
    free(*file);
    *file = strdup(path);
    return *file ? AR_OK : AR_ERR_MEMORY;
}

/* The file of this process's own environment: read once to see that it can be. */
static int
set_own_model_file(char **file, const char *value, struct ar_text *why)
{
    struct ar_machine machine;
    const int error = ar_model_file_read(&machine, value, why);
    return error ? error : set_file(file, value);
}

static int
set_overhead(int *percent, const char *value, struct ar_text *why)
{
    const struct ar_word word = trimmed(value);
    if (ar_word_int(word, 1, 100, percent))
        return AR_OK;
    return ar_word_refuse(why, value, word, "percent from 1 to 100");
}

/* Which of the words between '|' in the variable's row value is, -1 if none. */
static int
find_keyword(enum ar_variable_id id, struct ar_word value, struct ar_nearest *nearest)
{
    const char *word = ar_variables[id].values;
    for (int i = 0;; i++) {
        const size_t length = strcspn(word, "|");
        char name[16];
        snprintf(name, sizeof name, "%.*s", (int)length, word);
        if (ar_word_is(value, name))
            return i;
        ar_nearest_offer(nearest, (struct ar_word){word, length});
        if (word[length] == '\0')
            return -1;
        word += length + 1;
    }
}

static int
set_keyword(int *index, enum ar_variable_id id, const char *value, struct ar_text *why)
{
    const struct ar_word word = trimmed(value);
    struct ar_nearest nearest;
    ar_nearest_init(&nearest, word);
    const int found = find_keyword(id, word, &nearest);
    if (found >= 0) {
        *index = found;
        return AR_OK;
    }
    ar_text_add(why, "column %d: ", (int)(word.at - value) + 1);
    ar_text_quote(why, word);
    ar_text_suggest(why, &nearest);
    ar_text_add(why, "; allowed: %s", ar_variables[id].values);
    return AR_ERR_SYNTAX;
}

/* In the order of the words of ALLREDUCE_STATS_SIGNAL. */
static const int signals[] = {0, SIGHUP, SIGUSR1, SIGUSR2};

/* Sets what the variable id stands for; AR_ERR_SYNTAX with why, AR_ERR_MEMORY. */
static int
set_variable(struct ar_config *config, enum ar_variable_id id, const char *value,
             struct ar_text *why)
{
    int index = 0, error = AR_OK;
    switch (id) {
    case AR_VARIABLE_ALGO:
        return *value ? set_rules(&config->rules, value, why) : AR_OK;
    case AR_VARIABLE_MODEL:
        return *value ? set_own_model_file(&config->model_file, value, why) : AR_OK;
    case AR_VARIABLE_RULES:
        return *value ? ar_rules_file_read(&config->file_rules, &config->tuned, value, why) : AR_OK;
    case AR_VARIABLE_ALGO_LIST:
        return set_list(config->allowed, value, why);
    case AR_VARIABLE_DETERMINISM:
        error = set_keyword(&index, id, value, why);
        config->determinism = (enum ar_determinism)index;
        return error;
    case AR_VARIABLE_SCRATCH:
        return set_scratch(&config->scratch_bytes, value, why);
    case AR_VARIABLE_STATS:
        return *value ? set_own_stats_file(&config->stats_file, value, why) : AR_OK;
    case AR_VARIABLE_STATS_SIGNAL:
        error = set_keyword(&index, id, value, why);
        config->stats_signal = signals[index];
        return error;
    case AR_VARIABLE_TIMEOUT:
        return ar_timeout_parse(&config->timeout, value, why);
    case AR_VARIABLE_TRANSPORT:
        error = set_keyword(&index, id, value, why);
        config->transport = (enum ar_transport)index;
        return error;
    case AR_VARIABLE_TUNE:
        error = set_keyword(&index, id, value, why);
        config->tune = (enum ar_tune_mode)index;
        return error;
    case AR_VARIABLE_TUNE_DUMP:
        return *value ? set_own_path(&config->tune_dump, value, why) : AR_OK;
    case AR_VARIABLE_TUNE_OVERHEAD:
        return set_overhead(&config->tune_overhead, value, why);
    case AR_VARIABLE_USER_OPS:
        error = set_keyword(&index, id, value, why);
        config->cuts_user_ops = index;
        return error;
    case AR_VARIABLE_VERIFY:
        return ar_verify_parse(&config->verify, value, why);
    case AR_VARIABLE_VERBOSE:
        return set_keyword(&config->verbose, id, value, why);
    case AR_VARIABLE_STRICT:
        error = set_keyword(&index, id, value, why);
        config->strict = error || index;
        return error;
    case AR_VARIABLE_WAIT:
        error = set_keyword(&index, id, value, why);
        config->wait = (enum ar_wait_policy)index;
        return error;
    case AR_VARIABLES:
        break;
    }
    return AR_ERR_PARAM;
}

static void
set_problem(struct ar_config *config, const char *name, const char *why)
{
    struct ar_text problem;
    if (config->broken) /* the first one is told */
        return;
    config->broken = true;
    ar_text_init(&problem, config->problem, sizeof config->problem);
    ar_text_add(&problem, *name ? "%s: %s" : "%s%s", name, why);
}

/* Sets one variable of the environment.  AR_OK, broken or not; AR_ERR_MEMORY. */
static int
take_variable(struct ar_config *config, enum ar_variable_id id)
{
    char reason[AR_CONFIG_PROBLEM];
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    const int error = set_variable(config, id, ar_variable_value(id), &why);
    if (error == AR_ERR_SYNTAX)
        set_problem(config, ar_variables[id].name, reason);
    return error == AR_ERR_SYNTAX ? AR_OK : error;
}

static int
take_environment(struct ar_config *config)
{
    char reason[AR_CONFIG_PROBLEM];
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    if (ar_environment_has_unknown(&why))
        set_problem(config, "", reason);
    for (enum ar_variable_id id = 0; id < AR_VARIABLES; id++)
        if (take_variable(config, id))
            return AR_ERR_MEMORY;
    if (config->stats_signal && !config->stats_file)
        set_problem(config, ar_variables[AR_VARIABLE_STATS_SIGNAL].name,
                    "it needs a file to write; set ALLREDUCE_STATS=FILE, too");
    return AR_OK;
}

/* "NAME=rules" */
static int
write_rules(FILE *out, const char *name, const struct ar_rules *rules)
{
    char *text = rules ? ar_rules_text(rules) : NULL;
    if (rules && !text)
        return AR_ERR_MEMORY;
    if (text && *text)
        fprintf(out, "%s=%s\n", name, text);
    free(text);
    return AR_OK;
}

/* "NAME=names", or nothing where all are allowed. */
static void
write_list(FILE *out, const bool *allowed)
{
    const size_t n = ar_algorithm_count();
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += allowed[i];
    if (count == n)
        return;
    fprintf(out, "%s=", ar_variables[AR_VARIABLE_ALGO_LIST].name);
    for (size_t i = 0; i < n; i++)
        if (allowed[i])
            fprintf(out, "%s%s", ar_algorithm_at(i)->name, --count ? "," : "\n");
}

static int
write_config(FILE *out, const struct ar_config *config)
{
    char size[AR_SIZE_TEXT], verify[AR_VERIFY_TEXT];
    if (config->broken) {
        fprintf(out, "%s=%s\n", config->error ? KEY_ERROR : KEY_WARNING, config->problem);
        return AR_OK;
    }
    if (write_rules(out, ar_variables[AR_VARIABLE_ALGO].name, config->rules) ||
        write_rules(out, KEY_PROGRAM, config->program_rules) ||
        write_rules(out, ar_variables[AR_VARIABLE_RULES].name, config->file_rules))
        return AR_ERR_MEMORY;
    write_list(out, config->allowed);
    fprintf(out, "%s=%s\n", ar_variables[AR_VARIABLE_SCRATCH].name,
            ar_size_print(config->scratch_bytes, size, sizeof size));
    if (config->determinism != AR_DETERMINISM_NONE)
        fprintf(out, "%s=%s\n", ar_variables[AR_VARIABLE_DETERMINISM].name,
                ar_determinism_names[config->determinism]);
    if (config->transport == AR_TRANSPORT_MPI)
        fprintf(out, "%s=mpi\n", ar_variables[AR_VARIABLE_TRANSPORT].name);
    if (config->cuts_user_ops)
        fprintf(out, "%s=cut\n", ar_variables[AR_VARIABLE_USER_OPS].name);
    if (config->verify.every > 0)
        fprintf(out, "%s=%s\n", ar_variables[AR_VARIABLE_VERIFY].name,
                ar_verify_print(&config->verify, verify, sizeof verify));
    if (config->model_file)
        fprintf(out, "%s=%s\n", ar_variables[AR_VARIABLE_MODEL].name, config->model_file);
    if (config->tune == AR_TUNE_ONLINE)
        fprintf(out, "%s=online\n%s=%d\n", ar_variables[AR_VARIABLE_TUNE].name,
                ar_variables[AR_VARIABLE_TUNE_OVERHEAD].name, config->tune_overhead);
    if (config->stats_file)
        fprintf(out, "%s=%s\n", ar_variables[AR_VARIABLE_STATS].name, config->stats_file);
    return AR_OK;
}

static int
make_text(struct ar_config *config)
{
    size_t length;
    FILE *const out = open_memstream(&config->text, &length);
    if (!out)
        return AR_ERR_MEMORY;
    const int error = write_config(out, config);
    const int failed = ferror(out);
    return fclose(out) || failed || error ? AR_ERR_MEMORY : AR_OK;
}

/* The configuration of an empty environment, without its text. */
static struct ar_config *
create(void)
{
    struct ar_config *const config = calloc(1, sizeof *config);
    if (!config)
        return NULL;
    config->allowed = calloc(ar_algorithm_count(), sizeof *config->allowed);
    if (!config->allowed) {
        free(config);
        return NULL;
    }
    for (enum ar_variable_id id = 0; id < AR_VARIABLES; id++)
        set_variable(config, id, ar_variables[id].fallback, NULL);
    return config;
}

static unsigned
asks(const struct ar_rules *rules)
{
    return rules ? ar_rules_asks(rules) : 0;
}

/* What breaks the promise is refused.  The program's choice is an error even where bad settings are
 * not. */
static void
hold_to_promise(struct ar_config *config)
{
    const char *const names[] = {
        [AR_BREAKER_ALGO] = ar_variables[AR_VARIABLE_ALGO].name,
        [AR_BREAKER_PROGRAM] = NAME_PROGRAM,
        [AR_BREAKER_RULES] = ar_variables[AR_VARIABLE_RULES].name,
        [AR_BREAKER_LIST] = ar_variables[AR_VARIABLE_ALGO_LIST].name,
    };
    char reason[AR_CONFIG_PROBLEM];
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    const enum ar_promise_breaker breaker =
        config->broken ? AR_BREAKER_NONE : ar_promise_check(config, &why);
    config->strict |= breaker == AR_BREAKER_PROGRAM;
    if (breaker != AR_BREAKER_NONE)
        set_problem(config, names[breaker], reason);
}

/* Settles what follows from the parts; destroys the configuration on error. */
static struct ar_config *
finished(struct ar_config *config, int error)
{
    hold_to_promise(config);
    config->error = config->broken && config->strict ? AR_ERR_SYNTAX : AR_OK;
    config->is_watched = config->verify.every > 0 || config->tune == AR_TUNE_ONLINE;
    config->asks = asks(config->rules) | asks(config->program_rules) | asks(config->file_rules);
    if (!error && !make_text(config))
        return config;
    ar_config_destroy(config);
    return NULL;
}

struct ar_config *
ar_config_from_environment(void)
{
    struct ar_config *const config = create();
    return config ? finished(config, take_environment(config)) : NULL;
}

struct ar_config *
ar_config_from_algo(const char *text)
{
    char reason[AR_CONFIG_PROBLEM];
    struct ar_text why;
    struct ar_config *const config = create();
    if (!config)
        return NULL;
    ar_text_init(&why, reason, sizeof reason);
    const int error = set_variable(config, AR_VARIABLE_ALGO, text, &why);
    if (error == AR_ERR_SYNTAX)
        set_problem(config, ar_variables[AR_VARIABLE_ALGO].name, reason);
    return finished(config, error == AR_ERR_SYNTAX ? AR_OK : error);
}

/* Takes a line of another rank's text, of which only these can stand there. */
static int
take_line(struct ar_config *config, struct ar_word key, const char *value, struct ar_text *why)
{
    if (ar_word_is(key, KEY_ERROR) || ar_word_is(key, KEY_WARNING)) {
        config->strict = ar_word_is(key, KEY_ERROR);
        set_problem(config, "", value);
        return AR_OK;
    }
    if (ar_word_is(key, KEY_PROGRAM))
        return set_rules(&config->program_rules, value, why);
    switch (ar_variable_find(key)) {
    case AR_VARIABLE_ALGO:
        return set_rules(&config->rules, value, why);
    case AR_VARIABLE_RULES:
        return set_rules(&config->file_rules, value, why);
    case AR_VARIABLE_ALGO_LIST:
        return set_list(config->allowed, value, why);
    case AR_VARIABLE_SCRATCH:
        return set_scratch(&config->scratch_bytes, value, why);
    case AR_VARIABLE_MODEL:
        return set_file(&config->model_file, value);
    case AR_VARIABLE_STATS:
        return set_file(&config->stats_file, value);
    case AR_VARIABLE_DETERMINISM:
    case AR_VARIABLE_USER_OPS:
    case AR_VARIABLE_VERIFY:
        return set_variable(config, ar_variable_find(key), value, why);
    case AR_VARIABLE_TUNE: /* said only where it is on */
        config->tune = AR_TUNE_ONLINE;
        return AR_OK;
    case AR_VARIABLE_TUNE_OVERHEAD:
        return set_overhead(&config->tune_overhead, value, why);
    case AR_VARIABLE_TRANSPORT: /* said only where it is not auto */
        config->transport = AR_TRANSPORT_MPI;
        return AR_OK;
    default:
        ar_text_add(why, "unknown line");
        return AR_ERR_SYNTAX;
    }
}

/* Takes all lines; their ends in text are overwritten by '\0'. */
static int
take_lines(struct ar_config *config, char *text)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char reason[AR_CONFIG_PROBLEM];
        struct ar_text why;
        const size_t length = strcspn(line, "=");
        const char *const value = line[length] ? line + length + 1 : line + length;
        ar_text_init(&why, reason, sizeof reason);

        const int error = take_line(config, (struct ar_word){line, length}, value, &why);
        if (error == AR_ERR_MEMORY)
            return error;
        if (error)
            set_problem(config, "configuration of another rank", reason);
    }
    return AR_OK;
}

struct ar_config *
ar_config_from_text(const char *text)
{
    struct ar_config *const config = create();
    if (!config)
        return NULL;
    char *const copy = strdup(text);
    const int error = copy ? take_lines(config, copy) : AR_ERR_MEMORY;
    free(copy);
    return finished(config, error);
}

/* AR_OK, broken or not; AR_ERR_MEMORY. */
static int
set_program(struct ar_config *config, const char *clauses)
{
    char reason[AR_CONFIG_PROBLEM];
    struct ar_text why;
    struct ar_rules *rules = NULL;
    ar_text_init(&why, reason, sizeof reason);
    const int error = *clauses ? set_rules(&rules, clauses, &why) : AR_OK;
    ar_rules_destroy(config->program_rules);
    config->program_rules = rules;
    if (error != AR_ERR_SYNTAX)
        return error;
    config->strict = true;
    set_problem(config, NAME_PROGRAM, reason);
    return AR_OK;
}

struct ar_config *
ar_config_with_program(const struct ar_config *base, const char *clauses)
{
    struct ar_config *const config = create();
    char *const copy = strdup(base->text);
    int error = config && copy ? take_lines(config, copy) : AR_ERR_MEMORY;
    free(copy);
    if (!config)
        return NULL;
    config->wait = base->wait;
    config->verbose = base->verbose;
    return finished(config, error ? error : set_program(config, clauses));
}

void
ar_config_destroy(struct ar_config *config)
{
    if (!config)
        return;
    ar_rules_destroy(config->rules);
    ar_rules_destroy(config->program_rules);
    ar_rules_destroy(config->file_rules);
    free(config->tuned);
    free(config->allowed);
    free(config->model_file);
    free(config->stats_file);
    free(config->tune_dump);
    free(config->text);
    free(config);
}
