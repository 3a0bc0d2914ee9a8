/* The file that ALLREDUCE_RULES names. */
#ifndef AR_RULES_FILE_H
#define AR_RULES_FILE_H

#include "select/select.h"
#include "select/words.h"

/* Reads and parses it whole.  AR_OK, with *rules the caller's to destroy, and *tuned, if not NULL,
 * what the line of its provenance says (communicator/provenance.h), malloced, or NULL;
 * AR_ERR_SYNTAX with why telling file, and line and column where it was read but
 * does not parse; AR_ERR_MEMORY. */
int ar_rules_file_read(struct ar_rules **rules, char **tuned, const char *path,
                       struct ar_text *why);

#endif
