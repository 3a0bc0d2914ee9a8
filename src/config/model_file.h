/* The file that ALLREDUCE_MODEL names. */
#ifndef AR_MODEL_FILE_H
#define AR_MODEL_FILE_H

#include "model/machine.h"
#include "select/words.h"

/* Reads and parses it whole.  AR_OK; AR_ERR_SYNTAX with why telling file, and line and column where
 * it was read but does not parse; AR_ERR_MEMORY. */
int ar_model_file_read(struct ar_machine *machine, const char *path, struct ar_text *why);

#endif
