#include "report/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/grow.h"

const char *const ar_entry_names[AR_ENTRIES] = {
    [AR_ENTRY_ALLREDUCE] = "MPI_Allreduce",
    [AR_ENTRY_IALLREDUCE] = "MPI_Iallreduce",
    [AR_ENTRY_ALLREDUCE_INIT] = "MPI_Allreduce_init",
};

void
ar_site_rows_fini(struct ar_site_rows *rows)
{
    free(rows->rows);
    *rows = (struct ar_site_rows){0};
}

static int
are_same(const struct ar_site *a, const struct ar_site *b)
{
    return a->offset == b->offset && a->entry == b->entry &&
           strcmp(a->build_id, b->build_id) == 0 &&
           strcmp(ar_module_name(a->module), ar_module_name(b->module)) == 0;
}

struct ar_site_row *
ar_site_rows_add(struct ar_site_rows *rows, const struct ar_site_row *row)
{
    static const struct ar_site others = {.entry = AR_ENTRIES};
    const struct ar_site *site = &row->site;
    size_t i = 0;
    while (i < rows->n && !are_same(&rows->rows[i].site, site))
        i++;
    if (i >= AR_SITES_MOST && i == rows->n) {
        site = &others;
        for (i = 0; i < rows->n && !are_same(&rows->rows[i].site, site);)
            i++;
    }
    struct ar_site_row *const grown = ar_grow(rows->rows, i + 1, &rows->room, sizeof *rows->rows);
    if (!grown)
        return NULL;
    rows->rows = grown;
    if (i == rows->n)
        grown[rows->n++] = (struct ar_site_row){.site = *site, .wait_ns = UINT64_MAX};
    grown[i].ranks += row->ranks;
    grown[i].calls += row->calls;
    grown[i].bytes += row->bytes;
    grown[i].ns += row->ns;
    grown[i].wait_ns = ar_known_sum(grown[i].wait_ns, row->wait_ns);
    grown[i].runs.runs += row->runs.runs;
    grown[i].runs.calls += row->runs.calls;
    grown[i].runs.bytes += row->runs.bytes;
    grown[i].runs.ns += row->runs.ns;
    if (row->runs_nranks > grown[i].runs_nranks)
        grown[i].runs_nranks = row->runs_nranks;
    return &grown[i];
}

void
ar_site_rows_sign(struct ar_site_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        rows->rows[i].ranks = 1;
}

static int
heavier_first(const void *a, const void *b)
{
    const struct ar_site_row *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return (x->calls < y->calls) - (x->calls > y->calls);
}

void
ar_site_rows_sort(struct ar_site_rows *rows)
{
    if (rows->n > 1)
        qsort(rows->rows, rows->n, sizeof *rows->rows, heavier_first);
}

const char *
ar_module_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *
ar_site_print(char text[AR_SITE_TEXT], const struct ar_site *site)
{
    if (*site->module)
        snprintf(text, AR_SITE_TEXT, "%s+0x%llx", ar_module_name(site->module),
                 (unsigned long long)site->offset);
    else
        snprintf(text, AR_SITE_TEXT, "(others)");
    return text;
}

const char *
ar_site_entry(const struct ar_site *site)
{
    return site->entry < AR_ENTRIES ? ar_entry_names[site->entry] : "-";
}
