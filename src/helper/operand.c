#include "config.h"

#include "helper/operand.h"

#include <stdio.h>

#include "helper/job.h"
#include "select/select.h"

#define PREFIX 4 /* letters of the "MPI_" that all names begin with */

static const char *
op_at(size_t i)
{
    return i < AR_OPS ? ar_op_name((enum ar_op)i) : NULL;
}

/* The row of a name, with or without its beginning; false with why, but for what is allowed. */
static bool
find(size_t *row, const char *name, const char *what, const char *(*at)(size_t row),
     struct ar_text *why)
{
    const struct ar_word word = {name, strlen(name)};
    struct ar_nearest nearest;
    ar_nearest_init(&nearest, word);
    for (size_t i = 0; at(i); i++) {
        const char *const full = at(i), *const brief = full + PREFIX;
        if (ar_word_is(word, full) || ar_word_is(word, brief)) {
            *row = i;
            return true;
        }
        ar_nearest_offer(&nearest, ar_word_of(full));
        ar_nearest_offer(&nearest, ar_word_of(brief));
    }
    ar_text_add(why, "unknown predefined %s ", what);
    ar_text_quote(why, word);
    ar_text_suggest(why, &nearest);
    return false;
}

bool
ar_type_find(size_t *row, const char *name, struct ar_text *why)
{
    const bool found = find(row, name, "type", ar_named_name, why);
    if (!found)
        ar_text_add(why, "; allowed: MPI's names, such as float, double, int64_t, "
                         "c_double_complex, double_int");
    return found;
}

bool
ar_op_by_name(enum ar_op *op, const char *name, struct ar_text *why)
{
    size_t row;
    if (find(&row, name, "op", op_at, why)) {
        *op = (enum ar_op)row;
        return true;
    }
    ar_text_add(why, "; allowed:");
    for (size_t i = 0; op_at(i); i++)
        ar_text_add(why, " %s", op_at(i) + PREFIX);
    return false;
}

int
ar_operands_check(const char *command, const size_t *rows, size_t n, enum ar_op op, int rank)
{
    char why[AR_PROBLEM_TEXT];
    struct ar_text t;
    ar_text_init(&t, why, sizeof why);
    for (size_t i = 0; i < n; i++) {
        const char *const name = ar_named_name(rows[i]);
        const struct ar_named *const type = ar_named_at(rows[i]);
        if (type && type->ops & 1u << op)
            continue;
        if (type)
            ar_text_add(&t, "%s does not take %s; allowed:", ar_op_name(op), name);
        else
            ar_text_add(&t, "this MPI has no %s", name);
        for (int k = 0; k < AR_OPS && type; k++)
            if (type->ops & 1u << k)
                ar_text_add(&t, " %s", ar_op_name((enum ar_op)k));
        if (rank == 0)
            fprintf(stderr, "allreduce %s: %s\n", command, why);
        return AR_EXIT_USAGE;
    }
    return AR_EXIT_DONE;
}
