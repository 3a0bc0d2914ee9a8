#include "select/words.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "schedule/error.h"

#define BLANKS      " \t\r\n"
#define QUOTE_MAX   40 /* characters of a quoted word */
#define NEAREST_MAX 40 /* longer words are near to nothing */

bool
ar_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

char
ar_name_char(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    if (c == '-')
        return '_';
    return c;
}

bool
ar_is_name_char(char c)
{
    const char plain = ar_name_char(c);
    return (plain >= 'a' && plain <= 'z') || ar_is_digit(c) || plain == '_' || c == '.';
}

bool
ar_word_is(struct ar_word word, const char *name)
{
    for (size_t i = 0; i < word.length; i++)
        if (name[i] == '\0' || ar_name_char(word.at[i]) != ar_name_char(name[i]))
            return false;
    return name[word.length] == '\0';
}

bool
ar_word_int(struct ar_word word, int min, int max, int *value)
{
    int number = 0;
    for (size_t i = 0; i < word.length; i++) {
        const int digit = word.at[i] - '0';
        if (!ar_is_digit(word.at[i]) || number > (INT_MAX - digit) / 10)
            return false;
        number = 10 * number + digit;
    }
    if (word.length == 0 || number < min || number > max)
        return false;
    *value = number;
    return true;
}

int
ar_word_among(struct ar_word word, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (ar_word_is(word, names[i]))
            return i;
    return -1;
}

int
ar_word_dims(struct ar_word word, int most, int *dims, int room)
{
    const char *at = word.at, *const end = word.at + word.length;
    for (int n = 0; n < room; n++) {
        struct ar_word number = {at, 0};
        while (at + number.length < end && ar_name_char(at[number.length]) != 'x')
            number.length++;
        if (!ar_word_int(number, 1, most, &dims[n]))
            return 0;
        at += number.length;
        if (at++ == end)
            return n + 1;
    }
    return 0;
}

struct ar_word
ar_word_next(const char **text, const char *ends)
{
    const char *const at = *text + strspn(*text, BLANKS);
    const size_t length = strcspn(at, ends);
    size_t trimmed = length;
    while (trimmed > 0 && strchr(BLANKS, at[trimmed - 1]))
        trimmed--;
    *text = at + length;
    return (struct ar_word){at, trimmed};
}

void
ar_text_init(struct ar_text *t, char *text, size_t room)
{
    *t = (struct ar_text){text, room, 0};
    text[0] = '\0';
}

void
ar_text_add(struct ar_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(t->text + t->length, t->room - t->length, format, args);
    va_end(args);

    if (length >= 0 && (size_t)length < t->room - t->length) {
        t->length += (size_t)length;
    } else {
        t->length = t->room - 1;
        memcpy(t->text + t->room - 4, "...", 4);
    }
}

void
ar_text_add_run(struct ar_text *t, int first, int last, const char *between, bool is_first)
{
    ar_text_add(t, "%s%d", is_first ? "" : between, first);
    if (last > first)
        ar_text_add(t, "%s%d", last > first + 1 ? "-" : between, last);
}

void
ar_text_add_runs(struct ar_text *t, const int *numbers, int n, const char *between)
{
    for (int i = 0, last; i < n; i = last + 1) {
        last = i;
        while (last + 1 < n && numbers[last + 1] == numbers[last] + 1)
            last++;
        ar_text_add_run(t, numbers[i], numbers[last], between, i == 0);
    }
}

/* The bytes of the character of UTF-8 that begins here; 0: there is none, or it is a control. */
static size_t
utf8_length(const char *at)
{
    const unsigned char first = (unsigned char)*at;
    const size_t length = first >= 0xC2 && first < 0xE0   ? 2
                          : first >= 0xE0 && first < 0xF0 ? 3
                          : first >= 0xF0 && first < 0xF5 ? 4
                                                          : 0;
    for (size_t i = 1; i < length; i++)
        if (((unsigned char)at[i] & 0xC0) != 0x80)
            return 0;
    return first == 0xC2 && (unsigned char)at[1] < 0xA0 ? 0 : length;
}

