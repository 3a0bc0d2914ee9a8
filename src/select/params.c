/* The parameters in parentheses: one table for parser and printer. */
#include "select/names.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "select/node_levels.h"

enum kind { INTEGER, NAME, SEGMENT, SIZE, DIMS, ROW, AMOUNT, WINDOW, LEVELS, PATH };

struct param {
    const char *name;
    unsigned bit; /* enum ar_param_bit; 0: every row takes it */
    enum kind kind;
    size_t offset;            /* of the int, enum or size_t in struct ar_params; not for DIMS,
                                LEVELS, PATH */
    int min;                  /* INTEGER, AMOUNT, WINDOW */
    int max;                  /* INTEGER, AMOUNT, WINDOW */
    const char *const *names; /* NAME */
};

#define AT(field) offsetof(struct ar_params, field)

static const struct param table[] = {
    {"root", AR_TAKES_ROOT, INTEGER, AT(root), 0, INT_MAX, NULL},
    {"radix", AR_TAKES_RADIX, INTEGER, AT(radix), 2, INT_MAX, NULL},
    {"dims", AR_TAKES_DIMS, DIMS, 0, 1, INT_MAX, NULL},
    {"broadcast", AR_TAKES_BROADCAST, NAME, AT(broadcast), 0, 0, ar_broadcast_names},
    {"allgather", AR_TAKES_ALLGATHER, NAME, AT(allgather), 0, 0, ar_allgather_names},
    {"reduce_scatter", AR_TAKES_REDUCE_SCATTER, NAME, AT(reduce_scatter), 0, 0,
     ar_reduce_scatter_names},
    {"exchange", AR_TAKES_EXCHANGE, NAME, AT(exchange), 0, 0, ar_exchange_names},
    {"distance", AR_TAKES_DISTANCE, NAME, AT(distance), 0, 0, ar_distance_names},
    {"unpaired", AR_TAKES_UNPAIRED, NAME, AT(unpaired), 0, 0, ar_unpaired_names},
    {"intra", AR_TAKES_INTRA, NAME, AT(intra), 0, 0, ar_intra_names},
    {"serve", AR_TAKES_SERVE, NAME, AT(serve), 0, 0, ar_serve_names},
    {"order", AR_TAKES_ORDER, NAME, AT(order), 0, 0, ar_ring_order_names},
    {"inter", AR_TAKES_INTER, ROW, AT(inter), 0, 0, NULL},
    {"lanes", AR_TAKES_LANES, AMOUNT, AT(lanes), 1, INT_MAX, NULL},
    {"halvings", AR_TAKES_HALVINGS, AMOUNT, AT(halvings), 1, 30, NULL},
    {"whole", AR_TAKES_WHOLE, SIZE, AT(whole_bytes), 0, 0, NULL},
    {"levels", AR_TAKES_LEVELS, LEVELS, 0, 0, 0, NULL},
    {"copy", AR_TAKES_COPY, NAME, AT(copy), 0, 0, ar_copy_names},
    {"file", AR_TAKES_FILE, PATH, 0, 0, 0, NULL},
    {"segment", 0, SEGMENT, AT(segment_bytes), 0, 0, NULL},
    {"window", 0, WINDOW, AT(window), 1, AR_WINDOW_MAX, NULL},
};

#define NPARAMS (sizeof table / sizeof table[0])

/* An enum parameter is read and written as the int it is stored as. */
_Static_assert(sizeof(enum ar_broadcast) == sizeof(int), "enum as int");
_Static_assert(sizeof(enum ar_allgather) == sizeof(int), "enum as int");
_Static_assert(sizeof(enum ar_reduce_scatter) == sizeof(int), "enum as int");
_Static_assert(sizeof(enum ar_exchange) == sizeof(int), "enum as int");
_Static_assert(sizeof(enum ar_distance) == sizeof(int), "enum as int");
_Static_assert(sizeof(enum ar_unpaired) == sizeof(int), "enum as int");
_Static_assert(sizeof(enum ar_intra) == sizeof(int), "enum as int");
_Static_assert(sizeof(enum ar_serve) == sizeof(int), "enum as int");
_Static_assert(sizeof(enum ar_ring_order) == sizeof(int), "enum as int");
_Static_assert(sizeof(enum ar_copy) == sizeof(int), "enum as int");

