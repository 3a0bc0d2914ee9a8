/* Named types: every op on every type gives the bits of PMPI_Reduce_local, for
 * each instruction set that this processor has, and resolves exactly where the
 * standard (or every MPI) has it. */
#include "config.h"

#include <fenv.h>
#include <pthread.h>
#include <string.h>

#include "check.h"
#include "reduce/admission.h"
#include "reduce/named.h"

#ifndef AR_MPI_IS_OPENMPI
#define AR_MPI_IS_OPENMPI 0
#endif

/* Ops a type must resolve with: letters of ops[] below. */
#define C_INT   "+*MmaolAOX"
#define F_INT   "+*MmAOX"
#define FLOAT   "+*Mm"
#define COMPLEX "+*"
#define LOGICAL "aol"
#define BYTE    "AOX"
#define PAIR    "{}"
#define NO_OP   ""

static const struct {
    MPI_Op op;
    char letter; /* 0: never resolves */
    const char *name;
} ops[] = {
    {MPI_SUM, '+', "SUM"},       {MPI_PROD, '*', "PROD"},     {MPI_MAX, 'M', "MAX"},
    {MPI_MIN, 'm', "MIN"},       {MPI_LAND, 'a', "LAND"},     {MPI_LOR, 'o', "LOR"},
    {MPI_LXOR, 'l', "LXOR"},     {MPI_BAND, 'A', "BAND"},     {MPI_BOR, 'O', "BOR"},
    {MPI_BXOR, 'X', "BXOR"},     {MPI_MAXLOC, '}', "MAXLOC"}, {MPI_MINLOC, '{', "MINLOC"},
    {MPI_REPLACE, 0, "REPLACE"}, {MPI_NO_OP, 0, "NO_OP"},     {MPI_OP_NULL, 0, "OP_NULL"},
};

#define ROW(type, letters)                                                                         \
    {                                                                                              \
        type, letters, #type                                                                       \
    }
