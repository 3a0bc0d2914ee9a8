/* What the readers and writers of our own JSON share. */
#ifndef AR_JSON_TEXT_H
#define AR_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/table.h"

/* The text of that name in an object, clean; empty where there is none. */
static inline void
ar_json_text(char *text, size_t room, const json_t *object, const char *name)
{
    const char *const value = json_string_value(json_object_get(object, name));
    snprintf(text, room, "%s", value ? value : "");
    ar_name_clean(text);
}

/* The text as a JSON value, of which NULL is null.  Names of files need not be UTF-8: there every
 * byte beyond ASCII becomes '?'.  NULL without memory. */
static inline json_t *
ar_json_of_text(const char *text)
{
    json_t *value = text ? json_string(text) : json_null();
    char *const copy = value ? NULL : strdup(text);
    for (char *c = copy; c && *c; c++)
        *c = *c & 0x80 ? '?' : *c;
    if (copy)
        value = json_string(copy);
    free(copy);
    return value;
}

#endif
