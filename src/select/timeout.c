#include "select/timeout.h"

#include <string.h>

#include "schedule/error.h"

#define LEAST_MS    100
#define MOST        1000000 /* seconds */
#define FRACTION_MS 3       /* digits behind the point that are taken */

/* Milliseconds of the digits behind a point. */
static bool
parse_fraction(int *ms, struct ar_word digits)
{
    if (digits.length > FRACTION_MS || !ar_word_int(digits, 0, 999, ms))
        return false;
    for (size_t i = digits.length; i < FRACTION_MS; i++)
        *ms *= 10;
    return true;
}

/* By hand: a point is a point whatever the program's locale is. */
static bool
parse_seconds(unsigned *ms, struct ar_word word)
{
    const char *const point = memchr(word.at, '.', word.length);
    const size_t whole_length = point ? (size_t)(point - word.at) : word.length;
    int whole, fraction = 0;
    if (!ar_word_int((struct ar_word){word.at, whole_length}, 0, MOST, &whole))
        return false;
    if (point &&
        !parse_fraction(&fraction, (struct ar_word){point + 1, word.length - whole_length - 1}))
        return false;
    *ms = (unsigned)whole * 1000 + (unsigned)fraction;
    return *ms == 0 || (*ms >= LEAST_MS && *ms <= MOST * 1000U);
}

static bool
find_action(enum ar_timeout_action *action, struct ar_word word)
{
    *action = ar_word_is(word, "abort") ? AR_TIMEOUT_ABORT : AR_TIMEOUT_WARN;
    return *action == AR_TIMEOUT_ABORT || ar_word_is(word, "warn");
}

int
ar_timeout_parse(struct ar_timeout_setting *setting, const char *text, struct ar_text *why)
{
    struct ar_timeout_setting parsed = {0, AR_TIMEOUT_WARN};
    const char *rest = text;
    const struct ar_word seconds = ar_word_next(&rest, ",");
    if (!parse_seconds(&parsed.ms, seconds))
        return ar_word_refuse(why, text, seconds,
                              "0, or seconds from 0.1 to 1000000, and ,warn ,abort");
    if (*rest == ',') {
        rest++;
        const struct ar_word action = ar_word_next(&rest, "");
        if (!find_action(&parsed.action, action))
            return ar_word_refuse(why, text, action, "behind the comma warn, abort");
    }
    *setting = parsed;
    return AR_OK;
}
