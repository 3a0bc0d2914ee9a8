#include "select/written_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- mistakes --- */

void
ar_reader_refuse(struct ar_reader *in, const char *at, const char *problem, ...)
{
    char text[256];
    va_list args;
    if (in->error)
        return;
    va_start(args, problem);
    vsnprintf(text, sizeof text, problem, args);
    va_end(args);
    in->error = AR_ERR_SYNTAX;
    ar_text_add(in->why, "line %d, column %d: %s", in->number, (int)(at - in->line) + 1, text);
}

static void
refuse_word(struct ar_reader *in, struct ar_word word, const char *const *allowed)
{
    struct ar_nearest nearest;
    if (in->error)
        return;
    ar_reader_refuse(in, word.at, word.length ? "unknown word " : "a word is missing");
    if (word.length)
        ar_text_quote(in->why, word);
    ar_nearest_init(&nearest, word);
    for (const char *const *name = allowed; *name; name++)
        ar_nearest_offer(&nearest, ar_word_of(*name));
    ar_text_suggest(in->why, &nearest);
    ar_text_add(in->why, "; allowed: ");
    ar_text_list(in->why, allowed);
}

#define WORK_MOST ((size_t)100000000)

void
ar_reader_count_work(struct ar_reader *in, size_t work)
{
    in->work += work;
    if (in->work > WORK_MOST)
        ar_reader_refuse(in, in->at,
                         "this is more than can be read in a second; allowed: fewer passes, or "
                         "steps on fewer blocks");
}

void
ar_reader_lack_memory(struct ar_reader *in)
{
    if (!in->error)
        in->error = AR_ERR_MEMORY;
}

/* --- words --- */

const char *
ar_reader_skip_blanks(struct ar_reader *in)
{
    in->at += strspn(in->at, " \t\r");
    if (*in->at == '#')
        in->at += strcspn(in->at, "\n");
    return in->at;
}

bool
ar_reader_is_at_end(struct ar_reader *in)
{
    ar_reader_skip_blanks(in);
    return *in->at == '\n' || *in->at == '\0';
}

void
ar_reader_next_line(struct ar_reader *in)
{
    in->at += strcspn(in->at, "\n");
    ar_reader_count_work(in, (size_t)(in->at - in->line) + 1);
    in->at += *in->at == '\n';
    in->line = in->at;
    in->number++;
}

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

struct ar_word
ar_reader_word(struct ar_reader *in)
{
    ar_reader_skip_blanks(in);
    size_t n = 0;
    while (is_letter(in->at[n]) || ar_is_digit(in->at[n]))
        n++;
    return (struct ar_word){in->at, n};
}

bool
ar_reader_take(struct ar_reader *in, const char *sign)
{
    ar_reader_skip_blanks(in);
    const size_t n = strlen(sign);
    if (strncmp(in->at, sign, n) != 0)
        return false;
    in->at += n;
    return true;
}

bool
ar_reader_take_word(struct ar_reader *in, const char *name)
{
    const struct ar_word word = ar_reader_word(in);
    if (word.length != strlen(name) || memcmp(word.at, name, word.length) != 0)
        return false;
    in->at += word.length;
    return true;
}

void
ar_reader_expect(struct ar_reader *in, const char *sign)
{
    if (!ar_reader_take(in, sign))
        ar_reader_refuse(in, in->at, "something else is expected here: '%s'", sign);
}

int
ar_reader_expect_word(struct ar_reader *in, const char *const *words)
{
    const struct ar_word word = ar_reader_word(in);
    const int i = word.length ? ar_word_among(word, words) : -1;
    if (i < 0)
        refuse_word(in, word, words);
    in->at += word.length;
    return i;
}

/* --- numbers --- */

/* A number or a variable. */
static long
read_term(struct ar_reader *in)
{
    const struct ar_word word = ar_reader_word(in);
    int value;
    in->at += word.length;
    if (ar_word_int(word, 0, 1000000000, &value))
        return value;
    if (word.length == 1 && *word.at == 'p')
        return in->w->nranks;
    if (word.length == 1 && *word.at == 'r' && in->r >= 0)
        return in->r;
    if (word.length == 1 && *word.at == 'k' && in->k >= 0)
        return in->k;
    ar_reader_refuse(in, word.at,
                     "a number is expected here; allowed: digits, p for the number of ranks, r for "
                     "the rank, k behind 'for k in'");
    return 0;
}

/* Terms from left to right; values stay far from the ends of a long. */
long
ar_reader_expression(struct ar_reader *in)
{
    const bool is_negative = ar_reader_take(in, "-");
    long value = is_negative ? -read_term(in) : read_term(in);
    for (int terms = 0; !in->error; terms++) {
        const char *const sign = in->at;
        if (terms > 1000)
            ar_reader_refuse(in, sign, "too long an expression");
        if (ar_reader_take(in, "+"))
            value += read_term(in);
        else if (ar_reader_take(in, "-"))
            value -= read_term(in);
        else if (ar_reader_take(in, "^"))
            value ^= read_term(in);
        else
            break;
    }
    if (ar_lookalike(in->at))
        ar_reader_refuse(in, in->at, "%s", ar_lookalike(in->at));
    return value;
}

int
ar_reader_wrapped(struct ar_reader *in, int n)
{
    const long rest = ar_reader_expression(in) % n;
    return (int)(rest < 0 ? rest + n : rest);
}

void
ar_reader_run(struct ar_reader *in, int n, const char *what, int *first, int *last)
{
    const char *const at = ar_reader_skip_blanks(in);
    *first = ar_reader_wrapped(in, n);
    *last = ar_reader_take(in, "..") ? ar_reader_wrapped(in, n) : *first;
    if (*last < *first)
        ar_reader_refuse(in, at, "the last %s comes before the first; allowed: %ss in their order",
                         what, what);
}
