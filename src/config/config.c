#include "config/config.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/files.h"
#include "config/output.h"
#include "config/variables.h"
#include "select/foreign.h"
#include "select/node_levels.h"

/* Keys of the line in a configuration's text that tells the problem of a broken one. */
#define KEY_ERROR   "error"
#define KEY_WARNING "warning"

/* The key of the line that has the program's choice, and the name of that in messages. */
#define KEY_PROGRAM  "program"
#define NAME_PROGRAM "the program's choice"

/* Keeps the first problem.  Where name is "", why itself begins with the name. */
static void
set_problem(struct ar_config *config, const char *name, const char *why)
{
    struct ar_text problem;
    if (config->broken)
        return;
    config->broken = true;
    ar_text_init(&problem, config->problem, sizeof config->problem);
    ar_text_add(&problem, *name ? "%s: %s" : "%s%s", name, why);
}

/* Gives a value to config, in one of the ways of its kind; "" gives none, and a bad one is a
 * problem of name's.  AR_OK; AR_ERR_SYNTAX, which breaks the configuration; AR_ERR_MEMORY. */
static int
set(struct ar_config *config, const struct ar_variable *v, int (*how)(const struct ar_setting *),
    const char *value, const char *name)
{
    char reason[AR_CONFIG_PROBLEM];
    struct ar_text why;
    const struct ar_setting setting = {config, v, (char *)config + v->offset, value, &why};
    ar_text_init(&why, reason, sizeof reason);
    const int error = *value ? how(&setting) : AR_OK;
    if (error == AR_ERR_SYNTAX)
        set_problem(config, name, reason);
    return error;
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
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        config->allowed[i] = true;
    for (const struct ar_variable *v = ar_variables; v < ar_variables + AR_VARIABLES; v++)
        set(config, v, v->kind->parse, v->fallback, v->name);
    return config;
}

void
ar_config_destroy(struct ar_config *config)
{
    if (!config)
        return;
    for (int i = 0; i < AR_SOURCES; i++)
        ar_rules_destroy(config->rules[i]);
    free(config->tuned);
    free(config->allowed);
    free(config->model_file);
    free(config->model_path);
    free(config->stats_file);
    free(config->trace.file);
    free(config->tune_dump);
    free(config->text);
    free(config);
}

/* Do the levels that auto stands for break the promise?  Under ORDER sums are exact by any, and
 * what else rounds goes flat. */
static bool
levels_break_promise(const struct ar_config *config, struct ar_text *why)
{
    const enum ar_determinism level = config->determinism;
    if (level == AR_DETERMINISM_ORDER || ar_levels_keep(&config->levels) >= level)
        return false;
    ar_levels_print(why, &config->levels);
    ar_text_add(why,
                " depends on the cores to which ranks are bound; ALLREDUCE_DETERMINISM=%s needs "
                "more; allowed: auto (which is flat then), flat, numbers",
                ar_determinism_names[level]);
    return true;
}

/* Refuses what breaks the promise of ALLREDUCE_DETERMINISM.  In the program's choice that is an
 * error even where a bad setting is a warning. */
static void
hold_to_promise(struct ar_config *config)
{
    static const char *const names[] = {[AR_SOURCE_ALGO] = "ALLREDUCE_ALGO",
                                        [AR_SOURCE_PROGRAM] = NAME_PROGRAM,
                                        [AR_SOURCE_FILE] = "ALLREDUCE_RULES",
                                        [AR_SOURCES] = "ALLREDUCE_ALGO_LIST"};
    const enum ar_determinism level = config->determinism;
    int who = 0;
    char reason[AR_CONFIG_PROBLEM];
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    if (config->broken)
        return;
    if (levels_break_promise(config, &why)) {
        set_problem(config, "ALLREDUCE_LEVELS", reason);
        return;
    }
    while (who < AR_SOURCES &&
           !(config->rules[who] && ar_determinism_forbids(level, config->rules[who], &why)))
        who++;
    if (who == AR_SOURCES && ar_determinism_allows(level, config->allowed, &why) &&
        ar_determinism_mixes(level, config->rules, AR_SOURCES, config->allowed, &who, &why))
        return;
    config->strict |= who == AR_SOURCE_PROGRAM;
    set_problem(config, names[who], reason);
}

