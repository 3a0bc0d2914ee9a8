/* Communicators that are merged of two groups, or split from such a one.
 *
 * usage: worlds halves   of one world: its first rank, and the others
 *        worlds spawn    of two: the ranks, and a process that they start
 */
#include <string.h>

#include "mpi_check.h"
#include "shim/entries.h"

enum { CALLS = 5 };

static void
call(MPI_Comm comm)
{
    int nranks, all;
    const int one = 1;
    MPI_Comm_size(comm, &nranks);
    for (int i = 0; i < CALLS; i++) {
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
        check_true(all == nranks);
    }
}

/* --- a call of each symbol that the library puts in front of MPI's --- */

static struct {
    MPI_Comm inter, comm; /* merged from inter */
    int is_high;
    MPI_Info info;
    MPI_Comm copy;       /* what the call made, or MPI_COMM_NULL */
    MPI_Request request; /* what the call began, or MPI_REQUEST_NULL */
    int one, all;        /* summed */
} with;

#define SUM &with.one, &with.all, 1, MPI_INT, MPI_SUM, with.comm

#define TRY(field, call)                                                                           \
    static int try_##field(void)                                                                   \
    {                                                                                              \
        return call;                                                                               \
    }
#define TRY_BOTH(field, call) TRY(field, MPI_##call) TRY(library_##field, PMPI_##call)

/* Not of a merged communicator. */
#define LEAVE_OUT(field) TRY(field, MPI_SUCCESS)

TRY_BOTH(allreduce, Allreduce(SUM))
TRY_BOTH(iallreduce, Iallreduce(SUM, &with.request))
TRY_BOTH(comm_set_name, Comm_set_name(with.comm, "merged"))
TRY_BOTH(comm_set_info, Comm_set_info(with.comm, with.info))
TRY_BOTH(comm_dup_with_info, Comm_dup_with_info(with.comm, with.info, &with.copy))
TRY_BOTH(comm_idup, Comm_idup(with.comm, &with.copy, &with.request))
TRY_BOTH(intercomm_merge, Intercomm_merge(with.inter, with.is_high, &with.copy))
TRY(comm_free, MPI_Comm_dup(with.comm, &with.copy)) /* which try frees */
LEAVE_OUT(comm_disconnect) /* Open MPI 4.1 hangs on a merged one.  The intercommunicator is. */
LEAVE_OUT(init)
LEAVE_OUT(init_thread)
LEAVE_OUT(init_f08)
LEAVE_OUT(init_thread_f08)
LEAVE_OUT(finalize)
LEAVE_OUT(finalize_f08)
LEAVE_OUT(library_init)
LEAVE_OUT(library_init_thread)
LEAVE_OUT(library_finalize)
#if MPI_VERSION >= 4
TRY_BOTH(allreduce_c, Allreduce_c(SUM))
TRY(iallreduce_c, MPI_Iallreduce_c(SUM, &with.request))
TRY(allreduce_init, MPI_Allreduce_init(SUM, with.info, &with.request))
TRY(allreduce_init_c, MPI_Allreduce_init_c(SUM, with.info, &with.request))
TRY_BOTH(comm_idup_with_info, Comm_idup_with_info(with.comm, with.info, &with.copy, &with.request))
#else
LEAVE_OUT(allreduce_c)
LEAVE_OUT(library_allreduce_c)
LEAVE_OUT(iallreduce_c)
LEAVE_OUT(allreduce_init)
LEAVE_OUT(allreduce_init_c)
LEAVE_OUT(comm_idup_with_info)
LEAVE_OUT(library_comm_idup_with_info)
#endif

static void
try(int (*symbol)(void), const char *name)
{
    with.copy = MPI_COMM_NULL;
    with.request = MPI_REQUEST_NULL;
    check_watch(name);
    check_true(symbol() == MPI_SUCCESS);
    if (strstr(name, "_init") && with.request != MPI_REQUEST_NULL)
        MPI_Start(&with.request);
    MPI_Wait(&with.request, MPI_STATUS_IGNORE);
    if (with.request != MPI_REQUEST_NULL)
        MPI_Request_free(&with.request);
    if (with.copy != MPI_COMM_NULL) {
        call(with.copy);
        MPI_Comm_free(&with.copy);
    }
}

/* Whatever all ranks of the communicator do together, none must wait for one that does not know. */
static void
use(MPI_Comm inter, int is_high)
{
    MPI_Comm part;
    MPI_Win window;
    int rank, zero = 0, *own;
    with.inter = inter;
    with.is_high = is_high;
    with.one = 1;
    check_watch("the merged communicator");
    MPI_Intercomm_merge(inter, is_high, &with.comm);
    MPI_Comm_rank(with.comm, &rank);
    MPI_Info_create(&with.info);
    MPI_Info_set(with.info, "allreduce_algo", "ring");
#define TRY_SYMBOL(result, symbol, field, parameters, arguments) try(try_##field, #symbol);
    AR_ENTRIES(TRY_SYMBOL)
    MPI_Info_free(&with.info);
    check_watch("the merged communicator, and parts");
    MPI_Win_allocate_shared(sizeof *own, sizeof *own, MPI_INFO_NULL, with.comm, &own, &window);
    MPI_Bcast(&zero, 1, MPI_INT, 0, with.comm);
    call(with.comm);
    MPI_Win_free(&window);
    MPI_Comm_split(with.comm, rank == 1, rank, &part);
    call(part);
    MPI_Comm_free(&part);
    MPI_Comm_free(&with.comm);
    check_watch(NULL);
}

static void
run_halves(void)
{
    MPI_Comm half, inter;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 0, &inter);
    use(inter, rank > 0);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void
run_spawn(const char *program)
{
    MPI_Comm inter;
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
    use(inter, 0);
    MPI_Comm_disconnect(&inter);
}

int
main(int argc, char **argv)
{
    MPI_Comm parent;
    check_begin(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        use(parent, 1);
        MPI_Comm_disconnect(&parent);
    } else if (argc == 2 && strcmp(argv[1], "halves") == 0) {
        run_halves();
    } else {
        run_spawn(argv[0]);
    }
    return check_end();
}
