/* What real programs and hostile set-ups do around an allreduce.
 *
 * usage: corners WHAT, of which
 *     dup, split, session   the first allreduce is on such a communicator
 *     idup        and while a copy of the communicator is under way (MPI_Comm_idup)
 *     one_buffer  IN and OUT are the same on some ranks, of one element, which Open MPI takes
 *     self        an attribute on MPI_COMM_SELF, set before the first allreduce on some ranks and
 *                 after it on others, waits for all ranks when it is deleted in MPI_Finalize
 *     exhausted   all communicators that the MPI library has are in use when it ends
 *     scratch     derived types in shared memory after what made an engine fail
 *     memory      a long call, for which a rank may have no memory
 *     error       a call fails, and so do those after it
 *     jump        an error handler jumps out of calls, and then calls go on
 *     handlers    errors return on a communicator to which that comes from the world
 *     folders     the program goes to another folder before it ends
 *     moved       it goes to another folder, and then makes communicators of other shapes
 *     callback    a delete callback calls on the communicator that is being freed
 *     gone        the folder that the program runs in is no more
 *     sets        communicators of all sets of ranks, one after the other
 *     groups      of more groups, one after the other, than a rank can be in at a time
 *     stack       a thread with little stack makes the first calls, and tells how much it took
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi_check.h"

static void
ping_twice(MPI_Comm comm, const char *what)
{
    check_ping(comm, what);
    check_ping(comm, what);
}

static void
run_dup(const struct check_comm *world)
{
    MPI_Comm copy;
    MPI_Comm_dup(world->comm, &copy);
    ping_twice(copy, "a copy of the world");
    MPI_Comm_free(&copy);
}

static void
run_split(const struct check_comm *world)
{
    MPI_Comm part;
    MPI_Comm_split(world->comm, world->rank > 0, 0, &part);
    ping_twice(part, "a part of the world");
    MPI_Comm_free(&part);
}

static int
run_session(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "corners", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    ping_twice(comm, "of a session");
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
#endif
    return 0;
}

typedef int idup_fn(MPI_Comm comm, MPI_Comm *copy, MPI_Request *request);

static int
idup_with_info(MPI_Comm comm, MPI_Comm *copy, MPI_Request *request)
{
#if MPI_VERSION >= 4
    return MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, copy, request);
#else
    return MPI_Comm_idup(comm, copy, request);
#endif
}

static void
run_idup(const struct check_comm *world)
{
    static idup_fn *const ways[] = {MPI_Comm_idup, idup_with_info};
    for (int i = 0; i < 4; i++) {
        const int late = i % 2;
        MPI_Comm comm, copy;
        MPI_Request request;
        MPI_Comm_dup(world->comm, &comm);
        if (world->rank == late)
            usleep(100000);
        ways[i / 2](comm, &copy, &request);
        check_ping(comm, "while it is being copied");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        ping_twice(copy, "the copy");
        MPI_Comm_free(&copy);
        MPI_Comm_free(&comm);
    }
}

static int
wait_for_all(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    return MPI_Barrier(MPI_COMM_WORLD);
}

static int other_keyval; /* of no attribute: who looks for it looks at all */

/* Of a communicator that is being freed, and still can be used. */
static int
reduce_once_more(MPI_Comm comm, int keyval, void *value, void *extra)
{
    void *found;
    int has = 0;
    (void)keyval;
    (void)value;
    (void)extra;
    check_ping(comm, "while it is freed");
    return MPI_Comm_get_attr(comm, other_keyval, &found, &has);
}

static void
run_callback(const struct check_comm *world)
{
    int keyval;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, reduce_once_more, &keyval, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other_keyval, NULL);
    for (int i = 0; i < 200; i++) {
        MPI_Comm copy;
        MPI_Comm_dup(world->comm, &copy);
        MPI_Comm_set_attr(copy, keyval, NULL);
        check_ping(copy, "before it is freed");
        MPI_Comm_free(&copy);
    }
    MPI_Comm_free_keyval(&other_keyval);
    MPI_Comm_free_keyval(&keyval);
}

