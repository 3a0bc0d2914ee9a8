#include "config.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "reduce/admission.h"
#include "reduce/named.h"

/* How a type is represented, its size apart. */
enum form {
    SIGNED,
    UNSIGNED,
    BOOLEAN,
    FLOATING,
    LONG_FLOATING,
    COMPLEX,
    LONG_COMPLEX,
    FLOATING_AND_INT,
    LONG_FLOATING_AND_INT,
    LONG_AND_INT,
    SHORT_AND_INT,
    TWO_INTEGERS,
    TWO_FLOATING
};

/* Ops by kind of type, as the standard has them ("Predefined Reduction
 * Operations").  What an MPI accepts beyond that is left to it. */
#define BIT(op)       (1u << AR_##op)
#define LOGICAL_OPS   (BIT(LAND) | BIT(LOR) | BIT(LXOR))
#define BYTE_OPS      (BIT(BAND) | BIT(BOR) | BIT(BXOR))
#define COMPLEX_OPS   (BIT(SUM) | BIT(PROD))
#define FLOATING_OPS  (COMPLEX_OPS | BIT(MAX) | BIT(MIN))
#define INTEGER_OPS   (FLOATING_OPS | BYTE_OPS)
#define C_INTEGER_OPS (INTEGER_OPS | LOGICAL_OPS)
#define PAIR_OPS      (BIT(MAXLOC) | BIT(MINLOC))

/* MPI_CHAR and MPI_CHARACTER take more here than the standard asks for, as they do in MPICH and
 * Open MPI.  Handles that are null in the MPI at hand are skipped. */
#define TYPE(handle) handle, #handle
static const struct row {
    MPI_Datatype type;
    const char *name;
    unsigned ops;
    enum form form;
} rows[] = {
    {TYPE(MPI_CHAR), C_INTEGER_OPS, SIGNED},
    {TYPE(MPI_SIGNED_CHAR), C_INTEGER_OPS, SIGNED},
    {TYPE(MPI_UNSIGNED_CHAR), C_INTEGER_OPS, UNSIGNED},
    {TYPE(MPI_SHORT), C_INTEGER_OPS, SIGNED},
    {TYPE(MPI_UNSIGNED_SHORT), C_INTEGER_OPS, UNSIGNED},
    {TYPE(MPI_INT), C_INTEGER_OPS, SIGNED},
    {TYPE(MPI_UNSIGNED), C_INTEGER_OPS, UNSIGNED},
    {TYPE(MPI_LONG), C_INTEGER_OPS, SIGNED},
    {TYPE(MPI_UNSIGNED_LONG), C_INTEGER_OPS, UNSIGNED},
    {TYPE(MPI_LONG_LONG_INT), C_INTEGER_OPS, SIGNED},
    {TYPE(MPI_UNSIGNED_LONG_LONG), C_INTEGER_OPS, UNSIGNED},
    {TYPE(MPI_INT8_T), C_INTEGER_OPS, SIGNED},
    {TYPE(MPI_INT16_T), C_INTEGER_OPS, SIGNED},
    {TYPE(MPI_INT32_T), C_INTEGER_OPS, SIGNED},
    {TYPE(MPI_INT64_T), C_INTEGER_OPS, SIGNED},
    {TYPE(MPI_UINT8_T), C_INTEGER_OPS, UNSIGNED},
    {TYPE(MPI_UINT16_T), C_INTEGER_OPS, UNSIGNED},
    {TYPE(MPI_UINT32_T), C_INTEGER_OPS, UNSIGNED},
    {TYPE(MPI_UINT64_T), C_INTEGER_OPS, UNSIGNED},
    {TYPE(MPI_AINT), INTEGER_OPS, SIGNED},
    {TYPE(MPI_OFFSET), INTEGER_OPS, SIGNED},
    {TYPE(MPI_COUNT), INTEGER_OPS, SIGNED},
    {TYPE(MPI_BYTE), BYTE_OPS, UNSIGNED},
    {TYPE(MPI_FLOAT), FLOATING_OPS, FLOATING},
    {TYPE(MPI_DOUBLE), FLOATING_OPS, FLOATING},
    {TYPE(MPI_LONG_DOUBLE), FLOATING_OPS, LONG_FLOATING},
    {TYPE(MPI_C_BOOL), LOGICAL_OPS, BOOLEAN},
    {TYPE(MPI_C_FLOAT_COMPLEX), COMPLEX_OPS, COMPLEX},
    {TYPE(MPI_C_DOUBLE_COMPLEX), COMPLEX_OPS, COMPLEX},
    {TYPE(MPI_C_LONG_DOUBLE_COMPLEX), COMPLEX_OPS, LONG_COMPLEX},
    {TYPE(MPI_CXX_BOOL), LOGICAL_OPS, BOOLEAN},
    {TYPE(MPI_CXX_FLOAT_COMPLEX), COMPLEX_OPS, COMPLEX},
    {TYPE(MPI_CXX_DOUBLE_COMPLEX), COMPLEX_OPS, COMPLEX},
    {TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX), COMPLEX_OPS, LONG_COMPLEX},
    {TYPE(MPI_INTEGER), INTEGER_OPS, SIGNED},
    {TYPE(MPI_REAL), FLOATING_OPS, FLOATING},
    {TYPE(MPI_DOUBLE_PRECISION), FLOATING_OPS, FLOATING},
    {TYPE(MPI_COMPLEX), COMPLEX_OPS, COMPLEX},
    {TYPE(MPI_DOUBLE_COMPLEX), COMPLEX_OPS, COMPLEX},
    {TYPE(MPI_LOGICAL), LOGICAL_OPS, SIGNED},
    {TYPE(MPI_CHARACTER), BYTE_OPS, UNSIGNED},
