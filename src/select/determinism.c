#include "select/determinism.h"

#include <string.h>

enum ar_rounding
ar_rounding_of(enum ar_op op, enum ar_type_class type, size_t size_bytes)
{
    if (op == AR_OPS)
        return AR_ROUNDS;
    switch (type) {
    case AR_TYPE_INTEGER:
    case AR_TYPE_LOGICAL:
    case AR_TYPE_BYTE:
        return AR_ROUNDS_NOT;
    case AR_TYPE_FLOAT:
    case AR_TYPE_DOUBLE:
        return op == AR_SUM ? AR_ROUNDS_SUM : AR_ROUNDS;
    case AR_TYPE_COMPLEX: /* of floats or doubles, not of longer ones */
        return op == AR_SUM && size_bytes <= 2 * sizeof(double) ? AR_ROUNDS_SUM : AR_ROUNDS;
    default:
        return AR_ROUNDS;
    }
}

/* The most that a row can keep. */
static enum ar_determinism
level_of_rows(enum ar_determinism level)
{
    return level > AR_DETERMINISM_SIZE ? AR_DETERMINISM_SIZE : level;
}

enum ar_determinism
ar_determinism_of_call(enum ar_determinism level, enum ar_op op, enum ar_type_class type,
                       size_t size_bytes)
{
    switch (ar_rounding_of(op, type, size_bytes)) {
    case AR_ROUNDS_NOT:
        return AR_DETERMINISM_NONE;
    case AR_ROUNDS_SUM:
        return level;
    default:
        return level_of_rows(level);
    }
}

/* --- what is told --- */

static void
add_place(struct ar_text *why, const struct ar_clause *clause)
{
    if (clause->line > 1)
        ar_text_add(why, "line %d, ", clause->line);
    ar_text_add(why, "column %d: ", clause->column);
}

static void
add_rows_that_keep(struct ar_text *why, enum ar_determinism level)
{
    const char *comma = "";
    for (size_t i = 0; i < ar_algorithm_count(); i++) {
        if (ar_algorithm_keeps(ar_algorithm_at(i), NULL) < level)
            continue;
        ar_text_add(why, "%s%s", comma, ar_algorithm_at(i)->name);
        comma = ", ";
    }
}

/* --- a clause by itself --- */

bool
ar_determinism_forbids(enum ar_determinism level, const struct ar_rules *rules, struct ar_text *why)
{
    for (size_t i = 0; level > AR_DETERMINISM_NONE && i < rules->nclauses; i++) {
        const struct ar_choice *const choice = &rules->clauses[i].choice;
        char name[AR_CHOICE_TEXT];
        if (choice->kind == AR_CHOICE_AUTO ||
            (choice->kind == AR_CHOICE_ALGORITHM &&
             (level == AR_DETERMINISM_ORDER ||
              ar_algorithm_keeps(choice->algorithm, &choice->params) >= level)))
            continue;
        add_place(why, &rules->clauses[i]);
        if (choice->kind == AR_CHOICE_NATIVE)
            ar_text_add(why, "native guarantees nothing about its bits;");
        else if (ar_algorithm_keeps(choice->algorithm, &choice->params) == AR_DETERMINISM_NONE)
            ar_text_add(why, "%s depends on the cores to which ranks are bound;",
                        ar_choice_print(choice, name, sizeof name));
        else
            ar_text_add(
                why, "%s guarantees only level '%s';", ar_choice_print(choice, name, sizeof name),
                ar_determinism_names[ar_algorithm_keeps(choice->algorithm, &choice->params)]);
        ar_text_add(why, " ALLREDUCE_DETERMINISM=%s needs more; allowed: auto, ",
                    ar_determinism_names[level]);
        add_rows_that_keep(why, level_of_rows(level));
        return true;
    }
    return false;
}

/* --- clauses beside each other --- */

/* Do two algorithms combine in the same order?  How a message is cut matters where the order
 * depends on an element's place in its segment, whose length the window may bound. */
static bool
same_bits(const struct ar_choice *a, const struct ar_choice *b)
{
    char x[AR_CHOICE_TEXT], y[AR_CHOICE_TEXT];
    struct ar_choice other = *b;
    const enum ar_family family = ar_algorithm_family(a->algorithm, &a->params);
    if (family != AR_FAMILY_OWN)
        return family == ar_algorithm_family(b->algorithm, &b->params);
    if (a->algorithm != b->algorithm)
        return false;
    if (ar_algorithm_keeps(a->algorithm, &a->params) >= AR_DETERMINISM_SIZE) {
        other.params.segment_bytes = a->params.segment_bytes;
        other.params.segments = a->params.segments;
        other.params.whole_bytes = a->params.whole_bytes;
        other.params.copy = a->params.copy;
        other.params.window = a->params.window;
    }
    return strcmp(ar_choice_print(a, x, sizeof x), ar_choice_print(&other, y, sizeof y)) == 0;
}