static void
run_one_buffer(const struct check_comm *world)
{
    int one = 1, other = 1;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Allreduce(&one, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF))
        return; /* this MPI library refuses it */
    MPI_Allreduce(world->rank == 1 ? &one : &other, &one, 1, MPI_INT, MPI_SUM, world->comm);
    check_true(one == world->nranks);
    MPI_Allreduce(&one, &one, 1, MPI_INT, MPI_SUM, world->comm);
    check_true(one == world->nranks * world->nranks);
}

static void
run_self(const struct check_comm *world)
{
    int keyval;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, wait_for_all, &keyval, NULL);
    for (int turn = 0; turn < 2; turn++)
        if (turn == world->rank % 2)
            MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
        else
            check_ping(world->comm, "before and after an attribute");
}

static void
run_exhausted(const struct check_comm *world)
{
    MPI_Comm comm;
    ping_twice(world->comm, "the world");
    MPI_Comm_set_errhandler(world->comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 70000 && MPI_Comm_split(world->comm, 0, 0, &comm) == MPI_SUCCESS; i++)
        continue;
    check_ping(world->comm, "the world, with all communicators in use");
    MPI_Comm_set_errhandler(world->comm, MPI_ERRORS_ARE_FATAL);
}

static void
run_scratch(const struct check_comm *world)
{
    enum { COUNT = 3000 };
    static int in[2 * COUNT], out[2 * COUNT];
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(check_add_ints, 1, &op);
    for (int i = 0; i < 2 * COUNT; i++)
        in[i] = i;
    for (int turn = 0; turn < 3; turn++) {
        MPI_Allreduce(in, out, 100, pair, op, world->comm); /* by shm */
        check_true(out[199] == 199 * world->nranks);
        MPI_Allreduce(in, out, COUNT, pair, op, world->comm); /* by messages, which cannot be had */
        check_true(out[2 * COUNT - 1] == (2 * COUNT - 1) * world->nranks);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
}

static void
run_memory(const struct check_comm *world)
{
    enum { COUNT = 1 << 19 };
    static int in[COUNT], out[COUNT];
    MPI_Comm_set_errhandler(world->comm, MPI_ERRORS_RETURN);
    check_true(MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, world->comm) == MPI_SUCCESS);
}

static void
run_error(const struct check_comm *world)
{
    int in = 1, out = 0;
    MPI_Comm_set_errhandler(world->comm, MPI_ERRORS_RETURN);
    check_ping(world->comm, "before the error");
    for (int turn = 0; turn < 3; turn++)
        check_true(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, world->comm) != MPI_SUCCESS);
}

static jmp_buf before_call;

static void
jump(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
    longjmp(before_call, 1);
}

/* As the bindings of Open MPI call it, and deeper on the stack than what was left. */
static __attribute__((noinline)) void
sum_deep_down(const struct check_comm *world)
{
    volatile char deep[32768];
    int in = 1, out = 0;
    deep[0] = deep[sizeof deep - 1] = 0;
    PMPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, world->comm);
    check_true(out == world->nranks + deep[0]);
}

/* One rank's error handler jumps out of a call, out of one that is passed on, and out of the end of
 * a communicator.  Then it makes calls as before, and has time to seem late. */
static void
run_jump(const struct check_comm *world)
{
    int in = 1, out = 0;
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Comm same = world->comm;
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(world->comm, handler);
    check_ping(world->comm, "before a jump");
    for (int turn = 0; turn < 3; turn++) {
        if (world->rank == 0 && setjmp(before_call) == 0) {
            if (turn == 0)
                MPI_Iallreduce(&in, &out, -1, MPI_INT, MPI_SUM, world->comm, &request);
            else if (turn == 1)
                MPI_Comm_free(&same);
            else
                MPI_Allreduce(&in, &out, -1, MPI_INT, MPI_SUM, world->comm);
            check_fail("what is wrong was taken");
        }
        sum_deep_down(world);
        check_ping(world->comm, "after a jump");
    }
    if (world->rank == 0)
        sleep(2);
    MPI_Barrier(world->comm);
    MPI_Errhandler_free(&handler);
}

enum { FILES = 256 };

