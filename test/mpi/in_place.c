/* Calls whose buffers peers may read in place: in memory that fake_xpmem.c can attach.
 *
 *     in_place shown    all buffers are there
 *     in_place hidden   but not those of rank 1, in half of the calls
 *     in_place device   one call; rank 1 has memory there that the kernel hands to nobody
 *     in_place slots    the same, and nobody asks for libxpmem
 *     in_place long     two calls, of 2 MiB and of 4 KiB
 *     in_place again    of 8 KiB, or 256 KiB on more than 2 ranks: each way that is tried four
 *                       times with the same buffers, then with an IN that is that OUT
 *     in_place settled  slots are the fastest way, and buffers are asked for in one of 8 calls
 *     in_place many     at many addresses, of which no more stay attached than is said, and none
 *                       of a communicator that is freed
 */
#include <config.h> /* _GNU_SOURCE */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mpi_check.h"

#define ROOM_BYTES ((size_t)64 << 20)
#define HALF       (ROOM_BYTES / 2)
#define LENGTH_MAX ((size_t)70001)

static struct check_comm world;
static char *room; /* where the buffers are */
static int file;   /* theirs */

/* --- memory that peers can map --- */

static void
open_room(void)
{
    file = memfd_create("room", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)ROOM_BYTES) != 0)
        check_fail("no memory to share");
    room = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (room == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Frees the memory, and maps other memory at the same addresses. */
static void
renew_room(void)
{
    check_true(munmap(room, ROOM_BYTES) == 0);
    check_true(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)ROOM_BYTES) ==
               0);
    check_true(mmap(room, ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
               room);
}

/* --- calls --- */

struct pair {
    double value;
    int rank;
};

static int
value_of(int rank, size_t i, int call)
{
    return (int)((i * 31 + (size_t)rank * 17 + (size_t)call * 7) % 1000);
}

/* IN is OUT where in_place. */
static void
sum_doubles(void *in, void *out, size_t count, bool in_place, int call)
{
    double *const x = in_place ? out : in, *const y = out;
    for (size_t i = 0; i < count; i++)
        x[i] = value_of(world.rank, i, call);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, (int)count, MPI_DOUBLE, MPI_SUM, world.comm);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (int r = 0; r < world.nranks; r++)
            sum += value_of(r, i, call);
        if (y[i] != sum) {
            check_fail("sum, call %d: %g at %zu of %zu, not %g", call, y[i], i, count, sum);
            return;
        }
    }
}

static void
find_largest(void *in, void *out, size_t count, bool in_place, int call)
{
    struct pair *const x = in_place ? out : in, *const y = out;
    for (size_t i = 0; i < count; i++)
        x[i] = (struct pair){value_of(world.rank, i, call), world.rank};
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, (int)count, MPI_DOUBLE_INT, MPI_MAXLOC,
                  world.comm);
    for (size_t i = 0; i < count; i++) {
        int best = 0;
        for (int r = 1; r < world.nranks; r++)
            best = value_of(r, i, call) > value_of(best, i, call) ? r : best;
        if (y[i].rank != best || y[i].value != value_of(best, i, call)) {
            check_fail("largest, call %d: rank %d at %zu of %zu, not %d", call, y[i].rank, i, count,
                       best);
            return;
        }
    }
}

/* By an op of the program's own, of ints or of a type of its own. */
static void
sum_by_own_op(void *in, void *out, size_t count, bool in_place, int call)
{
    int *const x = in_place ? out : in, *const y = out;
    const bool has_own_type = call / 2 % 2;
    const size_t nints = has_own_type ? 2 * count : count;
    MPI_Datatype two;
    MPI_Op add;
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    MPI_Op_create(check_add_ints, 1, &add);
    for (size_t i = 0; i < nints; i++)
        x[i] = value_of(world.rank, i, call);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, (int)count, has_own_type ? two : MPI_INT, add,
                  world.comm);
    for (size_t i = 0; i < nints; i++) {
        int sum = 0;
        for (int r = 0; r < world.nranks; r++)
            sum += value_of(r, i, call);
        if (y[i] != sum) {
            check_fail("own op, call %d: %d at %zu, not %d", call, y[i], i, sum);
            break;
        }
    }
    MPI_Op_free(&add);
    MPI_Type_free(&two);
}

/* --- where the buffers are --- */

/* Calls of all lengths and ops; a part of them with memory that nobody can attach. */
static void
call_all(bool hides)
{
    static const size_t counts[] = {1, 3, 1000, LENGTH_MAX};
    char *const own = malloc(2 * HALF / 16);
    const size_t far = HALF / 16;
    int call = 0;
    if (!own)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int again = 0; again < 2; again++, renew_room())
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
            for (int in_place = 0; in_place < 2; in_place++, call++) {
                const bool is_hidden = hides && world.rank == 1 && call % 2;
                char *const in = is_hidden ? own : room + 64 * i;
                char *const out = is_hidden ? own + far : room + HALF + 64 * i;
                sum_doubles(in, out, counts[i], in_place, call);
                find_largest(in, out, counts[i], in_place, call);
                sum_by_own_op(in, out, counts[i], in_place, call);
            }
    free(own);
}

/* A number that the stand-in for libxpmem tells; -1 where it is not loaded. */
static int
ask(const char *name)
{
    void *const library = dlopen("libxpmem.so.0", RTLD_NOW | RTLD_NOLOAD);
    int (*number)(void) = NULL;
    if (library)
        *(void **)&number = dlsym(library, name);
    return number ? number() : -1;
}

