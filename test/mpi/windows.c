/* Calls whose buffers are in windows of MPI_Win_allocate_shared.
 *
 *     windows shared     all ranks have mapped all of them: they are read in place
 *     windows apart      not all have: through slots
 *     windows late       first there is no window, then one, then also a block of MPI_Alloc_mem
 *     windows threads    one thread makes calls while another allocates and frees windows
 */
#include <config.h> /* _GNU_SOURCE */

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mpi_check.h"

/* Of a buffer, in elements. */
#define LENGTH ((size_t)5000)

static struct check_comm world;

/* --- windows --- */

struct window {
    MPI_Win win;
    int64_t *part[2]; /* of the first rank, and this one's */
};

/* Each rank has room for n elements, which may differ; key: an info key that is true, or NULL. */
static struct window
allocate(MPI_Comm comm, size_t n, const char *key)
{
    struct window w;
    MPI_Aint bytes;
    int unit;
    MPI_Info info = MPI_INFO_NULL;
    if (key) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, "true");
    }
    MPI_Win_allocate_shared((MPI_Aint)(n * sizeof(int64_t)), (int)sizeof(int64_t), info, comm,
                            &w.part[1], &w.win);
    if (key)
        MPI_Info_free(&info);
    MPI_Win_shared_query(w.win, 0, &bytes, &unit, &w.part[0]);
    return w;
}

/* --- calls --- */

static int64_t
value_of(int rank, size_t i, int call)
{
    return (int64_t)(i * 31 + (size_t)rank * 17 + (size_t)call * 7);
}

/* Sums LENGTH elements, or fewer, from in to out, or in out alone where in is NULL. */
static void
sum(const struct check_comm *c, int64_t *in, int64_t *out, size_t n, const char *what)
{
    static __thread int call;
    int64_t *const x = in ? in : out;
    call++;
    for (size_t i = 0; i < n; i++)
        x[i] = value_of(c->rank, i, call);
    MPI_Allreduce(in ? in : MPI_IN_PLACE, out, (int)n, MPI_INT64_T, MPI_SUM, c->comm);
    for (size_t i = 0; i < n; i++) {
        int64_t expected = 0;
        for (int rank = 0; rank < c->nranks; rank++)
            expected += value_of(rank, i, call);
        if (out[i] != expected) {
            check_fail("%s, call %d: %lld at %zu, not %lld", what, call, (long long)out[i], i,
                       (long long)expected);
            return;
        }
    }
}

/* Three times with the same buffers in each way: what the ranks agreed on is used again. */
static void
sum_again(const struct check_comm *c, int64_t *in, int64_t *out, const char *what)
{
    for (int again = 0; again < 3; again++) {
        sum(c, in, out, LENGTH, what);
        sum(c, NULL, out, LENGTH, what);
        sum(c, in, out, 1, what);
    }
}

/* --- all ranks have mapped all of them --- */

static void
sum_in_own_parts(const char *key)
{
    struct window w = allocate(world.comm, 2 * LENGTH + (size_t)world.rank, key);
    sum_again(&world, w.part[1], w.part[1] + LENGTH, key ? key : "own parts");
    MPI_Win_free(&w.win);
}

static void
sum_in_one_part(void)
{
    const size_t n = (size_t)world.nranks, first = 2 * LENGTH * (size_t)world.rank;
    struct window w = allocate(world.comm, world.rank == 0 ? 2 * LENGTH * n : 0, NULL);
    sum_again(&world, w.part[0] + first, w.part[0] + first + LENGTH, "one part");
    MPI_Win_free(&w.win);
}

/* The first part ends in a buffer of rank 0; those of other ranks but the last have no bytes. */
static void
sum_across_parts(void)
{
    const size_t n = (size_t)world.nranks, first = 2 * LENGTH * (size_t)world.rank;
    const size_t here = world.rank == 0                  ? LENGTH / 2
                        : world.rank == world.nranks - 1 ? 2 * LENGTH * n - LENGTH / 2
                                                         : 0;
    struct window w = allocate(world.comm, here, NULL);
    sum_again(&world, w.part[0] + first, w.part[0] + first + LENGTH, "across parts");
    MPI_Win_free(&w.win);
}