static const struct {
    MPI_Datatype type;
    const char *letters;
    const char *name;
} types[] = {
    ROW(MPI_CHAR, C_INT),
    ROW(MPI_SIGNED_CHAR, C_INT),
    ROW(MPI_UNSIGNED_CHAR, C_INT),
    ROW(MPI_SHORT, C_INT),
    ROW(MPI_UNSIGNED_SHORT, C_INT),
    ROW(MPI_INT, C_INT),
    ROW(MPI_UNSIGNED, C_INT),
    ROW(MPI_LONG, C_INT),
    ROW(MPI_UNSIGNED_LONG, C_INT),
    ROW(MPI_LONG_LONG, C_INT),
    ROW(MPI_UNSIGNED_LONG_LONG, C_INT),
    ROW(MPI_INT8_T, C_INT),
    ROW(MPI_INT16_T, C_INT),
    ROW(MPI_INT32_T, C_INT),
    ROW(MPI_INT64_T, C_INT),
    ROW(MPI_UINT8_T, C_INT),
    ROW(MPI_UINT16_T, C_INT),
    ROW(MPI_UINT32_T, C_INT),
    ROW(MPI_UINT64_T, C_INT),
    ROW(MPI_AINT, F_INT),
    ROW(MPI_OFFSET, F_INT),
    ROW(MPI_COUNT, F_INT),
    ROW(MPI_BYTE, BYTE),
    ROW(MPI_WCHAR, NO_OP),
    ROW(MPI_PACKED, NO_OP),
    ROW(MPI_DATATYPE_NULL, NO_OP),
    ROW(MPI_FLOAT, FLOAT),
    ROW(MPI_DOUBLE, FLOAT),
    ROW(MPI_LONG_DOUBLE, FLOAT),
    ROW(MPI_C_BOOL, LOGICAL),
    ROW(MPI_C_COMPLEX, COMPLEX),
    ROW(MPI_C_FLOAT_COMPLEX, COMPLEX),
    ROW(MPI_C_DOUBLE_COMPLEX, COMPLEX),
    ROW(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX),
    ROW(MPI_CXX_BOOL, LOGICAL),
    ROW(MPI_CXX_FLOAT_COMPLEX, COMPLEX),
    ROW(MPI_CXX_DOUBLE_COMPLEX, COMPLEX),
    ROW(MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX),
    ROW(MPI_INTEGER, F_INT),
    ROW(MPI_REAL, FLOAT),
    ROW(MPI_DOUBLE_PRECISION, FLOAT),
    ROW(MPI_COMPLEX, COMPLEX),
    ROW(MPI_DOUBLE_COMPLEX, COMPLEX),
    ROW(MPI_LOGICAL, LOGICAL),
    ROW(MPI_CHARACTER, BYTE),
    ROW(MPI_INTEGER1, F_INT),
    ROW(MPI_INTEGER2, F_INT),
    ROW(MPI_INTEGER4, F_INT),
    ROW(MPI_INTEGER8, F_INT),
    ROW(MPI_REAL4, FLOAT),
    ROW(MPI_REAL8, FLOAT),
    ROW(MPI_REAL16, FLOAT),
    ROW(MPI_COMPLEX8, COMPLEX),
    ROW(MPI_COMPLEX16, COMPLEX),
#if AR_MPI_IS_OPENMPI
    ROW(MPI_COMPLEX32, COMPLEX),
#else
    ROW(MPI_COMPLEX32, NO_OP), /* MPICH refuses it */
#endif
    ROW(MPI_FLOAT_INT, PAIR),
    ROW(MPI_DOUBLE_INT, PAIR),
    ROW(MPI_LONG_DOUBLE_INT, PAIR),
    ROW(MPI_LONG_INT, PAIR),
    ROW(MPI_SHORT_INT, PAIR),
    ROW(MPI_2INT, PAIR),
    ROW(MPI_2INTEGER, PAIR),
    ROW(MPI_2REAL, PAIR),
    ROW(MPI_2DOUBLE_PRECISION, PAIR),
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { SHORT_MAX = 70, LONG = 5003, OFFSET_MAX = 5, POOL = LONG + OFFSET_MAX, EXTENT_MAX = 32 };

static _Alignas(64) unsigned char pool_a[POOL * EXTENT_MAX], pool_b[POOL * EXTENT_MAX];
static _Alignas(64) unsigned char a[POOL * EXTENT_MAX], b[POOL * EXTENT_MAX];
static _Alignas(64) unsigned char apart[POOL * EXTENT_MAX], expected[POOL * EXTENT_MAX];
static unsigned char frame[POOL * EXTENT_MAX];

/* The class by which r runs, AR_CLASSES if it has no kernel. */
static enum ar_class
class_of(const struct ar_reduction *r, enum ar_op which)
{
    const struct ar_named *const named = ar_named_find(r->type);
    for (int i = 0; r->kernel && i < named->candidates.n; i++)
        if (ar_kernel_get(ar_isa_best(), named->candidates.class[i], which) == r->kernel)
            return named->candidates.class[i];
    return AR_CLASSES;
}

static void
fill_pools(const struct ar_reduction *r)
{
    static uint64_t state = 20240229;
    const struct ar_named *const named = ar_named_find(r->type);
    const enum ar_class class = named->candidates.n ? named->candidates.class[0] : AR_U8;
    const size_t units = named->candidates.n ? 1 : r->size;
    ar_hostile_fill(pool_a, class, r->extent / units, POOL * units, &state);
    ar_hostile_fill(pool_b, class, r->extent / units, POOL * units, &state);
}

enum place { ON_A, ON_B, APART };

/* One call with its operands at element offsets 0..OFFSET_MAX, against
 * PMPI_Reduce_local on the same bytes; what lies about dst must not change. */
static void
check_call(const struct ar_reduction *r, enum place place, size_t count, const char *what)
{
    const size_t bytes = (count + OFFSET_MAX) * r->extent;
    const size_t at_a = (count % OFFSET_MAX) * r->extent;
    const size_t at_b = (count * 3 % OFFSET_MAX) * r->extent;
    const size_t at_apart = (count * 2 % OFFSET_MAX) * r->extent;
    unsigned char *const dst = place == ON_A ? a : place == ON_B ? b : apart;
    const size_t at = place == ON_A ? at_a : place == ON_B ? at_b : at_apart;
    memcpy(a, pool_a, bytes);
    memcpy(b, pool_b, bytes);
    memset(apart, 0x5A, bytes);

    memcpy(expected, b, bytes);
    CHECK(PMPI_Reduce_local(a + at_a, expected + at_b, count, r->type, r->op) == MPI_SUCCESS, "%s",
          what);
    /* Gaps stay those of dst; padding inside a number is b's. */
    memmove(expected, expected + at_b, count * r->extent);
    memcpy(frame, dst, bytes);
    ar_reduction_copy(r, frame + at, expected, count);

    CHECK(ar_reduction_apply(r, dst + at, a + at_a, b + at_b, count) == MPI_SUCCESS, "%s", what);
    CHECK(memcmp(dst, frame, bytes) == 0, "%s, place %d, count %zu", what, place, count);
    if (place == APART && r->kernel)
        CHECK(memcmp(a, pool_a, bytes) == 0 && memcmp(b, pool_b, bytes) == 0,
              "%s changes an operand", what);
}

static void
check_bits(const struct ar_reduction *r, const char *what)
{
    for (enum place place = ON_A; place <= APART; place++) {
        for (size_t count = 0; count <= SHORT_MAX; count++)
            check_call(r, place, count, what);
        check_call(r, place, LONG, what);
    }
}

/* All instruction sets, not only the one that r has. */
static void
check_every_isa(const struct ar_reduction *r, enum ar_op which, const char *what)
{
    static const char *const names[AR_ISAS] = {"base", "AVX2", "AVX-512"};
    const enum ar_class class = class_of(r, which);
    CHECK(class != AR_CLASSES, "%s: the kernel is none of the type's", what);
    for (enum ar_isa isa = AR_ISA_BASE; isa < AR_ISAS && isa <= ar_isa_best(); isa++) {
        struct ar_reduction forced = *r;
        char label[120];
        snprintf(label, sizeof label, "%s with %s", what, names[isa]);
        forced.kernel = ar_kernel_get(isa, class, which);
        if (ar_kernel_agrees(forced.kernel, class, r->op, &ar_named_find(r->type)->geometry))
            check_bits(&forced, label);
        else
            printf("left to PMPI_Reduce_local: %s\n", label);
    }
}

/* What MPICH computes otherwise than our kernels: Fortran's quadruple precision;
 * maxima and minima of unsigned integers where it (4.0.2) compares them as signed
 * ones; products of complex numbers but C's, which differ in the choice of NaN. */
static bool
has_none(size_t t, size_t o)
{
    const char *const name = types[t].name;
    if (ops[o].op == MPI_PROD)
        return types[t].type == MPI_REAL16 ||
               (strstr(name, "COMPLEX") && !strstr(name, "MPI_C_") && !strstr(name, "LONG_DOUBLE"));
    if (ops[o].op == MPI_MAX || ops[o].op == MPI_MIN)
        return types[t].type == MPI_REAL16 || strstr(name, "UNSIGNED") || strstr(name, "UINT");
    return types[t].type == MPI_REAL16;
}

/* What resolves must be right natively too; its kernel must exist where the MPI
 * is known to have the bits of ours. */
static void
check_pair(size_t t, size_t o)
{
    struct ar_reduction r = {.size = 12345, .extent = 54321};
    char what[80];
    enum ar_op which = AR_OPS;
    const bool takes = ops[o].letter != 0 && strchr(types[t].letters, ops[o].letter) != NULL;
    snprintf(what, sizeof what, "%s on %s", ops[o].name, types[t].name);
    const bool resolves = ar_reduction_resolve(&r, ops[o].op, types[t].type);
    CHECK(resolves == takes, "%s %s", what, resolves ? "resolves" : "does not resolve");
    if (!resolves) {
        CHECK(r.size == 12345 && r.extent == 54321, "%s does not resolve, but writes", what);
        return;
    }
    CHECK(r.named && r.commutative && r.op == ops[o].op && r.type == types[t].type, "%s", what);
    CHECK(PMPI_Allreduce(pool_a, expected, 1, r.type, r.op, MPI_COMM_WORLD) == MPI_SUCCESS,
          "%s is an error natively", what);
    fill_pools(&r);
    ar_op_find(&which, r.op);
    if (r.kernel)
        check_every_isa(&r, which, what);
    else
        check_bits(&r, what);
    CHECK(r.kernel || AR_MPI_IS_OPENMPI || has_none(t, o), "%s has no kernel", what);
    if (!r.kernel)
        printf("by PMPI_Reduce_local: %s\n", what);
}

enum { THREADS = 4 };

static ar_kernel_fn *first_seen[THREADS][COUNT(types)][COUNT(ops)];

static void *
resolve_all(void *row)
{
    ar_kernel_fn *(*const seen)[COUNT(ops)] = row;
    for (size_t t = 0; t < COUNT(types); t++)
        for (size_t o = 0; o < COUNT(ops); o++) {
            struct ar_reduction r = {.kernel = NULL};
            ar_reduction_resolve(&r, ops[o].op, types[t].type);
            seen[t][o] = r.kernel;
        }
    return NULL;
}

/* Threads that meet the types for the first time, together, see the same. */
static void
check_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, resolve_all, first_seen[i]) == 0, "thread %d", i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(memcmp(first_seen[0], first_seen[i], sizeof first_seen[i]) == 0, "thread %d", i);
    }
}

