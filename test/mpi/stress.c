/* Allreduces of pseudo-random count, type, op, algorithm, communicator, in place or not, among the
 * program's own messages, windows and nonblocking collectives, on ranks that dally; each result is
 * compared exactly.
 *
 * usage: stress SEED CALLS [CHOICE...]       with these choices, in the form of the info key
 *        stress SEED SECONDSs [CHOICE...]    for that time
 *
 * If $STRESS_SAMPLES is set, several threads make calls at the same time now and then, and what the
 * ranks hold is written to $STRESS_SAMPLES-RANK.csv.
 *
 * The calls are decided by numbers that are the same on all ranks.  So a seed replays them, and a
 * shorter run is the beginning of a longer one.  How long a rank is delayed is decided by numbers
 * of its own.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "concurrent.h"
#include "resources.h"
#include "traffic.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define RANKS_MAX    64
#define MODULUS      10007
#define UNTOUCHED    ((int)0xA5A5A5A5) /* as check_buffer fills */

/* splitmix64. */
static unsigned
draw(uint64_t *state, unsigned bound)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((z ^ z >> 31) % bound);
}

static bool
one_in(uint64_t *state, unsigned n)
{
    return draw(state, n) == 0;
}

/* --- elements: types, ops and what they give --- */

/* A number, a number with a place, or the map t -> a t + b modulo MODULUS. */
struct element {
    long a, b;
};

struct located {
    double value;
    int place;
};

struct map {
    int a, b, gap; /* the gap is in no element of the type */
};

#define NUMBERS(name, number)                                                                      \
    static void store_##name(void *buffer, size_t i, struct element x)                             \
    {                                                                                              \
        ((number *)buffer)[i] = (number)x.a;                                                       \
    }                                                                                              \
    static struct element load_##name(const void *buffer, size_t i)                                \
    {                                                                                              \
        return (struct element){(long)((const number *)buffer)[i], 0};                             \
    }

NUMBERS(byte, unsigned char)
NUMBERS(short, short)
NUMBERS(int, int)
NUMBERS(long, long)
NUMBERS(float, float)
NUMBERS(double, double)

static void
store_located(void *buffer, size_t i, struct element x)
{
    ((struct located *)buffer)[i] = (struct located){(double)x.a, (int)x.b};
}

static struct element
load_located(const void *buffer, size_t i)
{
    const struct located *at = (const struct located *)buffer + i;
    return (struct element){(long)at->value, at->place};
}

static void
store_map(void *buffer, size_t i, struct element x)
{
    struct map *at = (struct map *)buffer + i;
    at->a = (int)x.a;
    at->b = (int)x.b;
}

static struct element
load_map(const void *buffer, size_t i)
{
    const struct map *at = (const struct map *)buffer + i;
    return at->gap == UNTOUCHED ? (struct element){at->a, at->b} : (struct element){-1, at->gap};
}

static struct element
xor_of(struct element x, struct element y)
{
    return (struct element){x.a ^ y.a, 0};
}

static struct element
sum_of(struct element x, struct element y)
{
    return (struct element){x.a + y.a, 0};
}

static struct element
largest(struct element x, struct element y)
{
    return x.a >= y.a ? x : y;
}

static struct element
smallest(struct element x, struct element y)
{
    return x.a <= y.a ? x : y;
}

static struct element
place_of_largest(struct element x, struct element y)
{
    return x.a > y.a || (x.a == y.a && x.b < y.b) ? x : y;
}

/* First x, then y. */
static struct element
composed(struct element x, struct element y)
{
    return (struct element){x.a * y.a % MODULUS, (x.b * y.a + y.b) % MODULUS};
}

/* What is in the gaps is the MPI library's, in buffers of its own. */
static void
compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const struct map *x = in, *y = inout;
    (void)type;
    for (size_t i = 0; i < (size_t)*length; i++)
        store_map(inout, i,
                  composed((struct element){x[i].a, x[i].b}, (struct element){y[i].a, y[i].b}));
}

struct operation {
    const char *name;
    MPI_Op op;
    struct element (*combine)(struct element x, struct element y);
};

