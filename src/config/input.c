#include <config.h>

#include "config/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schedule/error.h"

FILE *
ar_input_open(const char *path)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    /* From here on reading may wait for a writer's data. */
    int error = fstat(fd, &about) || fcntl(fd, F_SETFL, 0) ? errno : 0;
    if (!error && S_ISDIR(about.st_mode))
        error = EISDIR;
    FILE *const file = error ? NULL : fdopen(fd, "r");
    if (!file) {
        error = error ? error : errno;
        close(fd);
        errno = error;
    }
    return file;
}

int
ar_input_text(char **text, FILE *file, size_t most, struct ar_text *why)
{
    char *const room = malloc(most + 1);
    if (!room)
        return AR_ERR_MEMORY;
    const size_t length = fread(room, 1, most + 1, file);
    if (ferror(file)) {
        ar_text_add(why, " %m"); /* errno's text */
    } else if (length > most) {
        ar_text_add(why, " longer than %zu bytes", most);
    } else if (memchr(room, '\0', length)) {
        ar_text_add(why, " not a text file: it contains a zero byte");
    } else {
        const size_t mark = length >= 3 && memcmp(room, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
        memmove(room, room + mark, length - mark);
        room[length - mark] = '\0';
        *text = room;
        return AR_OK;
    }
    free(room);
    return AR_ERR_SYNTAX;
}

bool
ar_input_line(char *line, FILE *file, const char **why)
{
    size_t length = 0;
    int c;
    *why = NULL;
    while ((c = getc_unlocked(file)) != EOF && c != '\n') {
        if (c == '\0' || length == AR_INPUT_MAX - 1) {
            *why = c == '\0' ? "not a text file: it contains a zero byte"
                             : "longer than any line of ours";
            return false;
        }
        line[length++] = (char)c;
    }
    line[length] = '\0';
    if (ferror(file)) {
        *why = strerror(errno);
        return false;
    }
    return c == '\n' || length > 0;
}
