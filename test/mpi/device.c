/* Allreduces of device memory by test/mpi/fake_accelerator.c, whose bytes nobody may touch, or of a
 * real GPU by test/mpi/cuda_accelerator.c: device CASE... RUNTIME in the environment is the path of
 * a runtime for the cases that load one late.  Where the library is loaded, its reasons are
 * checked, too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accelerator.h"
#include "mpi_check.h"

#define COUNT 1000

/* Reasons; all others are those of host memory. */
static const char native[] = "device memory", staged[] = "device memory, staged", ours[] = "host";

static void (*init)(void);
static void *(*alloc)(size_t, enum runtime_kind);
static void (*copy)(void *, const void *, size_t);
static int (*complaints)(void);
static const char *(*last)(MPI_Comm, const char **);

static void
find(void *function, const char *name)
{
    void *const symbol = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &symbol, sizeof symbol);
}

static void
find_runtime(void)
{
    find(&init, "runtime_init");
    find(&alloc, "runtime_alloc");
    find(&copy, "runtime_copy");
    find(&complaints, "runtime_complaints");
    if (init)
        init();
}

static void
load(void)
{
    const char *const path = getenv("RUNTIME");
    if (!path || !dlopen(path, RTLD_NOW | RTLD_GLOBAL))
        check_fail("no runtime: %s", path ? dlerror() : "RUNTIME is not set");
    find_runtime();
}

/* Buffers are kept, so that calls of one case share theirs. */
static int *
buffer(enum runtime_kind kind, int which)
{
    static int *buffers[RUNTIME_MANAGED + 1][2];
    int **const b = &buffers[kind][which];
    if (!*b)
        *b = kind == RUNTIME_UNKNOWN ? malloc(COUNT * sizeof **b) : alloc(COUNT * sizeof **b, kind);
    return *b;
}

