#include "config.h"

#include "cli/operand.h"

#include <string.h>

/* Behind the "MPI_" that all names begin with. */
static const char *
short_name(const char *name)
{
    return name + strlen("MPI_");
}

static bool
is_named(struct ar_word word, const char *name)
{
    return ar_word_is(word, name) || ar_word_is(word, short_name(name));
}

static void
offer(struct ar_nearest *nearest, const char *name)
{
    ar_nearest_offer(nearest, (struct ar_word){name, strlen(name)});
    ar_nearest_offer(nearest, (struct ar_word){short_name(name), strlen(short_name(name))});
}

bool
ar_type_find(size_t *row, const char *name, struct ar_text *why)
{
    const struct ar_word word = {name, strlen(name)};
    struct ar_nearest nearest;
    ar_nearest_init(&nearest, word);
    for (size_t i = 0; ar_named_name(i); i++) {
        if (is_named(word, ar_named_name(i))) {
            *row = i;
            return true;
        }
        offer(&nearest, ar_named_name(i));
    }
    ar_text_add(why, "no predefined type ");
    ar_text_quote(why, word);
    ar_text_suggest(why, &nearest);
    ar_text_add(why, "; allowed: MPI's names, such as float, double, int64_t, c_double_complex, "
                     "double_int");
    return false;
}

bool
ar_op_by_name(enum ar_op *op, const char *name, struct ar_text *why)
{
    const struct ar_word word = {name, strlen(name)};
    struct ar_nearest nearest;
    ar_nearest_init(&nearest, word);
    for (int i = 0; i < AR_OPS; i++) {
        if (is_named(word, ar_op_name((enum ar_op)i))) {
            *op = (enum ar_op)i;
            return true;
        }
        offer(&nearest, ar_op_name((enum ar_op)i));
    }
    ar_text_add(why, "no predefined op ");
    ar_text_quote(why, word);
    ar_text_suggest(why, &nearest);
    ar_text_add(why, "; allowed:");
    for (int i = 0; i < AR_OPS; i++)
        ar_text_add(why, " %s", short_name(ar_op_name((enum ar_op)i)));
    return false;
}

bool
ar_type_takes(const struct ar_named *type, const char *type_name, enum ar_op op,
              struct ar_text *why)
{
    if (type->ops & 1u << op)
        return true;
    ar_text_add(why, "%s does not take %s; allowed:", ar_op_name(op), type_name);
    for (int i = 0; i < AR_OPS; i++)
        if (type->ops & 1u << i)
            ar_text_add(why, " %s", ar_op_name((enum ar_op)i));
    return false;
}
