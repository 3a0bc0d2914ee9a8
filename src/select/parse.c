/* The parser of clauses and lists, by recursive descent.  Each function takes what its
 * name says, with the blanks behind it, or tells the problem and returns false. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/written_row.h"
#include "schedule/grow.h"
#include "select/foreign.h"
#include "select/names.h"
#include "select/node_levels.h"

struct parser {
    const char *at;
    const char *line_start;
    int line;
    bool lines; /* a rules file: clauses end with the line, # begins a comment */
    struct ar_rules *rules;
    struct ar_problem *problem;
    struct ar_text why; /* the problem's text */
    int error;
};

static int
column_of(const struct parser *p, const char *at)
{
    return (int)(at - p->line_start) + 1;
}

/* Notes that p->why tells a problem with the token at; false. */
static bool
refuse_at(struct parser *p, const char *at)
{
    p->problem->line = p->line;
    p->problem->column = column_of(p, at);
    p->error = AR_ERR_SYNTAX;
    return false;
}

/* Tells a problem with the token at; false. */
#define REFUSE(p, at, ...) (ar_text_add(&(p)->why, __VA_ARGS__), refuse_at(p, at))

static bool
no_memory(struct parser *p)
{
    p->error = AR_ERR_MEMORY;
    return false;
}

static void
skip_blanks(struct parser *p)
{
    p->at += strspn(p->at, p->lines ? " \t\v\f\r" : " \t\n\v\f\r");
    if (p->lines && *p->at == '#')
        p->at += strcspn(p->at, "\n");
}

/* The word here, which is not taken. */
static struct ar_word
peek_word(const struct parser *p, bool with_minus)
{
    size_t length = 0;
    while (ar_is_name_char(p->at[length]) && (with_minus || p->at[length] != '-'))
        length++;
    return (struct ar_word){p->at, length};
}

/* A parameter's value: words with slashes or plus signs between them, as in n/20 or 4+16. */
static struct ar_word
peek_value(const struct parser *p)
{
    size_t length = 0;
    while (ar_is_name_char(p->at[length]) || (p->at[length] && strchr("/+", p->at[length])))
        length++;
    return (struct ar_word){p->at, length};
}

/* The name of a file, maybe in quotes; length 0: it does not end. */
static struct ar_word
peek_path(const struct parser *p)
{
    if (*p->at != '"')
        return (struct ar_word){p->at, strcspn(p->at, AR_PATH_ENDS)};
    const size_t length = strcspn(p->at + 1, "\"\n");
    return (struct ar_word){p->at, p->at[1 + length] == '"' ? length + 2 : 0};
}

static void
take(struct parser *p, size_t length)
{
    p->at += length;
    skip_blanks(p);
}

/* Says that something else was expected than what stands here. */
static bool
expected(struct parser *p, const char *what)
{
    const struct ar_word word = peek_word(p, false);
    ar_text_add(&p->why, "expected %s, found ", what);
    if (*p->at == '\0')
        return REFUSE(p, p->at, "the end of the text");
    if (*p->at == '\n' && p->lines)
        return REFUSE(p, p->at, "the end of the line");
    ar_text_quote(&p->why, word.length ? word : (struct ar_word){p->at, 1});
    return refuse_at(p, p->at);
}

static bool
at_clause_end(const struct parser *p)
{
    return *p->at == '\0' || *p->at == ';' || (*p->at == '\n' && p->lines);
}

/* name '=' value, behind the parameter *last, which then is this one. */
static bool
parse_param(struct parser *p, struct ar_choice *choice, unsigned *seen, struct ar_word *last)
{
    const struct ar_word name = peek_word(p, true);
    struct ar_levels level;
    if (name.length == 0)
        return expected(p, "a parameter's name");
    take(p, name.length);
    if (*p->at != '=') {
        expected(p, "'=' after the parameter's name");
        if (ar_word_is(*last, "levels") && ar_levels_parse(&level, name))
            ar_text_add(&p->why, "; in a parameter levels are joined by +, as in levels=4+16");
        return false;
    }
    *last = name;
    take(p, 1);
    const struct ar_word value = ar_word_is(name, "file") ? peek_path(p) : peek_value(p);
    if (value.length == 0)
        return expected(p, *p->at == '"' ? "a second \" on the line" : "a value");
    const char *const culprit =
        ar_params_set(&choice->params, seen, choice->algorithm, name, value, &p->why);
    if (culprit)
        return refuse_at(p, culprit);
    take(p, value.length);
    return true;
}

