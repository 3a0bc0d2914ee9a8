#include "mpi_check.h"

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GUARD    64
#define FILL     0xA5
#define GUARD_BY 0x5A

static int world_rank = -1;
static int failures;

/* MPICH over UCX never offers the core to others while it waits, so where ranks outnumber cores
 * each message of its own takes as long as the scheduler lets the waiting go on.  UCX is asked
 * through us, as this program comes before its libraries. */
static bool is_crowded;
unsigned ucp_worker_progress(void *worker) __attribute__((visibility("default")));

unsigned
ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    if (!progress)
        *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned events = progress(worker);
    if (events == 0 && is_crowded)
        sched_yield();
    return events;
}

static void
find_rank(void)
{
    int nranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    is_crowded = nranks > sysconf(_SC_NPROCESSORS_ONLN);
}

void
check_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    find_rank();
}

bool
check_begin_threads(int *argc, char ***argv)
{
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    find_rank();
    return provided == MPI_THREAD_MULTIPLE;
}

int
check_end(void)
{
    MPI_Finalize();
    return check_status();
}

int
check_status(void)
{
    return failures > 0;
}

void
check_fail(const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "rank %d: %s\n", world_rank, text);
    if (__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED) >= 20)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- what a rank is at; written before, since the handler may not make a text --- */

static char watched[512];
static size_t watched_length;

static void
hangs(int signal)
{
    (void)signal;
    if (write(STDERR_FILENO, watched, watched_length) >= 0)
        _exit(1);
    _exit(2);
}

void
check_watch(const char *what)
{
    const char *const told = getenv("CHECK_PATIENCE");
    const unsigned patience = told ? (unsigned)strtoul(told, NULL, 10) : 60;
    int length;
    alarm(0);
    if (!what)
        return;
    length = snprintf(watched, sizeof watched, "rank %d: %s: still at it after %u s\n", world_rank,
                      what, patience);
    watched_length = length < (int)sizeof watched ? (size_t)length : sizeof watched;
    signal(SIGALRM, hangs);
    alarm(patience);
}

struct check_comm
check_describe(MPI_Comm comm, const char *name)
{
    struct check_comm c = {.comm = comm, .name = name};
    MPI_Comm_rank(comm, &c.rank);
    MPI_Comm_size(comm, &c.nranks);
    return c;
}

/* Laid out as: bytes, guard, buffer, guard. */
void *
check_buffer(size_t bytes)
{
    unsigned char *all = malloc(bytes + 3 * (size_t)GUARD);
    if (!all) {
        check_fail("no memory for %zu bytes", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
        abort(); /* not reached */
    }
    memcpy(all, &bytes, sizeof bytes);
    memset(all + GUARD, GUARD_BY, GUARD);
    memset(all + (size_t)2 * GUARD, FILL, bytes);
    memset(all + (size_t)2 * GUARD + bytes, GUARD_BY, GUARD);
    return all + (size_t)2 * GUARD;
}

static bool
is_guard(const unsigned char *guard)
{
    for (int i = 0; i < GUARD; i++)
        if (guard[i] != GUARD_BY)
            return false;
    return true;
}

void
check_guards(const void *buffer, const char *what)
{
    const unsigned char *at = buffer;
    size_t bytes;
    memcpy(&bytes, at - (size_t)2 * GUARD, sizeof bytes);
    if (!is_guard(at - GUARD))
        check_fail("%s: bytes before the buffer were written", what);
    if (!is_guard(at + bytes))
        check_fail("%s: bytes behind the buffer were written", what);
}

void
check_release(void *buffer)
{
    free((unsigned char *)buffer - (size_t)2 * GUARD);
}

/* FNV-1a. */
static uint64_t
hash(const void *buffer, size_t bytes)
{
    const unsigned char *at = buffer;
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ at[i]) * UINT64_C(1099511628211);
    return h;
}

void
check_same_bits(const struct check_comm *c, const void *buffer, size_t bytes, const char *what)
{
    uint64_t mine = hash(buffer, bytes);
    uint64_t *all = calloc((size_t)c->nranks, sizeof *all);
    MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, 0, c->comm);
    for (int i = 0; c->rank == 0 && i < c->nranks; i++)
        if (all[i] != mine)
            check_fail("%s: %s: the bits of rank %d are not those of rank 0", c->name, what, i);
    free(all);
}

/* Fails unless all ranks give the same value of error. */
static void
check_alike(MPI_Comm comm, int error, int count, const char *what)
{
    int failed[2] = {error != MPI_SUCCESS, error == MPI_SUCCESS};
    PMPI_Allreduce(MPI_IN_PLACE, failed, 2, MPI_INT, MPI_LOR, comm);
    if (failed[0] && failed[1])
        check_fail("%s: %d ints: error class %d here, and not the same elsewhere", what, count,
                   error);
}

bool
check_call_alike(MPI_Comm comm, int count, bool in_place, const char *what)
{
    static int in[CHECK_ALIKE_MOST], out[CHECK_ALIKE_MOST];
    const struct check_comm c = check_describe(comm, what);
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        in[i] = c.rank + i % 1000;
        out[i] = in_place ? in[i] : -1;
    }
    const int error =
        MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, comm);
    check_alike(comm, error, count, what);
    for (int i = 0; i < count && !error; i++)
        wrong += out[i] != c.nranks * (c.nranks - 1) / 2 + c.nranks * (i % 1000);
    if (wrong)
        check_fail("%s: %d ints: %d are wrong", what, count, wrong);
    return error != MPI_SUCCESS;
}

void
check_add_ints(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int size;
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *count * (size / (int)sizeof(int)); i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

void
check_ping(MPI_Comm comm, const char *what)
{
    struct check_comm c = check_describe(comm, what);
    int mine = c.rank + 1, sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != c.nranks * (c.nranks + 1) / 2)
        check_fail("%s: the sum over %d ranks is %d", what, c.nranks, sum);
}