/* The choices met so far have the bits of first. */
struct walk {
    struct ar_choice first, of_auto; /* AR_CHOICE_NATIVE: none yet; none at all */
    enum ar_determinism level;
    bool is_complete; /* a clause took all that is left */
};

/* Goes on with what a clause, or auto (NULL), chooses. */
static bool
goes_with(struct walk *walk, const struct ar_choice *choice, struct ar_text *why)
{
    if (!choice || choice->kind == AR_CHOICE_AUTO)
        choice = &walk->of_auto;
    if (choice->kind != AR_CHOICE_ALGORITHM)
        return true;
    if (walk->first.kind != AR_CHOICE_ALGORITHM)
        walk->first = *choice;
    if (same_bits(&walk->first, choice))
        return true;
    char x[AR_CHOICE_TEXT], y[AR_CHOICE_TEXT];
    const bool is_one_row = walk->first.algorithm == choice->algorithm;
    ar_text_add(why,
                "%s and %s combine in different orders, and the call decides which of them runs; "
                "allowed with ALLREDUCE_DETERMINISM=%s: one algorithm for all calls, or those of "
                "one family: star, circle, gather_scatter, allgather_fold; or butterfly, rhd, auto",
                is_one_row ? ar_choice_print(&walk->first, x, sizeof x)
                           : walk->first.algorithm->name,
                is_one_row ? ar_choice_print(choice, y, sizeof y) : choice->algorithm->name,
                ar_determinism_names[walk->level]);
    return false;
}

static bool
walk_rules(struct walk *walk, const struct ar_rules *rules, struct ar_text *why)
{
    for (size_t i = 0; i < rules->nclauses && !walk->is_complete; i++) {
        const struct ar_clause *const clause = &rules->clauses[i];
        struct ar_text place = *why;
        add_place(&place, clause);
        if (!goes_with(walk, &clause->choice, &place)) {
            *why = place;
            return false;
        }
        why->text[why->length] = '\0';
        walk->is_complete = clause->nconditions == 0 && !clause->traits.asks;
    }
    return true;
}

bool
ar_determinism_mixes(enum ar_determinism level, struct ar_rules *const *rules, int n,
                     const bool *allowed, int *at, struct ar_text *why)
{
    const unsigned nodes = AR_TRAIT_NODES | AR_TRAIT_PER_NODE;
    /* What auto picks has the same bits for all calls: one stands for all. */
    const struct ar_request any = {.bytes = 1, .nranks = 2, .commutative = true, .keeps = level};
    struct walk walk = {
        .level = level, .first.kind = AR_CHOICE_NATIVE, .of_auto.kind = AR_CHOICE_NATIVE};
    unsigned asks = 0;
    *at = 0;
    for (int i = 0; i < n; i++)
        asks |= rules[i] ? ar_rules_all_traits(rules[i]) : 0;
    if (level != AR_DETERMINISM_SIZE && !(level == AR_DETERMINISM_PLACEMENT && asks & nodes))
        return true;
    if (ar_auto_select(&walk.of_auto, &any, allowed))
        walk.of_auto.kind = AR_CHOICE_NATIVE;
    for (int i = 0; i < n; i++) {
        if (!rules[i])
            continue;
        *at = i;
        if (!walk_rules(&walk, rules[i], why))
            return false;
    }
    return walk.is_complete || goes_with(&walk, NULL, why);
}

bool
ar_determinism_allows(enum ar_determinism level, const bool *allowed, struct ar_text *why)
{
    bool all = true;
    for (size_t i = 0; i < ar_algorithm_count(); i++) {
        all &= allowed[i];
        if (allowed[i] && ar_algorithm_keeps(ar_algorithm_at(i), NULL) >= level_of_rows(level))
            return true;
    }
    if (all || level == AR_DETERMINISM_NONE)
        return true;
    ar_text_add(
        why,
        "none of these algorithms guarantees what ALLREDUCE_DETERMINISM=%s asks for; allowed: ",
        ar_determinism_names[level]);
    add_rows_that_keep(why, level_of_rows(level));
    return false;
}