/* What the program chose is read, kept and written like the variable ALLREDUCE_ALGO. */
static struct ar_variable
row_of_program(void)
{
    struct ar_variable row = *ar_variable_find(ar_word_of("ALLREDUCE_ALGO"));
    row.name = KEY_PROGRAM;
    row.offset = offsetof(struct ar_config, rules[AR_SOURCE_PROGRAM]);
    return row;
}

/* A line, unless the value is the default, or each rank's own. */
static int
write_line(FILE *out, const struct ar_config *config, const struct ar_variable *v)
{
    if (!v->kind->print)
        return AR_OK;
    char *const value = v->kind->print(config, v);
    if (value && strcmp(value, v->fallback) != 0)
        fprintf(out, "%s=%s\n", v->name, value);
    free(value);
    return value ? AR_OK : AR_ERR_MEMORY;
}

static int
write_text(FILE *out, const struct ar_config *config)
{
    const struct ar_variable program = row_of_program();
    int error = AR_OK;
    if (config->broken) {
        fprintf(out, "%s=%s\n", config->error ? KEY_ERROR : KEY_WARNING, config->problem);
        return AR_OK;
    }
    for (const struct ar_variable *v = ar_variables; v < ar_variables + AR_VARIABLES && !error; v++)
        error = write_line(out, config, v);
    return error ? error : write_line(out, config, &program);
}

/* Settles what follows from the parts.  Where memory runs out, or error says that it did, config is
 * destroyed and NULL returned. */
static struct ar_config *
finished(struct ar_config *config, int error)
{
    size_t length;
    hold_to_promise(config);
    config->error = config->broken && config->strict ? AR_ERR_SYNTAX : AR_OK;
    config->is_watched = config->verify.every > 0 || config->tune == AR_TUNE_ONLINE;
    for (int i = 0; i < AR_SOURCES; i++)
        config->traits |= config->rules[i] ? ar_rules_all_traits(config->rules[i]) : 0;
    FILE *const out = error == AR_ERR_MEMORY ? NULL : open_memstream(&config->text, &length);
    if (out) {
        error = write_text(out, config) || ferror(out);
        if (fclose(out) == 0 && !error)
            return config;
    }
    ar_config_destroy(config);
    return NULL;
}

struct ar_config *
ar_config_from_environment(int rank)
{
    char reason[AR_CONFIG_PROBLEM];
    struct ar_text why, strange;
    struct ar_config *const config = create();
    int error = AR_OK;
    if (!config)
        return NULL;
    config->rank = rank;
    ar_text_init(&why, reason, sizeof reason);
    ar_text_init(&strange, config->strange, sizeof config->strange);
    if (ar_environment_has_misspelt(&why, &strange))
        set_problem(config, "", reason);
    for (const struct ar_variable *v = ar_variables; v < ar_variables + AR_VARIABLES; v++)
        if (set(config, v, v->kind->parse, ar_variable_value(v), v->name) == AR_ERR_MEMORY)
            error = AR_ERR_MEMORY;
    if (config->stats_signal && !config->stats_file)
        set_problem(config, "ALLREDUCE_STATS_SIGNAL",
                    "there is no file to write to; set ALLREDUCE_STATS=FILE as well");
    if (config->stats_file && config->trace.file && !ar_output_is_direct(config->stats_file) &&
        strcmp(config->stats_file, config->trace.file) == 0)
        set_problem(config, "ALLREDUCE_TRACE",
                    "the file of ALLREDUCE_STATS, which it would replace; name another one");
    /* At the signal each rank writes a file of its own. */
    if (config->stats_signal && !config->broken && ar_stats_file_check(config->stats_file, &why))
        set_problem(config, "ALLREDUCE_STATS", reason);
    return finished(config, error);
}

struct ar_config *
ar_config_from_algo(const char *text)
{
    struct ar_config *const config = create();
    const struct ar_variable *const v = ar_variable_find(ar_word_of("ALLREDUCE_ALGO"));
    if (config)
        config->tune = AR_TUNE_OFF;
    return config ? finished(config, set(config, v, v->kind->parse, text, v->name)) : NULL;
}

