#include <fenv.h>
#include <float.h>
#include <stdint.h>
#include <string.h>

#include "reduce/admission.h"

/* Enough rounds for each pair of NaN to meet in the odd last element of a piece, where compilers
 * differ most. */
enum { ROUNDS = 16, LENGTH = 128, EXTENT_MAX = 32 };

/* Of each operand, since stacks are small: larger elements have more rounds of fewer. */
enum { BYTES = 1024 };

/* A number inside an element. */
enum number { NONE, INT8, INT16, INT32, INT64, FLOAT32, FLOAT64, FLOAT80, INDEX };

/* An element: one number, or two of which the second stands at an offset. */
static const struct layout {
    enum number first;
    enum number second;
    size_t offset;
} layouts[AR_CLASSES] = {
    [AR_I8] = {INT8, NONE, 0},
    [AR_I16] = {INT16, NONE, 0},
    [AR_I32] = {INT32, NONE, 0},
    [AR_I64] = {INT64, NONE, 0},
    [AR_U8] = {INT8, NONE, 0},
    [AR_U16] = {INT16, NONE, 0},
    [AR_U32] = {INT32, NONE, 0},
    [AR_U64] = {INT64, NONE, 0},
    [AR_BOOL] = {INT8, NONE, 0},
    [AR_F32] = {FLOAT32, NONE, 0},
    [AR_F64] = {FLOAT64, NONE, 0},
    [AR_F32_SPLIT] = {FLOAT32, NONE, 0},
    [AR_F64_SPLIT] = {FLOAT64, NONE, 0},
    [AR_LONG_DOUBLE] = {FLOAT80, NONE, 0},
    [AR_COMPLEX_F32] = {FLOAT32, FLOAT32, sizeof(float)},
    [AR_COMPLEX_F64] = {FLOAT64, FLOAT64, sizeof(double)},
    [AR_COMPLEX_LONG_DOUBLE] = {FLOAT80, FLOAT80, sizeof(long double)},
    [AR_COMPLEX_F32_SWAPPED] = {FLOAT32, FLOAT32, sizeof(float)},
    [AR_COMPLEX_F64_SWAPPED] = {FLOAT64, FLOAT64, sizeof(double)},
    [AR_COMPLEX_LONG_DOUBLE_PLAIN] = {FLOAT80, FLOAT80, sizeof(long double)},
    [AR_PAIR_F32_INT] = {FLOAT32, INDEX, sizeof(float)},
    [AR_PAIR_F64_INT] = {FLOAT64, INDEX, sizeof(double)},
    [AR_PAIR_LONG_INT] = {INT64, INDEX, sizeof(long)},
    [AR_PAIR_INT_INT] = {INT32, INDEX, sizeof(int)},
    [AR_PAIR_SHORT_INT] = {INT16, INDEX, sizeof(int)},
    [AR_PAIR_LONG_DOUBLE_INT] = {FLOAT80, INDEX, sizeof(long double)},
    [AR_PAIR_F32_F32] = {FLOAT32, FLOAT32, sizeof(float)},
    [AR_PAIR_F64_F64] = {FLOAT64, FLOAT64, sizeof(double)},
};

static const uint64_t int_values[] = {0, 1, 2, 3, 0xFF, UINT64_MAX, UINT64_MAX - 1};

static const uint32_t float_values[] = {
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, /* +-0, +-1 */
    0x7FC00111, 0xFFC00222, 0x7FC00333, 0x7FC00444, /* NaN */
    0xFFC00555, 0x7FC00666, 0x7F800777, 0xFF800888, /* NaN; the last two signal */
    0x7F800000, 0xFF800000, 0x7F7FFFFF, 0x00000001, /* +-infinity, greatest, least */
};

static const uint64_t double_values[] = {
    UINT64_C(0x0000000000000000), UINT64_C(0x8000000000000000), UINT64_C(0x3FF0000000000000),
    UINT64_C(0xBFF0000000000000), UINT64_C(0x7FF8000000000111), UINT64_C(0xFFF8000000000222),
    UINT64_C(0x7FF8000000000333), UINT64_C(0x7FF8000000000444), UINT64_C(0xFFF8000000000555),
    UINT64_C(0x7FF8000000000666), UINT64_C(0x7FF0000000000777), UINT64_C(0xFFF0000000000888),
    UINT64_C(0x7FF0000000000000), UINT64_C(0xFFF0000000000000), UINT64_C(0x7FEFFFFFFFFFFFFF),
    UINT64_C(0x0000000000000001),
};

