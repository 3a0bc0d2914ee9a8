/* A program that never calls MPI_Init, only sessions: there is no MPI_COMM_SELF. */
#include <string.h>

#include "check.h"
#include "reduce/reduce.h"

static void
user_function(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static void
check_named(void)
{
    struct ar_reduction r;
    double a[] = {1, 2, 3}, b[] = {10, 20, 30}, dst[] = {0, 0, 0};
    CHECK(ar_reduction_resolve(&r, MPI_SUM, MPI_DOUBLE), "SUM on DOUBLE");
    CHECK(ar_reduction_apply(&r, dst, a, b, 3) == MPI_SUCCESS, "SUM on DOUBLE");
    CHECK(dst[0] == 11 && dst[1] == 22 && dst[2] == 33, "%g %g %g", dst[0], dst[1], dst[2]);
}

/* Elements with holes are packed, which takes a communicator: the caller's. */
static void
check_holes(MPI_Comm comm)
{
    struct ar_reduction r;
    MPI_Datatype type;
    MPI_Op op;
    const char from[] = "abcdefgh";
    char to[] = "........";
    MPI_Type_vector(2, 1, 3, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(user_function, 1, &op);
    CHECK(ar_reduction_resolve(&r, op, type), "a vector");
    r.comm = comm;
    CHECK(ar_reduction_copy(&r, to, from, 2) == MPI_SUCCESS, "a vector");
    CHECK(strcmp(to, "a..de..h") == 0, "%s", to);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

int
main(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    check_named();
    check_holes(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return check_status();
}
