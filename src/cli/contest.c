#include <config.h>

#include "cli/contest.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/config.h"

#define WARMUPS 2

static int
compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int
ar_contest_cpus(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return CPU_COUNT(&set);
}

static struct ar_entrant *
append(struct ar_contest *contest, enum ar_entrant_kind kind, const char *label)
{
    const size_t n = contest->nentrants;
    struct ar_entrant *more = realloc(contest->entrants, (n + 1) * sizeof *more);
    char *copy = strdup(label);
    if (more)
        contest->entrants = more;
    if (!more || !copy) {
        ar_say("out of memory");
        free(copy);
        return NULL;
    }
    more[n] = (struct ar_entrant){.kind = kind, .label = copy, .comm = MPI_COMM_NULL};
    contest->nentrants++;
    MPI_Comm_dup(MPI_COMM_WORLD, &more[n].comm);
    return &more[n];
}

int
ar_contest_init(struct ar_contest *contest)
{
    memset(contest, 0, sizeof *contest);
    MPI_Comm_rank(MPI_COMM_WORLD, &contest->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &contest->nranks);
    return append(contest, AR_ENTRANT_NATIVE, "native") &&
                   append(contest, AR_ENTRANT_REDUCE_BCAST, "MPI_Reduce+MPI_Bcast")
               ? 0
               : 1;
}

void
ar_contest_fini(struct ar_contest *contest)
{
    for (size_t i = 0; i < contest->nentrants; i++) {
        MPI_Comm_free(&contest->entrants[i].comm);
        free(contest->entrants[i].label);
        free(contest->entrants[i].times);
    }
    free(contest->entrants);
}

int
ar_contest_add(struct ar_contest *contest, const char *text)
{
    struct ar_config *config = ar_config_from_algo(text);
    if (!config) {
        ar_say("out of memory");
        return 1;
    }
    if (config->error) {
        if (contest->rank == 0)
            ar_say("%s", config->problem);
        ar_config_destroy(config);
        return 2;
    }
    struct ar_entrant *e = append(contest, AR_ENTRANT_OURS, text);
    if (e)
        e->state = ar_communicator_create_with(e->comm, config);
    return e && e->state ? 0 : 1;
}

static void
call(const struct ar_entrant *e, const float *in, float *out, size_t count)
{
    struct ar_reduction r;
    int error;
    if (e->kind == AR_ENTRANT_NATIVE) {
        PMPI_Allreduce(in, out, (int)count, MPI_FLOAT, MPI_SUM, e->comm);
    } else if (e->kind == AR_ENTRANT_REDUCE_BCAST) {
        PMPI_Reduce(in, out, (int)count, MPI_FLOAT, MPI_SUM, 0, e->comm);
        PMPI_Bcast(out, (int)count, MPI_FLOAT, 0, e->comm);
    } else {
        ar_reduction_resolve(&r, MPI_SUM, MPI_FLOAT);
        struct ar_decision *d = ar_communicator_decide(e->state, e->comm, &r, count, &error);
        if (d && d->runner != AR_RUN_NATIVE)
            error = ar_communicator_run(e->state, e->comm, d, &r, in, out);
        else if (d)
            error = PMPI_Allreduce(in, out, (int)count, MPI_FLOAT, MPI_SUM, e->comm);
        if (error)
            PMPI_Abort(e->comm, 1);
    }
}

/* A barrier that gives its core away while it waits: with more ranks than cores
 * MPI_Barrier lets ranks out a scheduler's slice apart, which would be counted
 * as time of whatever comes next.  Dissemination, ceil(log2 p) rounds. */
static void
meet(const struct ar_contest *contest, MPI_Comm comm)
{
    const int p = contest->nranks, me = contest->rank;
    for (int distance = 1; distance < p; distance *= 2) {
        MPI_Request requests[2];
        int done = 0;
        MPI_Irecv(NULL, 0, MPI_BYTE, (me + p - distance) % p, 0, comm, &requests[0]);
        MPI_Isend(NULL, 0, MPI_BYTE, (me + distance) % p, 0, comm, &requests[1]);
        while (!done) {
            MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
            if (!done)
                sched_yield();
        }
    }
}

/* Seconds a call of a batch, on this rank. */
static double
time_batch(const struct ar_contest *contest, const struct ar_entrant *e, const float *in,
           float *out, size_t count)
{
    meet(contest, contest->entrants[0].comm);
    const double start = MPI_Wtime();
    for (size_t i = 0; i < e->batch; i++)
        call(e, in, out, count);
    return (MPI_Wtime() - start) / (double)e->batch;
}

/* Inputs are small integers, so that the sum is exact in any order. */
static float
value(int rank, size_t i)
{
    return (float)((i + 7 * (size_t)rank) % 101);
}

static bool
is_right(const struct ar_contest *contest, const float *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float sum = 0;
        for (int rank = 0; rank < contest->nranks; rank++)
            sum += value(rank, i);
        if (out[i] != sum)
            return false;
    }
    return true;
}

/* Checks the result, warms up, and finds the length of a batch. */
static void
prepare(struct ar_contest *contest, struct ar_entrant *e, const float *in, float *out, size_t count,
        double batch_seconds)
{
    int wrong;
    memset(out, 0xff, count * sizeof *out);
    call(e, in, out, count);
    wrong = !is_right(contest, out, count);
    e->batch = WARMUPS;
    double once = time_batch(contest, e, in, out, count);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, contest->entrants[0].comm);
    MPI_Bcast(&once, 1, MPI_DOUBLE, 0, contest->entrants[0].comm);
    const double calls = floor(batch_seconds / (once > 0 ? once : 1e-9));
    e->batch = calls < 1 ? 1 : calls > 1e5 ? 100000 : (size_t)calls;
    e->wrong = wrong;
}

static void
summarize(const struct ar_contest *contest, struct ar_entrant *e, int repetitions)
{
    MPI_Allreduce(MPI_IN_PLACE, e->times, repetitions, MPI_DOUBLE, MPI_MAX,
                  contest->entrants[0].comm);
    qsort(e->times, (size_t)repetitions, sizeof *e->times, compare_doubles);
    e->least = e->times[0];
    e->median = e->times[repetitions / 2];
    e->most = e->times[repetitions - 1];
}

static bool
make_room(struct ar_contest *contest, int repetitions)
{
    for (size_t i = 0; i < contest->nentrants; i++) {
        struct ar_entrant *e = &contest->entrants[i];
        double *times = realloc(e->times, (size_t)repetitions * sizeof *times);
        if (!times)
            return false;
        e->times = times;
    }
    return true;
}

int
ar_contest_run(struct ar_contest *contest, size_t count, int repetitions, double seconds)
{
    const double batch_seconds = seconds / repetitions / (double)contest->nentrants;
    float *in = malloc(count * sizeof *in), *out = malloc(count * sizeof *out);
    int wrong = 0;
    if (!in || !out || !make_room(contest, repetitions)) {
        ar_say("out of memory for %zu floats", 2 * count);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (size_t i = 0; i < count; i++)
        in[i] = value(contest->rank, i);
    for (size_t i = 0; i < contest->nentrants; i++)
        prepare(contest, &contest->entrants[i], in, out, count, batch_seconds);
    for (int k = 0; k < repetitions; k++)
        for (size_t i = 0; i < contest->nentrants; i++)
            contest->entrants[i].times[k] =
                time_batch(contest, &contest->entrants[i], in, out, count);
    for (size_t i = 0; i < contest->nentrants; i++) {
        summarize(contest, &contest->entrants[i], repetitions);
        wrong |= contest->entrants[i].wrong;
    }
    free(in);
    free(out);
    return wrong;
}
