/* Rules as tuning writes them: a header that says where they come from, and a clause a line. */
#ifndef AR_RULES_TEXT_H
#define AR_RULES_TEXT_H

#include <stdio.h>

#include "select/select.h"

/* "# For ALLREDUCE_RULES; <how> <by>", and the line by which the library knows the machine and job
 * that they were tuned on (config/files.h). */
void ar_rules_header_write(FILE *to, const char *how, const char *by, const char *job);

/* "choice:from-end@ranks,type=...", without the end of the line.  request tells ranks (0: any) and
 * the traits, of which the clause asks for asks. */
void ar_rules_clause_write(FILE *to, const struct ar_choice *choice, size_t from, size_t end,
                           const struct ar_request *request, unsigned asks);

#endif