/* Where the parameter's value is: an int, an enum or a size_t. */
static void *
place_of(const struct ar_params *params, const struct param *param)
{
    return (char *)params + param->offset;
}

static int
int_of(const struct ar_params *params, const struct param *param)
{
    return *(const int *)place_of(params, param);
}

static bool
takes(const struct ar_algorithm *row, const struct param *param)
{
    return param->bit == 0 || (row->takes & param->bit);
}

/* Bytes, or n/20 for the message in 20 of equal length. */
static bool
parse_segment(struct ar_params *params, struct ar_word value)
{
    const bool is_part = value.length > 2 && ar_name_char(value.at[0]) == 'n' && value.at[1] == '/';
    size_t bytes = 0;
    int segments = 0;
    if (is_part) {
        if (!ar_word_int((struct ar_word){value.at + 2, value.length - 2}, 1, AR_SEGMENTS_MAX,
                         &segments))
            return false;
    } else if (!ar_size_parse_word(&bytes, value)) {
        return false;
    }
    /* An endless segment is the whole message, which the executor knows as 0. */
    params->segment_bytes = bytes == SIZE_MAX ? 0 : bytes;
    params->segments = segments;
    return true;
}

/* In quotes or without; each % is one of %n and %%. */
static bool
parse_path(struct ar_params *params, struct ar_word value)
{
    const bool is_quoted = *value.at == '"';
    const char *const path = value.at + is_quoted;
    const size_t length = value.length - 2 * is_quoted;
    for (size_t i = 0; i < length; i++) {
        const bool is_special = path[i] == '%';
        if (is_special && (i + 1 == length || !strchr("n%", path[i + 1])))
            return false;
        if ((unsigned char)path[i] < ' ' || path[i] == 0x7f)
            return false;
        i += is_special;
    }
    if (length == 0 || length >= sizeof params->file)
        return false;
    memset(params->file, 0, sizeof params->file);
    memcpy(params->file, path, length);
    return true;
}

static bool
parse_value(struct ar_params *params, const struct param *param, struct ar_word value)
{
    int number = 0;
    size_t bytes;
    switch (param->kind) {
    case AMOUNT:
        number = ar_word_is(value, "one");
        if (!number && !ar_word_is(value, "all") &&
            !ar_word_int(value, param->min, param->max, &number))
            return false;
        break;
    case INTEGER:
    case WINDOW:
        number = AR_WINDOW_AUTO;
        if ((param->kind == INTEGER || !ar_word_is(value, "auto")) &&
            !ar_word_int(value, param->min, param->max, &number))
            return false;
        break;
    case NAME:
        number = ar_word_among(value, param->names);
        if (number < 0)
            return false;
        break;
    case SEGMENT:
        return parse_segment(params, value);
    case SIZE:
        if (!ar_size_parse_word(&bytes, value))
            return false;
        *(size_t *)place_of(params, param) = bytes;
        return true;
    case DIMS: /* "2x3x4", or "auto" for a grid of the algorithm's choice */
        params->ndims = ar_word_dims(value, param->max, params->dims, AR_DIMS_MAX);
        return params->ndims > 0 || ar_word_is(value, "auto");
    case ROW:
        params->inter = ar_name_find(value);
        return params->inter != NULL;
    case LEVELS:
        return ar_levels_parse(&params->levels, value);
    case PATH:
        return parse_path(params, value);
    }
    *(int *)place_of(params, param) = number;
    return true;
}

