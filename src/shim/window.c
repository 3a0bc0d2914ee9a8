/* MPI_Win_allocate_shared: ranks find each other's buffers in the window where they have mapped it
 * themselves.
 *
 * The window is forgotten when MPI_Win_free begins, since Open MPI unmaps its memory first and
 * calls the delete callbacks of attributes afterwards.  There is such a callback all the same, for
 * a free that bypasses our symbols: we must not go on knowing addresses at which other memory may
 * lie later.
 *
 * Fortran: Open MPI's bindings call the PMPI_ names, as do MPICH's mpi_f08 and tools that are found
 * before us. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "execute/quiet.h"
#include "execute/window_memory.h"
#include "shim/next.h"

/* --- what is known of a window --- */

static int
at_free(MPI_Win win, int key, void *value, void *extra)
{
    (void)key;
    (void)value;
    (void)extra;
    ar_window_forget(win);
    return MPI_SUCCESS;
}

/* The key lasts as long as the window. */
static bool
watch(MPI_Win win)
{
    int keyval;
    if (PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, at_free, &keyval, NULL) != MPI_SUCCESS)
        return false;
    const int error = PMPI_Win_set_attr(win, keyval, NULL);
    PMPI_Win_free_keyval(&keyval);
    return !error;
}

static void
note(MPI_Win win, uint64_t number, int nranks)
{
    struct ar_window_part *const parts = calloc((size_t)nranks, sizeof *parts);
    bool is_told = parts;
    for (int i = 0; i < nranks && is_told; i++) {
        MPI_Aint bytes = 0;
        int unit;
        is_told = PMPI_Win_shared_query(win, i, &bytes, &unit, &parts[i].base) == MPI_SUCCESS;
        parts[i].bytes = (size_t)bytes;
    }
    if (is_told && ar_window_note(win, number, parts, nranks) && !watch(win))
        ar_window_forget(win);
    free(parts);
}

/* With no_locks a rank may unmap its window while others still use theirs.  One of its threads may
 * do so while another one is in a call that reads what other ranks have in the window. */
static bool
is_freed_alone(MPI_Info info)
{
    char value[MPI_MAX_INFO_VAL] = "";
    int found = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get(info, "no_locks", (int)sizeof value - 1, value, &found);
    return found && strcmp(value, "false") != 0;
}

/* All ranks take part, also one that will not know the window: then calls with buffers in it find
 * that out, and go through slots on all ranks.  number is 0 where rank 0 has no random number. */
static void
agree(MPI_Win win, MPI_Info info, MPI_Comm comm)
{
    struct ar_quiet quiet;
    uint64_t number = 0;
    int rank, nranks;
    PMPI_Comm_size(comm, &nranks);
    PMPI_Comm_rank(comm, &rank);
    if (nranks == 1)
        return;
    if (rank == 0 && getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        number = 0;
    ar_quiet_begin(&quiet, comm);
    const int error = PMPI_Bcast(&number, (int)sizeof number, MPI_BYTE, 0, comm);
    ar_quiet_end(&quiet);
    if (!error && number != 0 && !is_freed_alone(info))
        note(win, number, nranks);
}

/* --- calls --- */

int
ar_shim_win_allocate_shared(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base,
                            MPI_Win *win)
{
    struct ar_native_mark mark;
    ar_native_begin(&mark);
    const int error = ar_next->win_allocate_shared(bytes, unit, info, comm, base, win);
    ar_native_end(&mark);
    if (!error)
        agree(*win, info, comm);
    return error;
}

int
ar_shim_win_allocate_shared_c(MPI_Aint bytes, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                              void *base, MPI_Win *win)
{
    struct ar_native_mark mark;
    ar_native_begin(&mark);
    const int error = ar_next->win_allocate_shared_c(bytes, unit, info, comm, base, win);
    ar_native_end(&mark);
    if (!error)
        agree(*win, info, comm);
    return error;
}

/* Is the window not ours to note?  A native call on its way to the library is noted by the function
 * that began it, and what the library allocates for itself is not ours. */
static bool
is_passed_on(const void *caller)
{
    return ar_native_is_running() || ar_next_is_caller(caller);
}

int
ar_shim_library_win_allocate_shared(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm,
                                    void *base, MPI_Win *win)
{
    const bool passes = is_passed_on(__builtin_return_address(0));
    const int error = ar_next->library_win_allocate_shared(bytes, unit, info, comm, base, win);
    if (!error && !passes)
        agree(*win, info, comm);
    return error;
}

int
ar_shim_library_win_allocate_shared_c(MPI_Aint bytes, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                                      void *base, MPI_Win *win)
{
    const bool passes = is_passed_on(__builtin_return_address(0));
    const int error = ar_next->library_win_allocate_shared_c(bytes, unit, info, comm, base, win);
    if (!error && !passes)
        agree(*win, info, comm);
    return error;
}

static void
forget(const MPI_Win *win)
{
    if (win)
        ar_window_forget(*win);
}

int
ar_shim_win_free(MPI_Win *win)
{
    forget(win);
    return ar_next->win_free(win);
}

int
ar_shim_library_win_free(MPI_Win *win)
{
    forget(win);
    return ar_next->library_win_free(win);
}
