/* What fake_accelerator.c offers the test beside the runtime's own functions, and
 * cuda_accelerator.c beside CUDA's. */
#ifndef AR_TEST_RUNTIME_H
#define AR_TEST_RUNTIME_H

#include <stddef.h>

enum runtime_kind {
    RUNTIME_UNKNOWN, /* the host's, or none */
    RUNTIME_PINNED,
    RUNTIME_DEVICE, /* a touched byte is a crash */
    RUNTIME_MANAGED
};

/* Before it no runtime knows anything. */
void runtime_init(void);
void *runtime_alloc(size_t bytes, enum runtime_kind kind); /* never freed */
enum runtime_kind runtime_kind(const void *p);

/* From and to any memory. */
void runtime_copy(void *to, const void *from, size_t bytes);

/* How often the runtime was used in a wrong way. */
int runtime_complaints(void);

#endif
