/* Translations of other libraries' settings to rules, and back.  Pure.
 *
 * Settings of another library become a text of clauses, which our own parser reads, so that they
 * are checked and printed in one place.  In the other direction our rules are evaluated wherever
 * their answer may change, which turns the first match into the other library's thresholds. */
#ifndef AR_TRANSLATE_H
#define AR_TRANSLATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "select/foreign.h"

/* A text in the other grammar, and what is to be said of it, a line each.  The caller finis it. */
struct ar_translation {
    char *text;
    char *notes; /* "": nothing */
};

void ar_translation_fini(struct ar_translation *t);

/* Translates a library's setting to rules; what has no counterpart runs native, and a note says so.
 * radix: of UCC's knomial, where another setting names it; else 0.  AR_OK, AR_ERR_MEMORY, or
 * AR_ERR_SYNTAX with *problem filled: nothing is to fini then. */
int ar_translate_from(struct ar_translation *t, enum ar_foreign library, const char *text,
                      int radix, struct ar_problem *problem);

/* Translates rules to a library's setting, or for openmpi to the text of a dynamic rules file.  A
 * note tells each algorithm that has no counterpart, where the library then decides, and what the
 * other grammar has no words for.  Returns as ar_translate_from; AR_ERR_SYNTAX if the rules ask for
 * what the library cannot ask for, such as ops, with *problem as of the rules' text. */
int ar_translate_to(struct ar_translation *t, enum ar_foreign library, const struct ar_rules *rules,
                    struct ar_problem *problem);

/* --- Open MPI's dynamic rules in JSON, rule_file_version 3 of coll/tuned --- */

/* Is the text meant as JSON?  It begins with a brace. */
static inline bool
ar_openmpi_is_json(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '{';
}

/* As ar_translate_from does it.  Where a value is wrong, problem->line is 0 and the text begins
 * with its key, as in collectives.allreduce[0].rules[1].alg; so do notes. */
int ar_openmpi_translate_json(struct ar_translation *t, const char *text,
                              struct ar_problem *problem);

/* --- settings in a text (find_settings.c) --- */

/* A setting that is about allreduces. */
struct ar_foreign_setting {
    int line;
    struct ar_word name, value; /* as the library reads them: without quotes; of the text */
    enum ar_foreign library;    /* AR_LIBRARIES: it has no translation */
    const char *why;            /* why it has none */
};

/* Where the search is in a text: {.text = text, .at = text, .line = 1} at its beginning. */
struct ar_foreign_settings {
    const char *text, *at;
    int line;
    char quote;            /* in which it is; '\0': none */
    struct ar_word before; /* the last word */
};

/* Finds the next setting that has a value, such as export NAME=VALUE, setenv NAME VALUE, -x
 * NAME=VALUE, --mca NAME VALUE, NAME = VALUE, NAME: VALUE, or pushenv("NAME", "VALUE").  What is in
 * comments is passed over, except in lines for a batch system. */
bool ar_foreign_setting_next(struct ar_foreign_settings *in, struct ar_foreign_setting *found);

/* --- for those files that know a grammar --- */

struct ar_translator {
    enum ar_foreign library;
    struct ar_translation *to;
    int radix;          /* of UCC's knomial; 0: the row's */
    FILE *text, *notes; /* of to */
    size_t text_size, notes_size;
    const char *begin, *at; /* what is read, and where the reader is */
    struct ar_problem *problem;
    struct ar_text why; /* the problem's text */
};

/* False without memory; ar_translator_end is to be called all the same. */
bool ar_translator_begin(struct ar_translator *x, struct ar_translation *to,
                         enum ar_foreign library, const char *text, struct ar_problem *problem);

/* Closes what begin opened; where there is an error nothing is left of the translation.  Returns
 * error, or AR_ERR_MEMORY. */
int ar_translator_end(struct ar_translator *x, int error);

/* The same for a translation to rules: what was written is checked and printed as any other text of
 * rules.  AR_ERR_SYNTAX, too. */
int ar_translator_end_rules(struct ar_translator *x, int error);

/* Adds a line to the notes, once. */
void ar_translator_note(struct ar_translator *x, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says that x->why tells a problem with what stands at; AR_ERR_SYNTAX. */
int ar_translator_refuse(struct ar_translator *x, const char *at);

/* The counterpart of a word of the text, or NULL with the problem told. */
const struct ar_counterpart *ar_translator_find(struct ar_translator *x, struct ar_word word);

/* What a library runs when. */
struct ar_foreign_rule {
    const struct ar_counterpart *is;
    struct ar_bounds sizes; /* bytes */
    struct ar_bounds ranks;
    const char *asks; /* for more, as a clause does: "nodes=1"; NULL: nothing */
    size_t segment;   /* bytes; 0: as the row has them */
};

#define AR_ANY_BOUNDS ((struct ar_bounds){0, SIZE_MAX})

/* Writes a range as in a clause: 0-8191, 8192-inf, or one number. */
void ar_translator_write_range(struct ar_translator *x, struct ar_bounds range);

/* Writes it as a clause. */
void ar_translator_write(struct ar_translator *x, const struct ar_foreign_rule *rule);

/* What Open MPI's files have beside it, by the names that they have in words, in this order; 0:
 * nothing. */
struct ar_openmpi_extras {
    const char *const *words;
    size_t topology, segment, requests;
};

/* Writes a rule of an Open MPI file as a clause; where tells notes where it stands. */
void ar_translator_write_openmpi(struct ar_translator *x, struct ar_foreign_rule rule,
                                 const struct ar_openmpi_extras *extras, const char *where);

/* Does Open MPI cut messages into segments for it?  Without a segment its ring runs instead. */
bool ar_openmpi_takes_segment(const struct ar_counterpart *c);

/* Reads Open MPI's dynamic rules file, of the classic format. */
int ar_translator_read_rules_file(struct ar_translator *x);

#endif
