/* JSON.  Pure. */
#ifndef AR_JSON_H
#define AR_JSON_H

#include <stdio.h>

/* Writes the text in quotes.  Bytes that are not UTF-8 are taken for Latin-1, so that the output is
 * JSON in any case. */
void ar_json_string(FILE *to, const char *text);

#endif