enum { XOR, SUM, LARGEST, SMALLEST, PLACE, COMPOSE, OPERATIONS };
static struct operation operations[OPERATIONS];

struct type {
    const char *name;
    MPI_Datatype type;
    size_t bytes;
    void (*store)(void *buffer, size_t i, struct element x);
    struct element (*load)(const void *buffer, size_t i);
    unsigned first, nops; /* of the operations, those that it takes */
};

enum { BYTE, SHORT, INT, LONG, FLOAT, DOUBLE, LOCATED, MAP, TYPES };
static struct type types[TYPES];

static void
make_types(void)
{
    MPI_Op op;
    MPI_Datatype pair, map;
    MPI_Op_create(compose, 0, &op);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, sizeof(struct map), &map);
    MPI_Type_commit(&map);
    MPI_Type_free(&pair);
    operations[XOR] = (struct operation){"bxor", MPI_BXOR, xor_of};
    operations[SUM] = (struct operation){"sum", MPI_SUM, sum_of};
    operations[LARGEST] = (struct operation){"max", MPI_MAX, largest};
    operations[SMALLEST] = (struct operation){"min", MPI_MIN, smallest};
    operations[PLACE] = (struct operation){"maxloc", MPI_MAXLOC, place_of_largest};
    operations[COMPOSE] = (struct operation){"an op that does not commute", op, composed};
    /* Debian's MPICH compares bytes as signed ones, and Open MPI's sums stop at 255. */
    types[BYTE] = (struct type){"bytes", MPI_UNSIGNED_CHAR, 1, store_byte, load_byte, XOR, 1};
    types[SHORT] = (struct type){"shorts", MPI_SHORT, 2, store_short, load_short, XOR, 4};
    types[INT] = (struct type){"ints", MPI_INT, sizeof(int), store_int, load_int, XOR, 4};
    types[LONG] = (struct type){"longs", MPI_LONG, sizeof(long), store_long, load_long, XOR, 4};
    types[FLOAT] = (struct type){"floats", MPI_FLOAT, 4, store_float, load_float, SUM, 3};
    types[DOUBLE] = (struct type){"doubles", MPI_DOUBLE, 8, store_double, load_double, SUM, 3};
    types[LOCATED] = (struct type){"numbers with a place",
                                   MPI_DOUBLE_INT,
                                   sizeof(struct located),
                                   store_located,
                                   load_located,
                                   PLACE,
                                   1};
    types[MAP] =
        (struct type){"pairs with a gap", map, sizeof(struct map), store_map, load_map, COMPOSE, 1};
}

static void
free_types(void)
{
    MPI_Op_free(&operations[COMPOSE].op);
    MPI_Type_free(&types[MAP].type);
}

/* Small enough for floats, and for shorts of RANKS_MAX ranks. */
static struct element
contribution(int world_rank, size_t i, unsigned salt)
{
    uint64_t state = salt + ((uint64_t)i << 20) + ((uint64_t)world_rank << 52);
    const unsigned drawn = draw(&state, 1U << 16);
    return (struct element){drawn & 0xff, drawn >> 8};
}

/* --- communicators --- */

enum { WORLD, DUPLICATE, REVERSED, HALVES, INTERLEAVED, BETWEEN, COMMS };

/* All ranks are in each, or in one of several. */
struct communicator {
    struct check_comm c;
    int combined[RANKS_MAX]; /* the ranks of the world whose elements an allreduce combines, in
                                order */
    int ncombined;
    const char *choice;
};

static struct communicator comms[COMMS];
static struct check_comm world;

