#include "schedule/expressions.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/error.h"

void
ar_expressions_fini(struct ar_expressions *e)
{
    free(e->nodes);
    free(e->table);
}

struct ar_expression
ar_expression_of(const struct ar_expressions *e, uint32_t expression)
{
    const uint32_t p = (uint32_t)e->nranks;
    if (expression >= p)
        return e->nodes[expression - p];
    return (struct ar_expression){.left = AR_EXPRESSION_NONE,
                                  .right = AR_EXPRESSION_NONE,
                                  .leaves = 1,
                                  .first = expression,
                                  .last = expression,
                                  .ordered = true,
                                  .hash = expression};
}

static uint32_t
find_slot(const struct ar_expressions *e, uint32_t left, uint32_t right)
{
    const uint64_t hash = ((uint64_t)left << 32 | right) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = (uint32_t)(hash >> 32) & (e->slots - 1);
    while (e->table[i] != AR_EXPRESSION_NONE &&
           (e->nodes[e->table[i]].left != left || e->nodes[e->table[i]].right != right))
        i = (i + 1) & (e->slots - 1);
    return i;
}

/* Doubles the room for nodes; the table is twice as large as that. */
static bool
grow(struct ar_expressions *e)
{
    const uint32_t room = e->room ? 2 * e->room : 256;
    struct ar_expression *const nodes = realloc(e->nodes, room * sizeof *nodes);
    uint32_t *const table = malloc((size_t)2 * room * sizeof *table);
    if (nodes)
        e->nodes = nodes;
    if (!nodes || !table) {
        free(table);
        return false;
    }
    free(e->table);
    e->table = table;
    e->slots = 2 * room;
    e->room = room;
    memset(table, 0xff, (size_t)e->slots * sizeof *table);
    for (uint32_t i = 0; i < e->n; i++)
        table[find_slot(e, nodes[i].left, nodes[i].right)] = i;
    return true;
}

uint32_t
ar_expressions_combine(struct ar_expressions *e, uint32_t left, uint32_t right, int rank,
                       size_t step)
{
    if (e->n == e->room && !grow(e))
        return AR_EXPRESSION_NONE;
    const uint32_t slot = find_slot(e, left, right);
    if (e->table[slot] == AR_EXPRESSION_NONE) {
        const struct ar_expression l = ar_expression_of(e, left), r = ar_expression_of(e, right);
        const uint64_t leaves = (uint64_t)l.leaves + r.leaves;
        e->nodes[e->n] = (struct ar_expression){
            .left = left,
            .right = right,
            .leaves = leaves > UINT32_MAX ? UINT32_MAX : (uint32_t)leaves,
            .depth = 1 + (l.depth > r.depth ? l.depth : r.depth),
            .first = l.first,
            .last = r.last,
            .ordered = l.ordered && r.ordered && l.last + 1 == r.first,
            .rank = rank,
            .step = step,
            .hash = (l.hash * UINT64_C(0x9e3779b97f4a7c15) ^ (r.hash + (l.hash >> 29))) *
                        UINT64_C(0xd6e8feb86659fd93) +
                    1};
        e->table[slot] = e->n++;
    }
    return (uint32_t)e->nranks + e->table[slot];
}

/* Marks the ranks below the expression, until one comes again, which it returns; -1: none does.
 * stack has room for a path, from an operand to an operand of it. */
static int
find_twice(const struct ar_expressions *e, uint32_t expression, bool *seen, uint32_t *stack)
{
    size_t open = 0;
    for (;;) {
        while (expression >= (uint32_t)e->nranks) {
            const struct ar_expression x = ar_expression_of(e, expression);
            stack[open++] = x.right;
            expression = x.left;
        }
        if (seen[expression])
            return (int)expression;
        seen[expression] = true;
        if (open == 0)
            return -1;
        expression = stack[--open];
    }
}

/* The first expression below in which the rank stands twice, but once in each operand.  times has
 * room for all nodes. */
static uint32_t
find_place(const struct ar_expressions *e, uint32_t expression, int rank, unsigned char *times)
{
    const uint32_t p = (uint32_t)e->nranks;
#define TIMES(x) ((x) < p ? (x) == (uint32_t)rank : times[(x)-p])
    for (uint32_t i = 0; i <= expression - p; i++) {
        const int n = TIMES(e->nodes[i].left) + TIMES(e->nodes[i].right);
        times[i] = n > 2 ? 2 : (unsigned char)n;
    }
    for (;;) {
        const struct ar_expression x = ar_expression_of(e, expression);
        if (TIMES(x.left) < 2 && TIMES(x.right) < 2)
            return expression;
        expression = TIMES(x.left) < 2 ? x.right : x.left;
    }
#undef TIMES
}

int
ar_expression_count(const struct ar_expressions *e, uint32_t expression,
                    struct ar_miscount *miscount)
{
    bool *const seen = calloc((size_t)e->nranks, sizeof *seen);
    uint32_t *const stack = malloc(((size_t)e->n + 1) * sizeof *stack);
    unsigned char *const times = malloc((size_t)e->n + 1);
    const bool has_memory = seen && stack && times;
    *miscount = (struct ar_miscount){.rank = -1};
    if (has_memory) {
        const int twice = find_twice(e, expression, seen, stack);
        int missing = 0;
        while (missing < e->nranks && seen[missing])
            missing++;
        if (twice >= 0)
            *miscount = (struct ar_miscount){twice, true, find_place(e, expression, twice, times)};
        else if (missing < e->nranks)
            *miscount = (struct ar_miscount){.rank = missing};
    }
    free(seen);
    free(stack);
    free(times);
    return has_memory ? AR_OK : AR_ERR_MEMORY;
}
