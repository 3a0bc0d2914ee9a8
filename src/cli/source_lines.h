/* Where the call sites of statistics are in the program's source: told by the debug information of
 * the files on this machine, which libdw reads.  Built without libdw it tells nothing but that
 * (without_libdw.c). */
#ifndef AR_CLI_SOURCE_LINES_H
#define AR_CLI_SOURCE_LINES_H

#include <stdbool.h>

#include "report/sites.h"

/* All zero is empty. */
struct ar_source_lines {
    char **lines;  /* of each row, see below; NULL: not known */
    size_t n;      /* rows */
    char *reasons; /* why not, a line of text for each file; "" or NULL: nothing to be said */
};

/* A line is "file:line (function)", or "(function)" if only the symbol table is there; where that
 * is inlined, " inlined at file:line (function)" comes behind it, as often as need be.
 *
 * A file is asked only if it is the one that ran.  Its build-id is the same, or, where neither
 * has one, it was not changed after the statistics were written (when: as ar_clock_date has it,
 * with seconds).  False without memory, and lines is empty. */
bool ar_source_lines_find(struct ar_source_lines *lines, const struct ar_site_rows *rows,
                          const char *when);
void ar_source_lines_fini(struct ar_source_lines *lines);

#endif