const char *
ar_lookalike(const char *at)
{
    const bool is_punctuation = strncmp(at, "\xE2\x80", 2) == 0;
    if (strncmp(at, "\xC2\xA0", 2) == 0)
        return "this blank is not ' '";
    if (strncmp(at, "\xE2\x88\x92", 3) == 0 ||
        (is_punctuation && at[2] >= '\x90' && at[2] <= '\x95'))
        return "this dash is not '-'";
    if (is_punctuation && at[2] >= '\x98' && at[2] <= '\x9F')
        return "this quotation mark is not one of a shell's";
    return NULL;
}

void
ar_text_escape(struct ar_text *t, struct ar_word word)
{
    for (size_t i = 0; i < word.length; i++) {
        const char c = word.at[i];
        const size_t length = utf8_length(word.at + i);
        if (length > 0 && length <= word.length - i) {
            ar_text_add(t, "%.*s", (int)length, word.at + i);
            i += length - 1;
            continue;
        }
        if (c >= ' ' && c <= '~')
            ar_text_add(t, "%c", c);
        else
            ar_text_add(t, "\\x%02X", (unsigned char)c);
    }
}

void
ar_text_quote(struct ar_text *t, struct ar_word word)
{
    const bool cut = word.length > QUOTE_MAX;
    const size_t first = word.length > 0 ? utf8_length(word.at) : 0;
    const char *strange = NULL;
    if (word.length < first) /* a reader that stopped at a byte */
        word.length = first;
    ar_text_add(t, "'");
    ar_text_escape(t, (struct ar_word){word.at, cut ? QUOTE_MAX : word.length});
    ar_text_add(t, cut ? "...'" : "'");
    for (size_t i = 0; i < word.length && !strange; i++)
        strange = ar_lookalike(word.at + i);
    if (strange)
        ar_text_add(t, " (%s)", strange);
}

void
ar_text_list(struct ar_text *t, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        ar_text_add(t, "%s%s", i ? ", " : "", names[i]);
}

int
ar_word_refuse(struct ar_text *why, const char *text, struct ar_word word, const char *allowed)
{
    ar_text_add(why, "column %d: ", (int)(word.at - text) + 1);
    ar_text_quote(why, word);
    ar_text_add(why, "; allowed: %s", allowed);
    return AR_ERR_SYNTAX;
}

/* Levenshtein's distance; both words at most NEAREST_MAX long.  row[j] is the
 * distance of a's first i letters from b's first j. */
static size_t
edit_distance(struct ar_word a, struct ar_word b)
{
    size_t row[NEAREST_MAX + 1];
    for (size_t j = 0; j <= b.length; j++)
        row[j] = j;
    for (size_t i = 0; i < a.length; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b.length; j++) {
            const bool differ = ar_name_char(a.at[i]) != ar_name_char(b.at[j]);
            const size_t replaced = diagonal + differ;
            diagonal = row[j + 1];
            row[j + 1] = (row[j] < diagonal ? row[j] : diagonal) + 1;
            if (replaced < row[j + 1])
                row[j + 1] = replaced;
        }
    }
    return row[b.length];
}

void
ar_nearest_init(struct ar_nearest *n, struct ar_word word)
{
    const size_t most = word.length <= 3 ? 1 : word.length / 3 + 1;
    *n = (struct ar_nearest){word, {"", 0}, most + 1};
}

void
ar_nearest_offer(struct ar_nearest *n, struct ar_word name)
{
    if (n->word.length == 0 || n->word.length > NEAREST_MAX || name.length > NEAREST_MAX)
        return;
    const struct ar_word beginning = {name.at, n->word.length};
    const bool begins =
        n->word.length >= 3 && n->word.length <= name.length && !edit_distance(n->word, beginning);
    const size_t distance = begins ? 1 : edit_distance(n->word, name);
    if (distance < n->distance && distance < n->word.length) {
        n->best = name;
        n->distance = distance;
    }
}

void
ar_text_suggest(struct ar_text *t, const struct ar_nearest *n)
{
    if (n->best.length > 0)
        ar_text_add(t, " (did you mean '%.*s'?)", (int)n->best.length, n->best.at);
}
