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

/* Adds a level behind the others, if it may stand there.  NULL, or what is allowed instead: ""
 * where that is what is allowed anywhere. */
static const char *
add(struct ar_levels *levels, struct ar_word word)
{
    const int name = ar_word_among(word, ar_domain_names);
    const bool is_size = name < 0, has_names = levels->kind == AR_LEVELS_NAMES;
    int value = name;
    if (ar_word_among(word, kind_names) >= 0)
        return "auto or flat alone, without levels beside it";
    if ((is_size && !ar_word_int(word, 2, INT_MAX, &value)) || levels->n == AR_LEVELS_MAX)
        return "";
    if (is_size && has_names)
        return "numbers before names, as in 8+socket";
    if (is_size && levels->n > 0 && levels->value[levels->n - 1] >= value)
        return "numbers that grow from the innermost level on, as in 4+16";
    if (!is_size && !has_names)
        levels->sizes = levels->n;
    for (int i = levels->sizes; !is_size && i < levels->n; i++)
        if (levels->value[i] == value)
            return "each name once, as in l3+numa";
    levels->kind = is_size ? AR_LEVELS_SIZES : AR_LEVELS_NAMES;
    levels->value[levels->n++] = value;
    return NULL;
}

/* Reads all levels.  As add; then *culprit is the level that cannot be added. */
static const char *
read_levels(struct ar_levels *levels, struct ar_word *culprit, struct ar_word text)
{
    const int kind = ar_word_among(text, kind_names);
    const bool ends_open = text.length == 0 || strchr("+,", text.at[text.length - 1]);
    const char *allowed = kind < 0 && ends_open ? "" : NULL;
    *levels = (struct ar_levels){.kind = kind < 0 ? AR_LEVELS_AUTO : (enum ar_levels_kind)kind};
    *culprit = text;
    while (kind < 0 && !allowed && text.length > 0) {
        *culprit = next_word(&text);
        allowed = add(levels, *culprit);
    }
    return allowed;
}

bool
ar_levels_parse(struct ar_levels *levels, struct ar_word word)
{
    struct ar_levels read;
    struct ar_word culprit;
    if (read_levels(&read, &culprit, word))
        return false;
    *levels = read;
    return true;
}

void
ar_levels_tell(struct ar_text *why, struct ar_word word)
{
    struct ar_levels unused;
    struct ar_nearest nearest;
    const char *const allowed = read_levels(&unused, &word, word);
    if (allowed && *allowed) {
        ar_text_add(why, "%s", allowed);
        return;
    }
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