static void
tell_values(struct ar_text *why, const struct param *param, struct ar_word value)
{
    struct ar_nearest nearest;
    switch (param->kind) {
    case INTEGER:
    case WINDOW:
        ar_text_add(why, "%sa whole number from %d to %d", param->kind == WINDOW ? "auto, or " : "",
                    param->min, param->max);
        break;
    case NAME:
        ar_text_list(why, param->names);
        break;
    case SEGMENT:
        ar_text_add(why,
                    "bytes as digits with K, M or G, below 2^%d; 0 for the whole message; or n/1 "
                    "to n/%d for that many segments",
                    (int)(CHAR_BIT * sizeof(size_t)), AR_SEGMENTS_MAX);
        break;
    case SIZE:
        ar_text_add(why,
                    "bytes as digits with K, M or G, below 2^%d; 0 for the fastest on this machine",
                    (int)(CHAR_BIT * sizeof(size_t)));
        break;
    case DIMS:
        ar_text_add(why, "auto, or 1 to %d numbers from 1 to %d, as in 2x3x4", AR_DIMS_MAX,
                    INT_MAX);
        break;
    case ROW:
        ar_text_add(why, "the name of an algorithm");
        ar_nearest_init(&nearest, value);
        for (size_t i = 0; i < ar_algorithm_count(); i++)
            ar_nearest_offer(&nearest, ar_word_of(ar_algorithm_at(i)->name));
        ar_text_suggest(why, &nearest);
        break;
    case AMOUNT:
        ar_text_add(why, "one, all, or a whole number from %d to %d", param->min, param->max);
        break;
    case LEVELS:
        ar_levels_tell(why, value);
        break;
    case PATH:
        ar_text_add(why,
                    "the name of a file, of 1 to %zu characters, in which %%n is the number of "
                    "ranks and %%%% is %%",
                    sizeof(struct ar_params){0}.file - 1);
        break;
    }
}

static void
tell_taken(struct ar_text *why, const struct ar_algorithm *row, struct ar_word name)
{
    const char *separator = "; allowed: ";
    struct ar_nearest nearest;
    ar_nearest_init(&nearest, name);
    for (size_t i = 0; i < NPARAMS; i++)
        if (takes(row, &table[i]))
            ar_nearest_offer(&nearest, ar_word_of(table[i].name));
    ar_text_suggest(why, &nearest);
    for (size_t i = 0; i < NPARAMS; i++)
        if (takes(row, &table[i])) {
            ar_text_add(why, "%s%s", separator, table[i].name);
            separator = ", ";
        }
}

const char *
ar_params_set(struct ar_params *params, unsigned *seen, const struct ar_algorithm *row,
              struct ar_word name, struct ar_word value, struct ar_text *why)
{
    size_t i = 0;
    while (i < NPARAMS && !ar_word_is(name, table[i].name))
        i++;
    const struct param *const param = &table[i];
    if (i == NPARAMS || !takes(row, param)) {
        ar_text_add(why, i < NPARAMS ? "%s has no parameter " : "%s: unknown parameter ",
                    row->name);
        ar_text_quote(why, name);
        tell_taken(why, row, name);
        return name.at;
    }
    const unsigned mark = 1U << i;
    if (*seen & mark) {
        ar_text_add(why, "parameter '%s' is given twice; allowed: once", param->name);
        return name.at;
    }
    *seen |= mark;
    if (!parse_value(params, param, value)) {
        ar_text_add(why, "%s cannot be ", param->name);
        ar_text_quote(why, value);
        ar_text_add(why, "; allowed: ");
        tell_values(why, param, value);
        return value.at;
    }
    return NULL;
}

/* Parameters of which the first value goes without saying. */
#define QUIET                                                                                      \
    ((unsigned)(AR_TAKES_HALVINGS | AR_TAKES_EXCHANGE | AR_TAKES_DISTANCE | AR_TAKES_UNPAIRED |    \
                AR_TAKES_INTRA | AR_TAKES_SERVE | AR_TAKES_ORDER | AR_TAKES_COPY))