static void
move(void *to, const void *from, size_t bytes)
{
    if (copy)
        copy(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

static void
expect_reason(MPI_Comm comm, const char *what, int call, const char *expected)
{
    const char *reason = "";
    if (!last)
        return;
    last(comm, &reason);
    const bool is_ours = strcmp(reason, native) != 0 && strcmp(reason, staged) != 0;
    if (expected == ours ? !is_ours : strcmp(reason, expected) != 0)
        check_fail("%s, call %d: the reason is '%s', not '%s'", what, call, reason, expected);
}

/* Call number `call` on comm, from and to memory of these kinds; RUNTIME_UNKNOWN is the host's. */
static void
reduce(MPI_Comm comm, const char *what, int call, enum runtime_kind from, enum runtime_kind to,
       bool is_in_place, const char *expected)
{
    const struct check_comm c = check_describe(comm, what);
    static int host[COUNT];
    int *const in = buffer(from, 0), *const out = buffer(to, 1);
    for (int i = 0; i < COUNT; i++)
        host[i] = (c.rank + 1) * (i + call);
    move(is_in_place ? out : in, host, sizeof host);
    MPI_Allreduce(is_in_place ? MPI_IN_PLACE : in, out, COUNT, MPI_INT, MPI_SUM, comm);
    move(host, out, sizeof host);
    const int ranks = c.nranks * (c.nranks + 1) / 2;
    int i = 0;
    while (i < COUNT && host[i] == ranks * (i + call))
        i++;
    if (i < COUNT)
        check_fail("%s, call %d: element %d is %d", what, call, i, host[i]);
    expect_reason(comm, what, call, expected);
}

static const enum runtime_kind host = RUNTIME_UNKNOWN, device = RUNTIME_DEVICE;

/* --- cases, each on a communicator of its own --- */

static void
run_all(MPI_Comm comm, int rank)
{
    (void)rank;
    reduce(comm, "device memory on all ranks", 1, device, device, false, native);
    reduce(comm, "device memory on all ranks, in place", 2, device, device, true, native);
    reduce(comm, "host memory then", 3, host, host, false, native);
}

static void
run_one(MPI_Comm comm, int rank)
{
    const enum runtime_kind mine = rank == 1 ? device : host;
    reduce(comm, "device memory on rank 1", 1, mine, mine, false, native);
    reduce(comm, "device memory on rank 1", 2, mine, host, false, native);
}

static void
run_later(MPI_Comm comm, int rank)
{
    const char *const expected = rank == 1 ? staged : ours;
    const enum runtime_kind mine = rank == 1 ? device : host;
    reduce(comm, "host memory", 1, host, host, false, ours);
    reduce(comm, "device memory later", 2, mine, mine, false, expected);
    reduce(comm, "device memory later, in place", 3, mine, mine, true, expected);
    reduce(comm, "operands in device memory", 4, mine, host, false, expected);
    reduce(comm, "result in device memory", 5, host, mine, false, expected);
    reduce(comm, "host memory again", 6, host, host, false, ours);
}

static void
run_managed(MPI_Comm comm, int rank)
{
    (void)rank;
    reduce(comm, "managed memory", 1, RUNTIME_MANAGED, RUNTIME_MANAGED, false, ours);
    reduce(comm, "pinned memory", 2, RUNTIME_PINNED, RUNTIME_PINNED, true, ours);
}

/* What ranks agree on follows what they have had since. */
static void
run_review(MPI_Comm comm, int rank)
{
    (void)rank;
    reduce(comm, "host memory, then device memory", 1, host, host, false, ours);
    for (int call = 2; call < 64; call++)
        reduce(comm, "device memory before the review", call, device, device, false, staged);
    for (int call = 64; call < 66; call++)
        reduce(comm, "device memory after the review", call, device, device, false, native);
    for (int call = 66; call < 128; call++)
        reduce(comm, "host memory before the review", call, host, host, false, native);
    for (int call = 128; call < 256; call++)
        reduce(comm, "host memory that was reviewed with the rest", call, host, host, false,
               native);
    reduce(comm, "host memory after the review", 256, host, host, false, ours);
}

/* Rank 1 alone loads a runtime, after the communicator has been set up. */
static void
run_late(MPI_Comm comm, int rank)
{
    MPI_Comm copied;
    reduce(comm, "without a runtime", 1, host, host, false, ours);
    reduce(comm, "without a runtime", 2, host, host, false, ours);
    if (rank == 1)
        load();
    const enum runtime_kind mine = rank == 1 ? device : host;
    for (int call = 3; call < 64; call++)
        reduce(comm, "a runtime loaded late", call, mine, mine, false, rank == 1 ? staged : ours);
    reduce(comm, "a runtime loaded late, after the review", 64, mine, mine, false, native);
    MPI_Comm_dup(comm, &copied);
    reduce(copied, "a communicator made after that", 1, mine, mine, false, native);
    MPI_Comm_free(&copied);
}

static void
add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Aint lb, extent;
    MPI_Type_get_true_extent(*type, &lb, &extent);
    const int *const a = (int *)(void *)((char *)in + lb);
    int *const b = (int *)(void *)((char *)inout + lb), step = 2;
    for (int i = 0; i < *count; i++)
        b[i * step] += a[i * step];
}

/* Elements with gaps, and by their own address. */
static void
run_layouts(MPI_Comm comm, int rank)
{
    enum { PAIRS = COUNT / 2 };
    static int values[COUNT];
    MPI_Datatype gapped, absolute;
    MPI_Op op;
    MPI_Aint address;
    int nranks;
    MPI_Comm_size(comm, &nranks);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gapped);
    MPI_Type_commit(&gapped);
    MPI_Op_create(add, 1, &op);
    for (int turn = 0; turn < 3; turn++) {
        int *const out = buffer(turn == 0 ? host : device, 1);
        for (int i = 0; i < COUNT; i++)
            values[i] = i % 2 ? -i : rank + i;
        move(out, values, sizeof values);
        if (turn < 2) {
            MPI_Allreduce(MPI_IN_PLACE, out, PAIRS, gapped, op, comm);
        } else {
            MPI_Get_address(out, &address);
            MPI_Type_create_hindexed(1, &(int){1}, &address, gapped, &absolute);
            MPI_Type_create_resized(absolute, 0, 2 * sizeof(int), &absolute);
            MPI_Type_commit(&absolute);
            /* Its first call, with memory that the other ranks have on the host. */
            MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, PAIRS, absolute, op, comm);
            MPI_Type_free(&absolute);
        }
        expect_reason(comm, "elements with gaps", turn, turn == 0 ? ours : staged);
        move(values, out, sizeof values);
        for (int i = 0; i < COUNT; i++)
            if (values[i] != (i % 2 ? -i : nranks * i + nranks * (nranks - 1) / 2)) {
                check_fail("elements with gaps, turn %d: element %d is %d", turn, i, values[i]);
                break;
            }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&gapped);
}

