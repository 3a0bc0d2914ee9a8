/* Do all ranks of a call pass the same arguments where MPI requires it?  These decide which
 * algorithm runs and how it cuts the vector, so ranks that differ would run different schedules,
 * and wait for each other for ever. */
#include "call/verify.h"

#include <string.h>

#include "communicator/process.h"
#include "execute/group.h"
#include "record/statistics.h"
#include "reduce/named.h"
#include "report/say.h"
#include "select/words.h"

/* Groups of ranks that are named. */
#define GROUPS_MOST 5

#define LINE_TEXT 512

/* What must be alike.  Without elements type and op do not matter: all is 0, and op is AR_OPS. */
struct terms {
    int64_t count, size_bytes, op;
};

/* A type whose size MPI does not tell counts as no elements: no rank may leave here alone. */
static struct terms
terms_of(const struct ar_call *call)
{
    const struct terms nothing = {.op = AR_OPS};
    int size = 0;
    enum ar_op op = AR_OPS;
    if (call->count == 0 || PMPI_Type_size(call->type, &size) || size <= 0)
        return nothing;
    ar_op_find(&op, call->op);
    return (struct terms){call->count, size, op};
}

/* Sets *theirs to the terms of rank from, and *next to the first rank after it whose terms differ,
 * nranks if there is none.  Collective. */
static int
find_next(const struct ar_communicator *c, MPI_Comm comm, int from, const struct terms *mine,
          struct terms *theirs, int *next)
{
    *theirs = *mine;
    int error = PMPI_Bcast(theirs, (int)sizeof *theirs, MPI_BYTE, from, comm);
    const bool differs = memcmp(mine, theirs, sizeof *mine) != 0;
    int64_t first = c->rank > from && differs ? c->rank : c->nranks;
    if (!error)
        error = ar_reduce_all(&first, 1, MPI_INT64_T, MPI_MIN, comm);
    *next = (int)first;
    return error;
}

/* Ranks beside each other that have the same are named together. */
static void
add_group(struct ar_text *line, int from, int last, const struct terms *theirs, bool is_of_size)
{
    if (from == last)
        ar_text_add(line, "%s rank %d has ", from > 0 ? "," : "", from);
    else
        ar_text_add(line, "%s ranks %d-%d have ", from > 0 ? "," : "", from, last);
    if (!is_of_size)
        ar_text_add(line, "%s",
                    theirs->op == AR_OPS ? "a user-defined op"
                                         : ar_op_name((enum ar_op)theirs->op));
    else if (theirs->count == 0)
        ar_text_add(line, "no elements");
    else
        ar_text_add(line, "%lld element%s of %lld bytes", (long long)theirs->count,
                    theirs->count == 1 ? "" : "s", (long long)theirs->size_bytes);
}

/* Rank 0 says which ranks have what, of sizes or of ops.  Collective. */
static int
tell(const struct ar_communicator *c, MPI_Comm comm, struct terms mine, bool is_of_size)
{
    char text[LINE_TEXT];
    struct ar_text line;
    struct terms theirs;
    int error = MPI_SUCCESS, next = 0;
    ar_text_init(&line, text, sizeof text);
    if (is_of_size)
        mine.op = AR_OPS;
    for (int from = 0, groups = 0; from < c->nranks && groups < GROUPS_MOST && !error; groups++) {
        error = find_next(c, comm, from, &mine, &theirs, &next);
        add_group(&line, from, next - 1, &theirs, is_of_size);
        from = next;
    }
    if (!error && ar_verified_count(AR_VERIFIED_UNLIKE) == 0 && c->rank == 0)
        ar_say("ALLREDUCE_VERIFY: the ranks of an allreduce differ in %s:%s%s",
               is_of_size ? "the size of their message" : "their op", text,
               next < c->nranks ? ", ..." : "");
    return error;
}

int
ar_calls_compare(const struct ar_communicator *c, const struct ar_call *call, bool *are_alike)
{
    const struct terms mine = terms_of(call);
    /* The lowest of each number and, with its sign turned, the highest. */
    int64_t least[6] = {mine.count,       -mine.count, mine.size_bytes,
                        -mine.size_bytes, mine.op,     -mine.op};
    int error = ar_reduce_all(least, 6, MPI_INT64_T, MPI_MIN, call->comm);
    const bool is_size_alike = least[0] == -least[1] && least[2] == -least[3];
    *are_alike = is_size_alike && least[4] == -least[5];
    if (!error && !*are_alike)
        error = tell(c, call->comm, mine, !is_size_alike);
    if (!error && !*are_alike && c->config->verify.action == AR_VERIFY_ABORT)
        ar_job_end(call->comm, c->rank == 0);
    return error;
}
