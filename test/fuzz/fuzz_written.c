/* Files of schedules: what is refused is told with its line, and what is taken can be emitted and
 * judged for any count. */
#include <config.h>

#include "fuzz.h"
#include "schedule/checker.h"
#include "schedule/written_print.h"
#include "select/written_read.h"

#define RANKS_MOST 16
#define STEPS_MOST 2000

static size_t
count_steps(const struct ar_written *w)
{
    size_t n = 0;
    for (int r = 0; r < w->nranks; r++)
        n += w->ranks[r].n;
    return n;
}

static int
judge(const struct ar_written *w, size_t count)
{
    struct ar_schedule all[RANKS_MOST];
    struct ar_verdict verdict;
    for (int r = 0; r < w->nranks; r++)
        FUZZ_EXPECT(ar_written_emit(&all[r], w, r, count) == AR_OK);
    const int error = ar_check_both(&verdict, all, w->nranks);
    FUZZ_EXPECT(error == AR_OK || error == AR_ERR_PROOF);
    FUZZ_EXPECT(!error == (verdict.text[0] == '\0'));
    for (int r = 0; r < w->nranks; r++)
        ar_schedule_fini(&all[r]);
    return error;
}

/* What is printed of it is read back as the same. */
static void
print_and_read(const struct ar_written *w)
{
    char *text = NULL, reason[512] = "";
    size_t length;
    struct ar_text why;
    struct ar_written again;
    FILE *const file = open_memstream(&text, &length);
    FUZZ_EXPECT(file != NULL);
    ar_written_print(file, w, "fuzz");
    fclose(file);
    ar_text_init(&why, reason, sizeof reason);
    FUZZ_EXPECT(ar_written_read(&again, text, &why) == AR_OK);
    FUZZ_EXPECT(again.nranks == w->nranks && again.nblocks == w->nblocks);
    for (int r = 0; r < w->nranks; r++) {
        FUZZ_EXPECT(again.ranks[r].n == w->ranks[r].n);
        for (size_t i = 0; i < w->ranks[r].n; i++) {
            const struct ar_written_step *const a = &w->ranks[r].steps[i], *const b =
                                                                               &again.ranks[r]
                                                                                    .steps[i];
            FUZZ_EXPECT(memcmp(a, b, offsetof(struct ar_written_step, line)) == 0);
            FUZZ_EXPECT(a->ends_round == b->ends_round);
        }
    }
    ar_written_fini(&again);
    free(text);
}

bool fuzz_is_taken;

/* What is proved with an element in each block is proved for every count. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = fuzz_text(data, size);
    char reason[512] = "";
    struct ar_text why;
    struct ar_written w;
    struct ar_written_proof proof;
    char refuted[AR_REFUTED_TEXT] = "";
    ar_text_init(&why, reason, sizeof reason);
    const int error = ar_written_read(&w, text, &why);
    FUZZ_EXPECT(error == AR_OK || error == AR_ERR_SYNTAX);
    FUZZ_EXPECT(!error || strncmp(reason, "line ", 5) == 0);
    fuzz_is_taken = !error;
    if (!error && w.nranks <= RANKS_MOST && w.nblocks <= 64 && count_steps(&w) <= STEPS_MOST) {
        print_and_read(&w);
        const int refutes = ar_written_prove(&proof, &w, refuted);
        FUZZ_EXPECT(refutes == AR_OK || refutes == AR_ERR_PROOF);
        FUZZ_EXPECT(!refutes == (refuted[0] == '\0'));
        if (!refutes)
            for (size_t count = 0; count < 2 * (size_t)w.nblocks + 2; count++)
                FUZZ_EXPECT(judge(&w, count) == AR_OK);
    }
    if (!error)
        ar_written_fini(&w);
    free(text);
    return 0;
}