#ifdef MPI_INTEGER1
    {TYPE(MPI_INTEGER1), INTEGER_OPS, SIGNED},
#endif
#ifdef MPI_INTEGER2
    {TYPE(MPI_INTEGER2), INTEGER_OPS, SIGNED},
#endif
#ifdef MPI_INTEGER4
    {TYPE(MPI_INTEGER4), INTEGER_OPS, SIGNED},
#endif
#ifdef MPI_INTEGER8
    {TYPE(MPI_INTEGER8), INTEGER_OPS, SIGNED},
#endif
#ifdef MPI_REAL4
    {TYPE(MPI_REAL4), FLOATING_OPS, FLOATING},
#endif
#ifdef MPI_REAL8
    {TYPE(MPI_REAL8), FLOATING_OPS, FLOATING},
#endif
#ifdef MPI_REAL16
    {TYPE(MPI_REAL16), FLOATING_OPS, FLOATING},
#endif
#ifdef MPI_COMPLEX8
    {TYPE(MPI_COMPLEX8), COMPLEX_OPS, COMPLEX},
#endif
#ifdef MPI_COMPLEX16
    {TYPE(MPI_COMPLEX16), COMPLEX_OPS, COMPLEX},
#endif
#if defined AR_MPI_IS_OPENMPI && defined MPI_COMPLEX32 /* MPICH refuses it */
    {TYPE(MPI_COMPLEX32), COMPLEX_OPS, COMPLEX},
#endif
    {TYPE(MPI_FLOAT_INT), PAIR_OPS, FLOATING_AND_INT},
    {TYPE(MPI_DOUBLE_INT), PAIR_OPS, FLOATING_AND_INT},
    {TYPE(MPI_LONG_DOUBLE_INT), PAIR_OPS, LONG_FLOATING_AND_INT},
    {TYPE(MPI_LONG_INT), PAIR_OPS, LONG_AND_INT},
    {TYPE(MPI_SHORT_INT), PAIR_OPS, SHORT_AND_INT},
    {TYPE(MPI_2INT), PAIR_OPS, TWO_INTEGERS},
    {TYPE(MPI_2INTEGER), PAIR_OPS, TWO_INTEGERS},
    {TYPE(MPI_2REAL), PAIR_OPS, TWO_FLOATING},
    {TYPE(MPI_2DOUBLE_PRECISION), PAIR_OPS, TWO_FLOATING},
};

/* Classes by form and size.  Types of other sizes (REAL16, say) have no kernel.  There are two
 * candidates where MPI libraries may differ: in whether a byte's logical ops normalise, in whether
 * operands of a sum are swapped (in vectors or everywhere), and in whether products are C's or the
 * textbook's. */
