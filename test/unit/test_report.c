/* The report: times on a logarithmic scale, rows that add up, and what is written of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/clock.h"
#include "report/say.h"
#include "report/table.h"
#include "report/watchdog.h"
#include "unit.h"

/* --- times --- */

static void
a_bucket_tells_a_time_to_one_sixteenth(void **state)
{
    (void)state;
    for (uint64_t ns = 0; ns < 16; ns++)
        assert_int_equal(ar_histogram_ns(ar_histogram_bucket(ns)), ns);
    for (uint64_t ns = 16; ns < (uint64_t)1 << 43; ns += 1 + ns / 97) {
        const uint64_t told = ar_histogram_ns(ar_histogram_bucket(ns));
        const uint64_t error = told > ns ? told - ns : ns - told;
        assert_true(error * 16 <= ns);
    }
}

static void
buckets_are_in_order_and_take_any_time(void **state)
{
    (void)state;
    for (unsigned i = 1; i < AR_HISTOGRAM_BUCKETS; i++) {
        assert_true(ar_histogram_ns(i) > ar_histogram_ns(i - 1));
        assert_int_equal(ar_histogram_bucket(ar_histogram_ns(i)), i);
    }
    assert_int_equal(ar_histogram_bucket(UINT64_MAX), AR_HISTOGRAM_BUCKETS - 1);
    assert_int_equal(ar_histogram_bucket((uint64_t)1 << 43), AR_HISTOGRAM_BUCKETS - 1);
}

static void
a_quantile_is_the_time_that_so_many_calls_did_not_exceed(void **state)
{
    struct ar_histogram h = {{0}};
    (void)state;
    assert_int_equal(ar_histogram_quantile(&h, 0.5), 0);
    h.count[ar_histogram_bucket(3)] = 98;
    h.count[ar_histogram_bucket(11)] = 1;
    h.count[ar_histogram_bucket(13)] = 1;
    assert_int_equal(ar_histogram_quantile(&h, 0), 3);
    assert_int_equal(ar_histogram_quantile(&h, 0.5), 3);
    assert_int_equal(ar_histogram_quantile(&h, 0.98), 3);
    assert_int_equal(ar_histogram_quantile(&h, 0.99), 11);
    assert_int_equal(ar_histogram_quantile(&h, 1), 13);
}

/* Not exact: the machine may do other things between two looks at two clocks. */
static void
ticks_are_time(void **state)
{
    (void)state;
    ar_clock_start();
    const uint64_t from = ar_clock_system_ns(), ticks = ar_clock_ticks();
    while (ar_clock_system_ns() < from + 20000000)
        ;
    const uint64_t told = ar_clock_ns(ar_clock_since(ticks)), ns = ar_clock_system_ns() - from;
    assert_in_range(told, 19000000, ns + ns / 100);
    assert_int_equal(ar_clock_since(ar_clock_ticks() + 1000000000), 0);
}

static void
sizes_fall_into_bins_of_powers_of_two(void **state)
{
    (void)state;
    assert_int_equal(ar_size_bin(0), 0);
    for (uint64_t bytes = 1; bytes < 5000; bytes++) {
        const unsigned bin = ar_size_bin(bytes);
        assert_in_range(bytes, ar_size_bin_first(bin), ar_size_bin_last(bin));
    }
    assert_int_equal(ar_size_bin_last(ar_size_bin(8)), 15);
    assert_int_equal(ar_size_bin_last(ar_size_bin(UINT64_MAX)), UINT64_MAX);
}

/* --- rows --- */

/* Calls of ns each on a communicator of nranks. */
static struct ar_row
row_of(const char *ran, const char *reason, int nranks, uint64_t calls, uint64_t ns)
{
    struct ar_row row = {.key = {.nranks = nranks, .bin = ar_size_bin(8)}};
    ar_counts_init(&row.counts);
    strcpy(row.key.type, "MPI_DOUBLE");
    strcpy(row.key.op, "MPI_SUM");
    strcpy(row.key.requested, "auto");
    snprintf(row.key.ran, sizeof row.key.ran, "%s", ran);
    snprintf(row.key.reason, sizeof row.key.reason, "%s", reason);
    row.counts.calls = calls;
    row.counts.bytes = 8 * calls;
    row.counts.ns = ns * calls;
    row.counts.least_ns = row.counts.most_ns = ns;
    row.counts.times.count[ar_histogram_bucket(ns)] = calls;
    row.counts.sizes[0] = (struct ar_size_counts){calls, 8, ns * calls};
    return row;
}

