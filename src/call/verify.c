#include "call/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call/alike.h"
#include "communicator/job.h"
#include "execute/quiet.h"
#include "reduce/compare.h"
#include "reduce/named.h"
#include "statistics/verified.h"

static const char reason_wrong[] = "wrong when verified";

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
    size_t count, chunk; /* elements */
    char *mine, *other;  /* a chunk, packed; owned, all in one from mine on */
    double *magnitudes;  /* of a chunk; the same */
    size_t element;      /* the first that is wrong */
    const char *source;  /* of what it should have been */
    char is[NUMBER_TEXT], should_be[NUMBER_TEXT];
};

int
ar_verify_call(struct ar_communicator *c, const struct ar_call *call, bool *are_alike)
{
    const unsigned every = c->config->verify.every;
    *are_alike = true;
    c->verifies = every > 0 && c->verify_calls++ % every == 0;
    return c->verifies ? ar_calls_compare(c, call, are_alike) : MPI_SUCCESS;
}

void
ar_verify_begin(struct ar_verification *v, const struct ar_reduction *r, const struct ar_call *call)
{
    const void *in_place = MPI_IN_PLACE;
    const size_t count = (size_t)call->count, bytes = ar_reduction_room_bytes(r, count);
    *v = (struct ar_verification){.in = call->in, .room = malloc(bytes)};
    if (call->in != in_place || !v->room)
        return;
    v->in_room = malloc(bytes);
    v->in = v->in_room ? ar_reduction_base(r, v->in_room, count) : NULL;
    if (v->in_room &&
        ar_reduction_copy(r, ar_reduction_base(r, v->in_room, count), call->out, count)) {
        free(v->room);
        v->room = NULL;
    }
}

/* --- of all ranks --- */

static int
run_native(const struct check *k, const void *in, void *out)
{
    struct ar_call call = *k->call;
    call.in = in;
    call.out = out;
    return call.native(&call);
}

static int
sum_magnitudes(const struct check *k, size_t count)
{
    const void *in = k->c->rank == 0 ? MPI_IN_PLACE : (const void *)k->magnitudes;
    const int n = (int)(count * k->how.numbers);
    int error = PMPI_Reduce(in, k->magnitudes, n, MPI_DOUBLE, MPI_SUM, 0, k->call->comm);
    return error ? error : PMPI_Bcast(k->magnitudes, n, MPI_DOUBLE, 0, k->call->comm);
}

/* --- chunks --- */

static size_t
chunk_length(const struct check *k, size_t first)
{
    return k->count - first < k->chunk ? k->count - first : k->chunk;
}

static int
pack(const struct check *k, char *packed, const void *elements, size_t first, size_t count)
{
    const int error = ar_reduction_pack(
        k->r, packed, (const char *)elements + (ptrdiff_t)first * k->r->extent, count);
    ar_packed_clean(&k->how, packed, count);
    return error;
}

/* Keeps what is to be told of an element, of which mine and other hold the chunk from first
 * on. */
