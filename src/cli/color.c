#include <config.h>

#include "cli/color.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
is_colored(FILE *stream)
{
    const char *const refused = getenv("NO_COLOR"), *const terminal = getenv("TERM");
    return isatty(fileno(stream)) && (!refused || *refused == '\0') && terminal &&
           strcmp(terminal, "dumb") != 0;
}

const char *
ar_color_begin(FILE *stream, enum ar_color color)
{
    static const char *const escapes[] = {
        [AR_COLOR_TITLE] = "\033[1m",
        [AR_COLOR_GOOD] = "\033[32m",
        [AR_COLOR_WARNING] = "\033[33m",
        [AR_COLOR_BAD] = "\033[31m",
    };
    return is_colored(stream) ? escapes[color] : "";
}

const char *
ar_color_end(FILE *stream)
{
    return is_colored(stream) ? "\033[0m" : "";
}
