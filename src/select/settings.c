#include "select/settings.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "schedule/error.h"
#include "select/select.h"

/* Reads the action that may stand behind a comma in *rest, of text; 0 where there is none. */
static int
parse_action(int *action, const char *const *names, const char *text, const char *rest,
             struct ar_text *why)
{
    char allowed[64];
    struct ar_text list;
    *action = 0;
    if (*rest == '\0')
        return AR_OK;
    rest += *rest == ',';
    const struct ar_word word = ar_word_next(&rest, "");
    *action = ar_word_among(word, names);
    if (*action >= 0)
        return AR_OK;
    ar_text_init(&list, allowed, sizeof allowed);
    ar_text_add(&list, "after the comma: ");
    ar_text_list(&list, names);
    return ar_word_refuse(why, text, word, allowed);
}

/* --- verification --- */

static const char *const verify_actions[] = {"abort", "warn", "native", NULL};

int
ar_verify_parse(struct ar_verify_setting *setting, const char *text, struct ar_text *why)
{
    const char *rest = text;
    int share = 0, every = 1, action;
    const struct ar_word word = ar_word_next(&rest, "/,");
    if (!ar_word_int(word, 0, 1, &share))
        return ar_word_refuse(
            why, text, word,
            "0, 1, or 1/N for one of N calls; then optionally ,abort or ,warn or ,native");
    if (share == 1 && *rest == '/') {
        rest++;
        const struct ar_word of = ar_word_next(&rest, ",");
        if (!ar_word_int(of, 1, INT_MAX, &every))
            return ar_word_refuse(why, text, of, "after 1/: a whole number from 1 to 2147483647");
    }
    const int error = parse_action(&action, verify_actions, text, rest, why);
    if (!error) /* no call is verified in one way only */
        *setting = share
                       ? (struct ar_verify_setting){(unsigned)every, (enum ar_verify_action)action}
                       : (struct ar_verify_setting){0};
    return error;
}

char *
ar_verify_print(const struct ar_verify_setting *setting, char *text, size_t room)
{
    if (setting->every == 0)
        snprintf(text, room, "0");
    else
        snprintf(text, room, "1/%u,%s", setting->every, verify_actions[setting->action]);
    return text;
}

/* --- time-outs --- */

#define LEAST_MS    100
#define MOST        1000000 /* seconds */
#define FRACTION_MS 3       /* digits behind the point that are taken */

/* By hand: a point is a point whatever the program's locale is. */
static bool
parse_time(unsigned *ms, struct ar_word word)
{
    static const char units[] = "smh";
    static const uint64_t seconds[] = {1, 60, 3600};
    const char *const unit =
        word.length > 1 ? memchr(units, word.at[word.length - 1], sizeof units - 1) : NULL;
    word.length -= unit != NULL;
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
    const uint64_t total =
        ((uint64_t)whole * 1000 + (uint64_t)fraction) * (unit ? seconds[unit - units] : 1);
    *ms = (unsigned)total;
    return total == 0 || (total >= (uint64_t)LEAST_MS && total <= MOST * 1000U);
}

int
ar_timeout_parse(struct ar_timeout_setting *setting, const char *text, struct ar_text *why)
{
    static const char *const actions[] = {"warn", "abort", NULL};
    const char *rest = text;
    unsigned ms;
    int action;
    const struct ar_word seconds = ar_word_next(&rest, ",");
    if (!parse_time(&ms, seconds))
        return ar_word_refuse(why, text, seconds,
                              "0, or a time from 0.1 to 1000000 seconds, as in 30, 30s, 5m or 2h; "
                              "then optionally ,warn or ,abort");
    const int error = parse_action(&action, actions, text, rest, why);
    if (!error)
        *setting = (struct ar_timeout_setting){ms, (enum ar_timeout_action)action};
    return error;
}

/* --- traces --- */

static const char trace_options[] =
    "after a comma: calls=FIRST-LAST (from 1 on) or memory=SIZE (64K to 1G)";

/* Takes "first-last", or one number for both. */
static bool
parse_calls(struct ar_trace_setting *setting, const char *text)
{
    const struct ar_word first = ar_word_next(&text, "-");
    if (!ar_word_int(first, 1, INT_MAX, &setting->first))
        return false;
    setting->last = setting->first;
    if (*text == '\0')
        return true;
    text++;
    const struct ar_word last = ar_word_next(&text, "");
    return ar_word_int(last, setting->first, INT_MAX, &setting->last);
}

static bool
parse_memory(struct ar_trace_setting *setting, struct ar_word word)
{
    return ar_size_parse_word(&setting->memory_bytes, word) &&
           setting->memory_bytes >= AR_TRACE_MEMORY_LEAST &&
           setting->memory_bytes <= AR_TRACE_MEMORY_MOST;
}

/* Takes one "name=value". */
static bool
parse_trace_option(struct ar_trace_setting *setting, struct ar_word option)
{
    char text[64];
    const char *rest = text;
    if (option.length >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)option.length, option.at);
    const struct ar_word name = ar_word_next(&rest, "=");
    rest += *rest == '=';
    if (ar_word_is(name, "calls"))
        return parse_calls(setting, rest);
    return ar_word_is(name, "memory") && parse_memory(setting, ar_word_next(&rest, ""));
}

int
ar_trace_parse(struct ar_trace_setting *setting, const char *text, struct ar_text *why)
{
    const char *rest = text;
    struct ar_trace_setting parsed = {NULL, 1, INT_MAX, AR_TRACE_MEMORY};
    const struct ar_word file = ar_word_next(&rest, ",");
    if (file.length == 0)
        return ar_word_refuse(why, text, file, "a file name without a comma");
    while (*rest == ',') {
        rest++;
        const struct ar_word option = ar_word_next(&rest, ",");
        if (!parse_trace_option(&parsed, option))
            return ar_word_refuse(why, text, option, trace_options);
    }
    parsed.file = strndup(file.at, file.length);
    if (!parsed.file)
        return AR_ERR_MEMORY;
    *setting = parsed;
    return AR_OK;
}