static void
add(struct ar_table *table, struct ar_row row)
{
    ar_table_add(table, &row);
}

static void
rows_of_one_key_add_up(void **state)
{
    struct ar_table table = {0};
    (void)state;
    add(&table, row_of("ring", "named", 4, 2, 10));
    add(&table, row_of("ring", "named", 2, 1, 5));
    add(&table, row_of("ring", "named", 4, 3, 12));
    assert_int_equal(table.nrows, 2);
    const struct ar_counts *c = &table.rows[0].counts;
    assert_int_equal(c->calls, 5);
    assert_int_equal(c->bytes, 40);
    assert_int_equal(c->ns, 56);
    assert_int_equal(c->least_ns, 10);
    assert_int_equal(c->most_ns, 12);
    ar_table_fini(&table);
}

/* A row whose calls have one size, in the same bin as that of row_of. */
static struct ar_row
row_of_size(uint64_t bytes, uint64_t calls)
{
    struct ar_row row = row_of("ring", "named", 4, calls, 10);
    row.counts.bytes = bytes * calls;
    row.counts.sizes[0].bytes = bytes;
    return row;
}

static void
sizes_of_one_row_are_counted_each(void **state)
{
    struct ar_table table = {0};
    char text[AR_ROW_SIZE_TEXT];
    uint64_t bytes = 0;
    (void)state;
    add(&table, row_of_size(12, 2));
    add(&table, row_of_size(12, 1));
    assert_true(ar_row_size(&bytes, &table.rows[0]));
    assert_int_equal(bytes, 12);
    assert_string_equal(ar_row_size_print(&table.rows[0], text), "12");
    add(&table, row_of_size(8, 4));
    add(&table, row_of_size(12, 5));
    assert_int_equal(table.nrows, 1);
    const struct ar_size_counts *const sizes = table.rows[0].counts.sizes;
    assert_int_equal(sizes[0].bytes, 12);
    assert_int_equal(sizes[0].calls, 8);
    assert_int_equal(sizes[0].ns, 80);
    assert_int_equal(sizes[1].bytes, 8);
    assert_int_equal(sizes[1].calls, 4);
    assert_int_equal(sizes[2].calls, 0);
    assert_false(ar_row_size(&bytes, &table.rows[0]));
    assert_string_equal(ar_row_size_print(&table.rows[0], text), "8+");
    ar_table_fini(&table);
}

static void
sizes_without_room_are_in_the_sums_alone(void **state)
{
    struct ar_table table = {0};
    uint64_t calls = 0;
    (void)state;
    for (uint64_t i = 0; i < 2 * AR_SIZES_MOST; i++) {
        struct ar_row row = row_of_size(1024 + i % (AR_SIZES_MOST + 2), 1);
        row.key.bin = ar_size_bin(1024);
        add(&table, row);
    }
    assert_int_equal(table.rows[0].counts.calls, 2 * AR_SIZES_MOST);
    for (int i = 0; i < AR_SIZES_MOST; i++) {
        assert_int_equal(table.rows[0].counts.sizes[i].bytes, 1024 + i);
        calls += table.rows[0].counts.sizes[i].calls;
    }
    assert_int_equal(calls, 2 * AR_SIZES_MOST - 2);
    ar_table_fini(&table);
}

static void
merging_ranks_finds_the_quickest_and_the_slowest(void **state)
{
    struct ar_table table = {0};
    (void)state;
    for (int rank = 0; rank < 3; rank++) {
        static const uint64_t ns[] = {20, 10, 30};
        struct ar_table one = {0};
        add(&one, row_of("ring", "named", 3, (uint64_t)rank + 1, ns[rank]));
        ar_table_sign(&one, rank);
        ar_table_add(&table, &one.rows[0]);
        ar_table_fini(&one);
    }
    assert_int_equal(table.nrows, 1);
    assert_int_equal(table.rows[0].ranks, 3);
    assert_int_equal(table.rows[0].quickest.rank, 1);
    assert_int_equal(table.rows[0].quickest.ns, 10);
    assert_int_equal(table.rows[0].slowest.rank, 2);
    ar_table_fini(&table);
}

/* Four ranks; in each of 100 calls another one comes last, and the rest wait. */
static void
the_own_time_is_that_of_the_ranks_that_came_last(void **state)
{
    (void)state;
    struct ar_row row = row_of("ring", "named", 4, 300, 1000);
    row.counts.times.count[ar_histogram_bucket(12)] = 100;
    row.counts.least_ns = 12;
    assert_int_equal(ar_row_own_ns(&row), 12);
}