/* Finds the memory that this process shares through us: which it is, and how many bytes. */
static int
find_shared(long long files[FILES][2])
{
    char line[512], *at;
    int n = 0;
    FILE *const maps = fopen("/proc/self/maps", "r");
    while (maps && n < FILES && fgets(line, sizeof line, maps)) {
        if (!strstr(line, "/memfd:liballreduce-"))
            continue;
        const size_t begin = strtoul(line, &at, 16), end = strtoul(at + 1, &at, 16);
        for (int field = 0; field < 3; field++) /* to the inode */
            at = strchr(at + 1, ' ');
        files[n][0] = strtoll(at, NULL, 10);
        files[n++][1] = (long long)(end - begin);
    }
    check_true(maps && fclose(maps) == 0 && n < FILES);
    return n;
}

/* The ranks of a set, a bit for each, make a communicator, use and free it. */
static void
use_set(const struct check_comm *world, int set, int count)
{
    static int numbers[100000];
    MPI_Group group, some;
    MPI_Comm comm;
    int members[32], n = 0;
    for (int rank = 0; rank < world->nranks; rank++)
        if (set >> rank & 1)
            members[n++] = rank;
    if (n < 2 || !(set >> world->rank & 1))
        return;
    MPI_Comm_group(world->comm, &group);
    MPI_Group_incl(group, n, members, &some);
    MPI_Comm_create_group(world->comm, some, set, &comm);
    MPI_Allreduce(MPI_IN_PLACE, numbers, count, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&some);
    MPI_Group_free(&group);
}

/* What is kept of the memory of all sets of ranks is bounded for all ranks together, but for the
 * rest of each one's last page. */
static void
run_sets(const struct check_comm *world)
{
    static long long mine[FILES][2], all[8 * FILES][2];
    long long sum = 0;
    int seen = 0;
    check_true(world->nranks <= 8);
    for (int set = 1; set < 1 << world->nranks; set++)
        use_set(world, set, 100000);
    for (int turn = 0; turn < 2; turn++) { /* what others have closed is forgotten */
        MPI_Barrier(world->comm);
        use_set(world, (1 << world->nranks) - 1, 1);
    }
    find_shared(mine);
    MPI_Gather(mine, 2 * FILES, MPI_LONG_LONG, all, 2 * FILES, MPI_LONG_LONG, 0, world->comm);
    for (int i = 0; world->rank == 0 && i < world->nranks * FILES; i++) {
        int first = 0;
        while (all[first][0] != all[i][0])
            first++;
        sum += first == i ? all[i][1] : 0;
        seen += first == i && all[i][0] != 0;
    }
    if (world->rank == 0 && (seen == 0 || sum > (128LL << 20) + 4096LL * seen))
        check_fail("%lld KiB are kept in %d pieces", sum >> 10, seen);
}

/* The last of 9 ranks is in 64 sets, 16 with each of the first ranks as the first one.  No set is
 * part of an earlier one. */
static void
run_groups(const struct check_comm *world)
{
    check_true(world->nranks == 9);
    for (int first = 3; first >= 0; first--)
        for (int others = 0; others < 16; others++)
            use_set(world, 1 << 8 | others << (first + 1) | 1 << first, 1);
    MPI_Barrier(world->comm);
}

static void
run_folders(const struct check_comm *world)
{
    for (int i = 0; i < 3000; i++)
        check_ping(world->comm, "here");
    check_true(chdir("/") == 0);
}

static void
run_moved(const struct check_comm *world)
{
    MPI_Comm comm;
    MPI_Info info;
    check_ping(world->comm, "here");
    check_true(chdir("/") == 0);
    MPI_Comm_split(MPI_COMM_WORLD, world->rank < 3, world->rank, &comm);
    ping_twice(comm, "elsewhere");
    MPI_Info_create(&info);
    MPI_Info_set(info, "allreduce_algo", "ring:1G-inf");
    MPI_Comm_set_info(comm, info);
    ping_twice(comm, "elsewhere, chosen");
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
}

static void
run_gone(const struct check_comm *world)
{
    char folder[] = "/tmp/corners.XXXXXX";
    check_true(mkdtemp(folder) && chdir(folder) == 0 && rmdir(folder) == 0);
    check_ping(world->comm, "nowhere");
}

