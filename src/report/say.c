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
