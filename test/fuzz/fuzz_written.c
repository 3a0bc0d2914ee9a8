/* Files of schedules: what is refused is told with its line, and what is taken can be emitted and
 * judged for any count. */
#include <config.h>

#include "fuzz.h"
#include "schedule/checker.h"
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

bool fuzz_is_taken;

/* What is proved with an element in each block is proved for every count. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = fuzz_text(data, size);
    char reason[512] = "";
    struct ar_text why;
    struct ar_written w;
    struct ar_written_mismatch mismatch;
    ar_text_init(&why, reason, sizeof reason);
    const int error = ar_written_read(&w, text, &why);
    FUZZ_EXPECT(error == AR_OK || error == AR_ERR_SYNTAX);
    FUZZ_EXPECT(!error || strncmp(reason, "line ", 5) == 0);
    fuzz_is_taken = !error;
    if (!error && w.nranks <= RANKS_MOST && w.nblocks <= 64 && count_steps(&w) <= STEPS_MOST) {
        FUZZ_EXPECT(ar_written_compare(&mismatch, &w) == AR_OK);
        if (!mismatch.send && judge(&w, (size_t)w.nblocks) == AR_OK)
            for (size_t count = 0; count < 2 * (size_t)w.nblocks + 2; count++)
                FUZZ_EXPECT(judge(&w, count) == AR_OK);
    }
    if (!error)
        ar_written_fini(&w);
    free(text);
    return 0;
}
