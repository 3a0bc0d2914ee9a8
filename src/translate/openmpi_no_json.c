/* What a program that was built without jansson has in the place of openmpi_json.c, which convert
 * then does not call. */
#include <config.h>

#include "translate/translate.h"

int
ar_openmpi_translate_json(struct ar_translation *t, const char *text, struct ar_problem *problem)
{
    (void)t;
    (void)text;
    *problem = (struct ar_problem){
        .line = 1,
        .column = 1,
        .text = "this is JSON, and this allreduce was built without jansson, which reads it",
    };
    return AR_ERR_SYNTAX;
}
