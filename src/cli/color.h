/* Colour for people: escapes where a stream is a terminal, else nothing. */
#ifndef AR_COLOR_H
#define AR_COLOR_H

#include <stdio.h>

enum ar_color { AR_COLOR_TITLE, AR_COLOR_GOOD, AR_COLOR_WARNING, AR_COLOR_BAD };

/* What begins the colour on this stream and what ends it; both "" where the stream is no
 * terminal, NO_COLOR is set (https://no-color.org) or TERM is dumb. */
const char *ar_color_begin(FILE *stream, enum ar_color color);
const char *ar_color_end(FILE *stream);

#endif
