/* The processor's rounding to nearest, with small numbers as they are and without traps, whatever
 * the program has set; its exception flags stay as they were.  Not <fenv.h> on x86: it sets the
 * x87 unit, too, which takes a microsecond. */
#ifndef AR_ROUNDING_H
#define AR_ROUNDING_H

#ifdef __SSE2__
#include <xmmintrin.h>

#define MXCSR_AT_START 0x1f80U

struct ar_rounding {
    unsigned mxcsr;
};

static inline void
ar_rounding_begin(struct ar_rounding *users)
{
    users->mxcsr = _mm_getcsr();
    _mm_setcsr(MXCSR_AT_START);
}

static inline void
ar_rounding_end(const struct ar_rounding *users)
{
    _mm_setcsr(users->mxcsr);
}

#else
#include <fenv.h>

struct ar_rounding {
    fenv_t environment;
};

static inline void
ar_rounding_begin(struct ar_rounding *users)
{
    fegetenv(&users->environment);
    fesetenv(FE_DFL_ENV);
}

static inline void
ar_rounding_end(const struct ar_rounding *users)
{
    fesetenv(&users->environment);
}

#endif
#endif
