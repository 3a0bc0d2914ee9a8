#include "select/node_levels.h"

#include <limits.h>
#include <string.h>

static const char *const kind_names[] = {"auto", "flat", NULL}; /* the first of their enum */

_Static_assert(AR_LEVELS_AUTO == 0 && AR_LEVELS_FLAT == 1, "as their names");
_Static_assert((int)AR_DOMAINS <= AR_LEVELS_MAX, "all names fit");

/* Takes the word before the next separator, and that, from the text: without the blanks around. */
static struct ar_word
next_word(struct ar_word *text)
{
    struct ar_word word = {text->at, 0};
    while (word.length < text->length && !strchr("+,", text->at[word.length]))
        word.length++;
    const size_t taken = word.length + (word.length < text->length);
    text->at += taken;
    text->length -= taken;
    for (; word.length > 0 && *word.at == ' '; word.length--)
        word.at++;
    while (word.length > 0 && word.at[word.length - 1] == ' ')
        word.length--;
    return word;
}

/* Adds a level behind the others, if it may stand there: no size behind a name. */
static bool
add(struct ar_levels *levels, struct ar_word word)
{
    const int name = ar_word_among(word, ar_domain_names);
    const bool is_size = name < 0, has_names = levels->kind == AR_LEVELS_NAMES;
    int value = name;
    if ((is_size && (has_names || !ar_word_int(word, 2, INT_MAX, &value))) ||
        levels->n == AR_LEVELS_MAX)
        return false;
    if (is_size && levels->n > 0 && levels->value[levels->n - 1] >= value)
        return false;
    if (!is_size && !has_names)
        levels->sizes = levels->n;
    for (int i = levels->sizes; !is_size && i < levels->n; i++)
        if (levels->value[i] == value)
            return false;
    levels->kind = is_size ? AR_LEVELS_SIZES : AR_LEVELS_NAMES;
    levels->value[levels->n++] = value;
    return true;
}

bool
ar_levels_parse(struct ar_levels *levels, struct ar_word word)
{
    const int kind = ar_word_among(word, kind_names);
    struct ar_levels read = {.kind = kind < 0 ? AR_LEVELS_AUTO : (enum ar_levels_kind)kind};
    const bool ends_open = word.length == 0 || strchr("+,", word.at[word.length - 1]);
    if (kind < 0 && ends_open)
        return false;
    while (kind < 0 && word.length > 0)
        if (!add(&read, next_word(&word)))
            return false;
    *levels = read;
    return true;
}

void
ar_levels_tell(struct ar_text *why, struct ar_word word)
{
    struct ar_nearest nearest;
    ar_text_add(
        why,
        "auto, flat, or 1 to %d levels with + between them: ascending numbers of ranks from "
        "2 on, then any of ",
        AR_LEVELS_MAX);
    ar_text_list(why, ar_domain_names);
    ar_text_add(why, ", as in 4+16, l3+numa or 8+socket");
    ar_nearest_init(&nearest, word);
    for (int i = 0; kind_names[i]; i++)
        ar_nearest_offer(&nearest, ar_word_of(kind_names[i]));
    for (int i = 0; ar_domain_names[i]; i++)
        ar_nearest_offer(&nearest, ar_word_of(ar_domain_names[i]));
    ar_text_suggest(why, &nearest);
}

void
ar_levels_print(struct ar_text *t, const struct ar_levels *levels)
{
    if (levels->n == 0)
        ar_text_add(t, "%s", kind_names[levels->kind]);
    for (int i = 0; i < levels->n; i++) {
        ar_text_add(t, "%s", i ? "+" : "");
        if (levels->kind == AR_LEVELS_NAMES && i >= levels->sizes)
            ar_text_add(t, "%s", ar_domain_names[levels->value[i]]);
        else
            ar_text_add(t, "%d", levels->value[i]);
    }
}
