/* The words of a text, and the building of messages about them.  Pure. */
#ifndef AR_WORDS_H
#define AR_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* length bytes inside a text of the user's; may be empty. */
struct ar_word {
    const char *at;
    size_t length;
};

static inline struct ar_word
ar_word_of(const char *text)
{
    return (struct ar_word){text, strlen(text)};
}

/* ASCII, whatever the program's locale is. */
bool ar_is_digit(char c);
bool ar_is_name_char(char c); /* letters, digits, '_', '-', '.' */

/* c as names compare: lower case, '-' as '_'. */
char ar_name_char(char c);

/* Is word this name, compared as names are? */
bool ar_word_is(struct ar_word word, const char *name);

/* Reads word as a number.  False if it holds anything but digits, or is outside min..max. */
bool ar_word_int(struct ar_word word, int min, int max, int *value);

/* The number of word in a list of names that ends with NULL; -1: it is none of them. */
int ar_word_among(struct ar_word word, const char *const *names);

/* Reads numbers from 1 to most with an x between them, as in 2x3x4, and returns how many there are;
 * 0 if word is something else, or holds more than room of them. */
int ar_word_dims(struct ar_word word, int most, int *dims, int room);

/* The next word of *text without the blanks around it, up to one of ends, where *text then stands,
 * or to the end. */
struct ar_word ar_word_next(const char **text, const char *ends);

/* A text under construction in storage of the caller's; too long a text ends
 * with "...". */
struct ar_text {
    char *text;
    size_t room; /* > 4 */
    size_t length;
};

void ar_text_init(struct ar_text *t, char *text, size_t room);
void ar_text_add(struct ar_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds the numbers from first to last, as in 3 or 0-2; two are told each.  between: before each
 * number but the first of the list; is_first: this run is that. */
void ar_text_add_run(struct ar_text *t, int first, int last, const char *between, bool is_first);

/* Adds n numbers as such runs: 0-2,5. */
void ar_text_add_runs(struct ar_text *t, const int *numbers, int n, const char *between);

/* What is said of a character of UTF-8 that looks like one of ASCII, such as a long dash; NULL:
 * none begins here. */
const char *ar_lookalike(const char *at);

/* Adds word on one line: bytes that do not print, and are no character of UTF-8, as \xNN. */
void ar_text_escape(struct ar_text *t, struct ar_word word);

/* The same in quotes, a long word cut; of part of a character, the whole.  Says what is strange in
 * it. */
void ar_text_quote(struct ar_text *t, struct ar_word word);

/* Adds the names of a list that ends with NULL, with commas between them. */
void ar_text_list(struct ar_text *t, const char *const *names);

/* Adds in which column of text word stands, and what is allowed there; returns AR_ERR_SYNTAX. */
int ar_word_refuse(struct ar_text *why, const char *text, struct ar_word word, const char *allowed);

/* The name nearest to word among those offered: about a third of the letters differ at most, of
 * three or fewer one, or the name begins with word. */
struct ar_nearest {
    struct ar_word word;
    struct ar_word best; /* length 0: nothing is near */
    size_t distance;
};

void ar_nearest_init(struct ar_nearest *n, struct ar_word word);
void ar_nearest_offer(struct ar_nearest *n, struct ar_word name);

/* Adds " (did you mean 'ring'?)" if anything offered was near, else nothing. */
void ar_text_suggest(struct ar_text *t, const struct ar_nearest *n);

#endif