/* --- where calls come from --- */

static struct ar_site_row
site_of(const char *module, const char *build_id, uint64_t offset, int ranks)
{
    struct ar_site_row row = {.site = {.offset = offset},
                              .ranks = 1,
                              .calls = 2,
                              .ns = offset,
                              .runs = {1, 2, 16, 20},
                              .runs_nranks = ranks};
    snprintf(row.site.module, sizeof row.site.module, "%s", module);
    snprintf(row.site.build_id, sizeof row.site.build_id, "%s", build_id);
    return row;
}

static void
a_site_is_the_same_by_name_and_build_and_offset(void **state)
{
    (void)state;
    static const struct {
        const char *module, *build_id;
        uint64_t offset;
        size_t n; /* sites from here on */
    } calls[] = {
        {"/a/app", "01", 16, 1}, {"/b/app", "01", 16, 1}, {"/a/app", "02", 16, 2},
        {"/a/app", "01", 32, 3}, {"other", "01", 16, 4},
    };
    struct ar_site_rows rows = {.rows = NULL};
    char text[AR_SITE_TEXT];
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const struct ar_site_row row =
            site_of(calls[i].module, calls[i].build_id, calls[i].offset, 5 - (int)i);
        assert_non_null(ar_site_rows_add(&rows, &row));
        assert_int_equal(rows.n, calls[i].n);
    }
    assert_int_equal(rows.rows[0].ranks, 2);
    assert_int_equal(rows.rows[0].calls, 4);
    assert_int_equal(rows.rows[0].runs.runs, 2);
    assert_int_equal(rows.rows[0].runs.calls, 4);
    assert_int_equal(rows.rows[0].runs.bytes, 32);
    assert_int_equal(rows.rows[0].runs.ns, 40);
    assert_int_equal(rows.rows[0].runs_nranks, 5);
    ar_site_rows_sort(&rows);
    assert_string_equal(ar_site_print(text, &rows.rows[0].site), "app+0x10");
    ar_site_rows_fini(&rows);
}

static void
sites_without_room_are_put_together(void **state)
{
    (void)state;
    struct ar_site_rows rows = {.rows = NULL};
    char text[AR_SITE_TEXT];
    for (uint64_t i = 0; i < AR_SITES_MOST + 5; i++) {
        const struct ar_site_row row = site_of("app", "", i, 2);
        assert_non_null(ar_site_rows_add(&rows, &row));
    }
    assert_int_equal(rows.n, AR_SITES_MOST + 1);
    assert_int_equal(rows.rows[AR_SITES_MOST].calls, 10);
    assert_string_equal(ar_site_print(text, &rows.rows[AR_SITES_MOST].site), "(others)");
    assert_string_equal(ar_site_entry(&rows.rows[AR_SITES_MOST].site), "-");
    ar_site_rows_fini(&rows);
}

/* --- who came first, and who last --- */

/* Rank `rank` of two has made n calls; the i-th took from + i * step. */
static struct ar_arrivals
arrivals_of(int rank, uint64_t calls, uint64_t from, uint64_t step)
{
    struct ar_call_times times = {.calls = 0};
    struct ar_arrivals arrivals;
    for (uint64_t i = 0; i < calls; i++)
        ar_call_times_note(&times, from + i * step);
    ar_arrivals_init(&arrivals, 7, 2, rank, &times);
    return arrivals;
}

/* Of n calls the 2^s-th ones are kept, with the smallest s for which there is room. */
static void
kept_times_are_those_of_calls_in_even_distances(void **state)
{
    (void)state;
    for (uint64_t calls = 1; calls < 10 * AR_ARRIVALS_KEPT; calls++) {
        const struct ar_arrivals a = arrivals_of(0, calls, 0, 1);
        uint64_t stride = 1;
        while ((calls + stride - 1) / stride > AR_ARRIVALS_KEPT)
            stride *= 2;
        assert_int_equal(ar_arrivals_kept(&a), (calls + stride - 1) / stride);
        for (int i = 0; i < ar_arrivals_kept(&a); i++)
            assert_int_equal(a.call[i].least_ns, (uint64_t)i * stride);
    }
}

/* Rank 0's calls take 30 ns each, rank 1's 0, 10, ... 50: it is last in three, of which its time
 * was at most half of rank 0's in two, and first in two. */
