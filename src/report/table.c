#include "report/table.h"

#include <stdio.h>
#include <string.h>

#include "schedule/grow.h"

void
ar_table_fini(struct ar_table *table)
{
    free(ar_table_take_rows(table));
    ar_rank_rows_fini(&table->ranks);
    ar_site_rows_fini(&table->sites);
    ar_arrivals_list_fini(&table->arrivals);
    *table = (struct ar_table){0};
}

void
ar_counts_init(struct ar_counts *counts)
{
    memset(counts, 0, sizeof *counts);
    counts->least_ns = UINT64_MAX;
}

void
ar_counts_add(struct ar_counts *sum, const struct ar_counts *counts)
{
    sum->calls += counts->calls;
    sum->bytes += counts->bytes;
    sum->ns += counts->ns;
    sum->wait_ns += counts->wait_ns;
    sum->setup_ns += counts->setup_ns;
    sum->streamed += counts->streamed;
    if (counts->least_ns < sum->least_ns)
        sum->least_ns = counts->least_ns;
    if (counts->most_ns > sum->most_ns)
        sum->most_ns = counts->most_ns;
    for (int i = 0; i < AR_HISTOGRAM_BUCKETS; i++)
        sum->times.count[i] += counts->times.count[i];
    for (int i = 0; i < AR_SIZES_MOST && counts->sizes[i].calls > 0; i++) {
        struct ar_size_counts *const mine = ar_size_find(sum->sizes, counts->sizes[i].bytes);
        if (!mine)
            continue;
        mine->bytes = counts->sizes[i].bytes;
        mine->calls += counts->sizes[i].calls;
        mine->ns += counts->sizes[i].ns;
    }
}

/* --- rows by their keys --- */

static void
forget_slots(struct ar_table *table)
{
    free(table->slots);
    table->slots = NULL;
    table->nslots = 0;
}

/* The slot of the row with this key, or the free one where it belongs.  FNV-1a. */
static uint32_t *
find_slot(const struct ar_table *table, const struct ar_row_key *key)
{
    const unsigned char *const bytes = (const unsigned char *)key;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof *key; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    for (size_t i = (size_t)hash;; i++) {
        uint32_t *const slot = &table->slots[i & (table->nslots - 1)];
        if (*slot == 0 || memcmp(&table->rows[*slot - 1].key, key, sizeof *key) == 0)
            return slot;
    }
}

/* Half of the slots stay free.  False without memory. */
static bool
make_slots(struct ar_table *table)
{
    size_t n = table->nslots ? table->nslots : 64;
    if (table->nslots >= 2 * (table->nrows + 1))
        return true;
    while (n < 2 * (table->nrows + 1))
        n *= 2;
    uint32_t *const slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    free(table->slots);
    table->slots = slots;
    table->nslots = n;
    for (size_t i = 0; i < table->nrows; i++)
        *find_slot(table, &table->rows[i].key) = (uint32_t)i + 1;
    return true;
}

struct ar_row *
ar_table_take_rows(struct ar_table *table)
{
    struct ar_row *const rows = table->rows;
    forget_slots(table);
    table->rows = NULL;
    table->nrows = table->room = 0;
    return rows;
}

struct ar_row *
ar_table_add(struct ar_table *table, const struct ar_row *row)
{
    uint32_t *const slot = make_slots(table) ? find_slot(table, &row->key) : NULL;
    const size_t i = slot && *slot ? *slot - 1 : table->nrows;
    struct ar_row *const rows =
        slot ? ar_grow(table->rows, i + 1, &table->room, sizeof *rows) : NULL;
    if (!rows) {
        table->lost += row->counts.calls;
        return NULL;
    }
    table->rows = rows;
    struct ar_row *const mine = &table->rows[i];
    if (i == table->nrows) {
        *slot = (uint32_t)++table->nrows;
        *mine = *row;
        return mine;
    }
    mine->shares_cores |= row->shares_cores;
    ar_counts_add(&mine->counts, &row->counts);
    mine->ranks += row->ranks;
    if (row->running_ns > mine->running_ns)
        mine->running_ns = row->running_ns;
    if (row->quickest.ns < mine->quickest.ns)
        mine->quickest = row->quickest;
    if (row->slowest.ns > mine->slowest.ns)
        mine->slowest = row->slowest;
    return mine;
}

void
ar_table_merge(struct ar_table *sum, const struct ar_table *table)
{
    for (size_t i = 0; i < table->nrows; i++)
        ar_table_add(sum, &table->rows[i]);
    for (size_t i = 0; i < table->ranks.n; i++)
        ar_rank_rows_add(&sum->ranks, &table->ranks.rows[i]);
    for (size_t i = 0; i < table->sites.n; i++)
        ar_site_rows_add(&sum->sites, &table->sites.rows[i]);
    for (size_t i = 0; i < table->arrivals.n; i++)
        ar_arrivals_add(&sum->arrivals, &table->arrivals.items[i]);
    sum->lost += table->lost;
}

