/* Calls that are easy to count.
 *
 * usage: statistics WHAT, of which
 *   all      5 calls of 1 double on the world, 3 of 100 ints on halves of it, 1 without
 *            elements, 2 nonblocking ones and a persistent one
 *   runs     on each rank 7 runs of 24 calls in all, 20 of 8 bytes and 4 of 16, which end in all
 *            the ways there are
 *   elements of 1000 vectors of 50 doubles each element by itself, and then all at once
 *   late     70 calls; before each, all meet, and the last rank sleeps for 30 milliseconds
 *   halves   3 calls on halves of the world, none on all of it
 *   served   rank 0 makes none; the others make 2 on a communicator of theirs, 2 on one in which
 *            they have the other order, and each of them 2 alone
 *   passing  a nonblocking call, nothing else
 *   hang FILE
 *            5 calls; the world gets a name; rank 0, which tells its process, waits in one more for
 *            the others, which first wait for that file, 60 seconds at most
 *   derived  calls with types and ops that are not predefined
 *   sizes    of 64 to 83 ints (256 to 332 bytes) 1 to 20 calls, those of most first, and 7 of 50
 *   places   in turn 3 calls in place and 4 that are not, alike otherwise
 *   named    calls on copies of the world: 1 on "first", 2 on one that gets its name afterwards and
 *            is freed, 3 on one that gets its name afterwards and is not, 4 on one without a name,
 *            and 5 nonblocking ones on "first"
 *   wide     prints wide characters on stderr, and then makes a call
 */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "mpi_check.h"

static struct check_comm world;

/* A call in a loop, and in a function that is called twice, is one place in the program: compilers
 * neither unroll such a loop nor inline such a function. */
#define ONE_PLACE __attribute__((noinline))

static ONE_PLACE void
call_on_world(int calls)
{
    double in = 1, out = 0;
    for (volatile int i = 0; i < calls; i++)
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check_true(out == world.nranks);
}