static void
find_combined(struct communicator *comm)
{
    MPI_Group group, all;
    int ranks[RANKS_MAX];
    if (comm == &comms[BETWEEN])
        MPI_Comm_remote_group(comm->c.comm, &group);
    else
        MPI_Comm_group(comm->c.comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_size(group, &comm->ncombined);
    for (int i = 0; i < comm->ncombined; i++)
        ranks[i] = i;
    MPI_Group_translate_ranks(group, comm->ncombined, ranks, all, comm->combined);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
}

static MPI_Comm
make_between(int is_upper)
{
    MPI_Comm half, between;
    MPI_Comm_split(world.comm, is_upper, world.rank, &half);
    MPI_Intercomm_create(half, 0, world.comm, is_upper ? 0 : world.nranks / 2, 0, &between);
    MPI_Comm_free(&half);
    return between;
}

static void
make(unsigned which)
{
    static const char *const names[] = {
        [WORLD] = "the world", [DUPLICATE] = "a duplicate",    [REVERSED] = "the reversed",
        [HALVES] = "a half",   [INTERLEAVED] = "every second", [BETWEEN] = "an intercommunicator"};
    const int is_upper = world.rank >= world.nranks / 2;
    MPI_Comm comm = MPI_COMM_WORLD;
    if (which == DUPLICATE)
        MPI_Comm_dup(world.comm, &comm);
    else if (which == REVERSED)
        MPI_Comm_split(world.comm, 0, -world.rank, &comm);
    else if (which == HALVES)
        MPI_Comm_split(world.comm, is_upper, world.rank, &comm);
    else if (which == INTERLEAVED)
        MPI_Comm_split(world.comm, world.rank % 2, world.rank, &comm);
    else if (which == BETWEEN)
        comm = make_between(is_upper);
    comms[which].c = check_describe(comm, names[which]);
    comms[which].choice = which == DUPLICATE ? comms[WORLD].choice : "auto";
    find_combined(&comms[which]);
}

static void
choose(struct communicator *comm, const char *choice)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "allreduce_algo", choice);
    MPI_Comm_set_info(comm->c.comm, info);
    MPI_Info_free(&info);
    comm->choice = choice;
}

/* --- one call --- */

struct call {
    unsigned number;
    const struct communicator *comm;
    const struct type *type;
    const struct operation *operation;
    size_t count;
    unsigned salt;
    bool in_place;
};

static unsigned seed;
static struct call call; /* the one under way */

static const char *
describe(void)
{
    static char text[256];
    snprintf(text, sizeof text, "seed %u, call %u: %s of %zu %s%s on %s, rank %d of %d, by %s",
             seed, call.number, call.operation->name, call.count, call.type->name,
             call.in_place ? " in place" : "", call.comm->c.name, call.comm->c.rank,
             call.comm->c.nranks, call.comm->choice);
    return text;
}

/* Mostly short, seldom long. */
static size_t
draw_count(uint64_t *shared)
{
    static const unsigned bounds[] = {2, 10, 10, 100, 100, 1000, 1000, 10000};
    if (one_in(shared, 200))
        return draw(shared, 200000);
    return draw(shared, bounds[draw(shared, COUNT(bounds))]);
}

/* The number of kinds of calls; 0: any. */
static unsigned kinds;

static void
draw_call(uint64_t *shared, const struct communicator *comm)
{
    const unsigned kind = kinds ? draw(shared, kinds) : 0;
    uint64_t of_kind = kind;
    uint64_t *const state = kinds ? &of_kind : shared;
    call.comm = comm;
    call.type = &types[kinds ? kind % TYPES : draw(shared, TYPES)];
    call.operation = &operations[call.type->first + draw(state, call.type->nops)];
    call.count = draw_count(state);
    call.salt = draw(shared, 1U << 20);
    call.in_place = comm != &comms[BETWEEN] && one_in(state, 2);
}

static void
fill(void *buffer)
{
    for (size_t i = 0; i < call.count; i++)
        call.type->store(buffer, i, contribution(world.rank, i, call.salt));
}

/* As it is once it was stored. */
static struct element
stored(struct element x)
{
    struct map cell[2] = {{UNTOUCHED, UNTOUCHED, UNTOUCHED}, {0}}; /* as long as the longest type */
    call.type->store(cell, 0, x);
    return call.type->load(cell, 0);
}

static struct element
result(size_t i)
{
    const struct communicator *comm = call.comm;
    struct element x = contribution(comm->combined[0], i, call.salt);
    for (int k = 1; k < comm->ncombined; k++)
        x = call.operation->combine(x, contribution(comm->combined[k], i, call.salt));
    return stored(x);
}