static void
who_is_in_a_call_for_the_shortest_time_came_last(void **state)
{
    (void)state;
    struct ar_arrivals_list list = {.items = NULL};
    struct ar_rank_rows rows = {.rows = NULL};
    const struct ar_arrivals one = arrivals_of(1, 6, 0, 10), zero = arrivals_of(0, 6, 30, 0);
    ar_arrivals_add(&list, &one);
    assert_false(ar_arrivals_are_complete(&list.items[0]));
    ar_arrivals_add(&list, &zero);
    assert_true(ar_arrivals_are_complete(&list.items[0]));
    for (int rank = 1; rank >= 0; rank--)
        assert_non_null(ar_rank_rows_add(&rows, &(struct ar_rank_row){.rank = rank}));
    ar_rank_rows_count(&rows, &list);
    assert_int_equal(rows.rows[1].rank, 1);
    assert_int_equal(rows.rows[1].last, 3);
    assert_int_equal(rows.rows[1].late, 2);
    assert_int_equal(rows.rows[1].late_ns, 30 + 20);
    assert_int_equal(rows.rows[1].first, 2);
    assert_int_equal(rows.rows[0].last, 3); /* of equal times the lower rank's counts */
    assert_int_equal(rows.rows[0].first, 4);
    assert_int_equal(rows.rows[0].late, 0);
    ar_rank_rows_fini(&rows);
    ar_arrivals_list_fini(&list);
}

static void
ranks_that_count_different_calls_are_not_compared(void **state)
{
    (void)state;
    struct ar_arrivals_list list = {.items = NULL};
    const struct ar_arrivals one = arrivals_of(1, 6, 0, 10), zero = arrivals_of(0, 5, 30, 0);
    ar_arrivals_add(&list, &one);
    ar_arrivals_add(&list, &zero);
    assert_false(ar_arrivals_are_complete(&list.items[0]));
    ar_arrivals_list_fini(&list);
}

static void
a_long_list_of_ranks_is_cut_to_those_that_were_late_most(void **state)
{
    (void)state;
    struct ar_rank_rows rows = {.rows = NULL};
    struct ar_rank_row picked[3];
    const uint64_t late[] = {1, 5, 0, 9, 5};
    for (int i = 0; i < 5; i++) {
        struct ar_rank_row row = {.rank = i, .late = late[i]};
        snprintf(row.host, sizeof row.host, "host%d", i / 2);
        assert_non_null(ar_rank_rows_add(&rows, &row));
    }
    assert_int_equal(ar_rank_rows_hosts(&rows), 3);
    assert_int_equal(ar_rank_rows_pick(&rows, picked, 3), 3);
    assert_int_equal(picked[0].rank, 1);
    assert_int_equal(picked[1].rank, 3);
    assert_int_equal(picked[2].rank, 4);
    ar_rank_rows_fini(&rows);
}

/* --- what is written --- */

typedef void write_fn(FILE *to, const struct ar_table *table);

/* A row of so many calls of size bin. */
static struct ar_row
sized(const char *ran, int nranks, unsigned bin, uint64_t calls, uint64_t ns)
{
    struct ar_row row = row_of(ran, "named", nranks, calls, ns);
    row.key.bin = bin;
    row.key.nodes = 1;
    row.counts.sizes[0].bytes = ar_size_bin_first(bin);
    return row;
}

static void
assert_alarm(const struct ar_table *table, const char *expected)
{
    struct ar_alarm alarms[2];
    char text[AR_ALARM_TEXT];
    assert_int_equal(ar_watchdog_look(table, alarms, 2), *expected != '\0');
    if (*expected && !strstr(ar_alarm_print(alarms, text, sizeof text), expected))
        fail_msg("'%s' is not in '%s'", expected, text);
}

