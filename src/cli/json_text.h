/* What the readers of our own JSON share. */
#ifndef AR_JSON_TEXT_H
#define AR_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "report/table.h"

/* The text of that name in an object, clean; empty where there is none. */
static inline void
ar_json_text(char *text, size_t room, const json_t *object, const char *name)
{
    const char *const value = json_string_value(json_object_get(object, name));
    snprintf(text, room, "%s", value ? value : "");
    ar_name_clean(text);
}

#endif
