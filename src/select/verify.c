#include "select/verify.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "schedule/error.h"

static const char *const action_names[] = {"abort", "warn", "native"};
#define NACTIONS (sizeof action_names / sizeof *action_names)

int
ar_verify_parse(struct ar_verify_setting *setting, const char *text, struct ar_text *why)
{
    struct ar_verify_setting parsed = {0, AR_VERIFY_ABORT};
    const char *rest = text;
    int share = 0, every = 1;
    const struct ar_word word = ar_word_next(&rest, "/,");
    if (!ar_word_int(word, 0, 1, &share))
        return ar_word_refuse(why, text, word,
                              "0, 1, or 1/N for one of N calls, and ,abort ,warn ,native");
    if (share == 1 && *rest == '/') {
        rest++;
        const struct ar_word of = ar_word_next(&rest, ",");
        if (!ar_word_int(of, 1, INT_MAX, &every))
            return ar_word_refuse(why, text, of, "behind 1/ a whole number from 1 to 2147483647");
    }
    parsed.every = share ? (unsigned)every : 0;
    if (*rest != '\0') {
        rest += *rest == ',';
        const struct ar_word action = ar_word_next(&rest, "");
        size_t i = 0;
        while (i < NACTIONS && !ar_word_is(action, action_names[i]))
            i++;
        if (i == NACTIONS)
            return ar_word_refuse(why, text, action, "behind the comma abort, warn, native");
        parsed.action = (enum ar_verify_action)i;
    }
    *setting = parsed;
    return AR_OK;
}

char *
ar_verify_print(const struct ar_verify_setting *setting, char *text, size_t room)
{
    if (setting->every == 0)
        snprintf(text, room, "0");
    else
        snprintf(text, room, "1/%u,%s", setting->every, action_names[setting->action]);
    return text;
}
