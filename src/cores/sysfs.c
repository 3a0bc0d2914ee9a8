#include <config.h>

#include "cores/sysfs.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *
ar_sysfs_line(const char *root, const char *format, ...)
{
    char *name, *path, *line = NULL;
    size_t room = 0;
    va_list values;
    va_start(values, format);
    const int length = vasprintf(&name, format, values);
    va_end(values);
    if (length < 0)
        return NULL;
    const bool is_named = asprintf(&path, "%s%s", root, name) >= 0;
    free(name);
    FILE *const file = is_named ? fopen(path, "re") : NULL;
    if (is_named)
        free(path);
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
