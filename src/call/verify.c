#include "call/verify.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/process.h"
#include "execute/group.h"
#include "record/statistics.h"
#include "reduce/compare.h"
#include "reduce/named.h"

/* Packed elements that are compared at a time, in bytes. */
#define CHUNK_BYTES ((size_t)1 << 16)

#define NUMBER_TEXT 128

/* A verification after both allreduces. */
struct check {
    struct ar_communicator *c;
    const struct ar_choice *choice;
    const struct ar_reduction *r;
    const struct ar_call *call;
    const void *in, *native;
    struct ar_comparison how;
    size_t count, chunk;        /* elements */
    char *mine, *other;         /* a chunk, packed; owned, all in one from mine on */
    struct ar_addends operands; /* of a chunk; the same */
    size_t element;             /* the first that is wrong */
    const char *source;         /* who has what it should have been */
    char text[NUMBER_TEXT], should_be[NUMBER_TEXT];
    /* What holds so far for this rank's result: it has rank 0's bits, it has the bits of the native
     * one, and its rounding keeps the bound. */
    bool is_as_rank_0, is_as_native, is_within;
    enum ar_verified verdict; /* that all ranks know in the end */
    int who;                  /* the first rank that sees a difference */
};

int
ar_verify_call(struct ar_communicator *c, const struct ar_call *call, bool *are_alike)
{
    const unsigned every = c->config->verify.every;
    *are_alike = true;
    c->records.verifies = every > 0 && c->records.verify_calls++ % every == 0;
    return c->records.verifies ? ar_calls_compare(c, call, are_alike) : MPI_SUCCESS;
}

void
ar_verify_begin(struct ar_verification *v, const struct ar_reduction *r, const struct ar_call *call)
{
    const void *in_place = MPI_IN_PLACE;
    const size_t count = (size_t)call->count;
    *v = (struct ar_verification){.in = call->in, .room = ar_reduction_room_allocate(r, count)};
    if (call->in != in_place || !v->room)
        return;
    v->in_room = ar_reduction_room_allocate(r, count);
    v->in = v->in_room ? ar_reduction_base(r, v->in_room, count) : NULL;
    if (v->in_room &&
        ar_reduction_copy(r, ar_reduction_base(r, v->in_room, count), call->out, count)) {
        free(v->room);
        v->room = NULL;
    }
}

/* --- chunks --- */

static int
pack(const struct check *k, char *packed, const void *elements, size_t first, size_t count)
{
    const int error = ar_reduction_pack(
        k->r, packed, (const char *)elements + (ptrdiff_t)first * k->r->extent, count);
    ar_packed_clean(&k->how, packed, count);
    return error;
}

/* Keeps what is to be told of element at of the chunk that begins with element first, which mine
 * and other hold. */
static void
note_difference(struct check *k, size_t first, size_t at, const char *source)
{
    k->element = first + at;
    k->source = source;
    ar_packed_print(&k->how, k->mine + at * k->how.size, k->text, sizeof k->text);
    ar_packed_print(&k->how, k->other + at * k->how.size, k->should_be, sizeof k->should_be);
}

/* The first element of the chunk in which mine and other differ, count if none. */
static size_t
differing(const struct check *k, size_t count)
{
    size_t i = 0;
    while (i < count &&
           memcmp(k->mine + i * k->how.size, k->other + i * k->how.size, k->how.size) == 0)
        i++;
    return i;
}

/* Compares a chunk's bits with rank 0's, and with those of the native result; clears what is
 * found to differ.  Collective. */
static int
compare_chunk(struct check *k, size_t first)
{
    const size_t rest = k->count - first, count = rest < k->chunk ? rest : k->chunk;
    const size_t bytes = count * k->how.size;
    int error = pack(k, k->mine, k->call->out, first, count);
    memcpy(k->other, k->mine, bytes);
    if (!error)
        error = PMPI_Bcast(k->other, (int)bytes, MPI_BYTE, 0, k->call->comm);
    size_t at = error ? count : differing(k, count);
    if (at < count && k->is_as_rank_0)
        note_difference(k, first, at, "rank 0 has");
    k->is_as_rank_0 &= at == count;
    if (!error)
        error = pack(k, k->other, k->native, first, count);
    at = error ? count : differing(k, count);
    if (at < count && k->is_as_native && k->is_as_rank_0)
        note_difference(k, first, at, "native gives");
    k->is_as_native &= at == count;
    return error;
}

