/* The levels of an algorithm inside a node: which ranks are in which group. */
#include <stdio.h>

#include "algorithms/domains.h"
#include "cli/cli.h"
#include "cli/explain.h"

#define LINE 68 /* characters of groups in a line; the others are counted */

static void
print_groups(const struct ar_grouping *g, int l)
{
    const struct ar_grouping_level *const level = &g->level[l];
    int groups = 0, shown = 0, width = 0;
    for (int i = 0; i < g->nranks; i = level->end[i], groups++) {
        char text[LINE];
        struct ar_text t;
        ar_text_init(&t, text, sizeof text);
        ar_text_add_runs(&t, g->rank_at + i, level->end[i] - i, ",");
        if (shown < groups || width + 1 + (int)t.length > LINE)
            continue;
        width += printf(" %s", text);
        shown++;
    }
    if (shown < groups)
        printf(" ... (%d groups)", groups);
    printf("\n");
}

void
ar_explain_print_levels(const struct ar_params *params, const struct ar_levels *found)
{
    const struct ar_grouping *const g = params->grouping;
    const bool has_nodes = g->node_level < g->nlevels - 1;
    if (params->levels.kind == AR_LEVELS_NAMES)
        printf("levels: they depend on the cores to which a job's ranks are bound; below, flat is "
               "shown\n\n");
    if (params->levels.kind != AR_LEVELS_SIZES)
        return;
    printf("levels: by rank number%s, the innermost first; the card is that of flat\n",
           has_nodes ? " in each node" : "");
    for (int l = 0; l < found->n; l++) {
        printf("  %-6d", found->value[l]);
        print_groups(g, l);
    }
    printf("  %-6s", has_nodes ? "node" : "all");
    print_groups(g, g->node_level);
    printf("\n");
}
