#include "concurrent.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "mpi_check.h"

#define THREADS 4
#define KEPT    5
#define LONGEST 20000

/* What a thread draws is the same on all ranks. */
struct thread {
    pthread_t id;
    MPI_Comm comm; /* its own, of all ranks */
    unsigned state;
    int steps;
    unsigned long calls;
    double *in, *out;
};

static unsigned
draw(struct thread *t, unsigned bound)
{
    t->state = t->state * 1664525U + 1013904223U;
    return (t->state >> 8) % bound;
}

/* The parameters of a call.  Its elements differ between threads and between calls. */
struct shape {
    int count, salt;
    bool is_in_place;
};

static struct shape
draw_shape(struct thread *t)
{
    const int count = draw(t, 20) ? 1 + (int)draw(t, 1U << draw(t, 12)) : LONGEST;
    const int salt = (int)draw(t, 64);
    return (struct shape){count, salt, draw(t, 2) == 0};
}

static void
call(struct thread *t, MPI_Comm comm, struct shape shape, const char *what)
{
    const struct check_comm c = check_describe(comm, what);
    double *const in = shape.is_in_place ? t->out : t->in;
    for (int i = 0; i < shape.count; i++)
        in[i] = c.rank + (i + shape.salt) % 64;
    MPI_Allreduce(shape.is_in_place ? MPI_IN_PLACE : in, t->out, shape.count, MPI_DOUBLE, MPI_SUM,
                  comm);
    t->calls++;
    const double ranks = c.nranks * (c.nranks - 1) / 2.0;
    for (int i = 0; i < shape.count; i++)
        if (t->out[i] != ranks + (double)c.nranks * ((i + shape.salt) % 64)) {
            check_fail("%s: count %d: element %d is wrong", c.name, shape.count, i);
            return;
        }
}

/* A communicator of all ranks, in their order or reversed; of halves; or of all ranks but one. */
static MPI_Comm
make(struct thread *t)
{
    const struct check_comm all = check_describe(t->comm, "all");
    const int one = (int)draw(t, (unsigned)all.nranks);
    MPI_Comm comm;
    switch (draw(t, 4)) {
    case 0:
        MPI_Comm_dup(t->comm, &comm);
        break;
    case 1:
        MPI_Comm_split(t->comm, 0, -all.rank, &comm);
        break;
    case 2:
        MPI_Comm_split(t->comm, all.rank % 2, 0, &comm);
        break;
    default:
        MPI_Comm_split(t->comm, all.rank == one ? MPI_UNDEFINED : 0, 0, &comm);
        break;
    }
    return comm;
}

/* Creates a communicator, or uses it and perhaps frees it.  *is_made is the same on all ranks,
 * whether they belong to it or not. */
static void
step_on(struct thread *t, MPI_Comm *comm, bool *is_made)
{
    const struct shape shape = draw_shape(t);
    const bool goes = draw(t, 3) == 0;
    if (!*is_made) {
        *comm = make(t);
        *is_made = true;
        return;
    }
    if (*comm != MPI_COMM_NULL)
        call(t, *comm, shape, "made and freed by a thread");
    if (*comm != MPI_COMM_NULL && goes)
        MPI_Comm_free(comm);
    *is_made = !goes;
}

static void *
work(void *argument)
{
    struct thread *const t = argument;
    MPI_Comm comms[KEPT];
    bool is_made[KEPT] = {false};
    t->in = malloc(LONGEST * sizeof *t->in);
    t->out = malloc(LONGEST * sizeof *t->out);
    for (int i = 0; i < t->steps && t->in && t->out; i++) {
        const unsigned k = draw(t, KEPT);
        call(t, t->comm, draw_shape(t), "of a thread");
        step_on(t, &comms[k], &is_made[k]);
    }
    for (int k = 0; k < KEPT; k++)
        if (is_made[k] && comms[k] != MPI_COMM_NULL)
            MPI_Comm_free(&comms[k]);
    free(t->in);
    free(t->out);
    return NULL;
}

unsigned long
concurrent_run(int steps)
{
    struct thread threads[THREADS] = {0};
    unsigned long calls = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i].state = i + 1;
        threads[i].steps = steps;
        MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i].id, NULL, work, &threads[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i].id, NULL);
        calls += threads[i].calls;
        MPI_Comm_free(&threads[i].comm);
    }
    return calls;
}
