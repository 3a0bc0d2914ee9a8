#include "reduce/exact.h"

#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

#include "reduce/exact_ways.h"

/* --- grids --- */

const struct ar_exact_kernels *
ar_exact_kernels_get(enum ar_isa isa, enum ar_exact_format format)
{
    static const struct ar_exact_kernels *const tables[AR_ISAS] = {
        [AR_ISA_BASE] = ar_exact_kernels_base,
#ifdef __x86_64__
        [AR_ISA_AVX2] = ar_exact_kernels_avx2,
        [AR_ISA_AVX512] = ar_exact_kernels_avx512,
#endif
    };
    return &tables[isa][format];
}

/* A part's integer is at most 2^PART_BITS where it is cut and where it is read.  The highest part
 * holds SPARE_BITS less than a word, so that nranks integers with a carry stay below that. */
#define PART_BITS  51
#define SPARE_BITS 13

/* Between these exponents magic numbers, units and their sums are neither infinite nor below the
 * normal numbers. */
#define EXPONENT_LEAST (-1020)
#define EXPONENT_MOST  1020
#define MAGIC_BITS     52

static int
words_of(int window_bits, int word_bits, int part_bits)
{
    if (window_bits <= word_bits)
        return 1;
    for (int words = 2; words <= AR_EXACT_PARTS; words++)
        if (window_bits <= (words - 1) * part_bits + word_bits - SPARE_BITS)
            return words;
    return 0;
}

struct ar_exact_grid
ar_exact_grid_of(struct ar_window window, int nranks)
{
    const int word_bits = ar_digits_bits(nranks);
    struct ar_exact_grid grid = {.bits = word_bits < PART_BITS ? word_bits : PART_BITS};
    if (window.special || window.top == AR_WINDOW_EMPTY)
        return grid;
    grid.words = words_of(window.top + window.bottom, word_bits, grid.bits);
    grid.parts = grid.words == 1 ? 2 : grid.words;
    if (-window.bottom < EXPONENT_LEAST ||
        MAGIC_BITS - window.bottom + (grid.parts - 1) * grid.bits > EXPONENT_MOST)
        grid.words = grid.parts = 0;
    for (int k = 0; k < grid.parts; k++)
        grid.magic[k] = ldexp(1.5, MAGIC_BITS - window.bottom + k * grid.bits);
    return grid;
}

/* --- the processor's mode --- */

/* The processor rounds to nearest, without flushing small numbers to zero and without traps,
 * whatever the program has set.  The program's exception flags stay as they were.  On x86 not by
 * <fenv.h>, which sets the x87 unit, too, and takes a microsecond. */
#define MXCSR_AT_START 0x1f80U

/* What the program has set. */
struct float_environment {
#ifdef __SSE2__
    unsigned mxcsr;
#else
    fenv_t environment;
#endif
};

static void
begin_rounding(struct float_environment *saved)
{
#ifdef __SSE2__
    saved->mxcsr = _mm_getcsr();
    _mm_setcsr(MXCSR_AT_START);
#else
    fegetenv(&saved->environment);
    fesetenv(FE_DFL_ENV);
#endif
}

static void
end_rounding(const struct float_environment *saved)
{
#ifdef __SSE2__
    _mm_setcsr(saved->mxcsr);
#else
    fesetenv(&saved->environment);
#endif
}

/* --- windows --- */

/* The window of the largest number and the lowest bit is that of all numbers. */
struct ar_window
ar_extent_window(enum ar_exact_format format, struct ar_extent extent)
{
    if (extent.most == 0)
        return (struct ar_window){AR_WINDOW_EMPTY, AR_WINDOW_EMPTY, 0};
    const uint64_t two[] = {extent.most, extent.least};
    const uint32_t narrow[] = {(uint32_t)extent.most, (uint32_t)extent.least};
    return ar_digits_window(format, format == AR_EXACT_FLOAT ? (const void *)narrow : two, 2);
}

struct ar_window
ar_window_of(enum ar_exact_format format, const void *numbers, size_t count)
{
    struct float_environment saved;
    begin_rounding(&saved);
    const struct ar_extent extent =
        ar_exact_kernels_get(ar_isa_best(), format)->measure(numbers, count);
    end_rounding(&saved);
    const struct ar_window window = ar_extent_window(format, extent);
    return window.special ? ar_digits_window(format, numbers, count) : window;
}

size_t
ar_exact_words(struct ar_window window, int nranks)
{
    const int words = ar_exact_grid_of(window, nranks).words;
    return words ? (size_t)words : ar_digits_words(window, nranks);
}

/* --- numbers --- */

void
ar_exact_encode(enum ar_exact_format format, int64_t *words, const void *numbers, size_t count,
                struct ar_window window, int nranks)
{
    const struct ar_exact_grid grid = ar_exact_grid_of(window, nranks);
    struct float_environment saved;
    if (grid.words == 0) {
        ar_digits_encode(format, words, numbers, count, window, nranks);
        return;
    }
    begin_rounding(&saved);
    ar_exact_kernels_get(ar_isa_best(), format)
        ->encode[grid.words - 1](words, numbers, count, &grid);
    end_rounding(&saved);
}

void
ar_exact_decode(enum ar_exact_format format, void *numbers, int64_t *words, size_t count,
                struct ar_window window, int nranks)
{
    const struct ar_exact_grid grid = ar_exact_grid_of(window, nranks);
    struct float_environment saved;
    if (grid.words == 0) {
        ar_digits_decode(format, numbers, words, count, window, nranks);
        return;
    }
    begin_rounding(&saved);
    ar_exact_kernels_get(ar_isa_best(), format)
        ->decode[grid.words - 1](numbers, words, count, &grid);
    end_rounding(&saved);
}