/* Told of once a call. */
static bool
is_wrong(const char *what, size_t i, struct element got, struct element wanted)
{
    if (got.a == wanted.a && got.b == wanted.b)
        return false;
    check_fail("%s: %s %zu is (%ld, %ld), not (%ld, %ld)", describe(), what, i, got.a, got.b,
               wanted.a, wanted.b);
    return true;
}

static void
check_result(const void *out)
{
    for (size_t i = 0; i < call.count; i++)
        if (is_wrong("result", i, call.type->load(out, i), result(i)))
            return;
}

static void
check_input(const void *in)
{
    for (size_t i = 0; i < call.count; i++)
        if (is_wrong("input", i, call.type->load(in, i),
                     stored(contribution(world.rank, i, call.salt))))
            return;
}

static void
reduce(void)
{
    const size_t bytes = call.count * call.type->bytes;
    void *in = check_buffer(bytes), *out = check_buffer(bytes);
    fill(call.in_place ? out : in);
    MPI_Allreduce(call.in_place ? MPI_IN_PLACE : in, out, (int)call.count, call.type->type,
                  call.operation->op, call.comm->c.comm);
    check_result(out);
    if (!call.in_place)
        check_input(in);
    check_guards(in, describe());
    check_guards(out, describe());
    check_release(in);
    check_release(out);
}

/* --- the program around it --- */

static struct traffic pending[TRAFFIC_KINDS];
static bool is_pending[TRAFFIC_KINDS];

static void
end_pending(unsigned kind)
{
    if (is_pending[kind])
        traffic_end(&pending[kind]);
    is_pending[kind] = false;
}

static void
end_all_pending(void)
{
    for (unsigned kind = 0; kind < TRAFFIC_KINDS; kind++)
        end_pending(kind);
}

/* Put and get share a window. */
static bool
may_begin(unsigned kind)
{
    return !is_pending[kind] && !(kind == TRAFFIC_PUT && is_pending[TRAFFIC_GET]) &&
           !(kind == TRAFFIC_GET && is_pending[TRAFFIC_PUT]);
}

/* Begins one, or has some ranks meet it before the call in which the others are already. */
static void
disturb(uint64_t *shared)
{
    const unsigned kind = draw(shared, TRAFFIC_KINDS), early = draw(shared, 4);
    const unsigned comm = draw(shared, BETWEEN), salt = draw(shared, 1U << 20);
    const int length = 1 + (int)draw(shared, one_in(shared, 8) ? 100000 : 1000);
    if (may_begin(kind)) {
        traffic_begin(&pending[kind], (enum traffic_kind)kind, &comms[comm].c, length, salt);
        is_pending[kind] = true;
    } else if (is_pending[kind] && (unsigned)world.rank % 4 == early) {
        traffic_meet(&pending[kind]);
    }
}

/* A communicator is freed and made anew, with what hung on it ended first. */
static void
renew(uint64_t *shared)
{
    const unsigned which = DUPLICATE + draw(shared, COMMS - DUPLICATE);
    end_all_pending();
    MPI_Comm_free(&comms[which].c.comm);
    make(which);
}

static unsigned renewal = 100; /* one in so many calls uses a newly created communicator */

static void
dally(uint64_t *own)
{
    const unsigned how = draw(own, 64);
    if (how < 2)
        usleep(draw(own, 300));
    else if (how < 8)
        sched_yield();
}

static void
step(uint64_t *shared, uint64_t *own, char **choices, unsigned nchoices)
{
    static unsigned turn; /* in turn, so that a short run has all of them */
    struct communicator *comm = &comms[draw(shared, COMMS)];
    if (one_in(shared, renewal))
        renew(shared);
    if (nchoices && one_in(shared, 4) && comm != &comms[BETWEEN])
        choose(comm, choices[turn++ % nchoices]);
    if (one_in(shared, 4))
        disturb(shared);
    draw_call(shared, comm);
    dally(own);
    check_watch(describe());
    reduce();
    if (one_in(shared, 4))
        end_pending(draw(shared, TRAFFIC_KINDS));
}

