#include "config.h"

#include "helper/operand.h"

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helper/job.h"
#include "report/say.h"
#include "select/select.h"

#define PREFIX    4 /* letters of the "MPI_" that all names begin with */
#define PERIOD    ((size_t)4099)
#define ALIGNMENT 4096 /* of buffers */

/* --- names --- */

static const char *
op_at(size_t i)
{
    return i < AR_OPS ? ar_op_name((enum ar_op)i) : NULL;
}

/* The row of a name, with or without its beginning; false with why, but for what is allowed. */
static bool
find(size_t *row, const char *name, const char *what, const char *(*at)(size_t row),
     struct ar_text *why)
{
    const struct ar_word word = {name, strlen(name)};
    struct ar_nearest nearest;
    ar_nearest_init(&nearest, word);
    for (size_t i = 0; at(i); i++) {
        const char *const full = at(i), *const brief = full + PREFIX;
        if (ar_word_is(word, full) || ar_word_is(word, brief)) {
            *row = i;
            return true;
        }
        ar_nearest_offer(&nearest, ar_word_of(full));
        ar_nearest_offer(&nearest, ar_word_of(brief));
    }
    ar_text_add(why, "unknown predefined %s ", what);
    ar_text_quote(why, word);
    ar_text_suggest(why, &nearest);
    return false;
}

bool
ar_type_find(size_t *row, const char *name, struct ar_text *why)
{
    const bool found = find(row, name, "type", ar_named_name, why);
    if (!found)
        ar_text_add(why, "; allowed: MPI's names, such as float, double, int64_t, "
                         "c_double_complex, double_int");
    return found;
}

bool
ar_op_by_name(enum ar_op *op, const char *name, struct ar_text *why)
{
    size_t row;
    if (find(&row, name, "op", op_at, why)) {
        *op = (enum ar_op)row;
        return true;
    }
    ar_text_add(why, "; allowed:");
    for (size_t i = 0; op_at(i); i++)
        ar_text_add(why, " %s", op_at(i) + PREFIX);
    return false;
}

int
ar_operands_check(const char *command, const size_t *rows, size_t n, enum ar_op op, int rank)
{
    char why[AR_PROBLEM_TEXT];
    struct ar_text t;
    ar_text_init(&t, why, sizeof why);
    for (size_t i = 0; i < n; i++) {
        const char *const name = ar_named_name(rows[i]);
        const struct ar_named *const type = ar_named_at(rows[i]);
        if (type && type->ops & 1u << op)
            continue;
        if (type)
            ar_text_add(&t, "%s does not take %s; allowed:", ar_op_name(op), name);
        else
            ar_text_add(&t, "this MPI has no %s", name);
        for (int k = 0; k < AR_OPS && type; k++)
            if (type->ops & 1u << k)
                ar_text_add(&t, " %s", ar_op_name((enum ar_op)k));
        if (rank == 0)
            fprintf(stderr, "allreduce %s: %s\n", command, why);
        return AR_EXIT_USAGE;
    }
    return AR_EXIT_DONE;
}

/* --- operands --- */

struct ar_judge {
    struct ar_reduction r;
    struct ar_comparison how;
    int nranks;
    char *mine;   /* PERIOD operands of this rank */
    char *result; /* PERIOD packed elements, reduced in rank order by MPI_Reduce_local */
    struct ar_addends operands; /* of PERIOD elements, over all ranks */
    long double *reference;     /* the numbers of PERIOD elements */
    double largest;             /* of them */
    char *packed;               /* scratch for PERIOD elements */
};

