#include "select/timeout.h"

#include <string.h>

#include "schedule/error.h"

#define LEAST_MS    100
#define MOST        1000000 /* seconds */
#define FRACTION_MS 3       /* digits behind the point that are taken */

/* By hand: a point is a point whatever the program's locale is. */
static bool
parse_seconds(unsigned *ms, struct ar_word word)
{
    const char *const point = memchr(word.at, '.', word.length);
    const size_t whole_length = point ? (size_t)(point - word.at) : word.length;
    int whole, fraction = 0;
    if (!ar_word_int((struct ar_word){word.at, whole_length}, 0, MOST, &whole))
        return false;
    if (point) {
        const struct ar_word digits = {point + 1, word.length - whole_length - 1};
        if (digits.length > FRACTION_MS || !ar_word_int(digits, 0, 999, &fraction))
            return false;
        for (size_t i = digits.length; i < FRACTION_MS; i++)
            fraction *= 10;
    }
    *ms = (unsigned)whole * 1000 + (unsigned)fraction;
    return *ms == 0 || (*ms >= LEAST_MS && *ms <= MOST * 1000U);
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
        if (ar_word_is(action, "abort"))
            parsed.action = AR_TIMEOUT_ABORT;
        else if (!ar_word_is(action, "warn"))
            return ar_word_refuse(why, text, action, "behind the comma warn, abort");
    }
    *setting = parsed;
    return AR_OK;
}