/* xorshift64* */
static uint64_t
random_bits(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

static size_t
random_below(uint64_t *state, size_t bound)
{
    return (random_bits(state) >> 33) % bound;
}

#define PICK(array, state) ((array)[random_below(state, sizeof(array) / sizeof *(array))])

/* Integers also take the extremes of their width. */
static uint64_t
hostile_int(unsigned bits, uint64_t *state)
{
    const uint64_t top = UINT64_C(1) << (bits - 1);
    switch (random_below(state, 4)) {
    case 0:
        return top - random_below(state, 2);
    case 1:
        return random_bits(state);
    default:
        return PICK(int_values, state);
    }
}

/* One value of four is replaced by random bits. */
static uint64_t
roughen(uint64_t value, uint64_t *state)
{
    return random_below(state, 4) == 0 ? random_bits(state) : value;
}

static void
put_number(unsigned char *at, enum number number, uint64_t *state)
{
    uint64_t bits;
    double narrow;
    long double wide;
    switch (number) {
    case NONE:
        break;
    case INT8:
        *at = hostile_int(8, state);
        break;
    case INT16:
        memcpy(at, &(uint16_t){hostile_int(16, state)}, 2);
        break;
    case INT32:
        memcpy(at, &(uint32_t){hostile_int(32, state)}, 4);
        break;
    case INT64:
        memcpy(at, &(uint64_t){hostile_int(64, state)}, 8);
        break;
    case FLOAT32:
        memcpy(at, &(uint32_t){roughen(PICK(float_values, state), state)}, 4);
        break;
    case FLOAT64:
        memcpy(at, &(uint64_t){roughen(PICK(double_values, state), state)}, 8);
        break;
    case FLOAT80: /* its padding stays as it is */
        bits = roughen(PICK(double_values, state), state);
        memcpy(&narrow, &bits, sizeof narrow);
        wide = narrow;
        memcpy(at, &wide, LDBL_MANT_DIG == 64 ? 10 : sizeof wide);
        break;
    case INDEX:
        memcpy(at, &(int){random_below(state, 4)}, sizeof(int));
        break;
    }
}

void
ar_hostile_fill(void *elements, enum ar_class class, size_t extent, size_t count, uint64_t *state)
{
    const struct layout *const layout = &layouts[class];
    unsigned char *at = elements;
    for (size_t done = 0; done < extent * count; done += sizeof(uint64_t)) {
        const uint64_t bits = random_bits(state);
        const size_t rest = extent * count - done;
        memcpy(at + done, &bits, rest < sizeof bits ? rest : sizeof bits);
    }
    for (size_t i = 0; i < count; i++, at += extent) {
        put_number(at, layout->first, state);
        put_number(at + layout->offset, layout->second, state);
    }
}

struct operands {
    _Alignas(64) unsigned char a[BYTES];
    _Alignas(64) unsigned char expected[BYTES];
    _Alignas(64) unsigned char got[BYTES];
};

/* Compares whole vectors of length elements in even rounds, and pieces of 1, 2, 3, ... elements in
 * odd ones. */
static bool
agree(struct operands *o, size_t length, int round, ar_kernel_fn *kernel, enum ar_class class,
      MPI_Op op, const struct ar_reduction *geometry)
{
    const size_t extent = geometry->extent;
    uint64_t state = 1 + round;
    ar_hostile_fill(o->a, class, extent, length, &state);
    ar_hostile_fill(o->expected, class, extent, length, &state);
    memcpy(o->got, o->expected, length * extent);
    size_t piece = round % 2 == 0 ? length : 1;
    for (size_t first = 0; first < length; first += piece++) {
        const size_t at = first * extent;
        piece = piece < length - first ? piece : length - first;
        PMPI_Reduce_local(&o->a[at], &o->expected[at], (int)piece, geometry->type, op);
        kernel(&o->got[at], &o->a[at], &o->got[at], piece);
    }
    return memcmp(o->expected, o->got, length * extent) == 0;
}

bool
ar_kernel_agrees(ar_kernel_fn *kernel, enum ar_class class, MPI_Op op,
                 const struct ar_reduction *geometry)
{
    struct operands operands;
    fenv_t environment;
    if (geometry->extent <= 0 || geometry->extent > EXTENT_MAX)
        return false;
    const size_t most = BYTES / (size_t)geometry->extent, length = most < LENGTH ? most : LENGTH;
    const int rounds = (int)(ROUNDS * LENGTH / length);
    feholdexcept(&environment);
    bool same = true;
    for (int round = 0; same && round < rounds; round++)
        same = agree(&operands, length, round, kernel, class, op, geometry);
    fesetenv(&environment);
    return same;
}