/* Ranks of a communicator that are not those of the windows, nor in their order. */
static void
sum_on_a_part_of_the_ranks(const struct window *from, const struct window *to)
{
    MPI_Comm part;
    MPI_Comm_split(world.comm, world.rank == world.nranks - 1, -world.rank, &part);
    const struct check_comm c = check_describe(part, "part");
    sum_again(&c, from->part[1], to->part[1], "a part of the ranks");
    MPI_Comm_free(&part);
}

static void
sum_between_windows(void)
{
    struct window w[3];
    for (int i = 0; i < 3; i++)
        w[i] = allocate(world.comm, LENGTH, NULL);
    sum_again(&world, w[0].part[1], w[1].part[1], "between windows");
    MPI_Win_free(&w[1].win);
    sum_again(&world, w[0].part[1], w[2].part[1], "after one is freed");
    sum_on_a_part_of_the_ranks(&w[0], &w[2]);
    MPI_Win_free(&w[2].win);
    MPI_Win_free(&w[0].win);
}

/* Mostly at the same address; what the parts' order is to a rank changes. */
static void
sum_in_new_windows(void)
{
    MPI_Comm reversed;
    MPI_Comm_split(world.comm, 0, -world.rank, &reversed);
    for (int i = 0; i < 6; i++) {
        struct window w = allocate(i % 2 ? reversed : world.comm, 2 * LENGTH, NULL);
        sum_again(&world, w.part[1], w.part[1] + LENGTH, "new windows");
        MPI_Win_free(&w.win);
    }
    MPI_Comm_free(&reversed);
}

static void
share(void)
{
    sum_in_own_parts(NULL);
    sum_in_own_parts("alloc_shared_noncontig");
    sum_in_one_part();
    sum_across_parts();
    sum_between_windows();
    sum_in_new_windows();
}

/* --- not all have --- */

static void
sum_in_windows_of_others(void)
{
    MPI_Comm half;
    MPI_Comm_split(world.comm, world.rank % 2, 0, &half);
    struct window w = allocate(half, 2 * LENGTH, NULL);
    sum_again(&world, w.part[1], w.part[1] + LENGTH, "windows of others");
    MPI_Win_free(&w.win);
    MPI_Comm_free(&half);
}

/* One buffer of the last rank is elsewhere. */
static void
sum_half_in_windows(const struct window *w)
{
    int64_t *const own = malloc(LENGTH * sizeof *own);
    if (!own)
        MPI_Abort(MPI_COMM_WORLD, 1);
    const bool is_elsewhere = world.rank == world.nranks - 1;
    sum_again(&world, is_elsewhere ? own : w->part[1], w->part[1] + LENGTH, "IN elsewhere");
    sum_again(&world, w->part[1], is_elsewhere ? own : w->part[1] + LENGTH, "OUT elsewhere");
    free(own);
}

/* By the MPI library's own function, as a program frees that has asked for it by dlsym. */
static void
free_unseen(MPI_Win *win)
{
    Dl_info library;
    void *const version = dlsym(RTLD_DEFAULT, "PMPI_Get_library_version");
    int (*its_free)(MPI_Win *) = NULL;
    check_true(version && dladdr(version, &library));
    void *const handle = dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (handle)
        *(void **)&its_free = dlsym(handle, "PMPI_Win_free");
    if (!its_free)
        MPI_Abort(MPI_COMM_WORLD, 1);
    its_free(win);
}

struct memory {
    void *at;
    size_t bytes;
};

/* Memory of this rank alone, at this address and behind it; NULL where there is other memory. */
static struct memory
occupy(int64_t *address)
{
    const uintptr_t page = 4096, offset = (uintptr_t)address % page;
    struct memory memory = {(char *)address - offset, 2 * LENGTH * sizeof(int64_t) + page};
    void *const at = mmap(memory.at, memory.bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == memory.at)
        return memory;
    if (at != MAP_FAILED)
        munmap(at, memory.bytes);
    return (struct memory){NULL, 0};
}

/* A window is freed, and then there is other memory at its address on each rank. */
static void
sum_where_a_window_was(void)
{
    int is_there = 0;
    for (int attempt = 0; attempt < 10 && !is_there; attempt++) {
        struct window w = allocate(world.comm, 2 * LENGTH, "alloc_shared_noncontig");
        int64_t *const at = w.part[1];
        free_unseen(&w.win);
        const struct memory memory = occupy(at);
        is_there = memory.at != NULL;
        MPI_Allreduce(MPI_IN_PLACE, &is_there, 1, MPI_INT, MPI_LAND, world.comm);
        if (is_there)
            sum_again(&world, at, at + LENGTH, "where a window was");
        if (memory.at)
            munmap(memory.at, memory.bytes);
    }
    check_true(is_there);
}

