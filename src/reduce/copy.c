/* From some kilobytes on, glibc's memcpy may use rep movsb on x86, which is slow for some
 * alignments on AMD's Zen 3 and 4.  In the other rank's memory a copy took three times as long if
 * the destination began 16 bytes behind the source within a page, and ranks' buffers often do.
 * With other alignments, loads and stores of vectors are just as fast. */
#include "reduce/copy.h"

#include <string.h>

#include "reduce/isa.h"

#ifdef __x86_64__

#include <emmintrin.h>
#include <stdatomic.h>
#include <stdint.h>

#define LEAST ((size_t)2 << 10) /* memcpy itself uses vectors up to here, */
#define MOST  ((size_t)1 << 20) /* and does not leave the result in the cache from here on */

/* Anywhere in memory, of any type. */
struct piece {
    unsigned char vector __attribute__((vector_size(32)));
} __attribute__((packed, may_alias));

#define STEP (4 * sizeof(struct piece))

/* The barrier keeps compilers from making a memcpy of the loop. */
#define COPY(name, target)                                                                         \
    static target void name(char *dst, const char *src, size_t bytes)                              \
    {                                                                                              \
        for (size_t i = 0; i < bytes; i += STEP) {                                                 \
            struct piece *const to = (void *)(dst + i);                                            \
            const struct piece *const from = (const void *)(src + i);                              \
            const struct piece a = from[0], b = from[1], c = from[2], d = from[3];                 \
            to[0] = a;                                                                             \
            to[1] = b;                                                                             \
            to[2] = c;                                                                             \
            to[3] = d;                                                                             \
            __asm__ volatile("" ::: "memory");                                                     \
        }                                                                                          \
    }

COPY(copy_base, )
COPY(copy_avx2, AR_TARGET_AVX2)

static bool
has_avx2(void)
{
    static atomic_int best = -1;
    int isa = atomic_load_explicit(&best, memory_order_relaxed);
    if (isa < 0) {
        isa = (int)ar_isa_best();
        atomic_store_explicit(&best, isa, memory_order_relaxed);
    }
    return isa >= (int)AR_ISA_AVX2;
}

void
ar_copy_bytes(void *dst, const void *src, size_t bytes)
{
    size_t done = 0;
    if (bytes >= LEAST && bytes <= MOST) {
        done = bytes / STEP * STEP;
        (has_avx2() ? copy_avx2 : copy_base)(dst, src, done);
    }
    memcpy((char *)dst + done, (const char *)src + done, bytes - done);
}

#define LINE ((size_t)64)

/* Whole lines, which begin at to. */
static void
stream_lines(char *to, const char *from, size_t bytes)
{
    enum { PARTS = LINE / sizeof(__m128i) };
    for (size_t i = 0; i < bytes; i += LINE) {
        __m128i part[PARTS];
        memcpy(part, from + i, LINE);
        for (size_t k = 0; k < PARTS; k++)
            _mm_stream_si128((__m128i *)(void *)(to + i) + k, part[k]);
    }
}

/* Only whole lines gain.  The fence orders them before later stores; other stores are ordered
 * anyway. */
void
ar_copy_streaming(void *dst, const void *src, size_t bytes)
{
    char *const to = dst;
    const char *const from = src;
    const size_t before = (size_t)(-(uintptr_t)dst % LINE);
    const size_t head = before < bytes ? before : bytes;
    const size_t lines = (bytes - head) / LINE * LINE, end = head + lines;
    memcpy(to, from, head);
    stream_lines(to + head, from + head, lines);
    memcpy(to + end, from + end, bytes - end);
    _mm_sfence();
}

bool
ar_copy_can_stream(void)
{
    return true;
}

#else

void
ar_copy_bytes(void *dst, const void *src, size_t bytes)
{
    memcpy(dst, src, bytes);
}

void
ar_copy_streaming(void *dst, const void *src, size_t bytes)
{
    memcpy(dst, src, bytes);
}

bool
ar_copy_can_stream(void)
{
    return false;
}

#endif
