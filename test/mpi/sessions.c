/* Sessions beside threads and beside MPI_Init.
 *
 * usage: sessions WHAT, of which
 *   threads  a thread makes 100 calls of 2 ints on a communicator, and then calls of 3, while
 *            another one creates 2000 communicators one after the other, makes 1 call of 2 ints on
 *            each, and frees it; prints how many calls of 3 ints there were
 *   keys     communicators are made, called on and freed, first by one thread and then by several
 * at a time: whenever there are none, the library has no key of attributes, since this may be the
 * end of MPI, and the next key of the program's has the same number; prints how many keys the
 * library made world    3 calls of 1 int on a session's communicator of rank 0 alone, which then
 * goes; then MPI_Init, and 5 calls of 2 ints on the world
 *
 * Where MPI has no sessions, or no threads, it ends with 77.
 */
#include <config.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_check.h"

#define SKIP 77

#ifdef HAVE_PMPI_SESSION_INIT
static void
call(MPI_Comm comm, int count, int calls)
{
    int in[3] = {1, 1, 1}, out[3], nranks;
    MPI_Comm_size(comm, &nranks);
    for (int i = 0; i < calls; i++) {
        MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
        check_true(out[count - 1] == nranks);
    }
}

static MPI_Comm
create(MPI_Session session, const char *set, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, set, &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

static atomic_bool is_over;
static unsigned long made;

static void *
call_beside(void *comm)
{
    call(*(MPI_Comm *)comm, 2, 100);
    for (; !atomic_load(&is_over); made++)
        call(*(MPI_Comm *)comm, 3, 1);
    return NULL;
}

/* False where threads may not make calls at the same time. */
static bool
begin(MPI_Session *session)
{
    MPI_Info info;
    char level[64] = "";
    int found = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, session);
    MPI_Info_free(&info);
    MPI_Session_get_info(*session, &info);
    MPI_Info_get(info, "thread_level", (int)sizeof level - 1, level, &found);
    MPI_Info_free(&info);
    return strcmp(level, "MPI_THREAD_MULTIPLE") == 0;
}

static int
run_threads(void)
{
    pthread_t thread;
    MPI_Session session;
    if (!begin(&session))
        return SKIP;
    MPI_Comm beside = create(session, "mpi://SELF", "beside");
    if (pthread_create(&thread, NULL, call_beside, &beside))
        return SKIP;
    for (int i = 0; i < 2000; i++) {
        MPI_Comm comm = create(session, "mpi://SELF", "freed");
        call(comm, 2, 1);
        MPI_Comm_free(&comm);
    }
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    printf("made %lu calls\n", made);
    MPI_Comm_free(&beside);
    MPI_Session_finalize(&session);
    return check_status();
}

static atomic_int keys, keys_made; /* of the library's, since the program says MPI_ */

__attribute__((visibility("default"))) int
PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                        MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval,
                        void *extra_state)
{
    atomic_fetch_add(&keys, 1);
    atomic_fetch_add(&keys_made, 1);
    return MPI_Comm_create_keyval(comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state);
}

__attribute__((visibility("default"))) int
PMPI_Comm_free_keyval(int *comm_keyval)
{
    atomic_fetch_sub(&keys, 1);
    return MPI_Comm_free_keyval(comm_keyval);
}

/* Has an algorithm chosen for it, which copies inherit. */
static void
use_and_free(MPI_Comm comm)
{
    MPI_Comm copy;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "allreduce_algo", "ring");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    call(comm, 1, 2);
    MPI_Comm_dup(comm, &copy);
    call(copy, 1, 2);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&copy);
}

static void *
use_copies(void *comm)
{
    for (int i = 0; i < 300; i++) {
        MPI_Comm copy;
        MPI_Comm_dup(*(MPI_Comm *)comm, &copy);
        use_and_free(copy);
    }
    return NULL;
}

static int
run_keys(void)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    MPI_Comm comms[THREADS];
    MPI_Session session;
    if (!begin(&session))
        return SKIP;
    for (int i = 0; i < THREADS; i++) {
        use_and_free(create(session, "mpi://SELF", "alone"));
        check_true(atomic_load(&keys) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        comms[i] = create(session, "mpi://SELF", "of a thread");
    for (int i = 0; i < THREADS; i++)
        check_true(pthread_create(&threads[i], NULL, use_copies, &comms[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        MPI_Comm_free(&comms[i]);
    }
    check_true(atomic_load(&keys) == 0);
    printf("made %d keys\n", atomic_load(&keys_made));
    MPI_Session_finalize(&session);
    return check_status();
}

static int
run_world(int *argc, char ***argv)
{
    const char *const rank = getenv("PMI_RANK");
    MPI_Session session;
    if (!rank)
        return SKIP;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    if (strcmp(rank, "0") == 0) {
        MPI_Comm comm = create(session, "mpi://SELF", "alone");
        call(comm, 1, 3);
        MPI_Comm_free(&comm);
    }
    check_begin(argc, argv);
    call(MPI_COMM_WORLD, 2, 5);
    MPI_Session_finalize(&session);
    return check_end();
}
#else
static int
run_threads(void)
{
    return SKIP;
}

static int
run_keys(void)
{
    return SKIP;
}

static int
run_world(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return SKIP;
}
#endif

int
main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        return run_threads();
    if (argc > 1 && strcmp(argv[1], "keys") == 0)
        return run_keys();
    return run_world(&argc, &argv);
}
