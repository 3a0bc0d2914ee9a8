/* Small files of text that a setting names. */
#ifndef AR_TEXT_FILE_H
#define AR_TEXT_FILE_H

#include "select/words.h"

#define AR_TEXT_FILE_MAX (1 << 20) /* bytes */

/* Reads a file whole, up to its '\0'-free end; why gets "path:" to tell problems behind.  AR_OK,
 * with *text the caller's to free; AR_ERR_SYNTAX with why telling what is wrong; AR_ERR_MEMORY. */
int ar_text_file_read(char **text, const char *path, struct ar_text *why);

#endif