/* Mutants of the kernel that serves, which admission must reject. */
static ar_kernel_fn *right;
static size_t element_bytes;

static void
swapped(void *dst, const void *x, const void *y, size_t count)
{
    right(dst, y, x, count);
}

/* Swaps operands in all but the last count % 8 elements. */
static void
split_at_8(void *dst, const void *x, const void *y, size_t count)
{
    const size_t body = count - count % 8, at = body * element_bytes;
    swapped(dst, x, y, body);
    right((char *)dst + at, (const char *)x + at, (const char *)y + at, count - body);
}

static void
forgets_the_last(void *dst, const void *x, const void *y, size_t count)
{
    right(dst, x, y, count - 1);
}

static void
check_mutants(MPI_Op op, MPI_Datatype type)
{
    static ar_kernel_fn *const mutants[] = {swapped, split_at_8, forgets_the_last};
    enum ar_op which = AR_OPS;
    struct ar_named *const named = ar_named_find(type);
    ar_op_find(&which, op);
    right = ar_named_kernel(named, op, which);
    element_bytes = named->geometry.size;
    if (!right)
        return;
    const enum ar_class class = named->candidates.class[0];
    CHECK(ar_kernel_agrees(right, class, op, &named->geometry), "op %d: the kernel itself", which);
    for (size_t i = 0; i < COUNT(mutants); i++)
        CHECK(!ar_kernel_agrees(mutants[i], class, op, &named->geometry), "op %d, mutant %zu",
              which, i);
}

