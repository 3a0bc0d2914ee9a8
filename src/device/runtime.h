/* What device.c asks of each kind of runtime. */
#ifndef AR_RUNTIME_H
#define AR_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

struct ar_runtime {
    const char *name;
    const char *library; /* what the name of its file begins with */
    /* Finds its functions in the library that was loaded.  False where one is missing. */
    bool (*open)(void *library);
    /* Is p device memory that the CPU cannot read?  False, too, where the program has not
     * initialised the runtime yet. */
    bool (*holds)(const void *p);
    /* Copies between host and device, one of them being at `device`, and waits for the end.  NULL:
     * there is no such function. */
    bool (*copy)(void *to, const void *from, size_t bytes, const void *device);
};

extern const struct ar_runtime ar_cuda, ar_hip, ar_level_zero;

/* Sets *function, a pointer to a function, to the library's symbol.  False where it has none. */
bool ar_runtime_find(void *function, void *library, const char *symbol);

#endif