static const struct class_row {
    size_t size;
    enum form form;
    struct ar_candidates candidates;
} class_rows[] = {
    {1, SIGNED, {1, {AR_I8}}},
    {2, SIGNED, {1, {AR_I16}}},
    {4, SIGNED, {1, {AR_I32}}},
    {8, SIGNED, {1, {AR_I64}}},
    {1, UNSIGNED, {1, {AR_U8}}},
    {2, UNSIGNED, {1, {AR_U16}}},
    {4, UNSIGNED, {1, {AR_U32}}},
    {8, UNSIGNED, {1, {AR_U64}}},
    {1, BOOLEAN, {2, {AR_U8, AR_BOOL}}},
    {4, FLOATING, {2, {AR_F32, AR_F32_SPLIT}}},
    {8, FLOATING, {2, {AR_F64, AR_F64_SPLIT}}},
    {sizeof(long double), LONG_FLOATING, {1, {AR_LONG_DOUBLE}}},
    {8, COMPLEX, {2, {AR_COMPLEX_F32, AR_COMPLEX_F32_SWAPPED}}},
    {16, COMPLEX, {2, {AR_COMPLEX_F64, AR_COMPLEX_F64_SWAPPED}}},
    {2 * sizeof(long double),
     LONG_COMPLEX,
     {2, {AR_COMPLEX_LONG_DOUBLE, AR_COMPLEX_LONG_DOUBLE_PLAIN}}},
    {4 + sizeof(int), FLOATING_AND_INT, {1, {AR_PAIR_F32_INT}}},
    {8 + sizeof(int), FLOATING_AND_INT, {1, {AR_PAIR_F64_INT}}},
    {sizeof(long double) + sizeof(int), LONG_FLOATING_AND_INT, {1, {AR_PAIR_LONG_DOUBLE_INT}}},
    {sizeof(long) + sizeof(int), LONG_AND_INT, {1, {AR_PAIR_LONG_INT}}},
    {sizeof(short) + sizeof(int), SHORT_AND_INT, {1, {AR_PAIR_SHORT_INT}}},
    {2 * sizeof(int), TWO_INTEGERS, {1, {AR_PAIR_INT_INT}}},
    {8, TWO_FLOATING, {1, {AR_PAIR_F32_F32}}},
    {16, TWO_FLOATING, {1, {AR_PAIR_F64_F64}}},
};

#define OP(handle) handle, #handle
/* The ops of enum ar_op come first, in its order. */
static const struct op_row {
    MPI_Op op;
    const char *name;
    enum ar_op_kind kind;
    enum ar_op which;
} op_rows[] = {
    {OP(MPI_SUM), AR_OP_PREDEFINED, AR_SUM},       {OP(MPI_PROD), AR_OP_PREDEFINED, AR_PROD},
    {OP(MPI_MAX), AR_OP_PREDEFINED, AR_MAX},       {OP(MPI_MIN), AR_OP_PREDEFINED, AR_MIN},
    {OP(MPI_LAND), AR_OP_PREDEFINED, AR_LAND},     {OP(MPI_LOR), AR_OP_PREDEFINED, AR_LOR},
    {OP(MPI_LXOR), AR_OP_PREDEFINED, AR_LXOR},     {OP(MPI_BAND), AR_OP_PREDEFINED, AR_BAND},
    {OP(MPI_BOR), AR_OP_PREDEFINED, AR_BOR},       {OP(MPI_BXOR), AR_OP_PREDEFINED, AR_BXOR},
    {OP(MPI_MAXLOC), AR_OP_PREDEFINED, AR_MAXLOC}, {OP(MPI_MINLOC), AR_OP_PREDEFINED, AR_MINLOC},
    {OP(MPI_OP_NULL), AR_OP_REFUSED, AR_OPS},      {OP(MPI_REPLACE), AR_OP_REFUSED, AR_OPS},
    {OP(MPI_NO_OP), AR_OP_REFUSED, AR_OPS},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Open hash from a handle's bytes to a row number; at most a quarter full. */
#define SLOTS_LOG2 8
#define SLOTS      (1 << SLOTS_LOG2)

struct map {
    struct slot {
        uint64_t key;
        int row_plus_1; /* 0: free */
    } slots[SLOTS];
};

static struct map type_map, op_map;
static struct ar_named named[COUNT(rows)];
static enum ar_isa isa;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool ready;

_Static_assert(4 * COUNT(rows) <= SLOTS, "type_map is too full");
_Static_assert(sizeof(MPI_Datatype) <= sizeof(uint64_t), "handles are wider than a key");
_Static_assert(sizeof(MPI_Op) <= sizeof(uint64_t), "handles are wider than a key");

/* Handles are opaque: their bytes make the key. */
#define KEY_OF(handle) key_of(&(handle), sizeof(handle))

static inline uint64_t
key_of(const void *handle, size_t bytes)
{
    uint64_t key = 0;
    memcpy(&key, handle, bytes);
    return key;
}

/* The slot that holds key, or the free one where it belongs. */
static inline struct slot *
map_slot(struct map *map, uint64_t key)
{
    size_t i = (key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - SLOTS_LOG2);
    while (map->slots[i].row_plus_1 != 0 && map->slots[i].key != key)
        i = (i + 1) % SLOTS;
    return &map->slots[i];
}

/* The first row wins where an MPI gives two names to one handle. */
static void
map_add(struct map *map, uint64_t key, size_t row)
{
    struct slot *const slot = map_slot(map, key);
    if (slot->row_plus_1 == 0)
        *slot = (struct slot){key, (int)row + 1};
}

static struct ar_candidates
candidates_of(enum form form, size_t size)
{
    for (size_t i = 0; i < COUNT(class_rows); i++)
        if (class_rows[i].form == form && class_rows[i].size == size)
            return class_rows[i].candidates;
    return (struct ar_candidates){0};
}

static enum ar_type_class
type_class_of(const struct row *row, size_t size)
{
    if (row->ops == BYTE_OPS)
        return AR_TYPE_BYTE;
    if (row->ops == LOGICAL_OPS)
        return AR_TYPE_LOGICAL;
    if (row->ops == PAIR_OPS)
        return AR_TYPE_PAIR;
    if (row->ops == COMPLEX_OPS)
        return AR_TYPE_COMPLEX;
    if (row->ops != FLOATING_OPS)
        return AR_TYPE_INTEGER;
    return size == 4 ? AR_TYPE_FLOAT : size == 8 ? AR_TYPE_DOUBLE : AR_TYPE_LONG_DOUBLE;
}

/* What stands in the place of a kernel before its admission; never called. */
static void
untried(void *dst, const void *a, const void *b, size_t count)
{
    (void)dst, (void)a, (void)b, (void)count;
}

static void
set_up(void)
{
    isa = ar_isa_best();
    for (size_t i = 0; i < COUNT(op_rows); i++)
        map_add(&op_map, KEY_OF(op_rows[i].op), i);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ar_named *const t = &named[i];
        if (rows[i].type == MPI_DATATYPE_NULL || !ar_geometry_get(&t->geometry, rows[i].type) ||
            t->geometry.size == 0)
            continue;
        t->geometry.commutative = true;
        t->geometry.named = true;
        t->geometry.basic = true;
        t->geometry.type_class = type_class_of(&rows[i], t->geometry.size);
        t->ops = rows[i].ops;
        t->candidates = candidates_of(rows[i].form, t->geometry.size);
        for (int op = 0; op < AR_OPS; op++)
            atomic_init(&t->kernel[op], untried);
        map_add(&type_map, KEY_OF(rows[i].type), i);
    }
    /* Pairs with the acquire in ensure_set_up. */
    atomic_store_explicit(&ready, true, memory_order_release);
}

