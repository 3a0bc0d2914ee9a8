/* Communicators: thousands made and freed leave nothing behind; leaked ones do
 * not harm MPI_Finalize; where the native call runs, ours does; attributes and
 * error handlers of the user's are left alone.
 *
 * usage: comms [churn | shuffle | many | semantics]...   many prints how many could be made
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_check.h"

/* Resident memory in KiB. */
static long
resident(void)
{
    char line[128];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    if (status)
        fclose(status);
    return kib;
}

static int
entries(const char *folder)
{
    int n = 0;
    DIR *dir = opendir(folder);
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static void
make_and_free(const struct check_comm *world, int times)
{
    for (int i = 0; i < times; i++) {
        MPI_Comm comm;
        double in[100], out[100];
        MPI_Comm_dup(world->comm, &comm);
        for (int k = 0; k < 100; k++)
            in[k] = k + world->rank;
        MPI_Allreduce(in, out, 100, MPI_DOUBLE, MPI_SUM, comm);
        check_true(out[99] == 99.0 * world->nranks + world->nranks * (world->nranks - 1) / 2.0);
        MPI_Comm_free(&comm);
    }
}

static void
check_churn(const struct check_comm *world)
{
    make_and_free(world, 200);
    const long before = resident();
    const int descriptors = entries("/proc/self/fd");
    make_and_free(world, 1200);
    const long growth = resident() - before;
    if (growth > 2048)
        check_fail("1200 communicators, made and freed, left %ld KiB", growth);
    check_true(entries("/proc/self/fd") <= descriptors);
}

/* ---- communicators of all sizes that come and go, so that memory is used again ---- */

enum { SHUFFLED = 12, LONGEST = 20000 };

/* The same numbers on all ranks. */
static unsigned
next_number(unsigned *state, unsigned bound)
{
    *state = *state * 1664525U + 1013904223U;
    return (*state >> 8) % bound;
}

/* Some ranks of the world in some order; MPI_COMM_NULL on the others. */
static MPI_Comm
make_some(const struct check_comm *world, unsigned *state)
{
    MPI_Comm comm;
    const unsigned colours = 1 + next_number(state, 2), turn = next_number(state, 7);
    const unsigned colour = (next_number(state, 3) + (unsigned)world->rank) % (colours + 1);
    MPI_Comm_split(world->comm, colour < colours ? (int)colour : MPI_UNDEFINED,
                   (int)((turn * (unsigned)world->rank) % 5), &comm);
    return comm;
}

static void
reduce_some(MPI_Comm comm, size_t count, unsigned salt)
{
    static int in[LONGEST], out[LONGEST];
    int rank, nranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &nranks);
    for (size_t i = 0; i < count; i++)
        in[i] = (int)(i + salt) * (rank + 1);
    MPI_Allreduce(in, out, (int)count, MPI_INT, MPI_SUM, comm);
    for (size_t i = 0; i < count; i++)
        check_true(out[i] == (int)(i + salt) * (nranks * (nranks + 1) / 2));
}

/* Makes a communicator, or uses it and perhaps frees it; *is_made is alike on
 * all ranks, in it or not. */
static void
step_on(const struct check_comm *world, MPI_Comm *comm, bool *is_made, unsigned *state)
{
    const size_t count = 1 + next_number(state, next_number(state, 4) ? 100 : LONGEST);
    const bool goes = next_number(state, 3) == 0;
    if (!*is_made) {
        *comm = make_some(world, state);
        *is_made = true;
        return;
    }
    if (*comm != MPI_COMM_NULL)
        reduce_some(*comm, count, *state % 1000);
    if (*comm != MPI_COMM_NULL && goes)
        MPI_Comm_free(comm);
    *is_made = !goes;
}

static void
check_shuffle(const struct check_comm *world)
{
    MPI_Comm comms[SHUFFLED];
    bool is_made[SHUFFLED] = {false};
    unsigned state = 7;
    for (int step = 0; step < 400; step++) {
        const unsigned i = next_number(&state, SHUFFLED);
        step_on(world, &comms[i], &is_made[i], &state);
    }
    for (int i = 0; i < SHUFFLED; i++)
        if (is_made[i] && comms[i] != MPI_COMM_NULL)
            MPI_Comm_free(&comms[i]);
}