/* '(' parameters ')' */
static bool
parse_params(struct parser *p, struct ar_choice *choice)
{
    unsigned seen = 0;
    struct ar_word last = {"", 0};
    if (choice->kind != AR_CHOICE_ALGORITHM)
        return REFUSE(p, p->at,
                      "%s takes no parameters; allowed: ':' and conditions, ';' or the end",
                      choice->kind == AR_CHOICE_AUTO ? "auto" : "native");
    do {
        take(p, 1);
        if (!parse_param(p, choice, &seen, &last))
            return false;
    } while (*p->at == ',');
    if (*p->at != ')')
        return expected(p, "',' or ')' after the parameter");
    take(p, 1);
    return true;
}

/* What a bound of a range is, to the reader and to the user. */
struct bound {
    int (*parse)(size_t *value, const char *text, const char **end);
    const char *what;
    const char *allowed;
};

/* As ar_size_parse, but ranks have no units. */
static int
parse_ranks(size_t *ranks, const char *text, const char **end)
{
    const size_t digits = strspn(text, "0123456789");
    const int error = ar_size_parse(ranks, text, end);
    if (digits > 0 && *end != text + digits)
        *end = text;
    return error;
}

static const struct bound size_bound = {ar_size_parse, "a size (0-inf for any)",
                                        "digits with K, M or G (powers of 1024, in bytes), or inf"};
static const struct bound ranks_bound = {parse_ranks, "a number of ranks (0-inf for any)",
                                         "digits, or inf"};

static bool
parse_bound(struct parser *p, const struct bound *bound, size_t *value)
{
    const struct ar_word word = peek_word(p, false);
    const char *end = p->at;

    if (word.length == 0)
        return expected(p, bound->what);
    const int error = bound->parse(value, p->at, &end);
    if (error || end != word.at + word.length) {
        const bool overflow = error && end == word.at + word.length;
        ar_text_quote(&p->why, word);
        return REFUSE(p, p->at, " is %s %s; allowed: %s", overflow ? "too large for" : "not",
                      bound->what, bound->allowed);
    }
    take(p, word.length);
    return true;
}

/* min | min '-' max */
static bool
parse_range(struct parser *p, const struct bound *bound, size_t *min, size_t *max)
{
    const char *at = p->at;
    if (!parse_bound(p, bound, min))
        return false;
    if (*min == SIZE_MAX)
        return REFUSE(p, at, "a range cannot begin at inf; allowed: inf as its end, as in 0-inf");
    *max = *min;
    if (*p->at != '-')
        return true;
    take(p, 1);
    at = p->at;
    if (!parse_bound(p, bound, max))
        return false;
    if (*min > *max)
        return REFUSE(p, at, "the range ends below its start; allowed: l-m with l <= m");
    return true;
}

/* name '=' value, of which the name is taken already.  A value is made of names, ranges, patterns
 * and alternatives. */
static bool
parse_trait(struct parser *p, struct ar_word name)
{
    take(p, 1);
    struct ar_word value = {p->at, 0};
    while (ar_is_name_char(p->at[value.length]) ||
           (p->at[value.length] && strchr("|*?", p->at[value.length])))
        value.length++;
    if (value.length == 0)
        return expected(p, "a value");
    const char *const culprit =
        ar_traits_set(&p->rules->clauses[p->rules->nclauses - 1].traits, name, value, &p->why);
    if (culprit)
        return refuse_at(p, culprit);
    take(p, value.length);
    if (*p->at != ',' && !at_clause_end(p))
        return expected(p, "',', ';' or the end after the value");
    return true;
}

static bool
parse_condition(struct parser *p)
{
    const char *const begin = p->at;
    const struct ar_word name = peek_word(p, true);
    take(p, name.length);
    if (name.length > 0 && *p->at == '=')
        return parse_trait(p, name);
    p->at = begin; /* a size, then */
    struct ar_condition c = {0, SIZE_MAX, 0, SIZE_MAX};
    if (!parse_range(p, &size_bound, &c.bytes_min, &c.bytes_max))
        return false;
    if (*p->at == '@') {
        take(p, 1);
        if (!parse_range(p, &ranks_bound, &c.ranks_min, &c.ranks_max))
            return false;
        if (*p->at != ',' && !at_clause_end(p))
            return expected(p, "'-', ',', ';' or the end after the ranks");
    }
    if (*p->at != ',' && !at_clause_end(p))
        return expected(p, "'-', '@', ',', ';' or the end after the size");
    struct ar_rules *const rules = p->rules;
    struct ar_condition *const conditions = ar_grow(rules->conditions, rules->nconditions + 1,
                                                    &rules->conditions_room, sizeof *conditions);
    if (!conditions)
        return no_memory(p);
    rules->conditions = conditions;
    conditions[rules->nconditions++] = c;
    rules->clauses[rules->nclauses - 1].nconditions++;
    return true;
}