/* The first call sets up; the others pay one load. */
static inline void
ensure_set_up(void)
{
    /* Pairs with the release in set_up. */
    if (!atomic_load_explicit(&ready, memory_order_acquire))
        pthread_once(&once, set_up);
}

struct ar_named *
ar_named_find(MPI_Datatype type)
{
    ensure_set_up();
    const int row = map_slot(&type_map, KEY_OF(type))->row_plus_1 - 1;
    return row < 0 ? NULL : &named[row];
}

const char *
ar_named_name(size_t row)
{
    return row < COUNT(rows) ? rows[row].name : NULL;
}

struct ar_named *
ar_named_at(size_t row)
{
    return rows[row].type == MPI_DATATYPE_NULL ? NULL : ar_named_find(rows[row].type);
}

enum ar_op_kind
ar_op_find(enum ar_op *which, MPI_Op op)
{
    ensure_set_up();
    const int row = map_slot(&op_map, KEY_OF(op))->row_plus_1 - 1;
    if (row < 0)
        return AR_OP_USER;
    *which = op_rows[row].which;
    return op_rows[row].kind;
}

const char *
ar_op_name(enum ar_op op)
{
    return op_rows[op].name;
}

MPI_Op
ar_op_handle(enum ar_op op)
{
    return op_rows[op].op;
}

ar_kernel_fn *
ar_named_kernel(struct ar_named *type, MPI_Op op, enum ar_op which)
{
    /* Relaxed: the pointer is all there is to see, and threads that race choose the same. */
    ar_kernel_fn *kernel = atomic_load_explicit(&type->kernel[which], memory_order_relaxed);
    if (kernel != untried)
        return kernel;
    kernel = NULL;
    for (int i = 0; i < type->candidates.n && !kernel; i++) {
        const enum ar_class class = type->candidates.class[i];
        kernel = ar_kernel_get(isa, class, which);
        if (kernel && !ar_kernel_agrees(kernel, class, op, &type->geometry))
            kernel = NULL;
    }
    atomic_store_explicit(&type->kernel[which], kernel, memory_order_relaxed);
    return kernel;
}
