/* Programs that begin and end MPI in unusual ways.
 *
 * usage: exits WHAT, of which
 *   never            no allreduce at all
 *   thread           MPI_Init_thread
 *   no_finalize      leaves by _exit after an allreduce, as crashed programs do
 *   exit             leaves by exit without MPI_Finalize, with status 3
 *   delete_callback  an allreduce inside MPI_Finalize
 *   session          MPI_Session_init alone, never MPI_Init
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int
run_no_finalize(int *argc, char ***argv)
{
    check_begin(argc, argv);
    check_ping(MPI_COMM_WORLD, "before _exit");
    fflush(NULL);
    _exit(check_status());
}

static int
run_exit(int *argc, char ***argv)
{
    check_begin(argc, argv);
    check_ping(MPI_COMM_WORLD, "before exit");
    exit(check_status() ? 1 : 3);
}

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

#ifdef HAVE_PMPI_SESSION_INIT
static int
run_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int initialized;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "allreduce", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Initialized(&initialized);
    check_true(!initialized);
    for (int i = 0; i < 5; i++)
        check_ping(comm, "of a session");
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
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
    if (strcmp(what, "no_finalize") == 0)
        return run_no_finalize(&argc, &argv);
    if (strcmp(what, "exit") == 0)
        return run_exit(&argc, &argv);
    if (strcmp(what, "delete_callback") == 0)
        return run_delete_callback(&argc, &argv);
    return run_session();
}
