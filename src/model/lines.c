#include "model/lines.h"

#include <stdlib.h>

struct ar_lines
ar_lines_of(const struct ar_access_place *place, size_t length, size_t element_bytes)
{
    if (length == 0)
        return (struct ar_lines){0, 0};
    if (!place->is_peers && place->length * element_bytes <= AR_TINY_BYTES)
        return (struct ar_lines){0, 1};
    const size_t begin = place->offset * element_bytes, end = begin + length * element_bytes;
    const size_t first = begin / AR_LINE_BYTES, last = (end - 1) / AR_LINE_BYTES;
    return (struct ar_lines){1 + first, last - first + 1};
}

/* Numbers in place of flags: of the owner's IN and OUT, and of the results of rank 0.  Those of
 * each further rank have the next number. */
enum { FLAG_OF_BUFFERS = AR_NO_FLAG - 1, FLAG_OF_RESULTS = FLAG_OF_BUFFERS - AR_OUT - 1 };

int
ar_lines_flag(const struct ar_access_place *place)
{
    return place->is_peers ? FLAG_OF_BUFFERS - (int)place->buffer : place->flag;
}

int
ar_lines_level(const struct ar_machine *machine, int rank, int other)
{
    if (rank == other)
        return -1;
    int level = 0;
    while (level < machine->ndomains - 1 &&
           rank / machine->domains[level].ranks != other / machine->domains[level].ranks)
        level++;
    return level;
}

bool
ar_lines_are_shared(const struct ar_machine *machine)
{
    return machine->ndomains > 0 && machine->domains[0].cache_bytes > 0;
}

/* --- counting --- */

/* Lines in a row of one flag, that a rank of a group of ranks reads. */
struct taken {
    int group, rank, owner, flag;
    size_t first, end;
};

struct list {
    struct taken *of;
    size_t n;
};

static int
compare(const void *x, const void *y)
{
    const struct taken *const a = x, *const b = y;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    if (a->flag != b->flag)
        return a->flag < b->flag ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

static void
add(struct list *list, const struct ar_machine *machine, int rank, int owner, int flag,
    struct ar_lines lines)
{
    const int group = rank / machine->domains[0].ranks;
    if (lines.n > 0 && owner != rank)
        list->of[list->n++] =
            (struct taken){group, rank, owner, flag, lines.first, lines.first + lines.n};
}

/* The lines of elements that are another rank's. */
static void
add_elements(struct list *list, const struct ar_machine *machine, int rank,
             const struct ar_access_place *place, size_t length, size_t element_bytes)
{
    if (place->is_shared || place->is_peers)
        add(list, machine, rank, place->rank, ar_lines_flag(place),
            ar_lines_of(place, length, element_bytes));
}

/* All that the ranks take of others, in the order of their accesses. */
static void
gather(struct list *list, const struct ar_machine *machine, const struct ar_accesses *ranks,
       int nranks, size_t element_bytes)
{
    for (int r = 0; r < nranks; r++)
        for (size_t i = 0; i < ranks[r].n; i++) {
            const struct ar_access *const x = &ranks[r].all[i];
            if (x->kind == AR_ACCESS_AWAIT)
                add(list, machine, r, x->a.rank, x->a.flag, (struct ar_lines){0, 1});
            if (x->kind != AR_ACCESS_AWAIT && x->kind != AR_ACCESS_RAISE)
                add_elements(list, machine, r, &x->a, x->length, element_bytes);
            if (x->kind == AR_ACCESS_COMBINE)
                add_elements(list, machine, r, &x->b, x->length, element_bytes);
            if (x->kind == AR_ACCESS_GIVE) {
                add_elements(list, machine, r, &x->dst, x->length, element_bytes);
                add(list, machine, x->dst.rank, r, FLAG_OF_RESULTS - x->dst.rank,
                    ar_lines_of(&x->dst, x->length, element_bytes));
            }
        }
}

/* Sorts, and makes one of those that a rank reads twice. */
static void
unite(struct list *list)
{
    size_t n = 0;
    qsort(list->of, list->n, sizeof *list->of, compare);
    for (size_t i = 0; i < list->n; i++) {
        const struct taken *const next = &list->of[i];
        struct taken *const last = n > 0 ? &list->of[n - 1] : NULL;
        if (last && last->group == next->group && last->rank == next->rank &&
            last->owner == next->owner && last->flag == next->flag && next->first <= last->end)
            last->end = next->end > last->end ? next->end : last->end;
        else
            list->of[n++] = *next;
    }
    list->n = n;
}

static void
count_ranks(struct ar_lines_count *count, const struct ar_machine *machine, const struct list *list)
{
    size_t most = 0;
    for (size_t i = 0; i < list->n;) {
        size_t of_rank[AR_MACHINE_DOMAINS] = {0}, all = 0;
        const int rank = list->of[i].rank;
        for (; i < list->n && list->of[i].rank == rank; i++) {
            const size_t n = list->of[i].end - list->of[i].first;
            of_rank[ar_lines_level(machine, rank, list->of[i].owner)] += n;
            all += n;
        }
        for (int l = 0; l < machine->ndomains; l++) {
            count->all[l] += of_rank[l];
            if (all > most)
                count->most[l] = of_rank[l];
        }
        most = all > most ? all : most;
    }
}

/* Of the lines from without that ranks of a group share, only the first is taken there. */
static void
share(struct ar_lines_count *count, const struct ar_machine *machine, struct list *list)
{
    size_t read[AR_MACHINE_DOMAINS] = {0}, once[AR_MACHINE_DOMAINS] = {0};
    for (size_t i = 0; i < list->n; i++) {
        struct taken *const t = &list->of[i];
        read[ar_lines_level(machine, t->rank, t->owner)] += t->end - t->first;
        t->rank = t->group * machine->domains[0].ranks; /* one stands for all */
        if (t->owner / machine->domains[0].ranks == t->group)
            t->end = t->first;
    }
    unite(list);
    for (size_t i = 0; i < list->n; i++)
        if (list->of[i].end > list->of[i].first)
            once[ar_lines_level(machine, list->of[i].rank, list->of[i].owner)] +=
                list->of[i].end - list->of[i].first;
    for (int l = 1; l < machine->ndomains; l++) {
        count->all[l] = once[l];
        count->all[0] += read[l] - once[l];
    }
}

int
ar_lines_count(struct ar_lines_count *count, const struct ar_machine *machine,
               const struct ar_accesses *ranks, int nranks, size_t element_bytes)
{
    struct list list = {NULL, 0};
    size_t room = 1;
    for (int r = 0; r < nranks; r++)
        room += 2 * ranks[r].n;
    list.of = malloc(room * sizeof *list.of);
    if (!list.of)
        return AR_ERR_MEMORY;
    *count = (struct ar_lines_count){.all = {0}};
    gather(&list, machine, ranks, nranks, element_bytes);
    unite(&list);
    count_ranks(count, machine, &list);
    if (ar_lines_are_shared(machine))
        share(count, machine, &list);
    free(list.of);
    return AR_OK;
}