#define MARK INT64_C(0x6d61726b)

/* At this time Open MPI has unmapped the window's memory, and MPICH has not. */
static int
sum_at_free(MPI_Win win, int key, void *value, void *extra)
{
    int64_t *const at = value, *const own = malloc(LENGTH * sizeof *own);
    const struct memory memory = occupy(at);
    (void)win, (void)key, (void)extra;
    if (!own)
        MPI_Abort(MPI_COMM_WORLD, 1);
    sum(&world, NULL, memory.at || *at == MARK ? at : own, LENGTH, "as a window is freed");
    if (memory.at)
        munmap(memory.at, memory.bytes);
    free(own);
    return MPI_SUCCESS;
}

static void
sum_as_a_window_is_freed(void)
{
    int key;
    struct window w = allocate(world.comm, 2 * LENGTH, NULL);
    w.part[1][0] = MARK;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, sum_at_free, &key, NULL);
    MPI_Win_set_attr(w.win, key, w.part[1]);
    MPI_Win_free_keyval(&key);
    MPI_Win_free(&w.win);
}

static void
keep_apart(void)
{
    struct window w = allocate(world.comm, 2 * LENGTH, NULL);
    sum_half_in_windows(&w);
    sum_in_windows_of_others();
    sum_in_own_parts("no_locks");
    sum_where_a_window_was();
    sum_as_a_window_is_freed();
    MPI_Win_free(&w.win);
}

/* --- ranks find out what they have when a further size is to be read in place --- */

static void
come_late(void)
{
    int64_t *block;
    struct window alone = allocate(MPI_COMM_SELF, LENGTH, NULL); /* which is no window to others */
    MPI_Alloc_mem((MPI_Aint)(LENGTH * sizeof *block), MPI_INFO_NULL, &block); /* too small */
    sum(&world, NULL, block, LENGTH, "no window");
    MPI_Free_mem(block);
    struct window w = allocate(world.comm, LENGTH, NULL);
    sum(&world, NULL, w.part[1], LENGTH - 1, "a window");
    MPI_Alloc_mem((MPI_Aint)(2 * LENGTH * sizeof *block), MPI_INFO_NULL, &block);
    sum(&world, NULL, block, LENGTH - 1, "the first block");
    sum(&world, NULL, block, LENGTH - 2, "a block");
    sum(&world, NULL, w.part[1], LENGTH - 2, "a window beside a block");
    sum(&world, block, w.part[1], LENGTH - 2, "from a block to a window");
    MPI_Win_free(&w.win);
    MPI_Win_free(&alone.win);
    MPI_Free_mem(block);
}

/* --- threads --- */

static void *
call_in_a_window(void *window)
{
    const struct window *const w = window;
    for (int i = 0; i < 300; i++)
        sum(&world, i % 2 ? w->part[1] : NULL, w->part[1] + LENGTH, i % 3 ? LENGTH : 1, "a thread");
    return NULL;
}

static void
free_windows_meanwhile(void)
{
    MPI_Comm other;
    pthread_t thread;
    MPI_Comm_dup(world.comm, &other);
    struct window w = allocate(world.comm, 2 * LENGTH, NULL);
    check_true(pthread_create(&thread, NULL, call_in_a_window, &w) == 0);
    for (int i = 0; i < 10; i++) {
        struct window brief = allocate(other, LENGTH, NULL);
        MPI_Win_free(&brief.win);
    }
    pthread_join(thread, NULL);
    MPI_Win_free(&w.win);
    MPI_Comm_free(&other);
}

int
main(int argc, char **argv)
{
    const char *const how = argc > 1 ? argv[1] : "shared";
    const bool is_threaded = strcmp(how, "threads") == 0;
    if (is_threaded && !check_begin_threads(&argc, &argv)) {
        MPI_Finalize();
        return 77;
    }
    if (!is_threaded)
        check_begin(&argc, &argv);
    world = check_describe(MPI_COMM_WORLD, "world");
    if (is_threaded)
        free_windows_meanwhile();
    else if (strcmp(how, "apart") == 0)
        keep_apart();
    else if (strcmp(how, "late") == 0)
        come_late();
    else
        share();
    return check_end();
}