static void
the_watchdog_sees_what_no_allreduce_should_do(void **state)
{
    (void)state;
    struct ar_table table = {0};
    add(&table, sized("ring", 4, 10, 100, 8000));
    assert_alarm(&table, "");
    add(&table, sized("reduce_bcast", 4, 10, 100, 2000));
    assert_alarm(&table, "a rule that may help: reduce_bcast:512@4");
    ar_table_fini(&table);

    add(&table, sized("ring", 4, 10, 100, 8000));
    add(&table, sized("rhd", 4, 12, 100, 2000)); /* four times the length says nothing */
    assert_alarm(&table, "");
    add(&table, sized("butterfly", 4, 11, 63, 1000)); /* of too few calls */
    assert_alarm(&table, "");
    add(&table, sized("rhd", 4, 11, 64, 2000));
    assert_alarm(&table, "takes 4.00 times as long as MPI_SUM of 1K on 4 ranks by rhd (");
    assert_alarm(&table, "; a rule that may help: rhd:512@4");
    ar_table_fini(&table);

    add(&table, sized("native", 9, 4, 100, 90000));
    add(&table, sized("native", 8, 4, 100, 30000)); /* fewer do less */
    assert_alarm(&table, "");
    add(&table, sized("native", 16, 4, 100, 30000)); /* across a power of two */
    assert_alarm(&table, "");
    add(&table, sized("native", 12, 4, 100, 40000));
    add(&table, sized("native", 15, 4, 100, 30000));
    assert_alarm(&table, "takes 3.00 times as long as MPI_SUM of 8 on 15 ranks by native (");
    assert_alarm(&table, "mpiexec -n 9 allreduce bench --sizes 8");
    ar_table_fini(&table);
}

/* Each differs from the other row in one thing that makes the calls others. */
static void
the_watchdog_compares_nothing_that_is_unlike(void **state)
{
    (void)state;
    enum { SAME, SIZE, SIZES, NODES, UNKNOWN, TYPE, USER, DERIVED, DEVICE, PLACE, CROWDED, KINDS };
    for (int kind = SAME; kind < KINDS; kind++) {
        struct ar_table table = {0};
        struct ar_row rows[] = {sized("ring", 4, 10, 100, 8000),
                                sized("reduce_bcast", 4, 10, 100, 2000)};
        rows[1].counts.sizes[0].bytes -= kind == SIZE;
        rows[1].counts.sizes[0].calls -= kind == SIZES;
        rows[1].key.nodes += kind == NODES;
        snprintf(rows[1].key.type, AR_NAME_TEXT, kind == TYPE ? "MPI_INT" : "MPI_DOUBLE");
        rows[1].key.place = kind == PLACE ? AR_IN_PLACE : AR_OUT_OF_PLACE;
        for (int i = 0; i < 2; i++) {
            if (kind == UNKNOWN)
                rows[i].key.nodes = 0;
            if (kind == USER)
                strcpy(rows[i].key.op, "user");
            if (kind == DERIVED)
                snprintf(rows[i].key.type, AR_NAME_TEXT, "derived");
            if (kind == DEVICE)
                strcpy(rows[i].key.reason, "device memory: by messages");
            rows[i].shares_cores = kind == CROWDED;
            add(&table, rows[i]);
        }
        struct ar_alarm alarm;
        if (ar_watchdog_look(&table, &alarm, 1) != (kind == SAME))
            fail_msg("kind %d", kind);
        ar_table_fini(&table);
    }
}

static char *
written(write_fn *write, const struct ar_table *table)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    assert_non_null(to);
    write(to, table);
    assert_int_equal(fclose(to), 0);
    return text;
}

static void
write_brief(FILE *to, const struct ar_table *table)
{
    ar_table_write_brief(to, table, "title");
}

static const struct ar_run run = {
    .version = "1.2",
    .family = "mpich",
    .library = "MPICH Version: 4",
    .command = "a b",
    .program = "a \"b\"\n",
    .when = "then",
    .elapsed_ns = 1500000000,
    .ranks = 4,
    .rank = -1,
};

static void
write_json(FILE *to, const struct ar_table *table)
{
    ar_table_write_json(to, table, &run);
}

static void
write_text(FILE *to, const struct ar_table *table)
{
    ar_table_write_text(to, table, &run);
}

static void
an_empty_table_in_brief_is_nothing(void **state)
{
    const struct ar_table table = {0};
    (void)state;
    char *text = written(write_brief, &table);
    assert_string_equal(text, "");
    free(text);
}

static void
in_brief_calls_of_a_kind_add_up_and_the_longest_time_comes_first(void **state)
{
    struct ar_table table = {0};
    (void)state;
    add(&table, row_of("ring", "named", 2, 1, 1000000));
    add(&table, row_of("native", "op does not commute", 2, 2, 250000));
    add(&table, row_of("butterfly", "auto", 2, 2, 1000000));
    add(&table, row_of("ring", "auto", 2, 4, 125000));
    add(&table, row_of("ring", "named", 4, 2, 1000000));
    char *text = written(write_brief, &table);
    assert_string_equal(
        text,
        "liballreduce: title\n"
        "liballreduce:      calls          bytes           ms  ran        why\n"
        "liballreduce:          3             24         3.00  ring       named\n"
        "liballreduce:          2             16         2.00  butterfly  auto\n"
        "liballreduce:          4             32        0.500  ring       auto\n"
        "liballreduce:          2             16        0.500  native     op does not commute\n");
    free(text);
    ar_table_fini(&table);
}

