#include "config/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schedule/error.h"

#define PATH_TOLD 200 /* characters of a path */

/* Opens a regular file: a pipe nobody writes to would hold up all ranks. */
static int
open_regular(const char *path, struct ar_text *why)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status)) {
        ar_text_add(why, " %m"); /* errno's text */
    } else if (!S_ISREG(status.st_mode)) {
        ar_text_add(why, " not a regular file");
    } else {
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Reads to the end or until the room is full; -1 with errno set on failure. */
static ssize_t
read_all(int fd, char *text, size_t room)
{
    size_t length = 0;
    while (length < room) {
        const ssize_t got = read(fd, text + length, room - length);
        if (got == 0)
            break;
        if (got > 0)
            length += (size_t)got;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)length;
}

/* The file's text of at most AR_TEXT_FILE_MAX bytes, ended by '\0'. */
static int
read_text(int fd, char *text, struct ar_text *why)
{
    const ssize_t length = read_all(fd, text, AR_TEXT_FILE_MAX + 1);
    if (length < 0) {
        ar_text_add(why, " %m");
    } else if (length > AR_TEXT_FILE_MAX) {
        ar_text_add(why, " more than %d bytes", AR_TEXT_FILE_MAX);
    } else if (memchr(text, '\0', (size_t)length)) {
        ar_text_add(why, " not a text: it has a zero byte");
    } else {
        text[length] = '\0';
        return AR_OK;
    }
    return AR_ERR_SYNTAX;
}

/* "path:", of a long one the end. */
static void
tell_path(struct ar_text *why, const char *path)
{
    const size_t length = strlen(path);
    const size_t cut = length > PATH_TOLD ? length - PATH_TOLD : 0;
    ar_text_add(why, cut ? "..." : "");
    ar_text_escape(why, (struct ar_word){path + cut, length - cut});
    ar_text_add(why, ":");
}

int
ar_text_file_read(char **text, const char *path, struct ar_text *why)
{
    tell_path(why, path);
    const int fd = open_regular(path, why);
    if (fd < 0)
        return AR_ERR_SYNTAX;
    char *const room = malloc(AR_TEXT_FILE_MAX + 1);
    const int error = room ? read_text(fd, room, why) : AR_ERR_MEMORY;
    close(fd);
    if (error)
        free(room);
    else
        *text = room;
    return error;
}
