/* Descriptors of files that stay open while the program runs. */
#ifndef AR_DESCRIPTOR_H
#define AR_DESCRIPTOR_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Moves fd, which may be -1, to a number that is none of the standard three.  A program that has
 * closed one of these may go on printing there, and would print into our file.  The new number, or
 * -1 with the cause in errno. */
static inline int
ar_descriptor_move_up(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int error = errno;
    close(fd);
    errno = error;
    return moved;
}

#endif
