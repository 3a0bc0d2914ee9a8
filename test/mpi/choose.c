/* A program that chooses for itself; linked with the library.
 *
 * usage: choose [NAME]   NAME: what ALLREDUCE_ALGO names, which comes first
 *        choose wrong    under ALLREDUCE_VERIFY=1,native, where the first result is wrong
 */
#include <allreduce.h>
#include <stdio.h>
#include <string.h>

#include "mpi_check.h"

static int rank;

/* An allreduce of count ints on comm runs ran, because of why. */
static void
expect(MPI_Comm comm, int count, const char *ran, const char *why)
{
    int in[100], out[100], size;
    const char *reason = "", *last;
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < count; i++)
        in[i] = 1;
    MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
    check_true(out[0] == size && out[count - 1] == size);
    last = allreduce_last(comm, &reason);
    if (!last || strcmp(last, ran) != 0 || strcmp(reason, why) != 0)
        check_fail("ran %s (%s), not %s (%s)", last ? last : "nothing", reason, ran, why);
}

static void
names_are_told(void)
{
    unsigned n = 0;
    check_true(strchr(allreduce_version(), '(') != NULL);
    while (allreduce_algorithm_name(n))
        n++;
    check_true(n > 10 && !allreduce_algorithm_name(n + 1));
}

static void
a_choice_holds_for_its_communicator(void)
{
    MPI_Comm other;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &other);
    check_true(allreduce_last(other, NULL) == NULL);
    check_true(allreduce_choose(other, "ring:0-100; butterfly") == MPI_SUCCESS);
    check_true(allreduce_last(other, NULL) == NULL);
    expect(other, 1, "ring", "program");
    expect(other, 100, "butterfly", "program");
    check_true(allreduce_choose(other, "native") == MPI_SUCCESS);
    expect(other, 1, "native", "program");
    check_true(allreduce_choose(other, "rhd") == MPI_SUCCESS);
    expect(other, 1, "rhd", "program");
    expect(MPI_COMM_WORLD, 1, "shm", "auto");
    check_true(allreduce_choose(other, "") == MPI_SUCCESS);
    expect(other, 1, "shm", "auto");
    MPI_Comm_free(&other);
}

static void
copies_inherit_a_choice(void)
{
    MPI_Comm first, second, third;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    check_true(allreduce_choose(first, "ring") == MPI_SUCCESS);
    MPI_Comm_dup(first, &second);
    MPI_Comm_split(first, 0, rank, &third);
    MPI_Comm_free(&first);
    expect(second, 1, "ring", "program");
    expect(third, 1, "shm", "auto");
    MPI_Comm_free(&second);
    MPI_Comm_free(&third);
}

static void
nonsense_is_refused_on_all_ranks(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    check_true(allreduce_choose(comm, "ring") == MPI_SUCCESS);
    check_true(allreduce_choose(comm, "rinng") == MPI_ERR_ARG);
    expect(comm, 1, "ring", "program");
    check_true(allreduce_choose(comm, rank == 0 ? "rinng" : "rhd") == MPI_ERR_ARG);
    expect(comm, 1, "ring", "program");
    MPI_Comm_free(&comm);
}

static void
ranks_that_differ_follow_rank_0(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    check_true(allreduce_choose(comm, rank == 0 ? "ring" : "rhd") == MPI_SUCCESS);
    expect(comm, 1, "ring", "program");
    check_true(allreduce_choose(comm, rank == 0 ? "rhd" : "rinng") == MPI_SUCCESS);
    expect(comm, 1, "rhd", "program");
    MPI_Comm_free(&comm);
}

/* An info object with the key, but for ranks without a value. */
static MPI_Info
info_of(const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (value)
        MPI_Info_set(info, "allreduce_algo", value);
    return info;
}

static void
the_info_key_chooses(void)
{
    MPI_Comm comm, copy;
    MPI_Info ring = info_of("ring"), bad = info_of("rinng"), none = info_of(NULL);
    MPI_Info only_1 = info_of(rank == 1 ? "rhd" : NULL);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, ring, &comm);
    expect(comm, 1, "ring", "program");
    MPI_Comm_set_info(comm, none);
    MPI_Comm_set_info(comm, bad);
    expect(comm, 1, "ring", "program");
    MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy);
    expect(copy, 1, "ring", "program");
    MPI_Comm_set_info(copy, only_1);
    expect(copy, 1, "shm", "auto");
    MPI_Comm_free(&comm);
    MPI_Comm_free(&copy);
    MPI_Info_free(&ring);
    MPI_Info_free(&bad);
    MPI_Info_free(&none);
    MPI_Info_free(&only_1);
}

static void
an_intercommunicator_takes_no_choice(void)
{
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 0, &inter);
    check_true(allreduce_choose(inter, "ring") == MPI_ERR_COMM);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* The program's choice is no reason to trust our algorithms again. */
static void
a_verdict_outlives_choices(void)
{
    static const char reason[] = "failed verification";
    MPI_Info ring = info_of("ring");
    MPI_Comm copy;
    check_true(allreduce_choose(MPI_COMM_WORLD, "reduce_bcast") == MPI_SUCCESS);
    expect(MPI_COMM_WORLD, 1, "native", reason);
    check_true(allreduce_choose(MPI_COMM_WORLD, "ring") == MPI_SUCCESS);
    expect(MPI_COMM_WORLD, 1, "native", reason);
    MPI_Comm_set_info(MPI_COMM_WORLD, ring);
    expect(MPI_COMM_WORLD, 1, "native", reason);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    expect(copy, 1, "ring", "program");
    MPI_Comm_free(&copy);
    MPI_Info_free(&ring);
}

int
main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && strcmp(argv[1], "wrong") == 0) {
        a_verdict_outlives_choices();
        return check_end();
    }
    if (argc > 1) {
        check_true(allreduce_choose(MPI_COMM_WORLD, "ring") == MPI_SUCCESS);
        expect(MPI_COMM_WORLD, 1, argv[1], "named");
        return check_end();
    }
    names_are_told();
    a_choice_holds_for_its_communicator();
    copies_inherit_a_choice();
    nonsense_is_refused_on_all_ranks();
    ranks_that_differ_follow_rank_0();
    the_info_key_chooses();
    an_intercommunicator_takes_no_choice();
    return check_end();
}