/* The first ones are attached once; of many a bounded number stays, for each peer. */
static void
call_at_many_addresses(void)
{
    enum { PLACES = 100, KEPT = 16 };
    const size_t step = HALF / PLACES / 4096 * 4096;
    for (int call = 0; call < 10; call++)
        sum_doubles(room, room + HALF, 1000, false, call);
    const int attaches = ask("xpmem_test_attaches");
    for (int call = 0; call < 10; call++)
        sum_doubles(room, room + HALF, 1000, false, call);
    check_true(ask("xpmem_test_attaches") == attaches);
    for (int call = 0; call < PLACES; call++)
        sum_doubles(room + (size_t)call * step, room + HALF + (size_t)call * step, 1000, false,
                    call);
    check_true(ask("xpmem_test_attaches") > attaches);
    check_true(ask("xpmem_test_attached") <= KEPT * (world.nranks - 1));
}

/* A communicator that is freed ends what it has met. */
static void
call_on_a_copy(void)
{
    const struct check_comm all = world;
    MPI_Comm_dup(all.comm, &world.comm);
    sum_doubles(room, room + HALF, 1000, false, 0);
    MPI_Comm_free(&world.comm);
    world = all;
    check_true(ask("xpmem_test_attached") == 0);
}

static void
call_long(void)
{
    sum_doubles(room, room + HALF, ((size_t)2 << 20) / sizeof(double), false, 0);
    sum_doubles(room, room + HALF, ((size_t)4 << 10) / sizeof(double), false, 1);
}

/* Through slots, which processors with streaming stores can fill in two ways, and in place. */
#ifdef __x86_64__
enum { WAYS = 3 };
#else
enum { WAYS = 2 };
#endif

/* The first call with new buffers is followed by four through slots, and then by four of each way
 * that is tried. */
static void
call_again(void)
{
    const size_t bytes = world.nranks == 2 ? (size_t)8 << 10 : (size_t)256 << 10;
    const int apart = 5 + 4 * WAYS;
    for (int call = 0; call < 2 * apart; call++)
        sum_doubles(room, room + HALF, bytes / sizeof(double), call >= apart, call);
}

static bool
went_through_slots(void)
{
    const char *(*last)(MPI_Comm, const char **);
    const char *reason = "";
    *(void **)&last = dlsym(RTLD_DEFAULT, "allreduce_last");
    if (last)
        last(world.comm, &reason);
    return strstr(reason, "slots are faster") != NULL;
}

/* 8 KiB at a place; the program takes longer after calls in place, so slots win. */
static void
call_at(size_t place, int call)
{
    const size_t step = (size_t)16 << 10;
    sum_doubles(room + place * step, room + HALF + place * step, ((size_t)8 << 10) / sizeof(double),
                false, call);
    if (!went_through_slots())
        usleep(100000);
}

/* Once slots have won, the ranks neither meet for their buffers nor map new ones for seven calls,
 * and do both in the next one.  If two pairs of buffers take turns, they meet in each call. */
static void
call_settled(void)
{
    for (int call = 0; call < 5 + 4 * WAYS + 2; call++)
        call_at(0, call);
    check_true(went_through_slots());
    const int attaches = ask("xpmem_test_attaches");
    for (size_t place = 1; place <= 7; place++)
        call_at(place, (int)place);
    check_true(went_through_slots() && ask("xpmem_test_attaches") == attaches);
    call_at(8, 8);
    check_true(!went_through_slots() && ask("xpmem_test_attaches") > attaches);
    for (int call = 0; call < 40; call++)
        call_at(call % 2 ? 9 : 10, call);
    check_true(went_through_slots());
    call_at(11, 0);
    check_true(!went_through_slots());
}

/* The kernel's own page of the time stands for memory of a device; NULL where there is none. */
static void *
find_page_of_time(void)
{
    FILE *const maps = fopen("/proc/self/maps", "re");
    char line[256];
    void *at = NULL;
    while (maps && !at && fgets(line, sizeof line, maps))
        if (strstr(line, "[vvar]"))
            sscanf(line, "%p", &at);
    if (maps)
        fclose(maps);
    return at;
}

static void
call_with_device(void)
{
    uint64_t *const in = (uint64_t *)(void *)room, *const out = in + 1;
    void *const time = find_page_of_time();
    *in = 0;
    *out = 1;
    MPI_Allreduce(time && world.rank == 1 ? time : in, out, 1, MPI_UINT64_T, MPI_BAND, world.comm);
    check_true(*out == 0);
}

int
main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    world = check_describe(MPI_COMM_WORLD, "world");
    const char *const how = argc > 1 ? argv[1] : "shown";
    open_room();
    if (strcmp(how, "many") == 0) {
        call_on_a_copy();
        call_at_many_addresses();
    } else if (strcmp(how, "long") == 0)
        call_long();
    else if (strcmp(how, "again") == 0)
        call_again();
    else if (strcmp(how, "settled") == 0)
        call_settled();
    else if (strcmp(how, "device") == 0)
        call_with_device();
    else
        call_all(strcmp(how, "hidden") == 0);
    if (strcmp(how, "slots") == 0)
        check_true(ask("xpmem_test_attached") == -1);
    return check_end();
}
