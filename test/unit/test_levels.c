/* The levels inside a node, read from made-up machines.  That hwloc says the same of them, and of
 * real ones, is tested in test/cli/test_cli_levels.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cores/levels.h"
#include "topology.h"
#include "unit.h"

static char root[32];

static void
make(const struct topology *t)
{
    snprintf(root, sizeof root, "test_levels_XXXXXX");
    assert_non_null(mkdtemp(root));
    topology_make(t, root);
}

/* The levels of a mask, given as Linux writes it. */
static struct ar_cpu_levels
levels_of(const char *map)
{
    struct ar_cpu_levels levels;
    struct ar_cpus cpus;
    assert_true(ar_cpus_parse(&cpus, map));
    ar_cpu_levels_find(&levels, root, &cpus);
    return levels;
}

static void
expect(const char *map, int core, int cache, int numa, int socket)
{
    const struct ar_cpu_levels l = levels_of(map);
    if (l.domain[AR_CPU_CORE] != core || l.domain[AR_CPU_CACHE] != cache ||
        l.domain[AR_CPU_NUMA] != numa || l.domain[AR_CPU_SOCKET] != socket)
        fail_msg("%s: core %d, cache %d, NUMA %d, socket %d", map, l.domain[AR_CPU_CORE],
                 l.domain[AR_CPU_CACHE], l.domain[AR_CPU_NUMA], l.domain[AR_CPU_SOCKET]);
}

static int
count(enum ar_cpu_level level, const char *map)
{
    struct ar_cpus cpus;
    assert_true(ar_cpus_parse(&cpus, map));
    return ar_cpu_domains_count(root, level, &cpus);
}

/* --- sets --- */

static void
a_set_is_read_as_linux_writes_it(void **state)
{
    struct ar_cpus cpus;
    (void)state;
    assert_true(ar_cpus_parse(&cpus, "5\n"));
    assert_int_equal(ar_cpus_count(&cpus), 2);
    assert_true(ar_cpus_have(&cpus, 0) && ar_cpus_have(&cpus, 2));
    assert_true(ar_cpus_parse(&cpus, "00000001,80000000,00000000"));
    assert_int_equal(ar_cpus_next(&cpus, -1), 63);
    assert_int_equal(ar_cpus_next(&cpus, 63), 64);
    assert_int_equal(ar_cpus_next(&cpus, 64), -1);
    assert_true(ar_cpus_parse(&cpus, "0"));
    assert_int_equal(ar_cpus_next(&cpus, -1), -1);
}

static void
a_set_that_makes_no_sense_is_refused(void **state)
{
    static const char *const bad[] = {"", "\n", "0-3", "0x3", "ffg"};
    char wide[AR_CPUS_MAX / 4 + 2] = "1";
    struct ar_cpus cpus;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(ar_cpus_parse(&cpus, bad[i]));
    memset(wide + 1, '0', AR_CPUS_MAX / 4);
    assert_false(ar_cpus_parse(&cpus, wide)); /* a CPU too many */
    wide[0] = '0';
    assert_true(ar_cpus_parse(&cpus, wide));
    assert_false(ar_cpus_have(&cpus, AR_CPUS_MAX) || ar_cpus_have(&cpus, -1));
}

static void
the_system_tells_this_threads_cpus(void **state)
{
    struct ar_cpus cpus;
    struct ar_cpu_levels levels;
    (void)state;
    assert_true(ar_cpus_of_thread(&cpus));
    assert_true(ar_cpus_count(&cpus) > 0);
    ar_cpu_levels_find(&levels, "", &cpus); /* whatever is there */
}

/* --- machines --- */

