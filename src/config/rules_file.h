/* The file that ALLREDUCE_RULES names. */
#ifndef AR_RULES_FILE_H
#define AR_RULES_FILE_H

#include "select/select.h"
#include "select/words.h"

/* Begins the line that says where the rules were tuned: "#! tuned: name=value; ...". */
#define AR_PROVENANCE_MARK "#! tuned: "

/* Reads and parses it whole.  AR_OK, with *rules the caller's to destroy, and *tuned, if not NULL,
 * what follows the mark, malloced, or NULL where no line begins with it;
 * AR_ERR_SYNTAX with why telling file, and line and column where it was read but
 * does not parse; AR_ERR_MEMORY. */
int ar_rules_file_read(struct ar_rules **rules, char **tuned, const char *path,
                       struct ar_text *why);

#endif
