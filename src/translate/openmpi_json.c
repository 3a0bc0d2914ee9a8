/* Source: ompi/mca/coll/tuned/coll_tuned_dynamic_file.c of Open MPI 6 and its page on tuned.  The
 * first communicator rule that matches counts, and in it the first message rule; where none does,
 * Open MPI decides. */
#include "translate/translate.h"

#include <jansson.h>
#include <limits.h>
#include <string.h>

#define PATH_TEXT 128

struct json_rules {
    struct ar_translator *x;
    const char *spread; /* which a clause asks for where its rule says nothing; NULL: nothing */
    bool is_complete;   /* has any communicator a rule? */
};

/* --- values --- */

/* What the file says, for a message: what does not print is written as a number. */
static const char *
printable(char text[AR_PROBLEM_TEXT], const char *said)
{
    struct ar_text to;
    ar_text_init(&to, text, AR_PROBLEM_TEXT);
    ar_text_escape(&to, ar_word_of(said));
    return text;
}

/* Tells what is wrong with a key of the object at path, which may be empty. */
static int
refuse(struct ar_translator *x, const char *path, const char *key, const char *expected,
       const json_t *found)
{
    char *const text = found ? json_dumps(found, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    x->problem->line = x->problem->column = 0;
    ar_text_add(&x->why, "%s%s%s: expected %s", path, *path ? "." : "", key, expected);
    if (text) {
        ar_text_add(&x->why, ", found ");
        ar_text_quote(&x->why, ar_word_of(text));
    }
    free(text);
    return AR_ERR_SYNTAX;
}

/* Notes the keys of an object that are none of these, which end with NULL. */
static void
note_others(struct ar_translator *x, json_t *object, const char *path, const char *const *known)
{
    const char *key;
    char text[AR_PROBLEM_TEXT];
    json_t *value;
    json_object_foreach(object, key, value)
    {
        bool is_known = false;
        for (int i = 0; known[i]; i++)
            is_known |= strcmp(key, known[i]) == 0;
        if (!is_known)
            ar_translator_note(x, "%s%s%s: not a key of Open MPI's, which ignores it", path,
                               *path ? "." : "", printable(text, key));
    }
}

/* A number from 0 on, or "inf"; *number is left as it is where the key is missing. */
static int
read_number(struct ar_translator *x, const json_t *object, const char *path, const char *key,
            size_t *number)
{
    const json_t *const value = json_object_get(object, key);
    if (!value)
        return AR_OK;
    if (json_is_integer(value) && json_integer_value(value) >= 0)
        *number = (size_t)json_integer_value(value);
    else if (json_is_string(value) && ar_word_is(ar_word_of(json_string_value(value)), "inf"))
        *number = SIZE_MAX;
    else
        return refuse(x, path, key, "a whole number from 0 on, or \"inf\"", value);
    return AR_OK;
}

/* How the ranks are spread over nodes; *spread is left as it is where the key is missing. */
static int
read_spread(struct ar_translator *x, const json_t *object, const char *path, const char **spread)
{
    static const struct {
        const char *name, *asks;
    } spreads[] = {{"any", NULL}, {"one-per-node", "ppn=1"}, {"single-node", "nodes=1"}};
    static const char key[] = "comm_rank_distribution";
    const json_t *const value = json_object_get(object, key);
    const char *const name = json_string_value(value);
    for (int i = 0; i < 3 && name; i++)
        if (strcmp(name, spreads[i].name) == 0) {
            *spread = spreads[i].asks;
            return AR_OK;
        }
    return value ? refuse(x, path, key, "any, one-per-node or single-node", value) : AR_OK;
}

/* The algorithm, by its name or number; *is gets NULL where Open MPI has no such, and so leaves out
 * the rule. */
static int
read_algorithm(struct ar_translator *x, const json_t *rule, const char *path,
               const struct ar_counterpart **is)
{
    const json_t *const value = json_object_get(rule, "alg");
    char id[24], names[AR_PROBLEM_TEXT], text[AR_PROBLEM_TEXT];
    struct ar_text allowed;
    if (!json_is_integer(value) && !json_is_string(value))
        return refuse(x, path, "alg", "the name or the number of an algorithm", value);
    snprintf(id, sizeof id, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    const char *const word = json_is_string(value) ? json_string_value(value) : id;
    *is = ar_counterpart_find(AR_LIBRARY_OPENMPI, ar_word_of(word));
    if (*is)
        return AR_OK;
    ar_text_init(&allowed, names, sizeof names);
    ar_text_counterparts(&allowed, AR_LIBRARY_OPENMPI);
    ar_translator_note(
        x, "%s.alg: Open MPI has no allreduce algorithm '%s', and leaves the rule out; it has %s",
        path, printable(text, word), names);
    return AR_OK;
}

/* --- rules --- */

/* One message rule: rule->ranks and asks are known; rule->is gets NULL where it is left out. */
static int
read_message_rule(struct ar_translator *x, json_t *object, const char *path,
                  struct ar_foreign_rule *rule)
{
    static const char *const words[] = {"faninout", "seg_size", "reqs"};
    static const char *const keys[] = {"msg_size_min", "msg_size_max", "alg", "faninout",
                                       "seg_size",     "reqs",         NULL};
    struct ar_openmpi_extras extras = {.words = words};
    if (!json_is_object(object))
        return refuse(x, "", path, "an object", object);
    note_others(x, object, path, keys);
    rule->sizes = AR_ANY_BOUNDS;
    int error = read_number(x, object, path, keys[0], &rule->sizes.min);
    if (!error)
        error = read_number(x, object, path, keys[1], &rule->sizes.max);
    if (!error)
        error = read_algorithm(x, object, path, &rule->is);
    if (!error)
        error = read_number(x, object, path, words[0], &extras.topology);
    if (!error)
        error = read_number(x, object, path, words[1], &extras.segment);
    if (!error)
        error = read_number(x, object, path, words[2], &extras.requests);
    if (error || !rule->is)
        return error;
    if (rule->sizes.min <= rule->sizes.max && rule->sizes.min < SIZE_MAX) {
        ar_translator_write_openmpi(x, *rule, &extras, path);
        return AR_OK;
    }
    ar_translator_note(x, "%s: no message is that long, so the rule is left out", path);
    rule->is = NULL;
    return AR_OK;
}

/* One communicator rule, with a clause at its end if there may be messages that none of its rules
 * takes. */
static int
read_communicator_rule(struct json_rules *in, json_t *object, const char *path)
{
    static const char *const keys[] = {"comm_size_min", "comm_size_max", "comm_rank_distribution",
                                       "rules", NULL};
    struct ar_translator *const x = in->x;
    struct ar_foreign_rule rule = {.ranks = AR_ANY_BOUNDS, .asks = in->spread};
    if (!json_is_object(object))
        return refuse(x, "", path, "an object", object);
    note_others(x, object, path, keys);
    json_t *const rules = json_object_get(object, keys[3]), *each;
    int error = read_number(x, object, path, keys[0], &rule.ranks.min);
    size_t i, known = 0; /* whose rules are known: messages of fewer bytes */
    if (!error)
        error = read_number(x, object, path, keys[1], &rule.ranks.max);
    if (!error)
        error = read_spread(x, object, path, &rule.asks);
    if (!error && !json_is_array(rules))
        error = refuse(x, path, keys[3], "an array of message rules", rules);
    if (error)
        return error;
    if (rule.ranks.max >= INT_MAX)
        rule.ranks.max = SIZE_MAX;
    if (rule.ranks.min > rule.ranks.max || rule.ranks.min == SIZE_MAX) {
        ar_translator_note(x, "%s: no communicator is that large, so the rule is left out", path);
        return AR_OK;
    }
    json_array_foreach(rules, i, each)
    {
        char inner[PATH_TEXT + 32];
        snprintf(inner, sizeof inner, "%s.rules[%zu]", path, i);
        error = read_message_rule(x, each, inner, &rule);
        if (error)
            return error;
        if (rule.is && rule.sizes.min <= known && rule.sizes.max >= known)
            known = rule.sizes.max < SIZE_MAX ? rule.sizes.max + 1 : SIZE_MAX;
    }
    rule.is = ar_counterpart_find(AR_LIBRARY_OPENMPI, ar_word_of("ignore"));
    rule.sizes = AR_ANY_BOUNDS;
    if (known < SIZE_MAX)
        ar_translator_write(x, &rule);
    in->is_complete |= rule.ranks.min <= 1 && rule.ranks.max == SIZE_MAX && !rule.asks;
    return AR_OK;
}

static int
read_file(struct ar_translator *x, json_t *file)
{
    static const char *const keys[] = {"rule_file_version",      "module",  "collectives",
                                       "comm_rank_distribution", "$schema", NULL};
    const json_t *const version = json_object_get(file, keys[0]);
    const json_t *const module = json_object_get(file, keys[1]);
    const json_t *const all = json_object_get(file, keys[2]);
    json_t *const rules = json_object_get(all, "allreduce"), *each;
    struct json_rules in = {.x = x};
    size_t i;
    int error = AR_OK;
    note_others(x, file, "", keys);
    if (version && json_number_value(version) != 3)
        return refuse(x, "", keys[0], "3", version);
    if (module && (!json_is_string(module) || strcmp(json_string_value(module), "tuned") != 0))
        return refuse(x, "", keys[1], "\"tuned\"", module);
    if (!json_is_object(all))
        return refuse(x, "", keys[2], "an object with a key for each collective", all);
    if (rules && !json_is_array(rules))
        return refuse(x, keys[2], "allreduce", "an array of communicator rules", rules);
    error = read_spread(x, file, "", &in.spread);
    json_array_foreach(rules, i, each)
    {
        char path[PATH_TEXT];
        snprintf(path, sizeof path, "collectives.allreduce[%zu]", i);
        if (!error)
            error = read_communicator_rule(&in, each, path);
    }
    if (!rules)
        ar_translator_note(x, "the file has no rules for allreduce, which Open MPI then decides");
    if (!in.is_complete)
        fputs("native;\n", x->text);
    return error;
}

/* --- the text --- */

/* Blanks a comma before a bracket that closes: Open MPI's reader takes it, and so has its manual's
 * example. */
static void
drop_last_commas(char *text)
{
    char *comma = NULL;
    bool in_string = false;
    for (char *c = text; *c; c++) {
        if (in_string && *c == '\\' && c[1])
            c++;
        else if (*c == '"')
            in_string = !in_string, comma = NULL;
        else if (!in_string && *c == ',')
            comma = c;
        else if (!in_string && comma && (*c == '}' || *c == ']'))
            *comma = ' ', comma = NULL;
        else if (!in_string && !strchr(" \t\r\n", *c))
            comma = NULL;
    }
}

int
ar_openmpi_translate_json(struct ar_translation *t, const char *text, struct ar_problem *problem)
{
    struct ar_translator x;
    json_error_t wrong;
    char *const copy = strdup(text);
    int error = AR_ERR_MEMORY;
    if (ar_translator_begin(&x, t, AR_LIBRARY_OPENMPI, text, problem) && copy) {
        drop_last_commas(copy);
        json_t *const file = json_loads(copy, 0, &wrong);
        if (file) {
            error = read_file(&x, file);
        } else {
            problem->line = wrong.line;
            problem->column = wrong.column;
            ar_text_add(&x.why, "not JSON: ");
            ar_text_escape(&x.why, ar_word_of(wrong.text));
            error = AR_ERR_SYNTAX;
        }
        json_decref(file);
    }
    free(copy);
    return ar_translator_end_rules(&x, error);
}
