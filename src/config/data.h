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

/* Is name the last part of the folder's path?  What is to be run or loaded is looked for beside a
 * folder only if that has the name of an installed one.  This is because anybody may be able to
 * write to the folder above any other. */
bool ar_folder_is(const char *folder, const char *name);

/* The path of the file that name stands for: name itself if it has a '/' or is a file here, else
 * the installed file of that name, with or without its ending.  Malloced.  NULL, with what is
 * installed in why, if there is none, or without memory. */
char *ar_data_find(enum ar_data kind, const char *name, struct ar_text *why);

#endif
