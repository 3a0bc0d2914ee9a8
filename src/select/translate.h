/* A translation under way, for translate_from.c and translate_to.c.  Pure. */
#ifndef AR_TRANSLATE_H
#define AR_TRANSLATE_H

#include <stdint.h>
#include <stdio.h>

#include "select/foreign.h"

struct ar_translator {
    enum ar_library library;
    struct ar_translation *to;
    FILE *text, *notes; /* of to */
    size_t text_size, notes_size;
    const char *begin, *at; /* what is read, and where the reader is */
    struct ar_problem *problem;
    struct ar_text why; /* the problem's text */
};

/* False without memory; ar_translator_end is to be called all the same. */
bool ar_translator_begin(struct ar_translator *x, struct ar_translation *to,
                         enum ar_library library, const char *text, struct ar_problem *problem);

/* Closes what begin opened; where there is an error nothing is left of the translation.  Returns
 * error, or AR_ERR_MEMORY. */
int ar_translator_end(struct ar_translator *x, int error);

/* Adds a line to the notes, once. */
void ar_translator_note(struct ar_translator *x, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says that x->why tells a problem with what stands at; AR_ERR_SYNTAX. */
int ar_translator_refuse(struct ar_translator *x, const char *at);

/* Inclusive, SIZE_MAX is no end: "0-4096", "4096", "4096-inf". */
void ar_translator_write_range(struct ar_translator *x, struct ar_range r);

#endif
