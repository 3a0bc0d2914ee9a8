#include "config.h"

#include "select/sizes.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/error.h"
#include "select/words.h"

#define BYTES_MAX ((size_t)1 << 50)

/* Tells what of the word in text, or of its place where it is empty. */
static int
refuse(struct ar_problem *problem, const char *text, struct ar_word word, const char *what)
{
    struct ar_text t;
    problem->line = 1;
    problem->column = (int)(word.at - text) + 1;
    ar_text_init(&t, problem->text, sizeof problem->text);
    ar_text_add(&t, "column %d: ", problem->column);
    if (word.length > 0) {
        ar_text_quote(&t, word);
        ar_text_add(&t, " ");
    }
    ar_text_add(&t,
                "%s; allowed: sizes from 1 byte to %zuG, such as 8, 4K or 1M, and ranges such as "
                "64K-16M, separated by commas",
                what, BYTES_MAX >> 30);
    return AR_ERR_SYNTAX;
}

/* One size at *at, which moves behind it. */
static int
parse_size(size_t *bytes, const char **at, const char *text, struct ar_problem *problem)
{
    const struct ar_word word = {*at, strcspn(*at, ",-; ")};
    const size_t digits = strspn(*at, "0123456789");
    const char *end;
    const int error = ar_size_parse(bytes, *at, &end);
    if (word.length == 0)
        return refuse(problem, text, word, "a size is missing here");
    if (end == word.at)
        return refuse(problem, text, word, "is not a size");
    if (*end == '.')
        return refuse(problem, text, word, "is not a whole number");
    if (end < word.at + word.length && ar_is_name_char(*end) && !ar_is_digit(*end))
        return refuse(problem, text, (struct ar_word){*at + digits, word.length - digits},
                      "is not a unit (K, M or G)");
    if (error || *bytes == 0 || *bytes > BYTES_MAX)
        return refuse(problem, text, word, "is out of range");
    *at = end;
    return AR_OK;
}

static int
append(struct ar_sizes *sizes, size_t bytes)
{
    size_t *const more = realloc(sizes->bytes, (sizes->n + 1) * sizeof *more);
    if (!more)
        return AR_ERR_MEMORY;
    sizes->bytes = more;
    sizes->bytes[sizes->n++] = bytes;
    return AR_OK;
}

/* One size or range at *at, which moves behind it. */
static int
parse_item(struct ar_sizes *sizes, const char **at, const char *text, size_t factor,
           struct ar_problem *problem)
{
    const char *const begin = *at;
    size_t from, to;
    int error = parse_size(&from, at, text, problem);
    to = from;
    if (!error && **at == '-') {
        (*at)++;
        error = parse_size(&to, at, text, problem);
    }
    if (!error && to < from)
        return refuse(problem, text, (struct ar_word){begin, 0}, "the range ends before it begins");
    for (size_t bytes = from; !error && bytes < to; bytes *= factor)
        error = append(sizes, bytes);
    return error ? error : append(sizes, to);
}

int
ar_sizes_parse(struct ar_sizes *sizes, const char *text, size_t factor, struct ar_problem *problem)
{
    struct ar_sizes made = {NULL};
    const char *at = text;
    int error = parse_item(&made, &at, text, factor, problem);
    while (!error && *at == ',') {
        at++;
        error = parse_item(&made, &at, text, factor, problem);
    }
    if (!error && *at != '\0')
        error = refuse(problem, text, (struct ar_word){at, 0}, "a comma is missing here");
    if (error)
        ar_sizes_fini(&made);
    else
        *sizes = made;
    return error;
}

static bool
is_among(size_t bytes, const size_t *of, size_t n)
{
    while (n > 0 && of[n - 1] != bytes)
        n--;
    return n > 0;
}

int
ar_sizes_fit(struct ar_sizes *sizes, size_t element_bytes, size_t most, struct ar_text *word)
{
    const size_t given = sizes->n;
    sizes->n = 0;
    for (size_t i = 0; i < given; i++) {
        const size_t bytes = sizes->bytes[i], whole = bytes - bytes % element_bytes;
        const size_t fit = whole == 0 && sizes->are_ours ? element_bytes : whole;
        if (fit == 0 || bytes > most) {
            ar_text_add(word, "%zu bytes is out of range; allowed: %zu to %zu", bytes,
                        element_bytes, most);
            return AR_ERR_SYNTAX;
        }
        if (!is_among(fit, sizes->bytes, sizes->n))
            sizes->bytes[sizes->n++] = fit;
    }
    if (sizes->n < given)
        ar_text_add(word, "%zu of %zu sizes left out: the same as others in whole elements",
                    given - sizes->n, given);
    return AR_OK;
}

static int
compare(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

void
ar_sizes_sort(struct ar_sizes *sizes)
{
    qsort(sizes->bytes, sizes->n, sizeof *sizes->bytes, compare);
}

void
ar_sizes_fini(struct ar_sizes *sizes)
{
    free(sizes->bytes);
    *sizes = (struct ar_sizes){NULL};
}