/* As many live communicators as the MPI library gives; each takes an
 * allreduce, as natively, and so does the world afterwards.  They are leaked. */
static void
check_many(const struct check_comm *world)
{
    enum { MOST = 2100 };
    static MPI_Comm comms[MOST];
    int made = 0;
    MPI_Comm_set_errhandler(world->comm, MPI_ERRORS_RETURN);
    while (made < MOST && MPI_Comm_dup(world->comm, &comms[made]) == MPI_SUCCESS) {
        check_ping(comms[made], "one of many");
        made++;
    }
    if (world->rank == 0)
        printf("made %d\n", made);
    check_ping(world->comm, "world, besides many");
    for (int i = 0; i < made; i += 97)
        check_ping(comms[i], "one of many, again");
    check_ping(world->comm, "world, after many");
}

/* ---- intercommunicators ---- */

static void
check_intercommunicator(const struct check_comm *world)
{
    MPI_Comm half, inter;
    const int upper = world->rank >= world->nranks / 2;
    MPI_Comm_split(world->comm, upper, world->rank, &half);
    MPI_Intercomm_create(half, 0, world->comm, upper ? 0 : world->nranks / 2, 9, &inter);
    for (int turn = 0; turn < 3; turn++) {
        int others, mine = upper ? 1 : 100, sum = -1;
        MPI_Comm_remote_size(inter, &others);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter);
        check_true(sum == others * (upper ? 100 : 1));
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* ---- attributes ---- */

static int copies, deletions;

static int
count_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    *(void **)out = in;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int
count_deletion(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void
check_attributes(const struct check_comm *world)
{
    MPI_Comm comm, copy;
    int keyval;
    MPI_Comm_create_keyval(count_copy, count_deletion, &keyval, NULL);
    MPI_Comm_dup(world->comm, &comm);
    MPI_Comm_set_attr(comm, keyval, &copies);
    check_ping(comm, "with an attribute");
    check_true(copies == 0 && deletions == 0);
    MPI_Comm_dup(comm, &copy);
    check_true(copies == 1);
    check_ping(copy, "copy with an attribute");
    check_true(copies == 1 && deletions == 0);
    MPI_Comm_free(&copy);
    check_true(deletions == 1);
    check_ping(comm, "with an attribute, again");
    MPI_Comm_free(&comm);
    check_true(copies == 1 && deletions == 2);
    MPI_Comm_free_keyval(&keyval);
}

/* ---- info, names, error handlers ---- */

static void
check_info(const struct check_comm *world)
{
    MPI_Comm copy;
    MPI_Info info;
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_dup_with_info(world->comm, info, &copy);
    MPI_Comm_set_name(copy, "of the user");
    check_ping(copy, "made with info");
    MPI_Comm_get_name(copy, name, &length);
    check_true(strcmp(name, "of the user") == 0);
    MPI_Comm_free(&copy);
    MPI_Info_free(&info);
}

static int handler_calls;

static void
count_error(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
    handler_calls++;
}

static void
check_handler_is_kept(const struct check_comm *world)
{
    MPI_Comm copy;
    MPI_Errhandler mine, now;
    MPI_Comm_dup(world->comm, &copy);
    MPI_Comm_create_errhandler(count_error, &mine);
    MPI_Comm_set_errhandler(copy, mine);
    check_ping(copy, "with an error handler");
    MPI_Comm_get_errhandler(copy, &now);
    check_true(now == mine && handler_calls == 0);
    MPI_Errhandler_free(&now);
    MPI_Errhandler_free(&mine);
    MPI_Comm_free(&copy);
}

static void
check_what(const char *what)
{
    const struct check_comm world = check_describe(MPI_COMM_WORLD, "world");
    if (strcmp(what, "churn") == 0) {
        check_churn(&world);
    } else if (strcmp(what, "shuffle") == 0) {
        check_shuffle(&world);
    } else if (strcmp(what, "many") == 0) {
        check_many(&world);
    } else {
        check_intercommunicator(&world);
        check_attributes(&world);
        check_info(&world);
        check_handler_is_kept(&world);
    }
}

int
main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int i = 1; i < argc; i++)
        check_what(argv[i]);
    if (argc == 1)
        check_what("semantics");
    return check_end();
}