/* ':' conditions, of which there may be none */
static bool
parse_conditions(struct parser *p)
{
    take(p, 1);
    if (at_clause_end(p))
        return true;
    while (parse_condition(p)) {
        if (at_clause_end(p))
            return true;
        take(p, 1);
    }
    return false;
}

/* a name, an alias, an id, native or auto */
static bool
parse_algorithm(struct parser *p, struct ar_choice *choice)
{
    const struct ar_word word = peek_word(p, true);
    if (word.length == 0)
        return expected(p, "an algorithm");
    if (!ar_name_resolve(choice, word, &p->why))
        return refuse_at(p, p->at);
    take(p, word.length);
    return true;
}

/* What an id of Intel MPI's stands for; NULL: the word is no id. */
static const struct ar_counterpart *
intel_id(struct ar_word word)
{
    const bool is_id = word.length > 0 && strspn(word.at, "0123456789") >= word.length;
    return is_id ? ar_counterpart_find(AR_LIBRARY_INTEL, word) : NULL;
}

/* Puts a clause in front of the last one that takes its calls where all ranks share a node, unless
 * it asks for several nodes. */
static bool
add_on_one_node(struct parser *p, const char *name)
{
    struct ar_rules *const rules = p->rules;
    const size_t n = rules->nclauses, copied = rules->clauses[n - 1].nconditions;
    const struct ar_traits *const traits = &rules->clauses[n - 1].traits;
    if ((traits->asks & AR_TRAIT_NODES) && traits->nodes.min > 1)
        return true;
    struct ar_clause *const clauses =
        ar_grow(rules->clauses, n + 1, &rules->clauses_room, sizeof *clauses);
    if (!clauses)
        return no_memory(p);
    rules->clauses = clauses;
    struct ar_condition *const conditions =
        ar_grow(rules->conditions, rules->nconditions + copied + 1, &rules->conditions_room,
                sizeof *conditions);
    if (!conditions)
        return no_memory(p);
    rules->conditions = conditions;
    for (size_t i = 0; i < copied; i++, rules->nconditions++)
        conditions[rules->nconditions] = conditions[rules->nconditions - copied];
    struct ar_clause one = clauses[n - 1];
    one.choice = ar_choice_default(ar_algorithm_find(name, strlen(name)));
    one.traits.asks |= AR_TRAIT_NODES;
    one.traits.nodes = (struct ar_bounds){1, 1};
    clauses[n] = clauses[n - 1];
    clauses[n - 1] = one;
    rules->nclauses++;
    return true;
}

static bool
parse_clause(struct parser *p)
{
    struct ar_clause clause = {.line = p->line, .column = column_of(p, p->at)};
    struct ar_rules *const rules = p->rules;
    const struct ar_counterpart *const id = intel_id(peek_word(p, true));
    const char *const name = p->at;
    const struct ar_word word = peek_word(p, true);
    if (word.length > 0 && ar_word_is(word, ar_row_of_file.name)) {
        clause.choice = ar_choice_default(&ar_row_of_file);
        take(p, word.length);
    } else if (!parse_algorithm(p, &clause.choice)) {
        return false;
    }
    rules->has_intel_ids |= id && id->id > 0;
    const bool has_params = *p->at == '(';
    if (has_params && !parse_params(p, &clause.choice))
        return false;
    if (clause.choice.algorithm == &ar_row_of_file && !*clause.choice.params.file)
        return REFUSE(p, name, "schedule needs a file; allowed: schedule(file=NAME)");
    struct ar_clause *const clauses =
        ar_grow(rules->clauses, rules->nclauses + 1, &rules->clauses_room, sizeof *clauses);
    if (!clauses)
        return no_memory(p);
    rules->clauses = clauses;
    clauses[rules->nclauses++] = clause;
    if (*p->at == ':' && !parse_conditions(p))
        return false;
    if (at_clause_end(p))
        return !id || !id->on_one_node || add_on_one_node(p, id->on_one_node);
    return expected(p, has_params ? "':' and conditions, ';' or the end after the parameters"
                                  : "'(', ':', ';' or the end after the algorithm");
}

/* Takes what stands between clauses. */
static void
skip_separators(struct parser *p)
{
    skip_blanks(p);
    while (*p->at != '\0' && at_clause_end(p)) {
        if (*p->at == '\n') {
            p->line++;
            p->line_start = p->at + 1;
        }
        take(p, 1);
    }
}

static struct parser
begin(const char *text, bool lines, struct ar_rules *rules, struct ar_problem *problem)
{
    struct parser p = {text, text, 1, lines, rules, problem, .error = AR_OK};
    ar_text_init(&p.why, problem->text, sizeof problem->text);
    return p;
}

