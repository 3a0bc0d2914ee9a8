/* Fuzz targets: each fuzz_X.c has the function below, which libFuzzer calls with inputs of its own,
 * and replay.c with those of corpus/X.  A target aborts where the library is wrong. */
#ifndef AR_FUZZ_H
#define AR_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whether the target took its last input; replay.c asks. */
extern bool fuzz_is_taken;

#define FUZZ_EXPECT(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The input as a string, which ends at its first NUL.  It has no room behind it, so that a
 * sanitizer sees a read past the end.  The caller frees it. */
static inline char *
fuzz_text(const uint8_t *data, size_t size)
{
    char *const text = strndup((const char *)data, size);
    FUZZ_EXPECT(text);
    return text;
}

#endif