/* It counts from 10 ms on, and if it is a tenth of the calls' time. */
static void
in_brief_long_setup_is_told(void **state)
{
    static const struct {
        uint64_t ns, setup_ns;
        const char *line; /* its last one */
    } cases[] = {
        {1000000, 9900000, NULL},
        {200000000, 19000000, NULL},
        {200000000, 21000000,
         "liballreduce: set-up took another 21.0 ms in first calls, with waiting for ranks "
         "there\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ar_table table = {0};
        struct ar_row row = row_of("ring", "named", 2, 1, cases[i].ns);
        row.counts.setup_ns = cases[i].setup_ns;
        add(&table, row);
        char *text = written(write_brief, &table);
        const char *const setup = strstr(text, "liballreduce: set-up");
        assert_int_equal(setup != NULL, cases[i].line != NULL);
        if (setup)
            assert_string_equal(setup, cases[i].line);
        free(text);
        ar_table_fini(&table);
    }
}

/* One object a line, and last. */
static void
json_ends_with_what_the_watchdog_says(void **state)
{
    (void)state;
    struct ar_table table = {0};
    add(&table, sized("ring", 4, 10, 100, 8000));
    add(&table, sized("reduce_bcast", 4, 10, 100, 2000));
    char *text = written(write_json, &table);
    assert_true(strstr(text, "}\n{\"watchdog\": \"MPI_SUM of 512 on 4 ranks by ring"));
    assert_string_equal(strstr(text, "reduce_bcast:512@4"), "reduce_bcast:512@4\"}\n");
    free(text);
    ar_table_fini(&table);
}

static void
rows_of_communicators_with_unlike_names_stay_apart(void **state)
{
    static const struct {
        const char *name, *json, *text;
    } names[] = {
        {"", "\"comm\": \"\",", " auto       -             named"},
        {"a \"b\"\n", "\"comm\": \"a \\\"b\\\"\\u000a\",", " auto       a \"b\"?        named"},
        {"gr\xc3\xb6\xc3\x9f", "\"comm\": \"gr\xc3\xb6\xc3\x9f\",", "gr\xc3\xb6\xc3\x9f"},
        {"l\xe4tin", "\"comm\": \"l\\u00e4tin\",", "l\xe4tin"},
        {"\xc3", "\"comm\": \"\\u00c3\",", "\xc3"},
        {"\xed\xa0\x80", "\"comm\": \"\\u00ed\\u00a0\\u0080\",", "\xed\xa0\x80"},
    };
    const size_t n = sizeof names / sizeof names[0];
    struct ar_table table = {0};
    (void)state;
    for (size_t i = 0; i < 2 * n; i++) {
        struct ar_row row = row_of("ring", "named", 4, 2, 10);
        snprintf(row.key.comm, sizeof row.key.comm, "%s", names[i % n].name);
        add(&table, row);
    }
    assert_int_equal(table.nrows, n);
    char *const json = written(write_json, &table), *const text = written(write_text, &table);
    for (size_t i = 0; i < n; i++) {
        if (!strstr(json, names[i].json))
            fail_msg("no %s in %s", names[i].json, json);
        if (!strstr(text, names[i].text))
            fail_msg("no %s in %s", names[i].text, text);
    }
    free(json);
    free(text);
    ar_table_fini(&table);
}

static void
a_long_name_loses_its_middle_and_no_half_of_a_character(void **state)
{
    char text[20];
    (void)state;
    assert_string_equal(ar_name_fit(text, sizeof text, "nineteen characters"),
                        "nineteen characters");
    assert_string_equal(ar_name_fit(text, sizeof text, "a name of twenty-four so"),
                        "a name of ...our so");
    for (int shift = 0; shift < 4; shift++) {
        char name[64] = "abc";
        name[shift] = '\0';
        for (int i = 0; i < 12; i++)
            memcpy(name + shift + (ptrdiff_t)i * 3, "\xe2\x82\xac", 4);
        ar_name_fit(text, sizeof text, name);
        const char *const middle = strstr(text, "...");
        assert_non_null(middle);
        assert_int_equal((middle - text - shift) % 3, 0);
        assert_int_equal(strlen(middle + 3) % 3, 0);
        assert_true(strlen(text) + 4 >= sizeof text - 1);
    }
}

static void
json_has_the_run_and_a_line_for_each_row(void **state)
{
    struct ar_table table = {0};
    (void)state;
    add(&table, row_of("ring", "named", 4, 2, 10));
    struct ar_row untimed = row_of("native", "nonblocking", 4, 1, 0);
    untimed.key.entry = AR_ENTRY_IALLREDUCE;
    ar_counts_init(&untimed.counts);
    untimed.counts.calls = 1;
    add(&table, untimed);
    char *text = written(write_json, &table);
    assert_string_equal(
        text,
        "{\"format\": 1, \"liballreduce\": \"1.2\", \"mpi\": \"mpich\", \"program\": \"a "
        "\\\"b\\\"\\u000a\", \"when\": \"then\", \"world\": null, \"rank\": null, \"lost\": 0, "
        "\"elapsed_ns\": 1500000000, \"ranks\": 4, \"library\": \"MPICH Version: 4\", \"command\": "
        "\"a b\", \"hosts\": 0}\n"
        "{\"call\": \"MPI_Allreduce\", \"comm\": \"\", \"comm_size\": 4, \"nodes\": null, "
        "\"type\": \"MPI_DOUBLE\", "
        "\"op\": "
        "\"MPI_SUM\", \"bytes_from\": 8, \"bytes_to\": 15, \"requested\": \"auto\", \"ran\": "
        "\"ring\", \"reason\": \"named\", \"ranks\": 0, \"calls\": 2, \"bytes\": 16, "
        "\"setup_ns\": 0, \"ns\": 20, \"wait_ns\": 0, \"own_ns\": 10, \"streamed\": 0, \"min_ns\": "
        "10, "
        "\"median_ns\": 10, \"p99_ns\": 10, \"max_ns\": 10, \"running_ns\": null, \"quickest\": "
        "{\"rank\": 0, "
        "\"mean_ns\": "
        "0}, \"slowest\": {\"rank\": 0, \"mean_ns\": 0}, \"histogram\": [[10, 2]], \"sizes\": [[8, "
        "2, 20]], "
        "\"in_place\": false, \"shares_cores\": null}\n"
        "{\"call\": \"MPI_Iallreduce\", \"comm\": \"\", \"comm_size\": 4, \"nodes\": null, "
        "\"type\": "
        "\"MPI_DOUBLE\", \"op\": "
        "\"MPI_SUM\", \"bytes_from\": 8, \"bytes_to\": 15, \"requested\": \"auto\", \"ran\": "
        "\"native\", \"reason\": \"nonblocking\", \"ranks\": 0, \"calls\": 1, \"bytes\": 0, "
        "\"setup_ns\": null, \"ns\": null, \"wait_ns\": null, \"own_ns\": null, \"streamed\": 0, "
        "\"min_ns\": null, "
        "\"median_ns\": null, \"p99_ns\": null, \"max_ns\": null, \"running_ns\": null, "
        "\"quickest\": null, "
        "\"slowest\": null, \"histogram\": [], \"sizes\": [], \"in_place\": false, "
        "\"shares_cores\": null}\n");
    free(text);
    ar_table_fini(&table);
}

static void
text_has_a_line_for_each_row_with_its_names_below_each_other(void **state)
{
    struct ar_table table = {0};
    (void)state;
    add(&table, row_of("ring", "named", 4, 2, 1000));
    add(&table, row_of("segmented_ring(segment=64K)", "rule", 4, 2, 1000));
    char *text = written(write_text, &table);
    assert_non_null(strstr(text, "ran                          requested  communicator  why\n"));
    assert_non_null(strstr(text, "1.50 s since the first allreduce"));
    assert_non_null(strstr(text, "segmented_ring(segment=64K)  auto       -             rule\n"));
    assert_non_null(strstr(text, "ring                         auto       -             named\n"));
    free(text);
    ar_table_fini(&table);
}

/* What ar_say writes to the standard error, up to room - 1 bytes. */
static size_t
said(char *text, size_t room, const char *word)
{
    int ends[2], saved = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    ar_say("%s", word);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    const ssize_t n = read(ends[0], text, room - 1);
    close(ends[0]);
    assert_true(n >= 0);
    text[n] = '\0';
    return (size_t)n;
}

static void
a_word_is_one_line(void **state)
{
    char text[4096], longer[3000];
    (void)state;
    said(text, sizeof text, "hello");
    assert_string_equal(text, "liballreduce: hello\n");

    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    const size_t n = said(text, sizeof text, longer);
    assert_in_range(n, 500, 1024);
    assert_int_equal(text[n - 1], '\n');
    assert_int_equal(text[n - 2], 'a');
}

/* Ranks 0 .. n-1 are marked as text says, 'x' for yes, and called i for the i-th, or names[i]. */
static void
assert_ranks(const char *text, const int *names, const char *said)
{
    unsigned char marks[64];
    char room[256];
    struct ar_text t;
    const struct ar_ranks ranks = {(int)strlen(text), marks, names};
    int n = 0;
    for (int i = 0; text[i]; i++) {
        marks[i] = text[i] == 'x' ? 3 : 1;
        n += text[i] == 'x';
    }
    ar_text_init(&t, room, sizeof room);
    assert_int_equal(ar_ranks_print(&t, &ranks, 2), n);
    assert_string_equal(room, said);
}

static void
ranks_are_told_in_runs(void **state)
{
    (void)state;
    assert_ranks("", NULL, "");
    assert_ranks("....", NULL, "");
    assert_ranks("..x.", NULL, "rank 2");
    assert_ranks("xx..", NULL, "ranks 0, 1");
    assert_ranks(".xxx", NULL, "ranks 1-3");
    assert_ranks("x.xxxx.x", NULL, "ranks 0, 2-5, 7");
    assert_ranks("x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.xx", NULL,
                 "ranks 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 31");
    assert_ranks("x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.xxx", NULL,
                 "ranks 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, and 3 more");
}

static void
ranks_are_called_by_their_names(void **state)
{
    (void)state;
    assert_ranks("xx.x", (const int[]){7, 8, 9, 10}, "ranks 7, 8, 10");
    assert_ranks("xxxx", (const int[]){3, 2, 5, 6}, "ranks 3, 2, 5, 6");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bucket_tells_a_time_to_one_sixteenth),
        cmocka_unit_test(buckets_are_in_order_and_take_any_time),
        cmocka_unit_test(a_quantile_is_the_time_that_so_many_calls_did_not_exceed),
        cmocka_unit_test(ticks_are_time),
        cmocka_unit_test(sizes_fall_into_bins_of_powers_of_two),
        cmocka_unit_test(rows_of_one_key_add_up),
        cmocka_unit_test(sizes_of_one_row_are_counted_each),
        cmocka_unit_test(sizes_without_room_are_in_the_sums_alone),
        cmocka_unit_test(merging_ranks_finds_the_quickest_and_the_slowest),
        cmocka_unit_test(the_own_time_is_that_of_the_ranks_that_came_last),
        cmocka_unit_test(a_site_is_the_same_by_name_and_build_and_offset),
        cmocka_unit_test(sites_without_room_are_put_together),
        cmocka_unit_test(kept_times_are_those_of_calls_in_even_distances),
        cmocka_unit_test(who_is_in_a_call_for_the_shortest_time_came_last),
        cmocka_unit_test(ranks_that_count_different_calls_are_not_compared),
        cmocka_unit_test(a_long_list_of_ranks_is_cut_to_those_that_were_late_most),
        cmocka_unit_test(an_empty_table_in_brief_is_nothing),
        cmocka_unit_test(in_brief_calls_of_a_kind_add_up_and_the_longest_time_comes_first),
        cmocka_unit_test(in_brief_long_setup_is_told),
        cmocka_unit_test(rows_of_communicators_with_unlike_names_stay_apart),
        cmocka_unit_test(a_long_name_loses_its_middle_and_no_half_of_a_character),
        cmocka_unit_test(json_has_the_run_and_a_line_for_each_row),
        cmocka_unit_test(json_ends_with_what_the_watchdog_says),
        cmocka_unit_test(text_has_a_line_for_each_row_with_its_names_below_each_other),
        cmocka_unit_test(a_word_is_one_line),
        cmocka_unit_test(ranks_are_told_in_runs),
        cmocka_unit_test(ranks_are_called_by_their_names),
        cmocka_unit_test(the_watchdog_sees_what_no_allreduce_should_do),
        cmocka_unit_test(the_watchdog_compares_nothing_that_is_unlike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