/* Takes the lines of another configuration's text. */
static int
take_text(struct ar_config *config, const char *text)
{
    static const char unknown[] = "configuration of another rank";
    const struct ar_variable program = row_of_program();
    char *const copy = strdup(text), *rest = NULL;
    int error = copy ? AR_OK : AR_ERR_MEMORY;
    for (char *line = copy ? strtok_r(copy, "\n", &rest) : NULL; line && error != AR_ERR_MEMORY;
         line = strtok_r(NULL, "\n", &rest)) {
        const struct ar_word key = {line, strcspn(line, "=")};
        const char *const value = line + key.length + (line[key.length] == '=');
        const struct ar_variable *const v =
            ar_word_is(key, KEY_PROGRAM) ? &program : ar_variable_find(key);
        if (ar_word_is(key, KEY_ERROR) || ar_word_is(key, KEY_WARNING)) {
            config->strict = ar_word_is(key, KEY_ERROR);
            set_problem(config, "", value);
        } else if (v && v->kind->take) {
            error = set(config, v, v->kind->take, value, unknown);
        } else {
            set_problem(config, unknown, "unknown line");
        }
    }
    free(copy);
    return error;
}

struct ar_config *
ar_config_from_text(const char *text)
{
    struct ar_config *const config = create();
    return config ? finished(config, take_text(config, text)) : NULL;
}

static size_t
line_length(const char *line)
{
    return strcspn(line, "\n");
}

/* The line of the text that has the same key as this one; "" where there is none. */
static const char *
find_line(const char *text, const char *line)
{
    const size_t key = strcspn(line, "=") + 1;
    while (*text && strncmp(text, line, key) != 0) {
        text += line_length(text);
        text += *text == '\n';
    }
    return text;
}

static void
tell_line(struct ar_text *to, const struct ar_config *config, const char *line, const char *who)
{
    ar_text_add(to, "%s has ", who);
    if (config->broken)
        ar_text_add(to, "an error: %s", config->problem);
    else if (*line)
        ar_text_add(to, "%.*s", (int)line_length(line), line);
    else
        ar_text_add(to, "the default");
}

/* Lines are in the order of the table of variables. */
void
ar_config_tell_difference(struct ar_text *to, const struct ar_config *a, const char *name_a,
                          const struct ar_config *b, const char *name_b)
{
    const char *in_a = a->text, *in_b = b->text;
    while (*in_a && line_length(in_a) == line_length(in_b) &&
           strncmp(in_a, in_b, line_length(in_a)) == 0) {
        in_a += line_length(in_a) + 1;
        in_b += line_length(in_b) + 1;
    }
    if (*in_a && !*find_line(in_b, in_a))
        in_b = ""; /* b's next line is of another variable */
    else if (*in_b && !*find_line(in_a, in_b))
        in_a = "";
    tell_line(to, a, in_a, name_a);
    ar_text_add(to, ", and ");
    tell_line(to, b, in_b, name_b);
}

void
ar_config_take_own(struct ar_config *config, const struct ar_config *mine)
{
    const bool has_same_model = config->model_file && mine->model_path && mine->model_file &&
                                strcmp(config->model_file, mine->model_file) == 0;
    config->wait = mine->wait;
    config->verbose = mine->verbose;
    free(config->model_path);
    config->model_path = has_same_model ? strdup(mine->model_path) : NULL;
}

const char *
ar_config_next_unused(const struct ar_config *config, size_t *i, const char **advice)
{
    const char *name, *value;
    if (config->broken || config->rules[AR_SOURCE_ALGO])
        return NULL;
    while ((name = ar_library_variable_at((*i)++))) {
        value = getenv(name);
        if (!value || ar_word_next(&value, "").length == 0)
            continue;
        *advice = strcmp(name, AR_INTEL_VARIABLE) == 0 || strcmp(name, AR_INTEL_LIST) == 0
                      ? "ALLREDUCE_ALGO=intel makes the library use it"
                      : "allreduce convert translates it for ALLREDUCE_ALGO, and "
                        "ALLREDUCE_ALGO=native leaves the choice to it";
        return name;
    }
    return NULL;
}

struct ar_config *
ar_config_with_program(const struct ar_config *base, const char *clauses)
{
    struct ar_config *const config = create();
    const struct ar_variable program = row_of_program();
    if (!config)
        return NULL;
    int error = take_text(config, base->text);
    ar_config_take_own(config, base);
    ar_rules_destroy(config->rules[AR_SOURCE_PROGRAM]);
    config->rules[AR_SOURCE_PROGRAM] = NULL;
    if (error != AR_ERR_MEMORY)
        error = set(config, &program, program.kind->parse, clauses, NAME_PROGRAM);
    config->strict |= error == AR_ERR_SYNTAX;
    return finished(config, error);
}

/* --- what a configuration chooses for a call --- */

