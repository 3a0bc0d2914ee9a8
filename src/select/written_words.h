/* Between the files that read a written schedule: a text with a place in it, its words and
 * numbers.  Pure. */
#ifndef AR_WRITTEN_WORDS_H
#define AR_WRITTEN_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedule/written.h"
#include "select/words.h"

struct ar_reader {
    const char *at, *line; /* the next character, and where its line begins */
    int number;            /* of the line */
    struct ar_written *w;
    struct ar_text *why;
    int error;
    int r, k; /* the variables; -1: not to be used here */
    size_t nsteps, work;
    size_t scratch; /* blocks of all pieces */
    size_t *round;  /* of each rank: its first step of the round; owned */
    uint32_t *held; /* of each rank and block: which of the rank's steps, from 1, was the first to
                       write it; 0: none.  Owned */
};

/* Tells a mistake at that place of this line, with what is allowed: the first counts. */
void __attribute__((format(printf, 3, 4)))
ar_reader_refuse(struct ar_reader *in, const char *at, const char *problem, ...);

/* Refuses a text that means too much work: in it a line stands for many steps, and a step for many
 * blocks.  work: bytes, blocks, ranks and names looked at. */
void ar_reader_count_work(struct ar_reader *in, size_t work);

void ar_reader_lack_memory(struct ar_reader *in);

/* Skips blanks and a comment, and returns where the next word is. */
const char *ar_reader_skip_blanks(struct ar_reader *in);

/* Behind the last word of a line, or its comment? */
bool ar_reader_is_at_end(struct ar_reader *in);

void ar_reader_next_line(struct ar_reader *in);

/* The word here, of letters and digits; it is not taken. */
struct ar_word ar_reader_word(struct ar_reader *in);

/* Takes a sign, or a word, if it stands here. */
bool ar_reader_take(struct ar_reader *in, const char *sign);
bool ar_reader_take_word(struct ar_reader *in, const char *name);

/* Takes it, or tells that it is missing. */
void ar_reader_expect(struct ar_reader *in, const char *sign);

/* Takes one of the words, and returns its number; -1: there is none, which is told. */
int ar_reader_expect_word(struct ar_reader *in, const char *const *words);

/* Takes an expression: of numbers and variables with +, - and ^ between them, from left to right.
 */
long ar_reader_expression(struct ar_reader *in);

/* Takes an expression whose value is a number modulo n. */
int ar_reader_wrapped(struct ar_reader *in, int n);

/* Takes FIRST, or FIRST..LAST, of n such as are called so. */
void ar_reader_run(struct ar_reader *in, int n, const char *what, int *first, int *last);

#endif