/* Writes a file of the system's CPUs anew. */
static void
write_below(const char *name, const char *text)
{
    char path[sizeof root + 128];
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/%s", root, name);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

static void
a_rank_on_one_core_has_a_domain_at_each_level(void **state)
{
    const struct topology t = {
        .sockets = 2, .nodes = 2, .caches = 2, .cores = 2, .threads = 2, .memory_nodes = 1};
    (void)state;
    make(&t); /* 16 cores: CPUs 0 to 15, and their second threads 16 to 31 */
    expect("1", 0, 0, 0, 0);
    expect("00010001", 0, 0, 0, 0);
    expect("80000000", 15, 14, 12, 8);
    expect("00000c00", AR_CPU_SPREAD, 10, 8, 8);
    topology_remove(root);
}

static void
a_mask_of_several_domains_is_not_bound_to_one(void **state)
{
    const struct topology t = {.sockets = 2, .nodes = 2, .caches = 2, .cores = 2, .threads = 1};
    (void)state;
    make(&t);
    expect("0006", AR_CPU_SPREAD, AR_CPU_SPREAD, 0, 0);
    expect("0018", AR_CPU_SPREAD, AR_CPU_SPREAD, AR_CPU_SPREAD, 0);
    expect("ffff", AR_CPU_SPREAD, AR_CPU_SPREAD, AR_CPU_SPREAD, AR_CPU_SPREAD);
    assert_int_equal(count(AR_CPU_CORE, "ffff"), 16);
    assert_int_equal(count(AR_CPU_CACHE, "ffff"), 8);
    assert_int_equal(count(AR_CPU_NUMA, "00f0"), 1);
    assert_int_equal(count(AR_CPU_SOCKET, "0180"), 2);
    topology_remove(root);
}

static void
numbers_that_the_system_has_not_do_not_count(void **state)
{
    const struct topology t = {.sockets = 2,
                               .nodes = 1,
                               .caches = 1,
                               .cores = 2,
                               .threads = 2,
                               .offline = 1 << 0 | 1 << 3};
    (void)state;
    make(&t); /* core 0 is CPU 4 alone, core 3 is CPU 7 alone */
    expect("0011", 4, 1, 1, 1);
    expect("ff000010", 4, 1, 1, 1);
    expect("0088", 7, 2, 2, 2);
    expect("0001", AR_CPU_UNKNOWN, AR_CPU_UNKNOWN, AR_CPU_UNKNOWN, AR_CPU_UNKNOWN);
    expect("0", AR_CPU_UNKNOWN, AR_CPU_UNKNOWN, AR_CPU_UNKNOWN, AR_CPU_UNKNOWN);
    assert_int_equal(count(AR_CPU_CORE, "00ff"), 4);
    topology_remove(root);
}

static void
sockets_may_have_their_cpus_in_turn_under_old_names(void **state)
{
    const struct topology t = {.sockets = 2,
                               .nodes = 1,
                               .caches = 1,
                               .cores = 4,
                               .threads = 1,
                               .is_dealt = true,
                               .is_old = true};
    (void)state;
    make(&t);
    expect("80", 7, 1, 1, 1);
    expect("55", AR_CPU_SPREAD, 0, 0, 0);
    expect("03", AR_CPU_SPREAD, AR_CPU_SPREAD, AR_CPU_SPREAD, AR_CPU_SPREAD);
    topology_remove(root);
}

static void
a_cache_of_level_3_has_the_size_that_the_system_tells(void **state)
{
    const struct topology t = {
        .sockets = 1, .nodes = 1, .caches = 2, .cores = 2, .threads = 1, .uncached = 0x8};
    (void)state;
    make(&t);
    assert_int_equal(ar_cpu_cache_bytes(root, 0), 32 << 20);
    assert_int_equal(ar_cpu_cache_bytes(root, 2), 32 << 20);
    assert_int_equal(ar_cpu_cache_bytes(root, 3), 0); /* it has none */
    assert_int_equal(ar_cpu_cache_bytes(root, 4), 0); /* nor is it there */
    write_below("cpu2/cache/index2/size", "much");
    assert_int_equal(ar_cpu_cache_bytes(root, 2), 0);
    write_below("cpu2/cache/index2/size", "16M,");
    assert_int_equal(ar_cpu_cache_bytes(root, 2), 0);
    topology_remove(root);
}

static void
without_a_cache_of_level_3_a_cluster_stands_for_it(void **state)
{
    const struct topology t = {.sockets = 1, .nodes = 2, .cores = 8, .threads = 1, .cluster = 4};
    const struct topology mixed = {.sockets = 1,
                                   .nodes = 1,
                                   .caches = 1,
                                   .cores = 8,
                                   .threads = 1,
                                   .cluster = 2,
                                   .uncached = 0xc0};
    (void)state;
    make(&t);
    expect("0080", 7, 4, 0, 0);
    expect("00f0", AR_CPU_SPREAD, 4, 0, 0);
    expect("0018", AR_CPU_SPREAD, AR_CPU_SPREAD, 0, 0);
    topology_remove(root);
    make(&mixed); /* cores 6 and 7 have none, and share a cluster */
    expect("01", 0, 0, 0, 0);
    expect("80", 7, 6, 0, 0);
    expect("41", AR_CPU_SPREAD, AR_CPU_SPREAD, 0, 0);
    topology_remove(root);
}

static void
cores_of_one_module_have_numbers_of_their_own(void **state)
{
    const struct topology t = {.sockets = 1, .nodes = 1, .caches = 1, .cores = 2, .threads = 2};
    (void)state;
    make(&t);
    write_below("cpu2/topology/core_id", "7"); /* of the module that CPU 0 is in */
    expect("1", 0, 0, 0, 0);
    expect("4", 2, 0, 0, 0);
    expect("5", AR_CPU_SPREAD, 0, 0, 0);
    expect("a", 1, 0, 0, 0);
    write_below("cpu3/online", "0");
    expect("a", 1, 0, 0, 0);
    expect("8", AR_CPU_UNKNOWN, AR_CPU_UNKNOWN, AR_CPU_UNKNOWN, AR_CPU_UNKNOWN);
    topology_remove(root);
}

static void
what_is_not_told_is_unknown(void **state)
{
    const struct topology plain = {
        .sockets = 1, .nodes = 1, .cores = 4, .threads = 1, .cluster = 1};
    char path[sizeof root + 64];
    (void)state;
    make(&plain); /* clusters of one core are none */
    expect("1", 0, AR_CPU_UNKNOWN, 0, 0);
    assert_int_equal(count(AR_CPU_CACHE, "f"), 0);
    snprintf(path, sizeof path, "%s/sys/devices/system/node", root);
    topology_remove(path);
    expect("3", AR_CPU_SPREAD, AR_CPU_UNKNOWN, AR_CPU_UNKNOWN, 0);
    write_below("cpu0/topology/package_cpus", "e"); /* of which CPU 0 is not a part */
    expect("1", 0, AR_CPU_UNKNOWN, AR_CPU_UNKNOWN, AR_CPU_UNKNOWN);
    topology_remove(root);
    expect("1", AR_CPU_UNKNOWN, AR_CPU_UNKNOWN, AR_CPU_UNKNOWN, AR_CPU_UNKNOWN);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_is_read_as_linux_writes_it),
        cmocka_unit_test(a_set_that_makes_no_sense_is_refused),
        cmocka_unit_test(the_system_tells_this_threads_cpus),
        cmocka_unit_test(a_rank_on_one_core_has_a_domain_at_each_level),
        cmocka_unit_test(a_mask_of_several_domains_is_not_bound_to_one),
        cmocka_unit_test(numbers_that_the_system_has_not_do_not_count),
        cmocka_unit_test(sockets_may_have_their_cpus_in_turn_under_old_names),
        cmocka_unit_test(a_cache_of_level_3_has_the_size_that_the_system_tells),
        cmocka_unit_test(without_a_cache_of_level_3_a_cluster_stands_for_it),
        cmocka_unit_test(cores_of_one_module_have_numbers_of_their_own),
        cmocka_unit_test(what_is_not_told_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
