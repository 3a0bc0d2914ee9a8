#include "select/names.h"

#include <string.h>

#include "select/foreign.h"

#define NAME_MAX_LENGTH 63

struct ar_choice
ar_choice_of(enum ar_choice_kind kind)
{
    return (struct ar_choice){.kind = kind};
}

struct ar_choice
ar_choice_default(const struct ar_algorithm *row)
{
    return (struct ar_choice){AR_CHOICE_ALGORITHM, row, row->defaults};
}

const struct ar_algorithm *
ar_name_find(struct ar_word word)
{
    char name[NAME_MAX_LENGTH];
    if (word.length == 0 || word.length > sizeof name)
        return NULL;
    for (size_t i = 0; i < word.length; i++)
        name[i] = ar_name_char(word.at[i]);
    return ar_algorithm_find(name, word.length);
}

static void
suggest(struct ar_text *why, struct ar_word word)
{
    struct ar_nearest nearest;
    ar_nearest_init(&nearest, word);
    for (size_t i = 0; i < ar_algorithm_count(); i++) {
        const char *aliases = ar_algorithm_at(i)->aliases;
        ar_nearest_offer(&nearest, ar_word_of(ar_algorithm_at(i)->name));
        while (*aliases) {
            ar_nearest_offer(&nearest, ar_word_next(&aliases, " "));
            aliases += strspn(aliases, " ");
        }
    }
    ar_nearest_offer(&nearest, ar_word_of("native"));
    ar_nearest_offer(&nearest, ar_word_of("auto"));
    ar_text_suggest(why, &nearest);
}

static bool
resolve_id(struct ar_choice *choice, struct ar_word word, struct ar_text *why)
{
    const struct ar_counterpart *const c = ar_counterpart_find(AR_LIBRARY_INTEL, word);
    if (!c) { /* greater than all that are known */
        ar_text_add(why, "unknown Intel id ");
        ar_text_quote(why, word);
        ar_text_add(why,
                    ", whose algorithm Intel does not document; allowed: 0 (native) to %d; see "
                    "allreduce list",
                    AR_INTEL_ID_MAX);
        return false;
    }
    /* A row, be it with parameters: the table is right, and a test says so. */
    const char *at = c->choice;
    const struct ar_algorithm *const row = ar_name_find(ar_word_next(&at, "("));
    unsigned seen = 0;
    *choice = row ? ar_choice_default(row) : ar_choice_of(AR_CHOICE_NATIVE);
    for (at += *at == '('; row && *at && *at != ')'; at += *at == ',') {
        const struct ar_word name = ar_word_next(&at, "=");
        at++;
        ar_params_set(&choice->params, &seen, row, name, ar_word_next(&at, ",)"), why);
    }
    return true;
}

bool
ar_name_resolve(struct ar_choice *choice, struct ar_word word, struct ar_text *why)
{
    const struct ar_algorithm *row = ar_name_find(word);

    if (word.length > 0 && strspn(word.at, "0123456789") >= word.length)
        return resolve_id(choice, word, why);
    if (row) {
        *choice = ar_choice_default(row);
        return true;
    }
    if (ar_word_is(word, "native") || ar_word_is(word, "auto")) {
        *choice = ar_choice_of(ar_word_is(word, "auto") ? AR_CHOICE_AUTO : AR_CHOICE_NATIVE);
        return true;
    }
    ar_text_add(why, "unknown algorithm ");
    ar_text_quote(why, word);
    suggest(why, word);
    ar_text_suggest_elsewhere(why, word);
    ar_text_add(why, "; see allreduce list");
    return false;
}