/* Compares a chunk's rounded results with the bound on their error; clears is_within where it is
 * exceeded.  Collective. */
static int
bound_chunk(struct check *k, size_t first)
{
    const size_t rest = k->count - first, count = rest < k->chunk ? rest : k->chunk;
    const int numbers = (int)(count * k->how.numbers);
    int error = pack(k, k->mine, k->in, first, count);
    ar_operands_get(&k->how, k->operands, k->mine, count);
    if (!error)
        error = ar_reduce_all(k->operands.magnitudes, numbers, MPI_DOUBLE, MPI_SUM, k->call->comm);
    if (!error)
        error = ar_reduce_all(k->operands.kinds, numbers, MPI_BYTE, MPI_BOR, k->call->comm);
    if (!error)
        error = pack(k, k->mine, k->call->out, first, count);
    if (!error)
        error = pack(k, k->other, k->native, first, count);
    if (error)
        return error;
    const size_t at =
        ar_packed_differs(&k->how, k->mine, k->other, k->operands, k->c->nranks, count);
    if (at < count && k->is_within)
        note_difference(k, first, at, "native gives");
    k->is_within &= at == count;
    return MPI_SUCCESS;
}

/* --- the verdict --- */

/* Collective. */
static int
judge_bounds(struct check *k)
{
    const int none = k->c->nranks;
    int error = MPI_SUCCESS;
    for (size_t first = 0; first < k->count && !error; first += k->chunk)
        error = bound_chunk(k, first);
    int64_t wrong = k->is_within ? none : k->c->rank;
    if (!error)
        error = ar_reduce_all(&wrong, 1, MPI_INT64_T, MPI_MIN, k->call->comm);
    k->verdict = wrong < none ? AR_VERIFIED_WRONG : AR_VERIFIED_RIGHT;
    k->who = (int)wrong;
    return error;
}

/* Collective. */
static int
judge(struct check *k)
{
    /* Of a result whose bits are the same on all ranks, but are not the native ones. */
    static const enum ar_verified meaning[] = {
        [AR_COMPARE_NOTHING] = AR_VERIFIED_BY_RANKS,
        [AR_COMPARE_USERS] = AR_VERIFIED_USERS,
        [AR_COMPARE_EXACT] = AR_VERIFIED_WRONG,
    };
    const int none = k->c->nranks, me = k->c->rank;
    int error = MPI_SUCCESS;
    for (size_t first = 0; first < k->count && !error; first += k->chunk)
        error = compare_chunk(k, first);
    int64_t found[] = {k->is_as_rank_0 ? none : me, k->is_as_native ? none : me, k->how.kind};
    if (!error)
        error = ar_reduce_all(found, 3, MPI_INT64_T, MPI_MIN, k->call->comm);
    if (error)
        return error;
    const bool are_alike = found[0] == none;
    k->how.kind = (enum ar_comparable)found[2];
    if (are_alike && found[1] < none && k->how.kind == AR_COMPARE_BOUNDED)
        return judge_bounds(k);
    k->who = (int)(are_alike ? found[1] : found[0]);
    k->verdict = k->who == none ? AR_VERIFIED_RIGHT
                 : are_alike    ? meaning[k->how.kind]
                                : AR_VERIFIED_WRONG;
    return MPI_SUCCESS;
}

/* --- what follows --- */

/* Of a wrong result it also says which command runs the like again, where bench knows type and
 * op. */