static void
check_wrong_kernel(MPI_Op op, MPI_Datatype type, enum ar_class wrong)
{
    enum ar_op which = AR_OPS;
    const struct ar_named *const named = ar_named_find(type);
    ar_op_find(&which, op);
    CHECK(!ar_kernel_agrees(ar_kernel_get(AR_ISA_BASE, wrong, which), named->candidates.class[0],
                            op, &named -> geometry),
          "op %d takes class %d", which, wrong);
}

static void
check_admission(void)
{
    static const MPI_Op float_ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};
    for (size_t i = 0; i < COUNT(float_ops); i++) {
        check_mutants(float_ops[i], MPI_FLOAT);
        check_mutants(float_ops[i], MPI_DOUBLE);
    }
    check_wrong_kernel(MPI_MAX, MPI_INT, AR_U32);
    check_wrong_kernel(MPI_SUM, MPI_LONG, AR_I32);
    check_wrong_kernel(MPI_LAND, MPI_UNSIGNED_CHAR, AR_BOOL);
    check_wrong_kernel(MPI_MAXLOC, MPI_2INT, AR_PAIR_F32_INT);
}

int
main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    feclearexcept(FE_ALL_EXCEPT);
    /* Trials meet NaN on purpose; a program that traps them must not notice. */
    feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
    if (provided == MPI_THREAD_MULTIPLE)
        check_threads();
    resolve_all(first_seen[0]);
    CHECK(fetestexcept(FE_ALL_EXCEPT) == 0, "flags %x", fetestexcept(FE_ALL_EXCEPT));
    fedisableexcept(FE_ALL_EXCEPT);
    for (size_t t = 0; t < COUNT(types); t++)
        for (size_t o = 0; o < COUNT(ops); o++)
            check_pair(t, o);
    check_admission();
    MPI_Finalize();
    return check_status();
}