/* Is the value the one that goes without saying?  What the row itself asks for
 * is said, even if it is its default. */
static bool
goes_without_saying(const struct param *param, const struct ar_params *params,
                    const struct ar_params *defaults)
{
    if (param->kind == DIMS)
        return params->ndims == 0 && defaults->ndims == 0;
    if (param->kind == LEVELS)
        return params->levels.kind == AR_LEVELS_AUTO && defaults->levels.kind == AR_LEVELS_AUTO;
    if (param->bit & QUIET)
        return int_of(params, param) == 0 && int_of(defaults, param) == 0;
    if (param->kind == SEGMENT && params->segments > 0)
        return false;
    if (param->kind == SEGMENT || param->kind == SIZE)
        return *(const size_t *)place_of(params, param) == 0 &&
               *(const size_t *)place_of(defaults, param) == 0;
    if (param->bit == 0)
        return int_of(params, param) == 1 && int_of(defaults, param) == 1;
    return false;
}

static void
print_value(struct ar_text *t, const struct param *param, const struct ar_params *params)
{
    char size[AR_SIZE_TEXT];
    switch (param->kind) {
    case INTEGER:
        ar_text_add(t, "%d", int_of(params, param));
        break;
    case WINDOW:
        if (int_of(params, param) == AR_WINDOW_AUTO)
            ar_text_add(t, "auto");
        else
            ar_text_add(t, "%d", int_of(params, param));
        break;
    case NAME:
        ar_text_add(t, "%s", param->names[int_of(params, param)]);
        break;
    case SEGMENT:
    case SIZE:
        if (param->kind == SEGMENT && params->segments > 0)
            ar_text_add(t, "n/%d", params->segments);
        else
            ar_text_add(t, "%s",
                        ar_size_print(*(const size_t *)place_of(params, param), size, sizeof size));
        break;
    case DIMS:
        if (params->ndims == 0)
            ar_text_add(t, "auto");
        for (int i = 0; i < params->ndims; i++)
            ar_text_add(t, "%s%d", i ? "x" : "", params->dims[i]);
        break;
    case ROW:
        ar_text_add(t, "%s", ar_params_inter(params)->name);
        break;
    case AMOUNT:
        if (int_of(params, param) > 1)
            ar_text_add(t, "%d", int_of(params, param));
        else
            ar_text_add(t, int_of(params, param) == 0 ? "all" : "one");
        break;
    case LEVELS:
        ar_levels_print(t, &params->levels);
        break;
    case PATH:
        ar_text_add(t, strpbrk(params->file, AR_PATH_ENDS) ? "\"%s\"" : "%s", params->file);
        break;
    }
}

static void
print_one(struct ar_text *t, const char *separator, const struct param *param,
          const struct ar_params *params)
{
    ar_text_add(t, "%s%s=", separator, param->name);
    print_value(t, param, params);
}

void
ar_params_print(struct ar_text *t, const struct ar_params *params, const struct ar_algorithm *row)
{
    const char *separator = "(";
    for (size_t i = 0; i < NPARAMS; i++) {
        if (!takes(row, &table[i]) || goes_without_saying(&table[i], params, &row->defaults))
            continue;
        print_one(t, separator, &table[i], params);
        separator = ",";
    }
    if (*separator == ',')
        ar_text_add(t, ")");
}

void
ar_params_print_defaults(struct ar_text *t, const struct ar_algorithm *row)
{
    const char *separator = "";
    for (size_t i = 0; i < NPARAMS; i++) {
        const bool is_of_size = table[i].bit == 0 || table[i].kind == SIZE;
        if (!takes(row, &table[i]) ||
            (is_of_size && goes_without_saying(&table[i], &row->defaults, &row->defaults)))
            continue;
        print_one(t, separator, &table[i], &row->defaults);
        separator = ",";
    }
}
