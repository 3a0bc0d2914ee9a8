#include "config.h"

#include "helper/progress_line.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "report/clock.h"

#define TERMINAL_SECONDS 0.1 /* between two lines */
#define PLAIN_SECONDS    5.0
#define KNOWN            0.02 /* the part behind which the time left is worth telling */

static double
now(void)
{
    return (double)ar_clock_system_ns() * 1e-9;
}

void
ar_progress_begin(struct ar_progress *progress, const char *command, bool speaks)
{
    const double begun = now();
    *progress = (struct ar_progress){command, speaks, begun, begun, 0};
}

double
ar_progress_elapsed(const struct ar_progress *progress)
{
    return now() - progress->begun;
}

void
ar_progress_tell(struct ar_progress *progress, double done, const char *what, ...)
{
    const bool is_terminal = progress->speaks && isatty(STDERR_FILENO);
    const double elapsed = ar_progress_elapsed(progress);
    double seconds = done > KNOWN ? elapsed * (1 - done) / done : INFINITY;
    char text[128], left[48] = "";
    va_list args;
    if (!progress->speaks ||
        now() - progress->said < (is_terminal ? TERMINAL_SECONDS : PLAIN_SECONDS))
        return;
    progress->said = now();
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    if (progress->budget > 0)
        seconds = fmin(seconds, progress->budget - elapsed);
    if (seconds > 0 && isfinite(seconds))
        snprintf(left, sizeof left, ", about %.0f s left", seconds);
    fprintf(stderr,
            is_terminal ? "\r\033[Kallreduce %s: %s; %.0f s%s" : "allreduce %s: %s; %.0f s%s\n",
            progress->command, text, elapsed, left);
    fflush(stderr);
}

void
ar_progress_clear(const struct ar_progress *progress)
{
    if (progress->speaks && isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}