/* SplitMix64 (Steele, Lea & Flood 2014) of what names a number. */
static uint64_t
random_bits(int rank, size_t i, size_t part)
{
    uint64_t x = (((uint64_t)rank * PERIOD + i) * 2 + part + 1) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* A rounded number, or one part of a complex one.  Factors of complex products are powers of two
 * on one axis: these products are exact, since no bound is known for others. */
static long double
number_of(const struct ar_judge *j, int rank, size_t i, size_t part)
{
    static const long double factors[] = {1, -1, 2, 0.5L};
    const uint64_t bits = random_bits(rank, i, part), both = random_bits(rank, i, 0);
    switch (j->how.op) {
    case AR_PROD:
        if (j->how.numbers == 2)
            return part == (both >> 8 & 1) ? factors[both & 3] : 0;
        return 0.75L + ldexpl((long double)bits, -65);
    case AR_MAXLOC:
    case AR_MINLOC:
        return (long double)(1 + bits % 100); /* often the same on several ranks */
    default:
        return ldexpl((long double)bits, -64);
    }
}

/* A whole number from 0 to 101.  A sum over all ranks does not leave its type, since MPIs differ in
 * what becomes of one that does (Open MPI's vectors saturate). */
static unsigned char
whole_of(const struct ar_judge *j, int rank, size_t i, size_t bytes)
{
    const uint64_t bits = random_bits(rank, i, 0), nranks = (uint64_t)j->nranks;
    const uint64_t most = bytes == 1 ? INT8_MAX : bytes == 2 ? INT16_MAX : INT32_MAX;
    switch (j->how.op) {
    case AR_SUM:
        if (nranks > most) /* a few of many ranks add 1 */
            return bits % nranks < most / 2;
        return (unsigned char)(bits % (most / nranks < 100 ? most / nranks + 1 : 101));
    case AR_PROD:
        return (unsigned char)(bits % 101 | 1); /* odd: the product never vanishes */
    case AR_LAND:
    case AR_LOR:
    case AR_LXOR:
        return bits % 2;
    default:
        return (unsigned char)(bits % 101);
    }
}

static void
store(char *at, size_t bytes, long double value)
{
    const float single = (float)value;
    const double twice = (double)value;
    memcpy(at,
           bytes == sizeof single  ? (const void *)&single
           : bytes == sizeof twice ? (const void *)&twice
                                   : (const void *)&value,
           bytes);
}

/* PERIOD packed operands of a rank.  A pair's second part is the rank. */
static void
make_operands(const struct ar_judge *j, char *packed, int rank)
{
    static const int one = 1;
    const struct ar_comparison *const how = &j->how;
    const bool located = how->op == AR_MAXLOC || how->op == AR_MINLOC;
    const size_t bytes = how->number_bytes;
    memset(packed, 0, PERIOD * how->size);
    for (size_t i = 0; i < PERIOD; i++) {
        char *const at = packed + i * how->size;
        const size_t whole = located ? how->size - sizeof(int) : how->size;
        for (size_t k = 0; k < how->numbers && bytes > 0; k++)
            store(at + k * bytes, bytes, number_of(j, rank, i, k));
        if (bytes == 0)
            at[*(const char *)&one ? 0 : whole - 1] = (char)whole_of(j, rank, i, whole);
        if (located && (how->class == AR_PAIR_F32_F32 || how->class == AR_PAIR_F64_F64))
            store(at + bytes, bytes, rank);
        else if (located)
            memcpy(at + how->size - sizeof(int), &rank, sizeof(int));
    }
}

/* --- the reduction --- */

/* Combines a rank's operands with the result of the ranks above it; elements and numbers are
 * scratch. */
static void
reduce(struct ar_judge *j, int rank, char *sum, char *elements, long double *numbers)
{
    const size_t n = PERIOD * j->how.numbers;
    const bool first = rank == j->nranks - 1, rounded = j->how.number_bytes > 0;
    const MPI_Op wide_op = j->how.op == AR_MAXLOC   ? MPI_MAX
                           : j->how.op == AR_MINLOC ? MPI_MIN
                                                    : j->r.op;
    make_operands(j, j->packed, rank);
    ar_reduction_unpack(&j->r, first ? sum : elements, j->packed, PERIOD);
    if (!first)
        MPI_Reduce_local(elements, sum, (int)PERIOD, j->r.type, j->r.op);
    if (!rounded)
        return;
    long double *const mine = first ? j->reference : numbers;
    for (size_t i = 0; i < n; i++)
        mine[i] = ar_number_load(j->packed + i / j->how.numbers * j->how.size +
                                     i % j->how.numbers * j->how.number_bytes,
                                 j->how.number_bytes);
    if (!first)
        MPI_Reduce_local(numbers, j->reference, (int)PERIOD,
                         j->how.numbers == 2 ? MPI_C_LONG_DOUBLE_COMPLEX : MPI_LONG_DOUBLE,
                         wide_op);
    const struct ar_addends own = {(double *)(void *)numbers, (unsigned char *)(numbers + n)};
    ar_operands_get(&j->how, own, j->packed, PERIOD);
    for (size_t i = 0; i < n; i++) {
        j->operands.magnitudes[i] += own.magnitudes[i];
        j->operands.kinds[i] |= own.kinds[i];
    }
}

static bool
prepare(struct ar_judge *j, int rank)
{
    const size_t n = PERIOD * j->how.numbers, bytes = PERIOD * (size_t)j->r.extent;
    char *const sum = calloc(1, bytes), *const elements = calloc(1, bytes);
    long double *const numbers = calloc(n, sizeof *numbers + 1);
    j->mine = calloc(1, bytes);
    j->result = malloc(PERIOD * j->how.size);
    j->packed = malloc(PERIOD * j->how.size);
    j->operands.magnitudes = calloc(n, sizeof(double));
    j->operands.kinds = calloc(n, 1);
    j->reference = calloc(n, sizeof *j->reference);
    const bool ready = sum && elements && numbers && j->mine && j->result && j->packed &&
                       j->operands.magnitudes && j->operands.kinds && j->reference;
    for (int k = j->nranks - 1; k >= 0 && ready; k--)
        reduce(j, k, sum, elements, numbers);
    if (ready) {
        ar_reduction_pack(&j->r, j->result, sum, PERIOD);
        ar_packed_clean(&j->how, j->result, PERIOD);
        make_operands(j, j->packed, rank);
        ar_reduction_unpack(&j->r, j->mine, j->packed, PERIOD);
    }
    for (size_t i = 0; i < n && ready; i++)
        j->largest = fmax(j->largest, (double)fabsl(j->reference[i]));
    free(sum);
    free(elements);
    free(numbers);
    return ready;
}

int
ar_judge_create(struct ar_judge **made, const struct ar_reduction *r, int rank, int nranks)
{
    struct ar_judge *const j = calloc(1, sizeof *j);
    if (j) {
        j->r = *r;
        j->nranks = nranks;
        ar_comparison_init(&j->how, r);
    }
    if (j && j->how.class != AR_NO_CLASS && prepare(j, rank)) {
        *made = j;
        return AR_EXIT_DONE;
    }
    if (!j || j->how.class != AR_NO_CLASS)
        fprintf(stderr, "allreduce: out of memory\n");
    else if (rank == 0)
        fprintf(stderr, "allreduce: the representation of this type's numbers in this MPI is not "
                        "known: use another type\n");
    ar_judge_destroy(j);
    return AR_EXIT_FAILED;
}

void
ar_judge_destroy(struct ar_judge *judge)
{
    if (!judge)
        return;
    free(judge->mine);
    free(judge->result);
    free(judge->packed);
    free(judge->operands.magnitudes);
    free(judge->operands.kinds);
    free(judge->reference);
    free(judge);
}

void
ar_judge_fill(const struct ar_judge *judge, void *elements, size_t count)
{
    const size_t extent = (size_t)judge->r.extent;
    for (size_t done = 0; done < count; done += PERIOD)
        memcpy((char *)elements + done * extent, judge->mine,
               (count - done < PERIOD ? count - done : PERIOD) * extent);
}

/* --- results --- */

bool
ar_judge_is_right(struct ar_judge *judge, const void *elements, size_t count)
{
    const struct ar_reduction *const r = &judge->r;
    for (size_t done = 0; done < count; done += PERIOD) {
        const size_t n = count - done < PERIOD ? count - done : PERIOD;
        ar_reduction_pack(r, judge->packed, (const char *)elements + done * (size_t)r->extent, n);
        ar_packed_clean(&judge->how, judge->packed, n);
        if (ar_packed_differs(&judge->how, judge->packed, judge->result, judge->operands,
                              judge->nranks, n) < n)
            return false;
    }
    return true;
}

double
ar_judge_distance(const struct ar_judge *judge, const void *a, const void *b, size_t count)
{
    const size_t extent = (size_t)judge->r.extent, bytes = judge->how.number_bytes;
    const size_t numbers = judge->how.numbers;
    double most = 0;
    for (size_t i = 0; i < count && bytes > 0; i++)
        for (size_t k = 0; k < numbers; k++) {
            const size_t at = i * extent + k * bytes;
            const long double other = b ? ar_number_load((const char *)b + at, bytes)
                                        : judge->reference[i % PERIOD * numbers + k];
            const long double apart = fabsl(ar_number_load((const char *)a + at, bytes) - other);
            most = isnan(apart) ? INFINITY : fmax(most, (double)apart);
        }
    return judge->largest > 0 ? most / judge->largest : most;
}

/* --- buffers --- */

static char *
allocate(size_t slots, size_t slot_bytes)
{
    void *memory = NULL;
    if (slots > SIZE_MAX / slot_bytes || posix_memalign(&memory, ALIGNMENT, slots * slot_bytes)) {
        ar_say("no memory for %zu buffers of %zu bytes", slots, slot_bytes);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

void
ar_buffers_init(struct ar_buffers *b, size_t bytes, size_t rotate_bytes)
{
    b->slot_bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    b->slots = rotate_bytes / b->slot_bytes + 1;
    b->next = 0;
    b->in = allocate(b->slots, b->slot_bytes);
    b->out = allocate(b->slots, b->slot_bytes);
    b->native = allocate(1, b->slot_bytes);
}

void
ar_buffers_fini(struct ar_buffers *b)
{
    free(b->in);
    free(b->out);
    free(b->native);
}

void
ar_buffers_fill(const struct ar_buffers *b, const struct ar_judge *judge, size_t count,
                bool is_in_place)
{
    for (size_t i = 0; i < b->slots; i++) {
        memset(b->out + i * b->slot_bytes, 0, b->slot_bytes);
        if (!is_in_place)
            ar_judge_fill(judge, b->in + i * b->slot_bytes, count);
    }
}

void
ar_buffer_use(char *buffer, size_t bytes, bool writes)
{
    volatile size_t *const words = (volatile size_t *)(void *)buffer;
    for (size_t i = 0; i < bytes / sizeof *words; i++) {
        const size_t word = words[i];
        if (writes)
            words[i] = word;
    }
}
