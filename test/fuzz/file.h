/* For targets that read a file by its name. */
#ifndef AR_FUZZ_FILE_H
#define AR_FUZZ_FILE_H

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#define FUZZ_PATH 64

/* A file in memory with the input; it is there under path until the descriptor is closed. */
static inline int
fuzz_file(char path[FUZZ_PATH], const uint8_t *data, size_t size)
{
    const int file = memfd_create("input", MFD_CLOEXEC);
    FUZZ_EXPECT(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, FUZZ_PATH, "/proc/self/fd/%d", file);
    return file;
}

#endif
