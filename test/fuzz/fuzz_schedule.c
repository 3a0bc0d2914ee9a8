/* Any algorithm that the grammar takes, on 1 to 40 ranks: its schedules are proved.  Input: ranks,
 * ranks per node, elements, then the text. */
#include <config.h>

#include "fuzz.h"
#include "schedule/checker.h"
#include "schedule/folding.h"
#include "select/select.h"

#define RANKS_MAX 40

struct job {
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

/* As plain schedules, and as the executor by messages runs them. */
static void
prove(const struct job *job, const struct ar_choice *choice, bool in_place)
{
    struct ar_verdict verdict;
    unsigned char *folding[RANKS_MAX];
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
    FUZZ_EXPECT(!ar_algorithm_keeps_order(choice->algorithm, &choice->params) ||
                verdict.in_rank_order);
    for (int rank = 0; rank < job->nranks; rank++)
        free(folding[rank]);
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
