#include <config.h>

#include "cores/sysfs.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *
ar_sysfs_line(const char *root, const char *format, ...)
{
    char path[PATH_MAX], *line = NULL;
    size_t room = 0;
    va_list values;
    const int length = snprintf(path, sizeof path, "%s", root);
    if (length < 0 || length >= PATH_MAX)
        return NULL;
    va_start(values, format);
    const int rest = vsnprintf(path + length, sizeof path - (size_t)length, format, values);
    va_end(values);
    FILE *const file = rest >= 0 && rest < PATH_MAX - length ? fopen(path, "re") : NULL;
    if (!file)
        return NULL;
    if (getline(&line, &room, file) < 0) {
        free(line);
        line = NULL;
    }
    fclose(file);
    if (line)
        line[strcspn(line, "\n")] = '\0';
    return line;
}
