/* Sizes in bytes, as texts. */
#include <stdint.h>
#include <stdio.h>

#include "select/select.h"
#include "select/words.h"

static const struct {
    char letter;
    int shift;
} units[] = {{'g', 30}, {'m', 20}, {'k', 10}};

#define NUNITS (sizeof units / sizeof units[0])

/* Reads a unit, if one stands there: K, KB, KiB, or B alone. */
static const char *
read_unit(const char *text, int *shift)
{
    const char *at = text;
    *shift = 0;
    for (size_t i = 0; i < NUNITS && at == text; i++)
        if (ar_name_char(*at) == units[i].letter) {
            *shift = units[i].shift;
            at++;
        }
    if (*shift > 0 && ar_name_char(at[0]) == 'i' && ar_name_char(at[1]) == 'b')
        return at + 2;
    return ar_name_char(*at) == 'b' ? at + 1 : at;
}

int
ar_size_parse(size_t *bytes, const char *text, const char **end)
{
    size_t number = 0;
    int shift = 0;
    bool overflow = false;
    const char *at = text;
    const struct ar_word beginning = {text, 3};

    if (ar_word_is(beginning, "inf") || ar_word_is(beginning, "max")) {
        *end = text + 3;
        *bytes = SIZE_MAX;
        return AR_OK;
    }
    for (; ar_is_digit(*at); at++) {
        const size_t digit = (size_t)(*at - '0');
        overflow = overflow || number > (SIZE_MAX - digit) / 10;
        number = 10 * number + digit;
    }
    *end = at == text ? text : read_unit(at, &shift);
    if (at == text || overflow || number > SIZE_MAX >> shift)
        return AR_ERR_SYNTAX;
    *bytes = number << shift;
    return AR_OK;
}

bool
ar_size_parse_word(size_t *bytes, struct ar_word word)
{
    const char *end;
    return !ar_size_parse(bytes, word.at, &end) && end == word.at + word.length;
}

char *
ar_size_print(size_t bytes, char *text, size_t room)
{
    if (bytes == SIZE_MAX) {
        snprintf(text, room, "inf");
        return text;
    }
    for (size_t i = 0; bytes > 0 && i < NUNITS; i++)
        if (bytes % ((size_t)1 << units[i].shift) == 0) {
            snprintf(text, room, "%zu%c", bytes >> units[i].shift, units[i].letter - 'a' + 'A');
            return text;
        }
    snprintf(text, room, "%zu", bytes);
    return text;
}
