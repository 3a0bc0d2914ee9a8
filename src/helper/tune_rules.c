/* The rules that allreduce tune writes. */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "communicator/tuned_rules.h"
#include "config/files.h"
#include "helper/tune.h"
#include "reduce/named.h"
#include "report/clock.h"
#include "select/number.h"

struct ar_winner *
ar_winners_at(const struct ar_winners *all, size_t type, size_t size)
{
    return &all->of[type * all->tune->sizes.n + size];
}

void
ar_winners_describe(const struct ar_winners *all, char *text, size_t room)
{
    char job[AR_PROVENANCE_TEXT], host[64] = "";
    gethostname(host, sizeof host - 1);
    ar_provenance_of_job(job, sizeof job, all->nranks);
    snprintf(text, room, "%s; nodes=%d; ppn=%d; op=%s; host=%s", job, all->places.nodes,
             all->places.per_node, ar_op_name(all->tune->op), host);
}

/* --- the rules --- */

/* Where the rule of one size ends: at a power of two about half-way to the next. */
static size_t
end_of(const struct ar_winners *all, size_t size)
{
    const struct ar_sizes *const sizes = &all->tune->sizes;
    if (size + 1 == sizes->n)
        return SIZE_MAX;
    const double middle = sqrt((double)sizes->bytes[size] * (double)sizes->bytes[size + 1]);
    const size_t round = (size_t)1 << (int)log2(middle);
    return round > sizes->bytes[size] ? round : sizes->bytes[size];
}

/* Do two neighbouring sizes have the same rule?  For a type after the first only if those of the
 * first type have, too. */
static bool
are_alike(const struct ar_winners *all, size_t type, size_t size, size_t other)
{
    const struct ar_winner *const a = ar_winners_at(all, type, size);
    const struct ar_winner *const b = ar_winners_at(all, type, other);
    return ar_winner_is_known(a) && ar_winner_is_known(b) &&
           ar_choice_equals(&a->choice, &b->choice) &&
           (type == 0 || are_alike(all, 0, size, other));
}

/* Writes the clauses of one type, one for neighbouring sizes with the same choice.  A type after
 * the first gets only those that differ from the first's.  Sizes that are not known get none. */
static void
write_clauses(FILE *to, const struct ar_winners *all, size_t type)
{
    const struct ar_named *const named = ar_named_at(all->tune->types[type]);
    const struct ar_request request = {.nranks = all->nranks,
                                       .type = named->geometry.type_class,
                                       .nodes = (size_t)all->places.nodes,
                                       .per_node = (size_t)all->places.per_node};
    const unsigned asks = (type > 0 ? AR_TRAIT_TYPE : 0) |
                          (all->places.nodes > 1 ? AR_TRAIT_NODES | AR_TRAIT_PER_NODE : 0);
    for (size_t first = 0, last; first < all->tune->sizes.n; first = last + 1) {
        const struct ar_winner *const found = ar_winners_at(all, type, first);
        const struct ar_winner *const of_all = ar_winners_at(all, 0, first);
        last = first;
        while (last + 1 < all->tune->sizes.n && are_alike(all, type, last + 1, first))
            last++;
        const bool is_told = type > 0 && ar_winner_is_known(of_all) &&
                             ar_choice_equals(&of_all->choice, &found->choice);
        if (is_told || !ar_winner_is_known(found))
            continue;
        ar_rules_clause_write(to, &found->choice, first == 0 ? 0 : end_of(all, first - 1),
                              end_of(all, last), &request, asks);
        fputc('\n', to);
    }
}

static void
write_table(FILE *to, const struct ar_winners *all, size_t type)
{
    char size[AR_SIZE_TEXT], choice[AR_CHOICE_TEXT], next[AR_CHOICE_TEXT];
    char us[AR_NUMBER_TEXT], native_us[AR_NUMBER_TEXT], next_us[AR_NUMBER_TEXT];
    fprintf(
        to,
        "#\n# %s, us per call of the slowest rank, medians and their 95 %% intervals; =: a tie\n",
        ar_named_name(all->tune->types[type]));
    fprintf(to, "# %6s %10s %16s %6s %10s  %-34s %10s %16s   %s\n", "size", "us", "95 %", "spread",
            "native", "fastest", "us", "95 %", "next");
    for (size_t i = 0; i < all->tune->sizes.n; i++) {
        const struct ar_winner *const f = ar_winners_at(all, type, i);
        const struct ar_estimate *const t = &f->time, *const n = &f->next_time;
        if (!ar_winner_is_known(f))
            continue;
        char interval[AR_INTERVAL_TEXT], next_interval[AR_INTERVAL_TEXT], spread[AR_NUMBER_TEXT];
        snprintf(spread, sizeof spread, "%s%s", ar_percent_print(t->spread, us, sizeof us),
                 isnan(t->spread) ? "" : "%");
        fprintf(to, "# %6s %10s %16s %6s %10s  %-34s %10s %16s %c %s\n",
                ar_size_print(f->bytes, size, sizeof size),
                ar_number_print(t->median * 1e6, us, sizeof us),
                ar_interval_print(t->low * 1e6, t->high * 1e6, interval, sizeof interval), spread,
                ar_number_print(f->native.median * 1e6, native_us, sizeof native_us),
                ar_choice_print(&f->choice, choice, sizeof choice),
                ar_number_print(n->median * 1e6, next_us, sizeof next_us),
                ar_interval_print(n->low * 1e6, n->high * 1e6, next_interval, sizeof next_interval),
                ar_estimates_tie(t, n) ? '=' : ' ', ar_choice_print(&f->next, next, sizeof next));
    }
}

static void
write_rules(FILE *to, const struct ar_winners *all, const char *command)
{
    char job[3 * AR_PROVENANCE_TEXT], when[AR_DATE_TEXT];
    ar_winners_describe(all, job, sizeof job);
    const size_t length = strlen(job);
    snprintf(job + length, sizeof job - length, "; date=%s; version=%s", ar_clock_date(when, false),
             PACKAGE_VERSION);
    ar_rules_header_write(to, "made by:", command, job);
    if (all->incomplete[0])
        fprintf(to, "# Incomplete: %s.\n", all->incomplete);
    for (size_t t = 0; t < all->ntypes; t++)
        write_table(to, all, t);
    fputc('\n', to);
    for (size_t t = all->ntypes; t-- > 0;)
        write_clauses(to, all, t);
}

int
ar_tune_output_begin(struct ar_output *output, const struct ar_tune *tune)
{
    return ar_output_begin(output, tune->output ? tune->output : "/dev/stdout");
}

int
ar_winners_write(const struct ar_winners *all, const char *command)
{
    struct ar_output output;
    const int error = ar_tune_output_begin(&output, all->tune);
    if (error)
        return error;
    write_rules(output.file, all, command);
    return ar_output_end(&output);
}
