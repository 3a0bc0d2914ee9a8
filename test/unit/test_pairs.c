/* Which pairs of ranks are measured for the levels inside a node, and what follows from their
 * times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cores/levels.h"
#include "model/pairs.h"
#include "schedule/error.h"
#include "topology.h"
#include "unit.h"

#define RANKS_MOST 256

/* What so many ranks share. */
struct shared {
    int of[AR_DOMAINS][RANKS_MOST];
    struct ar_domains domains;
};

static const enum ar_cpu_level level_of[AR_DOMAINS] = {[AR_DOMAIN_L3] = AR_CPU_CACHE,
                                                       [AR_DOMAIN_NUMA] = AR_CPU_NUMA,
                                                       [AR_DOMAIN_SOCKET] = AR_CPU_SOCKET};

static void
point(struct shared *s, int nranks)
{
    s->domains.nranks = nranks;
    for (int d = 0; d < AR_DOMAINS; d++)
        s->domains.of[d] = s->of[d];
}

/* Ranks that are bound to the first hardware thread of each core of a made-up machine, in order. */
static void
bind_ranks(struct shared *s, const struct topology *t)
{
    const int cores = t->cores * (t->caches ? t->caches : 1) * t->nodes * t->sockets;
    char root[] = "test_pairs_XXXXXX";
    assert_non_null(mkdtemp(root));
    topology_make(t, root);
    for (int r = 0; r < cores; r++) {
        struct ar_cpu_levels levels;
        struct ar_cpus cpu = {{0}};
        ar_cpus_add(&cpu, r);
        ar_cpu_levels_find(&levels, root, &cpu);
        for (int d = 0; d < AR_DOMAINS; d++)
            s->of[d][r] = levels.domain[level_of[d]];
    }
    topology_remove(root);
    point(s, cores);
}

static struct ar_pairs
pairs_of(const struct shared *s)
{
    struct ar_pairs pairs;
    assert_int_equal(ar_pairs_find(&pairs, &s->domains, s->domains.nranks), AR_OK);
    return pairs;
}

/* The levels as text: name, ranks, pairs. */
static void
expect(const struct ar_pairs *pairs, const char *wanted)
{
    char text[512];
    int n = 0;
    for (int l = 0; l < pairs->nlevels; l++) {
        const struct ar_pairs_level *const level = &pairs->level[l];
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%s %d:", l ? "; " : "", level->name,
                      level->ranks);
        for (int i = 0; i < level->n; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, " %d-%d", level->ranks_of[i][0],
                          level->ranks_of[i][1]);
    }
    assert_string_equal(n ? text : "", wanted);
}

