#include "report/ranks.h"

#define RUNS_SAID 16

static int
name_of(const struct ar_ranks *ranks, int i)
{
    return ranks->names ? ranks->names[i] : i;
}

/* The end of the run of ranks from i on: all have the mark, and their names count up. */
static int
end_of_run(const struct ar_ranks *ranks, int i, unsigned char mark)
{
    while (i + 1 < ranks->nranks && ranks->marks[i + 1] & mark &&
           name_of(ranks, i + 1) == name_of(ranks, i) + 1)
        i++;
    return i + 1;
}

static int
count(const struct ar_ranks *ranks, unsigned char mark)
{
    int n = 0;
    for (int i = 0; i < ranks->nranks; i++)
        n += (ranks->marks[i] & mark) != 0;
    return n;
}

static void
add_run(struct ar_text *text, int first, int last)
{
    ar_text_add(text, "%d", first);
    if (last > first)
        ar_text_add(text, last > first + 1 ? "-%d" : ", %d", last);
}

int
ar_ranks_print(struct ar_text *text, const struct ar_ranks *ranks, unsigned char mark)
{
    const int n = count(ranks, mark);
    int runs = 0, said = 0;
    ar_text_add(text, n > 1 ? "ranks " : n > 0 ? "rank " : "");
    for (int i = 0, end; said < n && runs < RUNS_SAID; i = end) {
        end = i + 1;
        if (!(ranks->marks[i] & mark))
            continue;
        end = end_of_run(ranks, i, mark);
        said += end - i;
        ar_text_add(text, runs++ > 0 ? ", " : "");
        add_run(text, name_of(ranks, i), name_of(ranks, end - 1));
    }
    if (said < n)
        ar_text_add(text, ", and %d more", n - said);
    return n;
}