/* Errors of a wrong call, after a right one, return to the program. */
static void
run_handlers(const struct check_comm *world)
{
    MPI_Group group;
    MPI_Comm comm;
    int nobody = world->nranks;
    MPI_Comm_set_errhandler(world->comm, MPI_ERRORS_RETURN);
    MPI_Comm_group(world->comm, &group);
    MPI_Comm_create(world->comm, group, &comm);
    check_ping(comm, "before an error");
    check_true(MPI_Send(&nobody, 1, MPI_INT, nobody, 0, comm) != MPI_SUCCESS);
    check_ping(comm, "behind an error");
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Comm_set_errhandler(world->comm, MPI_ERRORS_ARE_FATAL);
}

/* --- a small stack --- */

enum { STACK = 1 << 20, CALLS_MOST = 100000, INTS = 3000 };

/* Of a type that has an int, a gap and an int. */
static void
add_ends(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int *const a = in, *const b = inout;
    (void)type;
    for (int i = 0; i < 3 * *count; i += 3) {
        b[i] += a[i];
        b[i + 2] += a[i + 2];
    }
}

static void *
call_on_thread(void *data)
{
    const struct check_comm *const world = data;
    static double in[CALLS_MOST], out[CALLS_MOST];
    static int ints[INTS], sums[INTS];
    MPI_Datatype gaps;
    MPI_Op add, add_pairs;
    MPI_Comm copy;
    for (int i = 0; i < CALLS_MOST; i++)
        in[i] = 1;
    for (int count = 1; count <= CALLS_MOST; count *= 10) {
        MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, world->comm);
        check_true(out[count - 1] == world->nranks);
    }
    MPI_Allreduce(in, out, 10, MPI_DOUBLE_INT, MPI_MAXLOC, world->comm);
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Op_create(check_add_ints, 0, &add);
    MPI_Op_create(add_ends, 1, &add_pairs);
    for (int i = 0; i < INTS; i++)
        ints[i] = 1;
    MPI_Allreduce(ints, sums, INTS, MPI_INT, add, world->comm);
    check_true(sums[INTS - 1] == world->nranks);
    MPI_Allreduce(MPI_IN_PLACE, sums, INTS / 3, gaps, add_pairs, world->comm);
    check_true(sums[0] == world->nranks * world->nranks && sums[1] == world->nranks);
    MPI_Comm_dup(world->comm, &copy);
    ping_twice(copy, "a copy, with little stack");
    MPI_Comm_free(&copy);
    MPI_Op_free(&add_pairs);
    MPI_Op_free(&add);
    MPI_Type_free(&gaps);
    return NULL;
}

static void
run_stack(const struct check_comm *world)
{
    enum { UNUSED = 0xA5 };
    pthread_attr_t attributes;
    pthread_t thread;
    size_t unused = 0;
    unsigned char *const stack =
        mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(stack, UNUSED, STACK);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK);
    struct check_comm given = *world;
    check_true(pthread_create(&thread, &attributes, call_on_thread, &given) == 0);
    pthread_join(thread, NULL);
    while (unused < STACK && stack[unused] == UNUSED)
        unused++;
    printf("rank %d took %zu bytes of stack\n", world->rank, STACK - unused);
    munmap(stack, STACK);
}

static const struct {
    const char *name;
    void (*run)(const struct check_comm *world);
} corners[] = {
    {"dup", run_dup},           {"split", run_split},
    {"idup", run_idup},         {"callback", run_callback},
    {"self", run_self},         {"exhausted", run_exhausted},
    {"scratch", run_scratch},   {"memory", run_memory},
    {"error", run_error},       {"jump", run_jump},
    {"folders", run_folders},   {"moved", run_moved},
    {"gone", run_gone},         {"one_buffer", run_one_buffer},
    {"handlers", run_handlers}, {"sets", run_sets},
    {"groups", run_groups},     {"stack", run_stack},
};

int
main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "session") == 0)
        return run_session();
    check_begin(&argc, &argv);
    const struct check_comm world = check_describe(MPI_COMM_WORLD, "the world");
    size_t i = 0;
    while (i < sizeof corners / sizeof corners[0] && strcmp(corners[i].name, what) != 0)
        i++;
    if (i < sizeof corners / sizeof corners[0])
        corners[i].run(&world);
    else
        check_fail("no such corner: %s", what);
    return check_end();
}
