/* Sets the processor to round to nearest, without flushing small numbers to zero and without
 * traps, whatever the program has set.  The program's exception flags stay as they were.
 * On x86 not by <fenv.h>, which sets the x87 unit, too, and takes a microsecond.
 */
#ifndef AR_ROUNDING_H
#define AR_ROUNDING_H

#ifdef __SSE2__
#include <xmmintrin.h>
#define MXCSR_AT_START 0x1f80U
#else
#include <fenv.h>
#endif

/* What the program has set. */
struct ar_float_environment {
#ifdef __SSE2__
    unsigned mxcsr;
#else
    fenv_t environment;
#endif
};

static inline void
ar_rounding_begin(struct ar_float_environment *saved)
{
#ifdef __SSE2__
    saved->mxcsr = _mm_getcsr();
    _mm_setcsr(MXCSR_AT_START);
#else
    fegetenv(&saved->environment);
    fesetenv(FE_DFL_ENV);
#endif
}

static inline void
ar_rounding_end(const struct ar_float_environment *saved)
{
#ifdef __SSE2__
    _mm_setcsr(saved->mxcsr);
#else
    fesetenv(&saved->environment);
#endif
}

#endif