static void
tell(const struct check *k)
{
    const void *in_place = MPI_IN_PLACE;
    char algorithm[AR_CHOICE_TEXT], type[MPI_MAX_OBJECT_NAME], command[AR_CHOICE_TEXT + 256] = "";
    int length;
    ar_choice_print(k->choice, algorithm, sizeof algorithm);
    if (k->verdict == AR_VERIFIED_USERS) {
        ar_say("ALLREDUCE_VERIFY: with a user-defined op the result differs from that of the "
               "native allreduce: element %zu of %zu is %s on rank %d of %d, where %s %s; this may "
               "be rounding in the different order of ALLREDUCE_ALGO='%s', so the result is kept",
               k->element, k->count, k->text, k->c->rank, k->c->nranks, k->source, k->should_be,
               algorithm);
        return;
    }
    if (k->r->named && k->how.class != AR_NO_CLASS &&
        !PMPI_Type_get_name(k->r->type, type, &length))
        snprintf(command, sizeof command,
                 ": mpiexec -n %d allreduce bench --algo '%s' --sizes %zu --type %s --op %s "
                 "--place %s",
                 k->c->nranks, algorithm, k->count * k->r->size, type, ar_op_name(k->how.op),
                 k->call->in == in_place ? "in" : "out");
    ar_say("ALLREDUCE_VERIFY: wrong result: element %zu of %zu is %s on rank %d of %d, where %s %s",
           k->element, k->count, k->text, k->c->rank, k->c->nranks, k->source, k->should_be);
    ar_say("ALLREDUCE_VERIFY: ALLREDUCE_ALGO='%s' ran on %zu elements of %zu bytes%s%s", algorithm,
           k->count, k->r->size,
           *command ? "; to reproduce it" : ", with a user-defined op or type", command);
}

/* Tells the first difference of its kind in this process, and does with a wrong result as asked
 * for. */
static int
conclude(struct check *k)
{
    const enum ar_verify_action action = k->c->config->verify.action;
    const bool is_wrong = k->verdict == AR_VERIFIED_WRONG, is_mine = k->who == k->c->rank;
    const bool is_first = ar_verified_count(k->verdict) == 0;
    if (is_first && is_mine && (is_wrong || k->verdict == AR_VERIFIED_USERS))
        tell(k);
    if (is_wrong && action == AR_VERIFY_ABORT)
        ar_job_end(k->call->comm, is_mine);
    if (!is_wrong || action != AR_VERIFY_NATIVE)
        return MPI_SUCCESS;
    ar_communicator_end_choice(k->c, "failed verification");
    return ar_reduction_copy(k->r, k->call->out, k->native, k->count);
}

/* --- the whole --- */

/* Collective. */
static int
compare(struct check *k, const struct ar_verification *v)
{
    const int none = k->c->nranks;
    const size_t room = (k->chunk * k->how.size + 15) / 16 * 16;
    const size_t numbers = k->chunk * k->how.numbers;
    struct ar_call native = *k->call;
    if (v->room && v->in)
        k->mine = malloc(2 * room + numbers * (sizeof(double) + 1));
    int64_t unready = k->mine && ar_reduction_packs(k->r) ? none : k->c->rank;
    int error = ar_reduce_all(&unready, 1, MPI_INT64_T, MPI_MIN, k->call->comm);
    if (!error && unready < none)
        ar_verified_count(AR_VERIFIED_NOT);
    if (error || unready < none)
        return error;
    k->other = k->mine + room;
    k->operands.magnitudes = (double *)(void *)(k->mine + 2 * room);
    k->operands.kinds = (unsigned char *)(k->operands.magnitudes + numbers);
    native.in = k->in;
    native.out = ar_reduction_base(k->r, v->room, k->count);
    k->native = native.out;
    error = native.native(&native);
    if (!error)
        error = judge(k);
    return error ? error : conclude(k);
}

int
ar_verify_end(struct ar_verification *v, struct ar_communicator *c, const struct ar_choice *choice,
              const struct ar_reduction *r, const struct ar_call *call, int error)
{
    struct check k = {.c = c,
                      .choice = choice,
                      .r = r,
                      .call = call,
                      .in = v->in,
                      .count = (size_t)call->count,
                      .chunk = r->size < CHUNK_BYTES ? CHUNK_BYTES / r->size : 1,
                      .is_as_rank_0 = true,
                      .is_as_native = true,
                      .is_within = true};
    fenv_t environment;
    ar_comparison_init(&k.how, r);
    feholdexcept(&environment);
    if (!error)
        error = compare(&k, v);
    fesetenv(&environment);
    free(k.mine);
    free(v->room);
    free(v->in_room);
    return error;
}