static void
each_level_has_pairs_that_share_nothing_further_inside(void **state)
{
    static const struct {
        struct topology machine;
        bool shares_cache;
        const char *pairs;
    } cases[] = {
        {{.sockets = 2, .nodes = 2, .caches = 4, .cores = 4, .threads = 1},
         true,
         "l3 4: 0-1 32-33 60-61; numa 16: 0-4 32-36 48-52; socket 32: 0-16 32-48; node 64: 0-32"},
        {{.sockets = 2, .nodes = 1, .caches = 1, .cores = 16, .threads = 2},
         true,
         "l3 16: 0-1 16-17; node 32: 0-16"},
        {{.sockets = 1, .nodes = 1, .caches = 1, .cores = 16, .threads = 1},
         true,
         "node 16: 0-1 0-8 0-15"},
        {{.sockets = 1, .nodes = 3, .caches = 1, .cores = 2, .threads = 1},
         true,
         "l3 2: 0-1 2-3 4-5; node 6: 0-2 0-4"},
        {{.sockets = 2, .nodes = 2, .cores = 4, .threads = 1},
         false,
         "numa 4: 0-1 8-9 12-13; socket 8: 0-4 8-12; node 16: 0-8"},
        {{.sockets = 1, .nodes = 1, .caches = 1, .cores = 2, .threads = 1}, true, "node 2: 0-1"},
        {{.sockets = 1, .nodes = 1, .cores = 2, .threads = 1}, false, "node 2: 0-1"},
        {{.sockets = 1, .nodes = 1, .caches = 1, .cores = 1, .threads = 1}, false, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static struct shared s;
        bind_ranks(&s, &cases[i].machine);
        const struct ar_pairs pairs = pairs_of(&s);
        expect(&pairs, cases[i].pairs);
        assert_int_equal(pairs.shares_cache, cases[i].shares_cache);
    }
}

/* As which the model takes messages of these ranks, to which ar_measure sends them. */
static void
ranks_0_and_1_share_the_first_level(void **state)
{
    (void)state;
    for (int cores = 1; cores <= 4; cores++)
        for (int caches = 1; caches <= 3; caches++)
            for (int sockets = 1; sockets <= 3; sockets++) {
                static struct shared s;
                bind_ranks(&s, &(struct topology){.sockets = sockets,
                                                  .nodes = 1,
                                                  .caches = caches,
                                                  .cores = cores,
                                                  .threads = 1});
                const struct ar_pairs pairs = pairs_of(&s);
                if (pairs.nlevels == 0)
                    continue;
                assert_int_equal(pairs.level[0].ranks_of[0][0], 0);
                assert_int_equal(pairs.level[0].ranks_of[0][1], 1);
            }
}

/* Two threads of a core, or two ranks of a cache, would get the line from each other. */
static void
readers_of_a_line_share_the_level_and_no_cache(void **state)
{
    static const struct {
        struct topology machine;
        const char *readers;
    } cases[] = {
        {{.sockets = 2, .nodes = 2, .caches = 4, .cores = 4, .threads = 1},
         "l3: 1 2 3; numa: 4 8 12; socket: 16 20 24 28; node: 32 36 40 44 48 52 56 60"},
        {{.sockets = 2, .nodes = 1, .caches = 1, .cores = 16, .threads = 2},
         "l3: 1 2 3 4 5 6 7 8; node:"},
        {{.sockets = 2, .nodes = 2, .cores = 4, .threads = 1}, "numa: 1 2 3; socket:; node: 8 12"},
        {{.sockets = 1, .nodes = 1, .caches = 1, .cores = 3, .threads = 1}, "node: 1 2"},
        {{.sockets = 1, .nodes = 1, .caches = 1, .cores = 2, .threads = 1}, "node:"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static struct shared s;
        char text[256];
        int n = 0;
        bind_ranks(&s, &cases[i].machine);
        const struct ar_pairs pairs = pairs_of(&s);
        for (int l = 0; l < pairs.nlevels; l++) {
            const struct ar_pairs_level *const level = &pairs.level[l];
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%s:", l ? "; " : "", level->name);
            for (int k = 0; k < level->nreaders; k++)
                n += snprintf(text + n, sizeof text - (size_t)n, " %d", level->readers[k]);
        }
        assert_string_equal(text, cases[i].readers);
    }
}

/* In its group, from a rank that shares nothing further inside; each from another one. */
static void
each_rank_reads_one_of_another_unit(void **state)
{
    static struct shared s;
    bind_ranks(&s,
               &(struct topology){.sockets = 2, .nodes = 2, .caches = 4, .cores = 3, .threads = 1});
    const struct ar_pairs pairs = pairs_of(&s);
    const int nranks = s.domains.nranks;
    (void)state;
    assert_int_equal(pairs.nlevels, 4);
    for (int l = 0; l < pairs.nlevels; l++) {
        const struct ar_pairs_level *const level = &pairs.level[l];
        bool is_read[RANKS_MOST] = {false};
        for (int r = 0; r < nranks; r++) {
            const int partner = ar_pairs_partner(level, r);
            assert_int_equal(partner / level->ranks, r / level->ranks);
            assert_int_not_equal(partner / level->unit, r / level->unit);
            assert_false(is_read[partner]);
            is_read[partner] = true;
        }
    }
}

/* A machine file cannot say what they share. */
static void
ranks_that_are_dealt_or_unequal_or_unbound_are_one_level(void **state)
{
    static struct shared s;
    static const int dealt[4] = {0, 1, 0, 1}, unequal[4] = {0, 0, 0, 3},
                     unbound[4] = {-1, -1, -1, -1};
    static const int *const sockets[] = {dealt, unequal, unbound};
    (void)state;
    for (size_t i = 0; i < sizeof sockets / sizeof sockets[0]; i++) {
        point(&s, 4);
        for (int r = 0; r < 4; r++) {
            s.of[AR_DOMAIN_L3][r] = s.of[AR_DOMAIN_NUMA][r] = AR_CPU_UNKNOWN;
            s.of[AR_DOMAIN_SOCKET][r] = sockets[i][r];
        }
        const struct ar_pairs pairs = pairs_of(&s);
        expect(&pairs, "node 4: 0-1 0-2 0-3");
        assert_false(pairs.shares_cache);
    }
}

/* 2 sockets of 2 NUMA nodes of 2 caches of 2 cores, measured. */
static struct ar_pairs
measured(void)
{
    static struct shared s;
    bind_ranks(&s,
               &(struct topology){.sockets = 2, .nodes = 2, .caches = 2, .cores = 2, .threads = 1});
    struct ar_pairs pairs = pairs_of(&s);
    expect(&pairs, "l3 2: 0-1 8-9 14-15; numa 4: 0-2 8-10 12-14; socket 8: 0-4 8-12; node 16: 0-8");
    for (int l = 0; l < pairs.nlevels; l++)
        for (int i = 0; i < pairs.level[l].n; i++)
            pairs.level[l].latency[i] = 40 * (l + 1) + (i == 1 ? 500 : i);
    for (int l = 0; l < pairs.nlevels; l++)
        pairs.level[l].per_byte = 0.25;
    pairs.level[1].serve = 17;
    pairs.level[3].memory_per_byte = 0.02;
    return pairs;
}

static struct ar_machine
machine_of(int ranks)
{
    struct ar_machine m = ar_machine_flat(1000, 0.1, 0.05);
    m.ranks_per_node = ranks;
    m.node = m.network;
    return m;
}

/* Of three times the middle one, of two their mean; 500 ns more is one that was held up. */
static void
levels_are_written_by_the_medians_of_their_pairs(void **state)
{
    static const char wanted[] =
        "level      l3  ranks 2  latency 42ns  bandwidth 4GB/s  cache 16M\n"
        "level      numa  ranks 4  latency 82ns  serve 17ns  bandwidth 4GB/s\n"
        "level      socket  ranks 8  latency 370ns  bandwidth 4GB/s\n"
        "level      node  ranks 16  latency 160ns  bandwidth 4GB/s  memory 50GB/s\n";
    const struct ar_pairs pairs = measured();
    struct ar_machine m = machine_of(16), again;
    char problem[AR_MACHINE_PROBLEM];
    (void)state;
    assert_true(ar_pairs_set_levels(&m, &pairs, (size_t)16 << 20));
    char *const text = ar_machine_print(&m);
    assert_non_null(text);
    if (!strstr(text, wanted))
        fail_msg("\n%s\nhas not\n%s", text, wanted);
    if (ar_machine_parse(&again, text, problem))
        fail_msg("%s: of\n%s", problem, text);
    assert_int_equal(again.ndomains, 4);
    free(text);
}

static void
levels_are_not_written_where_something_is_missing(void **state)
{
    const struct ar_pairs pairs = measured();
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct ar_pairs other = pairs;
        struct ar_machine m = machine_of(i == 0 ? 8 : 16);
        m.cores_per_node = i == 1 ? 2 : 0;
        m.host_nodes = i == 2 ? 2 : 0;
        if (i == 3)
            other.level[2].per_byte = 0;
        if (i == 4)
            other.nlevels = 0;
        assert_false(ar_pairs_set_levels(&m, &other, 0));
        assert_int_equal(m.ndomains, 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_level_has_pairs_that_share_nothing_further_inside),
        cmocka_unit_test(ranks_0_and_1_share_the_first_level),
        cmocka_unit_test(readers_of_a_line_share_the_level_and_no_cache),
        cmocka_unit_test(each_rank_reads_one_of_another_unit),
        cmocka_unit_test(ranks_that_are_dealt_or_unequal_or_unbound_are_one_level),
        cmocka_unit_test(levels_are_written_by_the_medians_of_their_pairs),
        cmocka_unit_test(levels_are_not_written_where_something_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
