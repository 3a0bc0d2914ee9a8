/* Calls that are wrong: prints the error class and how the error handler was
 * called.  test_errors.sh compares this with and without the library.
 *
 * usage: errors FIRST    the case of this number and those behind it, until one kills the program
 *        errors counts   rank 1 of 2 has half as many elements; ends the job
 *        errors alone    rank 0 alone makes a wrong call, the first on a communicator
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_check.h"

static MPI_Comm expected_comm;
static int handler_calls, handler_class, handler_comm_is_right;

static void
handle(MPI_Comm *comm, int *error, ...)
{
    handler_calls++;
    handler_comm_is_right = *comm == expected_comm;
    MPI_Error_class(*error, &handler_class);
}

/* A call's arguments. */
struct call {
    const char *name;
    const void *in;
    void *out;
    int count;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
};

static void
run_and_print(const struct call *call, const char *handler)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int class, length;
    handler_calls = handler_class = handler_comm_is_right = 0;
    int error = MPI_Allreduce(call->in, call->out, call->count, call->type, call->op, call->comm);
    MPI_Error_class(error, &class);
    MPI_Error_string(class, text, &length);
    printf("%s, %s: class %d (%s), handler called %d times with class %d, comm %s\n", call->name,
           handler, class, text, handler_calls, handler_class,
           handler_comm_is_right ? "right" : "other");
}

/* Handles that the cases need, made anew for each. */
struct handles {
    MPI_Datatype derived, uncommitted, vector; /* the last two are not committed */
    MPI_Op op;
    MPI_Comm freed;
};

static void
add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void
make_handles(struct handles *h)
{
    MPI_Comm copy;
    MPI_Type_contiguous(2, MPI_INT, &h->derived);
    MPI_Type_commit(&h->derived);
    MPI_Type_contiguous(2, MPI_INT, &h->uncommitted);
    MPI_Type_vector(2, 1, 2, MPI_INT, &h->vector);
    MPI_Op_create(add, 1, &h->op);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    h->freed = copy;
    MPI_Comm_free(&copy);
}

static void
free_handles(struct handles *h)
{
    MPI_Type_free(&h->derived);
    MPI_Type_free(&h->uncommitted);
    MPI_Type_free(&h->vector);
    MPI_Op_free(&h->op);
}

/* Returns false past the last case. */
static bool
make_case(struct call *call, int i, MPI_Comm comm, const struct handles *h)
{
    static int in[8], out[8];
    const struct call calls[] = {
        {"right", in, out, 4, MPI_INT, MPI_SUM, comm},
        {"count -1", in, out, -1, MPI_INT, MPI_SUM, comm},
        {"null type", in, out, 4, MPI_DATATYPE_NULL, MPI_SUM, comm},
        {"null op", in, out, 4, MPI_INT, MPI_OP_NULL, comm},
        {"MPI_SUM on MPI_BYTE", in, out, 4, MPI_BYTE, MPI_SUM, comm},
        {"MPI_BAND on MPI_DOUBLE", in, out, 2, MPI_DOUBLE, MPI_BAND, comm},
        {"MPI_MINLOC on MPI_INT", in, out, 2, MPI_INT, MPI_MINLOC, comm},
        {"MPI_SUM on a derived type", in, out, 2, h->derived, MPI_SUM, comm},
        {"MPI_REPLACE", in, out, 2, MPI_INT, MPI_REPLACE, comm},
        {"send and receive buffer the same", in, in, 4, MPI_INT, MPI_SUM, comm},
        {"one buffer, of one element", in, in, 1, MPI_INT, MPI_SUM, comm},
        {"MPI_IN_PLACE as receive buffer", in, MPI_IN_PLACE, 4, MPI_INT, MPI_SUM, comm},
        {"null send buffer", NULL, out, 4, MPI_INT, MPI_SUM, comm},
        {"null receive buffer", in, NULL, 4, MPI_INT, MPI_SUM, comm},
        {"count 0 and null buffers", NULL, NULL, 0, MPI_INT, MPI_SUM, comm},
        {"count 0 and null op", NULL, NULL, 0, MPI_INT, MPI_OP_NULL, comm},
        {"null communicator", in, out, 4, MPI_INT, MPI_SUM, MPI_COMM_NULL},
        {"null op on a derived type", in, out, 2, h->derived, MPI_OP_NULL, comm},
        {"uncommitted type", in, out, 2, h->uncommitted, h->op, comm},
        {"uncommitted type in place", MPI_IN_PLACE, out, 2, h->uncommitted, h->op, comm},
        {"uncommitted vector", in, out, 2, h->vector, h->op, comm},
        {"MPI_SUM on an uncommitted type", in, out, 2, h->uncommitted, MPI_SUM, comm},
        {"freed communicator", in, out, 2, MPI_INT, MPI_SUM, h->freed},
    };
    const bool exists = i >= 0 && i < (int)(sizeof calls / sizeof calls[0]);
    if (exists)
        *call = calls[i];
    return exists;
}

/* The wrong call, and then a right one. */
static bool
run_case(int i, MPI_Comm comm, const char *handler)
{
    struct handles handles;
    struct call wrong, right;
    make_handles(&handles);
    const bool exists = make_case(&wrong, i, comm, &handles);
    if (exists) {
        run_and_print(&wrong, handler);
        make_case(&right, 0, comm, &handles);
        run_and_print(&right, handler);
    }
    free_handles(&handles);
    return exists;
}

static bool
run_handlers(int i)
{
    MPI_Errhandler handler;
    MPI_Comm copy;
    bool exists;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    expected_comm = copy;
    exists = run_case(i, copy, "errors return");
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(copy, handler);
    run_case(i, copy, "own handler");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    expected_comm = MPI_COMM_WORLD;
    run_case(i, MPI_COMM_WORLD, "own handler of the world");
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&copy);
    return exists;
}

/* Whoever gets an error prints what it is. */
static void
run_with_counts_that_differ(int rank)
{
    static double in[1000], out[1000];
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int error =
        MPI_Allreduce(in, out, rank == 1 ? 500 : 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (!error)
        return;
    MPI_Error_string(error, text, &length);
    printf("%s\n", text);
    fflush(stdout);
    usleep(500000); /* until the launcher has passed it on */
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* An op that is none of an allreduce, and a type that is not committed: the call returns, and the
 * next one runs. */
static void
run_alone(int rank)
{
    struct handles handles;
    make_handles(&handles);
    for (int i = 0; i < 2; i++) {
        int in = 1, out;
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        if (rank == 0)
            check_true(MPI_Allreduce(&in, &out, 1, i == 0 ? MPI_INT : handles.uncommitted,
                                     i == 0 ? MPI_REPLACE : handles.op, comm) != MPI_SUCCESS);
        check_ping(comm, "behind a wrong call of one rank");
        MPI_Comm_free(&comm);
    }
    free_handles(&handles);
}

int
main(int argc, char **argv)
{
    int rank;
    check_begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && strcmp(argv[1], "counts") == 0) {
        run_with_counts_that_differ(rank);
        return check_end();
    }
    if (argc > 1 && strcmp(argv[1], "alone") == 0) {
        run_alone(rank);
        return check_end();
    }
    if (rank > 0 && !freopen("/dev/null", "w", stdout)) /* rank 0 prints */
        check_fail("no /dev/null");
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    int i = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    do
        printf("case %d\n", i);
    while (run_handlers(i++));
    return check_end();
}
