#include "select/traits.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "select/select.h"

enum kind { WORDS, RANGE, BYTES, PATTERN };

struct trait {
    const char *name;
    unsigned bit; /* enum ar_trait */
    enum kind kind;
    size_t offset;            /* of the set or the range */
    const char *const *words; /* WORDS: by number, NULL-terminated */
    unsigned named;           /* of 1 << number: words that are also read with MPI_ in front */
};

static const char *const op_words[AR_OPS + 2] = {
    [AR_SUM] = "sum",   [AR_PROD] = "prod", [AR_MAX] = "max",       [AR_MIN] = "min",
    [AR_LAND] = "land", [AR_LOR] = "lor",   [AR_LXOR] = "lxor",     [AR_BAND] = "band",
    [AR_BOR] = "bor",   [AR_BXOR] = "bxor", [AR_MAXLOC] = "maxloc", [AR_MINLOC] = "minloc",
    [AR_OPS] = "user",
};
static const char *const type_words[AR_TYPE_CLASSES + 1] = {
    [AR_TYPE_INTEGER] = "integer", [AR_TYPE_FLOAT] = "float",
    [AR_TYPE_DOUBLE] = "double",   [AR_TYPE_LONG_DOUBLE] = "long_double",
    [AR_TYPE_COMPLEX] = "complex", [AR_TYPE_LOGICAL] = "logical",
    [AR_TYPE_BYTE] = "byte",       [AR_TYPE_PAIR] = "pair",
    [AR_TYPE_OTHER] = "other",
};
static const char *const place_words[] = {[AR_OUT_OF_PLACE] = "no", [AR_IN_PLACE] = "yes", NULL};
static const char *const truth_words[] = {[false] = "no", [true] = "yes", NULL};

/* Classes that hold what one type of MPI's does, and no more: MPI_INTEGER is one of many integers.
 */
#define NAMED_TYPES                                                                                \
    (1u << AR_TYPE_FLOAT | 1u << AR_TYPE_DOUBLE | 1u << AR_TYPE_LONG_DOUBLE | 1u << AR_TYPE_BYTE)

#define AT(field) offsetof(struct ar_traits, field)

static const struct trait table[] = {
    {"op", AR_TRAIT_OP, WORDS, AT(ops), op_words, (1u << AR_OPS) - 1},
    {"type", AR_TRAIT_TYPE, WORDS, AT(types), type_words, NAMED_TYPES},
    {"inplace", AR_TRAIT_PLACE, WORDS, AT(places), place_words, 0},
    {"commutes", AR_TRAIT_COMMUTES, WORDS, AT(commutes), truth_words, 0},
    {"block", AR_TRAIT_BLOCK, BYTES, AT(block), NULL, 0},
    {"nodes", AR_TRAIT_NODES, RANGE, AT(nodes), NULL, 0},
    {"ppn", AR_TRAIT_PER_NODE, RANGE, AT(per_node), NULL, 0},
    {"comm", AR_TRAIT_COMM, PATTERN, AT(comm), NULL, 0},
};

#define NTRAITS (sizeof table / sizeof table[0])

/* Where the trait's set or range is. */
static void *
place_of(const struct ar_traits *traits, const struct trait *trait)
{
    return (char *)traits + trait->offset;
}

/* --- reading --- */

/* The part of *rest up to the separator or the end, which it loses. */
static struct ar_word
next_part(struct ar_word *rest, char separator)
{
    const char *const end = memchr(rest->at, separator, rest->length);
    const struct ar_word part = {rest->at, end ? (size_t)(end - rest->at) : rest->length};
    const size_t taken = part.length + (end != NULL);
    *rest = (struct ar_word){rest->at + taken, rest->length - taken};
    return part;
}

static bool
parse_number(size_t *number, struct ar_word word)
{
    int n;
    if (ar_word_is(word, "inf") || ar_word_is(word, "max")) {
        *number = SIZE_MAX;
        return true;
    }
    if (!ar_word_int(word, 1, INT_MAX, &n))
        return false;
    *number = (size_t)n;
    return true;
}

