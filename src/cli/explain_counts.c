/* The table of what is counted of an algorithm. */
#include <math.h>
#include <stdio.h>

#include "cli/explain.h"

/* All its digits before the point, however large. */
static void
print_count(double x, char *text, size_t room)
{
    if (x != floor(x) && x < 1000)
        ar_number_print(x, text, room);
    else
        snprintf(text, room, "%.0f", x);
}

static void
state_counted(struct ar_columns *c, const void *table, size_t i)
{
    const struct ar_explain_counts *const counts = table;
    const struct ar_explain_count *const line = &counts->lines[i];
    ar_column_words(c, "what", "", line->what);
    ar_column_shown(c, "ours", "  one rank", line->ours);
    ar_column_shown(c, "card", counts->card_title, line->card);
    ar_column_shown(c, "all", " all ranks", line->all);
    ar_column_shown(c, "least", " lower bound", line->least);
    ar_column_shown(c, "ratio", " distance", line->ratio);
}

struct ar_explain_count *
ar_explain_add_count(struct ar_explain_counts *counts, const char *what, double measured,
                     const double *said, double bound)
{
    struct ar_explain_count *const line = &counts->lines[counts->n++];
    *line = (struct ar_explain_count){.what = what};
    print_count(measured, line->ours, sizeof line->ours);
    if (said)
        snprintf(line->card, sizeof line->card, "%.0f", *said);
    if (bound > 0) {
        print_count(bound, line->least, sizeof line->least);
        ar_number_print(measured / bound, line->ratio, sizeof line->ratio);
    }
    return line;
}

void
ar_explain_add_tally(struct ar_explain_counts *counts, const char *what,
                     const struct ar_tally *tally, const double *said, double bound)
{
    struct ar_explain_count *const line =
        ar_explain_add_count(counts, what, (double)tally->most, said, bound);
    snprintf(line->all, sizeof line->all, "%zu", tally->total);
}

void
ar_explain_add_time(struct ar_explain_counts *counts, const char *what, double us, double said_us,
                    double bound_us)
{
    struct ar_explain_count *const line = ar_explain_add_count(counts, what, us, NULL, bound_us);
    ar_number_print(us, line->ours, sizeof line->ours);
    ar_number_print(said_us, line->card, sizeof line->card);
    if (bound_us > 0)
        ar_number_print(bound_us, line->least, sizeof line->least);
}

void
ar_explain_print_counts(const struct ar_explain_counts *counts)
{
    ar_columns_write((struct ar_columns){.to = stdout,
                                         .row = state_counted,
                                         .table = counts,
                                         .n = counts->n,
                                         .view = "what ours card all least ratio",
                                         .prefix = "  "});
}
