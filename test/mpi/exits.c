/* Programs that begin and end MPI in unusual ways.
 *
 * usage: exits WHAT, of which
 *   never            no allreduce at all
 *   thread           MPI_Init_thread
 *   exit, _exit, abort, quick_exit, signal, mpi_abort
 *                    leaves in that way after an allreduce, without MPI_Finalize; with
 *                    "one" after it only rank 1 does
 *   exit_beside      exit while another thread is in calls
 *   exit_waiting     exit while another thread waits in a call for rank 1, which does not come
 *   delete_callback  an allreduce inside MPI_Finalize
 *   first_at_end     the same, which is rank 0's first one
 *   session          MPI_Session_init alone, never MPI_Init
 */
#include <config.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mpi_check.h"

#define SKIP 77

static int
run_never(int *argc, char ***argv)
{
    check_begin(argc, argv);
    return check_end();
}

static int
run_thread(int *argc, char ***argv)
{
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &provided);
    check_ping(MPI_COMM_WORLD, "after MPI_Init_thread");
    return check_end();
}

static void *
call_for_ever(void *unused)
{
    for (int one = 1, all;;)
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    return unused;
}

static int
run_exit_beside(int *argc, char ***argv)
{
    pthread_t thread;
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE || pthread_create(&thread, NULL, call_for_ever, NULL))
        return SKIP;
    usleep(20000);
    exit(check_status());
}

static void *
wait_for_ever(void *unused)
{
    int one = 1, all;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return unused;
}

static int
run_exit_waiting(int *argc, char ***argv)
{
    pthread_t thread;
    int provided, rank;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_ping(MPI_COMM_WORLD, "first");
    check_ping(MPI_COMM_WORLD, "second");
    if (provided < MPI_THREAD_MULTIPLE ||
        (rank == 0 && pthread_create(&thread, NULL, wait_for_ever, NULL)))
        return SKIP;
    usleep(rank == 0 ? 50000 : 2000000);
    exit(check_status());
}

/* --- ends without MPI_Finalize --- */

static void
end_by_exit(void)
{
    exit(check_status() ? 1 : 3);
}

static void
end_by__exit(void)
{
    _exit(check_status());
}

static void
end_by_quick_exit(void)
{
    quick_exit(4);
}

static void
end_by_signal(void)
{
    raise(SIGUSR2);
}

static void
end_by_mpi_abort(void)
{
    MPI_Abort(MPI_COMM_WORLD, 5);
}

static const struct {
    const char *name;
    void (*end)(void);
} ends[] = {{"exit", end_by_exit},     {"_exit", end_by__exit},
            {"abort", abort},          {"quick_exit", end_by_quick_exit},
            {"signal", end_by_signal}, {"mpi_abort", end_by_mpi_abort}};

/* The other ranks wait for this one, natively as well, until their launcher ends them. */
static int
run_end(int *argc, char ***argv, void (*end)(void))
{
    int rank;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* no core file */
    const bool is_one = *argc > 2 && strcmp((*argv)[2], "one") == 0;
    check_begin(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_ping(MPI_COMM_WORLD, "before the end");
    fflush(NULL);
    if (!is_one || rank == 1)
        end();
    check_ping(MPI_COMM_WORLD, "with one that has left");
    return check_end();
}

/* --- others --- */

/* Runs before or after ours: the order is that of their being set. */
static int
call_at_finalize(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    check_ping(MPI_COMM_WORLD, value);
    return MPI_SUCCESS;
}

static void
call_at_end(char *what)
{
    int keyval;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_at_finalize, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, what);
    MPI_Comm_free_keyval(&keyval);
}

static int
run_delete_callback(int *argc, char ***argv)
{
    static char before[] = "in a callback set before the first call";
    static char after[] = "in a callback set after the first call";
    check_begin(argc, argv);
    call_at_end(before);
    check_ping(MPI_COMM_WORLD, "before MPI_Finalize");
    call_at_end(after);
    return check_end();
}

static int
run_first_at_end(int *argc, char ***argv)
{
    static char what[] = "in a callback, rank 0's first one";
    int rank;
    check_begin(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0)
        check_ping(MPI_COMM_SELF, "alone");
    call_at_end(what);
    return check_end();
}

#ifdef HAVE_PMPI_SESSION_INIT
/* How much shared memory without a name this process has mapped, in pieces. */
static int
count_shared(void)
{
    char line[512];
    int n = 0;
    FILE *const maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        n += strstr(line, "/memfd:") != NULL;
    check_true(maps && fclose(maps) == 0);
    return n;
}

static int
run_session(void)
{
    const int shared = count_shared();
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int initialized;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Initialized(&initialized);
    check_true(!initialized);
    for (int i = 0; i < 5; i++) {
        MPI_Comm_create_from_group(group, "allreduce", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        check_ping(comm, "of a session");
        MPI_Comm_free(&comm);
    }
    check_true(count_shared() == shared);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return check_status();
}
#else
static int
run_session(void)
{
    return SKIP;
}
#endif

int
main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "never";
    if (strcmp(what, "never") == 0)
        return run_never(&argc, &argv);
    if (strcmp(what, "thread") == 0)
        return run_thread(&argc, &argv);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(what, ends[i].name) == 0)
            return run_end(&argc, &argv, ends[i].end);
    if (strcmp(what, "exit_beside") == 0)
        return run_exit_beside(&argc, &argv);
    if (strcmp(what, "exit_waiting") == 0)
        return run_exit_waiting(&argc, &argv);
    if (strcmp(what, "delete_callback") == 0)
        return run_delete_callback(&argc, &argv);
    if (strcmp(what, "first_at_end") == 0)
        return run_first_at_end(&argc, &argv);
    return run_session();
}
