/* The file that ALLREDUCE_STATS names.  No MPI. */
#ifndef AR_STATS_FILE_H
#define AR_STATS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "select/words.h"

/* Can a file of this name be written?  AR_OK, or AR_ERR_SYNTAX and why.  Knows %p and %%. */
int ar_stats_file_check(const char *name, struct ar_text *why);

/* The name as an absolute path, since a program may change its folder; %p is the
 * process's id. */
void ar_stats_file_path(char *path, size_t room, const char *name);

/* Does the name end as JSON's files do? */
bool ar_stats_file_is_json(const char *name);

#endif
