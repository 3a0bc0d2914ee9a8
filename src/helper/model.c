/* allreduce model: measures the machine that it runs on, and writes a machine file. */
#include <argp.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/forecast.h"
#include "config/output.h"
#include "execute/crowd.h"
#include "helper/job.h"
#include "report/say.h"
#include "report/table.h"

#define EFFORT 20 /* times what a program does at its start */

struct request {
    const char *output; /* NULL: stdout */
    const char *title;  /* NULL: "measured" */
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write the machine file here instead of on stdout", 0},
    {"title", 't', "TEXT", 0, "Title of the machine", 0},
    {0},
};

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case 'o':
        request->output = value;
        return 0;
    case 't':
        request->title = value;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'; only options are allowed", value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* An enum ar_exit, having said why it failed. */
static int
write_machine(const struct request *request, struct ar_machine *machine)
{
    if (request->title)
        snprintf(machine->title, sizeof machine->title, "%s", request->title);
    ar_name_clean(machine->title); /* else one line of the file could be several */
    char *const text = ar_machine_print(machine);
    const char *const path = request->output ? request->output : "/dev/stdout";
    struct ar_output output;
    int error = text ? ar_output_begin(&output, path) : ENOMEM;
    if (!error) {
        fputs(text, output.file);
        error = ar_output_end(&output);
    }
    if (error)
        fprintf(stderr, "allreduce model: cannot write %s: %s\n", path, strerror(error));
    free(text);
    return error ? AR_EXIT_FAILED : AR_EXIT_DONE;
}

/* Sets *machine on rank 0.  A rank that fails ends the job, since the others wait for it. */
static void
find_machine(struct ar_machine *machine, int rank, int nranks)
{
    const struct ar_wire wire = {.comm = MPI_COMM_WORLD};
    int *const node_of = ar_cli_need_memory(malloc((size_t)nranks * sizeof *node_of));
    struct ar_measuring measuring = {.comm = MPI_COMM_WORLD,
                                     .wire = &wire,
                                     .rank = rank,
                                     .nranks = nranks,
                                     .node_of = node_of,
                                     .wait = ar_wait_make(AR_WAIT_AUTO, nranks > ar_online_cpus()),
                                     .effort = EFFORT};
    int error = ar_carrier_find_nodes(node_of, MPI_COMM_WORLD, rank, nranks);
    for (int r = 0; r < nranks && !error; r++)
        measuring.wait.dozes |= node_of[r] != node_of[0];
    if (!error)
        error = ar_measure(machine, &measuring);
    free(node_of);
    if (error) {
        ar_say("rank %d cannot measure: %s", rank,
               error == MPI_ERR_NO_MEM ? "out of memory" : "an error of MPI");
        MPI_Abort(MPI_COMM_WORLD, AR_EXIT_FAILED);
        abort();
    }
}

static int
measure(const struct request *request, int rank, int nranks)
{
    struct ar_machine machine;
    int status = AR_EXIT_DONE;
    if (ar_cli_check_ranks("model", nranks))
        return AR_EXIT_USAGE;
    find_machine(&machine, rank, nranks);
    if (rank == 0)
        status = write_machine(request, &machine);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

int
ar_cli_model(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .doc = "Measures messages between two ranks of a node and between two nodes, "
               "and reductions. Writes a machine file for ALLREDUCE_MODEL and allreduce explain "
               "--machine. Start it with mpiexec.",
    };
    struct request request = {NULL, NULL};
    int rank, nranks;
    ar_cli_parse(&argp, argc, argv, &request);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    const int status = measure(&request, rank, nranks);
    MPI_Finalize();
    return status;
}
