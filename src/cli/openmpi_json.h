/* Open MPI's dynamic rules in JSON, rule_file_version 3 of coll/tuned. */
#ifndef AR_OPENMPI_JSON_H
#define AR_OPENMPI_JSON_H

#include <stdbool.h>
#include <string.h>

#include "cli/translate.h"

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

#endif