static void
call_at_places(void)
{
    double in = 1, out = 1;
    for (int i = 0; i < 7; i++)
        MPI_Allreduce(i % 2 ? MPI_IN_PLACE : &in, &out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    check_true(out == 1);
}

/* A row tells 16 sizes apart: those with 5 to 20 calls. */
static void
call_sizes(void)
{
    int in[83] = {1}, out[83];
    for (int i = 19; i >= 0; i--)
        for (int k = 0; k <= i; k++)
            MPI_Allreduce(in, out, 64 + i, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int k = 0; k < 7; k++)
        MPI_Allreduce(in, out, 50, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check_true(out[0] == world.nranks);
}

static void
call_on_halves(void)
{
    MPI_Comm half;
    int in[100] = {0}, out[100];
    MPI_Comm_split(MPI_COMM_WORLD, world.rank % 2, 0, &half);
    for (volatile int i = 0; i < 3; i++)
        MPI_Allreduce(in, out, 100, MPI_INT, MPI_MAX, half);
    MPI_Comm_free(&half);
}

static void
call_served(void)
{
    const int side = world.rank == 0 ? MPI_UNDEFINED : 0;
    int in = 1, out = 0;
    for (int order = 1; order >= -1; order -= 2) {
        MPI_Comm served;
        MPI_Comm_split(MPI_COMM_WORLD, side, order * world.rank, &served);
        if (served == MPI_COMM_NULL)
            continue;
        for (volatile int i = 0; i < 2; i++)
            MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, served);
        check_true(out == world.nranks - 1);
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
        MPI_Comm_free(&served);
    }
}

static ONE_PLACE void
call_nonblocking(void)
{
    float in = 1, out = 0;
    MPI_Request request;
    MPI_Iallreduce(&in, &out, 1, MPI_FLOAT, MPI_MIN, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_true(out == 1);
}

static void
call_persistent(void)
{
#ifdef HAVE_PMPI_ALLREDUCE_INIT
    float in = 1, out = 0;
    MPI_Request request;
    MPI_Allreduce_init(&in, &out, 1, MPI_FLOAT, MPI_MIN, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    check_true(out == 1);
#endif
}

static void
call_all(void)
{
    MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    call_on_world(5);
    call_on_halves();
    call_nonblocking();
    call_nonblocking();
    call_persistent();
}

enum { MOST = 50 };
static double vector[MOST], sums[MOST];

static ONE_PLACE void
call_in_a_row(int calls, int count, MPI_Op op, MPI_Comm comm)
{
    for (volatile int i = 0; i < calls; i++)
        MPI_Allreduce(vector, sums, count, MPI_DOUBLE, op, comm);
}

static void
call_runs(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int i = 0; i < 3; i++) { /* a run is not cut by set-up */
        MPI_Allreduce(vector, sums, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(vector, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(vector, sums, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(vector, sums, 1, MPI_DOUBLE, MPI_SUM, copy);
    }
    call_in_a_row(6, 1, MPI_SUM, MPI_COMM_WORLD);
    call_in_a_row(4, 2, MPI_SUM, MPI_COMM_WORLD);
    call_in_a_row(3, 1, MPI_MAX, MPI_COMM_WORLD);
    call_in_a_row(5, 1, MPI_SUM, copy);
    call_in_a_row(1, 1, MPI_SUM, MPI_COMM_WORLD);
    call_in_a_row(2, 1, MPI_SUM, copy);
    call_nonblocking();
    call_in_a_row(2, 1, MPI_SUM, copy);
    nanosleep(&pause, NULL);
    call_in_a_row(2, 1, MPI_SUM, copy);
    nanosleep(&pause, NULL);
    call_in_a_row(1, 1, MPI_SUM, copy);
    MPI_Comm_free(&copy);
}

static void
call_elements(void)
{
    for (int i = 0; i < 1000; i++) {
        call_in_a_row(MOST, 1, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(vector, sums, MOST, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* The others are at their call by then, even where they had to wait for a core. */
static void
call_late(void)
{
    for (int i = 0; i < 70; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (world.rank == world.nranks - 1)
            nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
        call_on_world(1);
    }
}

static void
hang(const char *file)
{
    call_on_world(5);
    MPI_Comm_set_name(MPI_COMM_WORLD, "the new name");
    if (world.rank == 0) {
        printf("waits: %ld\n", (long)getpid());
        fflush(stdout);
    } else {
        for (int i = 0; i < 6000 && access(file, F_OK) != 0; i++)
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    call_on_world(1);
}

/* The handle of a freed type may come again, for another one. */
static void
call_derived(void)
{
    MPI_Op op;
    int in[8] = {1, 1, 1, 1, 1, 1, 1, 1}, out[8];
    MPI_Op_create(check_add_ints, 1, &op);
    for (int i = 0; i < 4; i++) {
        MPI_Datatype type;
        MPI_Type_contiguous(2, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Allreduce(in, out, i + 1, type, op, MPI_COMM_WORLD);
        check_true(out[2 * i + 1] == world.nranks);
        MPI_Type_free(&type);
    }
    MPI_Op_free(&op);
}

static void
call_copy(MPI_Comm *copy, const char *before, const char *after, int calls)
{
    float in = 1, out = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, copy);
    if (before)
        MPI_Comm_set_name(*copy, before);
    for (int i = 0; i < calls; i++)
        MPI_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, *copy);
    check_true(out == (float)world.nranks);
    if (after)
        MPI_Comm_set_name(*copy, after);
}

static void
call_named(void)
{
    MPI_Comm first, second, third, fourth;
    float in = 1, out = 0;
    MPI_Request request;
    call_copy(&first, "first", NULL, 1);
    call_copy(&second, NULL, "the \"second\" <b>", 2);
    MPI_Comm_free(&second);
    call_copy(&third, "old", "dritte St\u00fcfe", 3);
    call_copy(&fourth, NULL, NULL, 4);
    for (int i = 0; i < 5; i++) {
        MPI_Iallreduce(&in, &out, 1, MPI_FLOAT, MPI_MIN, first, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&first);
    MPI_Comm_free(&fourth);
}

/* More names than a process tells apart, which the ranks see in different orders: of two ranks the
 * one has the first 64 of these, the other those from 40 on and the first 24. */
static void
call_many_names(void)
{
    enum { COMMS = 80 };
    MPI_Comm copies[COMMS];
    char name[16];
    for (int i = 0; i < COMMS; i++) {
        snprintf(name, sizeof name, "number %d", (i + 40 * world.rank) % COMMS);
        call_copy(&copies[i], name, NULL, 1);
    }
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&copies[i]);
}

int
main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    check_begin(&argc, &argv);
    world = check_describe(MPI_COMM_WORLD, "world");
    if (strcmp(what, "all") == 0)
        call_all();
    else if (strcmp(what, "runs") == 0)
        call_runs();
    else if (strcmp(what, "elements") == 0)
        call_elements();
    else if (strcmp(what, "late") == 0)
        call_late();
    else if (strcmp(what, "halves") == 0)
        call_on_halves();
    else if (strcmp(what, "served") == 0)
        call_served();
    else if (strcmp(what, "passing") == 0)
        call_nonblocking();
    else if (strcmp(what, "hang") == 0)
        hang(argc > 2 ? argv[2] : "");
    else if (strcmp(what, "derived") == 0)
        call_derived();
    else if (strcmp(what, "sizes") == 0)
        call_sizes();
    else if (strcmp(what, "places") == 0)
        call_at_places();
    else if (strcmp(what, "named") == 0)
        call_named();
    else if (strcmp(what, "names") == 0)
        call_many_names();
    else if (strcmp(what, "wide") == 0) {
        fwprintf(stderr, L"wide\n");
        call_on_world(1);
    } else
        check_fail("no such program: '%s'", what);
    return check_end();
}
