/* Rows of the registry as schedules that people could have written in a file, and the other way
 * round.  Pure. */
#ifndef AR_WRITTEN_ROW_H
#define AR_WRITTEN_ROW_H

#include <stdint.h>

#include "algorithms/registry.h"
#include "schedule/written_proof.h"

/* Makes w of the row's schedules, with as few blocks as the row's cuts need.  The form is that of
 * messages of about emission->count elements.  On success w is the caller's to fini.  AR_ERR_PARAM
 * where more blocks are needed than a file may have, and errors as of ar_algorithm_emit and
 * ar_written_make. */
int ar_written_row_make(struct ar_written *w, const struct ar_emission *emission);

/* The row of any file, which is not in the registry: a choice of it names a file that is still to
 * be read.  It is not to be emitted. */
extern const struct ar_algorithm ar_row_of_file;

#define AR_WRITTEN_CARD 80 /* room for a line of its card */

/* A file as a row.  It serves the number of ranks that the file names. */
struct ar_written_row {
    struct ar_algorithm row; /* schedule:NAME#HASH; params.written of its defaults is this */
    struct ar_written written;
    struct ar_written_proof proof;
    size_t vectors; /* of scratch memory, as ar_algorithm_scratch_vectors has it */
    char name[AR_WRITTEN_NAME + 32];
    char card[AR_CARD_LINES][AR_WRITTEN_CARD];
};

/* Makes the row of what was proved, which becomes the row's; it promises what the proof says.
 * text: of the file, for the hash.  The row stays where it is.  AR_OK; AR_ERR_MEMORY, and written
 * is as it was. */
int ar_written_row_init(struct ar_written_row *r, const struct ar_written *written,
                        const struct ar_written_proof *proof, const char *text);

#define AR_WRITTEN_PATH (8 * AR_FILE_TEXT)

/* The file's name for so many ranks. */
char *ar_written_path(char path[AR_WRITTEN_PATH], const char *file, int nranks);

#endif