/* --- a long run, with samples --- */

/* The approximate number of samples in a run, evenly spaced. */
#define SAMPLES      3600
#define BARE_SAMPLES 60

static unsigned length; /* calls, or seconds */
static bool is_timed;

/* What the program does next. */
enum turn { CALL, SAMPLE, BARE_SAMPLE, END };

static enum turn
turn_by_clock(void)
{
    static double begun, sampled, bared;
    const double now = MPI_Wtime();
    begun = begun == 0.0 ? now : begun;
    if (now >= begun + length)
        return END;
    if (now >= bared + (double)length / BARE_SAMPLES) {
        bared = sampled = now;
        return BARE_SAMPLE;
    }
    if (now < sampled + (double)length / SAMPLES)
        return CALL;
    sampled = now;
    return SAMPLE;
}

/* Decides by rank 0's clock, which is asked once in 20 calls, or by the number of calls alone. */
static enum turn
next_turn(void)
{
    int turn = CALL;
    if (!is_timed && call.number == length)
        return END;
    if (!is_timed)
        return call.number % (length / 16 + 1) == 0 ? BARE_SAMPLE : CALL;
    if (call.number % 20 == 0) {
        turn = (int)turn_by_clock();
        MPI_Bcast(&turn, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return (enum turn)turn;
}

static void
begin_all(void)
{
    for (unsigned which = 0; which < COMMS; which++)
        make(which);
    traffic_open();
}

static void
end_all(void)
{
    end_all_pending();
    traffic_close();
    for (unsigned which = DUPLICATE; which < COMMS; which++)
        MPI_Comm_free(&comms[which].c.comm);
}

/* Everything under way is completed before a sample, so that samples can be compared.  For a bare
 * one all communicators are freed except the world, which forgets its decisions at a new choice. */
static void
take(enum turn turn)
{
    const bool is_bare = turn != SAMPLE;
    check_watch("threads and samples");
    if (is_bare) {
        end_all();
        concurrent_run(4);
        choose(&comms[WORLD], "auto");
        check_ping(world.comm, "the world, at a sample"); /* forgets */
    } else {
        end_all_pending();
    }
    MPI_Barrier(world.comm);
    resources_take(call.number - 1, is_bare);
    if (is_bare)
        begin_all();
    check_watch(NULL);
}

static void
run(uint64_t *shared, uint64_t *own, const char *samples, char **choices, unsigned nchoices)
{
    enum turn turn = CALL;
    if (samples) { /* of few kinds, since statistics have a row for each */
        resources_open(samples);
        renewal = 20;
        kinds = is_timed ? 64 : TYPES;
    }
    for (call.number = 1; turn != END; call.number++) {
        step(shared, own, choices, nchoices);
        turn = next_turn();
        if (samples && turn != CALL)
            take(turn);
    }
    if (samples)
        resources_close();
}

int
main(int argc, char **argv)
{
    char *unit = "";
    const char *const samples = getenv("STRESS_SAMPLES");
    if (!samples)
        check_begin(&argc, &argv);
    else if (!check_begin_threads(&argc, &argv))
        check_fail("this MPI has no MPI_THREAD_MULTIPLE");
    world = check_describe(MPI_COMM_WORLD, "the world");
    length = argc > 2 ? (unsigned)strtoul(argv[2], &unit, 10) : 0;
    is_timed = *unit == 's';
    if (length == 0 || world.nranks < 2 || world.nranks > RANKS_MAX) {
        fprintf(stderr, "usage: stress SEED CALLS|SECONDSs [CHOICE...], on 2 to %d ranks\n",
                RANKS_MAX);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    seed = (unsigned)strtoul(argv[1], NULL, 10);
    uint64_t shared = seed, own = ((uint64_t)seed << 32) + (uint64_t)world.rank;
    make_types();
    begin_all();
    run(&shared, &own, samples, argv + 3, (unsigned)argc - 3);
    check_watch(NULL);
    end_all();
    free_types();
    return check_end();
}
