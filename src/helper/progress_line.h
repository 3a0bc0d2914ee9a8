/* How far a long run is, on stderr: on a terminal in one line that is written again and again;
 * elsewhere, as under most launchers, in a line every few seconds. */
#ifndef AR_HELPER_PROGRESS_H
#define AR_HELPER_PROGRESS_H

#include <stdbool.h>

struct ar_progress {
    const char *command; /* "bench" */
    bool speaks;         /* rank 0, unless it was told to be quiet */
    double begun, said;  /* seconds of a clock */
    double budget;       /* seconds in all, a bound of the time left; 0: there is none */
};

void ar_progress_begin(struct ar_progress *progress, const char *command, bool speaks);

/* Seconds since it began. */
double ar_progress_elapsed(const struct ar_progress *progress);

/* done, from 0 to 1, tells how much time is left; what is under way. */
__attribute__((format(printf, 3, 4))) void ar_progress_tell(struct ar_progress *progress,
                                                            double done, const char *what, ...);

/* Takes the line from the terminal, before something else is written. */
void ar_progress_clear(const struct ar_progress *progress);

#endif
