/* Files that are installed with the library and found by name: machines and rules. */
#ifndef AR_DATA_H
#define AR_DATA_H

#include <limits.h>
#include <stdbool.h>

#include "select/words.h"

enum ar_data { AR_DATA_MACHINE, AR_DATA_RULES };

/* The file of the library, or of the program, whichever holds this code; "" if the system does not
 * tell. */
void ar_own_path(char path[PATH_MAX]);

/* Cuts the last part off an absolute path, so that "/a" becomes "", which stays as it is. */
void ar_folder_above(char *path);

/* The folder of that file; "" likewise. */
void ar_own_folder(char folder[PATH_MAX]);

/* Is that the last part of the folder's path?  What is to be run or loaded is looked for beside a
 * folder only if that has the name of one which is installed: anybody may be able to write to the
 * folder above another. */
bool ar_folder_is(const char *folder, const char *name);

/* The path of the file that name means: name itself where it has a '/' or such a file is here; else
 * the installed one of that name, with or without its ending.  Malloced; NULL, and why gets what is
 * installed, where there is none, or no memory. */
char *ar_data_find(enum ar_data kind, const char *name, struct ar_text *why);

#endif