void
ar_table_sign(struct ar_table *table, int rank)
{
    for (size_t i = 0; i < table->nrows; i++) {
        struct ar_row *row = &table->rows[i];
        const uint64_t calls = row->counts.calls;
        row->ranks = 1;
        row->quickest = (struct ar_extreme){rank, calls ? row->counts.ns / calls : 0};
        row->slowest = row->quickest;
    }
}

void
ar_table_add_rank(struct ar_table *table, const struct ar_rank_row *from)
{
    struct ar_rank_row row = *from;
    bool knows_wait = false;
    ar_table_sign(table, row.rank);
    ar_site_rows_sign(&table->sites);
    for (size_t i = 0; i < table->nrows; i++) {
        const struct ar_counts *const c = &table->rows[i].counts;
        row.calls += c->calls;
        row.bytes += c->bytes;
        row.ns += c->ns;
        row.wait_ns += c->wait_ns;
        row.setup_ns += c->setup_ns;
        knows_wait |= !ar_row_is_native(&table->rows[i]);
    }
    if (!knows_wait)
        row.wait_ns = UINT64_MAX;
    ar_rank_rows_add(&table->ranks, &row);
}

static int
heavier_first(const void *a, const void *b)
{
    const struct ar_counts *x = &((const struct ar_row *)a)->counts;
    const struct ar_counts *y = &((const struct ar_row *)b)->counts;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return (x->calls < y->calls) - (x->calls > y->calls);
}

void
ar_table_sort(struct ar_table *table)
{
    if (table->nrows > 1)
        qsort(table->rows, table->nrows, sizeof *table->rows, heavier_first);
    forget_slots(table);
    ar_site_rows_sort(&table->sites);
}

uint64_t
ar_size_bin_first(unsigned bin)
{
    return bin ? (uint64_t)1 << (bin - 1) : 0;
}

uint64_t
ar_size_bin_last(unsigned bin)
{
    return bin ? 2 * ar_size_bin_first(bin) - 1 : 0;
}

bool
ar_row_size(uint64_t *bytes, const struct ar_row *row)
{
    const struct ar_size_counts *const size = &row->counts.sizes[0];
    const uint64_t first = ar_size_bin_first(row->key.bin);
    const bool is_one = size->calls > 0 && size->calls == row->counts.calls;
    if (is_one || first == ar_size_bin_last(row->key.bin))
        *bytes = is_one ? size->bytes : first;
    return is_one || first == ar_size_bin_last(row->key.bin);
}

char *
ar_row_size_print(const struct ar_row *row, char text[AR_ROW_SIZE_TEXT])
{
    uint64_t bytes = ar_size_bin_first(row->key.bin);
    const bool is_one = ar_row_size(&bytes, row);
    char size[AR_SIZE_TEXT];
    snprintf(text, AR_ROW_SIZE_TEXT, "%s%s", ar_size_print(bytes, size, sizeof size),
             is_one ? "" : "+");
    return text;
}

bool
ar_row_is_native(const struct ar_row *row)
{
    return strcmp(row->key.ran, "native") == 0;
}

char *
ar_row_why(const struct ar_row *row, char text[AR_WHY_TEXT])
{
    snprintf(text, AR_WHY_TEXT, "%s%s%s", row->key.reason,
             row->key.place == AR_IN_PLACE ? ", in place" : "",
             row->counts.streamed > row->counts.calls / 2 ? ", streamed" : "");
    return text;
}

uint64_t
ar_row_quantile(const struct ar_row *row, double fraction)
{
    const struct ar_counts *c = &row->counts;
    const uint64_t ns = ar_histogram_quantile(&c->times, fraction);
    if (c->least_ns == UINT64_MAX)
        return 0;
    return ns < c->least_ns ? c->least_ns : ns > c->most_ns ? c->most_ns : ns;
}

uint64_t
ar_row_own_ns(const struct ar_row *row)
{
    const int nranks = row->key.nranks > 1 ? row->key.nranks : 1;
    return ar_row_quantile(row, 0.5 / nranks);
}

static bool
is_within_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

void
ar_name_clean(char *text)
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
        else if ((unsigned char)*c == 0xc2 && (unsigned char)c[1] >= 0x80 &&
                 (unsigned char)c[1] < 0xa0)
            c[0] = c[1] = '?'; /* U+0080 to U+009F: terminals take some of them for commands */
}

char *
ar_name_fit(char *text, size_t room, const char *name)
{
    const size_t length = strlen(name);
    size_t head = length, tail = length; /* what is kept ends, and begins again */
    if (length >= room) {
        head = (room - 4) * 2 / 3;
        tail = length - (room - 4 - head);
        while (head > 0 && is_within_character(name[head]))
            head--;
        while (is_within_character(name[tail]))
            tail++;
    }
    snprintf(text, room, "%.*s%s%s", (int)head, name, head < tail ? "..." : "", name + tail);
    ar_name_clean(text);
    return text;
}
