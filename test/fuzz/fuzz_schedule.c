/* For any algorithm that the grammar accepts, on 1 to 40 ranks, the schedules are proved, and run
 * on real buffers in disorder, by messages and in shared memory.  On few ranks they are also run by
 * the executors.  Input: ranks, ranks per node, elements, then the text. */
#include <config.h>

#include "fuzz.h"
#include "schedule/checker.h"
#include "schedule/folding.h"
#include "select/select.h"
#include "threads.h"
#include "unit/disorder.h"

#define RANKS_MAX        40
#define SHARED_RANKS_MAX 16 /* the accesses of each rank need the schedules of all */

struct job {
    uint64_t seed;
    int nranks, node_of[RANKS_MAX];
    size_t count;
    struct ar_schedule all[RANKS_MAX];
};

/* Ranks in blocks, or in turn where the byte is above 127; 0: unknown. */
static const int *
place(struct job *job, uint8_t byte)
{
    const int per_node = byte & 127;
    if (per_node == 0)
        return NULL;
    const int nnodes = (job->nranks + per_node - 1) / per_node;
    for (int rank = 0; rank < job->nranks; rank++)
        job->node_of[rank] = byte > 127 ? rank % nnodes : rank / per_node;
    return job->node_of;
}

static void
expect_right(const char *wrong)
{
    if (wrong)
        fprintf(stderr, "%s\n", wrong);
    FUZZ_EXPECT(!wrong);
}

/* As plain schedules, and as the executor by messages runs them. */
static void
prove(const struct job *job, const struct ar_choice *choice, bool in_place)
{
    const bool keeps_order = ar_algorithm_keeps_order(choice->algorithm, &choice->params);
    struct ar_verdict verdict;
    unsigned char *folding[RANKS_MAX];
    struct disorder d = {job->all, job->nranks, in_place, keeps_order, NULL, job->seed + in_place};
    for (int rank = 0; rank < job->nranks; rank++) {
        folding[rank] = calloc(job->all[rank].nsteps + 1, 1);
        FUZZ_EXPECT(folding[rank]);
        ar_folding_find(folding[rank], &job->all[rank]);
    }
    int error = ar_check(&verdict, job->all, job->nranks, in_place);
    if (!error)
        error = ar_check_folded(&verdict, job->all, (const unsigned char *const *)folding,
                                job->nranks, in_place);
    if (error)
        fprintf(stderr, "%s\n", verdict.text);
    FUZZ_EXPECT(error == AR_OK);
    FUZZ_EXPECT(!keeps_order || verdict.in_rank_order);
    expect_right(disorder_run(&d));
    d.folding = (const unsigned char *const *)folding;
    d.seed += 2;
    expect_right(disorder_run(&d));
    for (int rank = 0; rank < job->nranks; rank++)
        free(folding[rank]);
}

struct source {
    const struct job *job;
    const struct ar_choice *choice;
};

static int
emit(void *context, struct ar_schedule *s, int rank)
{
    const struct source *const source = context;
    const struct job *const job = source->job;
    return ar_algorithm_emit(source->choice->algorithm, s, rank, job->nranks, job->count,
                             &source->choice->params);
}

/* Runs them as the ranks of a node do. */
static void
share(const struct job *job, const struct ar_choice *choice)
{
    struct ar_accesses accesses[SHARED_RANKS_MAX];
    struct source source = {job, choice};
    struct disorder d = {.all = job->all, .nranks = job->nranks, .seed = job->seed};
    d.in_order = ar_algorithm_keeps_order(choice->algorithm, &choice->params);
    for (int rank = 0; rank < job->nranks; rank++)
        FUZZ_EXPECT(ar_accesses_init(&accesses[rank], rank, job->nranks, 1 + job->seed % 24, emit,
                                     &source) == AR_OK);
    for (; d.seed < job->seed + 2; d.seed++) {
        expect_right(disorder_run_accesses(&d, accesses));
        d.in_place = true;
    }
    for (int rank = 0; rank < job->nranks; rank++)
        ar_accesses_fini(&accesses[rank]);
}

static void
execute(const struct job *job, const struct ar_choice *choice)
{
    const struct threads_job threads = {
        .algorithm = choice->algorithm,
        .params = &choice->params,
        .nranks = job->nranks,
        .count = job->count,
        .in_place = job->seed % 2,
        .in_order = ar_algorithm_keeps_order(choice->algorithm, &choice->params),
        .seed = job->seed / 2};
    FUZZ_EXPECT(threads_run_messages(&threads));
    if (choice->algorithm == ar_algorithm_find("shm", 3))
        FUZZ_EXPECT(threads_run_node(&threads));
}

static void
try_choice(struct job *job, const struct ar_choice *choice)
{
    const size_t bound =
        ar_algorithm_scratch_vectors(choice->algorithm, &choice->params, job->nranks) * job->count;
    for (int rank = 0; rank < job->nranks; rank++) {
        FUZZ_EXPECT(ar_algorithm_emit(choice->algorithm, &job->all[rank], rank, job->nranks,
                                      job->count, &choice->params) == AR_OK);
        FUZZ_EXPECT(job->all[rank].tmp_length <= bound);
    }
    prove(job, choice, false);
    prove(job, choice, true);
    if (job->nranks <= SHARED_RANKS_MAX)
        share(job, choice);
    if (job->nranks > 1 && job->nranks <= AR_THREADS_MAX && job->count > 0)
        execute(job, choice);
    for (int rank = 0; rank < job->nranks; rank++)
        ar_schedule_fini(&job->all[rank]);
}

bool fuzz_is_taken;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ar_rules *rules = NULL;
    struct ar_problem problem;
    if (size < 4)
        return 0;
    struct job job = {.nranks = 1 + data[0] % RANKS_MAX, .count = data[2]};
    for (size_t i = 0; i < size; i++)
        job.seed = job.seed * 31 + data[i];
    char *const text = fuzz_text(data + 3, size - 3);
    fuzz_is_taken = ar_rules_parse(&rules, text, &problem) == AR_OK;
    if (fuzz_is_taken) {
        for (size_t i = 0; i < rules->nclauses && i < 3; i++) {
            struct ar_choice choice = rules->clauses[i].choice;
            choice.params.node_of = place(&job, data[1]);
            if (choice.kind == AR_CHOICE_ALGORITHM)
                try_choice(&job, &choice);
        }
        ar_rules_destroy(rules);
    }
    free(text);
    return 0;
}