/* --- the dynamic linker is left alone --- */

static int linker_calls;

__attribute__((visibility("default"))) int
dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
    int (*next)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    void *const symbol = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    memcpy(&next, &symbol, sizeof next);
    linker_calls++;
    return next(callback, data);
}

static void
run_none(MPI_Comm comm, int rank)
{
    (void)rank;
    for (int call = 1; call <= 64; call++)
        reduce(comm, "no runtime", call, host, host, false, ours);
    const int before = linker_calls;
    if (last && before == 0)
        check_fail("nobody looked for a runtime");
    for (int call = 65; call < 128; call++)
        reduce(comm, "no runtime", call, host, host, false, ours);
    if (linker_calls != before)
        check_fail("%d calls of the dynamic linker in 63 calls", linker_calls - before);
}

static int agreements;

/* In these the ranks agree on a kind of calls; this one is found before the MPI library's, whose
 * header names the arguments in its own way.
 * NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
__attribute__((visibility("default"))) int
PMPI_Reduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm)
{
    static int (*next)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
    if (!next) {
        void *const symbol = dlsym(RTLD_NEXT, "PMPI_Reduce");
        memcpy(&next, &symbol, sizeof next);
    }
    agreements++;
    return next(in, out, count, type, op, root, comm);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

/* However many kinds alternate, the ranks agree on each at its first call alone. */
static void
run_kinds(MPI_Comm comm, int rank)
{
    enum { KINDS = 30, TURNS = 20, SET_UP = 10 };
    static double in[KINDS * KINDS * 37], out[KINDS * KINDS * 37];
    (void)rank;
    agreements = 0;
    for (int turn = 0; turn < TURNS; turn++)
        for (int k = 0; k < KINDS; k++)
            MPI_Allreduce(in, out, 1 + k * k * 37, MPI_DOUBLE, MPI_SUM, comm);
    if (last && (agreements < KINDS || agreements > KINDS + SET_UP))
        check_fail("the ranks agreed %d times on %d kinds", agreements, KINDS);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(MPI_Comm comm, int rank);
    } cases[] = {{"all", run_all},         {"one", run_one},       {"later", run_later},
                 {"managed", run_managed}, {"review", run_review}, {"late", run_late},
                 {"layouts", run_layouts}, {"none", run_none},     {"kinds", run_kinds}};
    int rank;
    check_begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    find(&last, "allreduce_last");
    find_runtime();
    for (int i = 1; i < argc; i++)
        for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
            if (strcmp(argv[i], cases[k].name) == 0) {
                MPI_Comm comm;
                MPI_Comm_dup(MPI_COMM_WORLD, &comm);
                cases[k].run(comm, rank);
                MPI_Comm_free(&comm);
            }
    if (complaints && complaints() > 0)
        check_fail("the runtime was used in a wrong way");
    int (*last_error)(void);
    find(&last_error, "hipPeekAtLastError");
    if (last_error && last_error() != 0)
        check_fail("an error is left behind in the runtime");
    return check_end();
}