static void
blame(struct check *k, size_t first, size_t at, const char *source)
{
    k->element = first + at;
    k->source = source;
    ar_packed_print(&k->how, k->mine + at * k->how.size, k->is, sizeof k->is);
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
 * found to differ. */
struct agreement {
    bool with_rank_0, with_native;
};

static int
compare_chunk(struct check *k, struct agreement *same, size_t first)
{
    const size_t count = chunk_length(k, first), bytes = count * k->how.size;
    int error = pack(k, k->mine, k->call->out, first, count);
    memcpy(k->other, k->mine, bytes);
    if (!error)
        error = PMPI_Bcast(k->other, (int)bytes, MPI_BYTE, 0, k->call->comm);
    size_t at = error ? count : differing(k, count);
    if (at < count && same->with_rank_0)
        blame(k, first, at, "rank 0 has");
    same->with_rank_0 &= at == count;
    if (!error)
        error = pack(k, k->other, k->native, first, count);
    at = error ? count : differing(k, count);
    if (at < count && same->with_native && same->with_rank_0)
        blame(k, first, at, "native gives");
    same->with_native &= at == count;
    return error;
}

/* Holds a chunk's rounded results against their bound. */
static int
bound_chunk(struct check *k, bool *is_within, size_t first)
{
    const size_t count = chunk_length(k, first);
    int error = pack(k, k->mine, k->in, first, count);
    ar_magnitudes_get(&k->how, k->magnitudes, k->mine, count);
    if (!error)
        error = sum_magnitudes(k, count);
    if (!error)
        error = pack(k, k->mine, k->call->out, first, count);
    if (!error)
        error = pack(k, k->other, k->native, first, count);
    if (error)
        return error;
    const size_t at =
        ar_packed_differs(&k->how, k->mine, k->other, k->magnitudes, k->c->nranks, count);
    if (at < count && *is_within)
        blame(k, first, at, "native gives");
    *is_within &= at == count;
    return MPI_SUCCESS;
}

/* --- the verdict --- */

/* What all ranks know in the end. */
struct verdict {
    enum ar_verified is;
    int who; /* the first rank that sees a difference */
};

static int
judge_bounds(struct check *k, struct verdict *verdict)
{
    const int none = k->c->nranks;
    bool is_within = true;
    int error = MPI_SUCCESS;
    for (size_t first = 0; first < k->count && !error; first += k->chunk)
        error = bound_chunk(k, &is_within, first);
    int64_t wrong = is_within ? none : k->c->rank;
    if (!error)
        error = ar_numbers_agree(k->call->comm, &wrong, 1);
    *verdict = (struct verdict){wrong < none ? AR_VERIFIED_WRONG : AR_VERIFIED_RIGHT, (int)wrong};
    return error;
}

/* All ranks have the same bits, but on rank who the native ones are others. */
static int
judge_difference(struct check *k, struct verdict *verdict, int who)
{
    static const enum ar_verified meaning[] = {
        [AR_COMPARE_NOTHING] = AR_VERIFIED_BY_RANKS,
        [AR_COMPARE_USERS] = AR_VERIFIED_USERS,
        [AR_COMPARE_EXACT] = AR_VERIFIED_WRONG,
    };
    if (k->how.kind == AR_COMPARE_BOUNDED)
        return judge_bounds(k, verdict);
    *verdict = (struct verdict){meaning[k->how.kind], who};
    return MPI_SUCCESS;
}

static int
judge(struct check *k, struct verdict *verdict)
{
    struct agreement same = {true, true};
    int error = MPI_SUCCESS;
    for (size_t first = 0; first < k->count && !error; first += k->chunk)
        error = compare_chunk(k, &same, first);
    const int none = k->c->nranks, me = k->c->rank;
    int64_t found[] = {same.with_rank_0 ? none : me, same.with_native ? none : me, k->how.kind};
    if (!error)
        error = ar_numbers_agree(k->call->comm, found, 3);
    if (error)
        return error;
    k->how.kind = (enum ar_comparable)found[2];
    if (found[0] == none && found[1] < none)
        return judge_difference(k, verdict, (int)found[1]);
    *verdict =
        (struct verdict){found[0] < none ? AR_VERIFIED_WRONG : AR_VERIFIED_RIGHT, (int)found[0]};
    return MPI_SUCCESS;
}

/* --- what follows --- */

/* The command that runs the like again, where bench knows type and op. */
static void
print_command(const struct check *k, const char *algorithm, char *text, size_t room)
{
    const void *in_place = MPI_IN_PLACE;
    char type[MPI_MAX_OBJECT_NAME];
    int length;
    text[0] = '\0';
    if (!k->r->named || k->how.class == AR_NO_CLASS ||
        PMPI_Type_get_name(k->r->type, type, &length))
        return;
    snprintf(text, room,
             ": mpiexec -n %d allreduce bench --algo '%s' --sizes %zu --type %s --op %s --place %s",
             k->c->nranks, algorithm, k->count * k->r->size, type, ar_op_name(k->how.op),
             k->call->in == in_place ? "in" : "out");
}

static void
tell(const struct check *k)
{
    char algorithm[AR_CHOICE_TEXT], command[AR_CHOICE_TEXT + 256];
    ar_choice_print(k->choice, algorithm, sizeof algorithm);
    print_command(k, algorithm, command, sizeof command);
    ar_say("ALLREDUCE_VERIFY: wrong result: element %zu of %zu is %s on rank %d of %d, where %s %s",
           k->element, k->count, k->is, k->c->rank, k->c->nranks, k->source, k->should_be);
    ar_say("ALLREDUCE_VERIFY: it was ALLREDUCE_ALGO='%s' on %zu elements of %zu bytes%s%s",
           algorithm, k->count, k->r->size, *command ? "; the like" : ", of a user's op or type",
           command);
}

/* Of a result that may be right. */
static void
tell_users(const struct check *k)
{
    char algorithm[AR_CHOICE_TEXT];
    ar_choice_print(k->choice, algorithm, sizeof algorithm);
    ar_say(
        "ALLREDUCE_VERIFY: an op of the program's own differs from the native allreduce: element "
        "%zu of %zu is %s on rank %d of %d, where %s %s; such an op may round, in an order of "
        "its own under ALLREDUCE_ALGO='%s': the result stays",
        k->element, k->count, k->is, k->c->rank, k->c->nranks, k->source, k->should_be, algorithm);
}

static int
act(struct check *k, int wrong)
{
    const enum ar_verify_action action = k->c->config->verify.action;
    if (action == AR_VERIFY_ABORT)
        ar_job_end(k->call->comm, k->c->rank == wrong);
    if (action != AR_VERIFY_NATIVE)
        return MPI_SUCCESS;
    ar_communicator_end_choice(k->c, reason_wrong);
    return ar_reduction_copy(k->r, k->call->out, k->native, k->count);
}

/* The first of its kind in this process is told. */
static int
conclude(struct check *k, const struct verdict *verdict)
{
    const bool tells = ar_verified_count(verdict->is) == 0 && verdict->who == k->c->rank;
    if (tells && verdict->is == AR_VERIFIED_USERS)
        tell_users(k);
    if (tells && verdict->is == AR_VERIFIED_WRONG)
        tell(k);
    return verdict->is == AR_VERIFIED_WRONG ? act(k, verdict->who) : MPI_SUCCESS;
}

/* --- the whole --- */

static bool
allocate(struct check *k)
{
    const size_t bytes = k->chunk * k->how.size, doubles = k->chunk * k->how.numbers;
    const size_t room = (bytes + 15) / 16 * 16;
    k->mine = malloc(2 * room + doubles * sizeof *k->magnitudes);
    k->other = k->mine + room;
    k->magnitudes = (double *)(void *)(k->mine + 2 * room);
    return k->mine;
}

static int
compare(struct check *k, const struct ar_verification *v)
{
    const int none = k->c->nranks;
    const bool packs = ar_reduction_packs(k->r), ready = v->room && v->in && allocate(k) && packs;
    struct verdict verdict;
    int64_t unready = ready ? none : k->c->rank;
    int error = ar_numbers_agree(k->call->comm, &unready, 1);
    if (!error && unready < none)
        ar_verified_count(AR_VERIFIED_NOT);
    if (error || unready < none)
        return error;
    k->native = ar_reduction_base(k->r, v->room, k->count);
    error = run_native(k, k->in, ar_reduction_base(k->r, v->room, k->count));
    if (!error)
        error = judge(k, &verdict);
    return error ? error : conclude(k, &verdict);
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
                      .chunk = r->size < CHUNK_BYTES ? CHUNK_BYTES / r->size : 1};
    struct ar_quiet quiet;
    ar_comparison_init(&k.how, r);
    ar_quiet_begin(&quiet, call->comm);
    if (!error)
        error = compare(&k, v);
    ar_quiet_end(&quiet);
    free(k.mine);
    free(v->room);
    free(v->in_room);
    return error;
}