const char ar_reason_named[] = "named";
const char ar_reason_program[] = "program";
const char ar_reason_rule[] = "rule";
const char ar_reason_auto[] = "auto";
const char ar_reason_model[] = "model";
const char ar_reason_no_commute[] = "op does not commute";
const char ar_reason_determinism[] = "determinism";
const char ar_reason_whole[] = "user op needs the whole vector";
const char ar_reason_broken[] = "bad configuration";

/* Those of the sources. */
static const char *const reasons[AR_SOURCES] = {ar_reason_named, ar_reason_program, ar_reason_rule};

struct match {
    enum ar_source source;
    const struct ar_clause *clause; /* NULL: none matches */
};

static struct match
find_clause(const struct ar_config *config, const struct ar_request *request)
{
    struct match m = {.clause = NULL};
    for (int i = 0; i < AR_SOURCES && !m.clause; i++) {
        m.source = (enum ar_source)i;
        if (config->rules[i])
            m.clause = ar_rules_match(config->rules[i], request);
    }
    return m;
}

/* Selects by the built-in rules.  Where the user's list leaves them nothing that keeps the bits,
 * the list does not count. */
static int
select_auto(const struct ar_config *config, struct ar_choice *out, const struct ar_request *request,
            const char **reason)
{
    int error = ar_auto_select(out, request, config->allowed);
    if (!error && out->kind == AR_CHOICE_NATIVE && request->keeps != AR_DETERMINISM_NONE) {
        *reason = ar_reason_determinism;
        error = ar_auto_select(out, request, NULL);
    }
    if (!error && out->kind == AR_CHOICE_NATIVE)
        *reason = ar_reason_no_commute;
    return error;
}

int
ar_config_select(const struct ar_config *config, struct ar_choice *out,
                 const struct ar_request *request, const char **reason)
{
    const struct ar_choice native = {.kind = AR_CHOICE_NATIVE};
    if (config->broken) {
        *out = native;
        *reason = ar_reason_broken;
        return AR_OK;
    }
    const struct match match = find_clause(config, request);
    const struct ar_choice *const named = match.clause ? &match.clause->choice : NULL;
    if (!named || named->kind == AR_CHOICE_AUTO) {
        *reason = ar_reason_auto;
        return select_auto(config, out, request, reason);
    }
    /* Where sums are exact any algorithm may be named, but does not serve what is rounded. */
    const bool may_serve =
        config->determinism != AR_DETERMINISM_ORDER || request->keeps != AR_DETERMINISM_SIZE;
    if (may_serve && (request->commutative || named->kind == AR_CHOICE_NATIVE ||
                      ar_algorithm_keeps_order(named->algorithm, &named->params))) {
        *out = *named;
        *reason = reasons[match.source];
        return AR_OK;
    }
    if (request->keeps != AR_DETERMINISM_NONE) {
        *reason = ar_reason_determinism;
        return select_auto(config, out, request, reason);
    }
    *out = native;
    *reason = ar_reason_no_commute;
    return AR_OK;
}

const struct ar_choice *
ar_config_clause(const struct ar_config *config, const struct ar_request *request)
{
    const struct ar_clause *const clause =
        config->broken ? NULL : find_clause(config, request).clause;
    return clause ? &clause->choice : NULL;
}

bool
ar_config_may_cut(const struct ar_config *config, const struct ar_request *request)
{
    const struct ar_clause *const clause = find_clause(config, request).clause;
    return request->op != AR_OPS || config->cuts_user_ops ||
           (clause && clause->traits.asks & AR_TRAIT_OP);
}

/* Only the first source that has rules can make every call native. */
const char *
ar_config_always_native(const struct ar_config *config)
{
    int first = 0;
    if (config->broken)
        return ar_reason_broken;
    while (first < AR_SOURCES - 1 && !config->rules[first])
        first++;
    const struct ar_rules *const rules = config->rules[first];
    const struct ar_clause *const clause = rules && rules->nclauses > 0 ? rules->clauses : NULL;
    const bool is_native = clause && clause->nconditions == 0 && !clause->traits.asks &&
                           clause->choice.kind == AR_CHOICE_NATIVE;
    return is_native ? reasons[first] : NULL;
}

bool
ar_config_has_list(const struct ar_config *config)
{
    size_t i = 0;
    while (config->allowed && i < ar_algorithm_count() && config->allowed[i])
        i++;
    return config->allowed && i < ar_algorithm_count();
}
