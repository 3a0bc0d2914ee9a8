#include "report/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
ar_say(const char *format, ...)
{
    char text[1024] = "liballreduce: ";
    const size_t prefix = strlen(text), room = sizeof text - prefix - 1;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text + prefix, room, format, args);
    va_end(args);
    size_t length = prefix + (n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1);
    text[length++] = '\n';
    if (write(STDERR_FILENO, text, length) < 0)
        return; /* there is nobody to tell */
}

void
ar_say_lines(const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t n = write(STDERR_FILENO, text, length);
        if (n < 0 && errno != EINTR)
            return;
        text += n < 0 ? 0 : n;
        length -= n < 0 ? 0 : (size_t)n;
    }
}

/* --- sets of ranks --- */

#define RUNS_SAID 16

static int
name_of(const struct ar_ranks *ranks, int i)
{
    return ranks->names ? ranks->names[i] : i;
}

int
ar_ranks_print(struct ar_text *text, const struct ar_ranks *ranks, unsigned char mark)
{
    int n = 0, runs = 0, said = 0;
    for (int i = 0; i < ranks->nranks; i++)
        n += (ranks->marks[i] & mark) != 0;
    ar_text_add(text, n > 1 ? "ranks " : n > 0 ? "rank " : "");
    for (int i = 0; said < n && runs < RUNS_SAID; i++) {
        const int first = name_of(ranks, i);
        int last = first;
        if (!(ranks->marks[i] & mark))
            continue;
        /* A run: all have the mark, and their names count up. */
        while (i + 1 < ranks->nranks && ranks->marks[i + 1] & mark &&
               name_of(ranks, i + 1) == last + 1) {
            last++;
            i++;
        }
        said += last - first + 1;
        ar_text_add_run(text, first, last, ", ", runs++ == 0);
    }
    if (said < n)
        ar_text_add(text, ", and %d more", n - said);
    return n;
}
