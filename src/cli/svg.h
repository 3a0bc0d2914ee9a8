/* The figure as a picture: ranks across, rounds down, an arrow for every message
 * with its blocks. */
#ifndef AR_SVG_H
#define AR_SVG_H

#include <stdio.h>

#include "schedule/schedule.h"

struct ar_svg_text {
    const char *title;
    const char *notes; /* lines below the title, each ended by '\n' */
};

/* Draws schedules as ar_figure_init takes them, as one SVG document in UTF-8.  Below
 * each round stands what every rank holds of every block, darker the more ranks are
 * in it.  AR_ERR_PARAM above AR_TRACE_RANKS_MAX ranks, AR_ERR_MEMORY.  Errors of the
 * file stay in the file (ferror). */
int ar_svg_draw(FILE *file, const struct ar_schedule *schedules, int nranks,
                const struct ar_svg_text *text);

#endif
