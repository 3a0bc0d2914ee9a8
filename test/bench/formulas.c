/* How far auto's formulas are off: for a machine file and nodes as in 4x16, what they choose for
 * some sizes, beside the best of all by simulation.  Prints the points above 1.25 and the geometric
 * mean.
 *
 * usage: formulas MACHINE NODESxRANKS... */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/files.h"
#include "select/number.h"
#include "tuning/ranking.h"

#define SCRATCH ((size_t)64 << 20)
#define BAR     1.25

static void
stop_if(int error, const char *what)
{
    if (error) {
        fprintf(stderr, "formulas: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

static double
simulated_ns(const struct ar_advice_request *on, struct ar_choice choice, size_t bytes)
{
    struct ar_prediction prediction;
    choice.params.node_of = on->node_of;
    const struct ar_question question = {.machine = on->machine,
                                         .choice = &choice,
                                         .nranks = on->nranks,
                                         .count = bytes / 8,
                                         .element_bytes = 8,
                                         .scratch_bytes = SCRATCH,
                                         .most_steps = AR_PREDICT_STEPS};
    stop_if(ar_predict(&prediction, &question), "no prediction");
    return prediction.end.at;
}

/* How many times as long as the best what is chosen takes. */
static double
ratio_of(const struct ar_advice *advice, const struct ar_advice_request *on, size_t bytes,
         const char *shape)
{
    struct ar_compared *rows;
    size_t n;
    int e = 0;
    while (advice->entries[e].bytes < bytes)
        e++;
    const struct ar_choice *const chosen = &advice->entries[e].best[0].choice;
    stop_if(ar_compare(&rows, &n, on, bytes, 8), "no comparison");
    const double best = rows[0].prediction.end.at, ns = simulated_ns(on, *chosen, bytes);
    if (ns > BAR * best) {
        char one[AR_CHOICE_TEXT], other[AR_CHOICE_TEXT];
        printf("%s, %zu bytes: %s takes %.2f times as long as %s\n", shape, bytes,
               ar_choice_print(chosen, one, sizeof one), ns / best,
               ar_choice_print(&rows[0].choice, other, sizeof other));
    }
    free(rows);
    return ns > best ? ns / best : 1;
}

int
main(int argc, char **argv)
{
    static const size_t sizes[] = {8, 512, 4096, 32768, 262144, 2097152, 16777216};
    const size_t nsizes = sizeof sizes / sizeof sizes[0];
    char problem[AR_MACHINE_PROBLEM];
    struct ar_machine machine;
    struct ar_text why;
    double logs = 0;
    int points = 0;
    ar_text_init(&why, problem, sizeof problem);
    stop_if(argc < 3, "usage: formulas MACHINE NODESxRANKS...");
    stop_if(ar_model_file_read(&machine, argv[1], &why), problem);
    for (int i = 2; i < argc; i++) {
        int nodes = 0, per_node = 0;
        stop_if(sscanf(argv[i], "%dx%d", &nodes, &per_node) != 2, "nodes are written as in 4x16");
        machine.ranks_per_node = per_node;
        const struct ar_advice_request on = {.machine = &machine,
                                             .node_of =
                                                 ar_machine_place(&machine, nodes * per_node),
                                             .nranks = nodes * per_node,
                                             .scratch_bytes = SCRATCH};
        struct ar_advice advice;
        stop_if(!on.node_of || ar_advise(&advice, &on), "no advice");
        for (size_t k = 0; k < nsizes; k++, points++)
            logs += log(ratio_of(&advice, &on, sizes[k], argv[i]));
        free((void *)on.node_of);
    }
    printf("%s: %d points, chosen / best %.3f in the geometric mean\n", machine.title, points,
           exp(logs / points));
    return EXIT_SUCCESS;
}