/* The number of a word, which may be MPI's name of it; -1: it is none. */
static int
number_of(const struct trait *trait, struct ar_word word)
{
    const size_t prefix = strlen("MPI_");
    int i = ar_word_among(word, trait->words);
    if (i < 0 && word.length > prefix && ar_word_is((struct ar_word){word.at, prefix}, "mpi_")) {
        i = ar_word_among((struct ar_word){word.at + prefix, word.length - prefix}, trait->words);
        i = i >= 0 && (trait->named & 1u << i) ? i : -1;
    }
    return i;
}

/* One word or several with '|' between them. */
static bool
parse_words(unsigned *set, const struct trait *trait, struct ar_word value)
{
    *set = 0;
    if (value.length > 0 && value.at[value.length - 1] == '|')
        return false;
    do {
        const int i = number_of(trait, next_part(&value, '|'));
        if (i < 0)
            return false;
        *set |= 1u << i;
    } while (value.length > 0);
    return true;
}

/* min | min '-' max */
static bool
parse_range(struct ar_bounds *range, struct ar_word value,
            bool (*parse)(size_t *bound, struct ar_word word))
{
    const bool has_end = memchr(value.at, '-', value.length) != NULL;
    if (!parse(&range->min, next_part(&value, '-')))
        return false;
    range->max = range->min;
    if (has_end && !parse(&range->max, value))
        return false;
    return range->min != SIZE_MAX && range->min <= range->max;
}

static bool
parse_value(struct ar_traits *traits, const struct trait *trait, struct ar_word value)
{
    switch (trait->kind) {
    case WORDS:
        return parse_words(place_of(traits, trait), trait, value);
    case RANGE:
        return parse_range(place_of(traits, trait), value, parse_number);
    case BYTES:
        return parse_range(place_of(traits, trait), value, ar_size_parse_word);
    case PATTERN:
        if (value.length >= sizeof traits->comm)
            return false;
        memcpy(traits->comm, value.at, value.length);
        traits->comm[value.length] = '\0';
        return true;
    }
    return false;
}

static void
tell_values(struct ar_text *why, const struct trait *trait)
{
    switch (trait->kind) {
    case WORDS:
        ar_text_list(why, trait->words);
        ar_text_add(why, "; several are separated by '|'");
        break;
    case RANGE:
        ar_text_add(why, "a number from 1 on, or a range such as 2-8 or 2-inf");
        break;
    case BYTES:
        ar_text_add(why, "a number of bytes, or a range such as 0-64K or 1M-inf");
        break;
    case PATTERN:
        ar_text_add(why,
                    "a name of at most %d characters, in which * stands for anything and ? for one "
                    "character; several are separated by '|'",
                    AR_COMM_TEXT - 1);
        break;
    }
}

const char *
ar_traits_set(struct ar_traits *traits, struct ar_word name, struct ar_word value,
              struct ar_text *why)
{
    const struct trait *trait = table;
    while (trait < table + NTRAITS && !ar_word_is(name, trait->name))
        trait++;
    if (trait == table + NTRAITS) {
        ar_text_add(why, "unknown condition ");
        ar_text_quote(why, name);
        struct ar_nearest nearest;
        ar_nearest_init(&nearest, name);
        for (size_t i = 0; i < NTRAITS; i++)
            ar_nearest_offer(&nearest, ar_word_of(table[i].name));
        ar_text_suggest(why, &nearest);
        for (size_t i = 0; i < NTRAITS; i++)
            ar_text_add(why, "%s%s", i ? ", " : "; allowed: ", table[i].name);
        return name.at;
    }
    if (traits->asks & trait->bit) {
        ar_text_add(why, "condition '%s' is given twice; allowed: once", trait->name);
        return name.at;
    }
    if (!parse_value(traits, trait, value)) {
        ar_text_add(why, "%s cannot be ", trait->name);
        ar_text_quote(why, value);
        ar_text_add(why, "; allowed: ");
        tell_values(why, trait);
        return value.at;
    }
    traits->asks |= trait->bit;
    return NULL;
}

/* --- printing --- */