static int
parse(struct ar_rules **rules, const char *text, bool lines, struct ar_problem *problem)
{
    struct ar_rules *const made = calloc(1, sizeof *made);
    struct parser p = begin(text, lines, made, problem);
    if (!made)
        return AR_ERR_MEMORY;
    skip_separators(&p);
    while (*p.at != '\0' && parse_clause(&p))
        skip_separators(&p);
    if (p.error) {
        ar_rules_destroy(made);
        return p.error;
    }
    /* Only now do the conditions stay where they are. */
    for (size_t i = 0, first = 0; i < made->nclauses; first += made->clauses[i++].nconditions)
        if (made->clauses[i].nconditions > 0)
            made->clauses[i].conditions = &made->conditions[first];
    *rules = made;
    return AR_OK;
}

int
ar_rules_parse(struct ar_rules **rules, const char *text, struct ar_problem *problem)
{
    return parse(rules, text, false, problem);
}

int
ar_rules_parse_lines(struct ar_rules **rules, const char *text, struct ar_problem *problem)
{
    return parse(rules, text, true, problem);
}

/* Puts row into the list, or takes it out. */
static void
allow(bool *allowed, const struct ar_algorithm *row, bool in)
{
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        if (ar_algorithm_at(i) == row)
            allowed[i] = in;
}

/* The row of an id, and that which it is on one node. */
static void
allow_counterpart(bool *allowed, const struct ar_counterpart *c, bool in)
{
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        if (ar_counterpart_is(c, ar_algorithm_at(i)))
            allowed[i] = in;
}

/* Intel ids as in 1-4, of which word is what stands here. */
static bool
parse_ids(struct parser *p, bool *allowed, struct ar_word word, bool in)
{
    const size_t length = (size_t)((const char *)memchr(word.at, '-', word.length) - word.at);
    const struct ar_word end = {word.at + length + 1, word.length - length - 1};
    int first, last;
    if (!ar_word_int((struct ar_word){word.at, length}, 1, AR_INTEL_ID_MAX, &first) ||
        !ar_word_int(end, first, AR_INTEL_ID_MAX, &last)) {
        ar_text_quote(&p->why, word);
        return REFUSE(p, word.at,
                      " is not a range of Intel ids; allowed: l-m with 1 <= l <= m <= %d",
                      AR_INTEL_ID_MAX);
    }
    for (size_t i = 0; i < ar_counterpart_count(); i++) {
        const struct ar_counterpart *const c = ar_counterpart_at(i);
        if (c->library == AR_LIBRARY_INTEL && c->id >= first && c->id <= last)
            allow_counterpart(allowed, c, in);
    }
    take(p, word.length);
    return true;
}

/* [ '^' ] a name, an alias, an id or a range of ids: into the list, with '^' out of it.  A list
 * that begins with '^' has nothing to put in, since all are in it. */
static bool
parse_list_entry(struct parser *p, bool *allowed, const char *list)
{
    const bool in = *p->at != '^';
    if (!in)
        take(p, 1);
    const struct ar_word word = peek_word(p, true);
    struct ar_choice choice = {.kind = AR_CHOICE_NATIVE};
    if (in && *list == '^' && word.length > 0) {
        ar_text_quote(&p->why, word);
        return REFUSE(
            p, word.at,
            " has no ^, and a list that begins with ^ has all other names already; allowed: "
            "^ in front of all names, as in ^ring,^rhd, or names first, as in 1-4,^2");
    }
    if (memchr(word.at, '-', word.length) && strspn(word.at, "0123456789-") >= word.length)
        return parse_ids(p, allowed, word, in);
    if (!parse_algorithm(p, &choice))
        return false;
    if (choice.kind != AR_CHOICE_ALGORITHM)
        return REFUSE(p, word.at, "auto cannot choose %s; allowed: names of algorithms",
                      choice.kind == AR_CHOICE_AUTO ? "auto" : "native");
    const struct ar_counterpart *const id = intel_id(word);
    if (id)
        allow_counterpart(allowed, id, in);
    else
        allow(allowed, choice.algorithm, in);
    return true;
}

int
ar_algo_list_parse(bool *allowed, const char *text, struct ar_problem *problem)
{
    struct parser p = begin(text, false, NULL, problem);
    skip_blanks(&p);
    const char *const begin_of_list = p.at;
    const bool is_empty = *p.at == '\0';
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        allowed[i] = is_empty || *p.at == '^';
    bool more = !is_empty && parse_list_entry(&p, allowed, begin_of_list);
    while (more && *p.at == ',') {
        take(&p, 1);
        more = parse_list_entry(&p, allowed, begin_of_list);
    }
    if (more && *p.at != '\0')
        expected(&p, "',' or the end after the algorithm");
    size_t left = 0;
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        left += allowed[i];
    if (!p.error && left == 0)
        REFUSE(&p, begin_of_list, "the list leaves no algorithm for auto; allowed: one or more");
    return p.error;
}
