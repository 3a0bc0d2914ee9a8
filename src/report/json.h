/* JSON.  Pure. */
#ifndef AR_JSON_H
#define AR_JSON_H

#include <stdbool.h>
#include <stdio.h>

/* Writes the text in quotes.  Bytes that are not UTF-8 are taken for Latin-1, so that the output is
 * JSON in any case. */
void ar_json_string(FILE *to, const char *text);

/* A document that is written value by value: commas come by themselves.  A value in an object has a
 * name; in an array, and as the whole document, its name is NULL. */
struct ar_json {
    FILE *to;
    bool is_next; /* a value stands before the next one */
};

/* bracket: '{' or '[', and '}' or ']'. */
void ar_json_begin(struct ar_json *json, const char *name, char bracket);
void ar_json_end(struct ar_json *json, char bracket);

void ar_json_put_text(struct ar_json *json, const char *name, const char *text);

/* What the format makes: JSON, such as "%d".  Reals are not for what runs in a program, whose
 * locale may write a comma. */
void ar_json_put(struct ar_json *json, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
