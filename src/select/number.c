#include "select/number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "select/select.h"
#include "select/words.h"

#define LEAST_NS 0.0005

/* The digits behind the third are noise that looks like knowledge. */
static double
round_to_three(double x)
{
    char text[AR_NUMBER_TEXT];
    snprintf(text, sizeof text, "%.2e", x);
    return strtod(text, NULL);
}

char *
ar_number_print(double x, char *text, size_t room)
{
    const double size = fabs(x);
    int digits = 0; /* behind the point */
    for (double limit = 99.95; size > 0 && size < limit && digits < 6; limit /= 10)
        digits++;
    if (!isfinite(x))
        snprintf(text, room, "-");
    else if (size > 0 && size < 9.995e-5)
        snprintf(text, room, "%.2e", x);
    else
        snprintf(text, room, "%.*f", digits, size < 999.5 ? x : round_to_three(x));
    return text;
}

struct unit {
    double size, below; /* what rounds to 1000 of a unit is 1 of the next */
    const char *name;
};

/* x in the first of the units that fits; the last one takes any number. */
static char *
print_in_units(double x, const struct unit *units, char *text, size_t room)
{
    while (isfinite(x) && fabs(x) >= units->below)
        units++;
    ar_number_print(x / units->size, text, room);
    const size_t length = strlen(text);
    if (isfinite(x))
        snprintf(text + length, room - length, " %s", units->name);
    return text;
}

char *
ar_time_print(double ns, char *text, size_t room)
{
    static const struct unit units[] = {
        {1, 999.5, "ns"}, {1e3, 999.5e3, "us"}, {1e6, 999.5e6, "ms"}, {1e9, HUGE_VAL, "s"}};
    if (fabs(ns) >= LEAST_NS || !isfinite(ns))
        return print_in_units(ns, units, text, room);
    snprintf(text, room, "0 us");
    return text;
}

char *
ar_rate_print(double gbytes, char *text, size_t room)
{
    static const struct unit units[] = {{1e-9, 999.5e-9, "B/s"},
                                        {1e-6, 999.5e-6, "kB/s"},
                                        {1e-3, 0.9995, "MB/s"},
                                        {1, HUGE_VAL, "GB/s"}};
    return print_in_units(gbytes, units, text, room);
}

char *
ar_percent_print(double part, char *text, size_t room)
{
    const double percent = 100 * part;
    if (isfinite(part))
        snprintf(text, room, "%.0f", fabs(percent) < 999.5 ? percent : round_to_three(percent));
    else
        snprintf(text, room, "-");
    return text;
}

char *
ar_bytes_print(double bytes, char *text, size_t room)
{
    static const char units[] = " KMGTP";
    int unit = 0;
    for (; bytes >= 999.5 && units[unit + 1]; unit++)
        bytes /= 1024;
    if (isfinite(bytes))
        snprintf(text, room, "%.3g%.*s", bytes, unit > 0, &units[unit]);
    else
        snprintf(text, room, "-");
    return text;
}

/* --- sizes in bytes --- */

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
