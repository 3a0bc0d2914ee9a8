#include "config.h"

#include "cli/sizes.h"

#include <stdlib.h>

#include "schedule/error.h"
#include "select/words.h"

#define BYTES_MAX ((size_t)1 << 50)

static int
refuse(struct ar_problem *problem, const char *text, const char *at, const char *what)
{
    struct ar_text t;
    problem->line = 1;
    problem->column = (int)(at - text) + 1;
    ar_text_init(&t, problem->text, sizeof problem->text);
    ar_text_add(&t,
                "column %d: %s; allowed: bytes such as 8, 4K or 1M and ranges such as 64K-16M, "
                "separated by commas",
                problem->column, what);
    return AR_ERR_SYNTAX;
}

/* One size at *at, which moves behind it. */
static int
parse_size(size_t *bytes, const char **at, const char *text, struct ar_problem *problem)
{
    const char *end;
    if (ar_size_parse(bytes, *at, &end))
        return refuse(problem, text, *at, "a size is missing here");
    if (*bytes == 0 || *bytes > BYTES_MAX)
        return refuse(problem, text, *at, "this size is out of range");
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
        return refuse(problem, text, begin, "the range ends before it begins");
    for (size_t bytes = from; !error && bytes < to; bytes *= factor)
        error = append(sizes, bytes);
    return error ? error : append(sizes, to);
}

int
ar_sizes_parse(struct ar_sizes *sizes, const char *text, size_t factor, struct ar_problem *problem)
{
    struct ar_sizes made = {NULL, 0};
    const char *at = text;
    int error = parse_item(&made, &at, text, factor, problem);
    while (!error && *at == ',') {
        at++;
        error = parse_item(&made, &at, text, factor, problem);
    }
    if (!error && *at != '\0')
        error = refuse(problem, text, at, "a comma is missing here");
    if (error)
        ar_sizes_fini(&made);
    else
        *sizes = made;
    return error;
}

void
ar_sizes_fini(struct ar_sizes *sizes)
{
    free(sizes->bytes);
    *sizes = (struct ar_sizes){NULL, 0};
}