static void
print_value(struct ar_text *t, const struct trait *trait, const struct ar_traits *traits)
{
    const char *separator = "";
    const unsigned *const set = place_of(traits, trait);
    const struct ar_bounds *const range = place_of(traits, trait);
    char size[AR_SIZE_TEXT];
    switch (trait->kind) {
    case WORDS:
        for (int i = 0; trait->words[i]; i++)
            if (*set & 1u << i) {
                ar_text_add(t, "%s%s", separator, trait->words[i]);
                separator = "|";
            }
        break;
    case RANGE:
        ar_text_add(t, "%zu", range->min);
        if (range->max == SIZE_MAX)
            ar_text_add(t, "-inf");
        else if (range->max != range->min)
            ar_text_add(t, "-%zu", range->max);
        break;
    case BYTES:
        ar_text_add(t, "%s", ar_size_print(range->min, size, sizeof size));
        if (range->max != range->min)
            ar_text_add(t, "-%s", ar_size_print(range->max, size, sizeof size));
        break;
    case PATTERN:
        ar_text_add(t, "%s", traits->comm);
    }
}

void
ar_traits_print(struct ar_text *t, const struct ar_traits *traits)
{
    const char *separator = "";
    for (size_t i = 0; i < NTRAITS; i++) {
        if (!(traits->asks & table[i].bit))
            continue;
        ar_text_add(t, "%s%s=", separator, table[i].name);
        separator = ",";
        print_value(t, &table[i], traits);
    }
}

/* The traits that this request alone has. */
static struct ar_traits
traits_of(const struct ar_request *request)
{
    const size_t nranks = request->nranks > 0 ? (size_t)request->nranks : 1;
    const size_t block = request->bytes / nranks + (request->bytes % nranks > 0);
    struct ar_traits traits = {
        .ops = 1u << request->op,
        .types = 1u << request->type,
        .places = 1u << request->place,
        .commutes = 1u << request->commutative,
        .block = {block, block},
        .nodes = {request->nodes, request->nodes},
        .per_node = {request->per_node, request->per_node},
    };
    if (request->comm)
        strncpy(traits.comm, request->comm, sizeof traits.comm - 1);
    return traits;
}

void
ar_request_print(struct ar_text *t, const struct ar_request *request, unsigned asks)
{
    struct ar_traits traits = traits_of(request);
    traits.asks = asks;
    ar_traits_print(t, &traits);
}

/* --- matching --- */

/* Where the rest differs, the last * takes one character more; those before it need not. */
bool
ar_pattern_matches(struct ar_word pattern, const char *name)
{
    const char *const end = pattern.at + pattern.length;
    const char *at = pattern.at, *behind_star = NULL, *taken = NULL;
    while (*name) {
        if (at < end && *at == '*') {
            behind_star = ++at;
            taken = name;
        } else if (at < end && (*at == '?' || ar_name_char(*at) == ar_name_char(*name))) {
            at++;
            name++;
        } else if (behind_star) {
            at = behind_star;
            name = ++taken;
        } else {
            return false;
        }
    }
    while (at < end && *at == '*')
        at++;
    return at == end;
}

static bool
has(const struct ar_traits *traits, const struct trait *trait, const struct ar_traits *request,
    const char *comm)
{
    const struct ar_bounds *const wanted = place_of(traits, trait);
    const struct ar_bounds *const there = place_of(request, trait);
    struct ar_word patterns = {traits->comm, strlen(traits->comm)};
    bool matches = false;
    switch (trait->kind) {
    case WORDS:
        return *(const unsigned *)place_of(traits, trait) &
               *(const unsigned *)place_of(request, trait);
    case RANGE:
    case BYTES:
        return wanted->min <= there->min && there->max <= wanted->max;
    case PATTERN:
        while (comm && patterns.length > 0 && !matches)
            matches = ar_pattern_matches(next_part(&patterns, '|'), comm);
        return matches;
    }
    return false;
}

unsigned
ar_traits_missing(const struct ar_traits *traits, const struct ar_request *request)
{
    if (!traits->asks)
        return 0;
    const struct ar_traits there = traits_of(request);
    for (size_t i = 0; i < NTRAITS; i++)
        if (traits->asks & table[i].bit && !has(traits, &table[i], &there, request->comm))
            return table[i].bit;
    return 0;
}
